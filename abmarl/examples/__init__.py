"""The simulations that ship with the package.

``shipped`` maps the names that the command line knows to functions that build them. The plain
simulations, which are no grid worlds of components and so cannot be vectorised, are in
`abmarl.examples.sim` and load on first use.
"""

import importlib

from abmarl.examples.foraging import Forager, foragers_and_hunters, foraging
from abmarl.examples.predator_prey_resources import (
    PredatorAgent,
    PredatorPreyResourcesSim,
    PreyAgent,
    ResourceAgent,
    predator_prey_resources,
)
from abmarl.examples.team_battle import BattleAgent, TeamBattleSim, team_battle

shipped = {
    "team-battle": team_battle,
    "predator-prey-resources": predator_prey_resources,
    "foraging": foraging,
    "foragers-and-hunters": foragers_and_hunters,
}

_PLAIN = {
    "MultiCorridor": "multi_corridor",
    "Predator": "predator_prey",
    "PredatorPreySimulation": "predator_prey",
    "Prey": "predator_prey",
}

__all__ = [
    "BattleAgent",
    "Forager",
    "MultiCorridor",
    "Predator",
    "PredatorAgent",
    "PredatorPreyResourcesSim",
    "PredatorPreySimulation",
    "Prey",
    "PreyAgent",
    "ResourceAgent",
    "TeamBattleSim",
    "foragers_and_hunters",
    "foraging",
    "predator_prey_resources",
    "shipped",
    "team_battle",
]


def __getattr__(name: str):
    if name in _PLAIN:
        return getattr(importlib.import_module(f"{__name__}.sim.{_PLAIN[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
