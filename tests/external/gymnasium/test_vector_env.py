"""Vectorised simulations as Gymnasium vector environments."""

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import data_equivalence
from gymnasium.vector import AutoresetMode, SyncVectorEnv
from gymnasium.vector.utils import batch_space
from gymnasium.wrappers import vector as vector_wrappers

from abmarl.examples import foraging, maze_navigation, shipped
from abmarl.external import GymnasiumVectorEnv, GymnasiumWrapper
from abmarl.external.gymnasium import SHIPPED
from abmarl.sim.agents import is_agent
from tests.support.grid_worlds import WINDOW, corridor, skirmish, strike

MODES = list(AutoresetMode)
SAME_STEP, NEXT_STEP, DISABLED = (
    AutoresetMode.SAME_STEP, AutoresetMode.NEXT_STEP, AutoresetMode.DISABLED,
)  # fmt: skip
every_mode = pytest.mark.parametrize("mode", MODES)


def small_foraging():
    return foraging(rows=4, cols=5, num_resources=4)


def make(sim, mode, num_envs=6, seed=0, horizon=5, **kwargs):
    vec = sim.vectorize(num_envs, seed=seed, horizon=horizon, autoreset=mode is SAME_STEP)
    env = GymnasiumVectorEnv(vec, mode, **kwargs)
    env.action_space.seed(1)
    return env


def same_numbers(one, other):
    """Whether nested values are equal: the same keys, shapes and numbers, of whatever dtype."""
    if isinstance(one, tuple):
        return len(one) == len(other) and all(map(same_numbers, one, other))
    if isinstance(one, dict):
        return one.keys() == other.keys() and all(same_numbers(one[k], other[k]) for k in one)
    if isinstance(one, np.ndarray) and one.dtype == object:
        return all(map(same_numbers, one, other))
    return np.array_equal(one, other)


def attacks(mask):
    """Actions for a strike: the worlds in the mask attack."""
    mask = np.asarray(mask, bool)
    return {"attack": mask.astype(np.int8), "move": np.zeros((len(mask), 2), np.int8)}


@every_mode
@pytest.mark.parametrize("sim", [strike, corridor, small_foraging, maze_navigation])
def test_same_as_the_vector_environment_of_gymnasium(sim, mode):
    """Bit for bit what SyncVectorEnv makes of single environments, infos included."""
    env = make(sim(), mode)
    theirs = SyncVectorEnv([lambda: GymnasiumWrapper(sim(), horizon=5)] * 6, autoreset_mode=mode)
    assert env.metadata["autoreset_mode"] is theirs.metadata["autoreset_mode"] is mode
    seeds = [7, 3, 12, 7, 0, 1]
    assert same_numbers(env.reset(seed=seeds), theirs.reset(seed=seeds))
    ends = 0
    for _ in range(40):
        actions = env.action_space.sample()
        found = env.step(actions)
        assert same_numbers(found, theirs.step(actions))
        for ours, other in zip(found[1:4], found[1:4], strict=True):
            assert ours.dtype == other.dtype
        assert found[0] in env.observation_space
        done = found[2] | found[3]
        ends += done.sum()
        if mode is DISABLED and done.any():
            resets = [one.reset(options={"reset_mask": done}) for one in (env, theirs)]
            assert same_numbers(*resets)
    assert ends > 30


@every_mode
def test_seeds_are_those_of_the_vectorised_simulation(mode):
    sim = small_foraging()
    env, twin = make(sim, mode, seed=4), make(sim, mode, seed=9)
    bare = sim.vectorize(6, seed=4, horizon=5, autoreset=mode is SAME_STEP)
    first = bare.reset()[0]["forager"][WINDOW][:, 0]
    assert np.array_equal(env.reset()[0][WINDOW], first)
    assert not np.array_equal(twin.reset()[0][WINDOW], first)
    assert np.array_equal(twin.reset(seed=4)[0][WINDOW], first)
    assert np.array_equal(twin.reset(seed=np.int64(4))[0][WINDOW], first)
    assert twin.np_random_seed == 4
    # Lists: a world each, None goes on.
    again = [twin.reset(seed=[8] * 6)[0][WINDOW].copy() for _ in range(2)]
    assert np.array_equal(*again)
    assert (again[0] == again[0][0]).all()
    env.reset(seed=[8, None, 8, None, 8, None])
    single = GymnasiumWrapper(small_foraging())
    assert np.array_equal(single.reset(seed=8)[0][WINDOW], again[0][0])


@every_mode
@pytest.mark.parametrize("name", shipped)
def test_every_shipped_simulation_with_a_super_agent(name, mode):
    sim = shipped[name]()
    learners = [agent_id for agent_id, agent in sim.agents.items() if is_agent(agent)]
    vec = sim.vectorize(3, seed=0, horizon=4, autoreset=mode is SAME_STEP)
    env = GymnasiumVectorEnv(vec.super_agents({"crew": learners}), mode)
    assert env.observation_space == batch_space(env.single_observation_space, 3)
    env.action_space.seed(0)
    obs, infos = env.reset(seed=1)
    assert (obs in env.observation_space, infos) == (True, {})
    for number in range(1, 10):
        obs, rewards, terminated, truncated, infos = env.step(env.action_space.sample())
        assert obs in env.observation_space
        for array, dtype in ((rewards, float), (terminated, bool), (truncated, bool)):
            assert (array.shape, array.dtype) == ((3,), dtype)
        done = terminated | truncated
        if number == 4:
            assert done.all() or terminated.any()
        if mode is SAME_STEP and done.any():
            assert (infos["_final_obs"] == done).all()
            assert infos["final_obs"][done][0] in env.single_observation_space
        if mode is DISABLED and done.any():
            env.reset(options={"reset_mask": done})


@every_mode
@pytest.mark.parametrize("convert", ["ravel", "flatten"])
def test_numbers_and_flat_arrays(convert, mode):
    vec = small_foraging().vectorize(6, seed=0, horizon=5, autoreset=mode is SAME_STEP)
    flat = vec.ravel(observations=False) if convert == "ravel" else vec.flatten()
    env = GymnasiumVectorEnv(flat, mode, action_masks=convert == "ravel")
    env.action_space.seed(0)
    env.reset()
    for _ in range(12):
        actions = env.action_space.sample()
        obs, _, terminated, truncated, infos = env.step(actions)
        assert obs in env.observation_space
        done = terminated | truncated
        if convert == "ravel":
            assert infos["action_mask"].shape == (6, 18)
        if mode is SAME_STEP and done.any():
            assert infos["final_obs"][done][0] in env.single_observation_space
        if mode is DISABLED and done.any():
            env.reset(options={"reset_mask": done})


# Five worlds of a strike: attack in step 1, 2, 3, in no step, in step 3 and again.
AT = np.array([1, 2, 3, 0, 3])


def strikes(mode, horizon, steps, **kwargs):
    env = make(strike(), mode, 5, horizon=horizon, **kwargs)
    env.reset(seed=0)
    found = []
    for number in range(1, steps + 1):
        found.append(env.step(attacks(number == AT)))
    return env, found


@pytest.mark.parametrize("horizon", [3, 5])
def test_endings_same_step(horizon):
    env, found = strikes(SAME_STEP, horizon, 3)
    obs, rewards, terminated, truncated, infos = found[2]
    assert [one[2].tolist() for one in found[:2]] == [[n == k for n in range(5)] for k in (0, 1)]
    assert terminated.tolist() == [False, False, True, False, True]
    # Worlds 0 and 1 began anew after the first and the second step.
    assert truncated.tolist() == [False, False, False, horizon == 3, False]
    done = terminated | truncated
    assert (obs[WINDOW][:, 1] == [0, 1, 2]).all(), "first observations of the next episode"
    assert infos["_final_obs"].tolist() == infos["_final_info"].tolist() == done.tolist()
    final = infos["final_obs"]
    assert [one is not None for one in final] == done.tolist()
    assert final[2][WINDOW][1].tolist() == final[4][WINDOW][1].tolist() == [0, 1, 0]
    if horizon == 3:
        assert final[3][WINDOW][1].tolist() == [0, 1, 2]
    assert rewards.tolist() == [-0.125, -0.125, 0.875, -0.125, 0.875]
    assert env.step(attacks(AT == 0))[2].tolist() == [False, False, False, True, False]


@pytest.mark.parametrize("horizon", [3, 5])
def test_endings_next_step(horizon):
    env, found = strikes(NEXT_STEP, horizon, 4)
    assert found[0][2].tolist() == [True, False, False, False, False]
    assert found[0][0][WINDOW][0, 1].tolist() == [0, 1, 0], "the final observation"
    obs, rewards, terminated, *_ = found[1]
    assert obs[WINDOW][0, 1].tolist() == [0, 1, 2], "the first one of the next episode"
    assert rewards.tolist() == [0.0, 0.875, -0.125, -0.125, -0.125]
    assert terminated.tolist() == [False, True, False, False, False]
    assert found[2][2].tolist() == [False, False, True, False, True]
    assert found[2][3].tolist() == [False, False, False, horizon == 3, False]
    assert not (found[3][2] | found[3][3]).any()
    assert all(one[4] == {} for one in found)
    # The step that only resets does not count: by now world 0 has taken two of the next episode.
    cut = [env.step(attacks([0] * 5))[3][0] for _ in range(3)]
    assert cut == [number == horizon for number in (3, 4, 5)]


@pytest.mark.parametrize("horizon", [3, 5])
def test_endings_disabled(horizon):
    env, found = strikes(DISABLED, horizon, 1)
    terminated = found[0][2]
    assert terminated.tolist() == [True, False, False, False, False]
    before = env.vec.state_dict()
    with pytest.raises(ValueError, match=r"worlds 0 have ended: call reset\(options="):
        env.step(attacks(AT == 2))
    after = env.vec.state_dict()
    assert all(np.array_equal(before[key], after[key]) for key in before)
    options = {"reset_mask": terminated}
    obs, infos = env.reset(options=options)
    assert (list(options), infos) == (["reset_mask"], {})
    assert (obs[WINDOW][:, 1] == [0, 1, 2]).all()
    obs, rewards, terminated, _, infos = env.step(attacks(AT == 2))
    assert terminated.tolist() == [False, True, False, False, False]
    assert (rewards[1], obs[WINDOW][1, 1].tolist(), infos) == (0.875, [0, 1, 0], {})
    env.reset(options={"reset_mask": terminated})
    *_, truncated, _ = env.step(attacks([False] * 5))
    assert truncated.tolist() == [False, False, *[horizon == 3] * 3]


@every_mode
def test_statistics(mode):
    """Ours in every mode; the wrapper's where it counts the first step after a reset too."""
    env = make(strike(), mode, 4, statistics=True)
    wrapped = vector_wrappers.RecordEpisodeStatistics(env, stats_key="theirs")
    assert wrapped.reset(seed=2)[1] == {}
    rng = np.random.default_rng(0)
    for _ in range(60):
        *_, terminated, truncated, infos = wrapped.step(attacks(rng.random(4) < 0.2))
        done = terminated | truncated
        assert ("episode" in infos) == ("theirs" in infos) == done.any()
        if done.any():
            episode, theirs = infos["episode"], infos["theirs"]
            assert (infos["_episode"] == done).all()
            assert not episode["r"][~done].any()
            lengths = episode["l"][done]
            # 1 for the kill, an eighth for every step.
            assert (episode["r"][done] == terminated[done] - 0.125 * lengths).all()
            assert (lengths[truncated[done]] == 5).all()
            if mode is not SAME_STEP:
                assert (theirs["r"] == episode["r"]).all()
                assert (theirs["l"] == episode["l"]).all()
        if mode is DISABLED and done.any():
            wrapped.reset(options={"reset_mask": done})
    assert wrapped.episode_count > 30


@pytest.mark.parametrize("mode", [SAME_STEP, NEXT_STEP])
def test_what_the_wrapper_counts_is_what_it_counts_of_gymnasium(mode):
    theirs = SyncVectorEnv([lambda: GymnasiumWrapper(strike(), horizon=5)] * 4, autoreset_mode=mode)
    both = [
        vector_wrappers.RecordEpisodeStatistics(one, stats_key="counted")
        for one in (make(strike(), mode, 4), theirs)
    ]
    rng = np.random.default_rng(0)
    for one in both:
        one.reset(seed=[1, 2, 3, 4])
    for _ in range(30):
        actions = attacks(rng.random(4) < 0.2)
        ours, other = (one.step(actions)[-1].get("counted", {}) for one in both)
        ours.pop("t", None), other.pop("t", None)
        assert same_numbers(ours, other)
    assert both[0].episode_count == both[1].episode_count > 20


def test_wrappers_of_gymnasium():
    env = make(small_foraging(), NEXT_STEP, action_masks=True)
    env = vector_wrappers.ClipReward(env, -0.02, 0.0)
    env = vector_wrappers.DictInfoToList(vector_wrappers.FlattenObservation(env))
    obs, infos = env.reset(seed=0)
    assert obs.shape == (6, 49)
    for _ in range(10):
        obs, rewards, *_, infos = env.step(env.action_space.sample())
        assert obs in env.observation_space
        assert ((rewards <= 0) & (rewards >= -0.02)).all()
        assert infos[2]["action_mask"]["attack"].shape == (2,)


def test_infos_as_lists():
    env = vector_wrappers.DictInfoToList(make(small_foraging(), SAME_STEP))
    env.reset(seed=0)
    for _ in range(10):
        _, _, terminated, truncated, infos = env.step(env.action_space.sample())
        assert ["final_obs" in info for info in infos] == (terminated | truncated).tolist()


def test_copies():
    def keep(**kwargs):
        env = make(small_foraging(), SAME_STEP, action_masks=True, **kwargs)
        kept = [env.reset(seed=0)]
        kept += [env.step(env.action_space.sample()) for _ in range(3)]
        return [(one[0][WINDOW], one[-1]["action_mask"]["move"]) for one in kept]

    def shared(arrays):
        first, *others = arrays
        return [np.shares_memory(first, one) for one in others]

    for arrays in zip(*keep(), strict=True):
        assert shared(arrays) == [False] * 3
    for arrays in zip(*keep(copy=False), strict=True):
        assert shared(arrays) == [True] * 3


def test_rewards_and_flags_are_always_fresh():
    env = make(strike(), SAME_STEP, copy=False)
    env.reset(seed=0)
    first = env.step(attacks([1] * 6))[1:4]
    before = [one.copy() for one in first]
    env.step(attacks([0] * 6))
    assert all(map(np.array_equal, first, before))


def test_action_masks():
    env = make(small_foraging(), SAME_STEP, action_masks=True)
    assert "action_mask" not in make(small_foraging(), SAME_STEP).reset()[1]
    obs, infos = env.reset(seed=0)
    for _ in range(8):
        masks = infos["action_mask"]
        assert (infos["_action_mask"] & masks["_attack"] & masks["_move"]).all()
        beside = (obs[WINDOW][:, 2:5, 2:5] == 1).any(axis=(1, 2))
        assert masks["attack"].all(axis=1)[beside].all()
        for key, mask in env.vec.action_masks()["forager"].items():
            assert np.array_equal(masks[key], mask[:, 0])
        obs, *_, infos = env.step(env.action_space.sample())


def test_rendering():
    pytest.importorskip("pygame")
    from abmarl.render import Scene, frame

    env = make(strike(), SAME_STEP, 3, render_mode="rgb_array")
    env.reset(seed=0)
    env.step(attacks([0, 0, 0]))
    found = env.render()
    assert len(found) == 3
    assert np.array_equal(found[1], frame(Scene.of(env.vec, 1)))


def vectorised(sim=strike, **kwargs):
    return sim().vectorize(2, seed=0, **kwargs)


BAD = {
    "a simulation": (strike, TypeError, r"make one with sim.vectorize\(num_envs\)"),
    "several learners": (
        lambda: vectorised(skirmish),
        ValueError,
        "one learning agent per world, there are",
    ),
    "mode": (lambda: (vectorised(), "sometimes"), ValueError, "must be one of .*'SameStep'"),
    "same step": (
        lambda: (vectorised(autoreset=False), "SameStep"),
        ValueError,
        r"SAME_STEP needs sim.vectorize\(..., autoreset=True\)",
    ),
    "next step": (lambda: (vectorised(), NEXT_STEP), ValueError, "NEXT_STEP needs .*=False"),
    "disabled": (lambda: (vectorised(), DISABLED), ValueError, "DISABLED needs .*=False"),
    "render mode": (lambda: (vectorised(), None, "film"), ValueError, "render_mode must be None"),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_input(case):
    arguments, error, message = BAD[case]
    with pytest.raises(error, match=message):
        given = arguments()
        GymnasiumVectorEnv(*(given if isinstance(given, tuple) else (given,)))


def test_modes_by_default():
    assert GymnasiumVectorEnv(vectorised()).autoreset_mode is SAME_STEP
    assert GymnasiumVectorEnv(vectorised(autoreset=False)).autoreset_mode is DISABLED


WAIT = attacks([0, 0])
REFUSED = {
    "kind of a seed": (
        lambda env: env.reset(seed=[1, True]),
        ValueError,
        "seeds must be None or ints >= 0, got True",
    ),
    "key": (lambda env: env.step({"attack": WAIT["attack"]}), ValueError, "exactly the keys"),
    "kind": (lambda env: env.step(WAIT["attack"]), TypeError, "must be a dict with the keys"),
    "shape": (
        lambda env: env.step({**WAIT, "move": np.zeros((3, 2), int)}),
        ValueError,
        r"actions\['move'\] must have the shape \(2, 2\), one entry for each world, got \(3, 2\)",
    ),
    "scalar": (lambda env: env.step({**WAIT, "attack": 1}), ValueError, r"shape \(2,\)"),
    "float": (lambda env: env.step({**WAIT, "attack": np.zeros(2)}), TypeError, "integers"),
    "range": (
        lambda env: env.step({**WAIT, "attack": np.array([0, 2])}),
        ValueError,
        "'knight' in world 1 on channel 'attack' is 2",
    ),
    "seed": (lambda env: env.reset(seed=-1), ValueError, "-1"),
    "kind of seed": (lambda env: env.reset(seed=True), TypeError, "int"),
    "no seed": (lambda env: env.reset(seed=2.5), TypeError, "seed must be an int"),
    "seeds": (lambda env: env.reset(seed=[1]), ValueError, "each of the 2 worlds, got 1"),
    "one seed": (lambda env: env.reset(seed=[1, -1]), ValueError, "ints >= 0, got -1"),
    "mask": (
        lambda env: env.reset(options={"reset_mask": np.zeros(2, bool)}),
        ValueError,
        "with a True in it",
    ),
    "kind of mask": (
        lambda env: env.reset(options={"reset_mask": np.ones(2, int)}),
        ValueError,
        "must be a bool array",
    ),
    "size of mask": (
        lambda env: env.reset(options={"reset_mask": np.ones(3, bool)}),
        ValueError,
        r"of shape \(2,\)",
    ),
    "mode": (lambda env: env.render(), ValueError, "nothing to render without a mode"),
}


@every_mode
@pytest.mark.parametrize("case", REFUSED)
def test_bad_input_changes_nothing(mode, case):
    call, error, message = REFUSED[case]
    env, twin = (make(strike(), mode, 2) for _ in range(2))
    for one in (env, twin):
        one.reset(seed=5)
        one.step(WAIT)
    with pytest.raises(error, match=message):
        call(env)
    before, after = twin.vec.state_dict(), env.vec.state_dict()
    assert all(np.array_equal(before[key], after[key]) for key in before)
    assert data_equivalence(env.step(WAIT), twin.step(WAIT), exact=True)


def test_seeds_of_a_reset_that_fails_are_taken_back():
    sim = strike()
    env = make(sim, DISABLED, 2)
    env.reset(seed=5)
    before = env.vec.state_dict()

    def fail(worlds):
        raise ValueError("no place")

    for shard in env.vec._shards:
        shard.begin = fail
    with pytest.raises(ValueError, match="no place"):
        env.reset(seed=[1, 2])
    after = env.vec.state_dict()
    assert all(np.array_equal(before[key], after[key]) for key in before)


def test_the_first_reset_is_of_all_worlds():
    env = make(strike(), DISABLED, 2)
    with pytest.raises(ValueError, match=r"Call reset\(\) before step"):
        env.step(WAIT)
    with pytest.raises(ValueError, match="the first reset starts all worlds"):
        env.reset(options={"reset_mask": np.array([True, False])})
    env.reset()


@pytest.mark.parametrize("name", [name for name, one in SHIPPED.items() if one.vectorised])
@every_mode
def test_made_by_name(name, mode):
    parameters = {"rows": 6, "cols": 7}
    env = gymnasium.make_vec(
        name, num_envs=8, autoreset_mode=mode, max_episode_steps=3, **parameters
    )
    assert type(env) is GymnasiumVectorEnv
    assert (env.num_envs, env.vec.horizon) == (8, 3)
    assert (env.vec.rows, env.vec.cols) == (6, 7)
    assert env.spec.id == name
    env.reset(seed=0)
    for _ in range(3):
        *_, truncated, _ = env.step(env.action_space.sample())
    assert truncated.any()
    single = gymnasium.make(name, **parameters)
    assert single.spec.max_episode_steps == SHIPPED[name].max_episode_steps
    assert single.unwrapped.simulation.grid.rows == 6


def test_horizons_by_name():
    name = "abmarl/Foraging-v0"
    assert gymnasium.make_vec(name).vec.horizon == 200
    assert gymnasium.make_vec(name, max_episode_steps=-1).vec.horizon is None
    sync = gymnasium.make_vec(name, num_envs=2, vectorization_mode="sync", max_episode_steps=3)
    sync.reset(seed=0)
    for _ in range(3):
        *_, truncated, _ = sync.step(sync.action_space.sample())
    assert truncated.all()


def test_a_parameter_that_no_builder_has():
    with pytest.raises(TypeError, match="unexpected keyword argument 'rowz'"):
        gymnasium.make_vec("abmarl/Foraging-v0", num_envs=2, rowz=3)
    with pytest.raises(ValueError, match="exactly one learning agent"):
        gymnasium.make("abmarl/Foraging-v0", num_foragers=2)


def test_a_learner_solves_the_corridor():
    """Tabular Q-learning (Sutton and Barto, section 6.5) on the batches of 64 worlds."""
    vec = corridor().vectorize(64, seed=0, horizon=20).ravel()
    env = GymnasiumVectorEnv(vec, statistics=True)
    rng = np.random.default_rng(0)
    table = np.zeros((env.single_observation_space.n, env.single_action_space.n))
    seen, _ = env.reset()

    def play(seen, epsilon, steps, learns=True):
        """Goes on for some steps; returns the observations and the mean return of episodes."""
        returns = []
        for _ in range(steps):
            actions = table[seen].argmax(axis=1)
            explores = rng.random(64) < epsilon
            actions[explores] = rng.integers(table.shape[1], size=explores.sum())
            obs, rewards, terminated, _, infos = env.step(actions)
            after = obs.copy()
            for world in np.flatnonzero(infos.get("_final_obs", ())):
                after[world] = infos["final_obs"][world]
                returns.append(infos["episode"]["r"][world])
            if learns:
                targets = rewards + 0.95 * ~terminated * table[after].max(axis=1)
                np.add.at(table, (seen, actions), 0.1 * (targets - table[seen, actions]))
            seen = obs
        return seen, np.mean(returns)

    seen, random_return = play(seen, 1.0, 100)
    seen, _ = play(seen, 0.3, 1000)
    seen, _ = play(seen, 0.0, 20, learns=False)
    seen, learned_return = play(seen, 0.0, 200, learns=False)
    # At random about -1.35; the best there is -0.28 on average.
    assert random_return < -1.0
    assert learned_return > -0.31
