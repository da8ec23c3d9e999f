"""The team battle in the object style, as users of Abmarl have written it."""

from abmarl.gridworld import GridWorldSimulation
from abmarl.gridworld.actor import BinaryAttackActor, MoveActor
from abmarl.gridworld.done import OneTeamRemainingDone
from abmarl.gridworld.observer import PositionCenteredEncodingObserver
from abmarl.gridworld.state import HealthState, PositionState


class ObjectBattle(GridWorldSimulation):
    """Agent by agent what ``TeamBattleSim`` declares."""

    def __init__(self, **kwargs):
        self.agents = kwargs["agents"]
        self.position_state = PositionState(**kwargs)
        self.health_state = HealthState(**kwargs)
        self.attack_actor = BinaryAttackActor(**kwargs)
        self.move_actor = MoveActor(**kwargs)
        self.observer = PositionCenteredEncodingObserver(**kwargs)
        self.done = OneTeamRemainingDone(**kwargs)
        self.finalize()

    def reset(self, **kwargs):
        self.position_state.reset(**kwargs)
        self.health_state.reset(**kwargs)
        self.rewards = dict.fromkeys(self.agents, 0)

    def step(self, action_dict, **kwargs):
        agents, rewards = self.agents, self.rewards
        for agent_id, action in action_dict.items():
            agent = agents[agent_id]
            if agent.active:
                attempted, attacked = self.attack_actor.process_action(agent, action, **kwargs)
                if attempted and not attacked:
                    rewards[agent_id] -= 0.1
                for target in attacked:
                    if not target.active:
                        rewards[target.id] -= 1
                        rewards[agent_id] += 1
        for agent_id, action in action_dict.items():
            agent = agents[agent_id]
            if agent.active and not self.move_actor.process_action(agent, action, **kwargs):
                rewards[agent_id] -= 0.1
        for agent_id in action_dict:
            rewards[agent_id] -= 0.01

    def get_obs(self, agent_id, **kwargs):
        return self.observer.get_obs(self.agents[agent_id], **kwargs)

    def get_reward(self, agent_id, **kwargs):
        reward, self.rewards[agent_id] = self.rewards[agent_id], 0
        return reward

    def get_done(self, agent_id, **kwargs):
        return self.done.get_done(self.agents[agent_id], **kwargs)

    def get_all_done(self, **kwargs):
        return self.done.get_all_done(**kwargs)
