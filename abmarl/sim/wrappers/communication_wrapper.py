"""Agents that send one another what they observe, if both sides want it."""

from collections import OrderedDict
from collections.abc import Mapping
from typing import Any

from gymnasium.spaces import Dict, Discrete

from abmarl.sim.agent_based_simulation import Agent, AgentBasedSimulation, is_agent
from abmarl.sim.spaces import contains, is_given
from abmarl.sim.wrappers.wrapper import Wrapper


class CommunicationHandshakeWrapper(Wrapper):
    """Lets the learning agents offer their observations to others, who may accept.

    An action becomes ``{"action": own action, "send": {other: 0 or 1}, "receive": {other: 0 or
    1}}``: to whom the agent offers its observation, and whose offer it accepts. An observation
    becomes ``{"obs": own observation, "message_buffer": {other: 0 or 1}}``: who made an offer in
    its last action. An offer stands until the receiver or the sender acts again.

    Where the receiver accepts an offer of the last step, the sender's present observation is fused
    into the receiver's by the inner simulation, offer by offer in the order of the agents:
    ``sim.fuse_observations(own, message)`` gets both observations and returns a point of the
    receiver's observation space.

    Args:
        sim: the simulation to wrap, which has `fuse_observations`.

    Raises:
        TypeError: `sim` is not a simulation or cannot fuse observations.
        ValueError: fewer than two agents both observe and act.
    """

    def __init__(self, sim: AgentBasedSimulation) -> None:
        super().__init__(sim)
        self._fuse: Any = getattr(sim, "fuse_observations", None)
        if not callable(self._fuse):
            raise TypeError(
                f"{type(sim).__name__} cannot fuse observations; give it a method "
                f"fuse_observations(own, message) that returns an observation"
            )
        self._ids = [agent_id for agent_id, agent in sim.agents.items() if is_agent(agent)]
        if len(self._ids) < 2:
            raise ValueError(
                f"communication takes two agents that both observe and act, got {self._ids}"
            )
        for agent_id in self._ids:
            self._extend(self.agents[agent_id])
        self._begin()
        self.finalize()

    def reset(self, **kwargs: Any) -> None:
        """Start an episode; there are no offers yet."""
        self.sim.reset(**kwargs)
        self._begin()

    def step(self, action_dict: Mapping[str, Any], **kwargs: Any) -> None:
        """Settle offers and answers, and hand the agents' own actions to the inner simulation.

        Raises:
            TypeError: the actions are not in a dict.
            ValueError: an agent is unknown or an action does not lie in its space; nothing has
                changed.
        """
        if not isinstance(action_dict, Mapping):
            raise TypeError(
                f"actions must be a dict of agent id to action, got {type(action_dict).__name__}"
            )
        talking = {}
        actions = {}
        for agent_id, action in action_dict.items():
            self._inner_agent(agent_id)
            if agent_id in self._offers:
                talking[agent_id] = action
                self._check(agent_id, action)
                action = action["action"]
            actions[agent_id] = action
        self.sim.step(actions, **kwargs)
        for agent_id, action in talking.items():
            offers = self._offers[agent_id]
            answers = action["receive"]
            self._accepted[agent_id] = [key for key in offers if offers[key] and answers[key]]
            self._offers[agent_id] = dict.fromkeys(offers, 0)
        for agent_id, action in talking.items():
            for other, offer in action["send"].items():
                self._offers[other][agent_id] = int(offer)

    def get_obs(self, agent_id: str, **kwargs: Any) -> Any:
        """Return the agent's observation, fused with what it accepted, and who made an offer."""
        own = self.sim.get_obs(agent_id, **kwargs)
        if agent_id not in self._offers:
            return own
        for sender in self._accepted[agent_id]:
            own = self._fuse(own, self.sim.get_obs(sender, **kwargs))
        return {"obs": own, "message_buffer": dict(self._offers[agent_id])}

    def _begin(self) -> None:
        self._offers = {
            agent_id: dict.fromkeys(self._others(agent_id), 0) for agent_id in self._ids
        }
        self._accepted: dict[str, list[str]] = {agent_id: [] for agent_id in self._ids}

    def _others(self, agent_id: str) -> list[str]:
        return [other for other in self._ids if other != agent_id]

    def _check(self, agent_id: str, action: Any) -> None:
        space = self.agents[agent_id].action_space
        if not isinstance(action, Mapping) or action.keys() != space.spaces.keys():
            raise ValueError(
                f"the action of agent {agent_id!r} must be a dict with {list(space.spaces)}, "
                f"got {action!r:.200}"
            )
        # The agent's own action is the inner simulation's to judge.
        for key in ("send", "receive"):
            if not contains(space[key], action[key]):
                raise ValueError(
                    f"{key!r} of agent {agent_id!r} is {action[key]!r:.200}; "
                    f"it must be 0 or 1 for each of {self._others(agent_id)}"
                )

    def _extend(self, agent: Agent) -> None:
        others = self._others(agent.id)

        def answers() -> Dict:
            return Dict(OrderedDict((other, Discrete(2)) for other in others))

        null = agent.null_action
        if is_given(null):
            silent = dict.fromkeys(others, 0)
            agent.null_action = {"action": null, "send": silent, "receive": dict(silent)}
        agent.action_space = OrderedDict(
            action=agent.action_space, send=answers(), receive=answers()
        )
        null = agent.null_observation
        if is_given(null):
            agent.null_observation = {"obs": null, "message_buffer": dict.fromkeys(others, 0)}
        agent.observation_space = OrderedDict(obs=agent.observation_space, message_buffer=answers())
