"""A simulation in the object style, agent by agent, as existing Abmarl simulations are written.

It runs as a single world; for thousands of worlds see array_style.py.

Run it:  python examples/object_style.py
"""

from abmarl.examples import BattleAgent
from abmarl.gridworld import GridWorldSimulation
from abmarl.gridworld.actor import BinaryAttackActor, MoveActor
from abmarl.gridworld.done import OneTeamRemainingDone
from abmarl.gridworld.observer import PositionCenteredEncodingObserver
from abmarl.gridworld.state import HealthState, PositionState
from abmarl.managers import AllStepManager


class Skirmish(GridWorldSimulation):
    """Two teams attack one another; whoever hits gets a point, whoever dies loses one."""

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
        for agent_id, action in action_dict.items():
            agent = self.agents[agent_id]
            if agent.active:
                _, attacked = self.attack_actor.process_action(agent, action)
                for target in attacked:
                    self.rewards[agent_id] += 1
                    if not target.active:
                        self.rewards[target.id] -= 1
        for agent_id, action in action_dict.items():
            agent = self.agents[agent_id]
            if agent.active:
                self.move_actor.process_action(agent, action)

    def get_obs(self, agent_id, **kwargs):
        return self.observer.get_obs(self.agents[agent_id])

    def get_reward(self, agent_id, **kwargs):
        reward, self.rewards[agent_id] = self.rewards[agent_id], 0
        return reward

    def get_done(self, agent_id, **kwargs):
        return self.done.get_done(self.agents[agent_id])

    def get_all_done(self, **kwargs):
        return self.done.get_all_done()


def make_sim():
    """Four against four on 6 x 8."""
    agents = {f"fighter{i}": BattleAgent(id=f"fighter{i}", encoding=1 + i % 2) for i in range(8)}
    return Skirmish.build_sim(6, 8, agents=agents, attack_mapping={1: {2}, 2: {1}})


def main():
    """Plays one episode with random actions and tells who earned what."""
    manager = AllStepManager(make_sim())
    obs, done = manager.reset(seed=1), {"__all__": False}
    earned = dict.fromkeys(obs, 0)
    while not done["__all__"]:
        acting = [name for name in obs if not done.get(name)]
        actions = {name: manager.agents[name].action_space.sample() for name in acting}
        obs, rewards, done, _ = manager.step(actions)
        for name, reward in rewards.items():
            earned[name] += reward
    print(earned)


if __name__ == "__main__":
    main()
