"""The actions of a step: what agents want, in which order they act, and what would do something."""

from collections.abc import KeysView, Mapping
from operator import itemgetter
from typing import Any, NoReturn

import numpy as np

from abmarl.gridworld.groups import Layout
from abmarl.gridworld.store import Store
from abmarl.kernels.program import Program
from abmarl.kernels.turns import take_turns
from abmarl.sim.layout import SpaceLayout

# So many agents are read together; for fewer it takes longer than one by one.
_MANY = 6


class Actions:
    """Who acts in which order, and what every agent wants on every channel.

    ``actions[key]`` is the array [B, n, ...] of a channel for the agents that have it, in the
    order of the agents (all with one shape). The kernels use the flat buffers instead.

    Attributes:
        turns: int [B, N], the acting agents first, in their order; ``num_turns`` int64 [B].
        buffers: ``{key: (flat array, rows_of)}``, see ``abmarl.gridworld.groups.Layout``.
    """

    def __init__(self, store: Store, actors: Any) -> None:
        self.store = store
        self._actors = actors
        self.turns = np.zeros((store.num_worlds, store.num_agents), store.slot_dtype)
        self.num_turns = np.zeros(store.num_worlds, np.int64)
        self.buffers: dict[Any, tuple[np.ndarray, np.ndarray]] = {}
        self.programs: dict[tuple, Program] = {}  # of the actors that have processed it

    def take_turns(self, alive: np.ndarray, in_random_order: bool = False) -> None:
        """Everyone in ``alive`` (bool [B, N]) who is active acts, in order or in a random one."""
        store = self.store
        take_turns(alive, store.active, in_random_order, store.streams, self.turns, self.num_turns)

    def keys(self) -> KeysView:
        """Return the channels."""
        return self.buffers.keys()

    def __contains__(self, key: object) -> bool:
        return key in self.buffers

    def __getitem__(self, key: str) -> np.ndarray:
        flat, rows_of = self.buffers[key]
        actor = self._actors[key]
        slots = np.flatnonzero(rows_of[:, 0] >= 0)
        shapes = {actor.form(slot).shape for slot in slots}
        if len(shapes) > 1:
            raise ValueError(f"Actions {key!r} of the agents have different shapes; no one array.")
        shape = shapes.pop()
        width = int(np.prod(shape, dtype=np.int64))
        worlds = np.arange(self.store.num_worlds)[:, None]
        at = rows_of[slots, 0] + worlds * rows_of[slots, 1]
        return flat[at[:, :, None] + np.arange(width)].reshape(*at.shape, *shape)


def as_array(given: Any, shape: tuple, integer: bool, name: str) -> np.ndarray:
    """Return actions that a user gave for many agents as an array.

    Raises:
        TypeError: They are no integers, or no numbers.
        ValueError: They have another shape.
    """
    array = given if type(given) is np.ndarray else np.asarray(given)
    if array.shape != shape:
        raise ValueError(f"{name} must have shape {shape}, got {array.shape}.")
    if array.dtype.kind not in ("iu" if integer else "iuf"):
        raise TypeError(
            f"{name} must be {'integers' if integer else 'numbers'}, got {array.dtype}."
        )
    return array


def outside(entries: np.ndarray, form: SpaceLayout) -> np.ndarray:
    """Return which rows of entries ``[..., width]`` lie outside of their space, bool ``[...]``."""
    inside: Any = (entries >= form.low) & (entries <= form.high)
    return ~inside.all(axis=-1)


class ActionReader:
    """Checks the action dicts of a single world and writes them where the kernels find them."""

    def __init__(self, store: Store, actors: Any) -> None:
        self._store = store
        self._actors = actors
        self._actions: Actions | None = None
        self._channels: list[list[tuple]]
        self._blocks: ActionBlocks

    def read(self, action_dict: Mapping) -> Actions:
        """Return the actions of a step; the agents act in the order of the dict.

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
        actions = self._actions or self._prepare()
        slots = self._blocks.put(action_dict) if len(action_dict) >= _MANY else None
        if slots is None:
            slots = self._read_one_by_one(action_dict)
        slots = slots[self._store.active[0].take(slots)]
        actions.turns[0, : len(slots)] = slots
        actions.num_turns[0] = len(slots)
        return actions

    def _read_one_by_one(self, action_dict: Mapping[str, Any]) -> np.ndarray:
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

    def _prepare(self) -> Actions:
        store = self._store
        self._actions = actions = Actions(store, self._actors)
        for key, actor in self._actors.items():
            actions.buffers[key] = actor.buffer()
        self._channels = [
            [
                (key, actor, actor.form(slot), flat, int(rows_of[slot, 0]), actor.null_of(slot))
                for key, actor in self._actors.items()
                for flat, rows_of in [actions.buffers[key]]
                if actor.form(slot) is not None
            ]
            for slot in range(store.num_agents)
        ]
        self._blocks = ActionBlocks(store.index, self._channels)
        return actions

    @staticmethod
    def _refuse_channel(agent_id: str, chosen: dict, channels: list[tuple]) -> NoReturn:
        known = [key for key, *_ in channels]
        unknown = next(key for key in chosen if key not in known)
        raise ValueError(f"Agent {agent_id!r} has no channel {unknown!r}; it has {known}.")


class ActionBlocks:
    """Writes the actions of agents that are alike in one go, where nothing is special about them.

    Whatever is wrong, missing or of an unusual kind is left to those who look at agents one by one
    and can say what it is.

    Args:
        index: The numbers of the agents by id.
        channels: For every agent, ``(key, actor, form, flat, at, null)`` for each of its channels:
            ``flat[at:]`` is where its actions go.
    """

    def __init__(self, index: dict, channels: Any) -> None:
        self._index = index
        kinds: dict[tuple, int] = {}
        self._kinds = np.array(
            [
                kinds.setdefault(tuple((key, id(form)) for key, _, form, *_ in one), len(kinds))
                for one in channels
            ]
        )
        # The place of every agent among those of its kind.
        self._rows = np.zeros(len(channels), np.int64)
        self._parts = [self._parts_of(kind, channels) for kind in kinds.values()]
        self._ids: tuple[str, ...] | None = None
        self._plan: list[tuple] | None = None
        self._slots: np.ndarray | None = None

    def _parts_of(self, kind: int, channels: list[list[tuple]]) -> list[tuple] | None:
        """Return how to get at the actions of a kind of agents, and where in ``flat`` they go.

        The latter are the rows of an array [agents of this kind, width]. None: one by one.
        """
        members = np.flatnonzero(self._kinds == kind)
        self._rows[members] = np.arange(len(members))
        alike = [channels[slot] for slot in members.tolist()]
        if not all(form.integer and not form.nested for _, _, form, *_ in alike[0]):
            return None
        parts = []
        for k, (key, _, form, flat, *_) in enumerate(alike[0]):
            places = np.array([one[k][4] for one in alike])[:, None] + np.arange(form.width)
            parts.append((itemgetter(key), form.leaves[0], flat, places))
        return parts

    def put(self, action_dict: Mapping) -> np.ndarray | None:
        """Write the actions of a step.

        Returns:
            The numbers of the agents, int64 in the order of the dict; None when the actions have to
            be looked at one by one. What was written by then does not matter.
        """
        ids = tuple(action_dict)
        if ids != self._ids:
            self._prepare(ids)
        chosen = list(action_dict.values())
        if self._plan is None or set(map(type, chosen)) != {dict}:
            return None
        for positions, parts in self._plan:
            some = chosen if positions is None else [chosen[k] for k in positions]
            if sum(map(len, some)) != len(parts) * len(some):
                return None
            for key_of, leaf, flat, at in parts:
                try:
                    values = leaf.stack(list(map(key_of, some)))
                except KeyError:
                    return None
                if values is None:
                    return None
                flat[at] = values
        return self._slots

    def _prepare(self, ids: tuple[str, ...]) -> None:
        """Find out who is alike, and where the actions of those go."""
        self._ids, self._plan = ids, None
        numbers = list(map(self._index.get, ids))
        if None in numbers:
            return
        self._slots = slots = np.array(numbers)
        kinds = self._kinds[slots]
        plan: list[tuple] = []
        for kind in dict.fromkeys(kinds.tolist()):
            if self._parts[kind] is None:
                return
            there = np.flatnonzero(kinds == kind)
            rows = self._rows.take(slots[there])
            parts = [(*part, places.take(rows, 0)) for *part, places in self._parts[kind]]
            plan.append((None if len(there) == len(ids) else there.tolist(), parts))
        self._plan = plan


class Masks:
    """Keeps the action masks of all channels whose actors make them.

    Args:
        actors: ``{channel: actor}``.
        layout: Function of a channel that says where the masks of its agents lie.
    """

    def __init__(self, actors: Any, layout: Any) -> None:
        self._actors, self._layout = actors, layout
        self._arrays: dict[Any, tuple[np.ndarray, Layout]] | None = None

    def update(self, parts: Any) -> dict:
        """Make the masks of the present state, ``{channel: {block: bool array}}``.

        Args:
            parts: Pairs of the actors of some worlds and the number of the first of these.
        """
        if self._arrays is None:
            made = [key for key, actor in self._actors.items() if hasattr(actor, "masks")]
            layouts = {key: self._layout(key) for key in made}
            self._arrays = {key: (np.zeros(one.size, bool), one) for key, one in layouts.items()}
        for actors, low in parts:
            for key, (flat, layout) in self._arrays.items():
                actors[key].masks(flat, layout.slots, layout.shard(low))
        return {key: layout.views(flat) for key, (flat, layout) in self._arrays.items()}


class AgentMasks:
    """The action masks of a single simulation, agent by agent.

    Args:
        store: The store of the simulation.
        actors: ``{channel: actor}``.
    """

    def __init__(self, store: Store, actors: Any) -> None:
        self._store, self._actors = store, actors
        self._masks = Masks(actors, self._layout)

    def read(self) -> dict:
        """``{agent id: {channel: bool array}}`` of the present state, fresh arrays."""
        found: dict[str, dict] = {agent_id: {} for agent_id in self._store.ids}
        for key, blocks in self._masks.update([(self._actors, 0)]).items():
            for agent_id, block in blocks.items():
                found[agent_id][key] = block[0, 0].copy()
        return {agent_id: masks for agent_id, masks in found.items() if masks}

    def _layout(self, key: str) -> Layout:
        actor, ids = self._actors[key], self._store.ids
        blocks = {
            ids[slot]: (np.array([slot]), actor.mask_shape(slot))
            for slot in range(len(ids))
            if actor.form(slot) is not None
        }
        return Layout(blocks, 1, len(ids))
