"""Learning algorithms for RLlib that it no longer ships: `PG` and `A2C`.

`PG` is the policy gradient without a critic, REINFORCE: R. J. Williams, Simple statistical
gradient-following algorithms for connectionist reinforcement learning, Machine Learning 8, 1992.

`A2C` is the synchronous advantage actor-critic: V. Mnih and others, Asynchronous methods for deep
reinforcement learning, ICML 2016; advantages are generalised ones (J. Schulman and others, ICLR
2016).
"""

from typing import Any

from abmarl.extras import load

_USER = "abmarl.external.rllib.algorithms"
ppo = load("ray.rllib.algorithms.ppo", "rllib", _USER)
torch = load("torch", "rllib", _USER)
module = load("ray.rllib.algorithms.ppo.torch.default_ppo_torch_rl_module", "rllib", _USER)
learner = load("ray.rllib.algorithms.ppo.torch.ppo_torch_learner", "rllib", _USER)

from ray.rllib.core.columns import Columns  # noqa: E402 - after the message about a missing Ray
from ray.rllib.core.learner.learner import (  # noqa: E402
    ENTROPY_KEY,
    POLICY_LOSS_KEY,
    VF_LOSS_KEY,
)
from ray.rllib.core.rl_module.rl_module import RLModuleSpec  # noqa: E402
from ray.rllib.evaluation.postprocessing import Postprocessing  # noqa: E402

__all__ = ["A2C", "PG", "A2CConfig", "PGConfig"]

# A package once: checkpoints of earlier versions name modules in it, see abmarl.former_paths.
__path__: list[str] = []


class PGTorchRLModule(module.DefaultPPOTorchRLModule):
    """PPO's network with a critic that returns 0 and is not trained.

    With it the value targets of generalised advantage estimation at lambda 1 are the discounted
    returns that follow an action, and the advantages the same, standardised over a batch.
    """

    def setup(self) -> None:
        """Build the networks and freeze those of the critic."""
        super().setup()
        for name, parameter in self.named_parameters():
            if name.startswith("vf.") or ".critic_encoder." in name:
                parameter.requires_grad_(False)

    def compute_values(self, batch: dict[str, Any], embeddings: Any = None) -> "torch.Tensor":
        """Return 0 for every observation of the batch, float32 [rows] or [episodes, steps]."""
        observations = batch[Columns.OBS]
        while isinstance(observations, dict):
            observations = next(iter(observations.values()))
        lead = 2 if self.is_stateful() else 1
        return torch.zeros(observations.shape[:lead], device=observations.device)


class PGTorchLearner(learner.PPOTorchLearner):
    """A learner that ascends the gradient of E[log pi(a | s) * advantage]."""

    def get_parameters(self, module: Any) -> list:
        """Return the parameters that are trained."""
        return [one for one in super().get_parameters(module) if one.requires_grad]

    def compute_loss_for_module(
        self, *, module_id: str, config: Any, batch: dict[str, Any], fwd_out: dict[str, Any]
    ) -> "torch.Tensor":
        """Return -mean(log pi(a | s) * advantage) - entropy_coeff * mean(entropy)."""
        dist_class = self.module[module_id].unwrapped().get_train_action_dist_cls()
        dist = dist_class.from_logits(fwd_out[Columns.ACTION_DIST_INPUTS])
        weighted = dist.logp(batch[Columns.ACTIONS]) * batch[Postprocessing.ADVANTAGES]
        policy_loss = -_valid_mean(weighted, batch)
        entropy = _valid_mean(dist.entropy(), batch)
        self.metrics.log_dict(
            {POLICY_LOSS_KEY: policy_loss, ENTROPY_KEY: entropy}, key=module_id, window=1
        )
        coeff = self.entropy_coeff_schedulers_per_module[module_id].get_current_value()
        return policy_loss - coeff * entropy


class PGConfig(ppo.PPOConfig):
    """Settings of `PG`: whole episodes, one gradient step on each batch.

    `gamma`, `lr`, `entropy_coeff`, `grad_clip` and all that is not particular to PPO can be
    changed as in PPO's settings. PPO's clipping, KL divergence and critic have no effect.
    """

    def __init__(self, algo_class: type | None = None) -> None:
        super().__init__(algo_class=algo_class or PG)
        _one_step_per_batch(self)
        self.batch_mode = "complete_episodes"  # returns are known only then
        self.use_critic = False
        self.lambda_ = 1.0
        self.lr = 4e-4
        self.train_batch_size = 1000

    def get_default_rl_module_spec(self) -> RLModuleSpec:
        """Return the specification of a network whose critic returns 0."""
        return RLModuleSpec(module_class=PGTorchRLModule)

    def get_default_learner_class(self) -> type:
        """Return the learner with the loss of `PG`."""
        return PGTorchLearner


class PG(ppo.PPO):
    """REINFORCE on RLlib: samples as PPO does, learns with `PGTorchLearner`."""

    @classmethod
    def get_default_config(cls) -> PGConfig:
        """Return the settings to start from."""
        return PGConfig()


class A2CTorchLearner(PGTorchLearner):
    """A learner of the policy gradient and of a critic that predicts the returns."""

    def compute_loss_for_module(
        self, *, module_id: str, config: Any, batch: dict[str, Any], fwd_out: dict[str, Any]
    ) -> "torch.Tensor":
        """Return the loss of `PG` + vf_loss_coeff * mean((value - value target)^2) / 2."""
        loss = super().compute_loss_for_module(
            module_id=module_id, config=config, batch=batch, fwd_out=fwd_out
        )
        module = self.module[module_id].unwrapped()
        values = module.compute_values(batch, embeddings=fwd_out.get(Columns.EMBEDDINGS))
        errors = values - batch[Postprocessing.VALUE_TARGETS]
        vf_loss = 0.5 * _valid_mean(errors**2, batch)
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
        _one_step_per_batch(self)
        self.lambda_ = 1.0
        self.lr = 1e-3
        self.vf_loss_coeff = 0.5
        self.entropy_coeff = 0.01
        self.grad_clip = 40.0
        self.train_batch_size = 500

    def get_default_learner_class(self) -> type:
        """Return the learner with the loss of `A2C`."""
        return A2CTorchLearner


class A2C(ppo.PPO):
    """Advantage actor-critic on RLlib: samples as PPO does, learns with `A2CTorchLearner`."""

    @classmethod
    def get_default_config(cls) -> A2CConfig:
        """Return the settings to start from."""
        return A2CConfig()


def _one_step_per_batch(config: Any) -> None:
    """Set what makes PPO's settings those of a plain policy gradient."""
    config.num_epochs, config.minibatch_size = 1, None
    config.shuffle_batch_per_epoch = False
    config.use_kl_loss = False
    config.num_env_runners = 0


def _valid_mean(values: "torch.Tensor", batch: dict[str, Any]) -> "torch.Tensor":
    """Return the mean over the rows of a batch that are not padding."""
    mask = batch.get(Columns.LOSS_MASK)
    return values.mean() if mask is None else values[mask].sum() / mask.sum()
