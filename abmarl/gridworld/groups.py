"""Groups: agents of equal class, parameters and spaces, handled as one block of rows.

Every agent belongs to one group; the groups whose agents learn are those of a vectorised
simulation. A layout says where the rows of a channel of each group lie in one flat array.
"""

import functools
from dataclasses import dataclass
from typing import Any

import numpy as np


@dataclass(frozen=True, eq=False)
class Group:
    """Some agents that are alike.

    Attributes:
        name: What everything of a vectorised simulation is keyed by.
        agent_ids: Their ids, in the order of the agents.
        slots: int64 [n], their numbers, ascending.
        encoding: Their encoding.
        observation_space, action_space: Dict spaces of one agent, channel by channel, with the
            dtypes of the arrays; None as long as the simulation is not finalized.
    """

    name: str
    agent_ids: tuple
    slots: np.ndarray
    encoding: int
    observation_space: object = None
    action_space: object = None

    def __len__(self) -> int:
        return len(self.agent_ids)

    @functools.cached_property
    def index(self) -> Any:
        """Select the group's columns of a [B, N] array: a slice (a view) wherever possible."""
        first, last, count = int(self.slots[0]), int(self.slots[-1]), len(self)
        step = (last - first) // (count - 1) if count > 1 else 1
        if np.array_equal(self.slots, np.arange(first, last + 1, step)):
            return slice(first, last + 1, step)
        return self.slots


def find_groups(agents: dict, traits: np.ndarray) -> dict:
    """Sort the agents into groups, by name, in the order of their first agents.

    Agents form a group when class, parameters and group name are equal. A group without a name is
    called after its class, with the encoding and, if need be, a number behind it.

    Raises:
        ValueError: Agents of one group name differ in class or parameters.
    """
    members: dict[tuple, list[int]] = {}
    for slot, agent in enumerate(agents.values()):
        key = (agent.group, type(agent), traits[slot].tobytes())
        members.setdefault(key, []).append(slot)
    named = [key[0] for key in members if key[0] is not None]
    for name in named:
        if named.count(name) > 1:
            raise ValueError(
                f"The agents of group {name!r} differ in class or parameters; agents of one group "
                "must be alike, so give them different group names."
            )
    ids = list(agents)
    names = _names(members, traits)
    return {
        name: Group(
            name, tuple(ids[s] for s in slots), np.array(slots), int(traits["encoding"][slots[0]])
        )
        for name, slots in zip(names, members.values(), strict=True)
    }


def _names(members: dict[tuple, list[int]], traits: np.ndarray) -> list[str]:
    plain = [group or _snake(kind.__name__.removesuffix("Agent")) for group, kind, _ in members]
    first = [slots[0] for slots in members.values()]
    encoded = [
        name if key[0] or plain.count(name) == 1 else f"{name}_{traits['encoding'][slot]}"
        for name, key, slot in zip(plain, members, first, strict=True)
    ]
    names = []
    for name in encoded:
        number = 2
        unique = name
        while unique in names:
            unique, number = f"{name}_{number}", number + 1
        names.append(unique)
    return names


def _snake(name: str) -> str:
    parts = "".join(f"_{c.lower()}" if c.isupper() else c for c in name)
    return parts.strip("_") or "agent"


class Layout:
    """Where the rows of the agents lie in a flat array of one channel.

    Agents come in blocks ``[num_worlds, n, *shape]``, which follow one another.

    Args:
        blocks: ``{name: (slots, shape)}``: the agents of a block, ascending, and the shape of
            one agent's entry.
        num_worlds, num_agents: Sizes of the store.

    Attributes:
        rows_of: int [N, 2]: agent i of world b starts at ``rows_of[i, 0] + b * rows_of[i, 1]``;
            -1 for agents without rows.
        slots: uint32, the agents with rows, ascending.
        blocks: ``{name: (start, stop, shape of the block)}``; ``members`` maps the start of a
            block to its agents.
        size: Entries of the flat array.
    """

    def __init__(self, blocks: dict, num_worlds: int, num_agents: int) -> None:
        widths = {name: int(np.prod(shape, dtype=np.int64)) for name, (_, shape) in blocks.items()}
        size = num_worlds * sum(len(slots) * widths[name] for name, (slots, _) in blocks.items())
        dtype = np.int32 if size <= np.iinfo(np.int32).max else np.int64
        self.rows_of = np.full((num_agents, 2), -1, dtype)
        self.blocks = {}
        self.members = {}
        self.size = 0
        for name, (slots, shape) in blocks.items():
            width = widths[name]
            self.members[self.size] = slots
            self.rows_of[slots, 0] = self.size + width * np.arange(len(slots))
            self.rows_of[slots, 1] = width * len(slots)
            stop = self.size + num_worlds * len(slots) * width
            self.blocks[name] = (self.size, stop, (num_worlds, len(slots), *shape))
            self.size = stop
        self._shards = {0: self.rows_of}
        self.slots = np.flatnonzero(self.rows_of[:, 0] >= 0).astype(np.uint32)

    def shard(self, low: int) -> np.ndarray:
        """``rows_of`` for a part of the worlds whose first one is ``low``."""
        if low not in self._shards:
            rows_of = self._shards[low] = self.rows_of.copy()
            rows_of[:, 0] += low * np.maximum(rows_of[:, 1], 0)
        return self._shards[low]

    def views(self, flat: np.ndarray) -> dict:
        """Return the blocks of a flat array by group, views ``[num_worlds, n, *shape]``."""
        return {
            name: flat[start:stop].reshape(shape)
            for name, (start, stop, shape) in self.blocks.items()
        }
