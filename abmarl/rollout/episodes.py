"""What became of the episodes of a rollout."""

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

    def arrays(self) -> list[tuple[tuple[str, ...], np.ndarray]]:
        """Every array with its path."""
        return [
            (("episodes", "world"), self.world),
            (("episodes", "step"), self.step),
            (("episodes", "length"), self.length),
            *((("episodes", "return", group), array) for group, array in self.returns.items()),
            *((("episodes", "survivors", str(t)), array) for t, array in self.survivors.items()),
        ]


class GrowingColumn:
    """A column of unknown length; a long run ends too many episodes for a list of arrays."""

    def __init__(self, dtype: type = np.int64) -> None:
        self.rows = np.empty(1024, dtype)
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
        """The first values as an array of their own."""
        return self.rows[:count].copy()


class EpisodeSink:
    """Fills the table while a rollout runs."""

    def __init__(self, vec: Any) -> None:
        self.vec = vec
        self.world, self.step, self.length = GrowingColumn(), GrowingColumn(), GrowingColumn()
        self.returns = {name: GrowingColumn(np.float64) for name in vec.groups}

    def start(self, observations: dict, infos: dict) -> None:
        """Learn the teams, which are there after the first reset."""
        # Kept as a copy: what a world shows after its end are the teams of its next episode.
        self.teams = np.array(teams_of(self.vec))
        self.survivors = {int(team): GrowingColumn() for team in np.unique(self.teams)}

    def before(self, step: int, infos: dict) -> None:
        """Nothing to do before a step."""

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
        """The table of the first ``steps`` steps."""
        count = int(np.count_nonzero(self.step.rows[: self.step.length] < steps))
        return Episodes(
            world=self.world.first(count),
            step=self.step.first(count),
            length=self.length.first(count),
            returns={name: column.first(count) for name, column in self.returns.items()},
            survivors={team: column.first(count) for team, column in self.survivors.items()},
            team_names=team_names(self.vec, self.teams),
        )


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
        """team -> float64 [K], mean number of agents alive after k steps."""
        length = int(np.count_nonzero(self.episodes))
        mean = self.total[:length] / self.episodes[:length, None]
        return {team: mean[:, column] for column, team in enumerate(self.members)}

    @property
    def running(self) -> np.ndarray:
        """float64 [K], how many episodes the mean is over."""
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
    """The team of every agent, int [B, N]."""
    store = vec.store
    return np.broadcast_to(store.teams(), (vec.num_envs, store.num_agents))


def team_names(vec: Any, teams: np.ndarray) -> dict[int, str]:
    """What to call each team: after the groups of its agents, else after their class.

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
