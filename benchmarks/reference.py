"""The rules of team battle written plainly: what the engine's kernels are measured against.

Agents are rows of [B, N] arrays with row and column; whoever wants to know who is where asks all
of them. ``position`` is int [B, N, 2], ``active`` bool [B, N], ``encoding`` int [N], ``actions``
int [B, N, 3] (attack, row step, column step). Teams overlap with themselves only, and everybody
attacks every other team. ``seed`` is uint64 [1], not 0.
"""

import numba
import numpy as np


@numba.njit
def windows(position, active, encoding, viewers, reach, rows, cols, out):
    """``out`` int8 [B, N, W, W]: the encodings around every active agent."""
    for b in range(position.shape[0]):
        for i in range(viewers):
            if not active[b, i]:
                continue
            row, col = position[b, i, 0], position[b, i, 1]
            for r in range(-reach, reach + 1):
                for c in range(-reach, reach + 1):
                    inside = 0 <= row + r < rows and 0 <= col + c < cols
                    out[b, i, r + reach, c + reach] = 0 if inside else -1
            for j in range(position.shape[1]):
                if active[b, j]:
                    r, c = position[b, j, 0] - row, position[b, j, 1] - col
                    if abs(r) <= reach and abs(c) <= reach:
                        out[b, i, r + reach, c + reach] = encoding[j]


@numba.njit
def stacked_windows(position, active, encoding, viewers, reach, rows, cols, out):
    """``out`` int8 [B, N, W, W, E]: how many agents of each encoding are around."""
    for b in range(position.shape[0]):
        for i in range(viewers):
            if not active[b, i]:
                continue
            row, col = position[b, i, 0], position[b, i, 1]
            for r in range(-reach, reach + 1):
                for c in range(-reach, reach + 1):
                    inside = 0 <= row + r < rows and 0 <= col + c < cols
                    for layer in range(out.shape[4]):
                        out[b, i, r + reach, c + reach, layer] = 0 if inside else -1
            for j in range(position.shape[1]):
                if active[b, j]:
                    r, c = position[b, j, 0] - row, position[b, j, 1] - col
                    if abs(r) <= reach and abs(c) <= reach:
                        out[b, i, r + reach, c + reach, encoding[j] - 1] += 1


@numba.njit
def _touches(r, c, y, x):
    """Whether the centre (y, x) lies behind the unit square at (r, c), seen from (0, 0).

    The square hides what is inside the sector of its four corners and not nearer than itself.
    """
    if (y == r and x == c) or abs(y) < abs(r) or abs(x) < abs(c):
        return False
    if y * r < 0 or x * c < 0:
        return False
    left, right = False, False
    for corner in range(4):
        cross = (2 * r + 2 * (corner // 2) - 1) * x - (2 * c + 2 * (corner % 2) - 1) * y
        left |= cross < 0
        right |= cross > 0
    return left and right


@numba.njit
def masked_windows(position, active, encoding, blocking, viewers, reach, rows, cols, out):
    """As ``windows``; what blocking agents hide is -2."""
    windows(position, active, encoding, viewers, reach, rows, cols, out)
    for b in range(position.shape[0]):
        for i in range(viewers):
            if not active[b, i]:
                continue
            for j in range(position.shape[1]):
                if not (blocking[j] and active[b, j]):
                    continue
                row = position[b, j, 0] - position[b, i, 0]
                col = position[b, j, 1] - position[b, i, 1]
                if abs(row) > reach or abs(col) > reach or (row == 0 and col == 0):
                    continue
                for r in range(-reach, reach + 1):
                    for c in range(-reach, reach + 1):
                        if _touches(row, col, r, c):
                            out[b, i, r + reach, c + reach] = -2


@numba.njit
def _random(seed, below):
    """Return a random number below another one; ``seed`` is uint64 [1]."""
    seed[0] ^= seed[0] << np.uint64(13)
    seed[0] ^= seed[0] >> np.uint64(7)
    seed[0] ^= seed[0] << np.uint64(17)
    return np.int64(seed[0] % np.uint64(below))


@numba.njit
def attack(position, active, health, encoding, actions, reach, seed, rewards, kills):
    """Attackers hit a random agent of another team in reach, with strength 1."""
    for b in range(position.shape[0]):
        for i in range(position.shape[1]):
            kills[b, i] = 0
        for i in range(position.shape[1]):
            if not active[b, i] or actions[b, i, 0] == 0:
                continue
            target, found = -1, 0
            for j in range(position.shape[1]):
                if not active[b, j] or encoding[j] == encoding[i] or encoding[j] > 4:
                    continue
                if abs(position[b, j, 0] - position[b, i, 0]) > reach:
                    continue
                if abs(position[b, j, 1] - position[b, i, 1]) > reach:
                    continue
                found += 1
                if _random(seed, found) == 0:
                    target = j
            if target < 0:
                rewards[b, i] -= 0.1
                continue
            health[b, target] = max(0.0, health[b, target] - 1.0)
            if health[b, target] == 0.0:
                active[b, target] = False
                kills[b, i] += 1
                rewards[b, i] += 1.0
                rewards[b, target] -= 1.0


@numba.njit
def move(position, active, encoding, actions, rows, cols, rewards, moved):
    """Agents move to cells that are empty or hold agents of their own team."""
    for b in range(position.shape[0]):
        for i in range(position.shape[1]):
            moved[b, i] = -1
            if not active[b, i] or encoding[i] > 4:
                continue
            row = position[b, i, 0] + actions[b, i, 1]
            col = position[b, i, 1] + actions[b, i, 2]
            free = 0 <= row < rows and 0 <= col < cols
            if free:
                for j in range(position.shape[1]):
                    there = position[b, j, 0] == row and position[b, j, 1] == col
                    if there and active[b, j] and encoding[j] != encoding[i]:
                        free = False
            if free:
                position[b, i, 0], position[b, i, 1] = row, col
            else:
                rewards[b, i] -= 0.1
            moved[b, i] = free


@numba.njit
def done(active, encoding, finished, over):
    """Agents are done when inactive, worlds when the active agents are of one team."""
    for b in range(active.shape[0]):
        teams, team = 0, -1
        for i in range(active.shape[1]):
            finished[b, i] = not active[b, i]
            if active[b, i] and encoding[i] != team:
                teams, team = teams + 1, encoding[i]
        over[b] = teams < 2


@numba.njit
def place(starts, encoding, rows, cols, seed, position, active, health):
    """Start episodes: agents on their start cells, or on random ones where they may be.

    ``starts`` is int [N, 2], below 0 where the cell is random.
    """
    for b in range(position.shape[0]):
        for i in range(position.shape[1]):
            active[b, i] = True
            health[b, i] = 1.0
            free = False
            row, col = starts[i, 0], starts[i, 1]
            if row >= 0:
                free = True
            while not free:
                row, col = _random(seed, rows), _random(seed, cols)
                free = True
                for j in range(i):
                    if position[b, j, 0] == row and position[b, j, 1] == col:
                        free &= encoding[j] == encoding[i]
            position[b, i, 0], position[b, i, 1] = row, col


@numba.njit
def move_masks(position, active, encoding, rows, cols, out):
    """``out`` bool [B, N, 3, 3]: the steps that would succeed."""
    for b in range(position.shape[0]):
        for i in range(position.shape[1]):
            for step in range(9):
                row, col = position[b, i, 0] + step // 3 - 1, position[b, i, 1] + step % 3 - 1
                free = active[b, i] and 0 <= row < rows and 0 <= col < cols
                for j in range(position.shape[1]):
                    there = position[b, j, 0] == row and position[b, j, 1] == col
                    if there and active[b, j] and encoding[j] != encoding[i]:
                        free = False
                out[b, i, step // 3, step % 3] = free or step == 4


@numba.njit
def attack_masks(position, active, encoding, reach, out):
    """``out`` bool [B, N, 2]: no attack always, one where somebody is in reach."""
    for b in range(position.shape[0]):
        for i in range(position.shape[1]):
            found = False
            for j in range(position.shape[1]):
                if active[b, i] and active[b, j] and encoding[j] != encoding[i]:
                    found |= (
                        abs(position[b, j, 0] - position[b, i, 0]) <= reach
                        and abs(position[b, j, 1] - position[b, i, 1]) <= reach
                    )
            out[b, i, 0], out[b, i, 1] = True, found


def close(finished, over, horizon, rewards, alive, length, returns):
    """Bookkeeping of episodes in NumPy: who terminated, who was truncated, which worlds ended."""
    length += 1
    late = length >= horizon
    returns += np.where(alive, rewards, 0.0)
    terminated = alive & (finished | over[:, None])
    truncated = alive & ~terminated & late[:, None]
    alive &= ~(terminated | truncated)
    ended = over | late | ~alive.any(axis=1)
    return terminated, truncated, ended


def random_turns(generator, alive):
    """Return the agents of every world in a random order, those alive first."""
    return np.argsort(generator.random(alive.shape) - alive, axis=1)


def sample(generator, shape, low, high):
    """Random actions of every agent, int8 [B, N, K]."""
    return generator.integers(low, high, (*shape, len(low)), np.int8, endpoint=True)


@numba.njit(nogil=True)
def busy(count):
    """Keep one core busy for a while; the value returned means nothing."""
    seed = np.uint64(88172645463325252)
    for _ in range(count):
        seed ^= seed << np.uint64(13)
        seed ^= seed >> np.uint64(7)
        seed ^= seed << np.uint64(17)
    return seed == 0
