"""What PettingZoo environments say beside observations: the whole state, masks, pictures."""

import subprocess
import sys

import numpy as np
import pytest
from gymnasium.spaces import Discrete, MultiDiscrete, Sequence

pytest.importorskip("pettingzoo")

from abmarl.examples import MultiCorridor, shipped, team_battle
from abmarl.external.pettingzoo import PettingZooAECWrapper, PettingZooParallelWrapper
from abmarl.external.pettingzoo.wrappers import as_mask
from abmarl.gridworld import CrossMoveActor, Field
from abmarl.gridworld.actor import EncodingBasedAttackActor, RestrictedSelectiveAttackActor
from abmarl.managers import TurnBasedManager
from abmarl.sim import Agent, AgentBasedSimulation
from abmarl.sim.wrappers import FlattenWrapper, RavelDiscreteActionWrapper, SuperAgentWrapper
from tests.support.grid_worlds import FighterAgent, act, build, fighter, skirmish, wall
from tests.support.pettingzoo_episodes import equal, seed_spaces


class Porter(FighterAgent):
    """Keeps two variables of its own."""

    parcels = Field(np.int32)
    aim = Field(np.float64, shape=(2,))


@pytest.mark.parametrize("wrap", [lambda sim: sim, RavelDiscreteActionWrapper])
def test_state_of_a_grid_world(wrap):
    env = PettingZooParallelWrapper(wrap(skirmish()))
    env.reset(seed=0)
    assert env.state_features == ("row", "col", "active", "health")
    assert env.state().tolist() == [[1, 1, 1, 1], [1, 0, 1, 1], [1, 4, 1, 1]]
    assert env.state().dtype == np.float32
    assert env.state_space.high.tolist() == [[2, 4, 1, 1]] * 3
    env.sim.agents["blue0"].health = 0.25
    assert env.state()[1].tolist() == [1, 0, 1, 0.25]


def test_state_shows_who_is_gone():
    env = PettingZooParallelWrapper(skirmish())
    env.reset(seed=0)
    before = env.state()
    env.step({"red": act(attack=1), "blue0": act(), "blue1": act(move=(1, 0))})
    assert env.state().tolist() == [[1, 1, 1, 1], [0, 0, 0, 0], [2, 4, 1, 1]]
    assert before.tolist() == [[1, 1, 1, 1], [1, 0, 1, 1], [1, 4, 1, 1]]


def test_state_holds_all_agents_and_their_own_fields():
    agents = [fighter("porter", 1, (0, 2), kind=Porter), wall("wall", 9, (2, 3))]
    env = PettingZooParallelWrapper(build(agents))
    env.reset(seed=0)
    env.sim.agents["porter"].parcels = 3
    env.sim.agents["porter"].aim = [0.5, -2]
    assert env.state_features[4:] == ("parcels", "aim[0]", "aim[1]")
    assert env.state().tolist() == [[0, 2, 1, 1, 3, 0.5, -2], [2, 3, 1, 1, 0, 0, 0]]
    assert env.state_space.contains(env.state())


def test_state_is_the_same_agent_by_agent():
    """The state changes with a step of the simulation, not while actions are collected."""
    env = PettingZooAECWrapper(skirmish())
    env.reset(seed=0)
    start = env.state()
    env.step(act(move=(1, 0)))
    assert equal(env.state(), start)
    env.step(act())
    env.step(act())
    assert env.state()[0].tolist() == [2, 1, 1, 1]


def test_state_of_a_plain_simulation():
    env = PettingZooParallelWrapper(MultiCorridor(num_agents=3), horizon=200)
    obs, _ = env.reset(seed=1)
    assert env.state().shape == env.state_space.shape
    assert env.state_features == ()
    width = len(env.state()) // 3
    seed_spaces(env, 0)
    last = dict(obs)
    while env.agents:
        last.update(env.step({a: env.action_space(a).sample() for a in env.agents})[0])
        parts = env.state().reshape(3, width)
        for part, agent in zip(parts, env.possible_agents, strict=True):
            assert sorted(part) == sorted(float(np.sum(value)) for value in last[agent].values())


class Unflat(AgentBasedSimulation):
    """Its agent hears sequences of any length."""

    def __init__(self):
        spaces = {"observation_space": Sequence(Discrete(2)), "action_space": Discrete(2)}
        self.agents = {"a": Agent(id="a", **spaces)}
        self.finalize()

    def reset(self, **kwargs):
        pass

    def step(self, action, **kwargs):
        pass

    def render(self, **kwargs):
        pass

    def get_obs(self, agent_id, **kwargs):
        return (0, 1)

    def get_reward(self, agent_id, **kwargs):
        return 0.0

    def get_done(self, agent_id, **kwargs):
        return False

    def get_all_done(self, **kwargs):
        return False

    def get_info(self, agent_id, **kwargs):
        return {}


def test_no_state():
    env = PettingZooParallelWrapper(Unflat())
    env.reset()
    env.step({"a": 1})
    assert not hasattr(env, "state_space")
    with pytest.raises(TypeError, match="observation_space of agent 'a'"):
        env.state()


# --- masks ---


def test_masks_of_numbers():
    """Red at (1, 1) beside blue0 at (1, 0): it may attack, and go anywhere but there."""
    env = PettingZooParallelWrapper(RavelDiscreteActionWrapper(skirmish()), action_masks=True)
    _, infos = env.reset(seed=0)
    mask = infos["red"]["action_mask"]
    assert mask.dtype == np.int8
    # No attack or one, then rows and columns from -1 to 1.
    moves = [[1, 1, 1], [0, 1, 1], [1, 1, 1]]
    assert mask.reshape(2, 3, 3).tolist() == [moves, moves]
    assert infos["blue1"]["action_mask"].reshape(2, 3, 3)[1].sum() == 0
    *_, infos = env.step({"red": 13, "blue0": 4, "blue1": 4})
    assert infos["red"]["action_mask"].reshape(2, 9).tolist() == [[1] * 9, [0] * 9]
    assert moves == [[1, 1, 1], [0, 1, 1], [1, 1, 1]]
    assert mask.reshape(2, 3, 3).tolist() == [moves, moves]


def test_masks_by_channel():
    """A Box takes no mask; a MultiDiscrete takes one for each of its numbers."""
    agents = [fighter("red", 1, (1, 1), simultaneous_attacks=2), fighter("blue", 2, (1, 2))]
    actors = [RestrictedSelectiveAttackActor, "MoveActor"]
    sim = build(agents, actors=actors, attack_mapping={1: {2}, 2: {1}})
    env = PettingZooParallelWrapper(sim, action_masks=True)
    _, infos = env.reset(seed=0)
    mask = infos["red"]["action_mask"]
    assert mask["move"] is None
    # No attack, or one on the cell to the right, the sixth of the window.
    assert [part.tolist() for part in mask["attack"]] == [[1, 0, 0, 0, 0, 0, 1, 0, 0, 0]] * 2
    for _ in range(20):
        action = env.action_space("red").sample(mask)
        assert set(action["attack"].tolist()) <= {0, 6}


def test_masks_of_nested_channels():
    agents = [fighter("red", 1, (1, 1)), fighter("blue", 2, (1, 2)), wall("wall", 3, (0, 0))]
    sim = build(
        agents,
        actors=[EncodingBasedAttackActor, CrossMoveActor],
        attack_mapping={1: {2, 3}, 2: {3}},
    )
    led = SuperAgentWrapper(sim, {"both": ["red", "blue"]})
    for one, inside in ((sim, lambda m: m["red"]), (led, lambda m: m["both"]["red"])):
        env = PettingZooParallelWrapper(one, action_masks=True)
        _, infos = env.reset(seed=0)
        masks = {agent: info["action_mask"] for agent, info in infos.items()}
        mask = inside(masks)
        assert mask["attack"][2].tolist() == [1, 1]
        assert mask["attack"][3].tolist() == [1, 1]
        assert mask["move"].tolist() == [1, 1, 1, 0, 1]
        for agent in env.agents:
            assert env.action_space(agent).contains(env.action_space(agent).sample(masks[agent]))


@pytest.mark.parametrize("make", shipped.values(), ids=shipped)
def test_asking_for_masks_changes_nothing(make):
    """The same masked actions with and without: one episode, and every action was in its mask."""
    env, free = (
        PettingZooAECWrapper(
            TurnBasedManager(RavelDiscreteActionWrapper(make())), horizon=50, action_masks=asked
        )
        for asked in (True, False)
    )
    seed_spaces(env, 3)
    for one in (env, free):
        one.reset(seed=3)
    for agent in env.agent_iter():
        assert agent == free.agent_selection
        last = env.last()
        assert equal(last[:4], free.last()[:4])
        mask = last[4]["action_mask"]
        action = None if last[2] or last[3] else env.action_space(agent).sample(mask)
        assert action is None or mask[action] == 1
        env.step(action)
        free.step(action)
    assert free.agents == []


def test_masks_that_do_not_fit():
    with pytest.raises(ValueError, match="no action space here takes a mask"):
        PettingZooParallelWrapper(FlattenWrapper(team_battle()), action_masks=True)


def test_as_mask():
    assert as_mask(Discrete(2), None) is None
    assert as_mask(MultiDiscrete([2, 2]), np.ones((2, 2, 2), bool)) is None


# --- pictures, and the library ---


def test_pictures():
    pytest.importorskip("pygame")
    env = PettingZooParallelWrapper(TurnBasedManager(skirmish()).sim, render_mode="rgb_array")
    env.reset(seed=0)
    picture = env.render()
    assert picture.dtype == np.uint8
    assert picture.ndim == 3
    env.step({"red": act(attack=1), "blue0": act(), "blue1": act()})
    assert not np.array_equal(env.render(), picture)
    env.close()


def test_without_the_library():
    code = """
import sys
sys.modules["pettingzoo"] = None
import abmarl.external
try:
    abmarl.external.PettingZooParallelWrapper
except ImportError as error:
    print(error)
"""
    found = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60
    )
    assert found.stdout.strip() == (
        "abmarl.external.pettingzoo needs pettingzoo: pip install 'abmarl[pettingzoo]'"
    )


def test_the_library_loads_on_first_use():
    code = """
import sys
import abmarl, abmarl.external
assert "pettingzoo" not in sys.modules
from abmarl.external import PettingZooAECWrapper
assert "pettingzoo" in sys.modules
for heavy in ("torch", "ray", "pygame", "matplotlib"):
    assert heavy not in sys.modules, heavy
"""
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60)
