"""Games in the window of a viewer: people's keys and clicks as actions of agents.

`PlayShow` shows a game and goes on when the orders are there, `Keyboard` makes orders of keys and
clicks, `GameStatus` is the line under the map.
"""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from abmarl.render.colors import RGB
from abmarl.render.drawing.agents import PERSON_COLORS, Highlight
from abmarl.render.drawing.library import pygame
from abmarl.render.drawing.text import (
    FAINT_INK,
    INK,
    NAME_LENGTHS,
    brief_name,
    shortened,
    text_image,
)
from abmarl.render.viewer.canvas import Widget
from abmarl.render.viewer.controls import InputHandler
from abmarl.render.viewer.shows import SimulationShow
from abmarl.rollout.game import Game
from abmarl.rollout.pilot import Order

_ARROWS = {"left": (0, -1), "down": (1, 0), "right": (0, 1), "up": (-1, 0)}
_LETTERS = {"a": (0, -1), "s": (1, 0), "d": (0, 1), "w": (-1, 0)}
_CORNERS = {"q": (-1, -1), "e": (-1, 1), "z": (1, -1), "c": (1, 1)}
_ARROW_CORNERS = {"home": (-1, -1), "page up": (-1, 1), "end": (1, -1), "page down": (1, 1)}
# Of the status line.
_GROUND, _CALL, _NOTE = (244, 242, 237), (190, 70, 20), (176, 40, 40)
_PAD, _GAP, _DOT = 12, 18, 9
_LETTER_HEIGHT = 15


class PlayShow(SimulationShow):
    """Shows a `Game`, and goes on when the orders are there.

    Turn-based, it waits until every agent that people act for has its order. In real time, once
    it is begun, and when none of these agents acts any more, it goes on at the pace of the viewer.

    Args:
        game: the game.
        real_time: whether it goes on without waiting for orders.
        follows: whether the panel shows the agent that is to get its order next.

    Attributes:
        game: the game.
        keyboard: the `Keyboard` that gives the orders, which sets it.
        people: for every person the ids of its agents.
        started: whether a game in real time has been begun.
        note: what there is to say about the last key or step.
    """

    def __init__(self, game: Game, real_time: bool = False, follows: bool = False) -> None:
        super().__init__(game.vec)
        self.game, self.real_time, self.follows = game, real_time, follows
        self.keyboard: Keyboard | None = None
        self.people = [list(game.pilots)]
        self.started, self.note = not real_time, ""
        self._orders: dict[str, Order] = {}

    @property
    def can_reset(self) -> bool:  # type: ignore[override]
        """Whether the game is over, so that another one can be started."""
        return self.game.over

    @property
    def waits(self) -> bool:  # type: ignore[override]
        """Whether it is up to people to go on."""
        if self.game.over or not self.started:
            return True
        return not self.real_time and bool(self.asked())

    def begin(self) -> None:
        """Let a game in real time go on."""
        self.started, self.note = True, ""

    def acting(self) -> list[str]:
        """Return the agents of people that act."""
        return [name for name in self.game.pilots if self.game.acts(name)]

    def asked(self) -> list[str]:
        """Return the agents whose orders are missing."""
        return [name for name in self.acting() if name not in self._orders]

    def turns(self) -> list[str]:
        """Return whose turn it is: of every person the first agent whose order is missing."""
        asked = self.asked()
        mine = ([name for name in agents if name in asked] for agents in self.people)
        return [names[0] for names in mine if names]

    def order(self, agent_id: str, order: Order) -> None:
        """Take an order, in the place of an earlier one; the last one missing makes the step."""
        self.note = f"another order for {agent_id}" if agent_id in self._orders else ""
        self._orders[agent_id] = order
        if not self.asked():
            self._play(self._orders)
        self._follow()

    def step(self) -> bool:
        """Do a step with the keys of now."""
        orders = self.keyboard.orders() if self.keyboard is not None else {}
        self._play({name: one for name, one in orders.items() if self.game.acts(name)})
        self._follow()
        return True

    def reset(self) -> None:
        """Start another game, if this one is over."""
        if self.game.over:
            self.game.start()
            self._orders = {}
            self.started, self.note = not self.real_time, ""
            if self.keyboard is not None:
                self.keyboard.clear()
            self.look()
            self._follow()

    def _play(self, orders: dict[str, Order]) -> None:
        self.game.play(orders)
        self._orders = {}
        self.look()
        used = [name for name, order in orders.items() if order.use]
        if used or not self.real_time:  # in real time a note must stand for longer than a step
            self.note = self._missed(used)

    def _missed(self, used: list[str]) -> str:
        """Note who attacked in vain."""
        hits = {attacker for attacker, target in self.scene(0).attacks.tolist() if target >= 0}
        pilots = self.game.pilots
        vain = [name for name in used if pilots[name].attacks and pilots[name].slot not in hits]
        if not vain:
            return ""
        who = f"{len(vain)} agents" if len(vain) > 2 else " and ".join(vain)
        return f"{who} hit nobody"

    def _follow(self) -> None:
        viewer = None if self.keyboard is None else self.keyboard.viewer
        if self.follows and viewer is not None:
            acting = self.turns() or self.acting()
            if acting:
                viewer.chosen = self.game.pilots[acting[0]].slot


class KeySet(NamedTuple):
    """The keys of one person.

    Attributes:
        moves: key -> rows and columns.
        diagonal_moves: likewise, for agents that move diagonally.
        use: the key that attacks.
        wait: the key that does nothing for a step.
        help: the keys in words: of moving, of moving diagonally, of attacking, of waiting.
    """

    moves: dict[str, tuple[int, int]]
    diagonal_moves: dict[str, tuple[int, int]]
    use: str
    wait: str
    help: tuple[str, str, str, str]


_ALL_KEYS = KeySet(
    {**_ARROWS, **_LETTERS}, _CORNERS, "space", "x", ("arrows  w a s d", "q e z c", "space", "x")
)
_LEFT_KEYS = KeySet(_LETTERS, _CORNERS, "space", "x", ("w a s d", "q e z c", "space", "x"))
_RIGHT_KEYS = KeySet(
    _ARROWS, _ARROW_CORNERS, "return", "/",
    ("arrows", "home end page up down", "enter", "/"),
)  # fmt: skip


class Keyboard(InputHandler):
    """Gives the orders of one or two people to a game.

    When the game waits for them, an order is given by a key. In real time the keys that are held
    count, together with those that were pressed since the last step.

    Args:
        show: the game.
        people: for every person the agents that it plays.
    """

    def __init__(self, show: PlayShow, people: Sequence[Sequence[str]]) -> None:
        self.show = show
        sets = [_ALL_KEYS] if len(people) == 1 else [_LEFT_KEYS, _RIGHT_KEYS]
        self._people = list(zip(people, sets, strict=True))
        self._held: dict[str, None] = {}  # in the order in which they were pressed
        self._tapped: dict[str, None] = {}
        self._clicked: tuple[int, int] | None = None
        self.help_lines = [
            line for agents, keys in self._people for line in self._help(agents, keys)
        ]
        self.reserved_keys = frozenset(
            name
            for _, keys in self._people
            for name in (*keys.moves, *keys.diagonal_moves, keys.use, keys.wait)
        )
        show.people = [list(agents) for agents in people]
        show.keyboard = self

    def on_key(self, name: str, down: bool) -> bool:
        """Begin the game, take an order, or remember what is held."""
        if name not in self.reserved_keys:
            return False
        if not down:
            self._held.pop(name, None)
        elif not self.show.started:
            self.show.begin()
        else:
            fresh = name not in self._held
            self._held[name] = self._tapped[name] = None
            if self.show.waits:
                self._tapped.clear()
                self._order_by(name, fresh)
        return True

    def on_cell(self, row: int, col: int, button: int) -> bool:
        """Let those who can aim at the cell attack it."""
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
            # Others may be chosen, but an empty cell is nothing to look at.
            return not self.show.scene(0).agents_at(row, col) and self.on_outside(button)
        if self.show.waits:
            name = next((one for one in able if one in self.show.asked()), able[0])
            self.show.order(name, Order(use=True, cell=(row, col)))
        else:
            self._clicked = row, col
        return True

    def on_outside(self, button: int) -> bool:
        """Keep the panel of a player's agent open."""
        slots = {self.show.game.pilots[name].slot for name in self.show.acting()}
        return button == 1 and self.viewer is not None and self.viewer.chosen in slots

    def highlights(self) -> list[Highlight]:
        """Return frames for the agents of every person, with a number where there are two."""
        several = len(self._people) > 1
        return [
            Highlight(self.show.game.pilots[name].slot, color, str(number) if several else "")
            for number, ((agents, _), color) in enumerate(zip(self._people, PERSON_COLORS), 1)  # noqa: B905
            for name in agents
        ]

    def orders(self) -> dict[str, Order]:
        """Return what everybody shall do in this step, by the keys of now; in real time."""
        pressed = [*self._held, *(name for name in self._tapped if name not in self._held)]
        cell, found = self._clicked, {}
        for agents, keys in self._people:
            for name in agents:
                # A click means those who can aim at the cell, nobody else.
                aims = cell is not None and self.show.game.pilots[name].reaches(cell)
                found[name] = Order(
                    self._move(name, keys, pressed),
                    aims or keys.use in pressed,
                    cell if aims else None,
                )
        self._tapped.clear()
        self._clicked = None
        return found

    def clear(self) -> None:
        """Forget what was pressed."""
        self._held.clear()
        self._tapped.clear()
        self._clicked = None

    def _order_by(self, name: str, fresh: bool) -> None:
        for agents, keys in self._people:
            # Who has given all orders, and waits for somebody else, may change the last one.
            mine = [one for one in agents if one in self.show.acting()]
            asked = [one for one in mine if one in self.show.asked()] or mine[-1:]
            if not asked:
                continue
            if name == keys.wait:
                self.show.order(asked[0], Order())
            elif name == keys.use:
                # Held down it would attack again and again; a held move goes on.
                if fresh:
                    self.show.order(asked[0], Order(use=True))
            elif name in keys.moves or name in keys.diagonal_moves:
                move = self._move(asked[0], keys, [name])
                if move != (0, 0):
                    self.show.order(asked[0], Order(move))

    def _move(self, agent: str, keys: KeySet, pressed: Sequence[str]) -> tuple[int, int]:
        """Return where an agent is to go: two keys make a diagonal for one that moves like that."""
        pilot = self.show.game.pilots[agent]
        if not pilot.moves:
            return 0, 0
        if not pilot.diagonal:
            moves = [keys.moves[name] for name in pressed if name in keys.moves]
            return moves[-1] if moves else (0, 0)
        every = {**keys.moves, **keys.diagonal_moves}
        moves = [every[name] for name in pressed if name in every]
        down, right = (sum(move[k] for move in moves) for k in (0, 1))
        return min(max(down, -1), 1), min(max(right, -1), 1)

    def _help(self, agents: Sequence[str], keys: KeySet) -> Iterator[tuple[str, str]]:
        pilots = [self.show.game.pilots[name] for name in agents]
        who = "" if len(self._people) == 1 else f"{agents[0]}: "
        move, diagonal, use, wait = keys.help
        if any(pilot.moves for pilot in pilots):
            yield move, f"{who}move"
        if any(pilot.diagonal for pilot in pilots):
            yield diagonal, f"{who}move diagonally"
        if any(pilot.uses for pilot in pilots):
            aims = any(pilot.aims for pilot in pilots)
            attacks = any(pilot.attacks for pilot in pilots)
            yield use, f"{who}{'attack the nearest' if aims else 'attack' if attacks else 'use'}"
            if aims:
                yield "click", f"{who}attack a cell"
                yield "right click", "choose an agent"
        yield wait, f"{who}wait for a step"


class GameStatus(Widget):
    """The line under the map: whose turn it is, what has happened, and the scores."""

    height = 34

    def __init__(self, show: PlayShow) -> None:
        self.show = show

    def draw(self, surface: pygame.Surface) -> None:
        surface.fill(_GROUND)
        middle, right = self.height // 2, surface.get_width() - _PAD
        call, color, note, scores = self._fitted(right - _PAD)
        for name, owner in reversed(scores):
            label = text_image(name, _LETTER_HEIGHT, INK)
            right -= label.get_width()
            surface.blit(label, (right, middle - label.get_height() // 2))
            right -= _DOT + 4
            place = pygame.Rect(right, middle - _DOT // 2, _DOT, _DOT)
            pygame.draw.rect(surface, owner, place, 2, border_radius=2)
            right -= _GAP
        left = _PAD
        for words, ink in ((call, color), (note, _NOTE)):
            if words and right > left:
                words = shortened(words, _LETTER_HEIGHT, right - left)
                label = text_image(words, _LETTER_HEIGHT, ink)
                surface.blit(label, (left, middle - label.get_height() // 2))
                left += label.get_width() + _GAP

    def _fitted(self, room: int) -> tuple[str, RGB, str, list[tuple[str, RGB]]]:
        """Return what to write, with names as short as need be for all of it to fit."""
        for most in NAME_LENGTHS:
            call, color = self._call(most)
            note, scores = self._brief_note(most), self._scores(most)
            words = [call, note, *(score for score, _ in scores)]
            wide = sum(text_image(w, _LETTER_HEIGHT, INK).get_width() + _GAP for w in words if w)
            if wide + len(scores) * (_DOT + 4) - _GAP <= room:
                break
        return call, color, note, scores

    def _call(self, most: int) -> tuple[str, RGB]:
        """Return whose turn it is, or what to do, and the colour of that."""
        show = self.show
        if show.game.over:
            return f"game over, {self._left(most)}  -  r: another one, esc: end", _CALL
        acting = show.acting()
        if not acting:
            return "you are out  -  + faster, p: pause, esc: end", FAINT_INK
        if not show.started:
            return "press space or a key that moves to start", _CALL
        if show.real_time:
            return _listed(acting, most), INK
        asked = show.asked()
        done = [name for name in acting if name not in asked]
        call = f"{_listed(show.turns(), most)}: your move"
        return f"{call}  -  ordered: {_listed(done, most)}" if done else call, INK

    def _left(self, most: int) -> str:
        """Return which groups are left, with how many agents."""
        vec = self.show.game.vec
        counts = {
            name: (int(vec.store.active[0, group.slots].sum()), len(group.slots))
            for name, group in vec.groups.items()
        }
        left = [
            f"{brief_name(name, most)} ({alive} of {total})"
            for name, (alive, total) in counts.items()
            if alive
        ]
        if not left:
            return "nobody is left"
        if len(left) > 3:
            return f"{len(left)} groups are left"
        return f"left: {', '.join(left)}"

    def _scores(self, most: int) -> list[tuple[str, RGB]]:
        """Return the returns so far, each with the colour of the person whose they are."""
        game, people = self.show.game, self.show.people
        found = []
        for number, names in enumerate(people, 1):
            if len(names) > 2:
                group = game.pilots[names[0]].group
                lines = [f"{brief_name(group, most)} {game.scores()[group]:.2f}"]
            else:
                lines = [f"{brief_name(one, most)} {game.score(one):.2f}" for one in names]
            color = PERSON_COLORS[number - 1]
            found += [(f"{number}: {line}" if len(people) > 1 else line, color) for line in lines]
        return found

    def _brief_note(self, most: int) -> str:
        note = self.show.note
        for name in self.show.game.pilots:
            note = note.replace(name, brief_name(name, most)) if len(name) > most else note
        return note


def _listed(names: list[str], most: int) -> str:
    short = [brief_name(name, most) for name in names]
    if len(short) > 3:
        return f"{short[0]} and {len(short) - 1} more"
    return " and ".join(short)
