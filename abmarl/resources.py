"""Memory and processors of this machine, to be asked before a large task starts."""

import os
from collections.abc import Callable

import psutil

# Left to the rest of the process (policies, a recording, the interpreter) and to the machine.
_RESERVE = 0.05


def available_memory() -> int:
    """Return the number of bytes that can be allocated without swapping, less five percent."""
    return int(psutil.virtual_memory().available * (1 - _RESERVE))


def check_memory(needed: int, task: str, advice: Callable[[int], str] | str = "") -> None:
    """Refuse a task for which there is not enough memory.

    Args:
        needed: Bytes that it takes.
        task: What takes them, with its verb: ``"1024 worlds need"``.
        advice: What to do instead; a function gets the number of bytes that there are.

    Raises:
        MemoryError: Says what is needed and what is available, then the advice.
    """
    available = available_memory()
    if needed > available:
        hint = advice(available) if callable(advice) else advice
        raise MemoryError(
            f"{task} {readable_bytes(needed)} of memory, {readable_bytes(available)} are available"
            f"{'; ' if hint else ''}{hint}"
        )


def available_cpus() -> int:
    """Return the number of logical processors that this process may run on."""
    process = psutil.Process()
    if hasattr(process, "cpu_affinity"):  # macOS has none
        return len(process.cpu_affinity())
    return os.cpu_count() or 1


def readable_bytes(number: float) -> str:
    """Return a number of bytes as text: ``1234567`` -> ``'1.2 MB'``."""
    for unit in ("bytes", "kB", "MB", "GB", "TB"):
        if number < 1000:
            return f"{number:.0f} {unit}" if unit == "bytes" else f"{number:.1f} {unit}"
        number /= 1000
    return f"{number:.1f} PB"
