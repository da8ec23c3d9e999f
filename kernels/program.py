"""Programs: calls of kernels, bound to their arrays once and run one after another.

Calling a kernel from Python costs a microsecond or two, and afterwards the thread has to take the
GIL back, which is what keeps threads from running side by side when the kernels are short. A
program hands a whole step over at once: it is a table of addresses that one compiled loop walks
through with the GIL released. What runs are the very same compiled kernels.
"""

import numpy as np
from llvmlite import ir
from numba import typeof
from numba.core import types
from numba.core.compiler_lock import global_compiler_lock
from numba.core.dispatcher import Dispatcher
from numba.extending import intrinsic

from abmarl.kernels.compile import kernel, rule

_WORD = ir.IntType(64)
_BYTES = ir.IntType(8).as_pointer()


class Call:
    """A kernel with its arguments.

    The arrays are those that the kernel works on whenever the call is run: they must be changed
    in place, and stay alive as long as the call does. Numbers are fixed.

    Args:
        function: A kernel.
        arguments: Its arguments: arrays, bools, ints, floats, and tuples of them.
    """

    def __init__(self, function, *arguments):
        self.function = function
        self.arguments = arguments

    def __call__(self):
        """Run the kernel by itself and return its result."""
        return self.function(*self.arguments)


class Program:
    """Steps that run in order.

    Args:
        steps: ``Call`` objects and plain functions without parameters. Calls that follow one
            another run in one go, without Python and without the GIL.

    Attributes:
        native: Whether it is nothing but calls of kernels; ``table`` is then int64 [calls, 2], the
            addresses of the calls and of their arguments, as ``run_table`` takes them.
    """

    def __init__(self, steps):
        self._parts = []
        run = []
        for step in [*steps, None]:
            # Without numba, kernels are plain functions.
            if isinstance(step, Call) and isinstance(step.function, Dispatcher):
                run.append(step)
                continue
            if run:
                self._parts.append(_Segment(run))
                run = []
            if step is not None:
                self._parts.append(step)
        self.native = len(self._parts) == 1 and isinstance(self._parts[0], _Segment)
        self.table = self._parts[0].table if self.native else np.zeros((0, 2), np.int64)

    def __call__(self):
        """Run the steps."""
        for part in self._parts:
            part()

    def __reduce__(self):
        # It holds addresses of arrays: where its owner is copied or pickled, None takes its place.
        return _nothing, ()


def _nothing():
    return None


class _Segment:
    """Calls that follow one another, as a table; keeps alive what the table points to."""

    def __init__(self, calls):
        self._calls = calls
        self._blocks = []
        self.table = np.zeros((len(calls), 2), np.int64)
        for k, call in enumerate(calls):
            entry = _entry(call.function, tuple(map(typeof, call.arguments)))
            block = np.array([0, *_words(call.arguments)], np.int64)[1:]
            self._blocks.append(block)
            self.table[k] = entry, block.ctypes.data

    def __call__(self):
        run_table(self.table)


_entries = {}


@global_compiler_lock
def _entry(function, signature):
    """Return the address of ``void entry(char *block)``, which calls a kernel.

    The arguments of the kernel are read from the block.
    """
    key = function, signature
    if key not in _entries:
        function.compile(signature)
        compiled = function.overloads[signature]
        context, described = compiled.target_context, compiled.fndesc
        address = compiled.library.get_pointer_to_function(described.llvm_func_name)
        library = context.codegen().create_library("abmarl.entry")
        module = library.create_ir_module("abmarl.entry")
        name = f"abmarl_entry_{len(_entries)}"
        entry = ir.Function(module, ir.FunctionType(ir.VoidType(), [_BYTES]), name)
        builder = ir.IRBuilder(entry.append_basic_block())
        values, offset = [], 0
        for kind in described.argtypes:
            value, offset = _load(context, builder, entry.args[0], kind, offset)
            values.append(value)
        form = context.call_conv.get_function_type(described.restype, described.argtypes)
        callee = builder.inttoptr(ir.Constant(_WORD, address), form.as_pointer())
        # Kernels raise nothing, and what they return is for those who call them from Python.
        context.call_conv.call_function(
            builder, callee, described.restype, described.argtypes, values
        )
        builder.ret_void()
        library.add_ir_module(module)
        library.finalize()
        _entries[key] = library.get_pointer_to_function(name), library
    return _entries[key][0]


def _load(context, builder, block, kind, offset):
    """Return the argument at ``offset`` bytes in the block, and where the next one begins.

    Tuples lie there member by member, arrays as numba lays them out in memory.
    """
    if isinstance(kind, types.BaseTuple):
        members = []
        for member in kind:
            value, offset = _load(context, builder, block, member, offset)
            members.append(value)
        return context.make_tuple(builder, kind, members), offset
    place = builder.gep(block, [ir.Constant(_WORD, offset)])
    model = context.data_model_manager[kind]
    place = builder.bitcast(place, model.get_data_type().as_pointer())
    words = 5 + 2 * kind.ndim if isinstance(kind, types.Array) else 1
    return model.load_from_data_pointer(builder, place, align=8), offset + 8 * words


def _words(argument):
    """Yield the 64-bit words of an argument, as ``_load`` reads them."""
    if isinstance(argument, tuple):
        for member in argument:
            yield from _words(member)
    elif isinstance(argument, np.ndarray):
        yield from (0, 0, argument.size, argument.itemsize, argument.ctypes.data)
        yield from (*argument.shape, *argument.strides)
    elif isinstance(argument, float):
        yield int(np.float64(argument).view(np.int64))
    else:
        yield int(argument)


@intrinsic
def _call_at(typing_context, address, block):
    def generate(context, builder, signature, arguments):
        form = ir.FunctionType(ir.VoidType(), [_BYTES])
        callee = builder.inttoptr(arguments[0], form.as_pointer())
        builder.call(callee, [builder.inttoptr(arguments[1], _BYTES)])
        return context.get_dummy_value()

    return types.void(types.int64, types.int64), generate


@rule
def run_calls(table):
    """Make the calls of a table int64 [calls, 2], one after another."""
    for k in range(table.shape[0]):
        _call_at(table[k, 0], table[k, 1])


@kernel
def run_table(table):
    """Do as ``run_calls``, from Python."""
    run_calls(table)
