"""Trained policies, as scripts ask them for actions."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from abmarl.experiments.codec import Codec
from abmarl.experiments.environment import codecs_of, learners_of
from abmarl.experiments.execute import ExperimentError
from abmarl.extras import load

MODULES = Path("learner_group", "learner", "rl_module")
"""Where a checkpoint of RLlib keeps its networks."""


class TrainedPolicies:
    """The policies of a checkpoint.

    They take the observations and give the actions of the simulation, whatever the networks make
    of them. No Ray runs behind them.

    Args:
        checkpoint: folder of the checkpoint.
        manager: manager of the simulation, for the spaces of the agents.
        policy_mapping_fn: function of an agent's id, the id of its policy.
        config: what else `config` is to hold.
        explore: whether actions are drawn from a policy's distribution, where it is not said.

    Attributes:
        config: ``config["multiagent"]`` has the ``policies`` and the ``policy_mapping_fn``; the
            rest are the keys of the experiment's configuration.

    Raises:
        ExperimentError: the checkpoint cannot be read, or a policy does not fit the agents.
    """

    def __init__(
        self,
        checkpoint: Path,
        manager: Any,
        policy_mapping_fn: Callable[[str], str],
        config: Mapping[str, Any] | None = None,
        explore: bool = True,
    ) -> None:
        rl_module = load("ray.rllib.core.rl_module.multi_rl_module", "rllib", "abmarl.experiments")
        self._torch = load("torch", "rllib", "abmarl.experiments")
        if not (checkpoint / MODULES).is_dir():
            raise ExperimentError(f"{checkpoint} has no networks in {MODULES}")
        try:
            self._modules = rl_module.MultiRLModule.from_checkpoint(checkpoint / MODULES)
        except Exception as error:
            raise ExperimentError(
                f"{checkpoint} cannot be read: {type(error).__name__}: {error}"
            ) from error
        for _, module in self._modules.items():
            if isinstance(module, self._torch.nn.Module):
                module.eval()
        self.explore = explore
        self._normalized = bool((config or {}).get("normalize_actions", True))
        self._mapping = policy_mapping_fn
        agents = learners_of(manager)
        self._codecs: dict[str, Codec] = {}
        for agent_id, codec in codecs_of(agents).items():
            policy_id = policy_mapping_fn(agent_id)
            _check(self._modules, policy_id, codec, agent_id)
            self._codecs.setdefault(policy_id, codec)
        self.config = {
            **(config or {}),
            "multiagent": {
                "policies": sorted(self._codecs),
                "policy_mapping_fn": policy_mapping_fn,
            },
        }

    def compute_single_action(
        self,
        observation: Any,
        state: None = None,
        *,
        policy_id: str | None = None,
        explore: bool | None = None,
        **ignored: Any,
    ) -> Any:
        """The action for one observation.

        Args:
            observation: as the simulation gives it.
            state: must be None, policies without memory are supported.
            policy_id: whose action; may be left out where there is one policy for all.
            explore: draw from the distribution; False: the likeliest; None: as this object says.
            **ignored: what RLlib's method takes beyond.

        Returns:
            An action for the simulation.

        Raises:
            ValueError: there is no such policy, or the observation is not in its space.
        """
        (action,) = self._compute([observation], policy_id, explore)
        return action

    compute_action = compute_single_action

    def compute_actions(
        self,
        observations: Mapping[str, Any],
        *,
        policy_id: str | None = None,
        explore: bool | None = None,
        **ignored: Any,
    ) -> dict[str, Any]:
        """The actions for many observations, one pass through a network for each policy.

        Args:
            observations: observations by agent id, or by any other key where `policy_id` is given.
            policy_id: whose actions; None: of each agent's own policy.
            explore: see `compute_single_action`.
            **ignored: what RLlib's method takes beyond.

        Returns:
            Actions by the same keys.

        Raises:
            ValueError: there is no such policy, or an observation is not in its space.
        """
        groups: dict[str, list[str]] = {}
        for key in observations:
            groups.setdefault(policy_id or self._mapping(key), []).append(key)
        found = {}
        for one, keys in groups.items():
            actions = self._compute([observations[key] for key in keys], one, explore)
            found.update(zip(keys, actions, strict=True))
        return {key: found[key] for key in observations}

    def seed(self, seed: int) -> None:
        """Seed the draws of actions."""
        self._torch.manual_seed(seed)

    def _compute(self, observations: list, policy_id: str | None, explore: bool | None) -> list:
        if len(self._codecs) == 1 and policy_id in (None, "default_policy"):
            (policy_id,) = self._codecs
        if policy_id not in self._codecs:
            raise ValueError(
                f"there is no policy {policy_id!r}; there are {', '.join(map(repr, self._codecs))}"
            )
        from ray.rllib.core.columns import Columns

        codec, module = self._codecs[policy_id], self._modules[policy_id]
        torch, explore = self._torch, self.explore if explore is None else explore
        batch = {
            Columns.OBS: torch.from_numpy(np.stack([codec.observe(one) for one in observations]))
        }
        with torch.no_grad():
            forward = module.forward_exploration if explore else module.forward_inference
            found = forward(batch)
            if Columns.ACTIONS not in found:
                found[Columns.ACTIONS] = _draw(module, found[Columns.ACTION_DIST_INPUTS], explore)
        actions = _for_the_space(module, found[Columns.ACTIONS], self._normalized)
        return [codec.act(value) for value in actions]


def _draw(module: Any, inputs: Any, explore: bool) -> Any:
    if explore:
        return module.get_exploration_action_dist_cls().from_logits(inputs).sample()
    return module.get_inference_action_dist_cls().from_logits(inputs).to_deterministic().sample()


def _for_the_space(module: Any, actions: Any, normalized: bool) -> list:
    """Actions of a batch one by one, floats stretched to their bounds where RLlib's runners do."""
    from ray.rllib.utils.spaces.space_utils import get_base_struct_from_space, unsquash_action

    actions = actions.cpu().numpy()
    if actions.dtype.kind == "f" and normalized:
        struct = get_base_struct_from_space(module.action_space)
        return [unsquash_action(one, struct) for one in actions]
    return [int(one) for one in actions] if actions.ndim == 1 else list(actions)


def _check(modules: Any, policy_id: str, codec: Codec, agent_id: str) -> None:
    if policy_id not in modules:
        raise ExperimentError(
            f"agent {agent_id!r} is mapped to policy {policy_id!r}, which the checkpoint does not "
            f"have; it has {', '.join(map(repr, modules.keys()))}"
        )
    module = modules[policy_id]
    if module.is_stateful():
        raise ExperimentError(
            f"policy {policy_id!r} has a memory, which abmarl visualize and analyze do not support"
        )
    for side in ("observation_space", "action_space"):
        trained, now = getattr(module, side), getattr(codec, side)
        if trained.shape != now.shape or type(trained) is not type(now) or trained != now:
            raise ExperimentError(
                f"policy {policy_id!r} was trained with the {side} {trained!r:.120}\n"
                f"and agent {agent_id!r} now has {now!r:.120}: the experiment file was changed"
            )
