"""Handing work to waiting threads and getting it back, within a microsecond and without the GIL.

A thread that waits looks again and again at a word of memory, its mailbox. That is faster by far
than being woken up, and as costly as computing, so it gives up after a while: ``serve`` and
``finish`` then return, and Python waits in the ordinary way.

``mail`` is int64 [helpers, 16], a row per helper on cache lines of its own: the number of the
piece of work that is wanted, and of the one that has been done.
"""

import platform

from llvmlite import ir
from numba.core import cgutils, types
from numba.extending import intrinsic

from abmarl.kernels.compile import kernel, rule
from abmarl.kernels.program import run_calls

WANTED, DONE = 0, 8
ROW = 16
# Looks at a mailbox before giving up, with a pause of some 40 to 100 cycles between them.
PATIENCE = 6000
_PAUSE = "llvm.x86.sse2.pause" if platform.machine() in ("x86_64", "AMD64") else None


def _place(context, builder, array_type, array, row, column):
    """The address of an entry of a C-ordered int64 array with two dimensions."""
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
def _pause(typing_context):
    def generate(context, builder, signature, arguments):
        if _PAUSE:
            form = ir.FunctionType(ir.VoidType(), [])
            builder.call(cgutils.get_or_insert_function(builder.module, form, _PAUSE), [])
        return context.get_dummy_value()

    return types.void(), generate


@rule
def _arrives(mail, row, column, number):
    """Waits until the entry is ``number`` or more, for a while; returns whether it is."""
    for _ in range(PATIENCE):
        if _load(mail, row, column) >= number:
            return True
        _pause()
    return False


@kernel
def serve(mail, row, table, done):
    """What a helper does: says that piece ``done`` is done, and waits for the next one.

    With a table of calls it makes them itself whenever work is wanted, and goes on waiting.
    Returns the number of the last piece that was done, and whether there is one to be done.
    """
    while True:
        _store(mail, row, DONE, done)
        if not _arrives(mail, row, WANTED, done + 1):
            return done, False
        if table.shape[0] == 0:
            return done, True
        run_calls(table)
        done += 1


@kernel
def lead(mail, number, table):
    """Hands piece ``number`` to every helper, makes the calls of the own table and waits.

    Returns whether all helpers are done; if not, ``finish`` goes on waiting.
    """
    for row in range(mail.shape[0]):
        _store(mail, row, WANTED, number)
    if table.shape[0] == 0:
        return False
    run_calls(table)
    for row in range(mail.shape[0]):
        if not _arrives(mail, row, DONE, number):
            return False
    return True


@kernel
def finish(mail, number):
    """Waits a while for all helpers; returns whether they are done."""
    for row in range(mail.shape[0]):
        if not _arrives(mail, row, DONE, number):
            return False
    return True
