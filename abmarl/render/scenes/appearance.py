"""How agents look: their markers and colours, their groups and teams by name."""

import math
import operator
from collections import Counter
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from abmarl.render.colors import PALETTE, RGB, rgb

# The markers that agents may be drawn as, by matplotlib's names.
SHAPES = (
    "o", ".", ",", "s", "^", ">", "v", "<", "D", "d", "p", "h", "H", "8", "*", "P", "X",
    "+", "x", "|", "_", "1", "2", "3", "4",
)  # fmt: skip
LONGEST_TEXT = 4
_DEFAULT_COLOR = "gray"  # of `render_color`

_appearance_of = operator.attrgetter("render_shape", "render_color", "render_size")


class Look(NamedTuple):
    """How an agent is drawn: matplotlib marker, colour, and area in points squared."""

    shape: str
    color: RGB
    size: float


def marker_text(shape: str) -> str | None:
    """Return what stands between the dollars of a marker such as ``"$R$"``, or None."""
    inner = shape[1:-1].strip()
    short = 0 < len(inner) <= LONGEST_TEXT and inner.isprintable()
    framed = len(shape) > 2 and shape[0] == shape[-1] == "$"
    return inner if framed and short and not set(inner) & set("$\\^_{}") else None


def check_shape(shape: Any) -> str:
    """Return the marker itself.

    Raises:
        ValueError: it cannot be drawn.
    """
    if isinstance(shape, str) and (shape in SHAPES or marker_text(shape)):
        return shape
    raise ValueError(
        f"unknown render_shape {shape!r}: known are {' '.join(SHAPES)}, and up to {LONGEST_TEXT} "
        "letters between dollars, as in '$R$'"
    )


def drawn_colors(agents: Sequence[Any]) -> list[Any]:
    """Return the colour in which each agent of a grid simulation is drawn.

    That is its `render_color`. Where all agents have the default one and encodings differ, every
    encoding gets a colour of the palette, so that they can be told apart; agents that neither act
    nor let others look through stay gray.
    """
    colors = [agent.render_color for agent in agents]
    if not all(isinstance(color, str) and color == _DEFAULT_COLOR for color in colors):
        return colors
    kinds = sorted({agent.encoding for agent in agents if not _is_scenery(agent)})
    if len(kinds) < 2:
        return colors
    of_kind = {kind: PALETTE[number % len(PALETTE)] for number, kind in enumerate(kinds)}
    return [_DEFAULT_COLOR if _is_scenery(agent) else of_kind[agent.encoding] for agent in agents]


def _is_scenery(agent: Any) -> bool:
    return bool(agent.blocking) and not hasattr(agent, "action_space")


def grid_of(sim: Any) -> Any:
    """Return the simulation with a grid within wrappers and managers, or None."""
    inner = sim
    while inner is not None:
        vec = getattr(inner, "vec", None)
        if vec is None and getattr(inner, "store", None) is not None:
            return inner
        inner = getattr(inner, "sim", None) if vec is None else vec
    return None


class DrawnAgents:
    """The agents of a grid simulation as all its scenes show them, resolved once and cached.

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

    def __init__(self, sim: Any) -> None:
        self.sim: Any = grid_of(sim)
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
        """Return the looks of the agents, which may have changed.

        Returns:
            int [N], the number of every agent's look, and the different looks.

        Raises:
            ValueError: an agent has an unknown marker or colour, or a size that is not a number
                above 0.
            TypeError: an agent's colour is neither text nor a sequence.
        """
        keys = list(map(_appearance_of, self.agents))
        if not self._keys or not _equal(keys, self._keys):
            self._looks, self._keys = self._resolve(keys), keys
        return self._looks

    def group(self, slot: int) -> str | None:
        """Return the name of an agent's group, if it has one."""
        if self._groups is None:
            self._groups = {
                name: group.name
                for group in (getattr(self.sim, "groups", None) or {}).values()
                for name in group.agent_ids
            }
        return self._groups.get(self.ids[slot]) or getattr(self.agents[slot], "group", None)

    def team_names(self, team: np.ndarray) -> dict[int, str]:
        """Return the names of teams: of their group where they are one group, else a number.

        Teams in which nobody acts and everybody blocks are walls: they have no name.

        Args:
            team: int [N].
        """
        if self._teams is None or self._teams[0] != team.tobytes():
            wall = self.blocking & ~self.acting
            names = {}
            for number in dict.fromkeys(team.tolist()):
                slots = np.flatnonzero(team == number)
                if not wall[slots].all():
                    groups = {self.group(slot) for slot in slots.tolist()}
                    only = groups.pop() if len(groups) == 1 else None
                    names[number] = only or f"team {number}"
            # A group that is several teams names none of them.
            common = {name for name, count in Counter(names.values()).items() if count > 1}
            names = {
                number: f"team {number}" if name in common else name
                for number, name in names.items()
            }
            self._teams = team.tobytes(), names
        return self._teams[1]

    def _resolve(self, keys: list[tuple]) -> tuple[np.ndarray, tuple[Look, ...]]:
        """Resolve every different look once: agents share few."""
        numbers: dict[tuple, int] = {}
        looks: list[Look] = []
        of_agent = np.empty(len(keys), dtype=np.intp)
        colors = drawn_colors(self.agents)
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


def _equal(keys: Sequence[tuple], others: Sequence[tuple]) -> bool:
    try:
        return keys == others
    except ValueError:  # comparing colours that are arrays gives no single truth value
        return False
