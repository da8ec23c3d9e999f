"""Bookkeeping of episodes: what they start from, who goes on, what was earned, when they end."""

from typing import NamedTuple

import numpy as np

from abmarl.kernels.compile import kernel
from abmarl.kernels.streams import below, uniform


class EpisodeState(NamedTuple):
    """The episodes of B worlds.

    Attributes:
        running: bool [B], whether there is an episode.
        alive: bool [B, N], the learning agents that have not ended yet.
        length: int64 [B], steps of the episode so far.
        returns: float64 [B, N], sums of rewards until agents end.
        terminated, truncated: bool [B, N], who ended in the last step, and how.
        ended: bool [B], which worlds ended in the last step.
        final_length, final_returns, final_active: How the last episode ended; bool [B, N] of all
            agents.
    """

    running: np.ndarray
    alive: np.ndarray
    length: np.ndarray
    returns: np.ndarray
    terminated: np.ndarray
    truncated: np.ndarray
    ended: np.ndarray
    final_length: np.ndarray
    final_returns: np.ndarray
    final_active: np.ndarray

    @classmethod
    def zeros(cls, num_worlds: int, num_agents: int) -> "EpisodeState":
        """Return the arrays of worlds without an episode."""
        agents = (num_worlds, num_agents)
        return cls(
            running=np.zeros(num_worlds, bool),
            alive=np.zeros(agents, bool),
            length=np.zeros(num_worlds, np.int64),
            returns=np.zeros(agents),
            terminated=np.zeros(agents, bool),
            truncated=np.zeros(agents, bool),
            ended=np.zeros(num_worlds, bool),
            final_length=np.zeros(num_worlds, np.int64),
            final_returns=np.zeros(agents),
            final_active=np.zeros(agents, bool),
        )

    def shard(self, low: int, high: int) -> "EpisodeState":
        """Return the worlds ``low`` to ``high``, on the same memory."""
        return EpisodeState(*(array[low:high] for array in self))


# --- what episodes start from; in ``worlds``, int64, a number below 0 ends the list


@kernel
def begin_episodes(world, worlds):
    """Make everybody in the listed worlds active and healthy."""
    for w in range(worlds.shape[0]):
        b = worlds[w]
        if b < 0:
            break
        for i in range(world.active.shape[1]):
            world.active[b, i] = True
            world.health[b, i] = 1.0


@kernel
def fill_worlds(worlds, values, start):
    """Set ``values[b]`` to ``start``, 2-D and 1-D arrays of one dtype, in the listed worlds."""
    for w in range(worlds.shape[0]):
        b = worlds[w]
        if b < 0:
            break
        for k in range(values.shape[1]):
            values[b, k] = start[k]


@kernel
def reset_health(world, worlds):
    """Give every agent its initial health, or a uniform one in (0, 1) where that is NaN."""
    for k in range(worlds.shape[0]):
        b = worlds[k]
        if b < 0:
            break
        for i in range(world.health.shape[1]):
            value = world.traits[i].initial_health
            while not value > 0.0:
                value = uniform(world.streams, b)
            world.health[b, i] = value
            world.active[b, i] = True


@kernel
def reset_ammo(world, worlds, ammo):
    """Set ``ammo`` int32 [B, N] to the initial ammunition, at least 0."""
    for k in range(worlds.shape[0]):
        b = worlds[k]
        if b < 0:
            break
        for i in range(ammo.shape[1]):
            ammo[b, i] = max(0, world.traits[i].initial_ammo)


@kernel
def reset_orientation(world, worlds, turning, orientation):
    """Set ``orientation`` int8 [B, N] of the agents that are ``turning``, bool [N].

    It becomes the initial one, or a random one of 1 to 4 where that is 0.
    """
    for k in range(worlds.shape[0]):
        b = worlds[k]
        if b < 0:
            break
        for i in range(orientation.shape[1]):
            if turning[i]:
                value = np.int64(world.traits[i].initial_orientation)
                if value == 0:
                    value = 1 + below(world.streams, b, 4)
                orientation[b, i] = value


# --- rewards


@kernel
def clear_rewards(rewards):
    """Set all rewards to 0."""
    for b in range(rewards.shape[0]):
        for i in range(rewards.shape[1]):
            rewards[b, i] = 0.0


@kernel
def reward_turns(order, num_turns, amount, rewards):
    """Add ``amount`` to the reward of every agent that was given an action."""
    for b in range(order.shape[0]):
        for t in range(num_turns[b]):
            rewards[b, order[b, t]] += amount


@kernel
def add_rewards(addend, rewards):
    """Add ``addend[B, N]`` float64 to the rewards; return the first entry that is not finite.

    Entries are counted row by row; -1 when all are finite. Nothing is added when one is not.
    """
    for b in range(rewards.shape[0]):
        for i in range(rewards.shape[1]):
            value = addend[b, i]
            if not (value - value == 0.0):
                return b * rewards.shape[1] + i
    for b in range(rewards.shape[0]):
        for i in range(rewards.shape[1]):
            rewards[b, i] += addend[b, i]
    return -1


@kernel
def copy_within(values, low, high, out):
    """Copy flat ``values`` to ``out``; return whether all of them were in ``low..high``."""
    wrong = False
    for k in range(values.shape[0]):
        value = values[k]
        wrong |= (value < low) | (value > high)
        out[k] = value
    return not wrong


# --- the end of a step


@kernel
def close_step(episodes, done, over, horizon, rewards, ends):
    """Turn done conditions into terminated and truncated, and count steps.

    Each learning agent ends once: terminated when it is ``done`` or the world ``over``, truncated
    when only the time is up. A world has ended when it is over, when the ``horizon`` is reached (0:
    none) or when no learning agent is left alive; one that is not running stays as it is.
    ``ends`` int64 [B] lists the worlds that ended, up to a number below 0 when there is room.
    Return how many they are.
    """
    count = 0
    alive, returns = episodes.alive, episodes.returns
    for b in range(alive.shape[0]):
        runs = episodes.running[b]
        episodes.length[b] += runs
        late = 0 < horizon <= episodes.length[b]
        finished = over[b]
        left = 0
        for i in range(alive.shape[1]):
            was = alive[b, i]
            end = was & (done[b, i] | finished)
            episodes.terminated[b, i] = end
            episodes.truncated[b, i] = was & (not end) & late
            stays = was & (not end) & (not late)
            alive[b, i] = stays
            left += stays
            if was:
                returns[b, i] += rewards[b, i]
        episodes.ended[b] = runs & (finished | late | (left == 0))
        ends[count] = b
        count += episodes.ended[b]
    if count < ends.shape[0]:
        ends[count] = -1
    return count


@kernel
def end_episodes(episodes, worlds, active, learning, restart):
    """Keep how the episodes of the listed worlds ended, and prepare new ones if ``restart``.

    ``active`` bool [B, N] are the agents that are, ``learning`` bool [N] those that learn.
    """
    for w in range(worlds.shape[0]):
        b = worlds[w]
        if b < 0:
            break
        episodes.final_length[b] = episodes.length[b]
        episodes.running[b] = restart
        for i in range(episodes.alive.shape[1]):
            episodes.final_returns[b, i] = episodes.returns[b, i]
            episodes.final_active[b, i] = active[b, i]
            episodes.alive[b, i] = restart & learning[i]
        if restart:
            episodes.length[b] = 0
            for i in range(episodes.alive.shape[1]):
                episodes.returns[b, i] = 0.0
