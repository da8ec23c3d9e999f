"""Which cells blocking agents hide from an observer.

Offsets are (row, column) relative to the observer. All geometry is done in half cells, where the
corners of cells are odd integers and their centres are even ones, so that it is exact.
"""

from functools import cache


def window_offsets(radius):
    """The offsets of a window in reading order."""
    side = range(-radius, radius + 1)
    return [(dr, dc) for dr in side for dc in side]


def cross(a, b):
    """Positive on one side of the ray from the observer through a, negative on the other."""
    return a[0] * b[1] - a[1] * b[0]


def tangent_rays(blocker):
    """The two corners of the blocker's square (offset not (0, 0)) that are outermost by angle."""
    corners = [(2 * blocker[0] + i, 2 * blocker[1] + j) for i in (-1, 1) for j in (-1, 1)]
    (first,) = [a for a in corners if all(cross(a, b) >= 0 for b in corners)]
    (last,) = [a for a in corners if all(cross(a, b) <= 0 for b in corners)]
    return first, last


@cache
def hides(blocker, cell):
    """True when an agent at offset ``blocker`` hides the cell at offset ``cell``."""
    if blocker == (0, 0) or cell == blocker:
        return False
    for away, here in zip(blocker, cell, strict=True):
        if (away > 0 and here < away) or (away < 0 and here > away):
            return False  # nearer than the blocker
    first, last = tangent_rays(blocker)
    centre = (2 * cell[0], 2 * cell[1])
    return cross(first, centre) > 0 and cross(last, centre) < 0


def hidden_offsets(radius, blockers):
    """The set of hidden offsets of a window, given the offsets of the blockers.

    A blocker outside of the window hides nothing.
    """
    blockers = [b for b in blockers if max(abs(b[0]), abs(b[1])) <= radius]
    return {cell for cell in window_offsets(radius) if any(hides(b, cell) for b in blockers)}


def hidden_from(world, position, radius):
    """The set of offsets hidden from somebody at ``position`` by the world's blocking agents."""
    blockers = set()
    for agent in world.agents:
        if agent.blocking and agent.active:
            row, col = agent.position
            blockers.add((row - position[0], col - position[1]))
    return hidden_offsets(radius, blockers)
