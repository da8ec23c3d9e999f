"""The team battle as the engine runs it: episodes, a horizon and self reset in one world."""

from dataclasses import dataclass, field

from .done import OneTeamRemainingDone
from .episode import reset_health
from .observation import encoding_window, null_window
from .placement import reset_positions
from .team_battle import sample_actions, step_world


@dataclass
class StepRecord:
    """What one step gives. Lists have an entry per agent, in agent order.

    ``positions`` to ``windows`` show the world after its self reset where it ended, the ``final_``
    ones right before it (None where it did not end).
    """

    positions: list
    health: list
    active: list
    windows: list
    acting: list  # who acts in the next step
    rewards: list
    terminated: list
    truncated: list
    ended: bool = False
    final_positions: list | None = None
    final_health: list | None = None
    final_active: list | None = None
    final_windows: list | None = None
    episode_returns: list | None = None
    episode_length: int | None = None


@dataclass
class NaiveTeamBattle:
    """One world of the team battle that resets itself when it ends.

    Args:
        world: NaiveWorld; its state is made by ``reset``.
        streams: (dynamics, observation, sampling), as ``random_stream.streams`` makes them.
        attack_mapping: encoding -> encoding or set.
        stacked_attacks, observe_self: of the attack actor and the observer.
        no_overlap_at_reset, randomize_placement_order: of the placement.
        random_order: shuffle the acting agents in each step; False: agent order.
        horizon: steps until an episode is cut, or None.
        dones: done components.
    """

    world: object
    streams: tuple
    attack_mapping: dict
    stacked_attacks: bool = False
    observe_self: bool = True
    no_overlap_at_reset: bool = False
    randomize_placement_order: bool = False
    random_order: bool = False
    horizon: int | None = None
    dones: list = field(default_factory=lambda: [OneTeamRemainingDone()])

    def reset(self):
        """Start an episode; returns the windows of the observing agents (None for the others)."""
        dynamics = self.streams[0]
        reset_positions(
            self.world, dynamics, self.no_overlap_at_reset, self.randomize_placement_order
        )
        reset_health(self.world, dynamics)
        self.acting = [agent.learning for agent in self.world.agents]
        self.length = 0
        self.returns = [0.0] * len(self.world.agents)
        return self.windows([True] * len(self.world.agents))

    def windows(self, shown):
        """The windows of the agents that are shown one, the null window for the others.

        Agents that do not observe have None; those that observe and do not act see like others.
        """
        result = []
        for number, agent in enumerate(self.world.agents):
            if agent.view_range is None:
                result.append(None)
            elif shown[number]:
                result.append(
                    encoding_window(self.world, self.streams[1], number, self.observe_self)
                )
            else:
                result.append(null_window(agent.view_range))
        return result

    def sample_actions(self):
        """Random actions from the sampling stream."""
        return sample_actions(self.world, self.streams[2])

    def step(self, actions):
        """Step the world, and reset it when it ended.

        Args:
            actions: {agent: {"attack": int, "move": (dr, dc)}}, of those that act at least.

        Returns:
            StepRecord.
        """
        world = self.world
        numbers = range(len(world.agents))
        acted = list(self.acting)
        seeing = [agent.active for agent in world.agents]
        order = [i for i in numbers if acted[i]]
        if self.random_order:
            self.streams[0].shuffle(order)
        rewards = step_world(
            world, self.streams[0], order, actions, self.attack_mapping, self.stacked_attacks
        )
        self.length += 1
        # An agent that has ended earns nothing more, whatever still happens to it.
        self.returns = [self.returns[i] + rewards[i] * acted[i] for i in numbers]

        done = [any(component.done(world, i) for component in self.dones) for i in numbers]
        self.acting = [acted[i] and not done[i] for i in numbers]
        over = any(component.all_done(world) for component in self.dones)
        over = over or not any(self.acting)
        cut = not over and self.length == self.horizon
        record = StepRecord(
            **self.state(),
            windows=self.windows(seeing),  # an agent that fell in this step sees for a last time
            acting=self.acting,
            rewards=rewards,
            terminated=[acted[i] and (done[i] or over) for i in numbers],
            truncated=[self.acting[i] and cut for i in numbers],
        )
        if over or cut:
            self.start_anew(record)
        return record

    def start_anew(self, record):
        """Note the end of the episode in the record, reset, and show the new episode in it."""
        record.ended = True
        record.final_positions = record.positions
        record.final_health = record.health
        record.final_active = record.active
        record.final_windows = record.windows
        record.episode_returns = self.returns
        record.episode_length = self.length
        record.windows = self.reset()
        record.acting = self.acting
        for name, value in self.state().items():
            setattr(record, name, value)

    def state(self):
        """Positions, health and activity as lists."""
        agents = self.world.agents
        return {
            "positions": [agent.position for agent in agents],
            "health": [agent.health for agent in agents],
            "active": [agent.active for agent in agents],
        }


def run(battle, number_of_steps, choose_actions=None):
    """Reset, then yield (actions, StepRecord) of so many steps.

    Args:
        battle: NaiveTeamBattle.
        number_of_steps: steps, over as many episodes as they take.
        choose_actions: function of the battle that returns actions; None: sampled ones.
    """
    battle.reset()
    for _ in range(number_of_steps):
        actions = choose_actions(battle) if choose_actions else battle.sample_actions()
        yield actions, battle.step(actions)
