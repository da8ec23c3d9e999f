"""Done components: ``done(world, agent)`` and ``all_done(world)``."""


class ActiveDone:
    """An agent is done when it is inactive."""

    def done(self, world, agent):
        """True when the agent is inactive."""
        return not world.agents[agent].active

    def all_done(self, world):
        """True when every agent is inactive, walls and resources included."""
        return not any(agent.active for agent in world.agents)


class OneTeamRemainingDone(ActiveDone):
    """The simulation is done when the active agents are of one team or none.

    Args:
        ignore_encodings: agents of these encodings are left out of the count.
    """

    def __init__(self, ignore_encodings=()):
        self.ignore_encodings = set(ignore_encodings)

    def all_done(self, world):
        """True when at most one team is left."""
        teams = set()
        for agent in world.agents:
            if agent.active and agent.encoding not in self.ignore_encodings:
                teams.add(agent.team)
        return len(teams) <= 1


class TargetEncodingInactiveDone:
    """An agent is done when all encodings that its own encoding is after are extinct.

    Args:
        target_mapping: encoding -> encoding or set of encodings.
        sim_ends_if_one_done: one mapped encoding that is done ends it, else all must be.
    """

    def __init__(self, target_mapping, sim_ends_if_one_done=True):
        self.target_mapping = {
            encoding: {targets} if isinstance(targets, int) else set(targets)
            for encoding, targets in target_mapping.items()
        }
        self.sim_ends_if_one_done = sim_ends_if_one_done

    def encoding_done(self, world, encoding):
        """True when none of the encoding's targets is active."""
        alive = {agent.encoding for agent in world.agents if agent.active}
        return not (self.target_mapping[encoding] & alive)

    def done(self, world, agent):
        """True when the agent has targets and they are all gone."""
        encoding = world.agents[agent].encoding
        return encoding in self.target_mapping and self.encoding_done(world, encoding)

    def all_done(self, world):
        """True when one mapped encoding (or every one) is done."""
        dones = [self.encoding_done(world, encoding) for encoding in self.target_mapping]
        return any(dones) if self.sim_ends_if_one_done else all(dones)


class TargetAgentDone:
    """Agents are done by what became of one other agent each.

    Args:
        target_mapping: number of an agent -> number of its target.
    """

    def __init__(self, target_mapping):
        self.target_mapping = target_mapping

    def done(self, world, agent):
        """True when the agent has a target and is done with it."""
        if agent not in self.target_mapping:
            return False
        return self.done_with(world.agents[agent], world.agents[self.target_mapping[agent]])

    def all_done(self, world):
        """True when all agents that have a target are done."""
        return all(self.done(world, agent) for agent in self.target_mapping)


class TargetAgentOverlapDone(TargetAgentDone):
    """An agent is done on the cell of its target."""

    def done_with(self, agent, target):
        """True when both are in one cell, or were when they left the grid."""
        return agent.position == target.position


class TargetAgentInactiveDone(TargetAgentDone):
    """An agent is done when its target is inactive."""

    def done_with(self, agent, target):
        """True when the target is gone."""
        return not target.active
