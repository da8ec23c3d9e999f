"""Archives: the ``.npz`` files of rollouts and policies.

An archive is a zip file in the layout of ``numpy.savez_compressed``: one ``.npy`` entry per array,
named by its path (``observations/red/move.npy``), and one entry ``metadata.json``. ``numpy.load``
opens it too. Nothing in it is ever pickled, so reading executes nothing, and equal contents make
equal files. Spaces stand in the metadata as JSON, exactly::

    Box(-1, 1, (2,), int8)
    {"type": "Box", "dtype": "int8", "shape": [2], "low": -1, "high": 1}

Bounds that are the same everywhere are one number, infinite ones the strings "inf" and "-inf".
Entries of a Dict are pairs, because a JSON object has no integer keys.
"""

import contextlib
import json
import os
import zipfile
import zlib
from collections.abc import Callable, Iterable, Iterator
from typing import IO, Any
from urllib.parse import quote, unquote

import numpy as np
from gymnasium import spaces

import abmarl
from abmarl.files import replacing
from abmarl.resources import check_memory, readable_bytes
from abmarl.terminal import Progress, progress

METADATA = "metadata.json"

Arrays = dict[tuple[str, ...], np.ndarray]

_CHUNK = 1 << 22  # bytes compressed at a time
_EPOCH = (1980, 1, 1, 0, 0, 0)  # the entries' date: contents, not the clock, make the file
# The other methods of zip archives unpack a whole block at once, however large it gets.
_METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)


# Writing


def archive_path(path: str | os.PathLike, noun: str) -> str:
    """Refuse a path that an archive cannot be written to, before the work is done.

    Args:
        path: Where it is to be.
        noun: What is to be saved, with its article: ``"a rollout"``.

    Returns:
        The path as text.

    Raises:
        ValueError: When it does not end in ``.npz``, or exists and is not a file.
    """
    path = os.fspath(path)
    if not path.lower().endswith(".npz"):
        raise ValueError(f"{noun} is saved to a .npz file, not to {path!r}")
    if os.path.exists(path) and not os.path.isfile(path):
        raise ValueError(f"{path} is there and is not a file")
    return path


def save_archive(
    path: str, metadata: dict[str, Any], arrays: Arrays, *, show_progress: bool = False
) -> None:
    """Write an archive beside its place and move it there when it is complete.

    Args:
        path: Where to.
        metadata: What goes into ``metadata.json``.
        arrays: The arrays by their paths.
        show_progress: Whether to report on stderr.

    Raises:
        OSError: When it cannot be written, as on a full disk; names the path.
    """
    total = sum(array.nbytes for array in arrays.values())
    show_progress = show_progress and total >= 1_000_000  # what is smaller is there at once
    title, note = f"writing {path}", f"{readable_bytes(total)} before compression"
    with (
        replacing(path, note=note) as file,
        progress(title, total // 1_000_000, "MB", show_progress) as report,
    ):
        write_archive(file, metadata, arrays, report)


def write_archive(
    file: IO[bytes], metadata: dict[str, Any], arrays: Arrays, report: Progress
) -> None:
    """Write an archive entry by entry, piece by piece.

    Args:
        file: An open binary file.
        metadata: What goes into ``metadata.json``.
        arrays: The arrays by their paths.
        report: Where to report the megabytes that are written.

    Raises:
        OSError: When the file takes no more.
    """
    archive = zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED, allowZip64=True, compresslevel=1)
    try:
        with archive.open(_entry(METADATA), "w") as entry:
            entry.write(json.dumps(metadata, indent=1, allow_nan=False).encode())
        done = 0
        for names, array in arrays.items():
            array = np.ascontiguousarray(array)
            # Names of groups and channels may hold any character, ``/`` included.
            name = "/".join(quote(part, safe=" ") for part in names) + ".npy"
            with archive.open(_entry(name), "w", force_zip64=True) as entry:
                np.lib.format.write_array_header_1_0(
                    entry, np.lib.format.header_data_from_array_1_0(array)
                )
                raw = array.reshape(-1).view(np.uint8).data
                for first in range(0, len(raw), _CHUNK):
                    done += entry.write(raw[first : first + _CHUNK])
                    report.update(done // 1_000_000)
    except BaseException:
        # Closing writes the directory of entries; on a full disk that fails once more.
        with contextlib.suppress(Exception):
            archive.close()
        raise
    archive.close()


def _entry(name: str) -> zipfile.ZipInfo:
    info = zipfile.ZipInfo(name, _EPOCH)
    info.compress_type = zipfile.ZIP_DEFLATED
    setattr(info, "_compresslevel", 1)  # noqa: B010 - public from Python 3.13 on, as compress_level
    info.external_attr = 0o644 << 16
    return info


# Reading


@contextlib.contextmanager
def reading_archive(
    path: str | os.PathLike, noun: str, known_format: str, known_version: int
) -> Iterator[tuple[dict[str, Any], Arrays]]:
    """Read an archive; explain errors of the ``with`` block as faults of its contents.

    What is missing raises KeyError there, what is of the wrong kind TypeError or AttributeError.

    Args:
        path: The file.
        noun: What it should be, with its article: ``"a rollout"``.
        known_format: The format that is wanted.
        known_version: Its newest version.

    Yields:
        The metadata, and the arrays by their paths.

    Raises:
        ValueError: When it is something else, damaged, cut off, incomplete or of a newer version.
        MemoryError: When it does not fit.
        OSError: When it cannot be read.
    """
    path = os.fspath(path)
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
                metadata = _read_metadata(archive, path, noun, known_format, known_version)
                yield metadata, _read_arrays(archive, path)
            except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError) as error:
                raise ValueError(f"{path} is damaged: {error}") from error
            except KeyError as error:
                name = error.args[0]
                name = "/".join(name) if isinstance(name, tuple) else name
                whole = f"a whole {noun.partition(' ')[2]}"
                raise ValueError(f"{path} is not {whole}: {name} is missing") from error
            except (TypeError, AttributeError) as error:
                raise ValueError(f"{path} is damaged: {METADATA} is not in order") from error


def check_entries(path: str, entries: Iterable[zipfile.ZipInfo]) -> None:
    """Refuse entries that cannot be read within the memory that there is.

    Args:
        path: The file, for messages.
        entries: What is going to be read and kept.

    Raises:
        ValueError: When one is packed by another method than those of ``numpy.savez`` and
            ``torch.save``.
        MemoryError: When they do not fit.
    """
    needed = 0
    for info in entries:
        if info.compress_type not in _METHODS:
            raise ValueError(f"{path} is damaged: {info.filename} is neither stored nor deflated")
        needed += info.file_size
    check_memory(needed, f"{path} needs")


def read_entry(archive: zipfile.ZipFile, info: zipfile.ZipInfo) -> bytes:
    """Return the contents of an entry that `check_entries` has passed.

    ``archive.read`` unpacks everything before it looks at the size.

    Raises:
        zipfile.BadZipFile: When there is more or something else in it than the archive says.
    """
    with archive.open(info) as entry:
        return entry.read(info.file_size)


def _read_metadata(
    archive: zipfile.ZipFile, path: str, noun: str, known_format: str, known_version: int
) -> dict[str, Any]:
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


def _read_arrays(archive: zipfile.ZipFile, path: str) -> Arrays:
    entries = [info for info in archive.infolist() if info.filename.endswith(".npy")]
    check_entries(path, entries)
    arrays = {}
    for info in entries:
        names = tuple(unquote(part) for part in info.filename.removesuffix(".npy").split("/"))
        with archive.open(info) as entry:
            arrays[names] = _read_array(entry, info, path)
    return arrays


def _read_array(entry: Any, info: zipfile.ZipInfo, path: str) -> np.ndarray:
    """Read one array into its place, without a second copy."""
    try:
        np.lib.format.read_magic(entry)
        shape, fortran, dtype = np.lib.format.read_array_header_1_0(entry)
    except ValueError as error:
        raise ValueError(f"{path} is damaged: {info.filename} is not an array") from error
    size = int(np.prod(shape, dtype=object)) * dtype.itemsize
    if dtype.hasobject or fortran or size > info.file_size:
        raise ValueError(f"{path} is damaged: {info.filename} does not hold what it says")
    array = np.empty(shape, dtype)
    raw = array.reshape(-1).view(np.uint8).data
    done = 0
    while done < size:
        read = entry.readinto(raw[done : done + _CHUNK])
        if not read:
            raise ValueError(f"{path} is cut off: {info.filename} ends too early")
        done += read
    entry.read()  # to the end of the entry, where its checksum is compared
    return array


# Spaces as JSON


def space_to_json(space: spaces.Space) -> dict[str, Any]:
    """Describe a space as JSON.

    Args:
        space: Box, Discrete, MultiDiscrete, MultiBinary, or a Dict (str or int keys) or Tuple of
            such.

    Returns:
        A structure that ``json.dumps`` takes, in strict JSON.

    Raises:
        TypeError: For any other space or key.
    """
    for kind, (write, _) in _SPACES.items():
        if type(space).__name__ == kind:
            return {"type": kind, **write(space)}
    known = ", ".join(_SPACES)
    raise TypeError(
        f"a space of type {type(space).__name__} cannot be written; allowed are {known}"
    )


def space_from_json(description: dict[str, Any]) -> spaces.Space:
    """Return the space that `space_to_json` described.

    Raises:
        ValueError: When the description is not one.
    """
    try:
        return _SPACES[description["type"]][1](description)
    except (KeyError, TypeError, IndexError, AttributeError) as error:
        raise ValueError(f"not the description of a space: {description!r}") from error


def _write_box(space: spaces.Box) -> dict[str, Any]:
    return {
        "dtype": np.dtype(space.dtype).name,
        "shape": list(space.shape),
        "low": _numbers(space.low),
        "high": _numbers(space.high),
    }


def _read_box(description: dict[str, Any]) -> spaces.Box:
    dtype, shape = np.dtype(description["dtype"]), tuple(description["shape"])
    return spaces.Box(
        _array(description["low"], shape, dtype),
        _array(description["high"], shape, dtype),
        shape,
        dtype,
    )


def _write_discrete(space: spaces.Discrete) -> dict[str, Any]:
    return {"n": int(space.n), "start": int(space.start), "dtype": np.dtype(space.dtype).name}


def _read_discrete(description: dict[str, Any]) -> spaces.Discrete:
    n, start, dtype = description["n"], description["start"], np.dtype(description["dtype"])
    # Older gymnasium versions know one dtype only and take no such argument.
    more = {} if dtype == np.int64 else {"dtype": dtype}
    return spaces.Discrete(n, start=start, **more)


def _write_multi_discrete(space: spaces.MultiDiscrete) -> dict[str, Any]:
    return {
        "nvec": space.nvec.tolist(),
        "start": space.start.tolist(),
        "dtype": np.dtype(space.dtype).name,
    }


def _read_multi_discrete(description: dict[str, Any]) -> spaces.MultiDiscrete:
    dtype = np.dtype(description["dtype"])
    return spaces.MultiDiscrete(
        np.array(description["nvec"], dtype),
        dtype=dtype,
        start=np.array(description["start"], dtype),
    )


def _write_multi_binary(space: spaces.MultiBinary) -> dict[str, Any]:
    return {"n": list(space.n) if isinstance(space.n, tuple) else int(space.n)}


def _read_multi_binary(description: dict[str, Any]) -> spaces.MultiBinary:
    return spaces.MultiBinary(description["n"])


def _write_dict(space: spaces.Dict) -> dict[str, Any]:
    for key in space.spaces:
        if isinstance(key, bool) or not isinstance(key, str | int | np.integer):
            raise TypeError(f"the key {key!r} of a Dict space cannot be written; use str or int")
    return {
        "spaces": [
            [key if isinstance(key, str) else int(key), space_to_json(inner)]
            for key, inner in space.spaces.items()
        ]
    }


def _read_dict(description: dict[str, Any]) -> spaces.Dict:
    # A sequence of pairs keeps its order; a dict would be sorted.
    return spaces.Dict([(key, space_from_json(inner)) for key, inner in description["spaces"]])


def _write_tuple(space: spaces.Tuple) -> dict[str, Any]:
    return {"spaces": [space_to_json(inner) for inner in space.spaces]}


def _read_tuple(description: dict[str, Any]) -> spaces.Tuple:
    return spaces.Tuple([space_from_json(inner) for inner in description["spaces"]])


_SPACES: dict[str, tuple[Callable[[Any], dict], Callable[[dict], spaces.Space]]] = {
    "Box": (_write_box, _read_box),
    "Discrete": (_write_discrete, _read_discrete),
    "MultiDiscrete": (_write_multi_discrete, _read_multi_discrete),
    "MultiBinary": (_write_multi_binary, _read_multi_binary),
    "Dict": (_write_dict, _read_dict),
    "Tuple": (_write_tuple, _read_tuple),
}


def _numbers(array: np.ndarray) -> Any:
    """Return an array as nested lists, or as one number when it is the same everywhere."""
    if array.size and (array == array.flat[0]).all():
        return _number(array.flat[0])
    return _nested(array.tolist())


def _nested(value: Any) -> Any:
    return [_nested(entry) for entry in value] if isinstance(value, list) else _number(value)


def _number(value: Any) -> Any:
    value = value.item() if isinstance(value, np.generic) else value
    return str(value) if isinstance(value, float) and np.isinf(value) else value


def _array(value: Any, shape: tuple[int, ...], dtype: np.dtype) -> np.ndarray:
    if isinstance(value, list):
        entries = [float(v) if isinstance(v, str) else v for v in _flat(value)]
        return np.array(entries, dtype).reshape(shape)
    return np.full(shape, float(value) if isinstance(value, str) else value, dtype)


def _flat(value: Any) -> list:
    return [e for entry in value for e in _flat(entry)] if isinstance(value, list) else [value]
