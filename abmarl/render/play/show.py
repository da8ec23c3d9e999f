"""A game in a window: what is shown of it, and when it goes on."""

from typing import Any

from abmarl.render.viewer.shows import SimulationShow
from abmarl.rollout.game import Game
from abmarl.rollout.pilot import Order


class PlayShow(SimulationShow):
    """Shows a `Game`, and goes on when the orders are there.

    Turn-based, it waits until every agent that people act for has its order. In real time, once
    it is begun, and when none of these agents acts any more, it goes on at the pace of the viewer.

    Args:
        game: the game.
        real_time: whether it goes on without waiting for orders.

    Attributes:
        game: the game.
        keyboard: where orders come from in real time; has ``orders()`` and ``let_go()``.
        viewer: the viewer, to be set once it is made.
        follows: whether the panel shows the agent that is to get its order next.
        people: for every person the ids of its agents.
        started: whether a game in real time has been begun.
        note: what there is to say about the last key or step.
    """

    def __init__(self, game: Game, real_time: bool = False, follows: bool = False):
        super().__init__(game.vec)
        self.game, self.real_time, self.follows = game, real_time, follows
        self.keyboard: Any = None
        self.viewer: Any = None
        self.people = [list(game.pilots)]
        self.started, self.note = not real_time, ""
        self._orders: dict[str, Order] = {}

    @property
    def can_reset(self) -> bool:
        """Whether the game is over, so that another one can be started."""
        return self.game.over

    @property
    def waits(self) -> bool:
        """Whether it is up to people to go on."""
        if self.game.over or not self.started:
            return True
        return not self.real_time and bool(self.asked())

    def begin(self) -> None:
        """Let a game in real time go on."""
        self.started, self.note = True, ""

    def acting(self) -> list[str]:
        """The agents of people that act."""
        return [name for name in self.game.pilots if self.game.acts(name)]

    def asked(self) -> list[str]:
        """The agents whose orders are missing."""
        return [name for name in self.acting() if name not in self._orders]

    def turns(self) -> list[str]:
        """Whose turn it is: of everybody the first agent whose order is missing."""
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
            self.started, self.note = not self.real_time, ""
            if self.keyboard is not None:
                self.keyboard.let_go()
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
        """Who attacked in vain."""
        hits = {attacker for attacker, target in self.scene(0).attacks.tolist() if target >= 0}
        pilots = self.game.pilots
        vain = [name for name in used if pilots[name].attacks and pilots[name].slot not in hits]
        if not vain:
            return ""
        who = f"{len(vain)} agents" if len(vain) > 2 else " and ".join(vain)
        return f"{who} hit nobody"

    def _follow(self) -> None:
        if self.follows and self.viewer is not None:
            acting = self.turns() or self.acting()
            if acting:
                self.viewer.chosen = self.game.pilots[acting[0]].slot
