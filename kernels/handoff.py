"""Handing work to waiting threads and getting it back, within a microsecond and without the GIL.

A thread that waits looks again and again at a word of memory. That is faster by far than being
woken up, and as costly as computing, so it gives up after a while: ``serve`` and ``finish`` then
return, and Python waits in the ordinary way. A helper may also be kept from running by other
processes: who takes a piece of work first does it, the helper or the leader.

``mail`` is int64 [helpers, 24], a row per helper with three words on cache lines of their own: the
number of the piece of work that is wanted, of the last one that somebody took, and of the last
one that is done.
"""

import os
import platform

from llvmlite import ir
from numba.core import cgutils, types
from numba.extending import intrinsic

from abmarl.kernels.compile import kernel, rule
from abmarl.kernels.program import run_calls

WANTED, TAKEN, DONE = 0, 8, 16
ROW = 24
# How often a waiting thread looks, with a pause of some 40 to 100 cycles in between, before it
# lets another thread use its core; and how often it does that before it gives up.
LOOKS = 50
PATIENCE = 120
_PAUSE = "llvm.x86.sse2.pause" if platform.machine() in ("x86_64", "AMD64") else None


def _place(context, builder, array_type, array, row, column):
    """Return the address of an entry of a C-ordered int64 array with two dimensions."""
    made = context.make_array(array_type)(context, builder, array)
    width = builder.extract_value(made.shape, 1)
    return builder.gep(made.data, [builder.add(builder.mul(row, width), column)])


@intrinsic
def _load(typing_context, array, row, column):
    def generate(context, builder, signature, arguments):
        place = _place(context, builder, signature.args[0], *arguments)
        return builder.load_atomic(place, "acquire", 8)

    return types.int64(array, types.intp, types.intp), generate


@intrinsic
def _store(typing_context, array, row, column, value):
    def generate(context, builder, signature, arguments):
        place = _place(context, builder, signature.args[0], *arguments[:3])
        builder.store_atomic(arguments[3], place, "release", 8)
        return context.get_dummy_value()

    return types.void(array, types.intp, types.intp, types.int64), generate


@intrinsic
def _swap(typing_context, array, row, column, before, after):
    def generate(context, builder, signature, arguments):
        place = _place(context, builder, signature.args[0], *arguments[:3])
        found = builder.cmpxchg(place, arguments[3], arguments[4], "acq_rel", "acquire")
        return builder.zext(builder.extract_value(found, 1), ir.IntType(8))

    return types.uint8(array, types.intp, types.intp, types.int64, types.int64), generate


@intrinsic
def _pause(typing_context):
    def generate(context, builder, signature, arguments):
        if _PAUSE:
            form = ir.FunctionType(ir.VoidType(), [])
            builder.call(cgutils.get_or_insert_function(builder.module, form, _PAUSE), [])
        return context.get_dummy_value()

    return types.void(), generate


@intrinsic
def _yield(typing_context):
    def generate(context, builder, signature, arguments):
        if hasattr(os, "sched_yield"):
            form = ir.FunctionType(ir.IntType(32), [])
            name = "sched_yield"  # of the C library
            builder.call(cgutils.get_or_insert_function(builder.module, form, name), [])
        return context.get_dummy_value()

    return types.void(), generate


@rule
def _arrives(mail, row, column, number):
    """Wait until the entry is ``number`` or more, for a while; return whether it is."""
    for _ in range(PATIENCE):
        for _ in range(LOOKS):
            if _load(mail, row, column) >= number:
                return True
            _pause()
        _yield()
    return False


@rule
def _take(mail, row, number):
    """Take a piece of work; return False when somebody else has it already."""
    return _swap(mail, row, TAKEN, number - 1, number) == 1


@kernel
def serve(mail, row, table, seen, finished):
    """Wait until work is wanted, and take it: what a helper does.

    With a table of calls it makes them itself and goes on waiting; with an empty one it returns
    to have the piece done. ``seen`` is the number of the last piece that it knows of;
    ``finished``, if not 0, of one that has been done meanwhile.

    Returns the number of the last piece seen, and whether that is to be done now.
    """
    if finished > 0:
        _store(mail, row, DONE, finished)
    while _arrives(mail, row, WANTED, seen + 1):
        seen = _load(mail, row, WANTED)
        if not _take(mail, row, seen):
            continue
        if table.shape[0] == 0:
            return seen, True
        run_calls(table)
        _store(mail, row, DONE, seen)
    return seen, False


@kernel
def lead(mail, number, tables, bounds):
    """Hand piece ``number`` to every helper, and does the own one and those nobody has taken.

    ``tables[bounds[k] : bounds[k + 1]]`` are the calls of the leader (k = 0) and of the helper of
    row k - 1; without calls the pieces are only handed out.

    Returns whether everything is done; if not, ``finish`` goes on waiting.
    """
    for row in range(mail.shape[0]):
        _store(mail, row, WANTED, number)
    if tables.shape[0] == 0:
        return False
    run_calls(tables[bounds[0] : bounds[1]])
    for row in range(mail.shape[0]):
        if _take(mail, row, number):
            run_calls(tables[bounds[row + 1] : bounds[row + 2]])
            _store(mail, row, DONE, number)
    for row in range(mail.shape[0]):
        if not _arrives(mail, row, DONE, number):
            return False
    return True


@kernel
def take(mail, row, number):
    """Take a helper's piece of work; return False when the helper has it already."""
    return _take(mail, row, number)


@kernel
def finish(mail, number):
    """Wait a while for all helpers; return whether they are done."""
    for row in range(mail.shape[0]):
        if not _arrives(mail, row, DONE, number):
            return False
    return True
