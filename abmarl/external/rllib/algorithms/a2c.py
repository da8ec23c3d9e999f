"""Advantage actor-critic, synchronous.

V. Mnih and others, Asynchronous methods for deep reinforcement learning, ICML 2016; advantages are
generalised ones (J. Schulman and others, ICLR 2016).
"""

from typing import Any

from ray.rllib.core.columns import Columns
from ray.rllib.core.learner.learner import VF_LOSS_KEY
from ray.rllib.evaluation.postprocessing import Postprocessing

from abmarl.external.rllib.algorithms.pg import (
    PGTorchLearner,
    one_step_per_batch,
    ppo,
    torch,
    valid_mean,
)


class A2CTorchLearner(PGTorchLearner):
    """The policy gradient, and a critic that learns to tell the returns."""

    def compute_loss_for_module(
        self, *, module_id: str, config: Any, batch: dict[str, Any], fwd_out: dict[str, Any]
    ) -> "torch.Tensor":
        """The loss of `PG` + vf_loss_coeff * mean((value - value target)^2) / 2."""
        loss = super().compute_loss_for_module(
            module_id=module_id, config=config, batch=batch, fwd_out=fwd_out
        )
        module = self.module[module_id].unwrapped()
        values = module.compute_values(batch, embeddings=fwd_out.get(Columns.EMBEDDINGS))
        errors = values - batch[Postprocessing.VALUE_TARGETS]
        vf_loss = 0.5 * valid_mean(errors**2, batch)
        self.metrics.log_value((module_id, VF_LOSS_KEY), vf_loss, window=1)
        return loss + config.vf_loss_coeff * vf_loss


class A2CConfig(ppo.PPOConfig):
    """Settings of `A2C`: one gradient step on each batch, which may end within episodes.

    `gamma`, `lambda_`, `lr`, `entropy_coeff`, `vf_loss_coeff`, `grad_clip` and all that is not
    particular to PPO can be changed as in PPO's settings. PPO's clipping and KL divergence have no
    effect.
    """

    def __init__(self, algo_class: type | None = None) -> None:
        super().__init__(algo_class=algo_class or A2C)
        one_step_per_batch(self)
        self.lambda_ = 1.0
        self.lr = 1e-3
        self.vf_loss_coeff = 0.5
        self.entropy_coeff = 0.01
        self.grad_clip = 40.0
        self.train_batch_size = 500

    def get_default_learner_class(self) -> type:
        """The learner with the loss of `A2C`."""
        return A2CTorchLearner


class A2C(ppo.PPO):
    """Advantage actor-critic on RLlib: samples as PPO does, learns with `A2CTorchLearner`."""

    @classmethod
    def get_default_config(cls) -> A2CConfig:
        """The settings to start from."""
        return A2CConfig()
