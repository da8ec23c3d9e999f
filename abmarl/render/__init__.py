"""Pictures of grid worlds: scenes, frames, windows, recordings and plots.

A `Scene` is a snapshot of one world; `frame` makes an image of it, `Recorder` a film of a
simulation, and `view` plays one in a window, a `Viewer` of something to show. Only a viewer needs a
screen. pygame, matplotlib and imageio-ffmpeg are imported by the first call that needs them.

The module is the renderer of simulations: they call its `show`, `picture` and `close`.
"""

from abmarl.lazy import names_from

_HOME = {
    "Scene": "scenes.scene",
    "Tracker": "scenes.tracker",
    "rgb": "colors",
    "draw": "drawing.surface",
    "frame": "drawing.surface",
    "picture_size": "drawing.geometry",
    "Picture": "modes",
    "show": "modes",
    "picture": "modes",
    "close": "modes",
    "FrameWriter": "films",
    "Recorder": "films",
    "Show": "viewer.shows",
    "SimulationShow": "viewer.shows",
    "PolicyShow": "viewer.shows",
    "Viewer": "viewer.viewer",
    "view": "viewer.viewer",
    "InputHandler": "viewer.controls",
    "Widget": "viewer.canvas",
    "NoScreenError": "viewer.window",
    "plot_alive": "plots",
    "plot_matrix": "plots",
    "plot_runs": "plots",
    "Run": "plots",
}

__all__ = sorted(_HOME)

__getattr__, __dir__ = names_from(__name__, _HOME)
