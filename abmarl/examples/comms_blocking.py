"""Broadcasters agree on a number while blockers get in between: with components of its own."""

from typing import Any

import numpy as np
from gymnasium.spaces import Box

from abmarl.gridworld.actor import MoveActor
from abmarl.gridworld.agent import GridObservingAgent, MovingAgent
from abmarl.gridworld.component import Component
from abmarl.gridworld.done import DoneBase
from abmarl.gridworld.fields import Field, number
from abmarl.gridworld.observer import ObserverBase, PositionCenteredEncodingObserver
from abmarl.gridworld.smart import SmartGridWorldSimulation
from abmarl.gridworld.state import PositionState, StateBase
from abmarl.kernels.messages import deal_messages, share_messages
from abmarl.kernels.program import Call

BROADCASTER, BLOCKER = 1, 2


class BroadcastingAgent(MovingAgent, GridObservingAgent):
    """Has a message, in [0, 1], which all broadcasters that see it hear; sees 3 cells far."""

    message = Field(np.float64, check=number(0, 1))

    def __init__(
        self,
        encoding: int = BROADCASTER,
        view_range: int = 3,
        move_range: int = 1,
        render_color: str = "seagreen",
        **kwargs: Any,
    ) -> None:
        super().__init__(
            encoding=encoding,
            view_range=view_range,
            move_range=move_range,
            render_color=render_color,
            **kwargs,
        )


class BlockingAgent(MovingAgent, GridObservingAgent):
    """Hides broadcasters from one another; sees 3 cells far."""

    def __init__(
        self,
        encoding: int = BLOCKER,
        view_range: int = 3,
        move_range: int = 1,
        render_shape: str = "s",
        render_color: str = "dimgray",
        **kwargs: Any,
    ) -> None:
        super().__init__(
            encoding=encoding,
            view_range=view_range,
            move_range=move_range,
            blocking=True,
            render_shape=render_shape,
            render_color=render_color,
            **kwargs,
        )


class Messages(Component):
    """The messages of the broadcasters, ``store.message`` float64 [B, N].

    Attributes:
        speakers: int64 [S], the numbers of the broadcasters.
    """

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        agents = self.agents.values()
        self.speakers = np.array(
            [i for i, one in enumerate(agents) if isinstance(one, BroadcastingAgent)], np.int64
        )
        if len(self.speakers) < 2:
            raise ValueError(f"It takes two broadcasters to agree, there are {len(self.speakers)}.")
        self.message = self.store.require("message", np.float64, reset=True)
        self._told = np.zeros(len(self.speakers))

    def dealing(self, worlds: np.ndarray) -> Call:
        """Deal the messages out at the start of an episode: evenly spaced from 0 to 1."""
        return Call(deal_messages, worlds, self.speakers, self.store.streams, self.message)

    def share(self) -> None:
        """Let everybody take on the mean of its message and those of the broadcasters it sees."""
        share_messages(self.store.world, self.speakers, self._told, self.message)
        self.store.touch()

    def spread(self) -> np.ndarray:
        """Return how far the largest message is from the smallest, float64 [B]."""
        return np.ptp(self.message[:, self.speakers], axis=1)


class MessageState(StateBase):
    """Deals the messages out."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.messages = Messages(**kwargs)

    def calls(self, worlds: np.ndarray) -> list:
        """Deal the messages out."""
        return [self.messages.dealing(worlds)]


class MessageObserver(ObserverBase):
    """Tells a broadcaster its own message. Channel ``message``: ``Box(0, 1, (1,), float)``."""

    key = "message"
    supported_agent_type = BroadcastingAgent

    def space(self, agent: Any) -> Box:
        """Return the space of one number."""
        return Box(0.0, 1.0, (1,), np.float64)

    def null(self, agent: Any) -> np.ndarray:
        """Return 0."""
        return np.zeros(1)

    def observe(self, out: Any = None) -> np.ndarray:
        """Return the messages, float64 [B, N, 1]."""
        return self.store.message[:, :, None]


class AgreementDone(DoneBase):
    """A world is done when all messages are within a tolerance; agents are when they are inactive.

    Args:
        tolerance: How far the largest message may be from the smallest, in [0, 1].
    """

    def __init__(self, tolerance: float = 0.05, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.tolerance = number(0, 1)("tolerance", tolerance)
        self.messages = Messages(**kwargs)

    def all_done(self) -> np.ndarray:
        """Return where the broadcasters agree, bool [B]."""
        return self.messages.spread() <= self.tolerance


class CommsBlockingSim(SmartGridWorldSimulation):
    """Broadcasters are to agree, blockers are to keep them from it.

    Every broadcaster has a message; at the start they are evenly spaced from 0 to 1, dealt out at
    random. In a step everybody moves. Then every broadcaster takes on the mean of its own message
    and of those of the broadcasters that it sees, all at once; blockers hide what is behind them.

    Actions: ``move`` (``Box``). Observations: ``position_centered_encoding``, and ``message``, the
    own one, of broadcasters.

    Rewards: broadcasters -0.01 a step and +1 when they agree, blockers the opposite; everybody -0.1
    for a failed move.

    The world is done when the messages are within the tolerance.

    Args:
        tolerance: How far the largest message may be from the smallest, in [0, 1].
        **kwargs: See ``SmartGridWorldSimulation``; also parameters of the components.
    """

    def __init__(self, tolerance: float = 0.05, **kwargs: Any) -> None:
        parameters = {
            "states": (PositionState, MessageState),
            "actors": (MoveActor,),
            "observers": (PositionCenteredEncodingObserver, MessageObserver),
            "dones": (AgreementDone,),
            "rewards": {"move_failed": -0.1},
        }
        super().__init__(tolerance=tolerance, **(parameters | kwargs))
        self._agreement = self.dones[0]
        agents = self.agents.values()
        self._side = np.array(
            [isinstance(a, BroadcastingAgent) * 1.0 - isinstance(a, BlockingAgent) for a in agents]
        )

    def step_batch(self, actions: Any) -> None:
        """Move everybody, then let the broadcasters hear one another."""
        moved = self.actors["move"].process(actions)
        self._agreement.messages.share()
        worth = self._agreement.all_done()[:, None] - 0.01
        self.store.rewards += (moved >= 0) * self._side * worth


def comms_blocking(
    rows: int = 10, cols: int = 14, num_broadcasters: int = 6, num_blockers: int = 4
) -> CommsBlockingSim:
    """Build a simulation of broadcasters and blockers on an open grid.

    Args:
        rows: Rows of the grid.
        cols: Columns of the grid.
        num_broadcasters: How many broadcasters, two at least.
        num_blockers: How many blockers.
    """
    agents = [
        *(BroadcastingAgent(id=f"caster{i}", group="caster") for i in range(num_broadcasters)),
        *(BlockingAgent(id=f"blocker{i}", group="blocker") for i in range(num_blockers)),
    ]
    return CommsBlockingSim.build_sim(rows, cols, agents={agent.id: agent for agent in agents})
