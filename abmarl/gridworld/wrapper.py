"""Wrappers of actors: channels as one number, for the same rules."""

from collections.abc import Callable, Hashable, Iterable, Mapping
from typing import Any

import numpy as np
from gymnasium import Space
from gymnasium.spaces import Dict, Discrete

from abmarl.gridworld.actions import Actions
from abmarl.gridworld.actor.base import ActorBase
from abmarl.gridworld.agent import GridWorldAgent
from abmarl.gridworld.groups import Layout
from abmarl.gridworld.registry import find_component, make_component
from abmarl.kernels.codes import Codes, code_masks, decode_actions
from abmarl.kernels.program import Call
from abmarl.sim.agents import Agent
from abmarl.sim.conversion import MOST_CHOICES, RavelConversion, is_by_entry

__all__ = ["ActorWrapper", "ExclusiveChannelActionWrapper", "RavelActionWrapper"]

_MOST_POINTS = np.iinfo(np.int64).max


class Code:
    """How the points of one form are numbered.

    The segments share the code 0; see ``abmarl.kernels.codes``.

    Args:
        segments: The spaces whose entries, one after the other, are those of the form.
        name: What the space is called in messages.

    Attributes:
        conversions: How the points of each segment are ravelled.
        starts: The code after which each segment begins.
        target: The ``Discrete`` space of the codes.

    Raises:
        TypeError, ValueError: A space cannot be ravelled.
    """

    def __init__(self, segments: Iterable[Space], name: str) -> None:
        self.conversions = [RavelConversion(space, name) for space in segments]
        self.starts = [0]
        for conversion in self.conversions:
            self.starts.append(self.starts[-1] + conversion.num_points - 1)
        total = self.starts.pop() + 1
        if total > _MOST_POINTS:
            raise ValueError(
                f"{name} has {total} points and a 64-bit integer counts {_MOST_POINTS} at most."
            )
        self.target: Discrete = Discrete(total)

    def encode(self, points: list) -> int | None:
        """Return the code of a point, given segment by segment; None when several are not at 0."""
        codes = [one.convert(point) for one, point in zip(self.conversions, points, strict=True)]
        acting = [s for s, code in enumerate(codes) if code]
        if len(acting) > 1:
            return None
        return self.starts[acting[0]] + codes[acting[0]] if acting else 0

    def decode(self, number: int) -> list:
        """Return the point with a code, segment by segment."""
        acting = max(s for s, start in enumerate(self.starts) if start < number or s == 0)
        return [
            one.restore(number - self.starts[s] if s == acting else 0)
            for s, one in enumerate(self.conversions)
        ]


def code_tables(codes: list[Code], form_of: np.ndarray) -> Codes:
    """Return the codes of several forms as the tables that kernels read.

    Args:
        codes: A ``Code`` per form.
        form_of: int16 [N], the form of every agent, -1 for agents without the channel.
    """
    widths = [[one.layout.width for one in code.conversions] for code in codes]
    most = max((len(found) for found in widths), default=1)
    widest = max((sum(found) for found in widths), default=1)
    shape = (max(1, len(codes)), max(1, widest))
    tables = Codes(
        form_of=form_of,
        counts=np.zeros(shape[0], np.int64),
        totals=np.zeros(shape[0], np.int64),
        starts=np.zeros((shape[0], most), np.int64),
        firsts=np.zeros((shape[0], most + 1), np.int64),
        low=np.zeros(shape, np.int64),
        weight=np.ones(shape, np.int64),
    )
    for f, code in enumerate(codes):
        tables.counts[f], tables.totals[f] = len(code.conversions), int(code.target.n)
        tables.starts[f, : len(code.starts)] = code.starts
        tables.firsts[f, 1 : len(widths[f]) + 1] = np.cumsum(widths[f])
        for s, conversion in enumerate(code.conversions):
            own = slice(tables.firsts[f, s], tables.firsts[f, s + 1])
            tables.low[f, own], tables.weight[f, own] = conversion.layout.low, conversion.weights
    return tables


class ActorWrapper(ActorBase):
    """An actor whose channel is one number for every action of the actor within.

    Agents, channel, events and results are those of the actor within. Action masks have shape
    (number of actions,) where the actor within makes masks and has at most 65,536 actions.

    Args:
        actor: The actor to wrap; or, for declared simulations, its class or registered name,
            which is then made with ``kwargs``::

                actors=[partial(RavelActionWrapper, MoveActor), BinaryAttackActor]

    Attributes:
        wrapped_component: The actor within; ``unwrapped`` the innermost one.

    Raises:
        TypeError, ValueError: The actor's spaces do not suit the wrapper.
    """

    works_on = "kernels"

    def __init__(self, actor: ActorBase | type | str, **kwargs: Any) -> None:
        inner: Any = actor
        if not isinstance(actor, ActorBase):
            inner = make_component(find_component("actor", actor), kwargs)
        self.wrapped_component = inner
        self.key = inner.key
        self.events = inner.events
        self.needs_positions = inner.needs_positions
        self._inner: tuple = None, None
        super().__init__(agents=inner.agents, grid=inner.grid)
        # Amounts are set here, and the actor within pays them.
        self.weights = inner.weights
        self._tables = code_tables(self._codes, self.form_of)
        shapes = {slot: inner.mask_shape(slot) for slot in self._slots} if self._may_mask() else {}
        if shapes:
            self._prepare_masks(shapes)
            self.masks = self._masks

    # --- for subclasses to fill in ---

    def code(self, space: Space, name: str) -> Code:
        """Return the ``Code`` of the points of a space of the actor within."""
        raise TypeError(f"{type(self).__name__} must define code(space, name).")

    def split(self, point: Any) -> list:
        """Return a point of the actor within, segment by segment."""
        raise TypeError(f"{type(self).__name__} must define split(point).")

    def join(self, points: list, space: Space) -> Any:
        """Return the point of a space of the actor within that ``split`` makes into these."""
        raise TypeError(f"{type(self).__name__} must define join(points, space).")

    # --- the channel ---

    def prepare(self) -> None:
        actor, name = self.wrapped_component, f"channel {self.key!r}"
        self._codes = [self.code(form.space, name) for form in actor.forms]
        self._slots = np.flatnonzero(actor.form_of >= 0).tolist()
        if not self.grid.replica:
            everyone = list(self.agents.values())
            for slot in self._slots:
                # It is replaced by the one in the wrapper's terms, if there is one.
                if isinstance(everyone[slot].null_action, dict):
                    everyone[slot].null_action.pop(self.key, None)

    def supports(self, agent: Agent) -> bool:
        return self._number(agent) >= 0

    def parameters(self, agent: Agent) -> Hashable:
        return self._number(agent)

    def space(self, agent: Agent) -> Space:
        return self._codes[self._number(agent)].target

    def null(self, agent: Agent) -> Any:
        point = self.wrapped_component.null_of(self.store.index[agent.id])
        if point is None:
            return None
        return self._codes[self._number(agent)].encode(self.split(point))

    def inner_point(self, slot: int, number: int) -> Any:
        """Return the action of the actor within that a number of agent ``slot`` stands for."""
        form = self.wrapped_component.form(slot)
        return self.join(
            self._codes[self.wrapped_component.form_of[slot]].decode(number), form.space
        )

    def number_of(self, slot: int, point: Any) -> int | None:
        """Return the number of agent ``slot`` that stands for an action of the actor within.

        None where several segments of it are not at 0, which no number stands for.
        """
        return self._codes[self.wrapped_component.form_of[slot]].encode(self.split(point))

    def _number(self, agent: Agent) -> int:
        return int(self.wrapped_component.form_of[self.store.index[agent.id]])

    def _put(self, agent: GridWorldAgent, attribute: str, value: Any) -> None:
        getattr(agent, attribute)[self.key] = value

    # --- what happens ---

    @property
    def outcome(self) -> Any:
        return self.wrapped_component.outcome

    @property
    def layers(self) -> list[ActorBase]:
        return [self, *self.wrapped_component.layers]

    def steps(self, actions: Actions) -> list[Call | Callable]:
        inner = self._inner_actions(actions)
        return [self._decoding(actions, inner), *self.wrapped_component.steps(inner)]

    def event(self, name: str) -> np.ndarray:
        return self.wrapped_component.event(name)

    def nothing(self) -> Any:
        return self.wrapped_component.nothing()

    def process_action(self, agent: GridWorldAgent, action_dict: Mapping, **kwargs: Any) -> Any:
        slot = self.slot_of(agent)
        if self.form_of[slot] < 0 or self.key not in action_dict:
            return self.nothing()
        actions = self.single_action(slot, action_dict[self.key])
        inner = self._inner_actions(actions)
        self._decoding(actions, inner)()
        flat, rows_of = inner.buffers[self.key]
        point = self.wrapped_component.form(slot).point(flat, int(rows_of[slot, 0]))
        return self.wrapped_component.process_action(
            agent, {**action_dict, self.key: point}, **kwargs
        )

    def _act(self, actions: Actions, fresh: bool) -> Any:
        inner = self._inner_actions(actions)
        self._decoding(actions, inner)()
        return self.wrapped_component.process(inner)

    def _inner_actions(self, actions: Actions) -> Actions:
        """Return the same turns, and room for the actions of the actor within."""
        known, inner = self._inner
        if known is not actions:
            actor = self.wrapped_component
            inner = Actions(self.store, {self.key: actor})
            inner.turns, inner.num_turns = actions.turns, actions.num_turns
            inner.buffers[self.key] = actor.buffer()
            self._inner = actions, inner
        return inner

    def _decoding(self, actions: Actions, inner: Actions) -> Call:
        turns = self._turns(actions, True)
        return Call(decode_actions, turns, self._tables, *inner.buffers[self.key])

    # --- masks ---

    def mask_shape(self, slot: int) -> tuple[int, ...]:
        return (int(self._codes[self.form_of[slot]].target.n),)

    def _may_mask(self) -> bool:
        return (
            hasattr(self.wrapped_component, "masks")
            and self._tables.totals.max(initial=0) <= MOST_CHOICES
        )

    def _prepare_masks(self, shapes: dict[int, tuple]) -> None:
        slots_of: dict[tuple, list[int]] = {}
        for slot, shape in shapes.items():
            slots_of.setdefault(shape, []).append(slot)
        blocks = {shape: (np.array(slots), shape) for shape, slots in slots_of.items()}
        self._mask_layout = Layout(blocks, self.store.num_worlds, self.store.num_agents)
        self._inner_masks = np.zeros(self._mask_layout.size, bool)
        self._options = np.zeros(len(self._codes), np.int64)
        for slot, shape in shapes.items():
            form = self.wrapped_component.form(slot)
            if is_by_entry(shape, form.shape):
                self._options[self.form_of[slot]] = shape[-1]

    def _masks(self, flat: np.ndarray, slots: np.ndarray, rows_of: np.ndarray) -> None:
        """Write which actions would do something now to ``flat``, for the agents in ``slots``."""
        inner, inner_rows = self._inner_masks, self._mask_layout.rows_of
        self.wrapped_component.masks(inner, slots, inner_rows)
        masks = inner, inner_rows, flat
        code_masks(self._tables, slots, self.store.num_worlds, rows_of, self._options, *masks)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.wrapped_component!r})"


class RavelActionWrapper(ActorWrapper):
    """Numbers the actions of an actor: mixed radix, later entries fastest.

    The channel is one ``Discrete`` with a number for every point of the wrapped one, as
    ``RavelDiscreteWrapper`` has it for whole action spaces. All else is as ``ActorWrapper`` says.

    Raises:
        TypeError, ValueError: A space of the actor is not made of bounded integers, or has more
            points than a 64-bit integer counts.
    """

    def code(self, space: Space, name: str) -> Code:
        return Code([space], name)

    def split(self, point: Any) -> list:
        return [point]

    def join(self, points: list, space: Space) -> Any:
        return points[0]


class ExclusiveChannelActionWrapper(ActorWrapper):
    """Numbers the actions of a ``Dict`` channel in which one subspace acts at a time.

    Every subspace is ravelled, and the numbers are laid end to end with a single shared zero: for
    ``{2: Discrete(3), 3: Discrete(3)}`` the points 0 to 4 are (0, 0), (1, 0), (2, 0), (0, 1) and
    (0, 2). All else is as ``ActorWrapper`` says.

    Raises:
        TypeError: A space of the actor is no ``Dict``.
        ValueError: A subspace is not made of bounded integers, or there are more points than a
            64-bit integer counts.
    """

    def code(self, space: Space, name: str) -> Code:
        if not isinstance(space, Dict):
            raise TypeError(
                f"{type(self).__name__} takes an actor with a Dict channel, such as "
                f"EncodingBasedAttackActor; {name} is {space}. RavelActionWrapper takes any."
            )
        return Code(space.spaces.values(), name)

    def split(self, point: Any) -> list:
        return list(point.values())

    def join(self, points: list, space: Any) -> Any:
        return dict(zip(space.spaces, points, strict=True))
