"""The old place of `MultiCorridor`, which is in `abmarl.examples` now."""

import warnings

from abmarl.examples.sim.multi_corridor import MultiCorridor

warnings.warn(
    "abmarl.sim.corridor has moved: from abmarl.examples import MultiCorridor",
    DeprecationWarning,
    stacklevel=2,
)

__all__ = ["MultiCorridor"]
