"""The former place of `abmarl.resources`."""

from abmarl.resources import available_memory, readable_bytes

__all__ = ["available_memory", "readable_bytes"]
