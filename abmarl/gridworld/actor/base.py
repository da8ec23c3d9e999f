"""What actors have in common."""

import operator
from collections.abc import Callable, Mapping
from typing import Any, ClassVar

import numpy as np

from abmarl.gridworld.actions import Actions, as_array, outside
from abmarl.gridworld.component import ChannelComponent
from abmarl.kernels.program import Call, Program
from abmarl.kernels.turns import Turns


class ActorBase(ChannelComponent):
    """Processes one channel of the agents' actions.

    A subclass names its channel (``key``), whom it supports and the space of the channel, and says
    what the actions do (see ``Component``): in ``calls(turns)``, a list of calls of kernels, which
    leave what came of it in ``outcome``; in ``run`` on the arrays of all worlds, or in ``process``
    which is given them as one array; or in ``process_action`` for one agent.

    One whose actions have masks also defines ``mask_shape(slot)``, the shape of an agent's mask,
    and ``masks(flat, slots, rows_of)``, which writes the masks of the agents in ``slots`` into the
    bool array ``flat``: see ``run_masks``.

    Attributes:
        key: The channel.
        supported_agent_type: Agents of this class have the channel; the others are left alone.
        events: Names of what can happen and be rewarded; ``event(name)`` gives it per agent.
        acting: The ``Actions`` of the step while ``step_batch`` is running, else None.
    """

    role = "actor"
    side = "action"
    methods: ClassVar = {
        "kernels": ("calls",),
        "arrays": ("run", "process"),
        "agents": ("process_action",),
    }
    events: tuple[str, ...] = ()
    outcome: Any
    calls: Any = None

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.weights = np.zeros(max(1, len(self.events)))
        self._own: Actions | None = None
        self._masking: tuple[tuple, Program | None] = (), None
        self.acting: Actions | None = None

    # --- for subclasses to fill in ---

    def run(
        self,
        turns: np.ndarray,
        num_turns: np.ndarray,
        flat: np.ndarray,
        rows_of: np.ndarray,
        fresh: bool,
    ) -> Any:
        """Let the agents act, in turn, in every world, and return the outcome.

        Args:
            turns, num_turns: Who acts, see ``Actions``.
            flat, rows_of: The actions; agent i of world b has ``flat[rows_of[i, 0] + b *
                rows_of[i, 1]:]``, or none where ``rows_of[i, 0]`` is below 0.
            fresh: Whether the outcome arrays are to be cleared for all agents; else only for
                those that act.
        """
        if self.calls is None:
            raise TypeError(f"{type(self).__name__} must define run or process.")
        for call in self.calls(Turns(turns, num_turns, flat, rows_of, fresh)):
            call()
        return self.outcome

    def event(self, name: str) -> np.ndarray:
        """[B, N]: how often a named event happened to every agent, in what was processed last."""
        raise ValueError(f"{type(self).__name__} has no event {name!r}; it has {self.events}.")

    # --- the two ways in ---

    def process(self, actions: Any) -> Any:
        """Process the actions of all worlds.

        Args:
            actions: The ``Actions`` of a step, or an array [B, n, ...] for the n agents that are
                supported, in the order of the agents (or a dict with it under the key). Within
                ``step_batch`` those act whose turn it is, and an array like ``actions[key]`` is
                as good; elsewhere every active agent does.

        Returns:
            The outcome, arrays [B, N].

        Raises:
            TypeError, ValueError: The channel is not there, or something is not in its space;
                nothing has changed.
        """
        if not isinstance(actions, Actions):
            if isinstance(actions, dict):
                if self.key not in actions:
                    raise ValueError(
                        f"{type(self).__name__} processes channel {self.key!r}, which is not in "
                        f"the actions; they have {list(actions)}."
                    )
                actions = actions[self.key]
            actions = self._from_array(actions)
        elif self.key not in actions:
            raise ValueError(
                f"{type(self).__name__} processes channel {self.key!r}, which is none of this "
                "simulation's; declare it among the actors, or make it an attribute in __init__."
            )
        self.store.touch()
        return self._act(actions, True)

    def process_action(self, agent: Any, action_dict: Mapping, **kwargs: Any) -> Any:
        """Process the action of one agent of a single world.

        Args:
            action_dict: Its actions by channel; this actor reads ``action_dict[self.key]``.

        Raises:
            TypeError, ValueError: The agent is not of this simulation, or the action is not in
                its space; nothing has changed.
        """
        slot = self.slot_of(agent)
        if self.form_of[slot] < 0 or self.key not in action_dict:
            return self.nothing()
        actions = self.single_action(slot, action_dict[self.key])
        self.store.touch()
        return self.result(agent, self._act(actions, False))

    def result(self, agent: Any, outcome: Any) -> Any:
        """Return what ``process_action`` returns for the agent that acted."""
        return outcome

    def nothing(self) -> Any:
        """Return what ``process_action`` returns for an agent without this channel."""
        return None

    # --- shared work ---

    wrapped_component: Any = None

    @property
    def layers(self) -> list:
        """This actor and, of a wrapper, those within."""
        return [self]

    @property
    def unwrapped(self) -> "ActorBase":
        """The actor within all wrappers."""
        return self.layers[-1]

    def slot_of(self, agent: Any) -> int:
        """Return the number of an agent.

        Raises:
            TypeError: It is not of this simulation.
        """
        if getattr(agent, "_store", None) is not self.store:
            raise TypeError(f"process_action takes an agent of this simulation, got {agent!r}.")
        return agent._slot

    def single_action(self, slot: int, value: Any) -> Actions:
        """Return the ``Actions`` of a step in which one agent of a single world acts.

        Raises:
            ValueError: The action is not in its space.
        """
        actions = self._own_actions()
        self.read(slot, value, *actions.buffers[self.key])
        actions.turns[0, 0] = slot
        actions.num_turns[0] = 1
        return actions

    def steps(self, actions: Any) -> list:
        """Return what a program runs to process the actions of a step."""
        if self.works_on != "kernels":
            return [lambda: self.process(actions)]
        return self.calls(self._turns(actions, True))

    def _turns(self, actions: Actions, fresh: bool) -> Turns:
        return Turns(actions.turns, actions.num_turns, *actions.buffers[self.key], fresh)

    def _act(self, actions: Actions, fresh: bool) -> Any:
        if self.works_on != "kernels":
            return self.run(*self._turns(actions, fresh))
        program = actions.programs.get((self.key, fresh))
        if program is None:
            calls = self.calls(self._turns(actions, fresh))
            program = actions.programs[self.key, fresh] = Program(calls)
        program()
        return self.outcome

    def run_masks(
        self,
        kernel: Callable,
        flat: np.ndarray,
        slots: np.ndarray,
        rows_of: np.ndarray,
        *rest: Any,
    ) -> None:
        """Run a kernel ``(world, slots, rows_of, flat, *rest)`` that writes action masks.

        The mask of agent i of world b begins at ``flat[rows_of[i, 0] + b * rows_of[i, 1]]``.
        """
        known, program = self._masking
        arrays = flat, slots, rows_of
        if program is None or any(map(operator.is_not, known, arrays)):
            program = Program([Call(kernel, self.store.world, slots, rows_of, flat, *rest)])
            self._masking = arrays, program
        program()

    def read(self, slot: int, value: Any, flat: np.ndarray, rows_of: np.ndarray) -> None:
        """Write one agent's action to its place.

        Raises:
            ValueError: It is not in the space; nothing has changed.
        """
        if not self.form(slot).put(value, flat, rows_of[slot, 0]):
            self.refuse(slot, value)

    def refuse(self, slot: int, value: Any) -> None:
        """Raise a ValueError that names an agent and the action that is not in its space."""
        form = self.form(slot)
        dtype = getattr(value, "dtype", None)
        kind = f" of dtype {dtype}" if dtype is not None and not form.takes(dtype) else ""
        raise ValueError(
            f"Action of agent {self.store.ids[slot]!r} on channel {self.key!r} is {value!r}{kind}, "
            f"which is not in {form.space}."
        )

    def buffer(self, flat: np.ndarray | None = None, rows_of: np.ndarray | None = None) -> tuple:
        """Return what ``Actions.buffers`` holds for this channel, by default a new array."""
        if flat is None:
            flat, rows_of = np.zeros(max(1, self.layout.size), self.dtype), self.layout.rows_of
        return flat, rows_of

    def _own_actions(self) -> Actions:
        if self._own is None:
            self._own = Actions(self.store, {self.key: self})
            self._own.buffers[self.key] = self.buffer()
        return self._own

    def _from_array(self, array: Any) -> Actions:
        actions = self._own_actions()
        flat, rows_of = actions.buffers[self.key]
        slots = self.layout.slots
        array = np.asarray(array)
        if self.acting is not None:
            given = self.acting.buffers[self.key][1]
            asked = slots[given[slots, 0] >= 0]
            slots = asked if array.shape[1:2] == (len(asked),) else slots
        shape = (self.store.num_worlds, len(slots), *self.form(slots[0]).shape)
        numbers = self.form_of[slots]
        integer = any(self.forms[number].integer for number in np.unique(numbers))
        array = as_array(array, shape, integer, f"Actions {self.key!r}")
        entries = array.reshape(*shape[:2], -1)
        for number in np.unique(numbers):
            form, mine = self.forms[number], numbers == number
            wrong = outside(entries[:, mine], form).any(axis=0)
            if wrong.any():
                agent_id = self.store.ids[slots[mine][wrong.argmax()]]
                raise ValueError(f"Actions {self.key!r} of {agent_id!r} leave {form.space}.")
            worlds = np.arange(shape[0])[:, None]
            at = rows_of[slots[mine], 0] + worlds * rows_of[slots[mine], 1]
            flat[at[..., None] + np.arange(form.width)] = entries[:, mine]
        if self.acting is None:
            actions.take_turns(self.store.active)
        else:
            actions.turns[...] = self.acting.turns
            actions.num_turns[...] = self.acting.num_turns
        return actions
