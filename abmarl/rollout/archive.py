"""Arrays in a zip archive: the layout of ``numpy.savez_compressed``, read and written in pieces."""

import contextlib
import errno
import json
import os
import zipfile
from collections.abc import Iterator
from typing import Any
from urllib.parse import quote, unquote

import numpy as np

import abmarl
from abmarl.resources import readable_bytes
from abmarl.rollout.entries import check_entries, read_entry
from abmarl.rollout.progress import reporter

METADATA = "metadata.json"
CHUNK = 1 << 22  # bytes compressed at a time
EPOCH = (1980, 1, 1, 0, 0, 0)  # the entries' date: contents, not the clock, make the file


def save_archive(
    given: str,
    path: str,
    metadata: dict[str, Any],
    arrays: list[tuple[tuple[str, ...], np.ndarray]],
    progress: bool = False,
) -> None:
    """Write an archive beside its place and move it there when it is whole.

    Args:
        given: The path as the user gave it, for messages.
        path: Where to, with symbolic links resolved.
        metadata: What goes into ``metadata.json``.
        arrays: The arrays with their paths.
        progress: Whether to report on stderr.

    Raises:
        OSError: When it cannot be written, as on a full disk; names the path.
    """
    temporary = f"{path}.{os.getpid()}.part"
    total = sum(array.nbytes for _, array in arrays)
    progress = progress and total >= 1_000_000  # what is smaller is there at once
    try:
        with (
            open(temporary, "xb") as file,
            reporter(f"writing {given}", total // 1_000_000, "MB", progress) as report,
        ):
            write_archive(file, metadata, arrays, report)
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, path)
    except OSError as error:
        if error.errno in (errno.ENOSPC, errno.EDQUOT):
            raise OSError(
                error.errno,
                f"no room left on the disk for {given} ({readable_bytes(total)} before "
                f"compression); nothing was written, free some space or choose another place",
            ) from error
        if error.filename in (None, temporary):
            raise OSError(
                error.errno, f"cannot write {given}: {error.strerror or error}"
            ) from error
        raise
    finally:
        with contextlib.suppress(OSError):
            os.unlink(temporary)


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


@contextlib.contextmanager
def opened_archive(path: str, noun: str) -> Iterator[zipfile.ZipFile]:
    """Open an archive, and say of whatever is wrong with its contents what it means.

    Args:
        path: The file.
        noun: What it should be, with its article: ``"a rollout"``.

    Raises:
        ValueError: When it is no archive, damaged, cut off or not whole.
        OSError: When it cannot be read.
    """
    with open(path, "rb") as file:
        start = file.read(4)
        try:
            archive = zipfile.ZipFile(file)
        except zipfile.BadZipFile as error:
            if start == b"PK\x03\x04":
                raise ValueError(f"{path} is cut off: its end is missing") from error
            raise ValueError(f"{path} is not {noun}: it is no .npz file") from error
        with archive:
            try:
                yield archive
            except (zipfile.BadZipFile, zipfile.zlib.error, EOFError, NotImplementedError) as error:
                raise ValueError(f"{path} is damaged: {error}") from error
            except KeyError as error:
                name = error.args[0]
                name = "/".join(name) if isinstance(name, tuple) else name
                raise ValueError(f"{path} is not {_whole(noun)}: {name} is missing") from error
            except (TypeError, AttributeError) as error:
                raise ValueError(f"{path} is damaged: {METADATA} is not in order") from error


def _whole(noun: str) -> str:
    return f"a whole {noun.partition(' ')[2]}"


def read_metadata(
    archive: zipfile.ZipFile, path: str, noun: str, known_format: str, known_version: int
) -> dict[str, Any]:
    """What an archive says of itself.

    Args:
        archive: The open archive.
        path, noun: As for `opened_archive`.
        known_format, known_version: The format that is wanted, and its newest version.

    Raises:
        ValueError: When it is of another format or of a newer version.
        MemoryError: When it does not fit.
    """
    if METADATA not in archive.namelist():
        raise ValueError(f"{path} is not {noun}: it has no {METADATA}")
    info = archive.getinfo(METADATA)
    check_entries(path, [info])
    try:
        metadata = json.loads(read_entry(archive, info))
        found, number = metadata["format"], int(metadata["format_version"])
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise ValueError(f"{path} is not {noun}: its {METADATA} is not one of ours") from error
    if found != known_format:
        raise ValueError(f"{path} is not {noun}: its format is {found!r}")
    if number > known_version:
        newer = metadata.get("versions", {}).get("abmarl", "a newer version")
        raise ValueError(
            f"{path} has format {number}, written by abmarl {newer}; this is abmarl "
            f"{abmarl.__version__}, which reads up to format {known_version}: please upgrade"
        )
    return metadata


def read_arrays(archive: zipfile.ZipFile, path: str) -> dict[tuple[str, ...], np.ndarray]:
    """All arrays of an archive by their paths.

    Raises:
        ValueError: When an entry is damaged.
        MemoryError: When they do not fit.
    """
    entries = [info for info in archive.infolist() if info.filename.endswith(".npy")]
    check_entries(path, entries)
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
