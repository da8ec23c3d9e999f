"""What there is to see of one world at one moment, as arrays. Knows no drawing library."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from abmarl.render.colors import RGB, rgb


class Look(NamedTuple):
    """How an agent is drawn: matplotlib marker, colour, and area in points squared."""

    shape: str
    color: RGB
    size: float


class Tally(NamedTuple):
    """One team in the score: its name, the colour of most of its agents, and how many live."""

    name: str
    color: RGB
    alive: int
    total: int


@dataclass(frozen=True, eq=False)
class Scene:
    """A snapshot of one world. Its arrays are read-only copies, one entry per agent.

    Attributes:
        rows: height of the grid in cells.
        cols: width of the grid in cells.
        ids: the agents' ids.
        row: int [N]; meaningless where not `alive`.
        col: int [N]; meaningless where not `alive`.
        alive: bool [N], in the grid and to be drawn.
        health: float [N], in [0, 1].
        blocking: bool [N], blocks the view of others.
        team: int [N].
        look: int [N], index into `looks`.
        looks: the different looks of the agents.
        team_names: team number to name; teams without a name are scenery and are not counted.
        step: how many steps the world has taken, or None to leave it out.
        title: a line of text.
    """

    rows: int
    cols: int
    ids: tuple[str, ...]
    row: np.ndarray
    col: np.ndarray
    alive: np.ndarray
    health: np.ndarray
    blocking: np.ndarray
    team: np.ndarray
    look: np.ndarray
    looks: tuple[Look, ...]
    team_names: Mapping[int, str] = field(default_factory=dict)
    step: int | None = None
    title: str = ""

    def __post_init__(self):
        for name in ("row", "col", "alive", "health", "blocking", "team", "look"):
            array = np.array(getattr(self, name))
            array.setflags(write=False)
            object.__setattr__(self, name, array)

    @classmethod
    def of(cls, sim, world: int = 0, *, step: int | None = None, title: str = "") -> "Scene":
        """Take a snapshot.

        Args:
            sim: a grid simulation, a vectorised one, or a wrapper or manager around one.
            world: which world of a vectorised simulation.
            step: number of steps taken, for the score line.
            title: text for the score line.

        Raises:
            TypeError: `sim` has no grid.
            ValueError: there is no such world, or an agent has an unknown colour.
        """
        sim = _with_store(sim)
        store = sim.store
        if not 0 <= world < store.num_worlds:
            raise ValueError(
                f"world is {world!r}, but there are {store.num_worlds}: "
                f"0 to {store.num_worlds - 1} can be drawn"
            )
        agents = [sim.agents[name] for name in store.ids]
        look, looks = _looks(store.ids, agents)
        position = np.asarray(store.position[world])
        row, col = position[:, 0], position[:, 1]
        # Before the first reset agents are active and have no place yet.
        placed = (row >= 0) & (row < store.rows) & (col >= 0) & (col < store.cols)
        # One row stands for all worlds as long as teams do not change.
        team = np.broadcast_to(store.teams(), store.active.shape)[world]
        return cls(
            rows=int(store.rows),
            cols=int(store.cols),
            ids=tuple(store.ids),
            row=row,
            col=col,
            alive=store.active[world] & placed,
            health=store.health[world],
            blocking=np.asarray(store.traits["blocking"], dtype=bool),
            team=team,
            look=look,
            looks=looks,
            team_names=_team_names(sim, agents, team),
            step=step,
            title=title,
        )

    def tallies(self) -> list[Tally]:
        """The score: every team that has a name, in the order of their numbers."""
        lines = []
        for number, name in sorted(self.team_names.items()):
            members = self.team == number
            common = Counter(self.look[members].tolist()).most_common(1)
            color = self.looks[common[0][0]].color if common else (128, 128, 128)
            alive = int(np.count_nonzero(self.alive & members))
            lines.append(Tally(name, color, alive, int(np.count_nonzero(members))))
        return lines


def _with_store(sim):
    inner = sim
    while inner is not None:
        if getattr(inner, "store", None) is not None:
            return inner
        inner = getattr(inner, "sim", None)
    raise TypeError(
        f"{type(sim).__name__} has no grid to draw: a scene is made of a grid world simulation "
        "that has been built, single or vectorised"
    )


def _looks(ids, agents) -> tuple[np.ndarray, tuple[Look, ...]]:
    """Agents share few looks; every different one is resolved once."""
    numbers: dict[tuple, int] = {}
    looks: list[Look] = []
    of_agent = np.empty(len(agents), dtype=np.intp)
    for slot, agent in enumerate(agents):
        color = agent.render_color
        key = (
            agent.render_shape,
            color if isinstance(color, str) else tuple(color),
            agent.render_size,
        )
        number = numbers.get(key)
        if number is None:
            try:
                looks.append(Look(key[0], rgb(key[1]), float(key[2])))
            except ValueError as error:
                raise ValueError(f"agent {ids[slot]!r}: {error}") from None
            number = numbers[key] = len(looks) - 1
        of_agent[slot] = number
    return of_agent, tuple(looks)


def _team_names(sim, agents, team: np.ndarray) -> dict[int, str]:
    """A team is called like its group when it is one group, else by its number.

    Teams in which nobody acts and everybody blocks are walls: they are no part of the score.
    """
    group_of = {
        name: group.name
        for group in (getattr(sim, "groups", None) or {}).values()
        for name in group.agent_ids
    }
    members: dict[int, list] = {}
    for agent, number in zip(agents, team.tolist(), strict=True):
        members.setdefault(number, []).append(agent)
    names = {}
    for number, mates in members.items():
        if all(not hasattr(mate, "action_space") and mate.blocking for mate in mates):
            continue
        groups = {group_of.get(mate.id) or getattr(mate, "group", None) for mate in mates}
        only = groups.pop() if len(groups) == 1 else None
        names[number] = only or f"team {number}"
    return names
