"""Who is to be drawn and how: what scenes of one simulation share."""

import math
import operator
from collections import Counter
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from abmarl.render.colors import RGB, rgb
from abmarl.render.scenes.palette import shown_colors
from abmarl.render.scenes.shapes import check_shape

_look_of = operator.attrgetter("render_shape", "render_color", "render_size")


class Look(NamedTuple):
    """How an agent is drawn: matplotlib marker, colour, and area in points squared."""

    shape: str
    color: RGB
    size: float


def grid_of(sim: Any) -> Any | None:
    """The simulation with a grid within wrappers and managers, single or vectorised, or None."""
    inner = sim
    while inner is not None:
        vec = getattr(inner, "vec", None)
        if vec is None and getattr(inner, "store", None) is not None:
            return inner
        inner = getattr(inner, "sim", None) if vec is None else vec
    return None


class Cast:
    """The agents of a grid simulation. What costs time is done once and kept.

    Args:
        sim: a grid simulation, a vectorised one, or a wrapper or manager around one.

    Attributes:
        sim: the simulation with the grid.
        store: its arrays.
        ids: the agents' ids.
        agents: the agents, in the order of the arrays.
        blocking: bool [N], blocks the view of others.
        acting: bool [N], is an agent that acts.

    Raises:
        TypeError: `sim` has no grid.
    """

    def __init__(self, sim: Any):
        self.sim = grid_of(sim)
        if self.sim is None:
            raise TypeError(
                f"{type(sim).__name__} has no grid to draw: a scene is made of a grid world "
                "simulation that has been built, single or vectorised"
            )
        self.store = self.sim.store
        self.ids = tuple(self.store.ids)
        self.agents = [self.sim.agents[name] for name in self.ids]
        self.blocking = np.asarray(self.store.traits["blocking"], dtype=bool)
        self.acting = np.array([hasattr(one, "action_space") for one in self.agents], dtype=bool)
        self._keys: list[tuple] = []
        self._looks: tuple[np.ndarray, tuple[Look, ...]] = np.empty(0, np.intp), ()
        self._teams: tuple[bytes, dict[int, str]] | None = None
        self._groups: dict[str, str] | None = None

    def looks(self) -> tuple[np.ndarray, tuple[Look, ...]]:
        """The looks of the agents, which may have changed.

        Returns:
            int [N], the number of every agent's look, and the different looks.

        Raises:
            ValueError: an agent has an unknown marker or colour, or a size that is none.
            TypeError: an agent's colour is neither text nor a sequence.
        """
        keys = list(map(_look_of, self.agents))
        if not self._keys or not _same(keys, self._keys):
            self._looks, self._keys = self._resolve(keys), keys
        return self._looks

    def group(self, slot: int) -> str | None:
        """The name of an agent's group, if it has one."""
        if self._groups is None:
            self._groups = {
                name: group.name
                for group in (getattr(self.sim, "groups", None) or {}).values()
                for name in group.agent_ids
            }
        return self._groups.get(self.ids[slot]) or getattr(self.agents[slot], "group", None)

    def team_names(self, team: np.ndarray) -> dict[int, str]:
        """What teams are called: like their group when they are one group, else by number.

        Teams in which nobody acts and everybody blocks are walls: they have no name.

        Args:
            team: int [N].
        """
        if self._teams is None or self._teams[0] != team.tobytes():
            members: dict[int, list[int]] = {}
            for slot, number in enumerate(team.tolist()):
                members.setdefault(number, []).append(slot)
            names = {
                number: self._team_name(number, slots)
                for number, slots in members.items()
                if not all(self._is_wall(slot) for slot in slots)
            }
            # A group that is several teams names none of them.
            common = {name for name, count in Counter(names.values()).items() if count > 1}
            names = {
                number: f"team {number}" if name in common else name
                for number, name in names.items()
            }
            self._teams = team.tobytes(), names
        return self._teams[1]

    def _is_wall(self, slot: int) -> bool:
        return bool(self.blocking[slot] and not self.acting[slot])

    def _team_name(self, number: int, slots: list[int]) -> str:
        groups = {self.group(slot) for slot in slots}
        only = groups.pop() if len(groups) == 1 else None
        return only or f"team {number}"

    def _resolve(self, keys: list[tuple]) -> tuple[np.ndarray, tuple[Look, ...]]:
        """Agents share few looks; every different one is resolved once."""
        numbers: dict[tuple, int] = {}
        looks: list[Look] = []
        of_agent = np.empty(len(keys), dtype=np.intp)
        colors = shown_colors(self.agents)
        for slot, ((shape, _, size), color) in enumerate(zip(keys, colors, strict=True)):
            plain = color if isinstance(color, str) or not np.iterable(color) else tuple(color)
            try:
                key = check_shape(shape), plain, size
                number = numbers.get(key)
                if number is None:
                    looks.append(Look(shape, rgb(plain), _area(size)))
                    number = numbers[key] = len(looks) - 1
            except (ValueError, TypeError) as error:
                raise type(error)(f"agent {self.ids[slot]!r}: {error}") from None
            of_agent[slot] = number
        return of_agent, tuple(looks)


def _area(size: Any) -> float:
    try:
        area = float(size)
    except (ValueError, TypeError):
        area = math.nan
    if not 0 < area < math.inf:
        raise ValueError(
            f"render_size is {size!r}, but must be a number of points squared above 0, as 200"
        )
    return area


def _same(keys: Sequence[tuple], others: Sequence[tuple]) -> bool:
    try:
        return keys == others
    except ValueError:  # colours as arrays have no plain answer
        return False
