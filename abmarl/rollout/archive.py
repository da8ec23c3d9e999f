"""Arrays in a zip archive: the layout of ``numpy.savez_compressed``, read and written in pieces."""

import contextlib
import json
import zipfile
from typing import Any
from urllib.parse import quote, unquote

import numpy as np

from abmarl.gridworld.memory import available_memory, readable_bytes

METADATA = "metadata.json"
CHUNK = 1 << 22  # bytes compressed at a time
EPOCH = (1980, 1, 1, 0, 0, 0)  # the entries' date: contents, not the clock, make the file


def write_archive(
    file: Any,
    metadata: dict[str, Any],
    arrays: list[tuple[tuple[str, ...], np.ndarray]],
    report: Any,
) -> None:
    """Write an archive entry by entry, piece by piece.

    Args:
        file: An open binary file.
        metadata: What goes into ``metadata.json``.
        arrays: The arrays with their paths.
        report: Told with ``update(megabytes)`` how far it is.

    Raises:
        OSError: When the file takes no more.
    """
    archive = zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED, allowZip64=True, compresslevel=1)
    try:
        with archive.open(_entry(METADATA), "w") as entry:
            entry.write(json.dumps(metadata, indent=1, allow_nan=False).encode())
        done = 0
        for names, array in arrays:
            array = np.ascontiguousarray(array)
            with archive.open(_entry(_file_name(names)), "w", force_zip64=True) as entry:
                np.lib.format.write_array_header_1_0(
                    entry, np.lib.format.header_data_from_array_1_0(array)
                )
                raw = memoryview(array.reshape(-1).view(np.uint8))
                for first in range(0, len(raw), CHUNK):
                    done += entry.write(raw[first : first + CHUNK])
                    report.update(done // 1_000_000)
    except BaseException:
        # Closing writes the directory of entries; on a full disk that fails once more.
        with contextlib.suppress(Exception):
            archive.close()
        raise
    archive.close()


def _entry(name: str) -> zipfile.ZipInfo:
    info = zipfile.ZipInfo(name, EPOCH)
    info.compress_type = zipfile.ZIP_DEFLATED
    info._compresslevel = 1  # public as compress_level from Python 3.13 on only
    info.external_attr = 0o644 << 16
    return info


def _file_name(names: tuple[str, ...]) -> str:
    """Names of groups and channels may hold any character, ``/`` included."""
    return "/".join(quote(name, safe=" ") for name in names) + ".npy"


def read_arrays(archive: zipfile.ZipFile, path: str) -> dict[tuple[str, ...], np.ndarray]:
    """All arrays of an archive by their paths.

    Raises:
        ValueError: When an entry is damaged.
        MemoryError: When they do not fit.
    """
    entries = [info for info in archive.infolist() if info.filename.endswith(".npy")]
    needed, available = sum(info.file_size for info in entries), available_memory()
    if available is not None and needed > available:
        raise MemoryError(
            f"{path} needs {readable_bytes(needed)} of memory, {readable_bytes(available)} are "
            f"available"
        )
    arrays = {}
    for info in entries:
        names = tuple(unquote(part) for part in info.filename.removesuffix(".npy").split("/"))
        with archive.open(info) as entry:
            arrays[names] = _read_array(entry, info, path)
    return arrays


def _read_array(entry: Any, info: zipfile.ZipInfo, path: str) -> np.ndarray:
    """One column, read into its place without a second copy."""
    try:
        np.lib.format.read_magic(entry)
        shape, fortran, dtype = np.lib.format.read_array_header_1_0(entry)
    except ValueError as error:
        raise ValueError(f"{path} is damaged: {info.filename} is no array") from error
    size = int(np.prod(shape, dtype=object)) * dtype.itemsize
    if dtype.hasobject or fortran or size > info.file_size:
        raise ValueError(f"{path} is damaged: {info.filename} does not hold what it says")
    array = np.empty(shape, dtype)
    raw = memoryview(array.reshape(-1).view(np.uint8))
    done = 0
    while done < size:
        read = entry.readinto(raw[done : done + CHUNK])
        if not read:
            raise ValueError(f"{path} is cut off: {info.filename} ends too early")
        done += read
    entry.read()  # to the end of the entry, where its checksum is compared
    return array
