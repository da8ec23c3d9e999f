"""One pass through the modules of all policies, for whole batches of worlds."""

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
    """What the modules put out, with actions, as RLlib's own connectors make it.

    Args:
        module: RLlib's ``MultiRLModule``.
        batch: policy -> observations, arrays [k, ...], nested as the space.
        explore: whether actions are drawn, else they are the likeliest.
        steps: of worlds sampled so far, for modules whose exploration depends on them.
        device: where the modules are.

    Returns:
        policy -> column -> array [k, ...]; ``"actions"`` is one of the columns.
    """
    given = {
        policy: {
            Columns.OBS: tree.map_structure(lambda one: torch.from_numpy(one).to(device), rows)
        }
        for policy, rows in batch.items()
    }
    with torch.no_grad():
        if explore:
            outputs = module.forward_exploration(given, t=steps)
        else:
            outputs = module.forward_inference(given)
        return {
            policy: _with_actions(module[policy], columns, explore)
            for policy, columns in outputs.items()
        }


def _with_actions(module: Any, columns: dict[str, Any], explore: bool) -> dict[str, np.ndarray]:
    found = {key: one for key, one in columns.items() if key not in _NOT_KEPT}
    if Columns.ACTIONS not in found:
        if explore:
            kind = module.get_exploration_action_dist_cls()
        else:
            kind = module.get_inference_action_dist_cls()
        choice = kind.from_logits(found[Columns.ACTION_DIST_INPUTS])
        choice = choice if explore else choice.to_deterministic()
        found[Columns.ACTIONS] = choice.sample()
        found.setdefault(Columns.ACTION_LOGP, choice.logp(found[Columns.ACTIONS]))
    return {key: _array(one) for key, one in found.items()}


def _array(values: Any) -> np.ndarray:
    return values.cpu().numpy() if isinstance(values, torch.Tensor) else np.asarray(values)
