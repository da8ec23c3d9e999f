"""What there is to see of one world at one moment, as arrays, without any drawing library."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from abmarl.render.colors import RGB
from abmarl.render.scenes.appearance import DrawnAgents, Look

_DEFAULT: Any = None  # an array that `Scene.__post_init__` makes


class TeamCount(NamedTuple):
    """One team in the score: its name, the colour of most of its agents, how many are alive."""

    name: str
    color: RGB
    alive: int
    total: int


class Caption(NamedTuple):
    """Words in the cells of a row.

    Attributes:
        row, col: the cell where they begin.
        cols: how many cells they may take.
        words: the text.
    """

    row: int
    col: int
    cols: int
    words: str


@dataclass(frozen=True, eq=False)
class Scene:
    """A snapshot of one world. Its arrays are read-only copies, one entry per agent.

    `of` takes a snapshot of the state alone. What happened since the snapshot before (`attacks`
    and `fading`) is what a `Tracker` adds.

    Attributes:
        rows: height of the grid in cells.
        cols: width of the grid in cells.
        ids: the agents' ids.
        row: int [N]; where it was last where not `alive`.
        col: int [N]; likewise.
        alive: bool [N], in the grid and to be drawn.
        health: float [N], in [0, 1].
        blocking: bool [N], blocks the view of others.
        acting: bool [N], is an agent that acts; by default all are.
        team: int [N].
        look: int [N], index into `looks`.
        looks: the different looks of the agents.
        team_names: team number to name; teams without a name are scenery and are not counted.
        orientation: int [N], 1 left, 2 down, 3 right, 4 up; 0: none.
        outlined: whether teams differ from encodings, so that agents are outlined in the colours
            of their teams.
        attacks: int [K, 2], attacker and target; a target below 0: a miss.
        fading: float [N] in [0, 1], how visible an agent still is that died lately.
        captions: words that stand in the grid.
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
    orientation: np.ndarray = _DEFAULT
    acting: np.ndarray = _DEFAULT
    outlined: bool = False
    attacks: np.ndarray = _DEFAULT
    fading: np.ndarray = _DEFAULT
    captions: tuple[Caption, ...] = ()
    step: int | None = None
    title: str = ""

    def __post_init__(self) -> None:
        if self.orientation is None:
            object.__setattr__(self, "orientation", np.zeros(len(self.ids), np.int8))
        if self.acting is None:
            object.__setattr__(self, "acting", np.ones(len(self.ids), bool))
        if self.attacks is None:
            object.__setattr__(self, "attacks", np.empty((0, 2), np.int64))
        if self.fading is None:
            object.__setattr__(self, "fading", np.zeros(len(self.ids)))
        for name in (
            "row", "col", "alive", "health", "blocking", "team", "look", "orientation", "acting",
            "attacks", "fading",
        ):  # fmt: skip
            array = np.array(getattr(self, name))
            array.setflags(write=False)
            object.__setattr__(self, name, array)

    @classmethod
    def of(
        cls, sim: Any, world: int = 0, *, step: int | None = None, title: str = "",
        drawn: DrawnAgents | None = None,
    ) -> "Scene":  # fmt: skip
        """Take a snapshot.

        Args:
            sim: a grid simulation, a vectorised one, or a wrapper or manager around one.
            world: which world of a vectorised simulation.
            step: number of steps taken, for the score line.
            title: text for the score line.
            drawn: the `DrawnAgents` of the simulation, if there are some already.

        Raises:
            TypeError: `sim` has no grid.
            ValueError: there is no such world, or an agent has an unknown colour.
        """
        drawn = DrawnAgents(sim) if drawn is None else drawn
        store = drawn.store
        if not 0 <= world < store.num_worlds:
            raise ValueError(
                f"world is {world!r}, but there are {store.num_worlds}: "
                f"0 to {store.num_worlds - 1} can be drawn"
            )
        look, looks = drawn.looks()
        position = np.asarray(store.position[world])
        row, col = position[:, 0], position[:, 1]
        # Before the first reset agents are active and have no place yet.
        placed = (row >= 0) & (row < store.rows) & (col >= 0) & (col < store.cols)
        # One row stands for all worlds as long as teams do not change.
        team = np.broadcast_to(store.teams(), store.active.shape)[world]
        orientation: Any = store.orientation[world] if store.has("orientation") else None
        return cls(
            rows=int(store.rows),
            cols=int(store.cols),
            ids=drawn.ids,
            row=row,
            col=col,
            alive=store.active[world] & placed,
            health=store.health[world],
            blocking=drawn.blocking,
            team=team,
            look=look,
            looks=looks,
            team_names=drawn.team_names(np.ascontiguousarray(team)),
            orientation=orientation,
            acting=drawn.acting,
            outlined=not np.array_equal(team, store.traits["encoding"]),
            step=step,
            title=title,
        )

    def team_counts(self) -> list[TeamCount]:
        """Return the score: every team that has a name, in the order of their numbers."""
        counts = []
        for number, name in sorted(self.team_names.items()):
            members = self.team == number
            common = np.bincount(self.look[members], minlength=1)
            color = self.looks[int(common.argmax())].color
            alive = int(np.count_nonzero(self.alive & members))
            counts.append(TeamCount(name, color, alive, int(np.count_nonzero(members))))
        return counts

    def agents_at(self, row: int, col: int) -> list[int]:
        """Return the numbers of the agents that are drawn in a cell, in their order."""
        return np.flatnonzero(self.alive & (self.row == row) & (self.col == col)).tolist()
