"""How adapters show what they hold, in the modes that Gymnasium names."""

from collections.abc import Sequence
from typing import Any

from abmarl.render import modes
from abmarl.render.modes import RENDER_FPS, RENDER_MODES

METADATA = {"render_modes": list(RENDER_MODES), "render_fps": RENDER_FPS}


def check_render_mode(mode: Any, known: Sequence[str] = RENDER_MODES) -> str | None:
    """The mode itself.

    Args:
        mode: what was asked for.
        known: the modes that there are.

    Raises:
        ValueError: there is no such mode.
    """
    if mode is not None and mode not in known:
        raise ValueError(
            f"render_mode must be None or {' or '.join(map(repr, known))}, got {mode!r}"
        )
    return mode


def render(sim: Any, mode: str | None, world: int = 0) -> Any:
    """Show a world.

    Args:
        sim: a simulation, single or vectorised, or a manager or wrapper around one.
        mode: one of `RENDER_MODES`, or None.
        world: which world of a vectorised simulation.

    Returns:
        For ``"rgb_array"`` uint8 ``[height, width, 3]``, for ``"ansi"`` text; for ``"human"``, a
        window that stays open for the next call, None.

    Raises:
        ValueError: the mode is None, or the simulation has no grid to write as text.
        OSError: there is no screen for a window.
        ImportError: what draws is not installed.
    """
    if mode is None:
        raise ValueError('nothing to render without a mode: make it with render_mode="rgb_array"')
    return modes.show(sim, mode, world)


def close(sim: Any) -> None:
    """Close the window of a simulation, if it has one. For the ``close`` of adapters."""
    modes.close(sim)
