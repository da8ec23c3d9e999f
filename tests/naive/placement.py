"""PositionState: where agents start."""

TRIES = 32  # random cells are tried so often before the available ones are counted


class NoCellLeft(ValueError):
    """An agent could not be placed; ``agent`` is its number."""

    def __init__(self, agent):
        super().__init__(f"no cell for agent {agent}")
        self.agent = agent


def reset_positions(world, stream, no_overlap_at_reset=False, randomize_placement_order=False):
    """Place every agent anew, those with an initial position first.

    Args:
        world: NaiveWorld.
        stream: the dynamics stream.
        no_overlap_at_reset: agents without an initial position get cells of their own.
        randomize_placement_order: shuffle the order within the two classes.

    Raises:
        NoCellLeft: an initial position is unavailable, or no cell is left for an agent.
    """
    world.clear()
    numbers = range(len(world.agents))
    given = [i for i in numbers if world.agents[i].initial_position is not None]
    others = [i for i in numbers if world.agents[i].initial_position is None]
    if randomize_placement_order:
        stream.shuffle(given)
        stream.shuffle(others)

    for agent in given:
        # The grid's own rule: no_overlap_at_reset is about the agents that get a random cell.
        if not world.place(agent, tuple(world.agents[agent].initial_position)):
            raise NoCellLeft(agent)
    for agent in others:
        world.place(agent, random_cell(world, stream, agent, no_overlap_at_reset))


def is_free(world, agent, cell, no_overlap_at_reset):
    """True when the agent may start in the cell."""
    return not world.cells[cell] if no_overlap_at_reset else world.available(agent, cell)


def random_cell(world, stream, agent, no_overlap_at_reset, suits=lambda cell: True):
    """A random cell that suits and is available to the agent."""

    def free(cell):
        return suits(cell) and is_free(world, agent, cell, no_overlap_at_reset)

    number_of_cells = world.rows * world.cols
    for _ in range(TRIES):
        cell = world.unravel(stream.below(number_of_cells))
        if free(cell):
            return cell
    left = [cell for cell in map(world.unravel, range(number_of_cells)) if free(cell)]
    if not left:
        raise NoCellLeft(agent)
    return left[stream.below(len(left))]
