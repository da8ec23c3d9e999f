"""Rollouts: the table of their columns, and the arrays themselves, time first."""

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from gymnasium import spaces

from abmarl.resources import check_memory, readable_bytes
from abmarl.rollout.episodes import Episodes
from abmarl.sim.layout import Leaf, SpaceLayout

# How many final observations there are is known only at the end. An episode is taken to last this
# many steps on average when memory is checked beforehand.
STEPS_PER_EPISODE = 10


class Column(NamedTuple):
    """A kind of array that a rollout holds, as a row of `COLUMNS`.

    Attributes:
        attribute: The attribute of `Rollout` that has it, dotted.
        axes: The leading axes, a letter each: T steps, B worlds, n agents of the group, E episodes
            that ended.
        dtype: The dtype; None where it follows from the space of a channel.
        per: What there is one array for: every ``"group"``, every ``"team"``, every channel of
            every group's ``"observation_space"`` or ``"action_space"``; or one array only.
        shape: The axes after the leading ones, where they do not follow from a space.
        entry: The name in files, where it is not that of the attribute.
        since: The first version of the file format that has it. A file of an earlier version
            need not have it: its arrays are left out of the rollout then.
    """

    attribute: str
    axes: str
    dtype: type | None = None
    per: str = ""
    shape: tuple[int, ...] = ()
    entry: str = ""
    since: int = 1


# Everything that a rollout holds: what is collected, saved, loaded, sized and checked.
COLUMNS = (
    Column("observations", "TBn", per="observation_space"),
    Column("last_observations", "Bn", per="observation_space"),
    Column("actions", "TBn", per="action_space"),
    Column("final_observations", "En", per="observation_space"),
    Column("rewards", "TBn", np.float64, per="group"),
    Column("terminated", "TBn", bool, per="group"),
    Column("truncated", "TBn", bool, per="group"),
    Column("active", "TBn", bool, per="group"),
    Column("ended", "TB", bool),
    Column("final_index", "E", np.int64, shape=(2,)),
    Column("episodes.world", "E", np.int64),
    Column("episodes.step", "E", np.int64),
    Column("episodes.length", "E", np.int64),
    Column("episodes.returns", "E", np.float64, per="group", entry="episodes.return"),
    Column("episodes.survivors", "E", np.int64, per="team"),
)

# Of files; a newer one has columns that older ones lack.
FORMAT_VERSION = max(column.since for column in COLUMNS)


class ArraySpec(NamedTuple):
    """One array of a rollout of certain groups.

    Attributes:
        column: The row of the table that it belongs to.
        names: Its path in files: ``("actions", "red", "move")``.
        keys: Its path in a `Rollout`: attributes, then keys of dicts.
        shape: The axes after those of the column.
        dtype: The dtype.
        group: The name of its group, if it belongs to one.
        agents: The number of agents of that group.
        path: Where it lies in the nested arrays of the group; () where they are not nested.
    """

    column: Column
    names: tuple[str, ...]
    keys: tuple[Any, ...]
    shape: tuple[int, ...]
    dtype: np.dtype
    group: str = ""
    agents: int = 0
    path: tuple[Any, ...] = ()

    def sized(self, **lengths: Any) -> tuple[Any, ...]:
        """Return the shape of the array, given the lengths of the axes T, B and E."""
        lengths["n"] = self.agents
        return (*(lengths[axis] for axis in self.column.axes), *self.shape)


def array_specs(groups: Mapping[str, Any], teams: Iterable[int]) -> list[ArraySpec]:
    """List the arrays of a rollout, in the order in which files have them.

    Args:
        groups: The groups by name, with the spaces of an agent.
        teams: The numbers of the teams.

    Raises:
        TypeError: When a channel cannot be a column.
    """
    found = []
    for column in COLUMNS:
        if not column.per:
            found.append(_spec(column))
        elif column.per == "team":
            found += [_spec(column, team) for team in teams]
        elif column.per == "group":
            found += [
                _spec(column, name, group=name, agents=len(group)) for name, group in groups.items()
            ]
        else:
            for name, group in groups.items():
                for leaf in SpaceLayout(getattr(group, column.per)).leaves:
                    own = {"shape": leaf.shape, "dtype": column_dtype(leaf), "path": leaf.path}
                    found.append(
                        _spec(column, name, leaf.name, group=name, agents=len(group), **own)
                    )
    return found


def column_dtype(leaf: Leaf) -> np.dtype:
    """Return the dtype of a channel: the narrowest one that holds every value of its space."""
    return np.dtype(bool) if leaf.space.dtype == bool else leaf.dtype


def _spec(column: Column, *keys: Any, **more: Any) -> ArraySpec:
    attribute, entry = column.attribute.split("."), (column.entry or column.attribute).split(".")
    usual: dict[str, Any] = {"shape": column.shape, "dtype": np.dtype(column.dtype)}
    return ArraySpec(column, (*entry, *map(str, keys)), (*attribute, *keys), **(usual | more))


def by_attribute(
    specs: Iterable[ArraySpec], arrays: Mapping[tuple[str, ...], np.ndarray], version: int
) -> dict[str, Any]:
    """Arrange arrays as the attributes of a `Rollout`.

    Args:
        specs: The arrays that are wanted.
        arrays: The arrays by their names.
        version: The version of the file format that they come from.

    Returns:
        attribute -> array, or nested dicts of arrays.

    Raises:
        KeyError: When an array is missing; it is named.
    """
    found: dict[str, Any] = {}
    for spec in specs:
        if spec.column.since > version and spec.names not in arrays:
            continue
        *parents, last = spec.keys
        inner = found
        for key in parents:
            inner = inner.setdefault(key, {})
        inner[last] = arrays[spec.names]
    return found


@dataclass(frozen=True)
class RolloutGroup:
    """A group of agents as a rollout remembers it.

    Attributes:
        ids: The agents' ids, in the order of the axis of agents of the columns.
        observation_space: gymnasium space of one agent.
        action_space: gymnasium space of one agent.
        encoding: The encoding of its agents.
    """

    ids: tuple[str, ...]
    observation_space: spaces.Space
    action_space: spaces.Space
    encoding: int | None = None

    def __len__(self) -> int:
        return len(self.ids)


@dataclass
class Rollout:
    """What `collect` returns: T steps of B worlds.

    Attributes:
        observations: group -> channel -> [T, B, n, ...], what the agents observed before each
            step. A space without channels, as in a ravelled simulation, is one: ``"point"``.
        last_observations: group -> channel -> [B, n, ...], what they observe after the last step.
        actions: group -> channel -> [T, B, n, ...].
        rewards: group -> float64 [T, B, n].
        terminated: group -> bool [T, B, n], True in the step in which the agent ended.
        truncated: group -> bool [T, B, n], likewise.
        active: group -> bool [T, B, n], who acted in the step.
        ended: bool [T, B], worlds whose episode ended in the step.
        final_index: int64 [E, 2], (step, world) of each episode's end, in the order of time.
        final_observations: group -> channel -> [E, n, ...], what was observed at those ends.
        episodes: The table of the episodes that ended.
        groups: group -> RolloutGroup.
        seed: The seed of the reset.
        horizon: The horizon of the simulation.
        order: In which order the agents acted.
        simulation: The name of the simulation.
        continued: True when the worlds went on with the random streams of earlier steps; else
            seed, policies and simulation make the same rollout again.
        interrupted: True when it was stopped before its time; the columns hold what was done.
        versions: Versions of the libraries that it was made with.
        tally: The counters of the run; None when it was read from a file.
    """

    observations: dict[str, dict[str, np.ndarray]]
    last_observations: dict[str, dict[str, np.ndarray]]
    actions: dict[str, dict[str, np.ndarray]]
    rewards: dict[str, np.ndarray]
    terminated: dict[str, np.ndarray]
    truncated: dict[str, np.ndarray]
    active: dict[str, np.ndarray]
    ended: np.ndarray
    final_index: np.ndarray
    final_observations: dict[str, dict[str, np.ndarray]]
    episodes: Episodes
    groups: dict[str, RolloutGroup]
    seed: Any = None
    horizon: int | None = None
    order: str = "fixed"
    simulation: str = ""
    continued: bool = False
    interrupted: bool = False
    versions: dict[str, str] = field(default_factory=dict)
    tally: Any = None

    @property
    def num_steps(self) -> int:
        """T."""
        return self.ended.shape[0]

    @property
    def num_envs(self) -> int:
        """B."""
        return self.ended.shape[1]

    @property
    def agent_steps(self) -> int:
        """How often an agent acted."""
        return sum(int(np.count_nonzero(active)) for active in self.active.values())

    @property
    def nbytes(self) -> int:
        """Memory taken by the columns."""
        return sum(array.nbytes for _, array in self.arrays())

    def next_observations(self, group: str, channel: str) -> np.ndarray:
        """Return what the agents observed after each step: the final one where an episode ended.

        Args:
            group: A group's name.
            channel: An observation channel of it.

        Returns:
            A new array [T, B, n, ...] of the channel's dtype.

        Raises:
            ValueError: When there is no such group or channel.
        """
        if group not in self.observations or channel not in self.observations[group]:
            known = ", ".join(
                f"{name!r}, {key!r}" for name, keys in self.observations.items() for key in keys
            )
            raise ValueError(
                f"no observations of group {group!r}, channel {channel!r}; there are {known}"
            )
        column = self.observations[group][channel]
        following = np.empty_like(column)
        if len(column):
            following[:-1] = column[1:]
            following[-1] = self.last_observations[group][channel]
            following[tuple(self.final_index.T)] = self.final_observations[group][channel]
        return following

    def arrays(self) -> list[tuple[tuple[str, ...], np.ndarray]]:
        """Return every array with its path, as ``(("actions", "red", "move"), array)``."""
        found = []
        for spec in array_specs(self.groups, self.episodes.survivors):
            value: Any = self
            for key in spec.keys:
                value = value[key] if isinstance(value, dict) else getattr(value, key)
            found.append((spec.names, value))
        return found

    def __repr__(self) -> str:
        groups = ", ".join(f"{name}: {len(group)}" for name, group in self.groups.items())
        return (
            f"<Rollout of {self.simulation or 'a simulation'}: {self.num_steps} steps, "
            f"{self.num_envs} worlds, {len(self.episodes)} episodes, agents {{{groups}}}, "
            f"{readable_bytes(self.nbytes)}{', interrupted' if self.interrupted else ''}>"
        )


def rollout_nbytes(vec: Any, num_steps: int) -> int:
    """Return the memory that a rollout takes.

    Final observations are counted as if an episode lasted ten steps on average, and teams as if
    there were one more than groups.

    Args:
        vec: A vectorised simulation.
        num_steps: Steps to collect.

    Returns:
        Bytes.
    """
    ends = vec.num_envs * (num_steps / STEPS_PER_EPISODE + 1)
    return int(
        sum(
            math.prod(spec.sized(T=num_steps, B=vec.num_envs, E=ends)) * spec.dtype.itemsize
            for spec in array_specs(vec.groups, range(len(vec.groups) + 1))
        )
    )


def check_rollout_memory(vec: Any, num_steps: int) -> None:
    """Refuse a rollout for which there is not enough memory.

    Raises:
        MemoryError: Says what is needed, what there is, and how many steps would fit.
    """

    def advice(available: int) -> str:
        fixed = rollout_nbytes(vec, 0)
        fit = int((available - fixed) / (rollout_nbytes(vec, 10) - fixed) * 10)
        if fit < 1:
            return "not even one step fits: use fewer worlds"
        return f"num_steps up to {fit} would fit"

    task = f"{num_steps} steps of {vec.num_envs} worlds need"
    check_memory(rollout_nbytes(vec, num_steps), task, advice)
