import numpy as np
import pytest
from gymnasium.spaces import Box, Dict, Discrete, MultiDiscrete

from abmarl.sim import Agent, AgentBasedSimulation, ObservingAgent, PrincipleAgent


class Counting(AgentBasedSimulation):
    """Agents that count to what they are told; an agent is done when it has counted to 9.

    "tom" and "ann" learn, "eye" only watches and "rock" does nothing.
    """

    def __init__(self, nulls=True, ids=("tom", "ann")):
        space = Dict({"sum": Discrete(20), "last": Box(-1, 1, (2,), int)})
        null = {"sum": 0, "last": np.array([-1, -1])} if nulls else None
        self.agents = {
            agent_id: Agent(
                id=agent_id,
                observation_space=space,
                action_space={"add": MultiDiscrete([4, 3]), "stop": Discrete(2, start=1)},
                null_observation=null,
                null_action={"add": [0, 0], "stop": 1} if nulls else None,
            )
            for agent_id in ids
        }
        self.agents["eye"] = ObservingAgent(id="eye", observation_space=Discrete(100, start=-3))
        self.agents["rock"] = PrincipleAgent(id="rock")
        self.received = []
        self.finalize()

    def reset(self, **kwargs):
        self.reset_with = kwargs
        self.sums = dict.fromkeys(self.agents, 0)
        self.rewards = dict.fromkeys(self.agents, 0.0)

    def step(self, action_dict, **kwargs):
        self.received.append((action_dict, kwargs))
        for agent_id, action in action_dict.items():
            self.sums[agent_id] += int(sum(action["add"]))
        for agent_id in self.rewards:
            self.rewards[agent_id] += 1.0

    def render(self, **kwargs):
        return "a picture", kwargs

    def get_obs(self, agent_id, **kwargs):
        if agent_id == "eye":
            return sum(self.sums.values())
        return {"sum": self.sums[agent_id], "last": np.array([0, 1])}

    def get_reward(self, agent_id, **kwargs):
        reward, self.rewards[agent_id] = self.rewards[agent_id], 0.0
        return reward

    def get_done(self, agent_id, **kwargs):
        return self.sums[agent_id] >= 9

    def get_all_done(self, **kwargs):
        return self.get_done("tom") and self.get_done("ann")

    def get_info(self, agent_id, **kwargs):
        return {"id": agent_id}


@pytest.fixture
def counting():
    """The class of a small simulation."""
    return Counting
