"""Experience in columns: one array per group and channel, time first."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from gymnasium import spaces

from abmarl.resources import readable_bytes
from abmarl.rollout.episodes import Episodes


@dataclass(frozen=True)
class RolloutGroup:
    """A group of agents as a rollout remembers it.

    Attributes:
        ids: The agents' ids, in the order of the second last agent axis of the columns.
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
        observations: group -> channel -> [T, B, n, ...], what the agents saw before each step.
            A space without channels, as in a ravelled simulation, is one: ``"point"``.
        last_observations: group -> channel -> [B, n, ...], what they see after the last one.
        actions: group -> channel -> [T, B, n, ...].
        rewards: group -> float64 [T, B, n].
        terminated: group -> bool [T, B, n], True in the step in which the agent ended.
        truncated: group -> bool [T, B, n], likewise.
        active: group -> bool [T, B, n], who acted in the step.
        ended: bool [T, B], worlds whose episode ended in the step.
        final_index: int64 [K, 2], (step, world) of each episode's end, in the order of time.
        final_observations: group -> channel -> [K, n, ...], what was seen at those ends.
        episodes: The table of the episodes that ended.
        groups: group -> RolloutGroup.
        interrupted: True when it was stopped before its time; the columns hold what was done.
        seed, horizon, order, simulation, versions: How it was made.
        continued: True when the worlds went on with the random streams of earlier steps; else
            seed, policies and simulation make the same rollout again.
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
        """What the agents saw after each step: the final view where an episode ended.

        Args:
            group: A group's name.
            channel: An observation channel of it.

        Returns:
            A new array [T, B, n, ...] of the channel's dtype.
        """
        if group not in self.observations or channel not in self.observations[group]:
            pairs = [
                (name, entry) for name, entries in self.observations.items() for entry in entries
            ]
            known = ", ".join(f"{name!r}, {entry!r}" for name, entry in pairs)
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

    def arrays(self) -> "list[tuple[tuple[str, ...], np.ndarray]]":
        """Every array with its path, as ``(("actions", "red", "move"), array)``."""
        found: list[tuple[tuple[str, ...], np.ndarray]] = []
        for kind in ("observations", "last_observations", "actions", "final_observations"):
            for group, channels in getattr(self, kind).items():
                found += [((kind, group, channel), array) for channel, array in channels.items()]
        for kind in ("rewards", "terminated", "truncated", "active"):
            found += [((kind, group), array) for group, array in getattr(self, kind).items()]
        found += [(("ended",), self.ended), (("final_index",), self.final_index)]
        return found + self.episodes.arrays()

    def __repr__(self) -> str:
        groups = ", ".join(f"{name}: {len(group)}" for name, group in self.groups.items())
        return (
            f"<Rollout of {self.simulation or 'a simulation'}: {self.num_steps} steps, "
            f"{self.num_envs} worlds, {len(self.episodes)} episodes, agents {{{groups}}}, "
            f"{readable_bytes(self.nbytes)}{', interrupted' if self.interrupted else ''}>"
        )
