"""OpenSpiel: simulations as its reinforcement-learning environments."""

from abmarl.external.openspiel.environment import OpenSpielWrapper
from abmarl.external.openspiel.players import ByPlayer, Player

__all__ = ["ByPlayer", "OpenSpielWrapper", "Player"]
