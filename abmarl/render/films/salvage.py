"""What can still be played of a film whose encoder has died, as on a full disk.

A fragmented MP4 (ISO/IEC 14496-12) is a row of boxes, each with its size in front, of which every
pair of moof and mdat is a part of the film. A GIF (GIF89a specification, CompuServe 1990) is a row
of blocks. Both are cut after the last part that is whole.
"""

import os
from pathlib import Path
from typing import BinaryIO


def salvage(path: Path, suffix: str) -> bool:
    """Cut a film after its last whole part, in place.

    Args:
        path: the film.
        suffix: ``".mp4"`` or ``".gif"``.

    Returns:
        Whether there was a whole part.
    """
    if not path.is_file():  # no device either
        return False
    with open(path, "r+b") as file:
        size = os.fstat(file.fileno()).st_size
        if suffix == ".mp4":
            end = _end_of_parts(file, size)
            file.truncate(end)
            return end > 0
        # The byte that ends a GIF must find room in the file: there may be none behind it.
        ends = [end for end in _ends_of_images(file) if end < size]
        if not ends:
            return False
        file.seek(ends[-1])
        file.write(b";")
        file.truncate()
        return True


def _end_of_parts(file: BinaryIO, size: int) -> int:
    """Where the last whole mdat box of an MP4 ends; 0 without one."""
    at = end = 0
    while at + 16 <= size:
        file.seek(at)
        head = file.read(16)
        length = int.from_bytes(head[:4], "big")
        if length == 1:
            length = int.from_bytes(head[8:], "big")
        if length < 8 or at + length > size:
            break
        at += length
        if head[4:8] == b"mdat":
            end = at
    return end


def _ends_of_images(file: BinaryIO) -> list[int]:
    """Where the whole images of a GIF end."""
    head = file.read(13)
    if len(head) < 13 or head[:3] != b"GIF":
        return []
    file.seek(_size_of_colors(head[10]), os.SEEK_CUR)
    ends = []
    while (kind := file.read(1)) in (b"!", b","):
        if kind == b"!":
            file.read(1)
        else:
            descriptor = file.read(9)
            if len(descriptor) < 9:
                break
            file.seek(_size_of_colors(descriptor[8]) + 1, os.SEEK_CUR)
        if not _skip_data(file):
            break
        if kind == b",":
            ends.append(file.tell())
    return ends


def _size_of_colors(flags: int) -> int:
    return 3 * 2 ** ((flags & 7) + 1) if flags & 0x80 else 0


def _skip_data(file: BinaryIO) -> bool:
    """Go behind a row of blocks that ends with an empty one; False when the file ends before."""
    while length := file.read(1):
        if length == b"\0":
            return True
        if len(file.read(length[0])) < length[0]:
            break
    return False
