"""Messages: numbers that agents tell those around them, until everybody says the same."""

import numpy as np

from abmarl.kernels.compile import kernel
from abmarl.kernels.sight import is_hidden, mark_range
from abmarl.kernels.streams import below


@kernel
def deal_messages(worlds, speakers, streams, message):
    """Deal evenly spaced numbers from 0 to 1 out at random: ``message`` float64 [B, N].

    ``speakers`` int64 [S] lists the agents that get one. A number below 0 ends the list of worlds.
    """
    count = speakers.shape[0]
    for k in range(worlds.shape[0]):
        b = worlds[k]
        if b < 0:
            break
        for s in range(count):
            message[b, speakers[s]] = s / max(1, count - 1)
        for s in range(count - 1, 0, -1):
            i, j = speakers[s], speakers[below(streams, b, s + 1)]
            message[b, i], message[b, j] = message[b, j], message[b, i]


@kernel
def share_messages(world, speakers, told, message):
    """Give every speaker the mean of its message and those of the speakers that it sees.

    It sees active ones within its view range (Chebyshev) that no blocking agent hides. All take on
    theirs at once; inactive ones keep theirs. ``told`` float64 [S] is scratch.
    """
    cell, active, width = world.cell, world.active, world.width
    count = speakers.shape[0]
    for b in range(cell.shape[0]):
        for s in range(count):
            i = speakers[s]
            told[s] = message[b, i]
            if not active[b, i] or cell[b, i] == 0:
                continue
            reach = world.traits[i].view_range
            p = np.int64(cell[b, i])
            masked = mark_range(world, b, p, reach)
            total, heard = message[b, i], 1
            for t in range(count):
                j = speakers[t]
                q = np.int64(cell[b, j])
                dr, dc = q // width - p // width, q % width - p % width
                if j == i or not active[b, j] or q == 0 or max(abs(dr), abs(dc)) > reach:
                    continue
                if masked and is_hidden(world, (dr + reach) * (2 * reach + 1) + dc + reach):
                    continue
                total += message[b, j]
                heard += 1
            told[s] = total / heard
        for s in range(count):
            message[b, speakers[s]] = told[s]
