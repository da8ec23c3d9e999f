"""Environments of gym and Gymnasium as simulations."""

import sys

import gymnasium
import numpy as np
import pytest
from gymnasium import spaces
from gymnasium.utils.env_checker import data_equivalence

from abmarl.external import GymnasiumWrapper, gym_to_abmarl
from abmarl.managers import AllStepManager
from abmarl.sim.compliance import check_simulation
from abmarl.sim.wrappers import RavelDiscreteActionWrapper
from tests.support.grid_worlds import act, strike


class Counter(gymnasium.Env):
    """Counts to an end that the action names; observes with one array that it changes in place."""

    action_space = spaces.Dict({"end": spaces.Discrete(2), "by": spaces.Box(-1, 1, (2,))})
    observation_space = spaces.Tuple([spaces.Box(0, 100, (1,), np.int64), spaces.Discrete(101)])
    closed = False

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.count = np.array([(options or {}).get("start", 0)])
        return (self.count, int(self.count[0])), {"seed": seed}

    def step(self, action):
        self.count += 1
        ends = bool(action["end"])
        at = int(self.count[0])
        # Steps 1 terminated, 2 truncated, 3 both.
        return (self.count, at), np.float32(at), ends and at != 2, ends and at != 1, {"at": at}

    def close(self):
        self.closed = True


GO, END = ({"end": end, "by": np.zeros(2, np.float32)} for end in (0, 1))


@pytest.mark.parametrize("name", ["CartPole-v1", "Acrobot-v1", "Pendulum-v1", "MountainCar-v0"])
def test_check_simulation(name):
    done = check_simulation(gym_to_abmarl(gymnasium.make(name, max_episode_steps=30)))
    assert done.steps == 300


def test_check_simulation_of_an_environment_that_reuses_its_arrays():
    assert check_simulation(gym_to_abmarl(Counter())).episodes > 10


def play(env, seed, episodes=10):
    """Everything that an environment returns in some episodes with random actions."""
    env.action_space.seed(seed)
    found = []
    for number in range(episodes):
        found.append(env.reset(seed=seed if number == 0 else None))
        over = False
        while not over:
            found.append(env.step(env.action_space.sample()))
            over = found[-1][2] or found[-1][3]
    return found


@pytest.mark.parametrize("horizon", [20, 500])
@pytest.mark.parametrize("name", ["CartPole-v1", "Pendulum-v1"])
def test_there_and_back(name, horizon):
    """The round trip changes nothing, to the last bit; both kinds of ends occur."""
    env = gymnasium.make(name, max_episode_steps=horizon)
    back = GymnasiumWrapper(gym_to_abmarl(gymnasium.make(name, max_episode_steps=horizon)))
    assert back.action_space == env.action_space
    assert back.observation_space == env.observation_space
    before, after = play(env, seed=3), play(back, seed=3)
    assert len(before) > 50
    assert data_equivalence(before, after, exact=True)
    steps = [one for one in after if len(one) == 5]
    assert any(one[3] for one in steps) == (horizon == 20 or name == "Pendulum-v1")
    assert any(one[2] for one in steps) == (name == "CartPole-v1")


def test_a_simulation_as_environment_and_back():
    sim, back = strike(), gym_to_abmarl(GymnasiumWrapper(strike(), horizon=3), "knight")
    for one in (sim, back):
        one.reset(seed=4)
    for number, action in enumerate([act(), act(move=(0, 1)), act(attack=1)]):
        for one in (sim, back):
            one.step({"knight": action})
        assert data_equivalence(sim.get_obs("knight"), back.get_obs("knight"), exact=True)
        assert sim.get_reward("knight") == back.get_reward("knight")
        assert sim.get_done("knight") == back.get_done("knight") == (number == 2)


@pytest.mark.parametrize(
    ("steps", "last"), [(1, (True, False)), (2, (False, True)), (3, (True,) * 2)]
)
def test_endings(steps, last):
    sim = gym_to_abmarl(Counter())
    sim.reset(seed=1)
    assert sim.get_info("agent") == {"seed": 1, "terminated": False, "truncated": False}
    for number in range(1, steps + 1):
        assert not sim.get_done("agent")
        sim.step({"agent": END if number == steps else GO})
    assert sim.get_done("agent")
    assert sim.get_all_done()
    info = sim.get_info("agent")
    assert info == {"at": steps, "terminated": last[0], "truncated": last[1]}
    assert sim.get_obs("agent")[1] == steps, "the final observation"
    assert sim.get_reward("agent") == sum(range(1, steps + 1))
    assert sim.get_reward("agent") == 0
    with pytest.raises(ValueError, match=r"call reset\(\) before step\(\)"):
        sim.step({"agent": GO})
    wrapped = GymnasiumWrapper(AllStepManager(sim))
    wrapped.reset()
    found = [wrapped.step(END if number == steps else GO) for number in range(1, steps + 1)]
    assert found[-1][2:] == (*last, {"at": steps})


def test_worlds_of_a_seed():
    sim, same, other = (gym_to_abmarl(gymnasium.make("CartPole-v1")) for _ in range(3))
    sim.reset(seed=5), same.reset(seed=(5, 0)), other.reset(seed=(5, 1))
    assert np.array_equal(sim.get_obs("agent"), same.get_obs("agent"))
    assert not np.array_equal(sim.get_obs("agent"), other.get_obs("agent"))


def test_options_rendering_and_close():
    env = GymnasiumWrapper(gym_to_abmarl(Counter(), "counter"))
    obs, _ = env.reset(options={"start": 7})
    assert (env.agent_id, obs[1]) == ("counter", 7)
    env.close()
    assert env.simulation.env.closed
    pytest.importorskip("pygame")
    inner = gymnasium.make("CartPole-v1", render_mode="rgb_array")
    env = GymnasiumWrapper(AllStepManager(gym_to_abmarl(inner)))
    assert (env.render_mode, env.metadata) == ("rgb_array", inner.metadata)
    env.reset(seed=0)
    assert np.array_equal(env.render(), inner.render())
    env.close()


def test_without_an_action_nothing_happens():
    sim = gym_to_abmarl(Counter())
    sim.reset()
    sim.step({})
    assert sim.get_obs("agent")[1] == 0


def test_wrappers_of_simulations():
    sim = RavelDiscreteActionWrapper(gym_to_abmarl(gymnasium.make("Acrobot-v1")))
    env = GymnasiumWrapper(sim, horizon=4)
    env.reset(seed=0)
    assert [env.step(1)[3] for _ in range(4)] == [False, False, False, True]


def test_environments_of_gym():
    gym = pytest.importorskip("gym")

    class Old(gym.Env):
        action_space = gym.spaces.Dict({"b": gym.spaces.Discrete(2)})
        observation_space = gym.spaces.Box(0, 5, (2,), np.float32)

        def reset(self, *, seed=None, options=None):
            super().reset(seed=seed)
            return self.np_random.random(2, np.float32), {}

        def step(self, action):
            return self.np_random.random(2, np.float32), 1.0, bool(action["b"]), False, {}

    sim = gym_to_abmarl(Old())
    assert isinstance(sim.agents["agent"].action_space, spaces.Dict)
    assert check_simulation(sim).episodes > 10


def test_an_environment_of_gym_before_0_26():
    class Older(Counter):
        def reset(self, seed=None, options=None):
            return super().reset()[0]

    sim = gym_to_abmarl(Older())
    with pytest.raises(TypeError, match=r"reset of Older must return .* as since gym 0\.26"):
        sim.reset()
    with pytest.raises(ValueError, match=r"call reset\(\) first"):
        sim.get_obs("agent")


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda sim: sim.step({"agent": {"end": 2}}), ValueError, "does not lie in its action"),
        (lambda sim: sim.step({"agent": 0}), ValueError, "action of agent 'agent' is 0, which"),
        (lambda sim: sim.step({"other": GO}), ValueError, "from agent 'other', .* is 'agent'"),
        (lambda sim: sim.step([GO]), TypeError, "must be a dict of agent id to action, got list"),
        (lambda sim: sim.reset(seed=-1), ValueError, "seed must be an int >= 0"),
        (lambda sim: sim.reset(seed="a"), TypeError, "seed must be an int"),
    ],
)
def test_bad_input_changes_nothing(call, error, message):
    sim = gym_to_abmarl(Counter())
    sim.reset()
    sim.step({"agent": GO})
    with pytest.raises(error, match=message):
        call(sim)
    assert (sim.get_obs("agent")[1], sim.get_reward("agent")) == (1, 1)


def test_bad_input():
    with pytest.raises(TypeError, match=r"needs an environment .*, got dict, which has no reset"):
        gym_to_abmarl({})
    several = gymnasium.vector.SyncVectorEnv([Counter, Counter])
    with pytest.raises(TypeError, match=r"needs one environment, got SyncVectorEnv, .* a vector"):
        gym_to_abmarl(several)
    with pytest.raises(ValueError, match=r"call reset\(\) before step\(\)"):
        gym_to_abmarl(Counter()).step({"agent": GO})


def test_without_gym_nothing_is_missing(monkeypatch):
    monkeypatch.setitem(sys.modules, "gym", None)
    sim = gym_to_abmarl(gymnasium.make("CartPole-v1"))
    sim.reset(seed=0)
    assert sim.get_obs("agent").shape == (4,)
