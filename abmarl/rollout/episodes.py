"""Episodes that ended, and the teams in them."""

from dataclasses import dataclass
from typing import Any

import numpy as np


@dataclass
class Episodes:
    """A table with one row per episode that ended, in the order of their ends.

    Attributes:
        world: int64 [E], the world.
        step: int64 [E], the step of the rollout in which it ended, from 0.
        length: int64 [E], its steps.
        returns: group -> float64 [E], the rewards of all agents of the group together.
        survivors: team -> int64 [E], how many of the team were active at the end, whether they
            ever act or not.
        team_names: team -> what to call it.
    """

    world: np.ndarray
    step: np.ndarray
    length: np.ndarray
    returns: dict[str, np.ndarray]
    survivors: dict[int, np.ndarray]
    team_names: dict[int, str]

    def __len__(self) -> int:
        return len(self.world)


class AliveCurve:
    """Agents alive per team over the steps of an episode, as an ``on_step`` of `collect`.

    Step k of the curve is the mean over all episodes that lasted k steps or more; an episode that
    has ended is no longer counted.

    Args:
        vec: The vectorised simulation that is going to be rolled out.
    """

    def __init__(self, vec: Any) -> None:
        self.vec = vec
        self.age = np.zeros(vec.num_envs, np.int64)
        self.members: dict[int, np.ndarray] = {}

    def __call__(self, step: int, infos: dict) -> None:
        """Count after a reset (step 0) or a step."""
        alive = np.array(self.vec.store.active)
        if step == 0:
            teams = teams_of(self.vec)
            self.members = {int(team): teams == team for team in np.unique(teams)}
            self.total = np.zeros((64, len(self.members)))
            self.episodes = np.zeros(64)
            self.age[:] = 0
            self._count(alive, slice(None))
            return
        ended = np.array(infos["ended"])
        self.age += 1
        restarted = alive
        alive = np.where(ended[:, None], infos["final_active"], alive)
        self._count(alive, slice(None))
        if ended.any():
            # A world that ended is also at the beginning of its next episode.
            self.age[ended] = 0
            self._count(restarted, np.flatnonzero(ended))

    @property
    def mean(self) -> dict[int, np.ndarray]:
        """Mean number of agents alive after k steps: team -> float64 [K]."""
        length = int(np.count_nonzero(self.episodes))
        mean = self.total[:length] / self.episodes[:length, None]
        return {team: mean[:, column] for column, team in enumerate(self.members)}

    @property
    def running(self) -> np.ndarray:
        """Number of episodes that the mean is over, float64 [K]."""
        return self.episodes[: int(np.count_nonzero(self.episodes))]

    def _count(self, alive: np.ndarray, worlds: Any) -> None:
        age = self.age[worlds]
        while age.max(initial=0) >= len(self.episodes):
            self.total = np.concatenate([self.total, np.zeros_like(self.total)])
            self.episodes = np.concatenate([self.episodes, np.zeros_like(self.episodes)])
        size = len(self.episodes)
        self.episodes += np.bincount(age, minlength=size)
        for column, members in enumerate(self.members.values()):
            count = np.count_nonzero(alive[worlds] & members[worlds], axis=1)
            self.total[:, column] += np.bincount(age, weights=count, minlength=size)


def teams_of(vec: Any) -> np.ndarray:
    """Return the team of every agent, int [B, N]."""
    store = vec.store
    return np.broadcast_to(store.teams(), (vec.num_envs, store.num_agents))


def team_names(vec: Any, teams: np.ndarray) -> dict[int, str]:
    """Name each team after the groups of its agents, else after their class.

    Args:
        vec: A vectorised simulation.
        teams: int [B, N].

    Returns:
        team -> name, as ``{1: "red", 2: "blue"}``.
    """
    first = teams[0]
    names: dict[int, list[str]] = {int(team): [] for team in np.unique(teams)}
    grouped = np.zeros(len(first), bool)
    for name, group in vec.groups.items():
        slots = np.asarray(group.slots)
        grouped[slots] = True
        for team in np.unique(first[slots]):
            names[int(team)].append(name)
    agents = list(vec.agents.values())
    for slot in np.flatnonzero(~grouped):
        kind = type(agents[slot]).__name__.removesuffix("Agent").lower() or "agent"
        name = getattr(agents[slot], "group", None) or kind
        if name not in names[int(first[slot])]:
            names[int(first[slot])].append(name)
    return {team: ", ".join(parts) if parts else f"team {team}" for team, parts in names.items()}
