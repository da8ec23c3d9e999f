"""A game in a window: what is shown of it, and the line under the map."""

from typing import Any

from abmarl.extras import load
from abmarl.render.drawing.sprites import FAINT_INK, INK, text
from abmarl.render.viewer.shows import SimulationShow
from abmarl.rollout.game import Game
from abmarl.rollout.pilot import Order

pygame = load("pygame")

_GROUND, _CALL = (244, 242, 237), (190, 70, 20)
_PAD = 12


class PlayShow(SimulationShow):
    """Shows a `Game`, and goes on when the orders are there.

    Turn-based, it waits until every agent that people act for has its order. In real time, and
    when none of these agents acts any more, it goes on at the pace of the viewer.

    Args:
        game: the game.
        real_time: whether it goes on without waiting for orders.

    Attributes:
        game: the game.
        keyboard: where orders come from in real time; has ``orders()`` and ``let_go()``.
        viewer: the viewer, to be set once it is made.
        follows: whether the panel shows the agent that is to get its order next.
    """

    def __init__(self, game: Game, real_time: bool = False, follows: bool = False):
        super().__init__(game.vec)
        self.game, self.real_time, self.follows = game, real_time, follows
        self.keyboard: Any = None
        self.viewer: Any = None
        self._orders: dict[str, Order] = {}

    @property
    def can_reset(self) -> bool:
        """Whether the game is over, so that another one can be started."""
        return self.game.over

    @property
    def waits(self) -> bool:
        """Whether it is up to people to go on."""
        return self.game.over or (not self.real_time and bool(self.asked()))

    def asked(self) -> list[str]:
        """The agents whose orders are missing."""
        acting = [name for name in self.game.pilots if self.game.acts(name)]
        return [name for name in acting if name not in self._orders]

    def order(self, agent_id: str, order: Order) -> None:
        """Take an order; the last one that is missing makes the step."""
        self._orders[agent_id] = order
        if not self.asked():
            self._play(self._orders)
        self._follow()

    def step(self) -> bool:
        """A step with the keys of now."""
        orders = self.keyboard.orders() if self.keyboard is not None else {}
        self._play({name: one for name, one in orders.items() if self.game.acts(name)})
        self._follow()
        return True

    def reset(self) -> None:
        """Start another game, if this one is over."""
        if self.game.over:
            self.game.start()
            self._orders = {}
            if self.keyboard is not None:
                self.keyboard.let_go()
            self.look()
            self._follow()

    def _play(self, orders: dict[str, Order]) -> None:
        self.game.play(orders)
        self._orders = {}
        self.look()

    def _follow(self) -> None:
        if self.follows and self.viewer is not None:
            acting = self.asked() or [name for name in self.game.pilots if self.game.acts(name)]
            if acting:
                self.viewer.chosen = self.game.pilots[acting[0]].slot


class GameLine:
    """A strip with the scores and whose turn it is."""

    height = 34

    def __init__(self, show: PlayShow):
        self.show = show

    def draw(self, surface: Any) -> None:
        """Draw it over the whole of a surface."""
        surface.fill(_GROUND)
        middle = self.height // 2
        call = text(*self._call())
        surface.blit(call, (_PAD, middle - call.get_height() // 2))
        right = surface.get_width() - _PAD
        score = text(self._score(), 15, INK)
        if right - score.get_width() > _PAD + call.get_width() + 10:
            surface.blit(score, (right - score.get_width(), middle - score.get_height() // 2))

    def _call(self) -> tuple[str, int, tuple[int, int, int]]:
        show = self.show
        if show.game.over:
            return "game over  -  r: another one, esc: end", 15, _CALL
        acting = [name for name in show.game.pilots if show.game.acts(name)]
        if not acting:
            return "out of the game", 15, FAINT_INK
        if show.real_time:
            return " and ".join(acting[:2]), 15, INK
        return f"{' and '.join(show.asked()[:2])}: your move", 15, INK

    def _score(self) -> str:
        game = self.show.game
        names = list(game.pilots)
        if len(names) > 2:
            group = game.pilots[names[0]].group
            return f"{group} {game.scores()[group]:.2f}"
        return "   ".join(f"{name} {game.score(name):.2f}" for name in names)
