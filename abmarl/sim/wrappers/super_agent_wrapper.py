"""Super agents, who act for several agents at once."""

import warnings
from collections import OrderedDict
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
from gymnasium.spaces import Dict, MultiBinary

from abmarl.sim.agent_based_simulation import (
    Agent,
    AgentBasedSimulation,
    PrincipleAgent,
    is_agent,
)
from abmarl.sim.spaces import is_given
from abmarl.sim.wrappers.wrapper import Wrapper

MASK = "mask"


class SuperAgentWrapper(Wrapper):
    """Puts super agents in the place of the agents that they cover.

    The spaces of a super agent are `Dict` spaces keyed by the ids of the covered agents, in the
    order given. Its observation also has the channel ``mask``: for every covered agent a
    ``MultiBinary(1)``, 1 while that agent is not done.

    A covered agent that is done is observed and rewarded once more. After that its null observation
    is shown and its reward is 0, and actions for it are dropped. The reward of a super agent is the
    sum over the covered agents; it is done when all of them are. Agents that nobody covers stay as
    they are, behind the super agents.

    Args:
        sim: the simulation to wrap.
        super_agent_mapping: ``{id of the super agent: ids of the covered agents}``.

    Raises:
        TypeError: `sim` is not a simulation, or the mapping is not of ids.
        ValueError: an agent is covered twice, does not exist or does not both observe and act; or a
            super agent covers nobody or has the id of an agent.
    """

    def __init__(
        self,
        sim: AgentBasedSimulation,
        super_agent_mapping: Mapping[str, Iterable[str]] | None = None,
    ) -> None:
        super().__init__(sim)
        self._covers = check_covers(super_agent_mapping, sim.agents)
        self._owner = {key: name for name, ids in self._covers.items() for key in ids}
        others = {key: agent for key, agent in self.agents.items() if key not in self._owner}
        self.agents = {key: self._super_agent(key) for key in self._covers} | others
        self._warned = False
        self._begin()
        self.finalize()

    @property
    def super_agent_mapping(self) -> dict[str, list[str]]:
        """The ids of the covered agents by that of their super agent."""
        return {key: list(ids) for key, ids in self._covers.items()}

    @property
    def next_agent(self) -> list[str]:
        """Who acts next: super agents in the place of the agents that they cover."""
        named = self.sim.next_agent
        ids = [named] if isinstance(named, str) else named
        return list(dict.fromkeys(self._owner.get(agent_id, agent_id) for agent_id in ids))

    def reset(self, **kwargs: Any) -> None:
        """Start an episode."""
        self.sim.reset(**kwargs)
        self._begin()

    def step(self, action_dict: Mapping[str, Any], **kwargs: Any) -> None:
        """Hand the actions to the covered agents, but for those that are done.

        Args:
            action_dict: actions by id; that of a super agent is a dict by covered agent, who does
                not act when it is not in there.
            **kwargs: for the inner simulation's step.

        Raises:
            TypeError: actions are not in a dict.
            ValueError: an agent is not covered by that super agent; nothing has changed.
        """
        _check_dict("actions", action_dict)
        actions = {}
        for agent_id, action in action_dict.items():
            covered = self._covered_by(agent_id)
            if covered is None:
                actions[agent_id] = action
                continue
            _check_dict(f"the action of super agent {agent_id!r}", action)
            for key in action:
                if key not in covered:
                    raise ValueError(
                        f"super agent {agent_id!r} does not cover {key!r}; it covers {covered}"
                    )
            actions.update({key: one for key, one in action.items() if not self.sim.get_done(key)})
        self.sim.step(actions, **kwargs)
        self._now += 1

    def get_obs(self, agent_id: str, **kwargs: Any) -> Any:
        """Return the observations of the covered agents, and their mask."""
        covered = self._covered_by(agent_id)
        if covered is None:
            return self.sim.get_obs(agent_id, **kwargs)
        observations, mask = {}, {}
        for key in covered:
            done = self.sim.get_done(key)
            mask[key] = np.array([not done], np.int8)
            null = self._null(key) if done and self._is_past(self._shown, key) else None
            observations[key] = self.sim.get_obs(key, **kwargs) if null is None else null
        return {**observations, MASK: mask}

    def get_reward(self, agent_id: str, **kwargs: Any) -> float:
        """Return the sum of the rewards of the covered agents."""
        covered = self._covered_by(agent_id)
        if covered is None:
            return self.sim.get_reward(agent_id, **kwargs)
        rewards = (
            self.sim.get_reward(key, **kwargs)
            for key in covered
            if not (self.sim.get_done(key) and self._is_past(self._paid, key))
        )
        return sum(rewards, 0.0)

    def get_done(self, agent_id: str, **kwargs: Any) -> bool:
        """Return whether all covered agents are done."""
        covered = self._covered_by(agent_id)
        if covered is None:
            return self.sim.get_done(agent_id, **kwargs)
        return all(self.sim.get_done(key, **kwargs) for key in covered)

    def get_info(self, agent_id: str, **kwargs: Any) -> Any:
        """Return the infos of the covered agents by id."""
        covered = self._covered_by(agent_id)
        if covered is None:
            return self.sim.get_info(agent_id, **kwargs)
        return {key: self.sim.get_info(key, **kwargs) for key in covered}

    def action_masks(self) -> dict[str, Any]:
        """Return which actions would do something now, of super agents by covered agent."""
        masks = self.sim.action_masks()
        own = {key: mask for key, mask in masks.items() if key in self.agents}
        for agent_id, covered in self._covers.items():
            joint = {key: masks[key] for key in covered if key in masks}
            if joint:
                own[agent_id] = joint
        return own

    def random_order(self, agent_ids: Iterable[str]) -> list[str]:
        """Return the ids in a random order, drawn as the inner simulation draws it.

        It draws for one covered agent of every super agent, the first one that is not done.
        """
        chosen = {}
        for agent_id in agent_ids:
            covered = self._covers.get(agent_id, [agent_id])
            live = (key for key in covered if not self.sim.get_done(key))
            chosen[next(live, covered[0])] = agent_id
        return [chosen[key] for key in self.sim.random_order(list(chosen))]

    def vectorize(self, num_envs: int, **kwargs: Any) -> Any:
        """Return many worlds of the inner simulation at once, with the same super agents."""
        return self.sim.vectorize(num_envs, **kwargs).super_agents(self._covers)

    def _covered_by(self, agent_id: str) -> list[str] | None:
        """Return the agents that a super agent covers, None for an agent that is none."""
        if agent_id not in self.agents:
            raise ValueError(f"there is no agent {agent_id!r} in this simulation")
        return self._covers.get(agent_id)

    def _begin(self) -> None:
        self._now = 0
        # The steps in which the last observation and reward of covered agents were reported.
        self._shown: dict[str, int] = {}
        self._paid: dict[str, int] = {}

    def _is_past(self, reported: dict[str, int], agent_id: str) -> bool:
        """Whether what an agent had last was reported in an earlier step; notes it if not."""
        return reported.setdefault(agent_id, self._now) < self._now

    def _null(self, agent_id: str) -> Any:
        null = self.sim.agents[agent_id].null_observation
        if is_given(null):
            return null
        if not self._warned:
            self._warned = True
            warnings.warn(
                f"agent {agent_id!r} is done and has no null_observation: its super agent goes on "
                f"seeing what it observes; give covered agents a null_observation",
                stacklevel=3,
            )
        return None

    def _super_agent(self, agent_id: str) -> Agent:
        covered = [self.sim.agents[key] for key in self._covers[agent_id]]
        # An OrderedDict, because gymnasium would sort the keys of another one.
        observations = OrderedDict((agent.id, agent.observation_space) for agent in covered)
        masks = OrderedDict((agent.id, MultiBinary(1)) for agent in covered)
        nulls = {agent.id: agent.null_observation for agent in covered}
        null_actions = {agent.id: agent.null_action for agent in covered}
        null_masks = {agent.id: np.zeros(1, np.int8) for agent in covered}
        return Agent(
            id=agent_id,
            observation_space=OrderedDict(observations, **{MASK: Dict(masks)}),
            action_space=OrderedDict((agent.id, agent.action_space) for agent in covered),
            null_observation={**nulls, MASK: null_masks} if _all_there(nulls) else None,
            null_action=null_actions if _all_there(null_actions) else None,
        )


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


def _all_there(nulls: dict[str, Any]) -> bool:
    return all(map(is_given, nulls.values()))


def _check_dict(what: str, value: Any) -> None:
    if not isinstance(value, Mapping):
        raise TypeError(f"{what} must be a dict by agent id, got {type(value).__name__}")
