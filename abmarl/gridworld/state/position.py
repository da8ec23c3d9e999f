"""State components that place the agents: anywhere, around a target, or in a maze."""

from collections.abc import Collection
from typing import Any, NoReturn

import numpy as np

from abmarl.gridworld.fields import truth
from abmarl.gridworld.grid import parse_agent
from abmarl.gridworld.registry import register
from abmarl.gridworld.state.base import StateBase
from abmarl.kernels.placement import (
    PASSAGE,
    Placement,
    Surroundings,
    place_agents,
    place_around_target,
)
from abmarl.kernels.program import Call
from abmarl.sim.agents import Agent


@register
class PositionState(StateBase):
    """Places the agents: those with an initial position there, the others at random.

    First come the agents with an initial position, then the others, each in the order of the
    agents. An agent without one gets a random cell among those available to it.

    Args:
        no_overlap_at_reset: Whether agents without an initial position need an empty cell even
            where they could overlap.
        randomize_placement_order: Whether each of the two classes is placed in a fresh random
            order every episode, which matters when cells are scarce.
    """

    rank = 0

    def __init__(
        self,
        no_overlap_at_reset: bool = False,
        randomize_placement_order: bool = False,
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        self.no_overlap_at_reset = truth("no_overlap_at_reset", no_overlap_at_reset)
        self.randomize_placement_order = truth(
            "randomize_placement_order", randomize_placement_order
        )
        store = self.store
        self._order = np.zeros(store.num_agents, store.slot_dtype)
        self._failed = np.full(store.num_worlds, -1, np.int64)
        self._trouble = np.zeros(1, np.int64)

    def calls(self, worlds: np.ndarray) -> list[Call]:
        place = Call(place_agents, self.store.world, worlds, self._placement())
        return [self.store.clearing(worlds), place]

    def _placement(self) -> Placement:
        return Placement(
            start=self.store.start,
            alone=self.no_overlap_at_reset,
            shuffled=self.randomize_placement_order,
            order=self._order,
            failed=self._failed,
            trouble=self._trouble,
        )

    @property
    def may_fail(self) -> bool:
        # With a cell for everyone it does not: initial positions fit always or never.
        store = self.store
        return super().may_fail or store.num_agents > store.rows * store.cols

    def check(self) -> None:
        if self._trouble.item(0):
            self._trouble[0] = 0
            world = int(np.argmax(self._failed >= 0))
            slot = int(self._failed[world])
            self._failed[:] = -1
            self._refuse(world, slot)

    def _refuse(self, world: int, slot: int) -> NoReturn:
        name, store = self.store.ids[slot], self.store
        where = f" of world {store.first_world + world}" if self.grid.replica else ""
        if store.start[slot] > 0:
            row, col = store.padding.unravel(int(store.start[slot]))
            raise ValueError(
                f"Agent {name!r} cannot start at its initial position ({row}, {col}){where}: "
                "it may not overlap with who is there; move one, or add both to overlapping."
            )
        raise ValueError(
            f"No cell of the {store.rows} x {store.cols} grid{where} is left for agent {name!r}; "
            "use a larger grid, fewer agents, or let more of them overlap."
        )


@register
class TargetBarriersFreePlacementState(PositionState):
    """Places a target, then barriers and free agents around it.

    The target comes first, at its initial position or on a random cell that is no other agent's
    initial position unless the two may overlap. Then come the agents with an initial position, then
    the others, each in the order of the agents. Of cells that are equally close the first one in
    reading order is taken, of cells that are equally far the last one.

    Args:
        target_agent: The target, an agent or its id.
        barrier_encodings, free_encodings: The encoding or encodings of the barriers and of the free
            agents, an int or a set. Every agent but the target must be one or the other.
        cluster_barriers: Whether barriers take the free cell closest to the target (Euclidean
            distance), else a random one.
        scatter_free_agents: Whether free agents take the free cell farthest from the target, else
            a random one.
        kwargs: Parameters of ``PositionState``.

    Attributes:
        in_maze: Whether there is a maze, see ``MazePlacementState``.
        spares_barriers: For subclasses: whether barriers that find no cell stay off the grid for
            the episode, not active; else that is an error.
    """

    in_maze = False
    spares_barriers = False

    def __init__(
        self,
        target_agent: Agent | str | None = None,
        barrier_encodings: int | Collection[int] | None = None,
        free_encodings: int | Collection[int] | None = None,
        cluster_barriers: bool = False,
        scatter_free_agents: bool = False,
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        name, store = type(self).__name__, self.store
        if target_agent is None:
            raise ValueError(f"{name} needs a target_agent, an agent or its id.")
        target_id = parse_agent("target_agent", target_agent, self.agents)
        self.target_agent = self.agents[target_id]
        self.cluster_barriers = truth("cluster_barriers", cluster_barriers)
        self.scatter_free_agents = truth("scatter_free_agents", scatter_free_agents)
        self.barrier_encodings = self._encodings("barrier_encodings", barrier_encodings)
        self.free_encodings = self._encodings("free_encodings", free_encodings)
        self._target = store.index[target_id]
        self._check_roles()
        self._barriers = np.isin(store.kinds, list(self.barrier_encodings))
        size = store.rows * store.cols
        sorts = self.cluster_barriers or self.scatter_free_agents
        farthest = (store.rows - 1) ** 2 + (store.cols - 1) ** 2
        self._ground = np.zeros(store.padding.cells if self.in_maze else 1, np.uint8)
        self._frontier = np.zeros(size if self.in_maze else 1, np.int32)
        self._ranks = np.zeros(farthest + 2 if sorts else 2, np.int32)
        self._ranked = np.zeros(size if sorts else 1, np.int32)
        self._cursors = np.zeros(len(store.kinds), np.int64)

    def _encodings(self, name: str, given: Any) -> set[int]:
        given = () if given is None else given
        given = given if isinstance(given, set | frozenset | list | tuple) else (given,)
        kinds = self.store.kinds.tolist()
        for value in given:
            if isinstance(value, bool) or not isinstance(value, int | np.integer):
                raise TypeError(f"{name} must be an encoding or a set of them, got {value!r}.")
            if value not in kinds:
                raise ValueError(
                    f"{name} names encoding {value}, which no agent has; "
                    f"the agents' encodings are {kinds}."
                )
        return {int(value) for value in given}

    def _check_roles(self) -> None:
        both = self.barrier_encodings & self.free_encodings
        if both:
            raise ValueError(
                f"Encoding {min(both)} is in barrier_encodings and in free_encodings; "
                "agents are one or the other."
            )
        known = self.barrier_encodings | self.free_encodings
        for slot, encoding in enumerate(self.store.traits["encoding"].tolist()):
            if slot != self._target and encoding not in known:
                raise ValueError(
                    f"Agent {self.store.ids[slot]!r} has encoding {encoding}, which is neither in "
                    "barrier_encodings nor in free_encodings; add it to one of them."
                )

    def calls(self, worlds: np.ndarray) -> list[Call]:
        around = Surroundings(
            target=self._target,
            barriers=self._barriers,
            clustered=self.cluster_barriers,
            scattered=self.scatter_free_agents,
            in_maze=self.in_maze,
            spare=self.spares_barriers,
            ground=self._ground,
            frontier=self._frontier,
            ranks=self._ranks,
            ranked=self._ranked,
            cursors=self._cursors,
        )
        placement = self._placement()
        place = Call(place_around_target, self.store.world, worlds, placement, around)
        return [self.store.clearing(worlds), place]


@register
class MazePlacementState(TargetBarriersFreePlacementState):
    """Makes a maze around a target, with the barriers on its walls and free agents on its passages.

    The maze grows from the target by a randomised version of Prim's algorithm: passages are one
    cell wide and all connected to the target, and no 2 x 2 cells are all open. Agents with an
    initial position get it whatever is there; parameters and order are those of
    ``TargetBarriersFreePlacementState``. Where a maze has too few walls or passages for everyone,
    up to 32 are tried. Two of five cells are walls, more or less.
    """

    in_maze = True

    @property
    def passages(self) -> np.ndarray:
        """The passages of the maze that was made last, bool [rows, cols]."""
        store, pad = self.store, self.store.padding.pad
        ground = self._ground.reshape(-1, store.padding.width)
        return ground[pad : pad + store.rows, pad : pad + store.cols] == PASSAGE

    @property
    def may_fail(self) -> bool:
        """Not where there is room for everyone.

        There is a wall in every square of 2 x 2 cells. Passages can be few where a maze encloses
        itself, but on less than a third of the cells in at most 2 of 100,000 mazes (measured, on
        7 x 7 cells; in none on other grids): 32 of those in a row do not happen.
        """
        store = self.store
        others = np.arange(store.num_agents) != self._target
        fixed = (store.start > 0) & others
        barrier = self._barriers[store.traits["kind"]] & others & ~fixed
        taken = np.count_nonzero(fixed) + 1
        num_barriers = np.count_nonzero(barrier)
        num_free = np.count_nonzero(others & ~fixed) - num_barriers
        least_walls = (store.rows // 2) * (store.cols // 2)
        least_passages = store.rows * store.cols // 3
        roomy = (num_barriers == 0 or num_barriers + taken <= least_walls) and (
            num_free == 0 or num_free + taken <= least_passages
        )
        return super().may_fail or not roomy

    def _refuse(self, world: int, slot: int) -> NoReturn:
        store = self.store
        if store.start[slot] > 0 or slot == self._target:
            super()._refuse(world, slot)
        barrier = self._barriers[store.traits["kind"][slot]]
        where = f" of world {store.first_world + world}" if self.grid.replica else ""
        raise ValueError(
            f"No {'wall' if barrier else 'passage'} of the {store.rows} x {store.cols} maze{where} "
            f"is left for agent {store.ids[slot]!r}; use a larger grid, "
            f"fewer {'barriers' if barrier else 'free agents'}, or let more of them overlap."
        )
