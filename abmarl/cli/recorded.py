"""Rollouts from files, and the simulations that they were made with."""

import os
from typing import Any

from abmarl.cli.errors import UserError, for_the_user


def load_rollout(path: str) -> Any:
    """Read a rollout.

    Raises:
        UserError: It cannot be read, or is none.
    """
    from abmarl.rollout import load

    with for_the_user():
        rollout = load(path)
    if not rollout.num_steps:
        raise UserError(f"{path} holds no steps")
    return rollout


def simulation_of(rollout: Any, path: str, sim: str | None) -> Any:
    """The simulation that a rollout was made with.

    Args:
        rollout: The rollout.
        path: Its file.
        sim: The name or file that the user gives for it, or None.

    Raises:
        UserError: It is not known which one it was, or it cannot be made.
    """
    from abmarl.cli.simulation import load_simulation
    from abmarl.examples import shipped

    if sim is None and rollout.simulation not in shipped:
        raise UserError(
            f"{path} was made with {rollout.simulation!r}, which is none of the shipped "
            f"simulations\ngive its Python file: --sim {rollout.simulation}.py"
        )
    with for_the_user():
        return load_simulation(sim or rollout.simulation)


def name_of(path: str) -> str:
    """What to call a file."""
    return os.path.basename(path).removesuffix(".npz")
