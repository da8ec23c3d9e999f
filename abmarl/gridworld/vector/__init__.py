"""Vectorised simulations: thousands of worlds, stepped together."""

from abmarl.gridworld.vector.simulation import VectorSimulation

__all__ = ["VectorSimulation"]
