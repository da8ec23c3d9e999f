"""Moves: only the target cell counts, nothing on the way blocks one."""

import numpy as np

from abmarl.kernels.compile import kernel, rule
from abmarl.kernels.turns import action_of, has_action
from abmarl.kernels.world import available, cell_beside, enter, leave


@rule
def can_step(world, b, i, dr, dc):
    """Return whether the cell by (dr, dc) from agent i is available to it."""
    if world.cell[b, i] == 0:
        return False
    # No cell of the grid is farther away than ``pad``, or the padding holds it.
    pad = world.pad
    if dr > pad or dr < -pad or dc > pad or dc < -pad:
        return False
    return available(world, b, i, cell_beside(world, b, i, dr, dc))


@rule
def step_to(world, b, i, dr, dc):
    """Move agent i by (dr, dc); return False and change nothing when it cannot go there."""
    if dr == 0 and dc == 0:
        return True
    if not can_step(world, b, i, dr, dc):
        return False
    p = cell_beside(world, b, i, dr, dc)
    leave(world, b, i)
    enter(world, b, i, p)
    return True


@rule
def cross_step(action):
    """Return the step (dr, dc) of a cross move: 0 stay, 1 left, 2 down, 3 right, 4 up."""
    dr = int(action == 2) - int(action == 4)
    dc = int(action == 3) - int(action == 1)
    return dr, dc


@rule
def _clear(b, moved):
    for i in range(moved.shape[1]):
        moved[b, i] = -1


@rule
def _is_to_move(world, b, i, turns, moved):
    if not turns.fresh:
        moved[b, i] = -1
    return world.active[b, i] and has_action(turns, i)


@rule
def _note(world, b, i, success, penalty, moved):
    moved[b, i] = success
    if not success:
        world.rewards[b, i] += penalty[0]


@kernel
def move_agents(world, turns, cross, penalty, moved):
    """Let every agent whose turn it is move, in turn.

    An action is a step (dr, dc), or one number when ``cross``. ``moved[B, N]`` int8 becomes 1 for a
    success, 0 for a failed move and -1 for an agent without a move (unless ``turns.fresh``, entries
    of others stay); a failed one gets ``penalty[0]`` added to its reward.
    """
    for b in range(turns.order.shape[0]):
        if turns.fresh:
            _clear(b, moved)
        for t in range(turns.num_turns[b]):
            i = turns.order[b, t]
            if not _is_to_move(world, b, i, turns, moved):
                continue
            at = action_of(turns, b, i)
            if cross:
                dr, dc = cross_step(turns.actions[at])
            else:
                dr, dc = np.int64(turns.actions[at]), np.int64(turns.actions[at + 1])
            success = step_to(world, b, i, dr, dc)
            _note(world, b, i, success, penalty, moved)


@rule
def drift_to(world, b, i, action, orientation):
    """Move and turn agent i as the cross move says, or else move it one cell along its orientation.

    Return False and change nothing when it can do neither.
    """
    for option in (action, np.int64(orientation[b, i])):
        dr, dc = cross_step(option)
        if (dr != 0 or dc != 0) and step_to(world, b, i, dr, dc):
            orientation[b, i] = option
            return True
    return False


@kernel
def drift_agents(world, turns, orientation, penalty, moved):
    """Let agents with an ``orientation``, int8 [B, N], move as ``move_agents`` with cross moves.

    Those that cannot move as they want to drift; a move fails when the agent stays where it is.
    """
    for b in range(turns.order.shape[0]):
        if turns.fresh:
            _clear(b, moved)
        for t in range(turns.num_turns[b]):
            i = turns.order[b, t]
            if not _is_to_move(world, b, i, turns, moved):
                continue
            action = np.int64(turns.actions[action_of(turns, b, i)])
            success = drift_to(world, b, i, action, orientation)
            _note(world, b, i, success, penalty, moved)


@kernel
def possible_moves(world, agents, rows_of, out, cross):
    """Tell which moves would succeed now, for the listed agents of every world.

    ``out`` is a flat bool array: row by row over the (2 m + 1)^2 steps of move range m, or over
    the five cross moves. Agents that are not active keep only the move that stays.
    """
    for b in range(world.cell.shape[0]):
        for k in range(agents.shape[0]):
            i = agents[k]
            at = rows_of[i, 0] + b * rows_of[i, 1]
            reach = world.traits[i].move_range
            count = 5 if cross else (2 * reach + 1) * (2 * reach + 1)
            for option in range(count):
                if cross:
                    dr, dc = cross_step(option)
                else:
                    dr = option // (2 * reach + 1) - reach
                    dc = option % (2 * reach + 1) - reach
                possible = dr == 0 and dc == 0
                if not possible and world.active[b, i]:
                    possible = can_step(world, b, i, dr, dc)
                out[at + option] = possible
