"""Pictures of grid worlds: scenes, frames, windows, recordings and plots.

A `Scene` is a snapshot of one world; `frame` makes an image of it, `Recorder` a film of a
simulation, and `view` plays one in a window, a `Viewer` of something to show. Only a viewer needs a
screen. pygame, matplotlib and imageio-ffmpeg are imported by the first call that needs them.
"""

import importlib

_HOME = {
    "Scene": "scene",
    "Tracker": "tracker",
    "rgb": "colors",
    "draw": "surface",
    "frame": "surface",
    "picture_size": "layout",
    "Picture": "picture",
    "FrameWriter": "frames",
    "Recorder": "recorder",
    "show": "modes",
    "close": "modes",
    "Show": "shows",
    "SimulationShow": "shows",
    "PolicyShow": "shows",
    "Viewer": "viewer",
    "view": "viewer",
    "NoScreenError": "window",
    "plot_alive": "plots",
    "plot_matrix": "matrix",
}

__all__ = sorted(_HOME)


def __getattr__(name: str):
    if name in _HOME:
        return getattr(importlib.import_module(f"{__name__}.{_HOME[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
