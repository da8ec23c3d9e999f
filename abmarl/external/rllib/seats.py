"""Which agents a policy plays, and where their rows lie in the arrays of the groups."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np


@dataclass(frozen=True, eq=False)
class Part:
    """The agents of one group that a policy plays.

    Attributes:
        group: the group's name.
        columns: int64, which agents of the group; None: all of them.
        agent_ids: their ids.
        first: the number of their first slot among those of the policy.
    """

    group: str
    columns: np.ndarray | None
    agent_ids: tuple[str, ...]
    first: int

    def rows(self, arrays: dict[str, np.ndarray]) -> np.ndarray:
        """Their rows ``[worlds * agents, ...]`` of ``{group: [worlds, n, ...]}``."""
        array = arrays[self.group]
        if self.columns is not None:
            array = array[:, self.columns]
        return array.reshape(-1, *array.shape[2:])

    def put(self, arrays: dict[str, np.ndarray], rows: np.ndarray, values: np.ndarray) -> None:
        """Write values into some of their rows."""
        array = arrays[self.group]
        if self.columns is None:
            array.reshape(-1, *array.shape[2:])[rows] = values
        else:
            world, agent = np.divmod(rows, len(self.agent_ids))
            array[world, self.columns[agent]] = values


class Seats:
    """The slots of a policy: its agents in all worlds, group by group and world by world.

    Args:
        parts: ``(group, columns, agent_ids)`` of the agents.
        num_envs: how many worlds.

    Attributes:
        parts: the `Part` of each group.
        agent_ids: ids of all agents.
        world_of, agent_of: int64 by slot: the world, and the number among `agent_ids`.
    """

    def __init__(self, parts: Iterable[tuple], num_envs: int) -> None:
        self.parts: list[Part] = []
        self.agent_ids: list[str] = []
        worlds, agents = [], []
        first = 0
        for group, columns, ids in parts:
            self.parts.append(Part(group, columns, ids, first))
            world, agent = np.divmod(np.arange(num_envs * len(ids)), len(ids))
            worlds.append(world)
            agents.append(agent + len(self.agent_ids))
            self.agent_ids += ids
            first += num_envs * len(ids)
        self.world_of, self.agent_of = np.concatenate(worlds), np.concatenate(agents)
        self.num_slots = first


def policy_of_agents(mapping_fn: Callable, agent_ids: Iterable[str], policies: Any) -> dict:
    """Ask a policy mapping function once for every agent.

    Args:
        mapping_fn: function of an agent's id and an episode, which is None here.
        agent_ids: ids.
        policies: ids of the policies that there are.

    Returns:
        ``{agent id: policy id}``.

    Raises:
        ValueError: it names a policy that there is not.
    """
    found = {agent_id: mapping_fn(agent_id, None) for agent_id in agent_ids}
    for agent_id, policy in found.items():
        if policy not in policies:
            raise ValueError(
                f"policy_mapping_fn gives agent {agent_id!r} the policy {policy!r}, which is not "
                f"among the policies {', '.join(map(repr, policies))}"
            )
    return found


def seats_of_policies(
    groups: dict[str, tuple[str, ...]], policy_of: dict, num_envs: int
) -> dict[str, Seats]:
    """The seats of every policy that plays somebody.

    Args:
        groups: agent ids by group.
        policy_of: ``{agent id: policy id}``.
        num_envs: how many worlds.
    """
    parts: dict[str, list] = {}
    for group, ids in groups.items():
        for policy in dict.fromkeys(policy_of[agent_id] for agent_id in ids):
            columns = [k for k, agent_id in enumerate(ids) if policy_of[agent_id] == policy]
            chosen = tuple(ids[k] for k in columns)
            whole = len(chosen) == len(ids)
            parts.setdefault(policy, []).append(
                (group, None if whole else np.array(columns), chosen)
            )
    return {policy: Seats(found, num_envs) for policy, found in parts.items()}
