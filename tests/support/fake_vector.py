"""A stand-in with the interface of a vectorised simulation and rules of its own: agents see noise,
die by chance, and get their number as reward. Not square, and its groups differ in everything."""

from types import SimpleNamespace

import numpy as np
from gymnasium.spaces import Box, Dict, Discrete

TRAITS = np.dtype(
    [("encoding", "i4"), ("view_range", "i4"), ("move_range", "i4"), ("attack_range", "i4"),
     ("simultaneous_attacks", "i4"), ("blocking", "?")]
)  # fmt: skip
WINDOW = "position_centered_encoding"


class FakeAgent:
    """What drawing wants to know of an agent."""

    render_shape, render_size = "o", 200

    def __init__(self, name, encoding, color, group=None, blocking=False):
        self.id, self.encoding, self.render_color = name, encoding, color
        self.group, self.blocking = group, blocking
        self.initial_position = self.initial_health = None


class RockAgent(FakeAgent):
    """An agent that never acts."""


class FakeSim:
    """Makes the stand-in."""

    def __init__(self, deadly=0.05):
        self.deadly = deadly

    def vectorize(self, num_envs=1024, seed=0, horizon=None, num_threads=None, order="fixed",
                  autoreset=True, copy=False):  # fmt: skip
        return FakeVec(self, num_envs, seed, horizon, num_threads, order, autoreset)


class FakeVec:
    """Three red agents that see 5 x 5, two blue ones that see 3 x 3, a rock."""

    rows, cols = 4, 7
    loads = 0

    def __init__(self, sim, num_envs=6, seed=0, horizon=9, num_threads=1, order="fixed",
                 autoreset=True):  # fmt: skip
        self.sim, self.num_envs, self.seed, self.horizon = sim, num_envs, seed, horizon
        self.num_threads, self.order, self.autoreset = num_threads or 1, order, autoreset
        ids = ["red0", "red1", "blue0", "red2", "rock", "blue1"]
        self.agents = {
            name: RockAgent(name, 3, "black", blocking=True)
            if name == "rock"
            else FakeAgent(name, 1 if name[0] == "r" else 2, name[:-1], group=name[:-1])
            for name in ids
        }
        self.groups = {
            "red": group(
                "red", ids, 1, 2, {"move": Box(-1, 1, (2,), np.int8), "attack": Discrete(3)}
            ),
            "blue": group("blue", ids, 2, 1, {"move": Discrete(5)}),
        }
        traits = np.zeros(len(ids), TRAITS)
        for slot, name in enumerate(ids):
            traits[slot] = (self.agents[name].encoding, 2, 1, 1, 2, name == "rock")
        shape = (num_envs, len(ids))
        self.store = SimpleNamespace(
            num_worlds=num_envs, num_agents=len(ids), rows=4, cols=7, ids=ids,
            index={name: k for k, name in enumerate(ids)}, traits=traits,
            active=np.ones(shape, bool), health=np.ones(shape),
            position=np.zeros((*shape, 2), np.int32),
            encoding=traits["encoding"], teams=lambda: traits["encoding"][None],
            has=lambda name: False,
        )  # fmt: skip
        self.age = np.zeros(num_envs, np.int64)
        self.streams = None
        self.started = False
        self.samples = 0

    @property
    def episodes(self):
        return SimpleNamespace(length=self.age)

    def part_of(self, world):
        return SimpleNamespace(actors={}), world

    def attackable(self, name):
        return {2} if name == "red" else set()

    def attackers(self, name):
        return {1} if name == "blue" else set()

    def reset(self, seed=None, worlds=None):
        if seed is not None or self.streams is None:
            self.seed = self.seed if seed is None else seed
            self.streams = np.random.default_rng(self.seed)
            self.started = True
            self.sampler = np.random.default_rng([self.seed, 1])
        self.age = np.zeros(self.num_envs, np.int64)
        self.store.active[:] = True
        self.returns = {n: np.zeros((self.num_envs, len(g))) for n, g in self.groups.items()}
        self.who = {n: np.ones((self.num_envs, len(g)), bool) for n, g in self.groups.items()}
        self.obs = self._look()
        return self.obs, {"active": self.who}

    def _look(self):
        shapes = {n: (self.num_envs, len(g), *shape_of(g)) for n, g in self.groups.items()}
        return {
            n: {WINDOW: self.streams.integers(-2, 4, shape, np.int8)} for n, shape in shapes.items()
        }

    def sample_actions(self):
        self.samples += 1
        return {
            "red": {
                "move": self.sampler.integers(-1, 2, (self.num_envs, 3, 2), np.int8),
                "attack": self.sampler.integers(0, 3, (self.num_envs, 3)),
            },
            "blue": {"move": self.sampler.integers(0, 5, (self.num_envs, 2))},
        }

    def step(self, actions):
        for name, g in self.groups.items():
            for channel, space in g.action_space.items():
                given = np.asarray(actions[name][channel])
                if given.shape != (self.num_envs, len(g), *space.shape):
                    raise ValueError(f"actions of {name!r}, {channel!r} have shape {given.shape}")
        active = self.store.active
        rewards, terminated, truncated = {}, {}, {}
        self.age += 1
        for name, g in self.groups.items():
            died = active[:, g.slots] & (
                self.streams.random((self.num_envs, len(g))) < self.sim.deadly
            )
            active[:, g.slots] &= ~died
            rewards[name] = np.where(self.who[name], np.arange(1.0, len(g) + 1), 0.0)
            self.returns[name] += rewards[name]
            terminated[name] = died
        ended = ~active[:, self.groups["red"].slots].any(axis=1)
        over = np.zeros_like(ended) if self.horizon is None else ~ended & (self.age >= self.horizon)
        for name, g in self.groups.items():
            truncated[name] = over[:, None] & active[:, g.slots]
        ended |= over
        infos = {
            "ended": ended,
            "final_obs": self._look(),
            "final_active": active.copy(),
            "episode": {
                "return": {n: r.copy() for n, r in self.returns.items()},
                "length": self.age.copy(),
            },
        }
        # The engine's arrays are its own: what it returned before is overwritten now.
        for channels in self.obs.values():
            for array in channels.values():
                array[:] = 99
        for array in self.who.values():
            array[:] = False
        active[ended], self.age[ended] = True, 0
        for name, g in self.groups.items():
            self.returns[name][ended] = 0
            self.who[name] = active[:, g.slots].copy()
        self.obs = self._look()
        infos["active"] = self.who
        return self.obs, rewards, terminated, truncated, infos


def group(name, ids, encoding, view, actions):
    members = [(slot, i) for slot, i in enumerate(ids) if i.startswith(name)]
    side = 2 * view + 1
    return FakeGroup(
        name=name,
        agent_ids=tuple(i for _, i in members),
        slots=np.array([slot for slot, _ in members]),
        encoding=encoding,
        observation_space=Dict({WINDOW: Box(-2, 3, (side, side), np.int8)}),
        action_space=Dict(actions),
    )


class FakeGroup(SimpleNamespace):
    """A group; its length is its number of agents."""

    def __len__(self):
        return len(self.agent_ids)


def shape_of(g):
    return g.observation_space[WINDOW].shape
