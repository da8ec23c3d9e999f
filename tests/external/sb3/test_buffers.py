import itertools
import pickle

import numpy as np
import pytest
from gymnasium.spaces import Box, Dict, Discrete

pytest.importorskip("stable_baselines3")
pytest.importorskip("sb3_contrib")

import torch
from sb3_contrib import MaskablePPO
from sb3_contrib.common.maskable.utils import get_action_masks, is_masking_supported
from stable_baselines3 import A2C, DQN, PPO
from stable_baselines3.common.buffers import DictReplayBuffer, ReplayBuffer, RolloutBuffer

from abmarl.examples import foragers_and_hunters, shipped
from abmarl.external import SB3VecEnv
from abmarl.external.sb3.buffers import (
    ActiveDictReplayBuffer,
    ActiveReplayBuffer,
    ActiveRolloutBuffer,
    LastStep,
)
from abmarl.gridworld import TargetAgentOverlapDone
from abmarl.gridworld.actor import EncodingBasedAttackActor, MoveActor
from tests.support.grid_worlds import build, fighter, wall
from tests.support.sb3_worlds import BLUE, RED, STAY, hunted_env, striking_env

torch.set_num_threads(1)
SPACES = Box(0, 1000, (1,), np.float32), Discrete(9)
COLUMNS = ("observations", "actions", "old_values", "old_log_prob", "advantages", "returns")


def fill(buffer, rewards, values, starts, acted=None):
    """Adds steps [T, slots]; the observation of a step is its number, 100 per slot on top."""
    for step in range(len(rewards)):
        if acted is not None:
            buffer.last_step.acted = np.array(acted[step], bool)
        slots = np.arange(len(rewards[step]))
        buffer.add(
            (step + 100.0 * slots)[:, None], slots, np.array(rewards[step]),
            np.array(starts[step]), torch.tensor(values[step]), torch.zeros(len(slots)),
        )  # fmt: skip


def rows(buffer, batch_size=None):
    """All rows that are trained on, by their observations."""
    batches = list(buffer.get(batch_size))
    columns = {name: torch.cat([getattr(batch, name) for batch in batches]) for name in COLUMNS}
    order = columns["observations"].reshape(-1).argsort()
    return {name: column[order].numpy() for name, column in columns.items()}, batches


def test_returns_and_advantages_by_hand():
    """An agent acts twice and is killed, its slot waits for two steps, then acts again.

    step        0    1    2    3    4
    reward      1    2    -    -    4    values 0.5 while it acts, 9 while it waits
    The value of what comes after step 4 is 8; gamma and lambda are 0.5.
    """
    buffer = ActiveRolloutBuffer(
        5, *SPACES, device="cpu", gae_lambda=0.5, gamma=0.5, n_envs=1, last_step=LastStep()
    )
    fill(
        buffer,
        rewards=[[1.0], [2.0], [0.0], [0.0], [4.0]],
        values=[[0.5], [0.5], [9.0], [9.0], [0.5]],
        starts=[[True], [False], [True], [False], [False]],  # done at step 1 starts step 2
        acted=[[1], [1], [0], [0], [1]],
    )
    buffer.compute_returns_and_advantage(torch.tensor([8.0]), np.array([False]))
    found, _ = rows(buffer)
    assert found["observations"].ravel().tolist() == [0, 1, 4]
    # Step 1 is the last one: 2 - 0.5. Step 0: 1 + 0.5 * 0.5 - 0.5 and a quarter of that.
    # Step 4: 4 + 0.5 * 8 - 0.5.
    assert found["advantages"].tolist() == [0.75 + 0.25 * 1.5, 1.5, 7.5]
    assert found["returns"].tolist() == [0.75 + 0.25 * 1.5 + 0.5, 2.0, 8.0]


def test_the_stock_buffer_when_nobody_waits():
    rng = np.random.default_rng(0)
    steps = {
        "rewards": rng.normal(size=(6, 4)).astype(np.float32),
        "values": rng.normal(size=(6, 4)).astype(np.float32),
        "starts": rng.random((6, 4)) < 0.2,
    }
    kinds = {"device": "cpu", "gae_lambda": 0.9, "gamma": 0.9, "n_envs": 4}
    ours = ActiveRolloutBuffer(6, *SPACES, **kinds, last_step=LastStep())
    stock = RolloutBuffer(6, *SPACES, **kinds)
    fill(ours, **steps, acted=np.ones((6, 4)))
    fill(stock, **steps)
    for buffer in (ours, stock):
        buffer.compute_returns_and_advantage(torch.zeros(4), np.zeros(4, bool))
    for batch_size in (None, 8):
        (found, batches), (expected, others) = rows(ours, batch_size), rows(stock, batch_size)
        assert [len(one.returns) for one in batches] == [len(one.returns) for one in others]
        assert all(np.array_equal(found[name], expected[name]) for name in COLUMNS)


def test_batches_are_never_much_smaller_than_asked_for():
    """MaskablePPO divides by the standard deviation of a batch, which one row does not have."""
    buffer = ActiveRolloutBuffer(9, *SPACES, device="cpu", n_envs=1, last_step=LastStep())
    nine = np.zeros((9, 1), np.float32)
    fill(buffer, nine, nine, nine, acted=np.ones((9, 1)))
    assert [len(batch.returns) for batch in buffer.get(4)] == [3, 3, 3]
    assert len({*np.concatenate([batch.observations.ravel() for batch in buffer.get(4)])}) == 9


def test_nobody_acted():
    buffer = ActiveRolloutBuffer(2, *SPACES, device="cpu", n_envs=1, last_step=LastStep())
    two = np.zeros((2, 1), np.float32)
    fill(buffer, two, two, two, acted=np.zeros((2, 1)))
    with pytest.raises(ValueError, match=r"no agent acted in 2 steps of 1 slots.*larger n_steps"):
        next(buffer.get())


def episodes(acted, done):
    """The steps of every agent's episodes: (slot, steps, whether it ended within them)."""
    for slot in range(acted.shape[1]):
        steps = []
        for step in range(len(acted)):
            if acted[step, slot]:
                steps.append(step)
            if steps and (done[step, slot] or step == len(acted) - 1):
                yield slot, steps, done[step, slot]
                steps = []


@pytest.mark.parametrize("algorithm", [PPO, A2C, MaskablePPO])
@pytest.mark.parametrize("observations", ["flat", "dict"])
def test_advantages_of_a_run_are_those_of_its_episodes(algorithm, observations):
    """What an algorithm collects, against GAE episode by episode in plain Python."""
    env = hunted_env(worlds=2, horizon=5, strikes=(1, 8), observations=observations)
    masked = algorithm is MaskablePPO
    model = algorithm(
        "MlpPolicy" if observations == "flat" else "MultiInputPolicy", env, n_steps=12, seed=0,
        gamma=0.9, gae_lambda=0.8, device="cpu", **env.on_policy(masked=masked),
        **({} if algorithm is A2C else {"batch_size": 48}),
    )  # fmt: skip
    dones, after_all, kept = [], [], {}

    def watch(local, _):
        dones.append(local["dones"])
        return True

    class Buffer(type(model.rollout_buffer)):
        def compute_returns_and_advantage(self, last_values, dones):
            after_all.extend(last_values.numpy().ravel())
            super().compute_returns_and_advantage(last_values, dones)
            names = ("rewards", "values", "advantages", "acted")
            kept.update({name: getattr(self, name).copy() for name in names})

    model.rollout_buffer.__class__ = Buffer
    model.learn(48, callback=watch)
    acted, done = kept["acted"], np.array(dones)
    assert not acted.all()
    checked = 0
    for slot, steps, ended in episodes(acted, done):
        following = 0.0
        after = 0.0 if ended else after_all[slot]
        for step in reversed(steps):
            value = kept["values"][step, slot]
            delta = kept["rewards"][step, slot] + 0.9 * after - value
            following = delta + 0.9 * 0.8 * following
            assert kept["advantages"][step, slot] == pytest.approx(following, abs=1e-5)
            after = value
            checked += 1
    assert checked == acted.sum()
    sizes = [len(batch.returns) for batch in model.rollout_buffer.get()]
    assert sizes == [checked]


def test_steps_of_slots_that_wait_are_in_no_minibatch():
    """The null observation, -2 everywhere, is seen by slots that wait, and by nobody else."""
    env = SB3VecEnv(foragers_and_hunters().vectorize(6, seed=1, horizon=60), "forager", "heuristic")
    model = PPO("MlpPolicy", env, n_steps=70, batch_size=60, n_epochs=1, seed=0, **env.on_policy())
    seen = []

    class Buffer(ActiveRolloutBuffer):
        def _get_samples(self, batch_inds, env=None):
            found = super()._get_samples(batch_inds, env)
            seen.append(found.observations.numpy())
            return found

    model.rollout_buffer.__class__ = Buffer
    model.learn(70 * env.num_envs)
    waiting = (model.rollout_buffer.observations == -2).all(axis=-1)
    trained = np.concatenate(seen[1:])  # the first one only lays out the rows
    assert waiting.sum() > 100
    assert len(trained) == model.rollout_buffer.acted.sum()
    assert not (trained == -2).all(axis=1).any()


def transition(env, buffer, steps):
    """Fills a buffer as the library does, with observations that number the transitions."""
    env.reset()
    number = 0
    for _ in range(steps):
        obs = number + np.arange(env.num_envs)
        number += env.num_envs
        _, rewards, done, infos = env.step(np.full(env.num_envs, 4))
        given = np.float32(obs)[:, None]
        if isinstance(buffer, DictReplayBuffer):
            given = {"one": given}
        buffer.add(given, given, obs % 9, rewards, done, infos)


@pytest.mark.parametrize("nested", [False, True])
def test_replay_buffers_keep_who_acted(nested):
    """blue0 acts in steps 1 and 5 of 8, blue1 in all of them."""
    kind = ActiveDictReplayBuffer if nested else ActiveReplayBuffer
    space = Dict({"one": SPACES[0]}) if nested else SPACES[0]
    buffer = kind(100, space, SPACES[1], "cpu", n_envs=2)
    transition(hunted_env(strikes=(1, 5)), buffer, steps=8)
    assert (buffer.pos, buffer.full, buffer.size()) == (10, False, 10)
    kept = buffer.observations["one"] if nested else buffer.observations
    expected = [0, 1, 3, 5, 7, 8, 9, 11, 13, 15]
    assert kept[:10, 0, 0].tolist() == expected
    assert buffer.actions[:10, 0, 0].tolist() == [number % 9 for number in expected]
    assert buffer.dones[:10, 0].tolist() == [1, 0, 0, 0, 1, 1, 0, 0, 0, 1]
    assert buffer.timeouts[:10, 0].tolist() == [0, 0, 0, 0, 1, 0, 0, 0, 0, 1]
    found = buffer.sample(200)
    seen = found.observations["one"] if nested else found.observations
    assert {*seen.ravel().tolist()} == {*expected}


@pytest.mark.parametrize("size", [1, 3, 4, 7])
def test_replay_buffers_forget_the_oldest(size):
    buffer = ActiveReplayBuffer(size, *SPACES, "cpu", n_envs=2)
    transition(hunted_env(strikes=(1, 5)), buffer, steps=8)
    assert buffer.full
    assert buffer.size() == size
    expected = [0, 1, 3, 5, 7, 8, 9, 11, 13, 15][-size:]
    assert sorted(buffer.observations[:, 0, 0].tolist()) == expected


def test_the_stock_replay_buffer_when_nobody_waits():
    ours = ActiveReplayBuffer(100, *SPACES, "cpu", n_envs=2)
    stock = ReplayBuffer(100, *SPACES, "cpu", n_envs=2)
    for buffer in (ours, stock):
        transition(striking_env(horizon=3), buffer, steps=8)
    for name in ("observations", "next_observations", "actions", "rewards", "dones", "timeouts"):
        kept = getattr(stock, name)[:8]
        assert np.array_equal(getattr(ours, name)[:16, 0], kept.reshape(16, *kept.shape[2:]))


def test_what_replay_buffers_cannot_do():
    with pytest.raises(ValueError, match="optimize_memory_usage must be False"):
        ActiveReplayBuffer(9, *SPACES, "cpu", optimize_memory_usage=True)


@pytest.mark.parametrize("observations", ["flat", "dict"])
def test_off_policy(observations):
    env = hunted_env(worlds=2, strikes=(1, 5, 9), observations=observations)
    policy = "MlpPolicy" if observations == "flat" else "MultiInputPolicy"
    model = DQN(
        policy, env, learning_starts=8, buffer_size=500, batch_size=8, seed=0, device="cpu",
        **env.off_policy(),
    )  # fmt: skip
    model.learn(48)
    assert model.replay_buffer.size() == 48 - 2 * 9  # blue0 waits for three steps, three times
    assert model.ep_info_buffer[0]["l"] == 1


def test_masked_buffers_are_for_masked_algorithms():
    env = hunted_env(worlds=2)
    wrong = env.on_policy(masked=True)
    model = PPO("MlpPolicy", env, n_steps=4, batch_size=8, device="cpu", **wrong)
    with pytest.raises(TypeError, match=r"is for MaskablePPO; .* \*\*env.on_policy\(\)"):
        model.learn(16)


def test_a_saved_model_does_not_carry_its_environment(tmp_path):
    env = hunted_env(worlds=2)
    model = PPO("MlpPolicy", env, n_steps=8, batch_size=16, device="cpu", **env.on_policy())
    model.learn(32)
    model.save(tmp_path / "model.zip")
    seen = env.reset()
    alone = PPO.load(tmp_path / "model.zip", device="cpu")
    assert np.array_equal(
        alone.predict(seen, deterministic=True)[0], model.predict(seen, deterministic=True)[0]
    )
    with pytest.raises(ValueError, match=r"PPO\.load\(path, env, \*\*env\.on_policy\(\)\)"):
        PPO.load(tmp_path / "model.zip", hunted_env(worlds=2), device="cpu").learn(32)
    fresh = hunted_env(worlds=2)
    again = PPO.load(tmp_path / "model.zip", fresh, device="cpu", **fresh.on_policy())
    again.learn(32)
    assert again.rollout_buffer.acted.sum() < 32
    assert len(pickle.dumps(env.last_step)) < 200


torch.set_num_threads(1)


def groups():
    return [
        pytest.param(name, group, id=f"{name}-{group}")
        for name, make in shipped.items()
        for group in make().vectorize(1).groups
    ]


def one_by_one(channel, joint):
    """Options of every entry of a channel, from a mask of its joint choices, in plain Python."""
    if isinstance(channel, Discrete):
        return list(joint)
    side = joint.shape[0]
    return [any(joint[k]) for k in range(side)] + [any(joint[:, k]) for k in range(side)]


@pytest.mark.parametrize("actions", ["discrete", "multi_discrete"])
@pytest.mark.parametrize(("name", "group"), groups())
def test_masks_are_those_of_the_engine(name, group, actions):
    env = SB3VecEnv(shipped[name]().vectorize(2, seed=3, horizon=20), group, actions=actions)
    assert is_masking_supported(env)
    env.reset()
    n = env.num_envs // 2
    spaces = env.vec.unwrapped.groups[group].action_space
    rng = np.random.default_rng(0)
    for _ in range(25):
        masks = get_action_masks(env)
        engine = env.vec.unwrapped.action_masks()[group]
        active = env.vec.infos()["active"][group].reshape(-1)
        assert masks.dtype == bool
        for slot in np.flatnonzero(active):
            world, k = divmod(int(slot), n)
            parts = [engine[key][world, k] for key in spaces]
            if actions == "multi_discrete":
                options = map(one_by_one, spaces.values(), parts)
                expected = list(itertools.chain.from_iterable(options))
            else:
                expected = [True]
                for part in parts:
                    expected = [one and other for one in expected for other in part.ravel()]
            assert masks[slot].tolist() == [bool(option) for option in expected]
        entries = 1 if actions == "discrete" else len(env.action_space.nvec)
        assert (masks[~active].sum(axis=1) == entries).all()
        sizes = env.action_space.n if actions == "discrete" else env.action_space.nvec
        env.step(rng.integers(0, sizes, (env.num_envs, *env.action_space.shape)))


@pytest.mark.parametrize(
    ("actions", "nothing"), [("discrete", [STAY]), ("multi_discrete", [0, 3, 6])]
)
def test_who_waits_can_only_do_nothing(actions, nothing):
    """blue0 is killed in the first step; its options are attack 0, and the middle row and column.

    Side by side these are 2 attacks, 3 rows (the second is at 3) and 3 columns (at 6).
    """
    env = hunted_env(actions=actions)
    env.reset()
    stay = [STAY, STAY] if actions == "discrete" else [[0, 1, 1], [0, 1, 1]]
    assert (get_action_masks(env).sum(axis=1) > len(nothing)).all()
    env.step(np.array(stay))
    masks = get_action_masks(env)
    assert np.flatnonzero(masks[0]).tolist() == nothing
    assert masks[1].sum() > len(nothing)
    assert np.array_equal(env.env_method("action_masks", indices=[1])[0], masks[1])


def test_who_has_arrived_can_only_do_nothing():
    """An agent on its target stays in the grid, where it could move, but does not act any more."""
    agents = [
        fighter("early", 1, (0, 0)),
        fighter("late", 1, (2, 0)),
        wall("goal", 2, (0, 1), blocking=False),
        wall("far", 2, (0, 4), blocking=False),
    ]
    vec = build(
        agents, overlapping={1: {2}}, dones=[TargetAgentOverlapDone],
        target_mapping={"early": "goal", "late": "far"},
    ).vectorize(1, seed=0)  # fmt: skip
    env = SB3VecEnv(vec)
    env.reset()
    _, _, done, _ = env.step(np.array([STAY + 1, STAY]))
    assert done.tolist() == [True, False]
    masks = env.action_masks()
    assert np.flatnonzero(masks[0]).tolist() == [STAY]
    assert masks[1].sum() > 1


def test_entries_with_masks_of_their_own():
    """Attacks by encoding: red may attack 2, which stands beside it, but not 3, which is far."""
    agents = [
        fighter("red", 1, (0, 0), simultaneous_attacks=2),
        wall("near", 2, (0, 1)),
        wall("far", 3, (2, 4)),
    ]
    vec = build(
        agents, attack_mapping={1: {2, 3}}, actors=[EncodingBasedAttackActor, MoveActor]
    ).vectorize(1, seed=0)
    env = SB3VecEnv(vec, actions="multi_discrete")
    env.reset()
    # Twice 0 to 2 attacks, then rows and columns: to the right stands something.
    expected = [True] * 3 + [True, False, False] + [False, True, True] * 2
    assert env.action_masks()[0].tolist() == expected


def test_no_masks_before_the_start():
    env = hunted_env()
    with pytest.raises(ValueError, match=r"call reset\(\)"):
        env.action_masks()


def test_masked_actions_only():
    """MaskablePPO never chooses what the masks forbid."""
    env = SB3VecEnv(shipped["team-battle"]().vectorize(4, seed=0, horizon=40), "red", "heuristic")
    model = MaskablePPO("MlpPolicy", env, n_steps=60, batch_size=60, n_epochs=1, seed=0,
                        device="cpu", **env.on_policy(masked=True))  # fmt: skip
    model.learn(60 * env.num_envs)
    buffer = model.rollout_buffer
    actions = buffer.actions.reshape(-1).astype(int)
    masks = buffer.action_masks.reshape(len(actions), -1)
    assert masks[np.arange(len(actions)), actions].all()
    assert 0 < masks.mean() < 0.9
    assert not buffer.acted.all()
    assert {RED, BLUE}.isdisjoint(env.vec.groups)
