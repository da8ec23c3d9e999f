"""Vectorised simulations as TorchRL's environments: specs, tensors, ends, seeds, bad input."""

import runpy
import sys
import warnings
from pathlib import Path

import numpy as np
import pytest
from gymnasium.spaces import Discrete, MultiBinary, MultiDiscrete, Tuple

from abmarl.examples import shipped, team_battle
from abmarl.gridworld import MoveActor
from tests.support.grid_worlds import WINDOW, battle, build, corridor, fighter, skirmish, strike

torch = pytest.importorskip("torch")
pytest.importorskip("torchrl")

with warnings.catch_warnings():
    warnings.simplefilter("ignore", DeprecationWarning)  # TorchRL uses what it deprecates
    from tensordict import TensorDict
    from tensordict.nn import TensorDictModule, TensorDictSequential
    from torchrl.collectors import Collector
    from torchrl.data import Bounded, Categorical, MultiCategorical, MultiOneHot, OneHot
    from torchrl.envs import (
        ActionMask,
        Compose,
        InitTracker,
        RewardSum,
        TransformedEnv,
        check_env_specs,
    )
    from torchrl.envs.utils import ExplorationType, set_exploration_type
    from torchrl.modules import MaskedCategorical, ProbabilisticActor
    from torchrl.objectives import ClipPPOLoss
    from torchrl.objectives.value import GAE

    from abmarl.external.torchrl import TorchRLEnv, action_spec, actions_of, observation_spec

EXAMPLES = Path(__file__).parents[2] / "examples"
STAY, STRIKE = 4, 13  # of Discrete(18): the attack counts 9, of 3 x 3 moves staying is the fifth


@pytest.fixture(autouse=True)
def _one_thread():
    torch.set_num_threads(1)
    torch.manual_seed(0)


def make(sim, num_envs=2, horizon=None, seed=0, ravel_actions=True, **kwargs):
    vec = sim.vectorize(num_envs, seed=seed, horizon=horizon, autoreset=False)
    return TorchRLEnv(vec, ravel_actions=ravel_actions, **kwargs)


def acting(env, **actions):
    """A policy that does the same in all worlds; ``actions``: lists over the steps by group."""
    count = 0

    def policy(tensordict):
        nonlocal count
        for name, ids in env.group_map.items():
            steps = actions.get(name, [])
            action = steps[count] if count < len(steps) else STAY
            tensordict[name, "action"] = torch.full((env.vec.num_envs, len(ids)), action)
        count += 1
        return tensordict

    return policy


def flat(tensor):
    """The values of world 0."""
    return tensor[0].squeeze(-1).tolist()


# --- specs ---


@pytest.mark.parametrize("kwargs", [
    {"ravel_actions": False}, {}, {"categorical_actions": False},
    {"ravel_actions": False, "categorical_actions": False, "action_masks": False},
])  # fmt: skip
@pytest.mark.parametrize("name", shipped)
def test_shipped_simulations(name, kwargs):
    env = make(shipped[name](), num_envs=3, horizon=6, **kwargs)
    check_env_specs(env, seed=1)


@pytest.mark.parametrize("change", ["flatten", "ravel", "super"])
def test_wrapped_simulations(change):
    vec = skirmish().vectorize(3, seed=0, horizon=6, autoreset=False)
    wrapped = {
        "flatten": lambda: vec.flatten(actions=False),
        "ravel": lambda: vec.ravel(),
        "super": lambda: vec.super_agents({"blue": ["blue0", "blue1"]}),
    }[change]()
    check_env_specs(TorchRLEnv(wrapped), seed=1)


def test_layout():
    env = make(team_battle(), num_envs=3, ravel_actions=False)
    assert env.batch_size == (3,)
    assert list(env.group_map) == ["red", "blue", "green", "gray"]
    assert env.group_map["red"][:2] == ["agent0", "agent4"]
    start = env.reset()
    assert start["red", "observation", WINDOW].shape == (3, 6, 7, 7)
    assert start["red", "observation", WINDOW].dtype == torch.int8
    assert start["red", "action_mask", "move"].shape == (3, 6, 3, 3)
    assert start["red", "mask"].shape == (3, 6)
    after = env.rand_step(start)
    assert after["red", "action", "move"].shape == (3, 6, 2)
    assert after["next", "red", "reward"].shape == (3, 6, 1)
    assert after["next", "red", "reward"].dtype == torch.float32
    for key in ("done", "terminated", "truncated"):
        assert after["next", key].shape == (3, 1)
        assert after["next", "red", key].shape == (3, 6, 1)


@pytest.mark.parametrize(
    ("space", "kind", "shape", "one_hot", "encoded", "point"),
    [
        (Discrete(3, start=5), Categorical, (), False, 2, 7),
        (Discrete(3, start=5), OneHot, (3,), True, [0, 1, 0], 6),
        (MultiDiscrete([2, 3]), MultiCategorical, (2,), False, [1, 2], [1, 2]),
        (MultiDiscrete([2, 3], start=[1, 0]), MultiOneHot, (5,), True, [0, 1, 1, 0, 0], [2, 0]),
        (MultiBinary(3), Bounded, (3,), False, [0, 1, 1], [0, 1, 1]),
        (MultiDiscrete([[2, 3]]), Bounded, (1, 2), True, [[1, 2]], [[1, 2]]),
    ],
)
def test_actions(space, kind, shape, one_hot, encoded, point):
    spec = action_spec(space, (4, 2), one_hot)
    assert isinstance(spec, kind)
    assert spec.shape == (4, 2, *shape)
    points = actions_of(space, spec, spec.rand())
    assert points.shape == (4, 2, *(space.shape or ()))
    assert all(points[k, j] in space for k in range(4) for j in range(2))
    assert actions_of(space, spec, torch.tensor(encoded).expand(spec.shape))[3, 1].tolist() == point


def test_observations():
    assert observation_spec(Discrete(9), (4, 2)).n == 9
    shifted = observation_spec(Discrete(9, start=-4), (4, 2))
    assert (shifted.low.min(), shifted.high.max()) == (-4, 4)
    with pytest.raises(TypeError, match=r"no spec for Tuple\(Discrete\(2\)\); flatten or ravel it"):
        observation_spec(Tuple([Discrete(2)]), (4, 2))


def test_the_same_actions_in_every_form():
    found = []
    for kwargs in ({}, {"categorical_actions": False}, {"ravel_actions": False}):
        env = make(battle(), num_envs=4, **kwargs)
        env.reset()
        codes = torch.arange(8).reshape(4, 2) % 18
        tensordict = TensorDict(batch_size=4)
        for name in env.group_map:
            if kwargs.get("ravel_actions", True):
                hot = torch.nn.functional.one_hot(codes, 18).bool()
                tensordict[name, "action"] = codes if not kwargs else hot
            else:
                move = codes % 9
                tensordict[name, "action", "attack"] = codes // 9
                tensordict[name, "action", "move"] = torch.stack((move // 3, move % 3), -1) - 1
        after = env.step(tensordict)["next"]
        found.append([after[name, key] for name in env.group_map for key in ("reward", "mask")])
    for other in found[1:]:
        assert all(torch.equal(one, same) for one, same in zip(found[0], other, strict=True))


# --- ends ---


def last_step(horizon, strikes):
    env = make(strike(), horizon=horizon)
    return env.rollout(9, acting(env, fighter=[STAY] * (strikes - 1) + [STRIKE]))


def assert_ended(found, length, terminated):
    assert found.shape == (2, length)
    last = found["next"][:, -1]
    for ends in (last, last["fighter"]):
        assert ends["done"].all()
        assert ends["terminated"].all() == terminated
        assert ends["truncated"].all() != terminated
    assert not found["next", "done"][:, :-1].any()
    assert not last["fighter", "mask"].any()


def test_endings_terminated():
    assert_ended(last_step(5, 3), 3, terminated=True)


def test_endings_truncated():
    assert_ended(last_step(3, 9), 3, terminated=False)


def test_endings_terminated_at_the_horizon():
    assert_ended(last_step(3, 3), 3, terminated=True)


def test_endings_final_observation():
    found = last_step(5, 3)
    seen = found["next", "fighter", "observation", WINDOW][0, :, 0]
    assert seen[1, 1, 2] == 2
    assert seen[2, 1, 2] == 0  # the victim is gone, and the world is not yet another one


def test_an_agent_that_ends_first():
    env = make(skirmish(), horizon=4)
    found = env.rollout(8, acting(env, fighter_1=[STRIKE]), break_when_any_done=False)
    blue = found["next", "fighter_2"]
    assert flat(blue["done"])[:5] == [[True, False]] * 3 + [[True, True], [False, False]]
    assert flat(blue["terminated"])[:4] == [[True, False]] * 4
    assert flat(blue["truncated"])[:4] == [[False, False]] * 3 + [[False, True]]
    assert flat(blue["mask"])[:5] == [[False, True]] * 3 + [[False, False], [True, True]]
    assert flat(found["next", "done"]) == flat(found["next", "truncated"])
    assert flat(found["next", "done"]) == [False, False, False, True] * 2
    views = blue["observation", WINDOW][0, :, 0]
    assert not (views[0] == -2).all()
    assert (views[1:4] == -2).all()
    assert flat(blue["reward"])[:3] == [[-1.125, -0.125], [0, -0.125], [0, -0.125]]


def test_worlds_are_reset_where_they_ended():
    env = make(strike(), num_envs=3)
    start = env.reset()
    start["fighter", "action"] = torch.tensor([[STAY], [STRIKE], [STAY]])
    after, start = env.step_and_maybe_reset(start)
    assert flat(after["next", "done"].T) == [False, True, False]
    assert env.vec.episodes.length.tolist() == [1, 0, 1]
    assert start["fighter", "mask"].all()
    assert not start["done"].any()


def test_what_must_not_be_reset_goes_on():
    env = make(battle(), num_envs=3)
    after = env.rand_step(env.reset())["next"]
    before = after["fighter_1", "observation", WINDOW].clone()
    after["_reset"] = torch.tensor([[False], [True], [False]])
    seen = env.reset(after)["fighter_1", "observation", WINDOW]
    assert torch.equal(seen[[0, 2]], before[[0, 2]])
    assert env.vec.episodes.length.tolist() == [1, 0, 1]


# --- memory ---


def pointers(tensordict):
    keys = [("fighter_1", "observation", WINDOW), ("fighter_1", "action_mask", "move")]
    return [tensordict[key].data_ptr() for key in keys]


def arrays(vec):
    seen, masks = vec.observations()["fighter_1"], vec.action_masks()["fighter_1"]
    return [seen[WINDOW].ctypes.data, masks["move"].ctypes.data]


def test_tensors_can_share_the_memory_of_the_engine():
    env = make(battle(), ravel_actions=False, copy=False)
    start = env.reset()
    assert pointers(start) == arrays(env.vec)
    after = env.rand_step(start)["next"]
    assert pointers(after) == arrays(env.vec)
    assert (
        after["fighter_1", "mask"].data_ptr() == env.vec.infos()["active"]["fighter_1"].ctypes.data
    )


def test_by_default_what_was_returned_stays():
    env = make(battle(), ravel_actions=False)
    found = [env.reset()]
    kept = found[0].clone()
    for _ in range(3):
        found.append(env.rand_step(found[-1].clone())["next"])
    assert (found[0] == kept).all()
    assert not set(pointers(found[0])) & set(arrays(env.vec))


def test_nothing_is_copied_twice():
    vec = battle().vectorize(2, seed=0, autoreset=False, copy=True)
    env = TorchRLEnv(vec, action_masks=False)
    given, reset = [], vec.reset

    def remembered(**kwargs):
        obs, infos = reset(**kwargs)
        given.append(obs["fighter_1"][WINDOW].ctypes.data)
        return obs, infos

    vec.reset = remembered
    assert [env.reset()["fighter_1", "observation", WINDOW].data_ptr()] == given


# --- seeds ---


def test_the_worlds_are_those_of_the_simulation():
    env, vec = make(corridor(), num_envs=8, seed=5), corridor().vectorize(8, seed=5)
    ravelled = vec.ravel(observations=False)
    obs, _ = ravelled.reset()
    start = env.reset()
    for _ in range(6):
        assert np.array_equal(start["walker", "observation", "position"], obs["walker"]["position"])
        actions = ravelled.sample_actions()
        start["walker", "action"] = torch.from_numpy(actions["walker"].copy())
        after, start = env.step_and_maybe_reset(start)
        obs, rewards, terminated, *_ = ravelled.step(actions)
        assert np.allclose(after["next", "walker", "reward"][..., 0], rewards["walker"])
        assert np.array_equal(after["next", "walker", "terminated"][..., 0], terminated["walker"])


def test_seeds():
    def run(env, seed):
        torch.manual_seed(seed)  # for the actions
        env.set_seed(seed)
        return env.rollout(5, break_when_any_done=False)

    env = make(skirmish(), num_envs=4)
    first = run(env, 3)
    assert (run(env, 3) == first).all()
    assert (run(make(skirmish(), num_envs=4, seed=9), 3) == first).all()
    assert not (run(env, 4) == first).all()


def test_a_seed_waits_for_a_reset_of_all_worlds():
    env = make(corridor(), num_envs=6)
    env.set_seed(3)
    begun = env.reset()
    env.set_seed(3)
    env.reset(begun.clone().set("_reset", torch.arange(6)[:, None] < 3))
    again = env.reset(begun.clone().set("_reset", torch.ones(6, 1, dtype=bool)))
    later = env.reset()
    key = ("walker", "observation", "position")
    assert torch.equal(again[key], begun[key])
    assert not torch.equal(later[key], begun[key])


# --- transforms ---


def test_reward_sum():
    env = make(skirmish(), horizon=3)
    summed = TransformedEnv(env, RewardSum())
    check_env_specs(summed)
    found = summed.rollout(6, acting(env, fighter_1=[STRIKE]), break_when_any_done=False)
    assert flat(found["next", "fighter_2", "episode_reward"]) == [
        [-1.125, -0.125], [-1.125, -0.25], [-1.125, -0.375],
        [-0.125, -0.125], [-0.25, -0.25], [-0.375, -0.375],
    ]  # fmt: skip


def test_action_mask():
    env = make(corridor(), num_envs=8, horizon=4)
    keys = {"action_key": ("walker", "action"), "mask_key": ("walker", "action_mask")}
    found = TransformedEnv(env, ActionMask(**keys)).rollout(4)
    chosen = found["walker", "action_mask"].gather(-1, found["walker", "action"][..., None])
    assert chosen.all()
    assert not found["walker", "action_mask"].all()


# --- bad input ---


def test_who_needs_what():
    with pytest.raises(TypeError, match=r"got SmartGridWorldSim.*sim\.vectorize\(num_envs, autor"):
        TorchRLEnv(battle())
    with pytest.raises(ValueError, match=r"sim\.vectorize\(\.\.\., autoreset=False\)"):
        TorchRLEnv(battle().vectorize(2))
    with pytest.raises(TypeError, match="copy must be True or False, got 'yes'"):
        make(battle(), copy="yes")
    named = build([fighter("a", at=(0, 0), group="done")])
    with pytest.raises(ValueError, match="TorchRL needs the name 'done' for itself"):
        make(named)


def test_too_many_actions_for_masks():
    agents = [fighter("a", at=(0, 0), move_range=200), fighter("b", 2, at=(0, 2))]
    sim = build(agents, actors=[MoveActor])
    with pytest.raises(ValueError, match=r"160801 joint actions; masks are made for 65536 at most"):
        make(sim)
    assert ("fighter_1", "action_mask") not in make(sim, action_masks=False).reset()


def test_bad_actions_change_nothing():
    env, other = make(battle()), make(battle())
    start, same = env.reset(), other.reset()
    wrong = start.clone()
    for name in env.group_map:
        wrong[name, "action"] = torch.full((2, 2), 4)
    wrong["fighter_2", "action"][1, 0] = 18
    with pytest.raises(ValueError, match=r"'blue0' in world 1 is 18, which is not in Discrete"):
        env.step(wrong)
    wrong["fighter_2", "action"] = torch.full((2, 2, 3), 4)
    with pytest.raises(ValueError, match=r"must have shape \(2, 2\), got \(2, 2, 3\)"):
        env.step(wrong)
    with pytest.raises(ValueError, match=r"no action \('fighter_2', 'action'\): every group needs"):
        env.step(wrong.exclude(("fighter_2", "action")))
    torch.manual_seed(1)
    one = env.rand_step(start)
    torch.manual_seed(1)
    assert (one["next"] == other.rand_step(same)["next"]).all()


def test_missing_channels():
    env = make(battle(), ravel_actions=False)
    acted = env.rand_action(env.reset())
    with pytest.raises(ValueError, match=r"actions\['fighter_1'\] has no channel 'move'"):
        env.step(acted.exclude(("fighter_1", "action", "move")))


def test_groups_are_not_reset():
    env = make(skirmish())
    env.reset()
    asked = TensorDict(
        {"fighter_2": TensorDict({"_reset": torch.ones(2, 2, 1, dtype=bool)}, [2, 2])}, [2]
    )
    with pytest.raises(ValueError, match=r"reset as a whole: give '_reset' \(2,\)"):
        env.reset(asked)


def test_other_devices():
    env = make(battle())
    assert env.to("cpu") is env
    with pytest.raises(ValueError, match=r"DeviceCastTransform\('meta'\)"):
        env.to("meta")


def test_rendering():
    pytest.importorskip("pygame")
    env = make(battle())
    env.reset()
    picture = env.render(world=1)
    assert (picture.ndim, picture.dtype) == (3, np.uint8)


def actor(group, seen, network):
    """A policy that chooses among the actions that do something."""
    return ProbabilisticActor(
        TensorDictModule(network, [(group, "observation", seen)], [(group, "logits")]),
        in_keys={"logits": (group, "logits"), "mask": (group, "action_mask")},
        out_keys=[(group, "action")],
        distribution_class=MaskedCategorical,
        return_log_prob=True,
        log_prob_key=(group, "log_prob"),
    )


class Network(torch.nn.Sequential):
    """A linear layer on the flat observation."""

    def __init__(self, size, outputs, dims=1):
        super().__init__(torch.nn.Linear(size, outputs))
        self.dims = dims

    def forward(self, seen):
        return super().forward(seen.flatten(-self.dims).float())


class Rows(torch.nn.Module):
    """One row of numbers for each of the cells of a corridor."""

    def __init__(self, outputs, length=6):
        super().__init__()
        self.table = torch.nn.Embedding(length, outputs)
        torch.nn.init.zeros_(self.table.weight)

    def forward(self, position):
        return self.table(position[..., 1].long())


def collect(env, policy, steps, batches):
    env = TransformedEnv(env, Compose(InitTracker(), RewardSum()))
    frames = env.batch_size[0] * steps
    found = Collector(env, policy, frames_per_batch=frames, total_frames=frames * batches)
    yield from found
    found.shutdown()


def test_a_collector_gathers_what_happened():
    env = make(skirmish(), num_envs=3, horizon=5)
    networks = {name: Network(9, 18, dims=2) for name in env.group_map}
    policy = TensorDictSequential(*(actor(name, WINDOW, one) for name, one in networks.items()))
    (data,) = collect(env, policy, steps=12, batches=1)
    assert data.shape == (3, 12)
    seen = data["fighter_2", "observation", WINDOW]
    assert len(seen.unique(dim=1)) > 1
    for key in (("observation", WINDOW), "mask", "action_mask"):
        path = ("fighter_2", *(key if isinstance(key, tuple) else (key,)))
        one, following = data["next"][path][:, :-1], data[path][:, 1:]
        going_on = ~data["next", "done"][:, :-1, 0]
        assert torch.equal(one[going_on], following[going_on])
    assert data["next", "done"].sum() >= 6
    for name in env.group_map:
        mask, action = data[name, "action_mask"], data[name, "action"]
        assert mask.gather(-1, action[..., None]).all()


def mean_return(policy):
    """Of 256 episodes of at most 20 steps, one per world; the policy does what it holds best."""
    env = make(corridor(), num_envs=256, horizon=20)
    with torch.no_grad(), set_exploration_type(ExplorationType.MODE):
        data = env.rollout(20, policy, break_when_any_done=False)
    done = data["next", "done"].int()
    first = done.cumsum(dim=1) - done == 0
    return float((data["next", "walker", "reward"][..., 0] * first).sum(dim=1).mean())


def test_ppo_finds_the_way():
    env = make(corridor(), num_envs=64, horizon=20)
    policy = actor("walker", "position", Rows(9))
    seen = ("walker", "observation", "position")
    critic = TensorDictModule(Rows(1), [seen], [("walker", "value")])
    gae, loss = GAE(gamma=0.95, lmbda=0.9, value_network=critic), ClipPPOLoss(policy, critic)
    loss.set_keys(action=("walker", "action"), sample_log_prob=("walker", "log_prob"))
    for user in (gae, loss):
        names = ("value", "advantage", "value_target", "reward", "done", "terminated")
        user.set_keys(**{name: ("walker", name) for name in names})
    optimiser = torch.optim.Adam(loss.parameters(), 0.1)
    before = mean_return(None)
    for data in collect(env, policy, steps=16, batches=15):
        gae(data)
        data = data.detach().reshape(-1)
        for _ in range(4):
            losses = loss(data)
            optimiser.zero_grad()
            sum(one for name, one in losses.items() if name.startswith("loss_")).backward()
            optimiser.step()
    # The best there is: -0.28 on average.
    assert before < -1.2
    assert mean_return(policy) > -0.32


def test_example():
    means = runpy.run_path(str(EXAMPLES / "torchrl_team_battle.py"))["main"](
        num_envs=16, iterations=6
    )
    assert len(means) == 6
    assert means[-1] > means[0] + 0.02


def test_missing_library(monkeypatch):
    for name in [name for name in sys.modules if name.startswith("abmarl.external.torchrl")]:
        monkeypatch.delitem(sys.modules, name)
    for name in [name for name in sys.modules if name.split(".")[0] == "torchrl"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "torchrl", None)
    with pytest.raises(ImportError) as caught:
        __import__("abmarl.external.torchrl")
    assert str(caught.value) == (
        "abmarl.external.torchrl needs torchrl: pip install 'abmarl[torchrl]'"
    )
