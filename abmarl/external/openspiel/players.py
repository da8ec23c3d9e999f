"""Players: agents have ids, OpenSpiel numbers its players from 0."""

import operator
from typing import Any


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
