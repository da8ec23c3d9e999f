"""Fills the columns of a rollout while it runs."""

from typing import Any

import numpy as np

from abmarl.rollout.channels import at, channels_of
from abmarl.rollout.columns import Rollout, RolloutGroup
from abmarl.rollout.size import column_dtype


class ColumnSink:
    """Fills preallocated columns while a rollout runs.

    The observation columns have one row more than there are steps, so that the last observations
    need no copy of their own.
    """

    def __init__(self, vec: Any, num_steps: int) -> None:
        worlds = vec.num_envs
        self.groups = {
            name: RolloutGroup(
                tuple(group.agent_ids),
                group.observation_space,
                group.action_space,
                int(group.encoding),
            )
            for name, group in vec.groups.items()
        }

        def columns(kind: str, rows: int) -> dict[str, dict[str, np.ndarray]]:
            return {
                name: {
                    channel: np.empty((rows, worlds, len(group), *space.shape), column_dtype(space))
                    for channel, (_, space) in channels_of(getattr(group, kind)).items()
                }
                for name, group in self.groups.items()
            }

        def flags(dtype: type) -> dict[str, np.ndarray]:
            return {
                name: np.empty((num_steps, worlds, len(group)), dtype)
                for name, group in self.groups.items()
            }

        def paths(kind: str) -> dict[str, dict[str, tuple]]:
            return {
                name: {key: path for key, (path, _) in channels_of(getattr(group, kind)).items()}
                for name, group in self.groups.items()
            }

        self.observation_paths = paths("observation_space")
        self.action_paths = paths("action_space")
        self.observations = columns("observation_space", num_steps + 1)
        self.actions = columns("action_space", num_steps)
        self.rewards = flags(np.float64)
        self.terminated, self.truncated, self.active = flags(bool), flags(bool), flags(bool)
        self.ended = np.empty((num_steps, worlds), bool)
        self.final_index: list[np.ndarray] = []
        self.finals: dict[str, dict[str, list[np.ndarray]]] = {
            name: {channel: [] for channel in channels}
            for name, channels in self.observations.items()
        }

    def start(self, observations: dict, infos: dict) -> None:
        """Take what a reset returned."""
        self._observe(0, observations)

    def before(self, step: int, infos: dict) -> None:
        """Take who is going to act; the engine reuses that array in the step."""
        for name, column in self.active.items():
            column[step] = infos["active"][name]

    def after(self, step: int, actions: dict, result: tuple) -> None:
        """Take the actions and what the step returned for them."""
        observations, rewards, terminated, truncated, infos = result
        for name, channels in self.actions.items():
            for channel, column in channels.items():
                column[step] = at(actions[name], self.action_paths[name][channel])
            self.rewards[name][step] = rewards[name]
            self.terminated[name][step] = terminated[name]
            self.truncated[name][step] = truncated[name]
        ended = infos["ended"]
        self.ended[step] = ended
        self._observe(step + 1, observations)
        worlds = np.flatnonzero(ended)
        if worlds.size:
            for name, channels in self.finals.items():
                for channel, rows in channels.items():
                    kind = self.observations[name][channel].dtype
                    final = at(infos["final_obs"][name], self.observation_paths[name][channel])
                    rows.append(final[worlds].astype(kind))
            self.final_index.append(np.stack([np.full_like(worlds, step), worlds], axis=1))

    def finish(self, steps: int, **facts: Any) -> Rollout:
        """The rollout of the first ``steps`` steps."""
        index = np.concatenate([np.empty((0, 2), np.int64), *self.final_index])
        kept = int(np.count_nonzero(index[:, 0] < steps))
        finals: dict[str, dict[str, np.ndarray]] = {}
        for name, channels in self.finals.items():
            finals[name] = {}
            for channel, rows in channels.items():
                column = self.observations[name][channel]
                empty = np.empty((0, *column.shape[2:]), column.dtype)
                finals[name][channel] = np.concatenate([empty, *rows])[:kept]
                rows.clear()

        def cut(columns: dict) -> dict:
            return {
                name: cut(column) if isinstance(column, dict) else column[:steps]
                for name, column in columns.items()
            }

        return Rollout(
            observations=cut(self.observations),
            last_observations={
                name: {channel: column[steps] for channel, column in channels.items()}
                for name, channels in self.observations.items()
            },
            actions=cut(self.actions),
            rewards=cut(self.rewards),
            terminated=cut(self.terminated),
            truncated=cut(self.truncated),
            active=cut(self.active),
            ended=self.ended[:steps],
            final_index=index[:kept],
            final_observations=finals,
            groups=self.groups,
            **facts,
        )

    def _observe(self, row: int, observations: dict) -> None:
        for name, channels in self.observations.items():
            for channel, column in channels.items():
                column[row] = at(observations[name], self.observation_paths[name][channel])
