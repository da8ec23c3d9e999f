"""Where agents are and how healthy they are when an episode starts."""

import numpy as np

from abmarl.kernels.cells import ravel_cell
from abmarl.kernels.compile import kernel, rule
from abmarl.kernels.occupancy import available, enter
from abmarl.kernels.streams import below, uniform

# A random cell is drawn until one is available. Only when that has failed so often, on a crowded
# grid, are the available cells counted, which visits all of them.
TRIES = 32


@rule
def is_free(b, kind, p, alone, ground, wanted, first, next_, top, traits, overlap):
    """Whether cell p of the grid is available to this kind: an empty one if ``alone``.

    With a ``ground``, [cells], it must be ``wanted`` there, unless that is 0.
    """
    if ground is not None:
        if wanted != 0 and ground[p] != wanted:
            return False
    if first[b, p] < 0:
        return True
    return not alone and available(b, kind, p, first, next_, top, traits, overlap)


@rule
def find_cell(
    b, kind, alone, ground, wanted, rows, cols, width, pad, first, next_, top, traits, overlap, rng
):
    """A random cell among those that are free, see ``is_free``, or -1."""
    for _ in range(TRIES):
        k = below(rng, b, rows * cols)
        p = ravel_cell(k // cols, k % cols, width, pad)
        if is_free(b, kind, p, alone, ground, wanted, first, next_, top, traits, overlap):
            return p
    return nth_free_cell(
        b, kind, alone, ground, wanted, rows, cols, width, pad,
        first, next_, top, traits, overlap, rng,
    )  # fmt: skip


@rule
def nth_free_cell(
    b, kind, alone, ground, wanted, rows, cols, width, pad, first, next_, top, traits, overlap, rng
):
    """As ``find_cell``, by counting the free cells."""
    chosen = -1
    for attempt in range(2):
        count = 0
        for r in range(rows):
            for c in range(cols):
                p = ravel_cell(r, c, width, pad)
                if is_free(b, kind, p, alone, ground, wanted, first, next_, top, traits, overlap):
                    if count == chosen:
                        return p
                    count += 1
        if count == 0:
            return np.int64(-1)
        if attempt == 0:
            chosen = below(rng, b, count)
    return np.int64(-1)


@kernel
def place_agents(
    worlds, order, shuffled, alone, start, rows, cols, width, pad,
    cell, first, next_, top, walls, traits, overlap, rng, failed, trouble,
):  # fmt: skip
    """Places the agents of the listed worlds on their empty grids; below 0 the list ends.

    Those with an initial position, ``start[N]`` above 0, come first. Each class is placed in the
    order of the agents; ``shuffled`` draws a fresh order within each class. ``order`` int [N] is
    scratch. ``failed[b]`` becomes the first agent that did not fit, or -1; then ``trouble[0]``
    is set to 1.
    """
    for k in range(worlds.shape[0]):
        b = worlds[k]
        if b < 0:
            break
        failed[b] = -1
        num_fixed, count = list_classes(start, -1, order)
        if shuffled:
            shuffle_classes(b, order, num_fixed, count, rng)
        for t in range(count):
            i = order[t]
            kind = traits[i].kind
            if t < num_fixed:
                p = np.int64(start[i])
                if not available(b, kind, p, first, next_, top, traits, overlap):
                    p = np.int64(-1)
            else:
                p = find_cell(
                    b, kind, alone, None, 0, rows, cols, width, pad,
                    first, next_, top, traits, overlap, rng,
                )  # fmt: skip
            if p < 0:
                failed[b] = i
                trouble[0] = 1
                break
            enter(b, i, p, cell, first, next_, top, walls, traits)


@rule
def list_classes(start, but, order):
    """Lists the agents with an initial position, then the others, all but one.

    Returns how many have an initial position, and how many are listed.
    """
    fixed = 0
    for i in range(start.shape[0]):
        if start[i] > 0 and i != but:
            order[fixed] = i
            fixed += 1
    count = fixed
    for i in range(start.shape[0]):
        if start[i] <= 0 and i != but:
            order[count] = i
            count += 1
    return fixed, count


@rule
def shuffle_classes(b, order, num_fixed, count, rng):
    """Shuffles each class."""
    for k in range(num_fixed - 1, 0, -1):
        j = below(rng, b, k + 1)
        order[k], order[j] = order[j], order[k]
    for k in range(count - 1, num_fixed, -1):
        j = num_fixed + below(rng, b, k - num_fixed + 1)
        order[k], order[j] = order[j], order[k]


@kernel
def reset_health(worlds, traits, rng, active, health):
    """Gives every agent its initial health, or a uniform one in (0, 1) where that is NaN.

    A number below 0 ends the list of worlds.
    """
    for k in range(worlds.shape[0]):
        b = worlds[k]
        if b < 0:
            break
        for i in range(health.shape[1]):
            value = traits[i].initial_health
            while not value > 0.0:
                value = uniform(rng, b)
            health[b, i] = value
            active[b, i] = True


@kernel
def reset_ammo(worlds, traits, ammo):
    """``ammo`` int32 [B, N]: everybody's initial ammo, at least 0.

    A number below 0 ends the list of worlds.
    """
    for k in range(worlds.shape[0]):
        b = worlds[k]
        if b < 0:
            break
        for i in range(ammo.shape[1]):
            ammo[b, i] = max(0, traits[i].initial_ammo)


@kernel
def reset_orientation(worlds, turning, traits, rng, orientation):
    """``orientation`` int8 [B, N]: the initial one, or where that is 0 a random one of 1 to 4.

    Agents that are not ``turning``, bool [N], have none. A number below 0 ends the list of worlds.
    """
    for k in range(worlds.shape[0]):
        b = worlds[k]
        if b < 0:
            break
        for i in range(orientation.shape[1]):
            if turning[i]:
                value = np.int64(traits[i].initial_orientation)
                if value == 0:
                    value = 1 + below(rng, b, 4)
                orientation[b, i] = value
