"""Who is covered by which super agent."""

from collections.abc import Mapping
from typing import Any

from abmarl.sim.agents import PrincipleAgent, is_agent

MASK = "mask"


def check_covers(mapping: Any, agents: Mapping[str, PrincipleAgent]) -> dict[str, list[str]]:
    """Check which agents are covered by which super agents.

    Args:
        mapping: ``{id of the super agent: ids of the covered agents}``; those of a set are taken in
            the order of the agents.
        agents: all agents by id.

    Returns:
        The same with lists.

    Raises:
        TypeError: the mapping is not of ids.
        ValueError: an agent is covered twice, does not exist, does not both observe and act or is
            called "mask"; or a super agent covers nobody or has the id of an agent.
    """
    if not isinstance(mapping, Mapping):
        raise TypeError(
            f"super_agent_mapping must be a dict of super agent id to ids of covered agents, "
            f"got {type(mapping).__name__}"
        )
    covers: dict[str, list[str]] = {}
    owner: dict[str, str] = {}
    for super_id, ids in mapping.items():
        if not isinstance(super_id, str):
            raise TypeError(f"the id of a super agent must be a str, got {super_id!r:.60}")
        if super_id in agents:
            raise ValueError(
                f"super agent {super_id!r} has the id of an agent of the simulation; "
                f"give it another one"
            )
        if not isinstance(ids, (list, tuple, set, frozenset)):
            raise TypeError(
                f"super agent {super_id!r} needs a list of the ids it covers, got {ids!r:.60}"
            )
        if not ids:
            raise ValueError(f"super agent {super_id!r} covers nobody; give it some agents")
        for agent_id in ids:
            if not isinstance(agent_id, str) or agent_id not in agents:
                raise ValueError(
                    f"super agent {super_id!r} covers {agent_id!r:.60}, "
                    f"which is not in the simulation"
                )
            if not is_agent(agents[agent_id]):
                raise ValueError(
                    f"super agent {super_id!r} covers {agent_id!r}, "
                    f"which does not both observe and act"
                )
            if agent_id == MASK:
                raise ValueError(
                    f"an agent called {MASK!r} cannot be covered: super agents observe the mask "
                    f"of their agents under this name"
                )
            if agent_id in owner:
                raise ValueError(
                    f"agent {agent_id!r} is covered by {owner[agent_id]!r} and again by "
                    f"{super_id!r}; an agent has one super agent at most"
                )
            owner[agent_id] = super_id
        if isinstance(ids, (set, frozenset)):
            ids = [agent_id for agent_id in agents if agent_id in ids]
        covers[super_id] = list(ids)
    return covers
