"""A vectorised simulation and single ones, world by world, fed with the same random actions."""

import numpy as np
from gymnasium.spaces import Dict, MultiDiscrete

from abmarl.sim.agents import is_agent


class Single:
    """One world as a user plays it: a single simulation, reset when it ends."""

    def __init__(self, sim, seed, world, horizon, order):
        self.sim, self.horizon, self.order = sim, horizon, order
        self.learning = [name for name, agent in sim.agents.items() if is_agent(agent)]
        self.seed = (seed, world)

    def start(self, **kwargs):
        self.sim.reset(**kwargs)
        self.live = list(self.learning)
        self.length = 0
        self.returns = dict.fromkeys(self.learning, 0.0)
        self.obs = {name: self.sim.get_obs(name) for name in self.learning}

    def begin(self):
        self.start(seed=self.seed)

    def step(self, actions):
        """One step; returns what a vectorised simulation says of one world, keyed by agent."""
        sim, acted = self.sim, list(self.live)
        order = sim.random_order(acted) if self.order == "random" else acted
        sim.step({name: actions[name] for name in order})
        self.length += 1
        out = {
            "rewards": {name: sim.get_reward(name) for name in self.learning},
            "obs": {name: sim.get_obs(name) for name in self.learning},
        }
        for name in acted:
            self.returns[name] += out["rewards"][name]
        done = {name: sim.get_done(name) for name in acted}
        over = sim.get_all_done()
        late = self.horizon is not None and self.length >= self.horizon
        out["terminated"] = {name: name in acted and (done[name] or over) for name in self.learning}
        out["truncated"] = {
            name: name in acted and late and not out["terminated"][name] for name in self.learning
        }
        self.live = [
            name for name in acted if not out["terminated"][name] and not out["truncated"][name]
        ]
        out["ended"] = over or late or not self.live
        if out["ended"]:
            out["final_obs"], out["return"] = out["obs"], self.returns
            out["length"] = self.length
            out["final_active"] = [agent.active for agent in sim.agents.values()]
            self.start()
            out["obs"] = self.obs
        out["active"] = {name: name in self.live for name in self.learning}
        return out

    def state(self):
        store = self.sim.store
        return [
            array[0].tobytes()
            for array in (
                store.position, store.active, store.health, store.first, store.next_,
                store.streams, store.sight_streams,
            )
        ]  # fmt: skip


def world_state(vec, b):
    """What ``Single.state`` gives, of one world of a vectorised simulation."""
    store = vec.store
    return [
        np.ascontiguousarray(array[b]).tobytes()
        for array in (
            store.position, store.active, store.health, store.first, store.next_,
            store.streams, store.sight_streams,
        )
    ]  # fmt: skip


def random_actions(vec, rng):
    """Uniform actions from a NumPy generator, ``{group: {channel: array}}``."""
    actions = {}
    for name, group in vec.groups.items():
        actions[name] = {}
        for key, space in group.action_space.spaces.items():
            shape = (vec.num_envs, len(group), *space.shape)
            if isinstance(space, MultiDiscrete):
                actions[name][key] = rng.integers(0, space.nvec, shape)
            elif space.shape:
                actions[name][key] = rng.integers(space.low, space.high + 1, shape)
            else:
                actions[name][key] = rng.integers(0, int(space.n), shape)
    return actions


def actions_of(vec, actions, b):
    """One world's actions by agent."""
    return {
        agent_id: {
            key: _one(vec, key, agent_id, array[b, k]) for key, array in actions[name].items()
        }
        for name, group in vec.groups.items()
        for k, agent_id in enumerate(group.agent_ids)
    }


def _one(vec, key, agent_id, entry):
    """One agent's action on a channel, as a single simulation takes it."""
    space = vec.sim.agents[agent_id].action_space[key]
    if isinstance(space, Dict):
        return dict(zip(space, entry.tolist(), strict=True))
    return entry if entry.ndim else int(entry)


def rows(vec, arrays, b):
    """``{group: [B, n]}`` as ``{agent: value}`` of one world."""
    return {
        agent_id: arrays[name][b, k].item()
        for name, group in vec.groups.items()
        for k, agent_id in enumerate(group.agent_ids)
    }


def views(vec, obs, b):
    """``{group: {channel: [B, n, ...]}}`` as ``{agent: {channel: nested lists}}`` of one world."""
    return {
        agent_id: {key: array[b, k].tolist() for key, array in obs[name].items()}
        for name, group in vec.groups.items()
        for k, agent_id in enumerate(group.agent_ids)
    }


def listed(obs):
    return {
        name: {key: np.asarray(value).tolist() for key, value in channels.items()}
        for name, channels in obs.items()
    }


def compare_step(vec, b, found, expected):
    """Compares one world of a vectorised step with a single one's, bit for bit."""
    obs, rewards, terminated, truncated, infos = found
    assert views(vec, obs, b) == listed(expected["obs"])
    assert rows(vec, rewards, b) == expected["rewards"]
    assert rows(vec, terminated, b) == expected["terminated"]
    assert rows(vec, truncated, b) == expected["truncated"]
    assert rows(vec, infos["active"], b) == expected["active"]
    assert bool(infos["ended"][b]) == expected["ended"]
    if expected["ended"]:
        assert views(vec, infos["final_obs"], b) == listed(expected["final_obs"])
        assert infos["final_active"][b].tolist() == expected["final_active"]
        assert rows(vec, infos["episode"]["return"], b) == expected["return"]
        assert infos["episode"]["length"][b] == expected["length"]


def replay(make_sim, steps, num_envs, seed, horizon, order, num_threads, worlds=None, save_at=None):
    """Plays both ways and compares every step; returns how many episodes ended.

    Args:
        worlds: The worlds that are also played singly; None: all.
        save_at: After this step the vectorised simulation is saved and loaded into a fresh one.
    """

    def fresh():
        return make_sim().vectorize(
            num_envs, seed=seed, horizon=horizon, order=order, num_threads=num_threads
        )

    vec = fresh()
    worlds = range(num_envs) if worlds is None else worlds
    singles = {b: Single(make_sim(), seed, b, horizon, order) for b in worlds}
    obs, infos = vec.reset()
    for b, single in singles.items():
        single.begin()
        assert views(vec, obs, b) == listed(single.obs)
        assert rows(vec, infos["active"], b) == dict.fromkeys(single.learning, True)
        assert world_state(vec, b) == single.state()
    rng, ended = np.random.default_rng(seed), 0
    for step in range(steps):
        if step == save_at:
            saved = vec.state_dict()
            vec = fresh()
            vec.load_state_dict(saved)
        actions = random_actions(vec, rng)
        found = vec.step(actions)
        for b, single in singles.items():
            compare_step(vec, b, found, single.step(actions_of(vec, actions, b)))
            assert world_state(vec, b) == single.state()
        ended += int(found[4]["ended"].sum())
    return ended
