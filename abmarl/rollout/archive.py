"""The former place of `abmarl.archive`."""

from abmarl.archive import METADATA

__all__ = ["METADATA"]
