"""Actions of a single world: from a dict by agent to arrays."""

from collections.abc import Mapping

import numpy as np

from abmarl.gridworld.action_blocks import ActionBlocks
from abmarl.gridworld.actions import Actions

# So many agents are read together; for fewer it takes longer than one by one.
_MANY = 6


class ActionReader:
    """Checks the action dicts of a single world and writes them where the kernels find them."""

    def __init__(self, store, actors):
        self._store = store
        self._actors = actors
        self._actions = None
        self._channels = None
        self._blocks = None

    def read(self, action_dict) -> Actions:
        """The actions of a step; the agents act in the order of the dict.

        A channel that an agent leaves out gets its null action. Agents that are not active do not
        act.

        Raises:
            TypeError: It is no dict.
            ValueError: An agent or channel is unknown, or an action is not in its space.
        """
        if not isinstance(action_dict, (dict, Mapping)):
            raise TypeError(
                f"Actions must be a dict of agent id to action, got {type(action_dict).__name__}."
            )
        if self._actions is None:
            self._prepare()
        slots = self._blocks.put(action_dict) if len(action_dict) >= _MANY else None
        if slots is None:
            slots = self._read_one_by_one(action_dict)
        slots = slots[self._store.active[0].take(slots)]
        self._actions.turns[0, : len(slots)] = slots
        self._actions.num_turns[0] = len(slots)
        return self._actions

    def _read_one_by_one(self, action_dict):
        index = self._store.index
        slots = []
        for agent_id, chosen in action_dict.items():
            slot = index.get(agent_id)
            if slot is None:
                raise ValueError(f"There is no agent {agent_id!r} in this simulation.")
            channels = self._channels[slot]
            if not isinstance(chosen, dict):
                raise ValueError(
                    f"The action of agent {agent_id!r} must be a dict with channels "
                    f"{[key for key, *_ in channels]}, got {chosen!r}."
                )
            count = 0
            for key, actor, form, flat, at, null in channels:
                if key in chosen:
                    count += 1
                    if not form.put(chosen[key], flat, at):
                        actor.refuse(slot, chosen[key])
                elif null is None:
                    raise ValueError(f"Agent {agent_id!r} needs an action on channel {key!r}.")
                else:
                    form.put(null, flat, at)
            if count != len(chosen):
                self._refuse_channel(agent_id, chosen, channels)
            slots.append(slot)
        return np.array(slots, np.int64)

    def _prepare(self):
        store = self._store
        self._actions = Actions(store, self._actors)
        for key, actor in self._actors.items():
            self._actions.buffers[key] = actor.buffer()
        self._channels = [
            [
                (key, actor, actor.form(slot), flat, int(rows_of[slot, 0]), actor.null_of(slot))
                for key, actor in self._actors.items()
                for flat, rows_of in [self._actions.buffers[key]]
                if actor.form(slot) is not None
            ]
            for slot in range(store.num_agents)
        ]
        self._blocks = ActionBlocks(store.index, self._channels)

    @staticmethod
    def _refuse_channel(agent_id, chosen, channels):
        known = [key for key, *_ in channels]
        unknown = next(key for key in chosen if key not in known)
        raise ValueError(f"Agent {agent_id!r} has no channel {unknown!r}; it has {known}.")
