"""Single worlds as environments of the old gym package."""

import sys

import numpy as np
import pytest

pytest.importorskip("gym")

import gym
from gym.utils.env_checker import check_env
from gym.wrappers import FlattenObservation, TimeLimit
from gymnasium import spaces
from gymnasium.utils.env_checker import data_equivalence

import abmarl.external
from abmarl.examples import MultiCorridor, foraging, maze_navigation, shipped
from abmarl.external import GymWrapper
from abmarl.external.gym import to_gym
from abmarl.managers import AllStepManager, TurnBasedManager
from abmarl.sim.agents import Agent, is_agent
from abmarl.sim.spaces import to_gymnasium
from abmarl.sim.wrappers import FlattenWrapper, RavelDiscreteWrapper, SuperAgentWrapper
from tests.support.grid_worlds import WINDOW, act, skirmish, strike

ATTACK, WAIT = act(attack=1), act()

# What gym's check says of every environment here: that `unwrapped` is the simulation, as it always
# was, and advice about spaces.
checked = pytest.mark.filterwarnings(
    "ignore:.*is different from the unwrapped version",
    "ignore:.*has an unconventional shape",
    "ignore:.*It seems a Box observation space is an image",
    "ignore:.*For Box action spaces, we recommend",
)


@pytest.fixture(autouse=True)
def _old_numpy(monkeypatch):
    """gym's checks use a name that NumPy 2 has not got any more."""
    monkeypatch.setattr(np, "bool8", np.bool_, raising=False)


def one_learner(name):
    """A shipped simulation in which one super agent acts for everybody."""
    sim = shipped[name]()
    learners = [agent_id for agent_id, agent in sim.agents.items() if is_agent(agent)]
    return SuperAgentWrapper(sim, {"crew": learners})


@checked
@pytest.mark.parametrize("name", shipped)
def test_check_env_with_a_super_agent(name):
    check_env(GymWrapper(one_learner(name)))


@checked
@pytest.mark.parametrize(
    "make",
    [
        foraging,
        maze_navigation,
        lambda: MultiCorridor(num_agents=1),
        lambda: RavelDiscreteWrapper(strike()),
        lambda: FlattenWrapper(strike()),
        lambda: AllStepManager(strike()),
        lambda: TurnBasedManager(strike()),
    ],
)
def test_check_env(make):
    env = GymWrapper(make())
    check_env(env)
    assert isinstance(env.observation_space, gym.Space)


def test_unwrapped_is_the_simulation():
    sim = strike()
    env = GymWrapper(AllStepManager(FlattenWrapper(sim)))
    assert env.unwrapped is sim
    assert TimeLimit(env, 3).unwrapped is sim
    assert env.unwrapped.agents["knight"].encoding == 1


@checked
def test_made_by_gym():
    gym.register("AbmarlStrike-v0", lambda: GymWrapper(strike()), max_episode_steps=3)
    env = gym.make("AbmarlStrike-v0")
    assert env.spec.id == "AbmarlStrike-v0"
    env.reset(seed=0)
    assert [env.step(WAIT)[3] for _ in range(3)] == [False, False, True]


def test_wrappers_and_vectors_of_gym():
    def make():
        return FlattenObservation(TimeLimit(GymWrapper(strike()), 3))

    envs = gym.vector.SyncVectorEnv([make, make])
    obs, _ = envs.reset(seed=0)
    assert obs.shape == (2, 9)
    for _ in range(3):
        obs, rewards, terminated, truncated, _ = envs.step(
            {"attack": np.array([0, 0]), "move": np.zeros((2, 2), int)}
        )
    assert (rewards.tolist(), truncated.tolist()) == ([-0.125] * 2, [True, True])
    assert not terminated.any()


@pytest.mark.parametrize("make", [foraging, maze_navigation])
@pytest.mark.parametrize("wrap", [lambda sim: sim, AllStepManager])
def test_same_run_as_the_bare_simulation(make, wrap):
    env, sim = GymWrapper(wrap(make())), make()
    agent_id = env.agent_id
    env.action_space.seed(3)
    for seed in (5, None):
        obs, info = env.reset(seed=seed)
        sim.reset(seed=seed)
        assert info == {}
        assert data_equivalence(obs, sim.get_obs(agent_id), exact=True)
        for _ in range(20):
            action = env.action_space.sample()
            obs, reward, terminated, truncated, info = env.step(action)
            sim.step({agent_id: action})
            assert data_equivalence(obs, sim.get_obs(agent_id), exact=True)
            assert (reward, terminated) == (sim.get_reward(agent_id), sim.get_done(agent_id))
            assert (truncated, info) == (False, {})


@pytest.mark.parametrize(
    ("horizon", "attack_at", "last"),
    [(5, 3, (True, False)), (3, None, (False, True)), (3, 3, (True, False))],
)
def test_endings(horizon, attack_at, last):
    env = GymWrapper(strike(), horizon=horizon)
    env.reset(seed=0)
    found = [env.step(ATTACK if number == attack_at else WAIT) for number in (1, 2, 3)]
    assert [one[2:4] for one in found] == [(False, False), (False, False), last]
    assert found[-1][0][WINDOW][1].tolist() == [0, 1, 0 if attack_at else 2]
    with pytest.raises(ValueError, match=r"call reset\(\) before step\(\)"):
        env.step(WAIT)
    assert env.reset()[0][WINDOW][1].tolist() == [0, 1, 2]


def test_rendering_forwards_to_the_simulation(monkeypatch):
    sim = MultiCorridor(num_agents=1)
    calls = []
    monkeypatch.setattr(sim, "render", lambda **kwargs: calls.append(kwargs))
    env = GymWrapper(AllStepManager(sim))
    env.reset()
    env.render(fig=7)
    assert calls == [{"fig": 7}]


def test_rendering_in_a_mode():
    pytest.importorskip("pygame")
    from abmarl.render import Scene, frame

    env = GymWrapper(strike(), render_mode="rgb_array")
    env.reset(seed=0)
    assert np.array_equal(env.render(), frame(Scene.of(env.unwrapped)))


EVERY_SPACE = {
    "box": spaces.Box(np.array([-1.0, -np.inf]), np.array([2.0, np.inf]), dtype=np.float64),
    "integers": spaces.Box(-2, 3, (2, 3), np.int8),
    "discrete": spaces.Discrete(5, start=-1),
    "several": spaces.MultiDiscrete([[2, 3], [4, 5]]),
    "binary": spaces.MultiBinary((2, 3)),
    "bits": spaces.MultiBinary(4),
    "dict": spaces.Dict({3: spaces.Discrete(2), 1: spaces.Tuple([spaces.Discrete(3)])}),
}


@pytest.mark.parametrize("name", EVERY_SPACE)
def test_spaces_there_and_back(name):
    space = EVERY_SPACE[name]
    space.seed(4)
    there = to_gym(space)
    assert isinstance(there, gym.Space)
    back = to_gymnasium(there)
    assert back == space
    for _ in range(5):
        point = there.sample()
        assert point in space
        assert data_equivalence(back.sample(), space.sample(), exact=True)


class Peculiar(MultiCorridor):
    """A corridor with an action space of one's own."""

    def __init__(self, space):
        super().__init__(num_agents=1)
        agent = Agent(id="a", action_space=space, observation_space=spaces.Discrete(2))
        self.agents = {"a": agent}
        self.finalize()


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: GymWrapper(3), TypeError, "needs a simulation or a manager, got int"),
        (lambda: GymWrapper(skirmish()), ValueError, "exactly one learning agent"),
        (lambda: GymWrapper(strike(), render_mode="film"), ValueError, "render_mode must be None"),
        (lambda: GymWrapper(strike(), horizon=0), ValueError, "1 or more, or None"),
        (
            lambda: GymWrapper(Peculiar(spaces.MultiDiscrete([2, 3], start=[1, 0]))),
            TypeError,
            "action_space is MultiDiscrete.* of gym starts at 0; ravel",
        ),
        (
            lambda: GymWrapper(Peculiar({"word": spaces.Text(3)})),
            TypeError,
            r"action_space\['word'\] is a Text, which cannot be converted to gym; these can: Box",
        ),
    ],
)
def test_bad_input(call, error, message):
    with pytest.raises(error, match=message):
        call()


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda env: env.step(act(attack=2)), ValueError, "knight"),
        (lambda env: env.step(1), ValueError, "knight"),
        (lambda env: env.reset(seed=-1), gym.error.Error, "-1"),
        (lambda env: env.reset(seed=True), TypeError, "seed must be an int"),
    ],
)
def test_bad_input_changes_nothing(call, error, message):
    env, twin = (GymWrapper(strike(), horizon=3) for _ in range(2))
    for one in (env, twin):
        one.reset(seed=1)
        one.step(WAIT)
    before = env.np_random.bit_generator.state
    with pytest.raises(error, match=message):
        call(env)
    assert env.np_random.bit_generator.state == before
    for _ in range(2):
        assert data_equivalence(env.step(WAIT), twin.step(WAIT), exact=True)


def test_without_gym(monkeypatch):
    monkeypatch.delitem(sys.modules, "abmarl.external.gym")
    monkeypatch.setitem(sys.modules, "gym", None)
    message = r"abmarl\.external\.gym needs gym: pip install 'abmarl\[gym\]'"
    with pytest.raises(ImportError, match=message):
        _ = abmarl.external.GymWrapper
