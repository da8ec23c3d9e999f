"""The old place of `abmarl.gridworld`: the same modules, not copies of them.

``abmarl.sim.gridworld.actor.MoveActor`` is ``abmarl.gridworld.actor.MoveActor``, and so on for
every module of the package.
"""

import importlib
import pkgutil
import sys

import abmarl.gridworld

# Imported once under their own names and listed under both: found by the old name, the file of a
# module would be run a second time and make a second class of everything.
_names = [abmarl.gridworld.__name__] + [
    module.name
    for module in pkgutil.walk_packages(abmarl.gridworld.__path__, f"{abmarl.gridworld.__name__}.")
]
for _name in _names:
    sys.modules[__name__ + _name.removeprefix(abmarl.gridworld.__name__)] = importlib.import_module(
        _name
    )
