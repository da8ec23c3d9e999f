"""The compile policy: the one place that says how numba compiles and caches the kernels.

There is one compiled variant of every kernel. It is serial, releases the GIL and touches no
threading layer; parallel runs call it from several threads on disjoint slices of the worlds, which
keeps results independent of the number of threads and makes forking after use safe.
"""

import hashlib
import os
import platform
import sys
import tempfile
from pathlib import Path

import numba
import numpy as np
from llvmlite import ir
from numba.core import cgutils, types
from numba.core.caching import CompileResultCacheImpl, FunctionCache, _CacheLocator
from numba.extending import intrinsic

JIT = not numba.config.DISABLE_JIT
# Without ``_nrt`` numba counts references of arrays that pass from function to function; kernels
# allocate nothing, and the atomic counting would take most of their time.
# Nobody calls kernels from C.
_OPTIONS = {"nogil": True, "error_model": "numpy", "_nrt": False, "no_cfunc_wrapper": True}


def rule(function):
    """Compile a function for use inside kernels; it becomes part of the kernels that call it.

    It cannot be called from Python: to take a whole world apart there is most of its compile time.
    """
    return numba.njit(forceinline=True, no_cpython_wrapper=True, **_OPTIONS)(function)


def kernel(function):
    """Compile a function on its first call, and keep the result on disk for later processes.

    Only functions of this folder are kept: what is on disk is known by a hash of these files.
    """
    compiled = numba.njit(**_OPTIONS)(function)
    if JIT and Path(function.__code__.co_filename).parent == Path(__file__).parent:
        compiled._cache = _KernelCache(function)
    return compiled


def cache_folder() -> Path:
    """Return the folder of compiled kernels of exactly these sources on this kind of machine.

    ``ABMARL_CACHE_DIR`` names its parent; otherwise it is the user's cache folder, or, where that
    cannot be written, a private folder among the temporary files.
    """
    return _CACHE.folder()


class _CacheFolder:
    """Finds a writable folder once, keyed by a hash of every kernel source.

    numba notices a change in the file of a function, not one in another file that it calls; the
    hash makes any change of the kernels start with an empty folder.
    """

    def __init__(self):
        self._folder = None

    def folder(self) -> Path:
        if self._folder is None:
            files = sorted(Path(__file__).parent.glob("*.py"))
            sources = b"".join(path.read_bytes() for path in files)
            versions = f"{numba.__version__} {platform.python_version()} {platform.machine()}"
            name = f"kernels-{hashlib.sha256(sources + versions.encode()).hexdigest()[:16]}"
            self._folder = next(path for path in self._candidates(name) if _writable(path))
        return self._folder

    @staticmethod
    def _candidates(name: str):
        if os.environ.get("ABMARL_CACHE_DIR"):
            yield Path(os.environ["ABMARL_CACHE_DIR"]) / name
        home = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
        yield Path(home) / "abmarl" / name
        yield Path(tempfile.mkdtemp(prefix="abmarl-")) / name


def _writable(path: Path) -> bool:
    try:
        path.mkdir(parents=True, exist_ok=True)
        tempfile.TemporaryFile(dir=path).close()
    except OSError:
        return False
    # The cache is unpickled, so it must not be a folder that somebody else could fill.
    return not hasattr(os, "getuid") or path.stat().st_uid == os.getuid()


_CACHE = _CacheFolder()


class _Locator(_CacheLocator):
    def __init__(self, function):
        self._line = function.__code__.co_firstlineno

    def get_cache_path(self):
        return str(_CACHE.folder())

    def get_source_stamp(self):
        return 0  # the folder's name already holds the hash of the sources

    def get_disambiguator(self):
        return str(self._line)

    @classmethod
    def from_function(cls, function, source_file):
        return cls(function)


class _CacheImpl(CompileResultCacheImpl):
    _locator_classes = (_Locator,)


class _KernelCache(FunctionCache):
    _impl_class = _CacheImpl
    _announced = False

    def load_overload(self, signature, target_context):
        found = super().load_overload(signature, target_context)
        if found is None and not _KernelCache._announced:
            _KernelCache._announced = True
            message = "abmarl: compiling kernels for this machine; later runs find them on disk"
            print(message, file=sys.stderr, flush=True)
        return found

    def save_overload(self, signature, data):
        try:
            super().save_overload(signature, data)
        except OSError:
            # A full disk or a folder that vanished costs the next process some seconds, no more.
            self.disable()


def _block_copy(num_bytes: int):
    """Return a copy of a fixed number of bytes between flat arrays, one load and one store."""

    @intrinsic
    def copy(typing_context, target, to, source, start):
        def generate(context, builder, signature, arguments):
            def address(array_type, array, index):
                data = context.make_array(array_type)(context, builder, array).data
                return builder.bitcast(builder.gep(data, [index]), cgutils.voidptr_t)

            size = context.get_constant(types.intp, num_bytes)
            place = address(signature.args[0], arguments[0], arguments[1])
            origin = address(signature.args[2], arguments[2], arguments[3])
            cgutils.raw_memcpy(builder, place, origin, size, 1)
            return context.get_dummy_value()

        return types.void(target, types.intp, source, types.intp), generate

    return copy


@intrinsic
def _load_word(typing_context, array, index):
    def generate(context, builder, signature, arguments):
        data = context.make_array(signature.args[0])(context, builder, arguments[0]).data
        word = ir.IntType(64)
        place = builder.bitcast(builder.gep(data, [arguments[1]]), word.as_pointer())
        return builder.load(place, align=1)

    return types.uint64(array, types.intp), generate


@intrinsic
def _lowest_bit(typing_context, word):
    def generate(context, builder, signature, arguments):
        return builder.cttz(arguments[0], ir.Constant(ir.IntType(1), 1))

    return types.int64(types.uint64), generate


if JIT:

    @rule
    def load_word(array, index):
        """Return eight entries of a flat uint8 array as one uint64, the first one lowest."""
        return _load_word(array, index)

    @rule
    def lowest_bit(word):
        """Return the number of the lowest bit that is set in a uint64 other than 0."""
        return _lowest_bit(word)

    _copy4, _copy8, _copy16, _copy32 = (_block_copy(size) for size in (4, 8, 16, 32))

    @rule
    def _copy_rows(target, to, source, start, width, side):
        """Copy a short row as one block of fixed size.

        What that writes too much is overwritten by the next row, and the last row goes as two
        blocks that overlap.
        """
        size = side * target.itemsize
        last_to, last_start = to + (side - 1) * side, start + (side - 1) * width
        if 4 <= size <= 8:
            for r in range(side - 1):
                _copy8(target, to + r * side, source, start + r * width)
            back = side - 4 // target.itemsize
            _copy4(target, last_to, source, last_start)
            _copy4(target, last_to + back, source, last_start + back)
        elif 8 < size <= 16:
            for r in range(side - 1):
                _copy16(target, to + r * side, source, start + r * width)
            back = side - 8 // target.itemsize
            _copy8(target, last_to, source, last_start)
            _copy8(target, last_to + back, source, last_start + back)
        elif 16 < size <= 32:
            for r in range(side - 1):
                _copy32(target, to + r * side, source, start + r * width)
            back = side - 16 // target.itemsize
            _copy16(target, last_to, source, last_start)
            _copy16(target, last_to + back, source, last_start + back)
        else:
            for r in range(side):
                for c in range(side):
                    target[to + r * side + c] = source[start + r * width + c]

    @rule
    def copy_window(target, to, source, start, width, side):
        """Copy a square of ``side`` rows out of a flat array whose rows are ``width`` apart.

        Both arrays have one dtype. The usual sizes are constants, for which the compiler unrolls
        the loop over the rows.
        """
        if side == 5:
            _copy_rows(target, to, source, start, width, 5)
        elif side == 7:
            _copy_rows(target, to, source, start, width, 7)
        elif side == 9:
            _copy_rows(target, to, source, start, width, 9)
        else:
            _copy_rows(target, to, source, start, width, side)

else:

    def load_word(array, index):
        """Do as the compiled one."""
        return np.uint64(int.from_bytes(array[index : index + 8].tobytes(), "little"))

    def lowest_bit(word):
        """Do as the compiled one."""
        return (int(word) & -int(word)).bit_length() - 1

    def copy_window(target, to, source, start, width, side):
        """Do as the compiled one."""
        for r in range(side):
            at, row = to + r * side, start + r * width
            target[at : at + side] = source[row : row + side]
