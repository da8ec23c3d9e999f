"""Orders of a person, and the actions of an agent that follow from them."""

from typing import Any, NamedTuple

import numpy as np

from abmarl.gridworld.actor import (
    BinaryAttackActor,
    CrossMoveActor,
    EncodingBasedAttackActor,
    MoveActor,
    RestrictedSelectiveAttackActor,
    SelectiveAttackActor,
)

_CROSS = {(0, 0): 0, (0, -1): 1, (1, 0): 2, (0, 1): 3, (-1, 0): 4}
_AIMED = (SelectiveAttackActor, RestrictedSelectiveAttackActor)
_ATTACKS = (BinaryAttackActor, EncodingBasedAttackActor, *_AIMED)


class Order(NamedTuple):
    """What a person wants an agent to do in a step.

    Attributes:
        way: Rows and columns to move by, each -1, 0 or 1.
        use: Whether to attack, or to do whatever else the agent can do.
        cell: Row and column to attack, for agents that choose the cell; None: the nearest target.
    """

    way: tuple[int, int] = (0, 0)
    use: bool = False
    cell: tuple[int, int] | None = None


WAIT = Order()


class Pilot:
    """Turns orders into the actions of one agent of a vectorised simulation of one world.

    Moves and attacks of the package are known, wrapped or not. On any other channel that is one
    number, ``use`` is the highest one; everything else stays at its null action.

    Args:
        vec: The vectorised simulation.
        agent_id: An agent that acts.

    Attributes:
        group: The name of its group.
        place: Its number in the group.
        slot: Its number among all agents.
        moves: Whether it moves at all.
        diagonal: Whether it moves to diagonal neighbours too.
        uses: Whether there is something to use: an attack, or a channel that is one number.
        attacks: Whether one of its actions is an attack.
        aims: Whether it chooses the cell that it attacks.

    Raises:
        ValueError: When there is no such agent, it does not act, or no action of it is known.
    """

    def __init__(self, vec: Any, agent_id: str) -> None:
        self.vec, self.agent_id = vec, agent_id
        self.group, self.place = place_of(vec, agent_id)
        group = vec.groups[self.group]
        self.slot = int(group.slots[self.place])
        self._targets = sorted(vec.attackable(self.group))
        names = group.action_space.spaces
        self._actors = {key: vec.sim.actors[key] for key in names}
        inner = {key: actor.unwrapped for key, actor in self._actors.items()}
        kinds = inner.values()
        self.moves = any(isinstance(one, MoveActor | CrossMoveActor) for one in kinds)
        self.diagonal = any(isinstance(one, MoveActor) for one in kinds)
        self.attacks = any(isinstance(one, _ATTACKS) for one in kinds)
        self.aims = any(isinstance(one, _AIMED) for one in kinds)
        self.uses = self.aims or any(self._is_usable(key, one) for key, one in inner.items())
        if not self.moves and not self.uses:
            raise ValueError(
                f"agent {agent_id!r} cannot be played with keys: its actions are "
                f"{', '.join(map(repr, names))}, and none of them is a move or an attack"
            )

    def action(self, order: Order) -> dict[str, np.ndarray]:
        """Return the action of an order.

        Args:
            order: What to do. What the agent cannot do is left out.

        Returns:
            channel -> the agent's entry in the array of its group.
        """
        return {key: self._entry(actor, order) for key, actor in self._actors.items()}

    def reaches(self, cell: tuple[int, int]) -> bool:
        """Return whether it can aim at a cell."""
        return self.aims and self._offset(cell) is not None

    def _is_usable(self, key: str, actor: Any) -> bool:
        if isinstance(actor, MoveActor | CrossMoveActor):
            return False
        return isinstance(actor, _ATTACKS) or not self._actors[key].form(self.slot).shape

    def _entry(self, actor: Any, order: Order) -> np.ndarray:
        form = actor.form(self.slot)
        row = np.clip(np.zeros(form.width, form.narrow), form.low, form.high)
        row = row.astype(form.narrow)
        null = actor.null_of(self.slot)
        if null is not None:
            form.put(null, row, 0)
        point = self._point(actor.unwrapped, order)
        if point is not None:
            form.put(_wrapped(actor, self.slot, point), row, 0)
        return row.reshape(form.shape)

    def _point(self, actor: Any, order: Order) -> Any:
        """Return the point of the innermost actor, or None for its null action."""
        form = actor.form(self.slot)
        if isinstance(actor, MoveActor):
            return np.clip(order.way, form.low, form.high).astype(form.space.dtype)
        if isinstance(actor, CrossMoveActor):
            return _CROSS.get(order.way, 0)
        if isinstance(actor, _AIMED):
            return self._aimed(actor, form, order) if order.use else None
        if not order.use:
            return None
        if isinstance(actor, EncodingBasedAttackActor):
            return {leaf.path[0]: int(leaf.high[0]) for leaf in form.leaves}
        return int(form.high[0]) if not form.shape else None

    def _aimed(self, actor: Any, form: Any, order: Order) -> Any:
        cell = self._nearest() if order.cell is None else order.cell
        offset = None if cell is None else self._offset(cell)
        if offset is None:
            return None
        reach = self._reach()
        if isinstance(actor, RestrictedSelectiveAttackActor):
            number = (offset[0] + reach) * (2 * reach + 1) + offset[1] + reach + 1
            return np.full(form.shape, number, form.space.dtype)
        point = np.zeros(form.shape, form.space.dtype)
        point[offset[0] + reach, offset[1] + reach] = form.high.max()
        return point

    def _reach(self) -> int:
        return int(self.vec.store.traits["attack_range"][self.slot])

    def _offset(self, cell: tuple[int, int]) -> tuple[int, int] | None:
        """Return the way from the agent to a cell, or None where it does not reach."""
        down, right = np.asarray(cell) - self.vec.store.position[0, self.slot]
        return (int(down), int(right)) if max(abs(down), abs(right)) <= self._reach() else None

    def _nearest(self) -> tuple[int, int] | None:
        """Return the cell of the nearest agent that it may attack, the first one of several."""
        store = self.vec.store
        there = store.active[0] & np.isin(store.traits["encoding"], self._targets)
        there[self.slot] = False
        slots = np.flatnonzero(there)
        if not len(slots):
            return None
        away = np.abs(store.position[0, slots] - store.position[0, self.slot]).max(axis=1)
        row, col = store.position[0, slots[away.argmin()]].tolist()
        return row, col


def place_of(vec: Any, agent_id: str) -> tuple[str, int]:
    """Return the group of an agent, and its number in there.

    Raises:
        ValueError: When there is no such agent, or it does not act.
    """
    for name, group in vec.groups.items():
        if agent_id in group.agent_ids:
            return name, group.agent_ids.index(agent_id)
    acting = [name for group in vec.groups.values() for name in group.agent_ids]
    shown = ", ".join(map(repr, acting[:12])) + (", ..." if len(acting) > 12 else "")
    what = "does not act" if agent_id in vec.agents else "does not exist"
    raise ValueError(f"agent {agent_id!r} {what}; those that do are {shown}")


def _wrapped(actor: Any, slot: int, point: Any) -> Any:
    """Return the point of an actor for one of the innermost actor in it."""
    inner = actor.wrapped_component
    return point if inner is None else actor.number_of(slot, _wrapped(inner, slot, point))
