"""Agents and the interface of a simulation."""

from abmarl.sim.agent_based_simulation import AgentBasedSimulation, DynamicOrderSimulation
from abmarl.sim.agents import ActingAgent, Agent, ObservingAgent, PrincipleAgent, is_agent
from abmarl.sim.compliance import check_simulation

__all__ = [
    "ActingAgent",
    "Agent",
    "AgentBasedSimulation",
    "DynamicOrderSimulation",
    "ObservingAgent",
    "PrincipleAgent",
    "check_simulation",
    "is_agent",
]
