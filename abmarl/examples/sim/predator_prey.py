"""Predators hunt prey, which harvests resources that grow again.

The simulation of the predator-prey tutorial in Abmarl's manual, whose rules the manual leaves open;
the ones here are written down at `PredatorPreySimulation`.
"""

import copy
from collections.abc import Mapping
from typing import Any

import numpy as np
from gymnasium.spaces import Box, Discrete

from abmarl.examples.sim.base import PlainSimulation
from abmarl.examples.sim.predator_prey_config import configure
from abmarl.examples.sim.predator_prey_observations import OBSERVATIONS
from abmarl.sim.agents import Agent


class PredatorPreyAgent(Agent):
    """An agent on the region: a `Predator` or a `Prey`.

    Args:
        move: how many cells it goes at most, by row and by column; the simulation's default is 1.
        view: how many cells far it sees; by default the whole region.
        **kwargs: for `Agent`.

    Attributes:
        position: int [2], row and column, from the first reset on.
    """

    required_parameters = ("move", "view")
    value: int

    def __init__(self, move: int | None = None, view: int | None = None, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.move = move
        self.view = view


class Prey(PredatorPreyAgent):
    """Harvests resources.

    Args:
        harvest_amount: how much it takes at once; the simulation's default is 0.1.
        **kwargs: for `PredatorPreyAgent`.
    """

    required_parameters = ("harvest_amount",)
    value = 1

    def __init__(self, harvest_amount: float | None = None, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.harvest_amount = harvest_amount


class Predator(PredatorPreyAgent):
    """Hunts prey.

    Args:
        attack: how many cells far it attacks; the simulation's default is 1.
        **kwargs: for `PredatorPreyAgent`.
    """

    required_parameters = ("attack",)
    value = 2

    def __init__(self, attack: int | None = None, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.attack = attack


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
        self._observe = OBSERVATIONS[config["observation_mode"]]
        self.agents = {agent.id: copy.copy(agent) for agent in config["agents"]}
        for agent in self.agents.values():
            deed = "attack" if isinstance(agent, Predator) else "harvest"
            agent.action_space = {
                "move": Box(-agent.move, agent.move, (2,), int),
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
                and, where they are not to be the defaults of `predator_prey_config`, ``region``,
                ``max_steps``, ``observation_mode`` ("grid" or "distance"), ``rewards`` (of
                "predator" and of "prey") and ``resources``.

        Raises:
            TypeError, ValueError: a key is unknown, or a value is of the wrong kind or out of its
                range.
        """
        return cls(configure(sim_config, Predator, Prey))

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
