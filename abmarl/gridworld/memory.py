"""How much memory there is, so that what does not fit is refused before it starts."""

import os
import sys
from pathlib import Path

# Left to the rest of the process (policies, a recording, the interpreter) and to the machine.
RESERVE = 0.05


def available_memory() -> int | None:
    """Number of bytes that this process may still allocate without swapping or being killed.

    The smallest of what the machine has free, what the control groups of the process allow and
    what its own address space limit allows, less a reserve of five percent.

    Returns:
        Bytes, or None where the system does not tell.
    """
    rooms = [room for room in (machine_room(), group_room(), address_room()) if room is not None]
    return int(max(0, min(rooms)) * (1 - RESERVE)) if rooms else None


def machine_room(meminfo: str = "/proc/meminfo") -> int | None:
    """Bytes the machine has available."""
    try:
        for line in Path(meminfo).read_text().splitlines():
            if line.startswith("MemAvailable:"):
                return int(line.split()[1]) * 1024
    except (OSError, ValueError, IndexError):
        pass
    for name in ("SC_AVPHYS_PAGES", "SC_PHYS_PAGES"):
        try:
            pages, size = os.sysconf(name), os.sysconf("SC_PAGE_SIZE")
        except (AttributeError, ValueError, OSError):
            continue
        if pages > 0 and size > 0:
            return pages * size
    return None


def group_room(root: str = "/sys/fs/cgroup", membership: str = "/proc/self/cgroup") -> int | None:
    """Bytes left in the tightest control group around this process (version 2 or 1)."""
    try:
        lines = Path(membership).read_text().splitlines()
    except OSError:
        return None
    rooms = []
    for line in lines:
        _, controllers, path = [*line.split(":", 2), "", ""][:3]
        if controllers == "":
            base, limit, used = Path(root), "memory.max", "memory.current"
            cache = "inactive_file"
        elif "memory" in controllers.split(","):
            base, limit, used = (
                Path(root, "memory"),
                "memory.limit_in_bytes",
                ("memory.usage_in_bytes"),
            )
            cache = "total_inactive_file"
        else:
            continue
        here = base / path.strip("/")
        # A container often sees its own group as the root, so the path may not exist: go upwards.
        for folder in [here, *here.parents]:
            rooms.append(_room_of(folder, limit, used, cache))
            if folder == base:
                break
    rooms = [room for room in rooms if room is not None]
    return min(rooms) if rooms else None


def _room_of(folder: Path, limit: str, used: str, cache: str) -> int | None:
    try:
        bound = int((folder / limit).read_text())  # version 2 says "max" for no limit
        taken = int((folder / used).read_text())
    except (OSError, ValueError):
        return None
    reclaimable = 0
    try:
        for line in (folder / "memory.stat").read_text().splitlines():
            name, _, value = line.partition(" ")
            if name == cache:
                reclaimable = int(value)
    except (OSError, ValueError):
        pass
    return max(0, bound - taken + reclaimable)


def address_room() -> int | None:
    """Bytes left under ``ulimit -v``."""
    if sys.platform == "win32":
        return None
    import resource

    bound, _ = resource.getrlimit(resource.RLIMIT_AS)
    if bound == resource.RLIM_INFINITY:
        return None
    try:
        taken = int(Path("/proc/self/statm").read_text().split()[0]) * os.sysconf("SC_PAGE_SIZE")
    except (OSError, ValueError, IndexError):
        taken = 0
    return max(0, bound - taken)


def readable_bytes(number: float) -> str:
    """``1234567`` -> ``'1.2 MB'``."""
    for unit in ("bytes", "kB", "MB", "GB", "TB", "PB"):
        if number < 1000 or unit == "PB":
            return f"{number:.0f} {unit}" if unit == "bytes" else f"{number:.1f} {unit}"
        number /= 1000
    return f"{number:.1f} PB"
