"""What wrappers of actors have in common."""

import numpy as np

from abmarl.gridworld.actions import Actions
from abmarl.gridworld.actor.base import ActorBase
from abmarl.gridworld.groups import Layout
from abmarl.gridworld.registry import find_component, make_component
from abmarl.gridworld.wrapper.codes import CodeTables
from abmarl.kernels.codes import code_masks, decode_actions
from abmarl.kernels.program import Call
from abmarl.sim.conversion import MOST_CHOICES, is_by_entry


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

    def __init__(self, actor, **kwargs):
        if not isinstance(actor, ActorBase):
            actor = make_component(find_component("actor", actor), kwargs)
        self.wrapped_component = actor
        self.key = actor.key
        self.events = actor.events
        self.needs_positions = actor.needs_positions
        self._inner = None, None
        super().__init__(agents=actor.agents, grid=actor.grid)
        # Amounts are set here, and the actor within pays them.
        self.weights = actor.weights
        self._tables = CodeTables(self._codes)
        shapes = {slot: actor.mask_shape(slot) for slot in self._slots} if self._may_mask() else {}
        if shapes:
            self._prepare_masks(shapes)
            self.masks = self._masks

    # --- for subclasses to fill in ---

    def code(self, space, name):
        """The ``Code`` of the points of a space of the actor within."""
        raise TypeError(f"{type(self).__name__} must define code(space, name).")

    def split(self, point):
        """A point of the actor within, segment by segment."""
        raise TypeError(f"{type(self).__name__} must define split(point).")

    def join(self, points, space):
        """The point of a space of the actor within that ``split`` makes these segments of."""
        raise TypeError(f"{type(self).__name__} must define join(points, space).")

    # --- the channel ---

    def prepare(self):
        """Numbers the points of the actor within, form by form."""
        actor, name = self.wrapped_component, f"channel {self.key!r}"
        self._codes = [self.code(form.space, name) for form in actor.forms]
        self._slots = np.flatnonzero(actor.form_of >= 0).tolist()
        if not self.grid.replica:
            everyone = list(self.agents.values())
            for slot in self._slots:
                # It is replaced by the one in the wrapper's terms, if there is one.
                if isinstance(everyone[slot].null_action, dict):
                    everyone[slot].null_action.pop(self.key, None)

    def supports(self, agent):
        """Whether the actor within supports an agent."""
        return self._number(agent) >= 0

    def parameters(self, agent):
        """The form of the actor within decides the space."""
        return self._number(agent)

    def space(self, agent):
        """The numbers of the actions."""
        return self._codes[self._number(agent)].target

    def null(self, agent):
        """The number of the null action."""
        point = self.wrapped_component.null_of(self.store.index[agent.id])
        if point is None:
            return None
        return self._codes[self._number(agent)].encode(self.split(point))

    def inner_point(self, slot, number):
        """The action of the actor within that a number of agent ``slot`` stands for."""
        form = self.wrapped_component.form(slot)
        return self.join(
            self._codes[self.wrapped_component.form_of[slot]].decode(number), form.space
        )

    def number_of(self, slot, point):
        """The number of agent ``slot`` that stands for an action of the actor within.

        None where several segments of it are not at 0, which no number stands for.
        """
        return self._codes[self.wrapped_component.form_of[slot]].encode(self.split(point))

    def _number(self, agent):
        return int(self.wrapped_component.form_of[self.store.index[agent.id]])

    def _put(self, agent, attribute, value):
        getattr(agent, attribute)[self.key] = value

    # --- what happens ---

    @property
    def outcome(self):
        """That of the actor within."""
        return self.wrapped_component.outcome

    @property
    def layers(self) -> list:
        """This actor and those within."""
        return [self, *self.wrapped_component.layers]

    def steps(self, actions) -> list:
        """What a program runs to process the actions of a step."""
        inner = self._inner_actions(actions)
        return [self._decoding(actions, inner), *self.wrapped_component.steps(inner)]

    def event(self, name):
        """See ``ActorBase.event``."""
        return self.wrapped_component.event(name)

    def nothing(self):
        """What ``process_action`` returns for an agent without this channel."""
        return self.wrapped_component.nothing()

    def process_action(self, agent, action_dict, **kwargs):
        """See ``ActorBase.process_action``; the actor within is given the action it stands for."""
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

    def _act(self, actions, fresh):
        inner = self._inner_actions(actions)
        self._decoding(actions, inner)()
        return self.wrapped_component.process(inner)

    def _inner_actions(self, actions):
        """The same turns, and room for the actions of the actor within."""
        known, inner = self._inner
        if known is not actions:
            actor = self.wrapped_component
            inner = Actions(self.store, {self.key: actor})
            inner.turns, inner.num_turns = actions.turns, actions.num_turns
            inner.buffers[self.key] = actor.buffer()
            self._inner = actions, inner
        return inner

    def _decoding(self, actions, inner):
        tables = self._tables
        return Call(
            decode_actions, actions.turns, actions.num_turns, *actions.buffers[self.key],
            self.form_of, tables.counts, tables.starts, tables.firsts, tables.low, tables.weight,
            *inner.buffers[self.key],
        )  # fmt: skip

    # --- masks ---

    def mask_shape(self, slot):
        """Shape of an agent's action mask."""
        return (int(self.form(slot).space.n),)

    def _may_mask(self):
        return (
            hasattr(self.wrapped_component, "masks")
            and self._tables.totals.max(initial=0) <= MOST_CHOICES
        )

    def _prepare_masks(self, shapes):
        blocks = {}
        for slot, shape in shapes.items():
            blocks.setdefault(shape, []).append(slot)
        blocks = {shape: (np.array(slots), shape) for shape, slots in blocks.items()}
        self._mask_layout = Layout(blocks, self.store.num_worlds, self.store.num_agents)
        self._inner_masks = np.zeros(self._mask_layout.size, bool)
        self._options = np.zeros(len(self._codes), np.int64)
        for slot, shape in shapes.items():
            form = self.wrapped_component.form(slot)
            if is_by_entry(shape, form.shape):
                self._options[self.form_of[slot]] = shape[-1]

    def _masks(self, flat, slots, rows_of):
        """Writes which actions would do something now to ``flat``, for the agents in ``slots``."""
        inner, tables = self._inner_masks, self._tables
        self.wrapped_component.masks(inner, slots, self._mask_layout.rows_of)
        code_masks(
            slots, self.store.num_worlds, rows_of, self.form_of, tables.totals, self._options,
            tables.counts, tables.starts, tables.firsts, tables.weight, inner,
            self._mask_layout.rows_of, flat,
        )  # fmt: skip

    def __repr__(self):
        return f"{type(self).__name__}({self.wrapped_component!r})"
