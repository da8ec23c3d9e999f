"""Entries of zip archives from anywhere: what they say of their sizes, they are held to."""

import zipfile
from collections.abc import Iterable

from abmarl.resources import check_memory

# The other methods of zip archives unpack a whole block at once, however large it gets.
_METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)


def check_entries(path: str, entries: Iterable[zipfile.ZipInfo]) -> None:
    """Refuse entries that cannot be read within the memory that there is.

    Args:
        path: The file, for messages.
        entries: What is going to be read and kept.

    Raises:
        ValueError: One is packed by another method than those of ``numpy.savez`` and `torch.save`.
        MemoryError: They do not fit.
    """
    needed = 0
    for info in entries:
        if info.compress_type not in _METHODS:
            raise ValueError(f"{path} is damaged: {info.filename} is neither stored nor deflated")
        needed += info.file_size
    check_memory(needed, f"{path} needs")


def read_entry(archive: zipfile.ZipFile, info: zipfile.ZipInfo) -> bytes:
    """The contents of an entry that `check_entries` has passed.

    ``archive.read`` unpacks everything before it looks at the size.

    Raises:
        zipfile.BadZipFile: There is more or something else in it than the archive says.
    """
    with archive.open(info) as entry:
        return entry.read(info.file_size)
