"""The former place of `abmarl.archive`."""

from abmarl.archive import check_entries, read_entry

__all__ = ["check_entries", "read_entry"]
