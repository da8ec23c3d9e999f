"""The agent-by-agent environment: turns, rewards, dead steps, ends of episodes, seeds."""

import copy

import numpy as np
import pytest

pytest.importorskip("pettingzoo")

from abmarl.examples import shipped
from abmarl.external.pettingzoo import PettingZooAECWrapper, PettingZooParallelWrapper
from abmarl.managers import AllStepManager, DynamicOrderManager, TurnBasedManager
from abmarl.sim.wrappers import RavelDiscreteWrapper, SuperAgentWrapper
from tests.support.grid_worlds import WINDOW, act, corridor, skirmish, strike
from tests.support.pettingzoo_episodes import equal, play_aec, play_parallel, seed_spaces
from tests.support.relay import Relay

SIMS = pytest.mark.parametrize("make", shipped.values(), ids=shipped)
MANAGERS = pytest.mark.parametrize("manager", [AllStepManager, TurnBasedManager])


def strike_at(step, horizon, manager=AllStepManager):
    """What ``last`` says in the dead step of the knight, who attacks in the given step."""
    env = PettingZooAECWrapper(manager(strike()), horizon=horizon)
    env.reset(seed=0)
    number = 0
    while not (env.terminations["knight"] or env.truncations["knight"]):
        number += 1
        env.step(act(attack=int(number == step)))
    obs, reward, terminated, truncated, _ = env.last()
    assert env.agents == ["knight"]
    env.step(None)
    assert env.agents == []
    return number, obs[WINDOW], reward, terminated, truncated


@MANAGERS
def test_endings_terminated(manager):
    number, obs, reward, terminated, truncated = strike_at(3, 5, manager)
    assert (number, reward, terminated, truncated) == (3, 1 - 0.125, True, False)
    assert obs.tolist() == [[0, 0, 0], [0, 1, 0], [0, 0, 0]]


@MANAGERS
def test_endings_truncated(manager):
    number, obs, reward, terminated, truncated = strike_at(None, 3, manager)
    assert (number, reward, terminated, truncated) == (3, -0.125, False, True)
    assert obs.tolist() == [[0, 0, 0], [0, 1, 2], [0, 0, 0]]


@MANAGERS
def test_endings_terminated_at_the_horizon(manager):
    number, obs, reward, terminated, truncated = strike_at(3, 3, manager)
    assert (number, reward, terminated, truncated) == (3, 1 - 0.125, True, False)
    assert obs.tolist() == [[0, 0, 0], [0, 1, 0], [0, 0, 0]]


def test_endings_of_one_agent_before_the_others():
    env = PettingZooAECWrapper(skirmish())
    env.reset(seed=0)
    for agent, attack in (("red", 1), ("blue0", 0), ("blue1", 0)):
        assert env.agent_selection == agent
        assert not any(env.rewards.values())
        env.step(act(attack=attack))
    assert env.agent_selection == "blue0"
    obs, reward, terminated, truncated, _ = env.last()
    assert (reward, terminated, truncated) == (-1 - 0.125, True, False)
    assert obs[WINDOW].tolist() == [[-1, 0, 0], [-1, 0, 1], [-1, 0, 0]]
    with pytest.raises(ValueError, match="only valid action is None"):
        env.step(act())
    assert env.agents == ["red", "blue0", "blue1"]
    env.step(None)
    assert env.agents == ["red", "blue1"]
    assert env.agent_selection == "red"
    assert env.last()[1] == 1 - 0.125


def test_rewards_of_those_not_on_turn():
    """Killed by red, whose turn it was: blue0 is paid and takes its dead step before blue1."""
    env = PettingZooAECWrapper(TurnBasedManager(skirmish()))
    env.reset(seed=0)
    env.step(act(attack=1))
    assert env.rewards == {"red": 1 - 0.125, "blue0": -1.0, "blue1": 0.0}
    assert env.terminations == {"red": False, "blue0": True, "blue1": False}
    assert env.agent_selection == "blue0"
    assert env.last()[1] == -1.0
    env.step(None)
    assert env.agent_selection == "blue1"
    assert env.rewards == {"red": 0, "blue1": 0}
    assert env.last()[1] == 0.0
    env.step(act())
    assert env.agent_selection == "red"
    # What red earned in its own turn has waited for it.
    assert env.last()[1] == 1 - 0.125
    env.step(act())
    assert env.last()[1] == -0.125
    assert env._cumulative_rewards == {"red": -0.125, "blue1": -0.125}


def test_truncation_pays_everybody():
    env = PettingZooAECWrapper(TurnBasedManager(skirmish()), horizon=2)
    env.reset(seed=0)
    env.step(act())
    env.step(act())
    told = {}
    for agent in env.agent_iter():
        told[agent] = env.last()[1:4]
        env.step(None)
    assert told == {
        "red": (-0.125, False, True),
        "blue0": (-0.125, False, True),
        "blue1": (0.0, False, True),
    }
    with pytest.raises(ValueError, match=r"call reset\(\) before step"):
        env.step(None)


def test_nobody_is_on_turn_before_the_first_reset():
    env = PettingZooAECWrapper(skirmish())
    with pytest.raises(ValueError, match=r"call reset\(\) first"):
        env.last()
    env.reset()
    assert env.last(observe=False) == (None, 0.0, False, False, {})


@SIMS
def test_returns_are_those_of_the_simulation(make):
    """Agent by agent, or all at once: the same episode with the same sums."""
    parallel = play_parallel(PettingZooParallelWrapper(make(), horizon=15), seed=4)
    told = play_aec(PettingZooAECWrapper(make(), horizon=15), seed=4, steps=10_000)
    for agent in parallel[0][0]:
        paid = [step[1][agent] for step in parallel[1:] if agent in step[1]]
        heard = [reward for name, _, reward, *_ in told if name == agent]
        assert heard == [0.0, *paid]
        seen = [parallel[0][0][agent], *(s[0][agent] for s in parallel[1:] if agent in s[0])]
        assert equal(seen, [obs for name, obs, *_ in told if name == agent])
        ends = [step[2][agent] for step in parallel[1:] if agent in step[2]]
        assert [terminated for name, _, _, terminated, *_ in told if name == agent][1:] == ends


@SIMS
def test_turns_lose_no_reward(make):
    """All that the simulation pays reaches the agents, whoever's turn it is."""
    sim = make()
    env = PettingZooAECWrapper(TurnBasedManager(sim), horizon=60)
    paid = dict.fromkeys(env.possible_agents, 0.0)
    inner = sim.step

    def step(action_dict, **kwargs):
        inner(action_dict, **kwargs)
        for agent in env.agents:
            paid[agent] += sim.store.rewards[0, sim.store.index[agent]]

    sim.step = step
    heard = dict.fromkeys(paid, 0.0)
    for agent, _, reward, *_ in play_aec(env, seed=8, steps=10_000):
        heard[agent] += reward
    assert env.agents == []
    assert heard == pytest.approx(paid)
    assert any(paid.values())


def test_dynamic_order():
    env = PettingZooAECWrapper(DynamicOrderManager(Relay()))
    env.reset(seed=1)
    heard, turns, rounds = dict.fromkeys(env.agents, 0.0), [], []
    named = env.sim.next_agent
    for agent in env.agent_iter():
        obs, reward, terminated, _, info = env.last()
        heard[agent] += reward
        assert info["time"] == int(obs[1]) == env.sim.time
        if terminated:
            env.step(None)
            continue
        turns.append(agent)
        env.step(1)
        if len(turns) == len(named):
            rounds.append(turns)
            assert turns == named
            named, turns = env.sim.next_agent, []
    assert env.sim.time == 10
    assert {len(one) for one in rounds} == {1, 2}
    # Everybody is paid for what all do, until it is done: after 6, 10 and 10 steps.
    acted = np.cumsum([len(one) for one in rounds])
    assert heard == {"runner_0": acted[5], "runner_1": acted[9], "runner_2": acted[9]}


@pytest.mark.parametrize("manager", [AllStepManager, TurnBasedManager])
@SIMS
def test_seeds_decide_everything(make, manager):
    env = PettingZooAECWrapper(manager(make()), horizon=30)
    first = play_aec(env, seed=3)
    # Cut off somewhere, so that another agent's turn comes next.
    env.reset(seed=9)
    env.step(env.action_space(env.agent_selection).sample())
    assert equal(play_aec(env, seed=3), first)
    assert equal(play_aec(PettingZooAECWrapper(manager(make()), horizon=30), seed=3), first)


def test_without_a_seed_the_order_goes_on():
    env = PettingZooAECWrapper(TurnBasedManager(skirmish()))
    env.reset(seed=0)
    env.step(act())
    assert env.agent_selection == "blue0"
    env.reset()
    assert env.agent_selection == "blue1"
    env.reset(seed=0)
    assert env.agent_selection == "red"


def test_super_agents_take_turns():
    led = SuperAgentWrapper(skirmish(), {"blue": ["blue0", "blue1"]})
    env = PettingZooAECWrapper(TurnBasedManager(led), horizon=20)
    env.reset(seed=0)
    assert env.agent_selection == "blue"
    env.step({"blue0": act(), "blue1": act()})
    env.step(act(attack=1))
    assert env.agent_selection == "blue"
    obs, reward, *_ = env.last()
    assert reward == pytest.approx(-2 * 0.125 - 1)
    assert [int(one[0]) for one in obs["mask"].values()] == [0, 1]


def test_numbers_have_the_dtype_of_their_space():
    env = PettingZooAECWrapper(RavelDiscreteWrapper(corridor()))
    env.reset(seed=0)
    seen, *_ = env.last()
    assert seen.dtype == env.observation_space("walker").dtype


def test_others_can_be_observed():
    env = PettingZooAECWrapper(TurnBasedManager(skirmish()))
    env.reset(seed=0)
    assert env.observe("blue1")[WINDOW].tolist() == [[0, 0, -1], [0, 2, -1], [0, 0, -1]]
    with pytest.raises(ValueError, match="agent 'green' has left or never was here"):
        env.observe("green")


@pytest.mark.parametrize("manager", [AllStepManager, TurnBasedManager])
@pytest.mark.parametrize(
    "action", [act(attack=2), act(move=(0, 7)), {"attack": 0, "move": [0]}, None, 5]
)
def test_bad_actions_change_nothing(manager, action):
    env = PettingZooAECWrapper(manager(skirmish()))
    env.reset(seed=0)
    env.step(act())
    twin = copy.deepcopy(env)
    assert env.agent_selection == "blue0"
    with pytest.raises(ValueError, match="blue0"):
        env.step(action)
    assert env.agent_selection == "blue0"
    for one in (env, twin):
        seed_spaces(one, 0)
    for _ in range(9):
        told = [one.last() for one in (env, twin)]
        assert equal(*told)
        for one in (env, twin):
            one.step(one.action_space(one.agent_selection).sample())


def test_a_step_that_fails_can_be_taken_again():
    sim = skirmish()
    env = PettingZooAECWrapper(sim)
    env.reset(seed=0)
    env.step(act())
    env.step(act())
    inner = sim.step

    def fail(action_dict, **kwargs):
        raise RuntimeError("out of order")

    sim.step = fail
    with pytest.raises(RuntimeError, match="out of order"):
        env.step(act())
    sim.step = inner
    assert env.agent_selection == "blue1"
    env.step(act())
    assert env.rewards == dict.fromkeys(env.agents, -0.125)
