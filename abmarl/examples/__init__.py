"""The simulations that ship with the package.

``shipped`` maps the names that the command line knows to functions that build them.
"""

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

__all__ = [
    "BattleAgent",
    "Forager",
    "PredatorAgent",
    "PredatorPreyResourcesSim",
    "PreyAgent",
    "ResourceAgent",
    "TeamBattleSim",
    "foragers_and_hunters",
    "foraging",
    "predator_prey_resources",
    "shipped",
    "team_battle",
]
