"""A simulation that does what a script says and writes down what it is asked."""

import pytest
from gymnasium.spaces import Discrete

from abmarl.sim import ActingAgent, Agent, AgentBasedSimulation, ObservingAgent, PrincipleAgent


class ScriptedSimulation(AgentBasedSimulation):
    """Agents are done from a given step on.

    Args:
        done_at: the step after which each learning agent is done (None: never), by id.
        ends_at: the step after which the simulation is done, None: never.
        others: more agents, by id.
    """

    def __init__(self, done_at, ends_at=None, others=None):
        self.done_at = done_at
        self.ends_at = ends_at
        self.calls = []
        self.received = []
        self.received_kwargs = []
        spaces = {"observation_space": Discrete(99), "action_space": Discrete(9)}
        self.agents = {
            **{agent_id: Agent(id=agent_id, **spaces) for agent_id in done_at},
            **(others or {}),
        }
        self.finalize()

    def reset(self, **kwargs):
        self.time = 0
        self.calls = []
        self.received_kwargs.append(kwargs)

    def step(self, action_dict, **kwargs):
        self.time += 1
        self.calls = []
        self.received.append(list(action_dict.items()))
        self.received_kwargs.append(kwargs)

    def get_obs(self, agent_id, **kwargs):
        self.calls.append(("obs", agent_id))
        return (agent_id, self.time)

    def get_reward(self, agent_id, **kwargs):
        self.calls.append(("reward", agent_id))
        return self.time * 10

    def get_done(self, agent_id, **kwargs):
        self.calls.append(("done", agent_id))
        when = self.done_at[agent_id]
        return when is not None and self.time >= when

    def get_all_done(self, **kwargs):
        self.calls.append(("all_done", None))
        return self.ends_at is not None and self.time >= self.ends_at

    def get_info(self, agent_id, **kwargs):
        self.calls.append(("info", agent_id))
        return {"of": agent_id}

    def render(self, **kwargs):
        return kwargs

    def random_order(self, agent_ids):
        assert isinstance(agent_ids, list)
        return agent_ids[::-1]


@pytest.fixture
def scripted():
    """The class `ScriptedSimulation`."""
    return ScriptedSimulation


@pytest.fixture
def bystanders():
    """Agents that do not both observe and act, one of each kind."""
    return {
        "wall": PrincipleAgent(id="wall"),
        "camera": ObservingAgent(id="camera", observation_space=Discrete(2)),
        "turret": ActingAgent(id="turret", action_space=Discrete(2)),
    }
