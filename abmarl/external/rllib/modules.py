"""RLlib's modules as functions of batches: observations in, actions out."""

from typing import Any

import numpy as np
import torch
import tree
from ray.rllib.core.columns import Columns

# Columns of modules that are of no use beyond the step.
_NOT_KEPT = (Columns.EMBEDDINGS,)


def forward(
    module: Any, batch: dict[str, Any], explore: bool, steps: int, device: Any
) -> dict[str, dict[str, np.ndarray]]:
    """Run the modules of all policies and choose actions, as RLlib's own connectors do.

    Args:
        module: RLlib's ``MultiRLModule``.
        batch: policy -> observations, arrays [k, ...], nested as the space.
        explore: Whether actions are drawn, else they are the likeliest.
        steps: Steps of worlds sampled so far, for modules whose exploration depends on them.
        device: Where the modules are.

    Returns:
        policy -> column -> array [k, ...]; ``"actions"`` is one of the columns.
    """
    inputs = {
        policy: {
            Columns.OBS: tree.map_structure(lambda one: torch.from_numpy(one).to(device), rows)
        }
        for policy, rows in batch.items()
    }
    with torch.no_grad():
        if explore:
            outputs = module.forward_exploration(inputs, t=steps)
        else:
            outputs = module.forward_inference(inputs)
        return {
            policy: _with_actions(module[policy], columns, explore)
            for policy, columns in outputs.items()
        }


def actions_from_outputs(module: Any, columns: dict[str, Any], explore: bool) -> tuple[Any, Any]:
    """Draw the actions from a module's outputs, or take the likeliest.

    Returns:
        The actions, and the distribution that they are from; None where the module chose them.
    """
    if Columns.ACTIONS in columns:
        return columns[Columns.ACTIONS], None
    if explore:
        kind = module.get_exploration_action_dist_cls()
    else:
        kind = module.get_inference_action_dist_cls()
    distribution = kind.from_logits(columns[Columns.ACTION_DIST_INPUTS])
    if not explore:
        distribution = distribution.to_deterministic()
    return distribution.sample(), distribution


def _with_actions(module: Any, columns: dict[str, Any], explore: bool) -> dict[str, np.ndarray]:
    found = {key: one for key, one in columns.items() if key not in _NOT_KEPT}
    found[Columns.ACTIONS], distribution = actions_from_outputs(module, columns, explore)
    if distribution is not None and Columns.ACTION_LOGP not in found:
        found[Columns.ACTION_LOGP] = distribution.logp(found[Columns.ACTIONS])
    return {key: _array(one) for key, one in found.items()}


def _array(values: Any) -> np.ndarray:
    return values.cpu().numpy() if isinstance(values, torch.Tensor) else np.asarray(values)
