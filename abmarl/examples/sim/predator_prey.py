"""Predators hunt prey, which harvests resources that grow again.

The simulation of the predator-prey tutorial in Abmarl's manual, whose rules the manual leaves open;
the ones here are written down at `PredatorPreySimulation`.
"""

import copy
import difflib
from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np
from gymnasium.spaces import Box, Discrete

from abmarl.examples.sim.base import PlainSimulation, check_int
from abmarl.sim.agents import Agent

REWARDS = {
    "predator": {"kill": 1.0, "attack_missed": -0.1, "move_failed": -0.1, "step": -0.01},
    "prey": {
        "harvest": 0.1,
        "harvest_failed": -0.1,
        "killed": -1.0,
        "move_failed": -0.1,
        "step": -0.01,
    },
}
"""What brings how much; ``harvest`` is for a full harvest_amount, a part of it brings its share."""

RESOURCES = {"coverage": 0.75, "max_value": 1.0, "regrow": 0.04}
"""Share of the cells that bear resources, how much a cell holds, what comes back per step."""

DEFAULTS = {
    "region": 10,
    "max_steps": 200,
    "observation_mode": "grid",
    "rewards": REWARDS,
    "resources": RESOURCES,
}


class PredatorPreyAgent(Agent):
    """An agent on the region: a `Predator` or a `Prey`.

    Args:
        move: how many cells it goes at most, by row and by column; the simulation's default is 1.
        view: how many cells far it sees; by default the whole region.
        **kwargs: for `Agent`.

    Attributes:
        position: int [2], row and column, from the first reset on.
    """

    required_parameters: ClassVar[tuple[str, ...]] = ("move", "view")
    value: int
    position: np.ndarray

    def __init__(self, move: int | None = None, view: int | None = None, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.move: Any = move
        self.view: Any = view


class Prey(PredatorPreyAgent):
    """Harvests resources.

    Args:
        harvest_amount: how much it takes at once; the simulation's default is 0.1.
        **kwargs: for `PredatorPreyAgent`.
    """

    required_parameters: ClassVar[tuple[str, ...]] = ("harvest_amount",)
    value = 1

    def __init__(self, harvest_amount: float | None = None, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.harvest_amount: Any = harvest_amount


class Predator(PredatorPreyAgent):
    """Hunts prey.

    Args:
        attack: how many cells far it attacks; the simulation's default is 1.
        **kwargs: for `PredatorPreyAgent`.
    """

    required_parameters: ClassVar[tuple[str, ...]] = ("attack",)
    value = 2

    def __init__(self, attack: int | None = None, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.attack: Any = attack


class PredatorPreySimulation(PlainSimulation):
    """Predators and prey on a square region whose cells bear resources.

    In a step the predators act first, then the prey that is left, both in the order of the action
    dict; then resources grow. Who attacks or harvests does not move. An attack kills one random
    prey within range, by rows and columns. Cells may be shared. A move over the edge fails. Prey
    is done when it is dead, the simulation when no prey is left or after `max_steps`.

    Actions: ``move``, int [2], rows and columns, and ``attack`` (predators) or ``harvest`` (prey),
    which is 1 to do it.

    Observations of mode ``"grid"``: ``agents``, int [2 * view + 1, 2 * view + 1], the cells around
    the agent with -1 outside of the region, 0 for nobody, 1 for prey, 2 for a predator (also where
    there is prey as well), itself left out; for prey also ``resources``, float64 of that shape, -1
    outside. Of mode ``"distance"``: ``position``, int [2], and ``others``, int [agents - 1, 3], for
    every other agent in the order of the dict its offset by row and column and its value, all 0
    when it is dead or out of view; for prey also ``resources``.

    Build one with `build`.

    Attributes:
        region: rows and columns of the region.
        max_steps: when an episode ends at the latest.
        resources: float64 [region, region].
        max_resource: how much a cell holds at most.
        steps: steps since the reset.
        reward: rewards gathered since they were read, by agent id.
    """

    def __init__(self, config: Mapping[str, Any]) -> None:
        self.region, self.max_steps = config["region"], config["max_steps"]
        self._rewards, self._growth = config["rewards"], config["resources"]
        self.max_resource = float(self._growth["max_value"])
        self._observe = _OBSERVATIONS[config["observation_mode"]]
        self.agents = {agent.id: copy.copy(agent) for agent in config["agents"]}
        for agent in self.agents.values():
            deed = "attack" if isinstance(agent, Predator) else "harvest"
            agent.action_space = {
                "move": Box(-agent.move, agent.move, (2,), np.int64),
                deed: Discrete(2),
            }
            agent.observation_space, agent.null_observation = self._observe.spaces(self, agent)
            agent.null_action = {"move": np.zeros(2, int), deed: 0}
        self.finalize()

    @classmethod
    def build(cls, sim_config: Mapping[str, Any]) -> "PredatorPreySimulation":
        """Make a simulation from a configuration, which is not changed.

        Args:
            sim_config: ``agents``, a list or dict of `Predator` and `Prey` with one prey at least;
                and, where they are not to be the `DEFAULTS` of this module, ``region``,
                ``max_steps``, ``observation_mode`` ("grid" or "distance"), ``rewards`` (of
                "predator" and of "prey") and ``resources``.

        Raises:
            TypeError, ValueError: a key is unknown, or a value is of the wrong kind or out of its
                range.
        """
        return cls(_configure(sim_config))

    def reset(self, seed: Any = None, **kwargs: Any) -> None:
        """Put every agent on a random cell, and let resources grow on a part of the cells.

        Args:
            seed: int or (seed, world); None goes on with the random stream.
            **kwargs: ignored.
        """
        self.reseed(seed)
        shape = (self.region, self.region)
        self._fertile = self.rng.random(shape) < self._growth["coverage"]
        self.resources = np.where(self._fertile, self.max_resource, 0.0)
        for agent in self.agents.values():
            agent.position = self.rng.integers(self.region, size=2)
            agent.active = True
        self.steps = 0
        self.reward = dict.fromkeys(self.agents, 0.0)

    def step(self, action_dict: dict[str, Any], **kwargs: Any) -> None:
        """Let predators act, then prey, then resources grow.

        Args:
            action_dict: ``{"move": [rows, columns], "attack" or "harvest": 0 or 1}`` by agent id.
            **kwargs: ignored.

        Raises:
            ValueError: an action does not lie in its space, or comes from an agent that is unknown
                or dead. Nothing has changed then.
        """
        self.check_actions(action_dict)
        self.steps += 1
        acting = [(self.agents[agent_id], action) for agent_id, action in action_dict.items()]
        for agent, action in acting:
            if isinstance(agent, Predator):
                self._act(agent, action, "attack", self._attack)
        for agent, action in acting:
            if isinstance(agent, Prey) and agent.active:
                self._act(agent, action, "harvest", self._harvest)
        grown = self.resources + self._growth["regrow"]
        self.resources = np.where(self._fertile, np.minimum(grown, self.max_resource), 0.0)

    def get_obs(self, agent_id: str, **kwargs: Any) -> dict[str, np.ndarray]:
        """Return what the agent sees, by channel."""
        return self._observe.observe(self, self.agents[agent_id])

    def get_done(self, agent_id: str, **kwargs: Any) -> bool:
        """Return whether the agent is dead."""
        return not self.agents[agent_id].active

    def get_all_done(self, **kwargs: Any) -> bool:
        """Return whether no prey is left or the time is over."""
        left = any(agent.active for agent in self.agents.values() if isinstance(agent, Prey))
        return not left or self.steps >= self.max_steps

    def draw(self, axes: Any) -> None:
        """Draw the region: resources green, prey blue, predators red."""
        axes.imshow(self.resources, cmap="Greens", vmin=0, vmax=self.max_resource)
        for kind, marker, color in ((Prey, "o", "royalblue"), (Predator, "^", "firebrick")):
            rows_cols = [one.position for one in self.agents.values()
                         if isinstance(one, kind) and one.active]  # fmt: skip
            rows, cols = np.array(rows_cols, int).reshape(-1, 2).T
            axes.scatter(cols, rows, marker=marker, s=120, color=color)
        axes.set(xticks=[], yticks=[])

    def _act(self, agent: PredatorPreyAgent, action: Mapping[str, Any], deed: str, do: Any) -> None:
        rewards = self._rewards["predator" if isinstance(agent, Predator) else "prey"]
        self.reward[agent.id] += rewards["step"]
        if action[deed]:
            do(agent, rewards)
            return
        target = agent.position + np.asarray(action["move"], int)
        if (target < 0).any() or (target >= self.region).any():
            self.reward[agent.id] += rewards["move_failed"]
        else:
            agent.position = target

    def _attack(self, predator: Predator, rewards: Mapping[str, float]) -> None:
        reachable = [
            agent
            for agent in self.agents.values()
            if isinstance(agent, Prey)
            and agent.active
            and np.abs(agent.position - predator.position).max() <= predator.attack
        ]
        if not reachable:
            self.reward[predator.id] += rewards["attack_missed"]
            return
        prey = reachable[self.rng.integers(len(reachable)) if len(reachable) > 1 else 0]
        prey.active = False
        self.reward[predator.id] += rewards["kill"]
        self.reward[prey.id] += self._rewards["prey"]["killed"]

    def _harvest(self, prey: Prey, rewards: Mapping[str, float]) -> None:
        cell = tuple(prey.position)
        amount = min(prey.harvest_amount, self.resources[cell])
        if amount > 0:
            self.resources[cell] -= amount
            self.reward[prey.id] += rewards["harvest"] * amount / prey.harvest_amount
        else:
            self.reward[prey.id] += rewards["harvest_failed"]


class _GridObservation:
    """The cells around an agent."""

    @staticmethod
    def spaces(
        sim: PredatorPreySimulation, agent: PredatorPreyAgent
    ) -> tuple[dict[str, Box], dict[str, np.ndarray]]:
        """Return the agent's observation space and its null observation, by channel."""
        side = (2 * agent.view + 1,) * 2
        spaces = {"agents": Box(-1, 2, side, np.int64)}
        return _with_resources(sim, agent, spaces)

    @staticmethod
    def observe(sim: PredatorPreySimulation, agent: PredatorPreyAgent) -> dict[str, np.ndarray]:
        """Return what the agent sees, by channel."""
        values = np.zeros((sim.region, sim.region), int)
        for other in sim.agents.values():
            if other is not agent and other.active:
                cell = tuple(other.position)
                values[cell] = max(values[cell], other.value)
        return _seen_resources(sim, agent, {"agents": _window(values, agent)})


class _DistanceObservation:
    """Where the others are, relative to an agent."""

    @staticmethod
    def spaces(
        sim: PredatorPreySimulation, agent: PredatorPreyAgent
    ) -> tuple[dict[str, Box], dict[str, np.ndarray]]:
        """Return the agent's observation space and its null observation, by channel."""
        highest = np.tile([agent.view, agent.view, 2], (len(sim.agents) - 1, 1))
        lowest = highest * np.array([-1, -1, 0])
        spaces = {
            "position": Box(0, sim.region - 1, (2,), np.int64),
            "others": Box(lowest, highest, dtype=np.int64),
        }
        return _with_resources(sim, agent, spaces)

    @staticmethod
    def observe(sim: PredatorPreySimulation, agent: PredatorPreyAgent) -> dict[str, np.ndarray]:
        """Return what the agent sees, by channel."""
        others = [other for other in sim.agents.values() if other is not agent]
        seen = np.zeros((len(others), 3), int)
        for row, other in enumerate(others):
            offset = other.position - agent.position
            if other.active and np.abs(offset).max() <= agent.view:
                seen[row] = *offset, other.value
        found = {"position": agent.position.astype(int), "others": seen}
        return _seen_resources(sim, agent, found)


def _with_resources(sim: Any, agent: Any, spaces: dict) -> tuple[dict, dict]:
    if isinstance(agent, Prey):
        side = (2 * agent.view + 1,) * 2
        spaces["resources"] = Box(-1, sim.max_resource, side, np.float64)
    return spaces, {key: np.zeros(space.shape, space.dtype) for key, space in spaces.items()}


def _seen_resources(sim: Any, agent: Any, found: dict) -> dict[str, np.ndarray]:
    if isinstance(agent, Prey):
        found["resources"] = _window(sim.resources, agent)
    return found


def _window(values: np.ndarray, agent: Any) -> np.ndarray:
    """Return the cells around an agent, -1 outside of the region."""
    view = agent.view
    padded = np.pad(values, view, constant_values=-1)
    row, col = agent.position
    return padded[row : row + 2 * view + 1, col : col + 2 * view + 1].copy()


_OBSERVATIONS: dict[str, Any] = {"grid": _GridObservation, "distance": _DistanceObservation}


def _configure(given: Mapping[str, Any]) -> dict[str, Any]:
    """Return a whole configuration, with copies of the agents that have all their parameters.

    Args:
        given: what differs from the defaults.

    Raises:
        TypeError, ValueError: a key is unknown, or a value is of the wrong kind or out of range.
    """
    config = _merged("sim_config", {**DEFAULTS, "agents": None}, given)
    check_int("region", config["region"], 1)
    check_int("max_steps", config["max_steps"], 1)
    if config["observation_mode"] not in _OBSERVATIONS:
        raise ValueError(
            f"observation_mode must be one of {', '.join(map(repr, _OBSERVATIONS))}, "
            f"got {config['observation_mode']!r:.60}"
        )
    for name, least, most in (("coverage", 0, 1), ("max_value", 0, None), ("regrow", 0, None)):
        _check_number(f"resources[{name!r}]", config["resources"][name], least, most)
    config["agents"] = _agents(config["agents"], config["region"])
    return config


def _agents(given: Any, region: int) -> list[Any]:
    agents = list(given.values()) if isinstance(given, Mapping) else given
    if not isinstance(agents, list | tuple):
        raise TypeError(f"agents must be a list or dict of Predator and Prey, got {agents!r:.60}")
    made: list[Any] = []
    for agent in agents:
        if not isinstance(agent, Predator | Prey):
            raise TypeError(f"agents must be Predator or Prey, got {type(agent).__name__}")
        if agent.id in {one.id for one in made}:
            raise ValueError(f"there are two agents with the id {agent.id!r}")
        agent = copy.copy(agent)
        defaults = {"move": 1, "view": region - 1, "attack": 1, "harvest_amount": 0.1}
        for name, default in defaults.items():
            if getattr(agent, name, default) is None:
                setattr(agent, name, default)
        for name in ("move", "view", "attack"):
            check_int(f"{name} of agent {agent.id!r}", getattr(agent, name, 0), 0)
        amount = getattr(agent, "harvest_amount", 1)
        _check_number(f"harvest_amount of agent {agent.id!r}", amount, 0)
        if not amount:
            raise ValueError(f"harvest_amount of agent {agent.id!r} must be more than 0")
        made.append(agent)
    if not any(isinstance(agent, Prey) for agent in made):
        raise ValueError("agents must hold one Prey at least: without prey nothing happens")
    return made


def _merged(name: str, defaults: Mapping[str, Any], given: Any) -> dict[str, Any]:
    """Return the defaults with what is given put in their place, one level after the other."""
    if not isinstance(given, Mapping):
        raise TypeError(f"{name} must be a dict, got {given!r:.60}")
    for key in given:
        if key not in defaults:
            close = difflib.get_close_matches(str(key), defaults, n=1)
            hint = f" (did you mean {close[0]!r}?)" if close else ""
            raise ValueError(
                f"{name} has no key {key!r}{hint}; there are {', '.join(map(repr, defaults))}"
            )
    found = {}
    for key, default in defaults.items():
        value = given.get(key, default)
        if isinstance(default, Mapping):
            value = _merged(f"{name}[{key!r}]", default, value)
        elif isinstance(default, float):
            _check_number(f"{name}[{key!r}]", value)
        found[key] = value
    return found


def _check_number(name: str, value: Any, least: Any = None, most: Any = None) -> None:
    if isinstance(value, bool) or not isinstance(value, int | float | np.number):
        raise TypeError(f"{name} must be a number, got {value!r:.60}")
    if not np.isfinite(value):
        raise ValueError(f"{name} must be finite, got {value}")
    if least is not None and value < least:
        raise ValueError(f"{name} must be {least} or more, got {value}")
    if most is not None and value > most:
        raise ValueError(f"{name} must be {most} or less, got {value}")
