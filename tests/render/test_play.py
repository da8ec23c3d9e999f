"""People who play: keys and clicks, turn by turn and in real time. Needs no screen."""

import numpy as np
import pytest

from abmarl.gridworld.actor import (
    BinaryAttackActor,
    CrossMoveActor,
    MoveActor,
    SelectiveAttackActor,
)
from abmarl.render import Scene, Viewer
from abmarl.render.drawing.agents import PERSON_COLORS, Highlight
from abmarl.render.drawing.geometry import fit_geometry
from abmarl.render.drawing.surface import draw, pygame
from abmarl.render.play import GameStatus, Keyboard, PlayShow
from abmarl.render.viewer import controls
from abmarl.rollout.game import Game
from tests.render.viewer.test_viewer import click, mouse
from tests.support.grid_worlds import one_world

NAMES = {
    "left": pygame.K_LEFT, "right": pygame.K_RIGHT, "up": pygame.K_UP, "down": pygame.K_DOWN,
    "space": pygame.K_SPACE, "return": pygame.K_RETURN, "home": pygame.K_HOME,
    "end": pygame.K_END, "page up": pygame.K_PAGEUP, "page down": pygame.K_PAGEDOWN,
    "escape": pygame.K_ESCAPE,
}  # fmt: skip


def event(viewer, name, down):
    key, unicode = NAMES.get(name) or ord(name), "" if name in NAMES else name
    kind = pygame.KEYDOWN if down else pygame.KEYUP
    viewer.handle(pygame.event.Event(kind, key=key, unicode=unicode))


def press(viewer, *names):
    for name in names:
        event(viewer, name, True)
        event(viewer, name, False)


def table(people=(("red0",),), actors=(BinaryAttackActor, MoveActor), real_time=False, **kwargs):
    """A viewer of a game in which nobody else does anything."""
    vec = one_world(actors, **kwargs)
    names = [name for mine in people for name in mine]
    still = lambda observations, active: {  # noqa: E731
        key: np.zeros((*active.shape, *space.shape), int)
        for key, space in vec.groups["blue"].action_space.spaces.items()
    }
    game = Game(vec, names, {"blue": still})
    show = PlayShow(game, real_time, follows=len(people) == 1)
    keyboard = Keyboard(show, people)
    viewer = Viewer(show, input_handler=keyboard, widgets=[GameStatus(show)])
    return viewer


def place(viewer, name):
    vec = viewer.show.game.vec
    return tuple(vec.store.position[0, list(vec.agents).index(name)].tolist())


def alive(viewer):
    vec = viewer.show.game.vec
    return [name for name, lives in zip(vec.agents, vec.store.active[0], strict=True) if lives]


@pytest.mark.parametrize(
    ("keys", "there"),
    [
        (["left"], (1, 0)), (["a"], (1, 0)), (["right"], (1, 2)), (["d"], (1, 2)),
        (["up"], (0, 1)), (["w"], (0, 1)), (["down"], (2, 1)), (["s"], (2, 1)),
        (["q"], (0, 0)), (["e"], (0, 2)), (["z"], (2, 0)), (["c"], (1, 1)),
        (["x"], (1, 1)), (["w", "d", "d"], (0, 3)),
    ],
)  # fmt: skip
def test_a_key_is_a_step(keys, there):
    viewer = table()
    press(viewer, *keys)
    assert place(viewer, "red0") == there  # blue1 is in the way of c
    assert viewer.show.game.num_steps == len(keys)
    assert viewer.show.scene(0).step == len(keys)


def test_without_diagonals():
    viewer = table(actors=(CrossMoveActor,))
    press(viewer, "q", "e", "z", "c")
    assert viewer.show.game.num_steps == 0
    assert not viewer.closed
    press(viewer, "w")
    assert place(viewer, "red0") == (0, 1)
    assert "q e z c" not in [keys for keys, _ in viewer.input_handler.help_lines]


def test_space_attacks_once():
    viewer = table()
    event(viewer, "space", True)
    event(viewer, "space", True)  # held: the keyboard repeats
    event(viewer, "space", False)
    assert viewer.show.game.num_steps == 1
    assert len(alive(viewer)) == 3
    assert len(viewer.show.scene(0).attacks) == 1


def test_a_held_way_walks_on():
    viewer = table()
    for _ in range(3):
        event(viewer, "w", True)
    assert viewer.show.game.num_steps == 3


def test_a_click_attacks_a_cell():
    viewer = table(actors=(SelectiveAttackActor, MoveActor))
    viewer.picture()
    viewer.chosen = 0
    viewer.picture()
    before = viewer.view.geometry
    for row, col, button in ((1, 4, 1), (0, 4, 1)):  # the wall, and nothing: both too far away
        click(viewer, row, col, button)
        viewer.picture()
        assert (viewer.show.game.num_steps, viewer.chosen) == (0, 0)
        assert viewer.view.geometry == before, "the map does not jump"
        assert viewer.show.note == "out of reach"
    click(viewer, 1, 4, button=3)
    assert viewer.chosen == 2
    click(viewer, 1, 3)
    assert (viewer.chosen, viewer.show.note) == (0, "")
    assert alive(viewer) == ["red0", "wall", "blue1"]
    assert ("click", "attack a cell") in viewer.input_handler.help_lines


def test_a_click_beside_everything_keeps_the_panel_of_who_plays():
    viewer = table()
    viewer.chosen = 0
    viewer.picture()
    click(viewer, 0, 4)
    assert viewer.chosen == 0
    mouse(viewer, pygame.MOUSEBUTTONDOWN, (2, 2), button=1)
    mouse(viewer, pygame.MOUSEBUTTONUP, (2, 2), button=1)
    assert viewer.chosen == 0
    click(viewer, 1, 4)
    assert viewer.chosen == 2, "others may be looked at"
    viewer.picture()
    click(viewer, 0, 4)
    assert viewer.chosen is None


def test_an_attack_in_vain_is_told():
    viewer = table(attack_range=0)
    press(viewer, "space")
    assert viewer.show.note == "red0 hit nobody"
    press(viewer, "d")
    assert viewer.show.note == ""


def test_a_click_stands_once_in_the_help(monkeypatch):
    written = []
    original = controls.text_image
    monkeypatch.setattr(
        controls, "text_image", lambda *one: written.append(one[0]) or original(*one)
    )
    viewer = table(actors=(SelectiveAttackActor, MoveActor))
    viewer.helping = True
    viewer.picture()
    assert written.count("click") == 1
    assert "right click" in written
    assert "wheel" in written


def test_two_people():
    viewer = table((("red0",), ("blue0",)))
    assert viewer.show.asked() == ["red0", "blue0"]
    press(viewer, "up")
    assert viewer.show.asked() == ["red0"]
    assert viewer.show.game.num_steps == 0
    press(viewer, "down")  # thinks better of it
    assert viewer.show.note == "another order for blue0"
    assert viewer.show.turns() == ["red0"]
    press(viewer, "a")
    assert viewer.show.game.num_steps == 1
    assert place(viewer, "blue0") == (2, 3)
    assert place(viewer, "red0") == (1, 0)
    press(viewer, "x", "home")
    assert place(viewer, "blue0") == (1, 2)
    press(viewer, "/", "c")
    assert place(viewer, "red0") == (2, 1)
    press(viewer, "return", "x")
    assert alive(viewer) == ["blue0", "wall", "blue1"]
    assert viewer.show.game.over
    words = dict(viewer.input_handler.help_lines)
    assert words["w a s d"] == "red0: move"
    assert words["enter"] == "blue0: attack"


def test_a_group_takes_orders_one_after_the_other():
    vec = one_world()
    game = Game(vec, ["blue0", "blue1"], "random")
    show = PlayShow(game, follows=True)
    viewer = Viewer(show, input_handler=Keyboard(show, [["blue0", "blue1"]]))
    viewer.chosen = 1
    press(viewer, "up")
    assert show.asked() == show.turns() == ["blue1"]
    assert viewer.chosen == 3
    words = GameStatus(show)._call(60)[0]
    assert words == "blue1: your move  -  ordered: blue0"
    press(viewer, "x")
    assert game.num_steps == 1
    assert place(viewer, "blue0") == (0, 3)
    assert viewer.chosen == 1


def test_game_over_and_another_one():
    viewer = table(horizon=2)
    assert "r" not in [key for one in viewer.controls for key in one.keys]
    press(viewer, "x", "r", "x")
    assert viewer.show.game.over
    press(viewer, "x", "space", "left")
    assert viewer.show.game.num_steps == 2
    press(viewer, "r")
    assert not viewer.show.game.over
    assert viewer.show.scene(0).step == 0
    press(viewer, "left")
    assert viewer.show.game.num_steps == 3


def test_keys_of_people_are_no_controls():
    viewer = table()
    taken = {key for one in viewer.controls for key in one.keys}
    assert not taken & set(viewer.input_handler.reserved_keys)
    assert "pause" not in [one.action for one in viewer.controls]
    press(viewer, "q")
    assert not viewer.closed
    press(viewer, "escape")
    assert viewer.closed


# --- in real time ---


def test_held_keys_count():
    viewer = table(real_time=True)
    assert viewer.show.waits, "for the first key"
    press(viewer, "d")
    assert not viewer.show.waits
    viewer.show.step()
    assert place(viewer, "red0") == (1, 1), "which does nothing else"
    assert "pause" in [one.action for one in viewer.controls]
    event(viewer, "w", True)
    event(viewer, "d", True)
    assert viewer.show.game.num_steps == 1
    viewer.show.step()
    assert place(viewer, "red0") == (0, 2)
    event(viewer, "w", False)
    viewer.show.step()
    assert place(viewer, "red0") == (0, 3)
    event(viewer, "d", False)
    viewer.show.step()
    assert place(viewer, "red0") == (0, 3)


def test_a_tap_between_steps_counts_once():
    viewer = table(real_time=True)
    viewer.show.begin()
    press(viewer, "w", "space")
    viewer.show.step()
    assert place(viewer, "red0") == (0, 1)
    assert len(alive(viewer)) == 3
    viewer.show.step()
    assert place(viewer, "red0") == (0, 1)
    assert len(alive(viewer)) == 3


def test_the_last_way_counts_where_there_are_four():
    viewer = table(actors=(CrossMoveActor,), real_time=True)
    viewer.show.begin()
    event(viewer, "w", True)
    event(viewer, "d", True)
    viewer.show.step()
    assert place(viewer, "red0") == (1, 2)
    event(viewer, "d", False)
    viewer.show.step()
    assert place(viewer, "red0") == (0, 2)


def test_clicks_in_real_time():
    viewer = table(actors=(SelectiveAttackActor, MoveActor), real_time=True)
    viewer.picture()
    click(viewer, 1, 3)
    assert not viewer.show.waits, "it starts with a click, too"
    viewer.show.step()
    assert len(alive(viewer)) == 4
    viewer.picture()
    click(viewer, 1, 3)
    assert len(alive(viewer)) == 4
    viewer.show.step()
    assert alive(viewer) == ["red0", "wall", "blue1"]


def test_held_keys_do_not_last_into_the_next_game():
    viewer = table(real_time=True, horizon=1)
    event(viewer, "w", True)
    viewer.show.step()
    assert viewer.show.waits
    press(viewer, "r")
    assert viewer.show.waits, "for a key again"
    press(viewer, "space")
    viewer.show.step()
    assert place(viewer, "red0") == (1, 1)


def test_who_is_out_watches():
    vec = one_world(horizon=9)
    game = Game(vec, ["blue0"], {"red": "heuristic"})
    show = PlayShow(game)
    viewer = Viewer(show, input_handler=Keyboard(show, [["blue0"]]))
    steps = 0
    while game.acts("blue0"):
        press(viewer, "x")
        steps += 1
        assert steps < 9
    if not game.over:
        assert not show.waits
        before = game.num_steps
        show.step()
        assert game.num_steps == before + 1


# --- marks ---


def pixels_of(picture, color):
    return np.argwhere((picture == color).all(-1))


def test_agents_of_people_have_frames():
    viewer = table((("red0",), ("blue0",)))
    picture = viewer.picture()
    geometry = viewer.view.geometry
    for slot, color in enumerate(PERSON_COLORS):
        row, col = viewer.show.scene(0).row[slot], viewer.show.scene(0).col[slot]
        found = pixels_of(picture[: geometry.height], color)
        inside = (found // geometry.cell).tolist()
        assert len(found) > geometry.cell * 6
        low, high = found.min(0), found.max(0)
        assert low[0] >= geometry.top + row * geometry.cell - 1, inside
        assert high[0] <= geometry.top + (row + 1) * geometry.cell + 1
        assert low[1] >= geometry.left + col * geometry.cell - 1
        assert high[1] <= geometry.left + (col + 1) * geometry.cell + 1


def test_frames_find_the_agent_in_a_crowd(sim, agent):
    """Of six that look alike the fifth is drawn, since somebody plays it."""
    scene = Scene.of(sim(3, 5, [agent((1, 3)) for _ in range(6)]))
    surface = pygame.Surface((520, 340), 0, 32)
    found = {}
    for slot in (0, 4):
        draw(scene, surface, highlights=[Highlight(slot, (0, 200, 0))])
        picture = pygame.surfarray.array3d(surface).swapaxes(0, 1).copy()
        found[slot] = pixels_of(picture, (0, 200, 0))
        assert len(found[slot]) > 60
    side = np.ptp(found[4], axis=0).max()
    assert side < 0.7 * fit_geometry(3, 5, (520, 340)).cell, "around the agent, not its cell"
    assert np.abs(found[0].mean(0) - found[4].mean(0)).max() > 20


def test_the_dead_have_no_frame():
    viewer = table((("red0",), ("blue0",)))
    press(viewer, "space", "/")
    assert "blue0" not in alive(viewer)
    assert not len(pixels_of(viewer.picture()[: viewer.view.geometry.height], PERSON_COLORS[1]))


# --- the line under the map ---


def words_of(viewer, room=900):
    call, _, note, scores = viewer.widgets[0]._fitted(room)
    return call, note, [words for words, _ in scores]


def test_the_end_tells_who_is_left():
    viewer = table(horizon=1)
    press(viewer, "x")
    call = words_of(viewer)[0]
    assert call == "game over, left: red (1 of 1), blue (2 of 2)  -  r: another one, esc: end"


def test_long_names_are_shortened_before_anything_is_left_out():
    viewer = table((("red0",), ("blue0",)))
    call, _, scores = words_of(viewer)
    assert call == "red0 and blue0: your move"
    assert scores == ["1: red0 0.00", "2: blue0 0.00"]
    viewer.widgets[0].show.note = "out of reach"
    names = "explorer_of_the_far_north_0", "explorer_of_the_far_north_1"
    game = viewer.show.game
    for name, old in zip(names, ("red0", "blue0"), strict=True):
        game.pilots[name] = game.pilots.pop(old)
    viewer.show.people = [[name] for name in names]
    game.score = lambda name: 1.5
    call, note, scores = words_of(viewer, 520)
    assert note == "out of reach"
    assert call.startswith("exp..")
    assert scores == ["1: exp.._0 1.50", "2: exp.._1 1.50"]


def line(viewer):
    surface = pygame.Surface((600, GameStatus.height), 0, 32)
    viewer.widgets[0].draw(surface)
    return pygame.surfarray.array3d(surface).copy()


def test_the_line_tells_whose_turn_and_score():
    viewer = table(horizon=2)
    pictures = [line(viewer)]
    press(viewer, "space")
    pictures.append(line(viewer))
    assert not np.array_equal(pictures[0], pictures[1])  # another score
    press(viewer, "x")
    pictures.append(line(viewer))
    orange = lambda picture: (np.abs(picture - (190, 70, 20)).sum(-1) < 12).any()  # noqa: E731
    assert [orange(one.astype(int)) for one in pictures] == [False, False, True]


def test_a_click_in_real_time_is_an_order_for_those_who_reach_the_cell():
    """Blue aims at red, which is too far away to aim at itself."""
    actors = (SelectiveAttackActor, MoveActor)
    viewer = table((("red0",), ("blue0",)), actors, real_time=True, attack_range=1)
    viewer.picture()
    keyboard = viewer.show.keyboard
    viewer.show.begin()
    assert keyboard.on_cell(1, 1, 1)
    keyboard.on_cell(1, 3, 1)
    orders = keyboard.orders()
    assert not orders["red0"].use
    assert (orders["blue0"].use, orders["blue0"].cell) == (True, (1, 3))
