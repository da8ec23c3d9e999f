"""Worlds drawn as maps and streams with prepared numbers, for cases worked out by hand."""

from .streams import Stream
from .world import NaiveAgent, NaiveWorld

FIGHTER = {"encoding": 1, "attack_range": 2, "attack_strength": 0.6, "simultaneous_attacks": 2}
PREY = {"encoding": 2}
WALL = {"encoding": 3, "blocking": True}
LINE = {"a": FIGHTER, "b": PREY, "w": WALL}


class NoStream(Stream):
    """A stream for what must not draw."""

    def __init__(self):
        super().__init__([1, 2, 3, 4])

    def next_u64(self):
        raise RuntimeError("a number was drawn where none decides anything")


class Script(Stream):
    """A stream that hands out prepared uniforms and numbers below n."""

    def __init__(self, uniforms=(), belows=()):
        # No state: what is not prepared fails.
        self.uniforms = list(uniforms)
        self.belows = list(belows)

    def uniform(self):
        return self.uniforms.pop(0)

    def below(self, n):
        if n <= 1:
            return 0
        value = self.belows.pop(0)
        assert value < n
        return value


def world_of(text, overlapping=None, **kinds):
    """A world from a map: one letter per agent in reading order, ``.`` is an empty cell."""
    lines = text.split()
    agents, cells = [], []
    for r, line in enumerate(lines):
        for c, letter in enumerate(line):
            if letter != ".":
                agents.append(NaiveAgent(**kinds[letter]))
                cells.append((r, c))
    world = NaiveWorld(len(lines), len(lines[0]), agents, overlapping)
    for number, cell in enumerate(cells):
        assert world.place(number, cell)
    return world
