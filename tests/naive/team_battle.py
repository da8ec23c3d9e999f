"""One step of the team battle reference simulation, and random actions for it."""

from .attack import attack
from .move import move

REWARDS = {"attack_missed": -0.1, "kill": 1.0, "killed": -1.0, "move_failed": -0.1, "step": -0.01}


def sample_actions(world, stream):
    """Random {agent: {"attack": int, "move": (dr, dc)}} of all learning agents, dead or not.

    All attacks are drawn first, then all moves.

    Args:
        world: NaiveWorld.
        stream: the sampling stream.
    """
    actions = {number: {} for number, agent in enumerate(world.agents) if agent.learning}
    for number, chosen in actions.items():
        agent = world.agents[number]
        if agent.attack_range is not None:
            chosen["attack"] = stream.below(agent.simultaneous_attacks + 1)
    for number, chosen in actions.items():
        m = world.agents[number].move_range
        if m is not None:
            chosen["move"] = (-m + stream.below(2 * m + 1), -m + stream.below(2 * m + 1))
    return actions


def step_world(world, stream, order, actions, attack_mapping, stacked_attacks=False):
    """One step: all attacks in order, then all moves in order.

    Args:
        world: NaiveWorld.
        stream: the dynamics stream.
        order: numbers of the agents that act, in order.
        actions: {agent: {"attack": int, "move": (dr, dc)}}.
        attack_mapping: encoding -> encoding or set.
        stacked_attacks: as for ``attack``.

    Returns:
        Rewards, a float per agent.
    """
    rewards = [0.0] * len(world.agents)
    for number in order:
        if not world.agents[number].active:
            continue
        attacks = actions[number].get("attack", 0)
        attempted, hit, killed = attack(
            world, stream, number, attacks, attack_mapping, stacked_attacks
        )
        if attempted and not hit:
            rewards[number] += REWARDS["attack_missed"]
        for victim in killed:
            rewards[number] += REWARDS["kill"]
            rewards[victim] += REWARDS["killed"]
    for number in order:
        if not world.agents[number].active or "move" not in actions[number]:
            continue
        if not move(world, number, actions[number]["move"]):
            rewards[number] += REWARDS["move_failed"]
    for number in order:
        rewards[number] += REWARDS["step"]
    return rewards
