import sys

import gymnasium
import numpy as np
import pytest
from gymnasium.spaces import Box, Dict, Discrete, MultiDiscrete

pytest.importorskip("stable_baselines3")

from stable_baselines3 import PPO
from stable_baselines3.common.env_checker import check_env

from abmarl.examples import shipped, team_battle
from abmarl.external import GymnasiumWrapper, SB3VecEnv
from abmarl.external.gymnasium import SHIPPED
from abmarl.gridworld import GridObservingAgent, MoveActor
from abmarl.gridworld.actor import ActorBase, SelectiveAttackActor
from abmarl.sim.agents import is_agent
from abmarl.sim.conversion import FlattenConversion, MultiDiscreteConversion, RavelConversion
from abmarl.sim.wrappers import FlattenWrapper, RavelDiscreteWrapper, SuperAgentWrapper
from tests.support.grid_worlds import battle, build, fighter, strike
from tests.support.sb3_worlds import BLUE, RED, STAY, STRIKE, hunted_env, play, striking_env

WORLDS, HORIZON = 3, 12


def groups():
    for name, make in shipped.items():
        for group in make().vectorize(1).groups:
            yield pytest.param(name, group, id=f"{name}-{group}")


@pytest.mark.parametrize("observations", ["flat", "dict"])
@pytest.mark.parametrize("actions", ["discrete", "multi_discrete"])
@pytest.mark.parametrize(("name", "group"), list(groups()))
def test_slots_are_the_agents_of_the_bare_simulation(name, group, actions, observations):
    """Spaces, shapes and dtypes are what they say, and numbers those of the simulation."""
    make = shipped[name]
    twin = make().vectorize(WORLDS, seed=5, horizon=HORIZON)
    env = SB3VecEnv(
        make().vectorize(WORLDS, seed=5, horizon=HORIZON), group,
        actions=actions, observations=observations,
    )  # fmt: skip
    spaces, n = twin.groups[group], len(twin.groups[group])
    chosen = (RavelConversion if actions == "discrete" else MultiDiscreteConversion)(
        spaces.action_space
    )
    flat = FlattenConversion(spaces.observation_space)
    assert env.num_envs == WORLDS * n
    assert isinstance(env.action_space, Discrete if actions == "discrete" else MultiDiscrete)
    assert isinstance(env.observation_space, Box if observations == "flat" else Dict)

    def same(slots, channels):
        if observations == "flat":
            expected = flat.convert_batch(channels).reshape(env.num_envs, -1)
            assert slots.dtype == env.observation_space.dtype
            return np.array_equal(slots, expected)
        return slots.keys() == channels.keys() and all(
            np.array_equal(slots[key], array.reshape(env.num_envs, *array.shape[2:]))
            for key, array in channels.items()
        )

    def points(slots):
        if observations == "flat":
            return list(slots)
        return [{key: array[k] for key, array in slots.items()} for k in range(env.num_envs)]

    obs, infos = twin.reset()
    seen = env.reset()
    assert same(seen, obs[group])
    rng = np.random.default_rng(0)
    codes = RavelConversion(spaces.action_space).num_points
    ends = 0
    for _ in range(2 * HORIZON + 3):
        active = infos["active"][group].copy()
        given = twin.sample_actions()
        given[group] = RavelConversion(spaces.action_space).restore_batch(
            rng.integers(0, codes, (WORLDS, n))
        )
        obs, rewards, terminated, truncated, infos = twin.step(given)
        slot_actions = chosen.convert_batch(given[group])
        env.step_async(slot_actions.reshape(env.num_envs, *env.action_space.shape))
        seen, gained, done, told = env.step_wait()
        assert same(seen, obs[group])
        assert all(env.observation_space.contains(point) for point in points(seen))
        assert (gained.dtype, gained.shape) == (np.float32, (env.num_envs,))
        assert np.array_equal(gained, (rewards[group] * active).astype(np.float32).reshape(-1))
        assert (done.dtype, done.shape) == (bool, (env.num_envs,))
        assert np.array_equal(done, (terminated[group] | truncated[group]).reshape(-1))
        assert np.array_equal(env.acted, active.reshape(-1))
        assert [("terminal_observation" in info) for info in told] == done.tolist()
        assert [info.get("acted", True) for info in told] == active.reshape(-1).tolist()
        ends += done.sum()
    assert ends >= WORLDS


def test_shared_infos_of_one_step_are_not_those_of_the_next():
    env = striking_env(horizon=9)
    (*_, first), (*_, second) = play(env, strike_at=0, steps=2)
    first[0]["note"] = 1
    assert second == [{}, {}]


def test_returned_observations_are_kept_by_the_library_across_steps():
    env = SB3VecEnv(team_battle().vectorize(4, seed=0, horizon=30), "red")
    before = env.reset()
    copy = before.copy()
    for _ in range(5):
        env.step(np.full(env.num_envs, 8))
    assert np.array_equal(before, copy)


def test_endings_terminated():
    env = striking_env(horizon=5)
    results = play(env, strike_at=3, steps=4)
    assert [done.tolist() for _, _, done, _ in results] == [
        [False, False], [False, False], [True, False], [False, False],
    ]  # fmt: skip
    obs, _, _, infos = results[2]
    assert infos[0]["TimeLimit.truncated"] is False
    assert infos[0]["episode"]["l"] == 3
    assert infos[0]["episode"]["r"] == 3 * -0.125 + 1
    # What was seen last: the victim, at (1, 2) beside the knight at (1, 1), is gone.
    assert infos[0]["terminal_observation"].reshape(3, 3)[1].tolist() == [0, 1, 0]
    assert obs[0].reshape(3, 3)[1].tolist() == [0, 1, 2]
    assert infos[1] == {}


def test_endings_truncated():
    results = play(striking_env(horizon=3), strike_at=0, steps=4)
    assert [done.tolist() for _, _, done, _ in results] == 2 * [[False] * 2] + [
        [True, True], [False, False],
    ]  # fmt: skip
    for info in results[2][3]:
        assert info["TimeLimit.truncated"] is True
        assert (info["episode"]["r"], info["episode"]["l"]) == (-0.375, 3)
        assert info["terminal_observation"].reshape(3, 3)[1].tolist() == [0, 1, 2]


def test_endings_terminated_at_the_horizon():
    *_, (_, rewards, done, infos) = play(striking_env(horizon=3), strike_at=3, steps=3)
    assert done.tolist() == [True, True]
    assert rewards.tolist() == [0.875, -0.125]
    assert [info["TimeLimit.truncated"] for info in infos] == [False, True]


def test_endings_before_the_world():
    """blue0 is killed in step 1 of an episode of 4; its slot waits for the next one."""
    env = hunted_env(worlds=2, strikes=(1, 6))
    first = env.reset()
    results = [env.step(np.full(4, STAY)) for _ in range(7)]
    dones = np.array([done for _, _, done, _ in results])
    assert dones[:, 0].tolist() == [True, False, False, False, False, True, False]
    assert dones[:, 1].tolist() == [False, False, False, True, False, False, False]
    assert np.array_equal(dones[:, :2], dones[:, 2:])
    acted = [[info.get("acted", True) for info in infos] for *_, infos in results]
    assert np.array(acted)[:, 0].tolist() == [True, False, False, False, True, True, False]
    assert np.array(acted)[:, 1].all()
    rewards = np.array([gained for _, gained, _, _ in results])
    assert rewards[0, 0] < -0.9
    assert not rewards[1:4, 0].any()
    ended = results[0][3][0]
    assert ended["TimeLimit.truncated"] is False
    assert ended["episode"]["l"] == 1
    assert ended["episode"]["r"] == pytest.approx(rewards[0, 0])
    # The last view in the step in which it ends, then nothing at all, then the next episode.
    assert np.array_equal(ended["terminal_observation"], results[0][0][0])
    assert (results[0][0][0] != -2).any()
    assert (results[1][0][0] == -2).all()
    assert (results[2][0][0] == -2).all()
    assert np.array_equal(results[3][0], first)
    # The second episode is counted from its own start.
    assert results[5][3][0]["episode"]["l"] == 2
    assert results[3][3][1]["episode"]["l"] == 4


def test_endings_with_dict_observations():
    results = play(striking_env(horizon=5, observations="dict"), strike_at=3, steps=3)
    obs, _, _, infos = results[2]
    last = infos[0]["terminal_observation"]
    assert last.keys() == obs.keys() == {"position_centered_encoding"}
    assert last["position_centered_encoding"][1].tolist() == [0, 1, 0]


def rollout(env, steps=20, seed=0):
    rng = np.random.default_rng(seed)
    found = [env.reset()]
    for _ in range(steps):
        obs, rewards, done, _ = env.step(rng.integers(0, env.action_space.n, env.num_envs))
        found += [obs, rewards, done]
    return found


def same(one, other):
    return all(np.array_equal(*pair) for pair in zip(one, other, strict=True))


@pytest.mark.parametrize("policies", ["random", "heuristic"])
def test_the_same_seed_is_the_same_run(policies):
    def make(seed):
        vec = team_battle().vectorize(3, seed=seed, horizon=15)
        return SB3VecEnv(vec, "red", policies)

    env = make(4)
    run = rollout(env)
    assert same(run, rollout(make(4)))
    assert not same(run, rollout(make(5)))
    assert not same(run, rollout(env))  # goes on with the streams
    assert env.seed(4) == [4] * env.num_envs
    assert same(run, rollout(env))
    other = make(9)
    other.seed(4)
    assert same(run, rollout(other))


def test_a_seed_is_checked_at_once():
    env = striking_env(horizon=3)
    with pytest.raises(TypeError, match="seed must be an int"):
        env.seed("1")
    assert isinstance(env.seed()[0], int)


def test_what_is_wrapped_already_stays_so():
    vec = battle().vectorize(2, horizon=5)
    env = SB3VecEnv(vec.ravel(observations=False).flatten(actions=False), RED)
    assert env.action_space == Discrete(18)
    assert env.observation_space.shape == (9,)
    rollout(env)
    one = SB3VecEnv(vec.super_agents({"reds": ["red0", "red1"]}), "reds")
    assert (one.num_envs, one.action_space) == (2, Discrete(18 * 18))
    rollout(one)


def test_super_agents_wait_as_others_do():
    """Who leads both blues ends with the second of them, so it never waits here."""
    vec = battle().vectorize(1, horizon=4)
    env = SB3VecEnv(vec.super_agents({"blues": ["blue0", "blue1"]}), "blues", "random")
    env.reset()
    dones = [bool(env.step(np.array([4 * 18 + 4]))[2][0]) for _ in range(8)]
    assert dones.count(True) >= 2
    assert all(info.get("acted", True) for info in env.step(np.array([0]))[3])


def aimed():
    """Selective attacks: 10 ** 9 attacks, times 9 moves."""
    agents = [fighter("red", 1, (0, 0), simultaneous_attacks=9), fighter("blue", 2, (1, 1))]
    return build(
        agents, attack_mapping={1: {2}}, actors=[SelectiveAttackActor, MoveActor]
    ).vectorize(2, seed=0, horizon=5)


def test_many_choices():
    with pytest.raises(ValueError, match=r"'fighter_1', Discrete.*9000000000.*multi_discrete"):
        SB3VecEnv(aimed(), RED)
    env = SB3VecEnv(aimed(), RED, actions="multi_discrete")
    assert env.action_space == MultiDiscrete([10] * 9 + [3, 3])
    env.reset()
    actions = np.zeros((2, 11), np.int64)
    actions[:, 8], actions[:, 9:] = 1, 1  # the cell to the lower right, and stay
    actions[1, 8] = 0
    env.step(actions)
    alive = env.vec.store.active[:, 1]
    assert alive.tolist() == [False, True]


class Lean(ActorBase):
    """A number that is the reward."""

    key = "lean"
    supported_agent_type = GridObservingAgent

    def space(self, agent):
        return Box(-1.0, 2.0, (1,), np.float32)

    def null(self, agent):
        return np.zeros(1, np.float32)

    def run(self, turns, num_turns, flat, rows_of, fresh):
        for b in range(len(turns)):
            for i in turns[b, : num_turns[b]]:
                self.store.rewards[b, i] += flat[rows_of[i, 0] + b * rows_of[i, 1]]


def test_actions_that_are_no_choices():
    """They are flattened by the user, and what is refused says so."""
    vec = build([fighter("one", 1, (1, 1))], actors=[Lean]).vectorize(3, seed=0, horizon=4)
    with pytest.raises(ValueError, match=r"vec\.flatten\(observations=False\) for numbers"):
        SB3VecEnv(vec)
    env = SB3VecEnv(vec.flatten(observations=False))
    assert env.action_space == Box(-1.0, 2.0, (1,), np.float64)
    assert not env.has_attr("action_masks")
    with pytest.raises(ValueError, match="no masks for actions of Box"):
        env.action_masks()
    env.reset()
    given = np.array([[-1.0], [0.5], [2.0]], np.float32)
    assert env.step(given)[1].tolist() == [-1.0, 0.5, 2.0]
    with pytest.raises(ValueError, match=r"slot 2, agent 'one' in world 2, is \[2\.5\]"):
        env.step(given + 0.5)
    model = PPO("MlpPolicy", env, n_steps=4, batch_size=12, device="cpu", **env.on_policy())
    assert model.learn(24).num_timesteps == 24


def state(env):
    return {name: array.tobytes() for name, array in env.vec.state_dict().items()}


@pytest.mark.parametrize(
    ("actions", "error", "match"),
    [
        (np.zeros(3, int), ValueError, r"shape \(4,\), one for each slot, got \(3,\)"),
        (np.zeros((4, 1), int), ValueError, r"got \(4, 1\)"),
        (np.zeros(4), TypeError, r"points of Discrete\(18\), got float64"),
        (
            np.array([0, 0, 0, 18]), ValueError,
            r"slot 3, agent 'blue1' in world 1, is 18, which is not in Discrete\(18\)",
        ),
        (np.array([0, -1, 0, 0]), ValueError, "slot 1, agent 'blue1' in world 0, is -1"),
    ],
)  # fmt: skip
def test_wrong_actions_change_nothing(actions, error, match):
    env = hunted_env(worlds=2)
    env.reset()
    before = state(env)
    with pytest.raises(error, match=match):
        env.step(actions)
    assert state(env) == before
    with pytest.raises(RuntimeError, match="step_async"):
        env.step_wait()
    env.step(np.full(4, STAY))


def test_actions_of_slots_that_wait_are_ignored():
    one, other = hunted_env(), hunted_env()
    for env, idle in ((one, STAY), (other, STRIKE)):
        env.reset()
        env.step(np.array([STAY, STAY]))
        env.step(np.array([idle, STAY]))
    assert state(one) == state(other)


@pytest.mark.parametrize(
    ("make", "error", "match"),
    [
        (lambda: SB3VecEnv(strike()), TypeError, r"sim\.vectorize\(num_envs\)"),
        (lambda: SB3VecEnv(battle().vectorize(2)), ValueError, "who learns, one of 'fighter_1'"),
        (lambda: SB3VecEnv(battle().vectorize(2), "red"), ValueError, "got 'red'"),
        (
            lambda: SB3VecEnv(strike().vectorize(2, autoreset=False)), ValueError,
            "autoreset=True",
        ),
        (
            lambda: SB3VecEnv(battle().vectorize(2), RED, {RED: "random"}), ValueError,
            "'fighter_1' learns.*'fighter_2'",
        ),
        (
            lambda: SB3VecEnv(battle().vectorize(2), RED, {"blau": "random"}), ValueError,
            "no group 'blau'",
        ),
        (lambda: SB3VecEnv(strike().vectorize(2), actions="box"), ValueError, "'multi_discrete'"),
        (lambda: SB3VecEnv(strike().vectorize(2), observations=3), ValueError, "'flat' or 'dict'"),
        (lambda: SB3VecEnv(strike().vectorize(2).flatten()), ValueError, "Box of integers"),
        (
            lambda: SB3VecEnv(strike().vectorize(2).ravel(actions=False)), ValueError,
            "one input per point; take observations='flat'",
        ),
        (
            lambda: SB3VecEnv(
                battle().vectorize(2).super_agents({"reds": ["red0", "red1"]}), "reds",
                observations="dict",
            ), ValueError, "on channel .*unknown to the library; take observations='flat'",
        ),
        (lambda: SB3VecEnv(strike().vectorize(2), render_mode="x"), ValueError, "render_mode"),
        (lambda: SB3VecEnv(strike().vectorize(2), render_worlds=0), ValueError, "render_worlds"),
    ],
)  # fmt: skip
def test_what_the_library_cannot_hold_is_refused(make, error, match):
    with pytest.raises(error, match=match):
        make()


def test_attributes_and_methods():
    env = hunted_env(worlds=2, horizon=7)
    assert env.get_attr("group") == [BLUE] * 4
    assert env.get_attr("horizon", indices=[0, 2]) == [7, 7]
    assert env.get_attr("render_mode", indices=3) == [None]
    with pytest.raises(AttributeError, match="nothing"):
        env.get_attr("nothing")
    assert not env.has_attr("nothing")
    with pytest.raises(IndexError, match="no slot 4, there are 4"):
        env.get_attr("group", indices=4)
    env.set_attr("stage", 2)
    assert env.get_attr("stage") == [2] * 4
    with pytest.raises(ValueError, match="share one simulation"):
        env.set_attr("stage", 3, indices=[0])
    assert env.stage == 2
    assert env.env_method("seed", 3, indices=[1]) == [[3] * 4]
    env.close()


def test_pictures():
    pytest.importorskip("pygame")
    env = striking_env(horizon=3, render_mode="rgb_array", render_worlds=2)
    env.reset()
    first, second = env.get_images()
    assert first.dtype == np.uint8
    assert first.shape == second.shape
    both = env.render()
    assert both.size >= first.size + second.size
    assert striking_env(horizon=3).get_images() == [None]


def test_a_missing_library(monkeypatch):
    for name in [name for name in sys.modules if name.startswith("abmarl.external.sb3")]:
        monkeypatch.delitem(sys.modules, name)
    for name in [name for name in sys.modules if name.split(".")[0] == "stable_baselines3"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "stable_baselines3", None)
    import abmarl.external

    with pytest.raises(ImportError, match=r"stable_baselines3: pip install 'abmarl\[sb3\]'"):
        _ = abmarl.external.SB3VecEnv


def arrays_and_choices(sim):
    """Flat observations and one number as the action, which every algorithm takes."""
    return FlattenWrapper(RavelDiscreteWrapper(sim, observations=False), actions=False)


@pytest.mark.parametrize("wrap", [FlattenWrapper, arrays_and_choices])
@pytest.mark.parametrize("name", SHIPPED)
def test_with_one_learner(name, wrap):
    # Without its advice, which is about the ranges of actions.
    check_env(GymnasiumWrapper(wrap(gymnasium.make(name).unwrapped.sim), horizon=20), warn=False)


@pytest.mark.parametrize("name", shipped)
def test_with_a_super_agent(name):
    sim = shipped[name]()
    learners = [agent_id for agent_id, agent in sim.agents.items() if is_agent(agent)]
    together = FlattenWrapper(SuperAgentWrapper(sim, {"crew": learners}))
    check_env(GymnasiumWrapper(together, horizon=20), warn=False)


def test_it_finds_what_is_wrong():
    class Short(GymnasiumWrapper):
        def step(self, action):
            return super().step(action)[:4]

    env = Short(arrays_and_choices(gymnasium.make("abmarl/Foraging-v0").unwrapped.sim))
    with pytest.raises(AssertionError):
        check_env(env, warn=False)
