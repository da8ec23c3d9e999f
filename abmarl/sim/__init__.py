"""Agents and the interface of a simulation."""

from abmarl.sim.agent_based_simulation import AgentBasedSimulation
from abmarl.sim.agents import ActingAgent, Agent, ObservingAgent, PrincipleAgent, is_agent
from abmarl.sim.dynamic_order_simulation import DynamicOrderSimulation

__all__ = [
    "ActingAgent",
    "Agent",
    "AgentBasedSimulation",
    "DynamicOrderSimulation",
    "ObservingAgent",
    "PrincipleAgent",
    "is_agent",
]
