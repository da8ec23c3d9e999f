"""PPO of TorchRL: a team that shares a network learns to fight three that act at random.

Run it:  python examples/torchrl_team_battle.py  (needs abmarl[torchrl])
"""

import torch
from tensordict.nn import TensorDictModule, TensorDictSequential
from torch import nn
from torchrl.collectors import Collector
from torchrl.envs import DTypeCastTransform, InitTracker, TransformedEnv
from torchrl.modules import MaskedCategorical, ProbabilisticActor
from torchrl.objectives import ClipPPOLoss
from torchrl.objectives.value import GAE

from abmarl.examples import team_battle
from abmarl.external import TorchRLEnv


def at_random(mask):
    return torch.distributions.Categorical(mask.float()).sample()


def main(num_envs=64, steps=32, iterations=30, seed=0):
    """Train for so many batches; the mean reward of a living agent's step in each of them."""
    torch.manual_seed(seed)
    vec = team_battle().vectorize(num_envs, seed=seed, horizon=100, autoreset=False)
    env = TorchRLEnv(vec.flatten(actions=False), ravel_actions=True)
    seen = ("red", "observation")
    env = TransformedEnv(env, InitTracker())
    env.append_transform(DTypeCastTransform(torch.int8, torch.float32, in_keys=[seen]))
    logits, value = (nn.Sequential(nn.Linear(49, 64), nn.Tanh(), nn.Linear(64, n)) for n in (18, 1))
    actor = ProbabilisticActor(
        TensorDictModule(logits, [seen], [("red", "logits")]), out_keys=[("red", "action")],
        in_keys={"logits": ("red", "logits"), "mask": ("red", "action_mask")}, return_log_prob=True,
        log_prob_key=("red", "log_prob"), distribution_class=MaskedCategorical,
    )  # fmt: skip
    teams = ("blue", "green", "gray")
    others = [TensorDictModule(at_random, [(t, "action_mask")], [(t, "action")]) for t in teams]
    critic = TensorDictModule(value, [seen], [("red", "value")])
    gae, loss = GAE(gamma=0.95, lmbda=0.9, value_network=critic), ClipPPOLoss(actor, critic)
    loss.set_keys(action=("red", "action"), sample_log_prob=("red", "log_prob"))
    for user in (gae, loss):
        names = ("value", "advantage", "value_target", "reward", "done", "terminated")
        user.set_keys(**{name: ("red", name) for name in names})
    optimiser, frames, means = torch.optim.Adam(loss.parameters(), 1e-3), num_envs * steps, []
    policy = TensorDictSequential(actor, *others)
    for data in Collector(env, policy, frames_per_batch=frames, total_frames=frames * iterations):
        means.append(float(data["next", "red", "reward"][data["red", "mask"]].mean()))
        rows = gae(data).detach().select("red").auto_batch_size_(3)[data["red", "mask"]]
        for _ in range(16):
            losses = loss(rows[torch.randperm(len(rows))[:2048]])
            optimiser.zero_grad()
            sum(one for name, one in losses.items() if name.startswith("loss_")).backward()
            optimiser.step()
    return means


if __name__ == "__main__":
    print("mean reward of a step, batch by batch:", *(f"{mean:.3f}" for mean in main()))
