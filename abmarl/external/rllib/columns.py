"""Columns instead of episodes: the fast way from the env runner to the learner."""

from typing import Any

import numpy as np
import torch
import tree
from ray.rllib.connectors.connector_v2 import ConnectorV2
from ray.rllib.core.columns import Columns
from ray.rllib.core.rl_module.apis.value_function_api import ValueFunctionAPI
from ray.rllib.evaluation.postprocessing import Postprocessing

from abmarl.external.rllib.gae import advantages
from abmarl.external.rllib.recorder import Rows


class ColumnBatch:
    """What one call of ``sample`` collected, in the place of a list of episodes.

    Args:
        rows: the `Rows` of each policy.
        env_steps: steps of worlds in it.
        gamma, lambda_: of the advantages.
    """

    def __init__(self, rows: dict[str, Rows], env_steps: int, gamma: float, lambda_: float) -> None:
        self.rows = rows
        self.gamma, self.lambda_ = gamma, lambda_
        self._env_steps = env_steps

    def __len__(self) -> int:
        return self._env_steps

    def env_steps(self) -> int:
        """Steps of worlds."""
        return self._env_steps

    def agent_steps(self) -> int:
        """Steps of agents."""
        return sum(map(len, self.rows.values()))


class ColumnsToTrainBatch(ConnectorV2):
    """Learner connector that makes the train batch of PPO from `ColumnBatch` es.

    It takes the place of RLlib's own pipeline. Values come from one forward pass per policy over
    all rows and last observations, advantages from `gae.advantages`, standardised per policy over
    the rows that are learned from.
    """

    def __call__(self, *, rl_module: Any, episodes: list[ColumnBatch], **kwargs: Any) -> dict:
        batch = {}
        for policy in dict.fromkeys(key for one in episodes for key in one.rows):
            parts = [(one, one.rows[policy]) for one in episodes if policy in one.rows]
            batch[policy] = _train_columns(rl_module[policy], parts)
        return batch


def columns_connector(*spaces: Any) -> ColumnsToTrainBatch:
    """What a config is given to make the connector."""
    return ColumnsToTrainBatch()


def _train_columns(module: Any, parts: list[tuple[ColumnBatch, Rows]]) -> dict[str, Any]:
    # Modules that learn nothing may be no networks.
    parameters = module.parameters() if isinstance(module, torch.nn.Module) else iter(())
    device = next((one.device for one in parameters), torch.device("cpu"))

    def tensor(*arrays: np.ndarray) -> torch.Tensor:
        joined = arrays[0] if len(arrays) == 1 else np.concatenate(arrays)
        return torch.from_numpy(np.ascontiguousarray(joined)).to(device)

    columns = {Columns.OBS: tree.map_structure(tensor, *(rows.obs for _, rows in parts))}
    for key in parts[0][1].outputs:
        columns[key] = tensor(*(rows.outputs[key] for _, rows in parts))
    columns[Columns.REWARDS] = tensor(*(rows.rewards for _, rows in parts))
    if not isinstance(module, ValueFunctionAPI):
        return columns
    tails = tree.map_structure(tensor, *(rows.tails for _, rows in parts))
    # Modules with action masks take the observations of the batch apart, and count on that having
    # happened before they are trained on it.
    values, tail_values = _values(module, columns), _values(module, {Columns.OBS: tails})
    found, first, first_tail = [], 0, 0
    for one, rows in parts:
        last, last_tail = first + len(rows), first_tail + int((rows.tail_of >= 0).sum())
        mine = values[first:last], tail_values[first_tail:last_tail]
        found.append(advantages(rows, *mine, one.gamma, one.lambda_))
        first, first_tail = last, last_tail
    found = np.concatenate(found)
    columns[Postprocessing.VALUE_TARGETS] = tensor((found + values).astype(np.float32))
    # As RLlib's own connector does it, the least deviation included.
    standard = (found - found.mean()) / max(1e-4, float(found.std()))
    columns[Postprocessing.ADVANTAGES] = tensor(standard.astype(np.float32))
    return columns


def _values(module: Any, batch: dict[str, Any]) -> np.ndarray:
    with torch.no_grad():
        return module.compute_values(batch).cpu().numpy()
