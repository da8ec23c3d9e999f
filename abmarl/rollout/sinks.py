"""Sinks: they fill the columns and the table of episodes of a rollout while it runs.

Each sees the reset (``start``), who is going to act (``before``) and every step (``after``), and
makes its part of the rollout in the end (``finish``).
"""

from collections import defaultdict
from typing import Any

import numpy as np

from abmarl.rollout.columns import (
    FORMAT_VERSION,
    ArraySpec,
    Rollout,
    RolloutGroup,
    array_specs,
    by_attribute,
)
from abmarl.rollout.episodes import Episodes, team_names, teams_of
from abmarl.rollout.file import versions
from abmarl.sim.layout import value_at


class ColumnSink:
    """Fills preallocated columns.

    The observation columns have one row more than there are steps, so that the last observations
    need no copy of their own.

    Args:
        vec: The vectorised simulation.
        num_steps: Steps for which there is to be room.
    """

    def __init__(self, vec: Any, num_steps: int) -> None:
        self._vec = vec
        self.groups = {
            name: RolloutGroup(
                tuple(group.agent_ids),
                group.observation_space,
                group.action_space,
                int(group.encoding),
            )
            for name, group in vec.groups.items()
        }
        self._specs: dict[str, list[ArraySpec]] = defaultdict(list)
        self._columns: dict[tuple[str, ...], np.ndarray] = {}
        # What is put where in every step: kind -> array, group, path in the arrays of the group.
        self._filled: dict[str, list[tuple[np.ndarray, str, tuple]]] = defaultdict(list)
        for spec in array_specs(self.groups, ()):
            kind = spec.names[0]
            if kind == "episodes":  # see `EpisodeSink`
                continue
            self._specs[kind].append(spec)
            if "T" in spec.column.axes:
                rows = num_steps + (kind == "observations")
                array = np.empty(spec.sized(T=rows, B=vec.num_envs), spec.dtype)
                self._columns[spec.names] = array
                self._filled[kind].append((array, spec.group, spec.path))
        self._final_index: list[np.ndarray] = []
        self._finals: dict[tuple[str, ...], list[np.ndarray]] = {
            spec.names: [] for spec in self._specs["final_observations"]
        }

    def start(self, observations: dict, infos: dict) -> None:
        """Take what a reset returned."""
        self._put("observations", 0, observations)

    def before(self, step: int, infos: dict) -> None:
        """Take who is going to act; the engine reuses that array in the step."""
        self._put("active", step, infos["active"])

    def after(self, step: int, actions: dict, result: tuple) -> None:
        """Take the actions and what the step returned for them."""
        observations, rewards, terminated, truncated, infos = result
        self._put("actions", step, actions)
        self._put("rewards", step, rewards)
        self._put("terminated", step, terminated)
        self._put("truncated", step, truncated)
        self._put("observations", step + 1, observations)
        self._columns["ended",][step] = infos["ended"]
        worlds = np.flatnonzero(infos["ended"])
        if worlds.size:
            for spec in self._specs["final_observations"]:
                final = value_at(infos["final_obs"][spec.group], spec.path)
                self._finals[spec.names].append(final[worlds].astype(spec.dtype))
            self._final_index.append(np.stack([np.full_like(worlds, step), worlds], axis=1))

    def finish(self, steps: int, **facts: Any) -> Rollout:
        """Return the rollout of the first ``steps`` steps.

        Args:
            steps: How many steps are complete.
            **facts: Further attributes of the rollout, its episodes among them.
        """
        index = np.concatenate([np.empty((0, 2), np.int64), *self._final_index])
        kept = int(np.count_nonzero(index[:, 0] < steps))
        arrays = {names: column[:steps] for names, column in self._columns.items()}
        arrays["final_index",] = index[:kept]
        for spec in self._specs["last_observations"]:
            arrays[spec.names] = self._columns[("observations", *spec.names[1:])][steps]
        for spec in self._specs["final_observations"]:
            rows = self._finals[spec.names]
            empty = np.empty(spec.sized(E=0), spec.dtype)
            arrays[spec.names] = np.concatenate([empty, *rows])[:kept]
            rows.clear()
        specs = [spec for some in self._specs.values() for spec in some]
        columns = by_attribute(specs, arrays, FORMAT_VERSION)
        return Rollout(
            **columns,
            groups=self.groups,
            horizon=self._vec.horizon,
            order=self._vec.order,
            versions=versions(),
            **facts,
        )

    def _put(self, kind: str, row: int, values: dict) -> None:
        for array, group, path in self._filled[kind]:
            value = values[group]
            for key in path:
                value = value[key]
            array[row] = value


class GrowingColumn:
    """A column of unknown length; a long run ends too many episodes for a list of arrays."""

    def __init__(self, dtype: type = np.int64) -> None:
        self.rows: np.ndarray = np.empty(1024, dtype)
        self.length = 0

    def extend(self, values: np.ndarray) -> None:
        """Add the values at the end."""
        end = self.length + len(values)
        if end > len(self.rows):
            rows = np.empty(max(end, 2 * len(self.rows)), self.rows.dtype)
            rows[: self.length] = self.rows[: self.length]
            self.rows = rows
        self.rows[self.length : end] = values
        self.length = end

    def first(self, count: int) -> np.ndarray:
        """Return the first values as an array of their own."""
        return self.rows[:count].copy()


class EpisodeSink:
    """Fills the table of episodes.

    Args:
        vec: The vectorised simulation.
    """

    def __init__(self, vec: Any) -> None:
        self.vec = vec
        self.world, self.step, self.length = GrowingColumn(), GrowingColumn(), GrowingColumn()
        self.returns = {name: GrowingColumn(np.float64) for name in vec.groups}

    def start(self, observations: dict, infos: dict) -> None:
        """Note the teams, which are there after the first reset."""
        # Kept as a copy: what a world shows after its end are the teams of its next episode.
        self.teams = np.array(teams_of(self.vec))
        self.survivors = {int(team): GrowingColumn() for team in np.unique(self.teams)}

    def before(self, step: int, infos: dict) -> None:
        """Do nothing before a step."""

    def after(self, step: int, actions: dict, result: tuple) -> None:
        """Take the episodes that ended in the step."""
        infos = result[-1]
        worlds = np.flatnonzero(infos["ended"])
        if not worlds.size:
            return
        self.world.extend(worlds)
        self.length.extend(infos["episode"]["length"][worlds])
        for name, column in self.returns.items():
            column.extend(infos["episode"]["return"][name][worlds].sum(axis=1))
        alive, teams = infos["final_active"][worlds], self.teams[worlds]
        for team, column in self.survivors.items():
            column.extend(np.count_nonzero(alive & (teams == team), axis=1))
        # Last, as it says how many rows there are: Ctrl-C may come anywhere.
        self.step.extend(np.full_like(worlds, step))

    def finish(self, steps: int) -> Episodes:
        """Return the table of the first ``steps`` steps."""
        count = int(np.count_nonzero(self.step.rows[: self.step.length] < steps))
        return Episodes(
            world=self.world.first(count),
            step=self.step.first(count),
            length=self.length.first(count),
            returns={name: column.first(count) for name, column in self.returns.items()},
            survivors={team: column.first(count) for team, column in self.survivors.items()},
            team_names=team_names(self.vec, self.teams),
        )
