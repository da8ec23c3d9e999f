"""Attacks and windows of the twins against cases worked out by hand."""

from .action_masks import attack_mask
from .attack import attack
from .hand_made import LINE, PREY, WALL, NoStream, Script, world_of
from .observation import encoding_window, stacked_window, team_window
from .world import NaiveAgent, NaiveWorld


def test_attack_chooses_among_those_in_range_in_scan_order():
    # Agents: 0 b, 1 a, 2 b, 3 b (out of range), 4 b
    world = world_of("b.a.b b....".replace(" ", "\n"), **LINE)
    assert [world.agents[i].position for i in range(4)] == [(0, 0), (0, 2), (0, 4), (1, 0)]
    # Candidates 0, 2, 3: the last one first, then the one now second.
    result = attack(world, Script(belows=[2, 0]), 1, 2, {1: {2}})
    assert result == (True, [3, 2], [])
    assert [world.agents[i].health for i in (0, 2, 3)] == [1.0, 0.4, 0.4]


def test_attack_with_attacks_for_all_draws_nothing_and_spare_ones_are_lost():
    world = world_of("a.b\n...", **LINE)
    assert attack(world, NoStream(), 0, 2, {1: 2}) == (True, [1], [])
    assert attack(world, NoStream(), 0, 2, {1: 2}) == (True, [1], [1])
    assert world.cells[0, 2] == []
    assert not world.agents[1].active
    assert attack(world, NoStream(), 0, 2, {1: 2}) == (True, [], [])
    assert attack(world, NoStream(), 0, 0, {1: 2}) == (False, [], [])


def test_stacked_attack_draws_with_replacement_and_hits_the_dead_in_vain():
    world = world_of("bab\n...", **LINE)
    world.agents[0].health = 0.5
    result = attack(world, Script(belows=[0, 0]), 1, 2, {1: {2}}, stacked_attacks=True)
    assert result == (True, [0, 0], [0])
    assert world.agents[0].health == 0.0


def test_accuracy_takes_one_draw_per_candidate():
    world = world_of("bab\n.b.", **LINE)
    world.agents[1].attack_accuracy = 0.5
    result = attack(world, Script(uniforms=[0.5, 0.6, 0.1]), 1, 2, {1: {2}})
    assert result == (True, [0, 3], [])


def test_blockers_protect_what_is_behind_them_but_not_themselves():
    world = world_of("awb\n...", **LINE)
    assert attack(world, NoStream(), 0, 1, {1: {2}}) == (True, [], [])
    assert attack_mask(world, 0, {1: {2}}) == [True, False, False]
    assert attack(world, NoStream(), 0, 1, {1: {3}}) == (True, [1], [])
    assert attack_mask(world, 0, {1: {2, 3}}) == [True, True, True]
    assert attack_mask(world, 0, {2: {1}}) == [True, False, False]


# --- windows


def test_encoding_window_masks_before_it_is_out_of_bounds():
    # The window of 0 (range 2) reaches over the left, the upper and the right edge.
    world = world_of(
        """
        .a.
        bw.
        ..b
        """,
        a={"encoding": 1, "view_range": 2},
        b=PREY,
        w=WALL,
    )
    # The wall at (1, 0) hides (2, -1), (2, 0), (2, 1).
    assert encoding_window(world, NoStream(), 0) == [
        [-1, -1, -1, -1, -1],
        [-1, -1, -1, -1, -1],
        [-1, 0, 1, 0, -1],
        [-1, 2, 3, 0, -1],
        [-1, -2, -2, -2, -1],
    ]
    assert encoding_window(world, NoStream(), 0, observe_self=False)[2] == [-1, 0, 0, 0, -1]
    world.agents[2].active = False
    world.remove(2)
    assert encoding_window(world, NoStream(), 0)[4] == [-1, 0, 0, 2, -1]
    # Outside of the grid and masked: a wall at the right edge hides the cell beyond it.
    edge = world_of("aw\n..", a={"encoding": 1, "view_range": 2}, w=WALL)
    assert encoding_window(edge, NoStream(), 0)[2] == [-1, -1, 1, 3, -2]


def test_a_shared_cell_shows_one_of_several_encodings():
    agents = [NaiveAgent(1, view_range=0), NaiveAgent(2), NaiveAgent(2, team=5), NaiveAgent(5)]
    world = NaiveWorld(1, 2, agents, {1: {2, 5}, 2: {2, 5}})
    for number in (0, 1, 2):
        world.place(number, (0, 1))
    # Newest first: 2, 1, 0.
    assert encoding_window(world, Script(belows=[2]), 0) == [[1]]
    assert encoding_window(world, NoStream(), 0, observe_self=False) == [[2]]
    assert team_window(world, Script(belows=[0]), 0) == [[5]]
    assert stacked_window(world, 0, 5) == [[[1, 2, 0, 0, 0]]]
    world.place(3, (0, 1))
    assert encoding_window(world, Script(belows=[0]), 0, observe_self=False) == [[5]]


def test_stacked_window_fills_all_layers_out_of_bounds_and_masked():
    world = world_of("awb\n...", a={"encoding": 1, "view_range": 2}, b=PREY, w=WALL)
    window = stacked_window(world, 0, 3)
    assert window[2] == [[-1] * 3, [-1] * 3, [1, 0, 0], [0, 0, 1], [-2] * 3]
