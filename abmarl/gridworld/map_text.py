"""Writing what is on a grid as the text of a map."""

from collections import Counter

import numpy as np

from abmarl.gridworld.map import check_characters


def write_map(grid, written, characters) -> str:
    """The agents on a grid as the text of a map.

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


def _by_encodings(characters):
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


def _character(agents, written, by_encodings, cell):
    parts = [written.get(name) for name in agents]
    if None not in parts:
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
