"""A small grid world in the object style, to try managers, wrappers and learners with."""

from typing import Any

from abmarl.gridworld.actor import BinaryAttackActor, MoveActor
from abmarl.gridworld.base import GridWorldSimulation
from abmarl.gridworld.done import ActiveDone
from abmarl.gridworld.observer import PositionCenteredEncodingObserver
from abmarl.gridworld.state import HealthState, PositionState


class MultiAgentGridSim(GridWorldSimulation):
    """Agents move, attack and see, as far as their classes let them.

    In a step everybody attacks and then moves, agent by agent. Rewards: +1 for every agent hit, -1
    for being killed, -0.1 for a failed move. An agent is done when it is not active, the
    simulation when nobody is left.

    Args:
        attack_mapping: ``{encoding: encodings}``: who attacks whom; by default nobody.
        **kwargs: ``agents``, ``grid`` and parameters of the components, see ``build_sim``.
    """

    def __init__(self, attack_mapping: Any = None, **kwargs: Any) -> None:
        kwargs["attack_mapping"] = {} if attack_mapping is None else attack_mapping
        self.agents, self.grid = kwargs["agents"], kwargs["grid"]
        self.position_state = PositionState(**kwargs)
        self.health_state = HealthState(**kwargs)
        self.attack_actor = BinaryAttackActor(**kwargs)
        self.move_actor = MoveActor(**kwargs)
        self.observer = PositionCenteredEncodingObserver(**kwargs)
        self.done = ActiveDone(**kwargs)
        self.rewards = dict.fromkeys(self.agents, 0.0)
        self.finalize()

    def reset(self, **kwargs: Any) -> None:
        """Start an episode."""
        self.position_state.reset(**kwargs)
        self.health_state.reset(**kwargs)
        self.rewards = dict.fromkeys(self.agents, 0.0)

    def step(self, action_dict: dict[str, Any], **kwargs: Any) -> None:
        """Let the agents in ``action_dict`` act, in its order."""
        for agent_id, action in action_dict.items():
            agent = self.agents[agent_id]
            if not agent.active:
                continue
            _, attacked = self.attack_actor.process_action(agent, action, **kwargs)
            for target in attacked:
                self.rewards[agent_id] += 1.0
                if not target.active:
                    self.rewards[target.id] -= 1.0
            if self.move_actor.process_action(agent, action, **kwargs) is False:
                self.rewards[agent_id] -= 0.1

    def get_obs(self, agent_id: str, **kwargs: Any) -> Any:
        """Return the window of encodings around an agent."""
        return self.observer.get_obs(self.agents[agent_id], **kwargs)

    def get_reward(self, agent_id: str, **kwargs: Any) -> float:
        """Return the reward since it was read last."""
        reward, self.rewards[agent_id] = self.rewards[agent_id], 0.0
        return reward

    def get_done(self, agent_id: str, **kwargs: Any) -> bool:
        """Return whether an agent is not active."""
        return self.done.get_done(self.agents[agent_id], **kwargs)

    def get_all_done(self, **kwargs: Any) -> bool:
        """Return whether nobody is active."""
        return self.done.get_all_done(**kwargs)
