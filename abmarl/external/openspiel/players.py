"""Players: agents have ids, OpenSpiel numbers its players from 0."""

import operator
from collections.abc import Container, Mapping, Sequence
from numbers import Real
from typing import Any

from abmarl.sim.agent_based_simulation import PrincipleAgent


class ByPlayer(dict):
    """A value per player, by agent id in the order of the players, or by the player's number.

    Iteration, length and comparison are those of the dict by id.
    """

    def __missing__(self, player: Any) -> Any:
        try:
            number = operator.index(player)
        except TypeError:
            number = -1
        if not 0 <= number < len(self):
            raise KeyError(
                f"no player {player!r}: they are {', '.join(self)}, or 0..{len(self) - 1}"
            )
        return list(self.values())[number]


class Player(str):
    """The id of an agent that also counts as the number of the player.

    It equals both and serves as an index of a list. As a key of a dict it is the id.
    """

    number: int

    def __new__(cls, agent_id: str, number: int) -> "Player":
        self = super().__new__(cls, agent_id)
        self.number = number
        return self

    def __getnewargs__(self) -> tuple[str, int]:
        return str(self), self.number

    def __index__(self) -> int:
        return self.number

    __int__ = __index__
    __hash__ = str.__hash__

    def __eq__(self, other: Any) -> bool:
        if isinstance(other, str):
            return str.__eq__(self, other)
        try:
            return self.number == operator.index(other)
        except TypeError:
            return False

    def __ne__(self, other: Any) -> bool:
        return not self == other


def discounts_of(value: float | Mapping[str, float], ids: list[str]) -> dict[str, float]:
    """A discount per agent, of one number for all or of a dict by id.

    Raises:
        TypeError: a discount is not a number.
        ValueError: a discount is not in [0, 1], or the ids are not exactly those of the agents.
    """
    given = value if isinstance(value, Mapping) else dict.fromkeys(ids, value)
    if given.keys() != set(ids):
        raise ValueError(
            f"discounts must be for exactly the agents {', '.join(ids)}, "
            f"got {', '.join(map(str, given)) or 'none'}"
        )
    for agent_id, discount in given.items():
        if not isinstance(discount, Real) or isinstance(discount, bool):
            raise TypeError(f"the discount of {agent_id!r} must be a number, got {discount!r}")
        if not 0 <= discount <= 1:
            raise ValueError(f"the discount of {agent_id!r} must be in [0, 1], got {discount}")
    return {agent_id: float(given[agent_id]) for agent_id in ids}


def actions_of(
    actions: Sequence[int], asked: Mapping[str, PrincipleAgent], gone: Container[str]
) -> dict[str, int]:
    """The actions of those that are asked and not gone, by id.

    Args:
        actions: one per agent that is asked, in their order.
        asked: the agents by id.
        gone: ids of agents that are done; their actions are dropped, whatever they are.

    Raises:
        TypeError: `actions` is not a list.
        ValueError: there are too many or too few of them, or one is not in its space.
    """
    if isinstance(actions, Mapping | str) or not hasattr(actions, "__len__"):
        raise TypeError(
            f"actions must be a list in the order of the players, got {type(actions).__name__}"
        )
    if len(actions) != len(asked):
        ids = ", ".join(list(asked)[:8]) + (", ..." if len(asked) > 8 else "")
        raise ValueError(f"actions must be a list of {len(asked)}, for {ids}, got {len(actions)}")
    found = {}
    for (agent_id, agent), action in zip(asked.items(), actions, strict=True):
        if agent_id in gone:
            continue
        try:
            found[agent_id] = operator.index(action)
        except TypeError:
            found[agent_id] = -1
        if not 0 <= found[agent_id] < agent.action_space.n:
            raise ValueError(
                f"action of agent {agent_id!r} is {action!r}, not in {agent.action_space}"
            )
    return found
