"""Pictures of grid worlds: scenes, frames, recordings and plots.

A `Scene` is a snapshot of one world; `frame` makes an image of it, `Recorder` a film of images.
Nothing here opens a window or needs a screen, and pygame, matplotlib and imageio-ffmpeg are
imported by the first call that needs them, not before.
"""

import importlib

_HOME = {
    "Scene": "scene",
    "rgb": "colors",
    "draw": "surface",
    "frame": "surface",
    "picture_size": "layout",
    "Recorder": "recorder",
    "plot_alive": "plots",
    "plot_matrix": "matrix",
}

__all__ = ["Recorder", "Scene", "draw", "frame", "picture_size", "plot_alive", "plot_matrix", "rgb"]


def __getattr__(name: str):
    if name in _HOME:
        return getattr(importlib.import_module(f"{__name__}.{_HOME[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
