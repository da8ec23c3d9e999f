"""The parallel environment: ends of episodes, seeds, agreement with the manager, bad input."""

import copy
import pickle

import numpy as np
import pytest

pytest.importorskip("pettingzoo")

from abmarl.examples import MultiCorridor, shipped, team_battle
from abmarl.external.adapter import RENDER_MODES
from abmarl.external.pettingzoo import PettingZooParallelWrapper
from abmarl.managers import AllStepManager, TurnBasedManager
from abmarl.sim.wrappers import (
    FlattenWrapper,
    RavelDiscreteActionWrapper,
    RavelDiscreteWrapper,
    SuperAgentWrapper,
)
from tests.support.grid_worlds import WINDOW, act, build, corridor, skirmish, strike, wall
from tests.support.pettingzoo_episodes import equal, play_parallel, seed_spaces

SIMS = pytest.mark.parametrize("make", shipped.values(), ids=shipped)


def strike_at(step, horizon):
    """What the last step says of the knight, who attacks in the given step (None: never)."""
    env = PettingZooParallelWrapper(strike(), horizon=horizon)
    env.reset(seed=0)
    number = 0
    while env.agents:
        number += 1
        told = env.step({"knight": act(attack=int(number == step))})
    obs, reward, terminated, truncated, _ = (one["knight"] for one in told)
    return number, obs[WINDOW], reward, terminated, truncated


def test_endings_terminated():
    number, obs, reward, terminated, truncated = strike_at(3, horizon=5)
    assert (number, reward, terminated, truncated) == (3, 1 - 0.125, True, False)
    # The final observation: the victim is gone from the cell to the right.
    assert obs.tolist() == [[0, 0, 0], [0, 1, 0], [0, 0, 0]]


def test_endings_truncated():
    number, obs, reward, terminated, truncated = strike_at(None, horizon=3)
    assert (number, reward, terminated, truncated) == (3, -0.125, False, True)
    assert obs.tolist() == [[0, 0, 0], [0, 1, 2], [0, 0, 0]]


def test_endings_terminated_at_the_horizon():
    number, obs, reward, terminated, truncated = strike_at(3, horizon=3)
    assert (number, reward, terminated, truncated) == (3, 1 - 0.125, True, False)
    assert obs.tolist() == [[0, 0, 0], [0, 1, 0], [0, 0, 0]]


def test_endings_of_one_agent_before_the_others():
    env = PettingZooParallelWrapper(skirmish())
    env.reset(seed=0)
    obs, rewards, terminated, truncated, _ = env.step(
        {"red": act(attack=1), "blue0": act(), "blue1": act()}
    )
    assert env.agents == ["red", "blue1"]
    assert env.num_agents == 2
    assert terminated == {"red": False, "blue0": True, "blue1": False}
    assert truncated == dict.fromkeys(terminated, False)
    assert rewards["blue0"] == -1.0 - 0.125
    assert obs["blue0"][WINDOW].tolist() == [[-1, 0, 0], [-1, 0, 1], [-1, 0, 0]]
    told = env.step({"red": act(), "blue1": act()})
    assert [list(one) for one in told] == [["red", "blue1"]] * 5


def test_endings_leave_nobody():
    env = PettingZooParallelWrapper(skirmish(), horizon=2)
    env.reset()
    for _ in range(2):
        told = env.step({agent: act() for agent in env.agents})
    assert env.agents == []
    assert told[3] == dict.fromkeys(["red", "blue0", "blue1"], True)
    with pytest.raises(ValueError, match=r"call reset\(\) before step"):
        env.step({})
    env.reset()
    assert env.agents == env.possible_agents == ["red", "blue0", "blue1"]


@SIMS
def test_as_through_getters_one_by_one(make):
    """What is read from whole arrays is what a manager hears from the getters, bit for bit."""
    sim, plain = make(), make()
    asked = []

    def get_info(self, agent_id, **kwargs):
        asked.append(agent_id)
        return {}

    # Where a class has a getter of its own, all of them are asked agent by agent.
    plain.__class__ = type("Asked", (type(plain),), {"get_info": get_info})
    plain.finalize()
    env, manager = PettingZooParallelWrapper(sim, horizon=40), AllStepManager(plain)
    seed_spaces(env, 5)
    assert equal(env.reset(seed=3)[0], manager.reset(seed=3))
    number = 0
    while env.agents:
        number += 1
        asked.clear()
        actions = {agent: env.action_space(agent).sample() for agent in env.agents}
        obs, rewards, terminated, truncated, infos = env.step(actions)
        told = manager.step(actions)
        assert asked == list(actions)
        over = told[2].pop("__all__")
        assert equal([obs, rewards, infos], [told[0], told[1], told[3]])
        assert terminated == {agent: done or over for agent, done in told[2].items()}
        late = number == 40
        assert truncated == {agent: late and not done for agent, done in terminated.items()}
        assert all(env.observation_space(agent).contains(obs[agent]) for agent in obs)
    assert number > 1


@SIMS
def test_seeds_decide_everything(make):
    env = PettingZooParallelWrapper(make(), horizon=25)
    first = play_parallel(env, seed=11)
    # The same environment after an episode, and a fresh one that was not reset before.
    assert equal(play_parallel(env, seed=11), first)
    assert equal(play_parallel(PettingZooParallelWrapper(make(), horizon=25), seed=11), first)
    # Without a seed the stream goes on, from the same place.
    twin = PettingZooParallelWrapper(make(), horizon=25)
    play_parallel(twin, seed=11)
    assert equal(play_parallel(env, None), play_parallel(twin, None))


def test_seeds_differ():
    env = PettingZooParallelWrapper(shipped["foraging"](), horizon=25)
    assert not equal(play_parallel(env, seed=11), play_parallel(env, seed=12))


@SIMS
def test_what_was_handed_out_stays(make):
    env = PettingZooParallelWrapper(make(), horizon=20)
    seed_spaces(env, 1)
    told = [env.reset(seed=0)]
    before = copy.deepcopy(told)
    while env.agents:
        actions = {agent: env.action_space(agent).sample() for agent in env.agents}
        given = copy.deepcopy(actions)
        told.append(env.step(actions))
        before.append(copy.deepcopy(told[-1]))
        assert equal(actions, given)
    env.reset()
    assert equal(told, before)


def test_windows_are_rows_of_one_array():
    env = PettingZooParallelWrapper(shipped["team-battle"]())
    env.reset(seed=0)
    obs, *_ = env.step({agent: env.action_space(agent).sample() for agent in env.agents})
    windows = [one[WINDOW] for one in obs.values()]
    assert len({id(_owner(window)) for window in windows}) == 1
    windows[0][:] = 7
    assert not (windows[1] == 7).any()
    assert env.sim.get_obs("agent0")[WINDOW].max() < 7


def _owner(array):
    while array.base is not None:
        array = array.base
    return array


def test_plain_simulations():
    env = PettingZooParallelWrapper(MultiCorridor(), horizon=30)
    told = play_parallel(env, seed=2)
    assert len(told) > 10
    assert env.agents == []


def test_super_agents_and_a_manager_of_ones_own():
    led = SuperAgentWrapper(skirmish(), {"blue": ["blue0", "blue1"]})
    manager = AllStepManager(led, randomize_action_input=True)
    env = PettingZooParallelWrapper(manager, horizon=4)
    assert env.manager is manager
    assert env.possible_agents == ["blue", "red"]
    assert len(play_parallel(env, seed=1)) == 5


def test_copies_go_on_alone():
    env = PettingZooParallelWrapper(shipped["team-battle"](), horizon=30)
    seed_spaces(env, 0)
    env.reset(seed=4)
    pool = [{a: env.action_space(a).sample() for a in env.possible_agents} for _ in range(20)]
    env.step({agent: pool[0][agent] for agent in env.agents})
    twins = [copy.deepcopy(env), pickle.loads(pickle.dumps(env))]
    ends = []
    for one in (env, *twins):
        told = [
            one.step({agent: actions[agent] for agent in one.agents})
            for actions in pool[1:]
            if one.agents
        ]
        ends.append((told, one.state()))
    assert equal(ends[0], ends[1])
    assert equal(ends[0], ends[2])


def test_options_reach_the_simulation():
    class Asked(MultiCorridor):
        def reset(self, seed=None, **kwargs):
            self.given = {"seed": seed, **kwargs}
            super().reset(seed=seed)

    env = PettingZooParallelWrapper(Asked())
    env.reset(seed=3, options={"length": 5})
    assert env.sim.given == {"seed": 3, "options": {"length": 5}}
    env.reset()
    assert env.sim.given == {"seed": None}


@pytest.mark.parametrize(
    ("actions", "error", "message"),
    [
        ({"blue0": act()}, ValueError, "action from agent 'blue0', which is done"),
        ({"green": act()}, ValueError, "action from agent 'green', which is not in the simulation"),
        ({"red": act(attack=2)}, ValueError, "attack"),
        ({"red": {"attack": 0, "move": np.array([0, 0, 0])}}, ValueError, "move"),
        ({"red": act(), "blue1": {"attack": 0, "move": [9, 0]}}, ValueError, "blue1"),
        ({"red": 3}, ValueError, "must be a dict with channels"),
        ([], TypeError, "must be a dict of agent id to action"),
    ],
)
def test_bad_actions_change_nothing(actions, error, message):
    env = PettingZooParallelWrapper(skirmish(), horizon=9)
    env.reset(seed=0)
    env.step({"red": act(attack=1), "blue0": act(), "blue1": act()})
    twin = copy.deepcopy(env)
    with pytest.raises(error, match=message):
        env.step(actions)
    assert env.agents == ["red", "blue1"]
    good = {"red": act(move=(0, 1)), "blue1": act(move=(0, -1))}
    assert equal(env.step(good), twin.step(good))


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        (("battle",), TypeError, "needs a simulation or a manager, got str"),
        ((TurnBasedManager(skirmish()),), TypeError, "use PettingZooAECWrapper"),
        ((build([wall("wall")]),), ValueError, "has none"),
        ((skirmish(), 0), ValueError, "horizon must be 1 or more, or None for no end, got 0"),
        ((skirmish(), 2.5), TypeError, "horizon must be an int or None, got 2.5"),
        ((skirmish(), None, "film"), ValueError, "render_mode must be None or .* got 'film'"),
        ((MultiCorridor(), None, "ansi"), ValueError, "'human' or 'rgb_array', got 'ansi'"),
        ((skirmish(), None, None, 1), TypeError, "action_masks must be True or False, got 1"),
        ((MultiCorridor(), None, None, True), TypeError, "MultiCorridor has no action masks"),
        ((corridor(), None, None, True), ValueError, "no action space here takes a mask"),
    ],
)
def test_bad_parameters(arguments, error, message):
    with pytest.raises(error, match=message):
        PettingZooParallelWrapper(*arguments)


def test_before_the_first_reset():
    env = PettingZooParallelWrapper(skirmish())
    assert env.agents == []
    with pytest.raises(ValueError, match=r"call reset\(\) before step"):
        env.step({})
    with pytest.raises(ValueError, match=r"call reset\(\) first"):
        env.state()
    with pytest.raises(ValueError, match="nothing to render without a mode"):
        env.render()


def test_agents_that_are_not_there():
    env = PettingZooParallelWrapper(skirmish())
    for space in (env.action_space, env.observation_space):
        with pytest.raises(ValueError, match=r"no agent 'rod'; there are \['red', 'blue0', "):
            space("rod")


def test_flat_observations_one_number_per_action_and_masks():
    sim = RavelDiscreteActionWrapper(FlattenWrapper(team_battle(), actions=False))
    env = PettingZooParallelWrapper(sim, action_masks=True)
    observations, infos = env.reset(seed=0)
    assert observations["agent0"].shape == (49,)
    assert infos["agent0"]["action_mask"].shape == (18,)
    while len(env.agents) == 24:
        actions = {
            agent: env.action_space(agent).sample(infos[agent]["action_mask"])
            for agent in env.agents
        }
        *_, infos = env.step(actions)
    for kind in (RavelDiscreteActionWrapper, RavelDiscreteWrapper):
        flattened = FlattenWrapper(corridor() if kind is RavelDiscreteWrapper else team_battle())
        env = PettingZooParallelWrapper(kind(flattened), action_masks=True)
        _, infos = env.reset(seed=0)
        assert all(info["action_mask"] is None for info in infos.values())


def test_a_reset_that_fails_ends_the_episode(monkeypatch):
    env = PettingZooParallelWrapper(skirmish())
    env.reset()
    monkeypatch.setattr(env.sim, "reset", lambda **kwargs: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        env.reset()
    assert env.agents == []


def test_a_refused_seed_changes_nothing():
    env, twin = (PettingZooParallelWrapper(skirmish()) for _ in range(2))
    for one in (env, twin):
        one.reset(seed=0)
    for seed, error in ((-1, ValueError), ("seven", TypeError)):
        with pytest.raises(error, match="seed must be an int"):
            env.reset(seed=seed)
    actions = {agent: act() for agent in env.agents}
    assert equal(env.step(actions), twin.step(actions))


def test_names():
    env = PettingZooParallelWrapper(RavelDiscreteActionWrapper(strike()))
    assert str(env) == "SmartGridWorldSimulation"
    assert env.metadata["render_modes"] == list(RENDER_MODES)
    plain = PettingZooParallelWrapper(MultiCorridor(), render_mode="rgb_array")
    assert plain.metadata["render_modes"] == ["human", "rgb_array"]
    assert env.unwrapped is env
    assert repr(env).startswith("PettingZooParallelWrapper(AllStepManager(RavelDiscreteAction")


HORIZON = 20


def episode(env, tables, rng, epsilon, rate=0.3):
    """Independent Q-learning; returns the sum of the rewards and the number of steps."""
    obs, _ = env.reset()
    total, steps = 0.0, 0
    while env.agents:
        actions = {}
        for agent in env.agents:
            values = tables[agent][obs[agent]]
            best = rng.choice(np.flatnonzero(values == values.max()))
            actions[agent] = rng.integers(len(values)) if rng.random() < epsilon else best
        seen, rewards, terminated, _, _ = env.step(actions)
        for agent, action in actions.items():
            # Bootstraps where only the time was up.
            later = 0.0 if terminated[agent] else tables[agent][seen[agent]].max()
            table = tables[agent][obs[agent]]
            table[action] += rate * (rewards[agent] + later - table[action])
        obs = seen
        total += sum(rewards.values())
        steps += 1
    return total, steps


def test_q_learning_solves_the_corridor():
    """Within 4,000 steps to a return above -0.35; the best is -0.28, random moves get -1.35."""
    env = PettingZooParallelWrapper(RavelDiscreteWrapper(corridor()), horizon=HORIZON)
    rng = np.random.default_rng(0)
    env.reset(seed=0)
    tables = {
        agent: np.zeros((int(env.observation_space(agent).n), int(env.action_space(agent).n)))
        for agent in env.possible_agents
    }
    at_first = np.mean([episode(env, tables, rng, epsilon=1.0, rate=0.0)[0] for _ in range(50)])
    taken = 0
    while taken < 4_000:
        taken += episode(env, tables, rng, epsilon=0.2)[1]
    learned = np.mean([episode(env, tables, rng, epsilon=0.0, rate=0.0)[0] for _ in range(200)])
    assert at_first < -1.0
    assert learned > -0.35
