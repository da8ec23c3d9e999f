"""The agents that super agents cover, in the groups of a vectorised simulation."""

from collections import OrderedDict
from dataclasses import dataclass

import numpy as np
from gymnasium.spaces import Dict, MultiBinary

from abmarl.gridworld.groups import Group
from abmarl.gridworld.vector.wrapping import mapped
from abmarl.kernels.spaces import blank_rows
from abmarl.sim.covers import MASK
from abmarl.sim.spaces import is_given


@dataclass(frozen=True, eq=False)
class Member:
    """A learning agent: its group, its column there, and what it shows when it is done."""

    agent_id: str
    group: Group
    column: int
    null: dict

    @property
    def slot(self) -> int:
        """The agent's number."""
        return int(self.group.slots[self.column])

    def of(self, array):
        """The agent's entries in those of its group, a view ``[B, 1, ...]``."""
        return array[:, self.column : self.column + 1]


class Part:
    """The covered agents of a group: who they are, and their null observations one below another.

    Where an agent has none, that of another one stands in its row, and ``has_null`` is False.
    """

    def __init__(self, members):
        self.agent_ids = [member.agent_id for member in members]
        self.columns = np.array([member.column for member in members])
        self.slots = np.array([member.slot for member in members])
        self.has_null = np.array([is_given(member.null) for member in members])
        self.nulls = None
        if self.has_null.any():
            some = members[int(self.has_null.argmax())].null
            nulls = [member.null if is_given(member.null) else some for member in members]
            self.nulls = mapped(lambda *points: np.stack(points), *nulls)

    def blank(self, gone):
        """Function of an array ``[B, n, ...]`` and the null points ``[len(self.slots), ...]``.

        It puts the null points where covered agents are ``gone``, bool [B, len(self.slots)].
        """

        def put(array, nulls):
            rows = array.reshape(*array.shape[:2], -1)
            blank_rows(gone, self.columns, nulls.reshape(len(nulls), -1), rows)

        return put


def parts_of(members_of) -> dict:
    """The covered agents by the name of their group."""
    found = {}
    for members in members_of.values():
        for member in members:
            found.setdefault(member.group.name, []).append(member)
    return {name: Part(members) for name, members in found.items()}


def super_group(name, members) -> Group:
    """The group that a super agent is: one agent with the spaces of its members side by side."""
    # An OrderedDict, because gymnasium would sort the keys of another one.
    observations = OrderedDict((one.agent_id, one.group.observation_space) for one in members)
    observations[MASK] = Dict(OrderedDict((one.agent_id, MultiBinary(1)) for one in members))
    return Group(
        name=name,
        agent_ids=(name,),
        slots=np.array([member.slot for member in members]),
        encoding=members[0].group.encoding,
        observation_space=Dict(observations),
        action_space=Dict(OrderedDict((one.agent_id, one.group.action_space) for one in members)),
    )


def wide(nested):
    """Arrays of the same shapes that hold every number a user may give, to be checked later."""
    return mapped(
        lambda array: np.zeros(array.shape, np.int64 if array.dtype.kind in "iu" else np.float64),
        nested,
    )


def fill(target, given, where):
    """Copies a user's arrays into arrays of the simulation."""
    if isinstance(target, dict):
        if not isinstance(given, dict) or given.keys() != target.keys():
            raise ValueError(
                f"{where} must be a dict with {list(target)}, "
                f"got {list(given) if isinstance(given, dict) else given!r:.60}."
            )
        for key, part in target.items():
            fill(part, given[key], f"{where}[{key!r}]")
        return
    given = np.asarray(given)
    if given.shape != target.shape:
        raise ValueError(f"{where} must have shape {target.shape}, got {given.shape}.")
    if given.dtype.kind not in ("iu" if target.dtype.kind == "i" else "iuf"):
        kind = "integers" if target.dtype.kind == "i" else "numbers"
        raise TypeError(f"{where} must be {kind}, got {given.dtype}.")
    target[...] = given
