"""Seeds that adapters are given for the reset of a manager."""

from typing import Any

from abmarl.managers import SimulationManager, TurnBasedManager


def prepare_seed(manager: SimulationManager, seed: Any) -> None:
    """Get a manager ready for a reset with a seed, which decides everything, also who is first.

    Args:
        manager: what is about to be reset.
        seed: the seed; None: nothing is to be done.

    Raises:
        TypeError, ValueError: it is no seed. Nothing has changed, while the manager would end the
            episode before the simulation refuses the seed.
    """
    if seed is None:
        return
    # Grid worlds come in with it, which those who only ask for names need not load.
    from abmarl.gridworld.seeding import parse_seed

    parse_seed(seed)
    if isinstance(manager, TurnBasedManager):
        manager.restart_order()
