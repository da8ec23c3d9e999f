"""PG and A2C: their gradients by hand, and what they learn."""

import numpy as np
import pytest

pytest.importorskip("ray.rllib")

import torch
from gymnasium.spaces import Box, Discrete
from ray.rllib.core.columns import Columns
from ray.rllib.evaluation.postprocessing import Postprocessing

from abmarl.external.rllib import algorithms, batched
from abmarl.external.rllib.algorithms import A2CConfig, PGConfig
from abmarl.managers import AllStepManager
from tests.support.grid_worlds import corridor

pytestmark = [
    pytest.mark.filterwarnings("ignore::DeprecationWarning:ray"),
    pytest.mark.filterwarnings("ignore::FutureWarning"),
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]
OBSERVATIONS, ACTIONS = Box(-1.0, 1.0, (3,), np.float32), Discrete(4)
ROWS = 7


@pytest.fixture(autouse=True)
def one_thread():
    torch.set_num_threads(1)


def learner_of(config):
    config = config.multi_agent(policies={"p"}, policy_mapping_fn=lambda *args, **kwargs: "p")
    config.rl_module(model_config={"fcnet_hiddens": [5]})
    learner = config.copy(copy_frozen=False).build_learner(
        spaces={"p": (OBSERVATIONS, ACTIONS), "__env__": (OBSERVATIONS, ACTIONS)}
    )
    return learner


def batch_of(mask=None):
    rng = np.random.default_rng(3)
    batch = {
        Columns.OBS: rng.uniform(-1, 1, (ROWS, 3)).astype(np.float32),
        Columns.ACTIONS: rng.integers(4, size=ROWS),
        Postprocessing.ADVANTAGES: rng.normal(size=ROWS).astype(np.float32),
        Postprocessing.VALUE_TARGETS: rng.normal(size=ROWS).astype(np.float32),
    }
    if mask is not None:
        batch[Columns.LOSS_MASK] = np.array(mask)
    return batch


def gradients(learner, batch):
    """Loss, logits, values, and the gradients of the last biases of both heads."""
    tensors = {key: torch.from_numpy(value) for key, value in batch.items()}
    module = learner.module["p"]
    fwd_out = module.forward_train(tensors)
    loss = learner.compute_loss_for_module(
        module_id="p", config=learner.config.get_config_for_module("p"), batch=tensors,
        fwd_out=fwd_out,
    )  # fmt: skip
    loss.backward()
    last = [one for name, one in module.named_parameters() if name.startswith("pi.")][-1]
    values = module.unwrapped().compute_values(tensors).detach().numpy()
    critic = [one for name, one in module.named_parameters() if name.startswith("vf.")][-1]
    logits = fwd_out[Columns.ACTION_DIST_INPUTS].detach().numpy().astype(float)
    return loss.item(), logits, values, last.grad.numpy(), critic.grad


def by_hand(logits, batch, rows, entropy_coeff):
    """Loss of the policy and its gradient to the logits' bias: the sum over the rows of
    adv * (softmax - onehot) + coeff * p * (log p + H), each divided by the number of rows."""
    loss, gradient = 0.0, np.zeros(4)
    for row in rows:
        chances = np.exp(logits[row] - logits[row].max())
        chances /= chances.sum()
        action, advantage = batch[Columns.ACTIONS][row], batch[Postprocessing.ADVANTAGES][row]
        entropy = -(chances * np.log(chances)).sum()
        loss += -np.log(chances[action]) * advantage - entropy_coeff * entropy
        gradient += advantage * (chances - np.eye(4)[action])
        gradient += entropy_coeff * chances * (np.log(chances) + entropy)
    return loss / len(rows), gradient / len(rows)


@pytest.mark.parametrize("entropy_coeff", [0.0, 0.3])
@pytest.mark.parametrize("mask", [None, [True] * 4 + [False] * 3])
def test_gradient_of_pg(mask, entropy_coeff):
    learner, batch = learner_of(PGConfig().training(entropy_coeff=entropy_coeff)), batch_of(mask)
    loss, logits, values, gradient, critic = gradients(learner, batch)
    rows = range(ROWS) if mask is None else np.flatnonzero(mask)
    expected_loss, expected = by_hand(logits, batch, rows, entropy_coeff)
    assert loss == pytest.approx(expected_loss, abs=1e-6)
    np.testing.assert_allclose(gradient, expected, atol=1e-6)
    assert critic is None
    np.testing.assert_array_equal(values, np.zeros(ROWS))


@pytest.mark.parametrize("mask", [None, [False, True, True, True, False, True, True]])
def test_gradient_of_a2c(mask):
    config = A2CConfig().training(vf_loss_coeff=0.7, entropy_coeff=0.1)
    learner, batch = learner_of(config), batch_of(mask)
    loss, logits, values, gradient, critic = gradients(learner, batch)
    rows = np.arange(ROWS) if mask is None else np.flatnonzero(mask)
    policy_loss, expected = by_hand(logits, batch, rows, 0.1)
    errors = (values - batch[Postprocessing.VALUE_TARGETS])[rows]
    assert loss == pytest.approx(policy_loss + 0.7 * 0.5 * (errors**2).mean(), abs=1e-6)
    np.testing.assert_allclose(gradient, expected, atol=1e-6)
    np.testing.assert_allclose(critic.numpy(), [0.7 * errors.mean()], atol=1e-6)


def test_the_critic_of_pg_is_not_trained():
    learner = learner_of(PGConfig())
    trained = learner.get_parameters(learner.module["p"])
    everything = list(learner.module["p"].parameters())
    assert 0 < len(trained) < len(everything)


def return_of(result):
    return result["env_runners"]["episode_return_mean"]


@pytest.mark.parametrize("name", ["PG", "A2C"])
def test_learns_the_corridor(name, ray_session):
    config = getattr(algorithms, f"{name}Config")()
    config.training(lr=0.01).debugging(seed=1)
    config.train_batch_size = 640
    config.reporting(metrics_num_episodes_for_smoothing=50)
    algorithm = batched(config, corridor(), num_envs=32, horizon=20).build_algo()
    try:
        returns = [return_of(algorithm.train()) for _ in range(25)]
    finally:
        algorithm.stop()
    # Random walks get -1.35 on average, the shortest ways -0.28.
    assert max(returns[-5:]) > -0.4 > -0.9 > returns[0]


def test_returns_of_pg_are_those_of_whole_episodes(ray_session):
    """Value targets are what follows, discounted, and nothing is added at the time limit."""
    from ray.tune.registry import register_env

    from abmarl.experiments.environment import EnvCreator

    register_env("corridor of four", EnvCreator(lambda config: AllStepManager(corridor()), 4))
    config = PGConfig().environment("corridor of four").training(gamma=0.5)
    config.train_batch_size = 40
    config.multi_agent(policies={"p"}, policy_mapping_fn=lambda *args, **kwargs: "p")
    algorithm = config.build_algo()
    expected = []
    try:
        episodes = [algorithm.env_runner.sample()[0] for _ in range(5)]
        for episode in episodes:
            assert episode.is_done
            rewards = episode.agent_episodes["walker"].get_rewards()
            steps = range(len(rewards))
            expected += [rewards[t:] @ 0.5 ** np.arange(len(rewards) - t) for t in steps]
        learner = algorithm.learner_group._learner
        batch = learner._learner_connector(
            rl_module=learner.module, batch={}, episodes=episodes, shared_data={}
        )["p"]
    finally:
        algorithm.stop()
    targets = batch[Postprocessing.VALUE_TARGETS][batch[Columns.LOSS_MASK]].numpy()
    np.testing.assert_allclose(targets, expected, atol=1e-6)
