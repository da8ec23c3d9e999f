"""Maps: a character per cell, read from arrays and text files, and written as text."""

import os
from collections import Counter
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import numpy as np

from abmarl.gridworld.agent import GridWorldAgent
from abmarl.gridworld.grid import Grid

EMPTY = ("0", ".", "_")
"""The characters that stand for an empty cell."""


class Map:
    """Rows of characters, which know where they come from.

    Args:
        rows: One list of str per row, all of the same length.
        where: Function of a row and a column that says in a message where a character stands.

    Attributes:
        shape: Number of rows and of columns.
    """

    def __init__(self, rows: list[list[str]], where: Callable[[int, int], str]) -> None:
        self.rows = rows
        self.where = where
        self.shape = len(rows), len(rows[0])

    @classmethod
    def of_array(cls, array: Any) -> "Map":
        """Return the map in a 2-D array of str; an empty str is an empty cell too.

        Raises:
            TypeError, ValueError: It is no such array.
        """
        try:
            array = np.asarray(array)
        except ValueError:
            lengths = [len(row) if hasattr(row, "__len__") else row for row in array]
            raise ValueError(
                f"The rows of the array must have one length; they have {lengths}."
            ) from None
        strings = array.dtype.kind == "U" or (
            array.dtype.kind in "OT" and all(isinstance(one, str) for one in array.flat)
        )
        if not strings:
            raise TypeError(
                "The array must hold str, one character per cell, "
                f"got {array.dtype} of shape {array.shape}."
            )
        if array.ndim != 2 or not array.size:
            raise ValueError(
                f"The array must be 2-D with a row and a column at least, got shape {array.shape}."
            )
        rows = [[one or EMPTY[1] for one in row] for row in array.tolist()]
        return cls(rows, lambda row, col: f"cell ({row}, {col})")

    @classmethod
    def read(cls, path: str | os.PathLike) -> "Map":
        """Return the map in a text file (UTF-8): characters separated by blanks, a line per row.

        Blank lines before and after it are ignored.

        Raises:
            FileNotFoundError: There is no such file.
            ValueError: It holds no map.
        """
        path = Path(os.fsdecode(path))
        try:
            text = path.read_text(encoding="utf-8-sig")
        except FileNotFoundError:
            raise FileNotFoundError(
                f"There is no map file {str(path)!r} (looked for in {os.getcwd()!r})."
            ) from None
        except UnicodeDecodeError as error:
            raise ValueError(
                f"{path} is no text in UTF-8 (byte {error.start}); save it in that encoding."
            ) from None
        lines = [line.split() for line in text.splitlines()]
        full = [number for number, line in enumerate(lines) if line]
        if not full:
            raise ValueError(f"{path} is empty; a map has one line per row, like '. A . B'.")
        first, last = full[0], full[-1]
        rows = lines[first : last + 1]

        def where(row: int, col: int) -> str:
            return f"line {first + row + 1}, column {col + 1} of {path}"

        for number, row in enumerate(rows):
            if len(row) != len(rows[0]):
                raise ValueError(
                    f"Line {first + number + 1} of {path} has {len(row)} characters, line "
                    f"{first + 1} has {len(rows[0])}; every row of a map is equally long."
                )
        return cls(rows, where)

    def populate(self, registry: dict) -> "list[Placed]":
        """Make the agents, row by row.

        Args:
            registry: ``{character: function of a running number that makes the agent}``, or
                several agents, as a list or tuple. The number counts the calls, of whatever
                character.

        Returns:
            One ``Placed`` per cell that is not empty.

        Raises:
            TypeError, ValueError: The registry is wrong, or a character is not in it.
        """
        check_registry(registry)
        placed: list[Placed] = []
        for row, line in enumerate(self.rows):
            for col, character in enumerate(line):
                if character in EMPTY:
                    continue
                where = self.where(row, col)
                if character not in registry:
                    raise ValueError(_unknown(character, where, registry))
                made = registry[character](len(placed))
                agents = list(made) if isinstance(made, list | tuple) else [made]
                if not agents or not all(isinstance(one, GridWorldAgent) for one in agents):
                    raise TypeError(
                        f"The function of {character!r} must return a GridWorldAgent, or a list "
                        f"of them, for {where}; it returned {made!r:.80}."
                    )
                placed.append(Placed((row, col), agents, where, character))
        return placed


class Placed:
    """The agents of one cell.

    Attributes:
        cell: Row and column.
        agents: The agents that start there.
        where: What a message says of the place.
        character: What stands for them on the map; None where there is no map.
    """

    def __init__(
        self,
        cell: tuple[int, int],
        agents: list[GridWorldAgent],
        where: str,
        character: str | None = None,
    ) -> None:
        self.cell, self.agents, self.where, self.character = cell, agents, where, character


def _unknown(character: str, where: str, registry: dict) -> str:
    if len(character) > 1:
        return (
            f"{where[0].upper()}{where[1:]} holds {character!r:.40}, which is more than one "
            "character; blanks separate the cells of a map."
        )
    known = " ".join(sorted(registry)) or "none"
    return (
        f"{where[0].upper()}{where[1:]} holds {character!r}, which is not in the object registry; "
        f"known are: {known} (and {' '.join(EMPTY)} for empty cells)."
    )


def check_registry(registry: Any) -> None:
    """Refuse what is not ``{character: function}``.

    Raises:
        TypeError, ValueError: It is not.
    """
    if not isinstance(registry, dict):
        raise TypeError(
            "object_registry must be a dict {character: function of a number}, "
            f"got {registry!r:.60}."
        )
    check_characters("object_registry", registry)
    for character, function in registry.items():
        if not callable(function):
            raise TypeError(
                f"object_registry[{character!r}] must be a function of a number that makes an "
                f"agent, like lambda n: GridWorldAgent(id=f'wall{{n}}', ...), got {function!r:.60}."
            )


def check_characters(name: str, characters: Iterable) -> None:
    """Refuse what cannot stand for agents on a map.

    Raises:
        TypeError, ValueError: Something is no single visible character, or means an empty cell.
    """
    for character in characters:
        if not isinstance(character, str):
            raise TypeError(f"{name} must name characters, which are str, got {character!r:.60}.")
        if len(character) != 1 or character.isspace():
            raise ValueError(
                f"{name} has {character!r:.40}; a cell is one character, and no blank."
            )
        if character in EMPTY:
            raise ValueError(
                f"{name} has {character!r}, which means an empty cell, as all of "
                f"{' '.join(EMPTY)} do; use another character."
            )


def write_map(grid: Grid, written: dict, characters: dict) -> str:
    """Return the agents on a grid as the text of a map.

    Args:
        grid: The grid.
        written: ``{agent id: (character, number, count)}`` of the agents that were made from a
            map: number ``number`` of the ``count`` agents that stand for one character.
        characters: ``{encoding or tuple of encodings: character}`` for cells with others.

    Returns:
        One line per row, characters separated by blanks.

    Raises:
        ValueError: No character stands for those in a cell.
    """
    by_encodings = _by_encodings(characters)
    lines = []
    for row in range(grid.rows):
        line = []
        for col in range(grid.cols):
            agents = grid[row, col]
            line.append(_character(agents, written, by_encodings, (row, col)) if agents else ".")
        lines.append(" ".join(line) + "\n")
    return "".join(lines)


def _by_encodings(characters: Any) -> dict[tuple, str]:
    if not isinstance(characters, dict):
        raise TypeError(f"characters must be a dict {{encoding: character}}, got {characters!r}.")
    check_characters("characters", characters.values())
    found = {}
    for encodings, character in characters.items():
        several = encodings if isinstance(encodings, tuple) else (encodings,)
        for encoding in several:
            if isinstance(encoding, bool) or not isinstance(encoding, int | np.integer):
                raise TypeError(
                    "characters must map an encoding, or a tuple of them for several agents in "
                    f"a cell, to a character, got {encodings!r:.60}."
                )
        found[tuple(sorted(several))] = character
    return found


def _character(
    agents: dict[str, GridWorldAgent],
    written: dict[str, tuple],
    by_encodings: dict[tuple, str],
    cell: tuple,
) -> str:
    parts = [written[name] for name in agents if name in written]
    if len(parts) == len(agents):
        character, _, count = parts[0]
        if Counter(parts) == Counter((character, k, count) for k in range(count)):
            return character
    encodings = tuple(sorted(agent.encoding for agent in agents.values()))
    if encodings in by_encodings:
        return by_encodings[encodings]
    wanted = encodings[0] if len(encodings) == 1 else encodings
    raise ValueError(
        f"No character stands for {', '.join(map(repr, agents))} in cell {cell}; "
        f"name one, to_map(characters={{{wanted}: 'x'}})."
    )
