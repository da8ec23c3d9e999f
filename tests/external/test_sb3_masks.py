import itertools

import numpy as np
import pytest

pytest.importorskip("stable_baselines3")
pytest.importorskip("sb3_contrib")

import torch
from gymnasium.spaces import Discrete
from sb3_contrib import MaskablePPO
from sb3_contrib.common.maskable.utils import get_action_masks, is_masking_supported

from abmarl.examples import shipped
from abmarl.external import SB3VecEnv
from abmarl.gridworld import TargetAgentOverlapDone
from abmarl.gridworld.actor import EncodingBasedAttackActor, MoveActor
from tests.external.sb3_slots import BLUE, RED, STAY, hunted_env
from tests.gridworld.small import build, fighter, wall

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
