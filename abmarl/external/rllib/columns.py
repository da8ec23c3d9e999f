"""Columns instead of episodes: the fast way from the env runner to the learner."""

from typing import Any

import numpy as np
import torch
import tree
from ray.rllib.connectors.connector_v2 import ConnectorV2
from ray.rllib.core.columns import Columns
from ray.rllib.core.rl_module.apis.value_function_api import ValueFunctionAPI
from ray.rllib.evaluation.postprocessing import Postprocessing

from abmarl.external.rllib.sample_buffer import SampleRows


class ColumnBatch:
    """What one call of ``sample`` collected, the `SampleRows` of each policy.

    It stands in the place of a list of episodes, and holds the discount and decay of advantages.
    """

    def __init__(
        self, rows: dict[str, SampleRows], env_steps: int, gamma: float, lambda_: float
    ) -> None:
        self.rows = rows
        self.gamma, self.lambda_ = gamma, lambda_
        self._env_steps = env_steps

    def __len__(self) -> int:
        return self._env_steps

    def env_steps(self) -> int:
        """Return the steps of worlds."""
        return self._env_steps

    def agent_steps(self) -> int:
        """Return the steps of agents."""
        return sum(map(len, self.rows.values()))


class ColumnsToTrainBatch(ConnectorV2):
    """Learner connector that makes the train batch of PPO from `ColumnBatch` es.

    It takes the place of RLlib's own pipeline. Values come from one forward pass per policy over
    all rows and last observations, advantages from `advantages`, standardised per policy over
    the rows that are learned from.
    """

    def __call__(self, *, rl_module: Any, episodes: list[ColumnBatch], **kwargs: Any) -> dict:
        """Return the columns to train on, by policy."""
        batch = {}
        for policy in dict.fromkeys(key for one in episodes for key in one.rows):
            parts = [(one, one.rows[policy]) for one in episodes if policy in one.rows]
            batch[policy] = _train_columns(rl_module[policy], parts)
        return batch


def advantages(
    rows: SampleRows, values: np.ndarray, tail_values: np.ndarray, gamma: float, lambda_: float
) -> np.ndarray:
    """Return generalised advantage estimates, equations 11 and 16 of their paper.

    J. Schulman and others, High-dimensional continuous control using generalized advantage
    estimation, ICLR 2016.

    An agent that was terminated has no value to come; one that was truncated, or that goes on after
    the last row, has that of its last observation.

    Args:
        rows: K rows of one policy.
        values: float [K], the value of each row's observation.
        tail_values: float, the value of each tail.
        gamma: Discount.
        lambda_: Decay.

    Returns:
        float32 [K].
    """
    ends = rows.tail_of >= 0
    to_come = np.zeros(len(rows))
    bootstrapped = ends & ~rows.terminated
    to_come[bootstrapped] = tail_values[rows.tail_of[bootstrapped]]
    num_slots = int(rows.slots.max()) + 1
    next_value, following = np.zeros(num_slots), np.zeros(num_slots)
    found = np.empty(len(rows))
    for first, last in zip(rows.starts[-2::-1], rows.starts[:0:-1], strict=True):
        step = slice(first, last)
        slots, goes_on = rows.slots[step], ~ends[step]
        after = np.where(goes_on, next_value[slots], to_come[step])
        found[step] = rows.rewards[step] + gamma * after - values[step]
        found[step] += gamma * lambda_ * goes_on * following[slots]
        next_value[slots], following[slots] = values[step], found[step]
    return found.astype(np.float32)


def columns_connector(*spaces: Any) -> ColumnsToTrainBatch:
    """Return the connector, for ``AlgorithmConfig.learners``."""
    return ColumnsToTrainBatch()


def _train_columns(module: Any, parts: list[tuple[ColumnBatch, SampleRows]]) -> dict[str, Any]:
    # Modules that learn nothing may not be networks.
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
    # Modules with action masks split the observations of the batch here, and expect them split
    # when they are trained on it.
    values, tail_values = _values(module, columns), _values(module, {Columns.OBS: tails})
    parts_found, first, first_tail = [], 0, 0
    for one, rows in parts:
        last, last_tail = first + len(rows), first_tail + int((rows.tail_of >= 0).sum())
        mine = values[first:last], tail_values[first_tail:last_tail]
        parts_found.append(advantages(rows, *mine, one.gamma, one.lambda_))
        first, first_tail = last, last_tail
    found = np.concatenate(parts_found)
    columns[Postprocessing.VALUE_TARGETS] = tensor((found + values).astype(np.float32))
    # As RLlib's own connector does, including the least deviation.
    standard = (found - found.mean()) / max(1e-4, float(found.std()))
    columns[Postprocessing.ADVANTAGES] = tensor(standard.astype(np.float32))
    return columns


def _values(module: Any, batch: dict[str, Any]) -> np.ndarray:
    with torch.no_grad():
        return module.compute_values(batch).cpu().numpy()
