"""A plain simulation that says who is next, for tests of adapters that let agents take turns."""

import numpy as np
from gymnasium.spaces import Box, Discrete

from abmarl.sim import Agent, DynamicOrderSimulation


class Relay(DynamicOrderSimulation):
    """Runners act one after the other or, each third time, two at once.

    In a step every runner who is not done earns what the acting ones chose, those who act and those
    who look on. Runner ``k`` is done after ``6 + 4 * k`` steps, the world when two of them are.
    """

    def __init__(self):
        self.agents = {
            f"runner_{k}": Agent(
                id=f"runner_{k}", observation_space=Box(0, 50, (3,)), action_space=Discrete(4)
            )
            for k in range(3)
        }
        self.finalize()

    def reset(self, seed=None, **kwargs):
        self.random = np.random.default_rng(seed)
        self.time = 0
        self.rewards = dict.fromkeys(self.agents, 0.0)
        self._name_next()

    def step(self, action_dict, **kwargs):
        going = [name for name in self.agents if not self.get_done(name)]
        self.time += 1
        for name in going:
            self.rewards[name] += sum(action_dict.values())
        self._name_next()

    def _name_next(self):
        going = [name for name in self.agents if not self.get_done(name)]
        count = 2 if self.time % 3 == 2 else 1
        self.next_agent = self.random.permutation(going)[:count].tolist()

    def render(self, **kwargs):
        pass

    def get_obs(self, agent_id, **kwargs):
        return np.array([1, self.time, 40 - self.time], np.float32)

    def get_reward(self, agent_id, **kwargs):
        reward, self.rewards[agent_id] = self.rewards[agent_id], 0.0
        return reward

    def get_done(self, agent_id, **kwargs):
        return self.time >= 6 + 4 * int(agent_id[-1])

    def get_all_done(self, **kwargs):
        return self.time >= 10

    def get_info(self, agent_id, **kwargs):
        return {"time": self.time}
