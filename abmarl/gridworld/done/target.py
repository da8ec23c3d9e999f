"""Done components that look at targets."""

import numpy as np

from abmarl.gridworld.done.base import DoneBase
from abmarl.gridworld.grid import parse_agent, parse_encodings
from abmarl.kernels.done import targets_gone, targets_inactive, targets_reached
from abmarl.kernels.program import Call


class TargetEncodingInactiveDone(DoneBase):
    """An agent is done when every agent of its target encodings is inactive.

    Args:
        target_mapping: ``{encoding: target encoding or set of them}``. Agents of other encodings
            are never done.
        sim_ends_if_one_done: Whether the world is done when the agents of one mapped encoding
            are; else it takes all of them.
    """

    def __init__(self, target_mapping=None, sim_ends_if_one_done=True, **kwargs):
        super().__init__(**kwargs)
        if not isinstance(sim_ends_if_one_done, bool | np.bool_):
            raise TypeError(
                f"sim_ends_if_one_done must be True or False, got {sim_ends_if_one_done!r}."
            )
        store = self.store
        kinds = store.kinds.tolist()
        self.target_mapping = parse_encodings("target_mapping", target_mapping or {}, kinds)
        if not self.target_mapping:
            raise ValueError("TargetEncodingInactiveDone needs a target_mapping, like {1: {2}}.")
        self.sim_ends_if_one_done = bool(sim_ends_if_one_done)
        self._targets = store.relation(self.target_mapping)
        self._mapped = np.isin(store.kinds, list(self.target_mapping))
        self._extinct = np.zeros(len(store.kinds), bool)

    def calls(self) -> list:
        """Whose targets are all inactive, and where one mapped encoding is done, or all are."""
        store = self.store
        find = Call(
            targets_inactive, store.active, store.traits, self._targets, self._mapped,
            self.sim_ends_if_one_done, self._extinct, self.agents_done, self.worlds_done,
        )  # fmt: skip
        return [find]


class _TargetAgentDone(DoneBase):
    """Every agent of a mapping has an agent for a target; the others are never done.

    Attributes:
        target_mapping: ``{agent id: id of its target}``.
    """

    def __init__(self, target_mapping=None, **kwargs):
        super().__init__(**kwargs)
        name = type(self).__name__
        if target_mapping is not None and not isinstance(target_mapping, dict):
            raise TypeError(
                f"target_mapping must be a dict {{agent id: target id}}, got {target_mapping!r}."
            )
        if not target_mapping:
            raise ValueError(f'{name} needs a target_mapping, like {{"runner": "goal"}}.')
        self.target_mapping = {
            parse_agent("target_mapping", agent, self.agents): parse_agent(
                "target_mapping", target, self.agents
            )
            for agent, target in target_mapping.items()
        }
        index = self.store.index
        self._targets = np.full(self.store.num_agents, -1, np.int64)
        for agent_id, target_id in self.target_mapping.items():
            self._targets[index[agent_id]] = index[target_id]


class TargetAgentOverlapDone(_TargetAgentDone):
    """An agent is done while it is on the cell of its target, the world when all of them are.

    An agent that has left the grid counts where it was last.

    Args:
        target_mapping: ``{agent id: id of its target}``, or the target itself. Agents that are not
            named are never done.
    """

    def calls(self) -> list:
        """Who is on the cell of its target, and where all are."""
        found = self.agents_done, self.worlds_done
        return [Call(targets_reached, self.store.cell, self._targets, *found)]


class TargetAgentInactiveDone(_TargetAgentDone):
    """An agent is done when its target is inactive, the world when all targets are.

    Args:
        target_mapping: ``{agent id: id of its target}``, or the target itself. Agents that are not
            named are never done.
    """

    def calls(self) -> list:
        """Whose target is not active, and where none is."""
        found = self.agents_done, self.worlds_done
        return [Call(targets_gone, self.store.active, self._targets, *found)]
