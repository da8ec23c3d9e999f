"""Done components: when agents and worlds are done."""

from typing import Any, ClassVar

import numpy as np

from abmarl.gridworld.component import Component
from abmarl.gridworld.former_names import former_names_in
from abmarl.gridworld.grid import parse_agent, parse_encodings
from abmarl.gridworld.registry import register
from abmarl.gridworld.store import Store
from abmarl.kernels.done import (
    add_done,
    none_active,
    not_active,
    one_team_left,
    targets_gone,
    targets_inactive,
    targets_reached,
)
from abmarl.kernels.program import Call, Program

__all__ = [
    "ActiveDone",
    "DoneBase",
    "OneTeamRemainingDone",
    "TargetAgentInactiveDone",
    "TargetAgentOverlapDone",
    "TargetEncodingInactiveDone",
]

__getattr__ = former_names_in(__name__)


class DoneBase(Component):
    """Says when agents and worlds are done.

    A subclass says it (see ``Component``) in ``calls``, a list of calls of kernels that write to
    ``agents_done`` and ``worlds_done``; in ``done`` and ``all_done`` for all worlds; or in
    ``get_done`` and ``get_all_done`` for one agent and one world. What it does not define is as by
    default: agents are done that are not active, worlds whose agents all are.

    Attributes:
        agents_done: bool [B, N], ``worlds_done``: bool [B], as found last.
    """

    role = "done"
    works_on = "arrays"
    # Who defines something for single agents is not asked for all worlds.
    methods: ClassVar = {
        "kernels": ("calls",),
        "agents": ("get_done", "get_all_done"),
        "arrays": ("done", "all_done"),
    }
    calls: Any = None

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.agents_done = np.zeros((self.store.num_worlds, self.store.num_agents), bool)
        self.worlds_done = np.zeros(self.store.num_worlds, bool)
        self._program: Program | None = None

    def done(self) -> np.ndarray:
        """Return bool [B, N]: the agents that are done; by default those that are not active."""
        if self.works_on == "agents":
            return np.array([[bool(self.get_done(agent)) for agent in self.agents.values()]])
        return self._done()

    def all_done(self) -> np.ndarray:
        """Return bool [B]: the worlds that are done; by default those whose agents all are."""
        if self.works_on == "agents":
            return np.array([bool(self.get_all_done())])
        return self._all_done()

    def get_done(self, agent: Any, **kwargs: Any) -> bool:
        """Tell whether an agent of a single world is done."""
        found = self.done() if self.works_on == "arrays" else self._done()
        return bool(found[0, agent._slot])

    def get_all_done(self, **kwargs: Any) -> bool:
        """Tell whether a single world is done."""
        found = self.all_done() if self.works_on == "arrays" else self._all_done()
        return bool(found[0])

    def steps(self) -> list:
        """Return what a program runs to bring ``agents_done`` and ``worlds_done`` up to date."""
        return self.calls() if self.works_on == "kernels" else [self._ask]

    def _ask(self) -> None:
        # What the package's calls find is in the same arrays, so these are filled afterwards.
        agents, worlds = np.array(self.done()), np.array(self.all_done())
        self.agents_done[...], self.worlds_done[...] = agents, worlds

    def _done(self) -> np.ndarray:
        if self.calls is None:
            return ~self.store.active
        self._find()
        return self.agents_done

    def _all_done(self) -> np.ndarray:
        if self.calls is None:
            return np.all(self.done(), axis=1)
        self._find()
        return self.worlds_done

    def _find(self) -> None:
        if self._program is None:
            self._program = Program(self.calls())
        self._program()


class AnyDone:
    """Agents and worlds that are done by any of several components.

    Args:
        dones: The components.
        store: The store that they work on.

    Attributes:
        agents_done, worlds_done: As those of a component.
    """

    def __init__(self, dones: list, store: Store) -> None:
        self._dones = dones
        if len(dones) == 1:
            self.agents_done, self.worlds_done = dones[0].agents_done, dones[0].worlds_done
        else:
            self.agents_done = np.zeros((store.num_worlds, store.num_agents), bool)
            self.worlds_done = np.zeros(store.num_worlds, bool)

    def steps(self) -> list:
        """Return what a program runs to bring the arrays up to date."""
        if len(self._dones) == 1:
            return self._dones[0].steps()
        steps = []
        for number, one in enumerate(self._dones):
            steps += one.steps()
            found = one.agents_done, one.worlds_done
            steps.append(Call(add_done, self.agents_done, self.worlds_done, *found, number == 0))
        return steps


@register
class ActiveDone(DoneBase):
    """An agent is done when it is inactive, the world when every agent is."""

    def calls(self) -> list:
        """Return calls that find who is not active, and where nobody is."""
        world = self.store.world
        return [
            Call(not_active, world, self.agents_done),
            Call(none_active, world, self.worlds_done),
        ]


@register
class OneTeamRemainingDone(ActiveDone):
    """An agent is done when it is inactive, the world when the active ones are of one team.

    Every active agent counts, walls and resources included.

    Args:
        ignore_encodings: Encodings of agents that do not count.
    """

    def __init__(self, ignore_encodings: Any = None, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        ignored = set() if ignore_encodings is None else ignore_encodings
        if isinstance(ignored, int | np.integer):
            ignored = {ignored}
        if not isinstance(ignored, set | frozenset | list | tuple):
            raise TypeError(f"ignore_encodings must be a set of encodings, got {ignored!r}.")
        for encoding in ignored:
            if isinstance(encoding, bool) or not isinstance(encoding, int | np.integer):
                raise TypeError(f"ignore_encodings must hold encodings, ints, got {encoding!r}.")
        self.ignore_encodings = set(ignored)
        self._counted = ~np.isin(self.store.traits["encoding"], list(self.ignore_encodings))

    def calls(self) -> list:
        """Return calls that find where the active agents that count are of one team, or none."""
        world = self.store.world
        return [
            Call(not_active, world, self.agents_done),
            Call(one_team_left, world, self.store.teams(), self._counted, self.worlds_done),
        ]


@register
class TargetEncodingInactiveDone(DoneBase):
    """An agent is done when every agent of its target encodings is inactive.

    Args:
        target_mapping: ``{encoding: target encoding or set of them}``. Agents of other encodings
            are never done.
        sim_ends_if_one_done: Whether the world is done when the agents of one mapped encoding
            are; else it takes all of them.
    """

    def __init__(
        self, target_mapping: Any = None, sim_ends_if_one_done: bool = True, **kwargs: Any
    ) -> None:
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
        kinds = self._targets, self._mapped, self.sim_ends_if_one_done, self._extinct
        found = self.agents_done, self.worlds_done
        return [Call(targets_inactive, self.store.world, *kinds, *found)]


class _AgentTargetDone(DoneBase):
    """Every agent of a mapping has an agent for a target; the others are never done.

    Attributes:
        target_mapping: ``{agent id: id of its target}``.
    """

    def __init__(self, target_mapping: Any = None, **kwargs: Any) -> None:
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


@register
class TargetAgentOverlapDone(_AgentTargetDone):
    """An agent is done while it is on the cell of its target, the world when all of them are.

    An agent that has left the grid counts where it was last.

    Args:
        target_mapping: ``{agent id: id of its target}``, or the target itself. Agents that are not
            named are never done.
    """

    def calls(self) -> list:
        """Return calls that find who is on the cell of its target, and where all are."""
        found = self.agents_done, self.worlds_done
        return [Call(targets_reached, self.store.world, self._targets, *found)]


@register
class TargetAgentInactiveDone(_AgentTargetDone):
    """An agent is done when its target is inactive, the world when all targets are.

    Args:
        target_mapping: ``{agent id: id of its target}``, or the target itself. Agents that are not
            named are never done.
    """

    def calls(self) -> list:
        """Whose target is not active, and where none is."""
        found = self.agents_done, self.worlds_done
        return [Call(targets_gone, self.store.world, self._targets, *found)]
