"""The former place of `abmarl.terminal`."""

from abmarl.terminal import ProgressBar as Bar
from abmarl.terminal import progress as reporter
from abmarl.terminal import readable_rate

__all__ = ["Bar", "readable_rate", "reporter"]
