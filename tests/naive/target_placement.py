"""TargetBarriersFreePlacementState and MazePlacementState: where agents start around a target."""

from .maze import grow_maze
from .placement import NoCellLeft, is_free, random_cell

MAZES = 32  # so many are tried where one has no room for everyone


def reset_around_target(world, stream, in_maze=False, **parameters):
    """Place every agent anew, in one of several mazes if need be; see ``place_once``."""
    for attempt in range(MAZES if in_maze else 1):
        try:
            return place_once(world, stream, in_maze=in_maze, **parameters)
        except NoCellLeft as error:
            start = world.agents[error.agent].initial_position
            hopeless = start is not None or error.agent == parameters["target"]
            if hopeless or not in_maze or attempt == MAZES - 1:
                raise


def place_once(
    world,
    stream,
    target,
    barrier_encodings,
    cluster_barriers=False,
    scatter_free_agents=False,
    in_maze=False,
    spares_barriers=False,
    no_overlap_at_reset=False,
    randomize_placement_order=False,
):
    """Place every agent anew: the target, those with an initial position, the others.

    Args:
        world: NaiveWorld.
        stream: the dynamics stream.
        target: number of the target.
        barrier_encodings: the encodings of barriers; all others are free agents.
        cluster_barriers: barriers go where it is closest to the target.
        scatter_free_agents: free agents go where it is farthest from the target.
        in_maze: barriers on walls and free agents on passages of a maze.
        spares_barriers: barriers that find no cell stay off the grid, not active.
        no_overlap_at_reset: agents without an initial position get cells of their own.
        randomize_placement_order: shuffle the order within the two classes.

    Raises:
        NoCellLeft: an initial position is unavailable, or no cell is left for an agent.
    """
    world.clear()
    agents = world.agents
    rest = [i for i in range(len(agents)) if i != target]
    given = [i for i in rest if agents[i].initial_position is not None]
    others = [i for i in rest if agents[i].initial_position is None]
    if randomize_placement_order:
        stream.shuffle(given)
        stream.shuffle(others)

    fixed_target = agents[target].initial_position is not None
    for agent in [target, *given] if fixed_target else given:
        if not world.place(agent, tuple(agents[agent].initial_position)):
            raise NoCellLeft(agent)
    if not fixed_target:
        # Cells that others need are left out; otherwise this is as if it came first.
        world.place(target, random_cell(world, stream, target, no_overlap_at_reset))

    centre = agents[target].position
    passages = grow_maze(world, stream, centre) if in_maze else set()

    def distance(cell):
        return (cell[0] - centre[0]) ** 2 + (cell[1] - centre[1]) ** 2

    nearest_first = sorted(world.cells, key=distance)

    def place_other(agent, barrier, suits):
        if cluster_barriers if barrier else scatter_free_agents:
            left = [
                cell
                for cell in nearest_first
                if suits(cell) and is_free(world, agent, cell, no_overlap_at_reset)
            ]
            if not left:
                raise NoCellLeft(agent)
            world.place(agent, left[0] if barrier else left[-1])
        else:
            world.place(agent, random_cell(world, stream, agent, no_overlap_at_reset, suits))

    for agent in others:
        barrier = agents[agent].encoding in barrier_encodings

        def suits(cell, barrier=barrier):
            return not in_maze or (cell in passages) != barrier

        try:
            place_other(agent, barrier, suits)
        except NoCellLeft:
            if not (barrier and spares_barriers):
                raise
            agents[agent].active = False
            agents[agent].position = centre
        else:
            agents[agent].active |= barrier and spares_barriers
