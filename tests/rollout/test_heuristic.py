"""What the scripted policy does in maps drawn by hand.

In a map ``@`` is the agent, ``t`` something it can attack, ``d`` something that can attack it,
``#`` an agent that is neither, ``x`` out of bounds, ``?`` masked, ``.`` empty.
"""

import re
from types import SimpleNamespace

import numpy as np
import pytest
from gymnasium.spaces import Box, Dict, Discrete

from abmarl.rollout import HeuristicPolicy, SampledActions, collect
from tests.support.fake_vector import TRAITS, FakeGroup

WINDOW = "position_centered_encoding"
ME, TARGET, DANGER, OTHER = 1, 2, 3, 4
LETTERS = {"@": ME, "t": TARGET, "d": DANGER, "#": OTHER, "x": -1, "?": -2, ".": 0}
STAY = (0, 0)


def view(text):
    lines = text.split()
    return np.array([[LETTERS[c] for c in line] for line in lines], np.int8)


def policy(side=5, reach=1, move=None, attack=2, attackable=(TARGET,), attackers=(DANGER,), seed=0):
    channels = {"move": Box(-1, 1, (2,), np.int8) if move is None else move}
    if attack:
        channels["attack"] = Discrete(attack)
    traits = np.zeros(1, TRAITS)
    traits["attack_range"] = reach
    group = FakeGroup(
        name="me",
        agent_ids=("a",),
        slots=np.array([0]),
        encoding=ME,
        observation_space=Dict({WINDOW: Box(-2, 4, (side, side), np.int8)}),
        action_space=Dict(channels),
    )
    made = HeuristicPolicy()
    vec = SimpleNamespace(
        groups={"me": group},
        store=SimpleNamespace(traits=traits),
        seed=seed,
        attackable=lambda name: set(attackable),
        attackers=lambda name: set(attackers),
    )
    made.bind(vec, "me")
    return made


def act(text, times=50, **kwargs):
    """All (move, attack) it chooses for one map in many tries."""
    seen = view(text)
    made = policy(side=len(seen), **kwargs)
    windows, active = np.broadcast_to(seen, (5, 2, *seen.shape)), np.ones((5, 2), bool)
    found = set()
    for _ in range(times):
        actions = made({WINDOW: windows}, active)
        moves = actions["move"].reshape(10, -1)
        attacks = actions.get("attack", np.full((5, 2), -1)).ravel()
        found |= {(tuple(m.tolist()), int(a)) for m, a in zip(moves, attacks, strict=True)}
    return found


def moves(text, **kwargs):
    return {move for move, _ in act(text, **kwargs)}


def test_it_attacks_what_it_reaches_and_stays():
    assert act("..... .t... ..@.. ..... .....") == {(STAY, 1)}


def test_it_attacks_with_all_it_has():
    assert act("..... .t... ..@.. ..... .....", attack=4) == {(STAY, 3)}


def test_it_attacks_what_shares_its_cell():
    assert act("..... ..... ..t.. ..... .....", reach=0) == {(STAY, 1)}


def test_it_walks_to_what_it_does_not_reach():
    assert act("..... ..... @@@@t ..... .....".replace("@@@@", "..@.")) == {((0, 1), 0)}


def test_it_takes_the_nearest():
    assert moves("t.... ..... ..@.. ...t. .....") == {STAY}
    assert moves("t...... ....... ....... ...@.t. ....... ....... .......") == {(0, 1)}


def test_equally_near_ones_are_taken_in_turn():
    assert moves("..t.. ..... ..@.. ..... ..t..") == {(-1, 0), (1, 0)}


def test_it_goes_round_what_stands_in_the_way():
    assert moves("..... ..... ..@#t ..... .....") == {(-1, 1), (1, 1)}


def test_it_does_not_leave_the_grid_or_bump_into_others():
    assert moves("xxxxx xxxxx xx@.. xx.#. xx...") == {(0, 1), (1, 0)}


def test_it_stays_when_there_is_nowhere_to_go():
    assert moves("..... .###. .#@#. .###. .....") == {STAY}


def test_it_enters_the_cell_of_its_target_only_to_attack_there():
    assert moves("..... ..... ..@t. ..... .....", reach=0) == {(0, 1)}


def test_it_runs_from_danger():
    assert moves("..... ..... d.@.. ..... .....") == {(-1, 1), (1, 1)}
    assert moves("..... .d... ..@.. ..... .....") == {(1, 1)}


def test_it_runs_rather_than_hunts_but_attacks_on_the_way():
    assert act("..... ..... d.@t. ..... .....") == {((-1, 1), 1), ((1, 1), 1)}
    assert moves("..... ..... d.@.. ..t.. .....") <= {(-1, 1), (1, 1)}


def test_what_it_can_attack_is_no_danger():
    both = {"attackable": (DANGER,), "attackers": (DANGER,)}
    assert moves("..... ..... d.@.. ..... .....", **both) == {(0, -1)}


def test_agents_without_attacks_only_run_and_wander():
    assert moves("..... ..... ..@t. ..... .....", attack=0) == {
        (r, c) for r in (-1, 0, 1) for c in (-1, 0, 1)
    } - {STAY, (0, 1)}


def test_it_wanders():
    assert len(moves("..... ..... ..@.. ..... .....", times=200)) == 8


def test_it_does_not_take_itself_for_a_target():
    assert {a for _, a in act("..... ..... ..@.. ..... .....", attackable=(ME,))} == {0}
    assert act("..... ..... ..@@. ..... .....", attackable=(ME,)) == {(STAY, 1)}


def test_cross_moves():
    # 0 stay, 1 left, 2 down, 3 right, 4 up
    five = Discrete(5)
    assert moves("..... ..... t.@.. ..... .....", move=five) == {(1,)}
    assert moves("..... ..... ..@.. ..... ..t..", move=five) == {(2,)}
    assert moves("..... ..... ..@.t ..... .....", move=five) == {(3,)}
    assert moves("..t.. ..... ..@.. ..... .....", move=five) == {(4,)}
    assert moves("..... ..#.. .#@#. ..#.. .....", move=five) == {(0,)}


def test_long_moves_stop_before_the_target():
    picture = "....... ....... ....... t..@... ....... ....... ......."
    beside = {(-1, -2), (0, -2), (1, -2)}
    for farthest in (2, 3, 9):
        assert moves(picture, move=Box(-farthest, farthest, (2,), np.int8)) <= beside


def test_a_blind_agent_moves():
    found = moves("@", times=200)
    assert len(found) > 4


def test_moves_of_range_0():
    assert moves("..... ..... ..@.t ..... .....", move=Box(0, 0, (2,), np.int8)) == {STAY}


def test_agents_that_are_not_active_do_nothing():
    made = policy()
    windows = np.zeros((3, 4, 5, 5), np.int8)
    active = np.zeros((3, 4), bool)
    active[1, 2] = True
    actions = made({WINDOW: windows}, active)
    assert (actions["move"][~active] == 0).all()
    assert actions["move"][1, 2].any()
    assert not made({WINDOW: windows}, np.zeros((3, 4), bool))["move"].any()


def test_the_seed_decides():
    windows = {WINDOW: np.zeros((50, 4, 5, 5), np.int8)}
    active = np.ones((50, 4), bool)
    first, same, other = (policy(seed=s)(windows, active)["move"] for s in (1, 1, 2))
    assert (first == same).all()
    assert (first != other).any()


def test_what_it_needs_to_see(vec):
    space = Dict({"position": Box(0, 3, (2,), np.int8)})
    vec.groups["blue"].observation_space = space
    with pytest.raises(ValueError, match=re.escape(
        "needs the observation channel 'position_centered_encoding'; group 'blue' has ['position']"
    )):  # fmt: skip
        collect(vec, {"blue": "heuristic"}, 3)


@pytest.mark.parametrize(
    "channels", [{"attack": Dict({1: Discrete(2)})}, {"move": Discrete(4)}, {"sing": Discrete(2)}]
)
def test_what_it_cannot_do(vec, channels):
    vec.groups["blue"].action_space = Dict(channels)
    name = next(iter(channels))
    message = f"cannot fill the action channel {name!r} of group 'blue'"
    with pytest.raises(ValueError, match=message):
        collect(vec, {"blue": "heuristic"}, 3)


def test_a_random_policy_on_its_own(vec):
    vec.reset()
    made = SampledActions()
    made.bind(vec, "blue")
    assert made({}, np.ones((6, 2), bool))["move"].shape == (6, 2)
