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
def find_cell(b, kind, alone, rows, cols, width, pad, first, next_, top, traits, overlap, rng):
    """A random cell among those available to this kind (empty ones if ``alone``), or -1."""
    for _ in range(TRIES):
        k = below(rng, b, rows * cols)
        p = ravel_cell(k // cols, k % cols, width, pad)
        if first[b, p] < 0 or not (
            alone or not available(b, kind, p, first, next_, top, traits, overlap)
        ):
            return p
    return nth_free_cell(
        b, kind, alone, rows, cols, width, pad, first, next_, top, traits, overlap, rng
    )


@rule
def nth_free_cell(b, kind, alone, rows, cols, width, pad, first, next_, top, traits, overlap, rng):
    """As ``find_cell``, by counting the available cells."""
    wanted = -1
    for attempt in range(2):
        count = 0
        for r in range(rows):
            for c in range(cols):
                p = ravel_cell(r, c, width, pad)
                if first[b, p] < 0 or not (
                    alone or not available(b, kind, p, first, next_, top, traits, overlap)
                ):
                    if count == wanted:
                        return p
                    count += 1
        if count == 0:
            return np.int64(-1)
        if attempt == 0:
            wanted = below(rng, b, count)
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
    num_agents = order.shape[0]
    for k in range(worlds.shape[0]):
        b = worlds[k]
        if b < 0:
            break
        failed[b] = -1
        num_fixed = _list_classes(start, order)
        if shuffled:
            _shuffle_classes(b, order, num_fixed, rng)
        for t in range(num_agents):
            i = order[t]
            kind = traits[i].kind
            if t < num_fixed:
                p = np.int64(start[i])
                if not available(b, kind, p, first, next_, top, traits, overlap):
                    p = np.int64(-1)
            else:
                p = find_cell(
                    b, kind, alone, rows, cols, width, pad,
                    first, next_, top, traits, overlap, rng,
                )  # fmt: skip
            if p < 0:
                failed[b] = i
                trouble[0] = 1
                break
            enter(b, i, p, cell, first, next_, top, walls, traits)


@rule
def _list_classes(start, order):
    """Lists the agents with an initial position, then the others; returns how many have one."""
    fixed = 0
    for i in range(start.shape[0]):
        if start[i] > 0:
            order[fixed] = i
            fixed += 1
    free = fixed
    for i in range(start.shape[0]):
        if start[i] <= 0:
            order[free] = i
            free += 1
    return fixed


@rule
def _shuffle_classes(b, order, num_fixed, rng):
    """Shuffles each class."""
    for k in range(num_fixed - 1, 0, -1):
        j = below(rng, b, k + 1)
        order[k], order[j] = order[j], order[k]
    for k in range(order.shape[0] - 1, num_fixed, -1):
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
