"""TorchRL's collectors, policies and losses work with the worlds, and a learner learns."""

import runpy
import sys
import warnings
from pathlib import Path

import pytest

from tests.external.probes import corridor, skirmish
from tests.gridworld.small import WINDOW

torch = pytest.importorskip("torch")
pytest.importorskip("torchrl")

with warnings.catch_warnings():
    warnings.simplefilter("ignore", DeprecationWarning)  # TorchRL uses what it deprecates
    from tensordict.nn import TensorDictModule, TensorDictSequential
    from torchrl.collectors import Collector
    from torchrl.envs import Compose, InitTracker, RewardSum, TransformedEnv
    from torchrl.envs.utils import ExplorationType, set_exploration_type
    from torchrl.modules import MaskedCategorical, ProbabilisticActor
    from torchrl.objectives import ClipPPOLoss
    from torchrl.objectives.value import GAE

    from abmarl.external import TorchRLEnv

EXAMPLES = Path(__file__).parents[2] / "examples"


@pytest.fixture(autouse=True)
def _one_thread():
    torch.set_num_threads(1)
    torch.manual_seed(0)


def make(sim, num_envs, horizon, **kwargs):
    vec = sim.vectorize(num_envs, seed=0, horizon=horizon, autoreset=False)
    return TorchRLEnv(vec, ravel_actions=True, **kwargs)


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
