"""What is left of a game when its window is closed: a rollout and the score."""

import os
import shutil
import sys
import tempfile
from typing import Any

from abmarl.cli.errors import brief


def keep(game: Any, name: str, path: str | None) -> str:
    """Save what was played, elsewhere if need be; why it is not at its place, if it is not."""
    if path is None:
        return ""
    if not game.num_steps:
        print("nothing was played, so nothing is saved", file=sys.stderr)
        return ""
    from abmarl.rollout import save

    try:
        rollout = game.rollout(name)
        save(rollout, path)
    except OSError as error:
        # The disk is full, or the folder is gone: nobody plays the same game again.
        place = _keep_elsewhere(rollout)
        found = f"the game is in {place}" if place else "there was no other place to keep it"
        return f"--save: {brief(error)}\n{found}"
    except (ValueError, MemoryError) as error:
        return f"--save: {brief(error)}"
    print(f"wrote {path}", file=sys.stderr)
    return ""


def _keep_elsewhere(rollout: Any) -> str:
    """Save a game in a new folder where there is room for it: its file, or "" if there is none."""
    from abmarl.rollout import save

    for folder in (None, os.path.expanduser("~"), os.curdir):  # None: for temporary files
        made = ""
        try:
            made = os.path.abspath(tempfile.mkdtemp(prefix="abmarl-play-", dir=folder))
            place = os.path.join(made, "game.npz")
            save(rollout, place)
        except OSError:
            if made:
                shutil.rmtree(made, ignore_errors=True)
        else:
            return place
    return ""


def report(results: list, people: list[list[str]], name: str) -> None:
    """The score of every game that was ended, and of the one that was broken off."""
    from abmarl.cli.report import print_table

    rows = []
    for number, line in enumerate(results, 1):
        rows.append((f"game {number}, {line.steps} steps", "" if line.ended else "broken off"))
        for mine in people:
            rows += [(f"  {agent}", f"{line.agents[agent]:.2f}") for agent in mine]
        rows += [(f"  group {group}", f"{score:.2f}") for group, score in line.groups.items()]
    if rows:
        print_table(f"{name}: score", rows)
    else:
        print("nothing was played")
