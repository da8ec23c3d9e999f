"""Pac-Man on a map of one's own: draw it, play it at random, and print what is left of it.

Run it:  python examples/pacman_on_your_map.py [map.txt]
"""

import sys
import tempfile
from pathlib import Path

import numpy as np

from abmarl.examples import pacman
from abmarl.managers import AllStepManager

# A ring of pellets around a cage, whose only door is on the right.
MAP = """
# # # # # # # # #
# o o o o o o o #
# o # # # # # o #
# o # G . . . o #
# o # # # # # o #
# P o o o o o o #
# # # # # # # # #
"""


def play(path, seed=0, steps=100):
    """Plays one episode with random turns; returns the simulation and what everybody earned."""
    sim = pacman(path)
    manager, rng = AllStepManager(sim), np.random.default_rng(seed)
    obs, done = manager.reset(seed=seed), {"__all__": False}
    earned = dict.fromkeys(obs, 0.0)
    for _ in range(steps):
        obs, rewards, done, _ = manager.step({name: {"move": rng.integers(5)} for name in obs})
        for name, reward in rewards.items():
            earned[name] += reward
        if done["__all__"]:
            break
    return sim, earned


def picture(grid):
    """Return the grid as text, with the foremost of those in a cell: a ghost before a pellet."""
    letters = " oPG#"  # by encoding
    return "\n".join(
        "".join(
            letters[max((one.encoding for one in grid[r, c].values()), default=0)]
            for c in range(grid.cols)
        ).rstrip()
        for r in range(grid.rows)
    )


def main():
    """Plays on the map of the command line, or on the one above."""
    with tempfile.TemporaryDirectory() as folder:
        path = sys.argv[1] if len(sys.argv) > 1 else Path(folder) / "ring.txt"
        if len(sys.argv) == 1:
            path.write_text(MAP)
        sim, earned = play(path)
    print(picture(sim.grid))
    print(", ".join(f"{name} {total:.2f}" for name, total in earned.items()))


if __name__ == "__main__":
    main()
