"""The algorithms that ``run_or_experiment`` can name."""

from typing import Any

from abmarl.experiments.execute import ExperimentError
from abmarl.experiments.keys import nearest

OWN = ("PG", "A2C")


def make_config(name: Any) -> Any:
    """The settings of an algorithm to start from.

    Args:
        name: name of an algorithm of RLlib, ``"PG"`` or ``"A2C"``; or the class of an algorithm.

    Returns:
        An ``AlgorithmConfig``.

    Raises:
        ExperimentError: there is none of that name.
    """
    from ray.rllib.algorithms.registry import ALGORITHMS

    if hasattr(name, "get_default_config"):
        return name.get_default_config()
    if name in OWN:
        from abmarl.external.rllib import algorithms

        return getattr(algorithms, f"{name}Config")()
    if name not in ALGORITHMS:
        known = sorted([*OWN, *ALGORITHMS])
        raise ExperimentError(
            f"there is no algorithm {name!r:.60}{nearest(name, known)}; "
            f"there are {', '.join(known)}"
        )
    try:
        return ALGORITHMS[name]()[1]
    except ImportError as error:
        raise ExperimentError(f"algorithm {name}: {error}") from error
