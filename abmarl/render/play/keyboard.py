"""Keys and clicks of people who play, as hands of a `Viewer`."""

from collections.abc import Sequence
from typing import NamedTuple

from abmarl.render.drawing.marks import PERSON_COLORS, Mark
from abmarl.render.play.show import PlayShow
from abmarl.rollout.pilot import Order

_ARROWS = {"left": (0, -1), "down": (1, 0), "right": (0, 1), "up": (-1, 0)}
_LETTERS = {"a": (0, -1), "s": (1, 0), "d": (0, 1), "w": (-1, 0)}
_CORNERS = {"q": (-1, -1), "e": (-1, 1), "z": (1, -1), "c": (1, 1)}
_ARROW_CORNERS = {"home": (-1, -1), "page up": (-1, 1), "end": (1, -1), "page down": (1, 1)}


class Keys(NamedTuple):
    """The keys of one person.

    Attributes:
        ways: key -> rows and columns.
        corners: likewise, for agents that move diagonally.
        use: the key that attacks.
        wait: the key that does nothing for a step.
        shown: the keys in words: of moving, of moving diagonally, of attacking, of waiting.
    """

    ways: dict[str, tuple[int, int]]
    corners: dict[str, tuple[int, int]]
    use: str
    wait: str
    shown: tuple[str, str, str, str]


ALL_KEYS = Keys(
    {**_ARROWS, **_LETTERS}, _CORNERS, "space", "x", ("arrows  w a s d", "q e z c", "space", "x")
)
LEFT_KEYS = Keys(_LETTERS, _CORNERS, "space", "x", ("w a s d", "q e z c", "space", "x"))
RIGHT_KEYS = Keys(
    _ARROWS, _ARROW_CORNERS, "return", "/",
    ("arrows", "home end page up down", "enter", "/"),
)  # fmt: skip


class Keyboard:
    """Gives the orders of one or two people to a game.

    When the game waits for them, an order is given by a key. In real time the keys that are held
    count, together with those that were pressed since the last step.

    Args:
        show: the game.
        people: for every person the agents that it plays.

    Attributes:
        keys: what the keys do, for the help of the viewer.
        taken: names of the keys.
    """

    def __init__(self, show: PlayShow, people: Sequence[Sequence[str]]):
        self.show = show
        sets = [ALL_KEYS] if len(people) == 1 else [LEFT_KEYS, RIGHT_KEYS]
        self._people = list(zip(people, sets, strict=True))
        self._held: dict[str, None] = {}  # in the order in which they were pressed
        self._tapped: dict[str, None] = {}
        self._clicked: tuple[int, int] | None = None
        show.people = [list(agents) for agents in people]
        self.keys = [line for agents, keys in self._people for line in self._help(agents, keys)]
        self.taken = frozenset(
            name
            for _, keys in self._people
            for name in (*keys.ways, *keys.corners, keys.use, keys.wait)
        )
        show.keyboard = self

    def key(self, name: str, down: bool) -> bool:
        """A key was pressed or let go."""
        if name not in self.taken:
            return False
        if not down:
            self._held.pop(name, None)
            return True
        if not self.show.started:
            self.show.begin()
            return True
        fresh = name not in self._held
        self._held[name] = self._tapped[name] = None
        if self.show.waits:
            self._tapped.clear()
            self._order_by(name, fresh)
        return True

    def cell(self, row: int, col: int, button: int) -> bool:
        """A cell was clicked at: those who can aim at it attack it."""
        acting = self.show.acting()
        if button != 1 or not acting:
            return False
        if not self.show.started:
            self.show.begin()
            return True
        pilots = self.show.game.pilots
        able = [name for name in acting if pilots[name].reaches((row, col))]
        if not able:
            if any(pilots[name].aims for name in acting):
                self.show.note = "out of reach"
                return True
            # Who looks elsewhere may do so, but an empty cell is nothing to look at.
            return not self.show.scene(0).agents_at(row, col) and self.beside(button)
        if self.show.waits:
            name = next((one for one in able if one in self.show.asked()), able[0])
            self.show.order(name, Order(use=True, cell=(row, col)))
        else:
            self._clicked = row, col
        return True

    def beside(self, button: int) -> bool:
        """Somebody clicked where nothing is: the panel of who plays stays open."""
        acting = self.show.acting()
        slots = {self.show.game.pilots[name].slot for name in acting}
        return button == 1 and self.show.viewer is not None and self.show.viewer.chosen in slots

    def marks(self) -> list[Mark]:
        """Frames for the agents of every person, with a number where there are two."""
        several = len(self._people) > 1
        return [
            Mark(self.show.game.pilots[name].slot, color, str(number) if several else "")
            for number, ((agents, _), color) in enumerate(zip(self._people, PERSON_COLORS), 1)  # noqa: B905
            for name in agents
        ]

    def orders(self) -> dict[str, Order]:
        """What everybody shall do in this step, by the keys of now; in real time."""
        pressed = [*self._held, *(name for name in self._tapped if name not in self._held)]
        cell, found = self._clicked, {}
        for agents, keys in self._people:
            for name in agents:
                way = self._way(name, keys, pressed)
                # A click means those who can aim at the cell, nobody else.
                aims = cell is not None and self.show.game.pilots[name].reaches(cell)
                found[name] = Order(way, aims or keys.use in pressed, cell if aims else None)
        self._tapped.clear()
        self._clicked = None
        return found

    def let_go(self) -> None:
        """Forget what was pressed."""
        self._held.clear()
        self._tapped.clear()
        self._clicked = None

    def _order_by(self, name: str, fresh: bool) -> None:
        for agents, keys in self._people:
            # Who has given all orders, and waits for somebody else, may give the last one anew.
            mine = [one for one in agents if one in self.show.acting()]
            asked = [one for one in mine if one in self.show.asked()] or mine[-1:]
            if not asked:
                continue
            if name == keys.wait:
                self.show.order(asked[0], Order())
            elif name == keys.use:
                # Held down it would attack again and again; a held way walks on.
                if fresh:
                    self.show.order(asked[0], Order(use=True))
            elif name in keys.ways or name in keys.corners:
                way = self._way(asked[0], keys, [name])
                if way != (0, 0):
                    self.show.order(asked[0], Order(way))

    def _way(self, agent: str, keys: Keys, pressed: Sequence[str]) -> tuple[int, int]:
        """Where an agent is to go: keys together make a diagonal where it can move like that."""
        pilot = self.show.game.pilots[agent]
        if not pilot.moves:
            return 0, 0
        if not pilot.diagonal:
            ways = [keys.ways[name] for name in pressed if name in keys.ways]
            return ways[-1] if ways else (0, 0)
        every = {**keys.ways, **keys.corners}
        ways = [every[name] for name in pressed if name in every]
        down, right = (sum(way[k] for way in ways) for k in (0, 1))
        return min(max(down, -1), 1), min(max(right, -1), 1)

    def _help(self, agents: Sequence[str], keys: Keys) -> list[tuple[str, str]]:
        pilots = [self.show.game.pilots[name] for name in agents]
        who = "" if len(self._people) == 1 else f"{agents[0]}: "
        move, corner, use, wait = keys.shown
        lines = []
        if any(pilot.moves for pilot in pilots):
            lines.append((move, f"{who}move"))
        if any(pilot.diagonal for pilot in pilots):
            lines.append((corner, f"{who}move diagonally"))
        if any(pilot.uses for pilot in pilots):
            aims = any(pilot.aims for pilot in pilots)
            attacks = any(pilot.attacks for pilot in pilots)
            what = "attack the nearest" if aims else "attack" if attacks else "use"
            lines.append((use, f"{who}{what}"))
            if aims:
                lines.append(("click", f"{who}attack a cell"))
                lines.append(("right click", "choose an agent"))
        return [*lines, (wait, f"{who}wait for a step")]
