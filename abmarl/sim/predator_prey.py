"""The old place of `PredatorPreySimulation`, which is in `abmarl.examples` now."""

import warnings

from abmarl.examples.sim.predator_prey import Predator, PredatorPreySimulation, Prey

warnings.warn(
    "abmarl.sim.predator_prey has moved: "
    "from abmarl.examples import PredatorPreySimulation, Predator, Prey",
    DeprecationWarning,
    stacklevel=2,
)

__all__ = ["Predator", "PredatorPreySimulation", "Prey"]
