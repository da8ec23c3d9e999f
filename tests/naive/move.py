"""MoveActor, CrossMoveActor and DriftMoveActor for one agent."""

CROSS = {0: (0, 0), 1: (0, -1), 2: (1, 0), 3: (0, 1), 4: (-1, 0)}  # stay, left, down, right, up


def move(world, agent, change):
    """Move an agent by (dr, dc).

    Returns:
        True when it is there now (staying included), False when nothing changed.
    """
    row, col = world.agents[agent].position
    target = (row + int(change[0]), col + int(change[1]))
    if target == (row, col):
        return True  # the agent keeps its place in the cell's list
    if not world.available(agent, target):
        return False
    world.remove(agent)
    return world.place(agent, target)


def cross_move(world, agent, action):
    """Move an agent one step: 0 stay, 1 left, 2 down, 3 right, 4 up."""
    return move(world, agent, CROSS[int(action)])


def drift_move(world, agent, action, orientation):
    """Move and turn an agent as it wants, or let it drift along its orientation.

    Returns:
        (whether it is on another cell now, its orientation).
    """
    if action != 0 and cross_move(world, agent, action):
        return True, action
    if orientation != 0 and cross_move(world, agent, orientation):
        return True, orientation
    return False, orientation
