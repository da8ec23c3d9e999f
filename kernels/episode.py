"""Bookkeeping of episodes: who goes on, which worlds are over, what was earned."""

from abmarl.kernels.compile import kernel


@kernel
def close_step(
    done, over, horizon, rewards, running, alive, length, returns, terminated, truncated,
    ended, ends,
):  # fmt: skip
    """Turns done conditions into terminated and truncated, and counts episodes.

    ``alive[B, N]`` are the learning agents that have not ended yet; each ends once: terminated
    when it or the world is done, truncated when only the time is up. A world has ended when it is
    over, when the ``horizon`` is reached (0: none) or when no learning agent is left alive; one
    that is not ``running`` stays as it is. ``returns[B, N]`` sums the rewards of agents until
    they end. ``ended[B]`` is bool; ``ends`` int64 [B] lists the worlds that ended, up to a number
    below 0 when there is room. Returns how many they are.
    """
    count = 0
    for b in range(alive.shape[0]):
        runs = running[b]
        length[b] += runs
        late = 0 < horizon <= length[b]
        finished = over[b]
        left = 0
        for i in range(alive.shape[1]):
            was = alive[b, i]
            end = was & (done[b, i] | finished)
            terminated[b, i] = end
            truncated[b, i] = was & (not end) & late
            stays = was & (not end) & (not late)
            alive[b, i] = stays
            left += stays
            if was:
                returns[b, i] += rewards[b, i]
        ended[b] = runs & (finished | late | (left == 0))
        ends[count] = b
        count += ended[b]
    if count < ends.shape[0]:
        ends[count] = -1
    return count


@kernel
def clear_rewards(rewards):
    """Sets all rewards to 0."""
    for b in range(rewards.shape[0]):
        for i in range(rewards.shape[1]):
            rewards[b, i] = 0.0


@kernel
def begin_episodes(worlds, active, health):
    """Everybody in the listed worlds is alive and well; a number below 0 ends the list."""
    for w in range(worlds.shape[0]):
        b = worlds[w]
        if b < 0:
            break
        for i in range(active.shape[1]):
            active[b, i] = True
            health[b, i] = 1.0


@kernel
def fill_worlds(worlds, values, start):
    """``values[b]`` becomes ``start``, 2-D and 1-D arrays of one dtype, in the listed worlds.

    A number below 0 ends the list.
    """
    for w in range(worlds.shape[0]):
        b = worlds[w]
        if b < 0:
            break
        for k in range(values.shape[1]):
            values[b, k] = start[k]


@kernel
def reward_turns(turns, num_turns, amount, rewards):
    """Adds ``amount`` to the reward of every agent that was given an action."""
    for b in range(turns.shape[0]):
        for t in range(num_turns[b]):
            rewards[b, turns[b, t]] += amount


@kernel
def add_rewards(addend, rewards):
    """Adds ``addend[B, N]`` float64 to the rewards; returns the first entry that is not finite.

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
    """Copies flat ``values`` to ``out``; returns whether all of them were in ``low..high``."""
    wrong = False
    for k in range(values.shape[0]):
        value = values[k]
        wrong |= (value < low) | (value > high)
        out[k] = value
    return not wrong


@kernel
def end_episodes(
    worlds, active, learning, restart, running, alive, length, returns,
    final_length, final_returns, final_active,
):  # fmt: skip
    """Keeps how the episodes of the listed worlds ended, and prepares new ones if ``restart``.

    A number below 0 ends the list.
    """
    for w in range(worlds.shape[0]):
        b = worlds[w]
        if b < 0:
            break
        final_length[b] = length[b]
        running[b] = restart
        for i in range(alive.shape[1]):
            final_returns[b, i] = returns[b, i]
            final_active[b, i] = active[b, i]
            alive[b, i] = restart & learning[i]
        if restart:
            length[b] = 0
            for i in range(alive.shape[1]):
                returns[b, i] = 0.0
