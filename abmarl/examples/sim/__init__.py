"""Simulations as existing code imports them, one module each: ``abmarl.examples.sim.<name>``.

The plain simulations, without a grid world's components, are here; the grid worlds are in
``abmarl.examples``, and the modules here are the same ones under another name.
"""

import importlib
import sys

_GRID_WORLDS = {
    "comms_blocking": "comms_blocking",
    "maze_navigation": "maze_navigation",
    "multi_maze_navigation": "maze_navigation",
    "pacman": "pacman",
    "predator_prey_resources": "predator_prey_resources",
    "reach_the_target": "reach_the_target",
    "team_battle_example": "team_battle",
    "traffic_corridor": "traffic_corridor",
}

for _name, _present in _GRID_WORLDS.items():
    _module = importlib.import_module(f"abmarl.examples.{_present}")
    sys.modules[f"{__name__}.{_name}"] = globals()[_name] = _module
