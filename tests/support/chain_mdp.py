"""Tiny simulations whose values are known by hand."""

from types import SimpleNamespace

import numpy as np
from gymnasium.spaces import Discrete

from abmarl.sim import Agent, AgentBasedSimulation

STAY, GO = 0, 1


class Chain(AgentBasedSimulation):
    """States 0, 1, ..., length: GO brings the next one, STAY costs 1; the end of it is worth 10.

    Args:
        length: the state in which an agent is done.
        num_agents: how many agents, each on a chain of its own.
        start: the first state.
        slip: how often GO fails, by the simulation's own random stream.
    """

    def __init__(self, length=3, num_agents=1, start=0, slip=0.0):
        self.length, self.start, self.slip = length, start, slip
        spaces = {"observation_space": Discrete(length + 1), "action_space": Discrete(2)}
        self.agents = {f"a{i}": Agent(id=f"a{i}", **spaces) for i in range(num_agents)}
        self.finalize()
        self.rng = np.random.default_rng()
        self.rendered = 0

    def reset(self, seed=None, **kwargs):
        if seed is not None:
            self.rng = np.random.default_rng(seed)
        self.state = dict.fromkeys(self.agents, self.start)
        self.reward = dict.fromkeys(self.agents, 0)

    def step(self, action_dict, **kwargs):
        for agent_id, action in action_dict.items():
            if action == GO and self.rng.random() >= self.slip:
                self.state[agent_id] += 1
                self.reward[agent_id] += 10 if self.state[agent_id] == self.length else 0
            else:
                self.reward[agent_id] -= 1

    def get_obs(self, agent_id, **kwargs):
        return self.state[agent_id]

    def get_reward(self, agent_id, **kwargs):
        reward, self.reward[agent_id] = self.reward[agent_id], 0
        return reward

    def get_done(self, agent_id, **kwargs):
        return self.state[agent_id] == self.length

    def get_all_done(self, **kwargs):
        return all(map(self.get_done, self.agents))

    def get_info(self, agent_id, **kwargs):
        return {}

    def render(self, **kwargs):
        self.rendered += 1


class VecChain:
    """Chains in arrays, with the interface of a ravelled simulation.

    Args:
        num_envs: how many worlds, with two agents each that have nothing to do with one another.
        length: as for `Chain`; a world ends when both of its agents have arrived.
        horizon: steps after which an episode is truncated.
    """

    order, autoreset, started, sim = "fixed", True, False, None

    def __init__(self, num_envs=4, length=3, horizon=None):
        self.num_envs, self.length, self.horizon = num_envs, length, horizon
        self.seed, self.seeds = 0, []
        spaces = {"observation_space": Discrete(length + 1), "action_space": Discrete(2)}
        ids = ("a0", "a1")
        self.agents = {agent_id: Agent(id=agent_id, **spaces) for agent_id in ids}
        group = _Group(agent_ids=ids, slots=np.arange(2), encoding=1, **spaces)
        self.groups = {"chain": group}
        self.state = np.zeros((num_envs, 2), int)
        self.age = np.zeros(num_envs, int)
        self.store = SimpleNamespace(
            num_agents=2, active=np.ones((num_envs, 2), bool), teams=lambda: np.ones((1, 2), int)
        )

    def reset(self, seed=None, worlds=None):
        self.seeds.append(seed)
        self.started = True
        self.state[:], self.age[:], self.store.active[:] = 0, 0, True
        self.returns = np.zeros((self.num_envs, 2))
        return {"chain": self.state.copy()}, self.infos()

    def infos(self):
        return {"active": {"chain": self.store.active.copy()}}

    def step(self, actions):
        acting = self.store.active.copy()
        go = acting & (actions["chain"] == GO)
        self.state += go
        self.age += 1
        arrived = go & (self.state == self.length)
        rewards = np.where(arrived, 10.0, np.where(acting & ~go, -1.0, 0.0))
        self.returns += rewards
        self.store.active &= ~arrived
        ended = ~self.store.active.any(axis=1)
        cut = ~ended & (self.age >= self.horizon) if self.horizon else np.zeros_like(ended)
        truncated = cut[:, None] & self.store.active
        ended |= cut
        final = {
            "final_obs": {"chain": self.state.copy()},
            "final_active": self.store.active.copy(),
            "episode": {"return": {"chain": self.returns.copy()}, "length": self.age.copy()},
        }
        self.state[ended], self.age[ended], self.store.active[ended] = 0, 0, True
        self.returns[ended] = 0
        infos = {**self.infos(), **final, "ended": ended}
        outcome = {"chain": rewards}, {"chain": arrived}, {"chain": truncated}
        return {"chain": self.state.copy()}, *outcome, infos


class _Group(SimpleNamespace):
    def __len__(self):
        return len(self.agent_ids)
