"""Who learns in a simulation that is to be adapted."""

from typing import Any

from abmarl.managers import SimulationManager
from abmarl.sim.agent_based_simulation import AgentBasedSimulation, is_agent


def only_learner(sim: Any, user: str) -> str:
    """The id of the only agent that both observes and acts.

    Args:
        sim: a simulation or a manager.
        user: what needs it, for messages.

    Raises:
        TypeError: `sim` is neither a simulation nor a manager.
        ValueError: there is none or there are several.
    """
    if not isinstance(sim, AgentBasedSimulation | SimulationManager):
        raise TypeError(f"{user} needs a simulation or a manager, got {type(sim).__name__}")
    ids = [agent_id for agent_id, agent in sim.agents.items() if is_agent(agent)]
    if len(ids) != 1:
        raise ValueError(
            f"{user} needs exactly one learning agent, {type(sim).__name__} has {len(ids)}"
            f"{': ' + ', '.join(ids[:4]) + (', ...' if len(ids) > 4 else '') if ids else ''}; "
            f"use PettingZooParallelWrapper, or SuperAgentWrapper to make one of several"
        )
    return ids[0]


def only_group(vec: Any, user: str) -> str:
    """The name of the only group, which has one agent in each world.

    Raises:
        ValueError: there are several groups or agents.
    """
    if len(vec.groups) != 1 or len(next(iter(vec.groups.values()))) != 1:
        sizes = ", ".join(f"{name}: {len(group)}" for name, group in vec.groups.items())
        raise ValueError(
            f"{user} needs one learning agent per world, there are {sizes}; "
            f"use SB3VecEnv for groups of several, or vec.super_agents to make one of several"
        )
    return next(iter(vec.groups))
