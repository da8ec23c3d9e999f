"""Moves: only the target cell counts, nothing on the way blocks one."""

import numpy as np

from abmarl.kernels.compile import kernel, rule
from abmarl.kernels.occupancy import available, enter, leave


@rule
def _reaches(b, i, dr, dc, width, pad, cell, first, next_, top, traits, overlap):
    if cell[b, i] == 0:
        return False  # it stands nowhere
    # No cell of the grid is farther away than ``pad``, or the padding holds it.
    if dr > pad or dr < -pad or dc > pad or dc < -pad:
        return False
    p = np.uint32(np.int64(cell[b, i]) + dr * width + dc)
    return available(b, traits[i].kind, p, first, next_, top, traits, overlap)


@rule
def step_to(b, i, dr, dc, width, pad, cell, first, next_, top, walls, active, traits, overlap):
    """Moves agent i by (dr, dc); False and no change when the target is not available."""
    if dr == 0 and dc == 0:
        return True
    if not _reaches(b, i, dr, dc, width, pad, cell, first, next_, top, traits, overlap):
        return False
    p = np.uint32(np.int64(cell[b, i]) + dr * width + dc)
    leave(b, i, cell, first, next_, top, walls, active, traits)
    enter(b, i, p, cell, first, next_, top, walls, traits)
    return True


@rule
def cross_step(action):
    """The step (dr, dc) of a cross move: 0 stay, 1 left, 2 down, 3 right, 4 up."""
    dr = int(action == 2) - int(action == 4)
    dc = int(action == 3) - int(action == 1)
    return dr, dc


@rule
def _is_to_move(b, i, rows_of, active, fresh, moved):
    """Whether agent i moves in its turn; without ``fresh``, its outcome is that it did not."""
    if not fresh:
        moved[b, i] = -1
    return active[b, i] and rows_of[i, 0] >= 0


@rule
def _note(b, i, success, penalty, rewards, moved):
    moved[b, i] = success
    if not success:
        rewards[b, i] += penalty[0]


@kernel
def move_agents(
    turns, num_turns, actions, rows_of, cross, width, pad,
    cell, first, next_, top, walls, active, traits, overlap, penalty, rewards, fresh, moved,
):  # fmt: skip
    """Every agent whose turn it is moves, in turn.

    Agent i of world b finds its action in the flat array ``actions`` at
    ``rows_of[i, 0] + b * rows_of[i, 1]`` (below 0: it has none): (dr, dc), or one number when
    ``cross``. ``moved[B, N]`` int8 becomes 1 for a success, 0 for a failed move and -1 for an
    agent without a move (unless ``fresh``, entries of others stay); a failed one gets
    ``penalty[0]`` added to its reward.
    """
    for b in range(turns.shape[0]):
        if fresh:
            for i in range(moved.shape[1]):
                moved[b, i] = -1
        for t in range(num_turns[b]):
            i = turns[b, t]
            if not _is_to_move(b, i, rows_of, active, fresh, moved):
                continue
            at = rows_of[i, 0] + b * rows_of[i, 1]
            if cross:
                dr, dc = cross_step(actions[at])
            else:
                dr, dc = np.int64(actions[at]), np.int64(actions[at + 1])
            success = step_to(
                b, i, dr, dc, width, pad, cell, first, next_, top, walls, active, traits, overlap
            )
            _note(b, i, success, penalty, rewards, moved)


@rule
def drift_to(
    b, i, action, width, pad, cell, first, next_, top, walls, active, traits, overlap, orientation
):
    """Agent i moves and turns as the cross move says, or else one cell along its orientation.

    False and no change when it can do neither.
    """
    for option in (action, np.int64(orientation[b, i])):
        dr, dc = cross_step(option)
        if (dr != 0 or dc != 0) and step_to(
            b, i, dr, dc, width, pad, cell, first, next_, top, walls, active, traits, overlap
        ):
            orientation[b, i] = option
            return True
    return False


@kernel
def drift_agents(
    turns, num_turns, actions, rows_of, width, pad, cell, first, next_, top, walls, active, traits,
    overlap, penalty, rewards, fresh, moved, orientation,
):  # fmt: skip
    """As ``move_agents`` with cross moves, of agents with an ``orientation``, int8 [B, N].

    Those that do not move as they want to drift; a move fails when the agent stays where it is.
    """
    for b in range(turns.shape[0]):
        if fresh:
            for i in range(moved.shape[1]):
                moved[b, i] = -1
        for t in range(num_turns[b]):
            i = turns[b, t]
            if not _is_to_move(b, i, rows_of, active, fresh, moved):
                continue
            action = np.int64(actions[rows_of[i, 0] + b * rows_of[i, 1]])
            success = drift_to(
                b, i, action, width, pad, cell, first, next_, top, walls, active, traits, overlap,
                orientation,
            )  # fmt: skip
            _note(b, i, success, penalty, rewards, moved)


@kernel
def possible_moves(
    agents, rows_of, cross, width, pad, cell, first, next_, top, active, traits, overlap, out
):
    """Which moves would succeed now, for the listed agents of every world.

    ``out`` is a flat bool array: row by row over the (2 m + 1)^2 steps of move range m, or over
    the five cross moves. Agents that are not active keep only the move that stays.
    """
    for b in range(cell.shape[0]):
        for k in range(agents.shape[0]):
            i = agents[k]
            at = rows_of[i, 0] + b * rows_of[i, 1]
            reach = traits[i].move_range
            count = 5 if cross else (2 * reach + 1) * (2 * reach + 1)
            for option in range(count):
                if cross:
                    dr, dc = cross_step(option)
                else:
                    dr = option // (2 * reach + 1) - reach
                    dc = option % (2 * reach + 1) - reach
                possible = dr == 0 and dc == 0
                if not possible and active[b, i]:
                    possible = _reaches(
                        b, i, dr, dc, width, pad, cell, first, next_, top, traits, overlap
                    )
                out[at + option] = possible
