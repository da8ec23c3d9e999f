"""Tables that are made of data in the repository."""

import json
from pathlib import Path

RATIOS = Path(__file__).parents[2] / "benchmarks" / "ratios.json"

# What the contests of benchmarks/contests.py compare: a kernel with the same rule in plain loops
# that numba compiles, where nothing else is said.
MEANING = {
    "windows": "windows of encodings",
    "windows behind blockers": "windows behind walls",
    "stacked windows": "windows with a layer per encoding",
    "team windows": "windows of teams",
    "attack": "attacks",
    "attack behind blockers": "attacks behind walls",
    "move": "moves",
    "done": "one team remaining",
    "close step": "the bookkeeping of episodes, against NumPy",
    "reset to start cells": "resets to given cells",
    "reset to random cells": "resets to random cells",
    "action masks": "action masks",
    "random turns": "a random order of the agents, against NumPy",
    "sampled actions": "random actions, against NumPy",
    "ravel": "24,000 observations ravelled at once, against one by one",
    "flatten": "24,000 observations flattened at once, against one by one",
    "vectorised / single": "1,024 worlds, against a single one in a manager, per agent that acts",
    "two threads / one": "two threads, as a part of what two cores give at best",
    "blockers / none": "walls that hide things, against walls that do not",
    "large world / small": "10,000 agents in a world, against 1,000, per agent",
    "PettingZoo / vectorised": "162 agents through PettingZoo, against one vectorised world",
    "Gymnasium / vectorised": "1,024 worlds through Gymnasium, against the bare simulation",
}


def ratios() -> list[tuple[str, str]]:
    """Rows of the table: what is compared, and how many times as fast it is."""
    measured = json.loads(RATIOS.read_text())
    return [(MEANING.get(name, name), f"{ratio:.2g}" if ratio < 10 else f"{ratio:.0f}")
            for name, ratio in measured.items()]  # fmt: skip
