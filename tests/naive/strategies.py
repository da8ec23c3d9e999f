"""Hypothesis strategies: random worlds in a legal state, and what goes with them.

Draw ``scenarios()`` for kernels that work on a state, ``scenarios(feasible=True)`` for whole runs
(everybody finds a cell at every reset).
"""

from dataclasses import dataclass

from hypothesis import strategies as st

from .world import NaiveAgent, NaiveWorld

ENCODING_SETS = [[1], [7], [1, 2], [1, 3], [2, 5, 7], [1, 2, 3], [1, 2, 3, 4], [1, 4, 6, 9]]


@dataclass
class Scenario:
    """A world and the parameters of its components.

    ``overlapping`` and ``attack_mapping`` are {encoding: set}; ``overlapping`` is as the user gives
    it, not symmetric (the world has made it so). ``world.cells`` has the order within cells.
    """

    world: NaiveWorld
    encodings: list
    overlapping: dict
    attack_mapping: dict
    stacked_attacks: bool
    observe_self: bool
    no_overlap_at_reset: bool
    randomize_placement_order: bool
    random_order: bool
    horizon: int | None
    seed: int
    world_index: int

    @property
    def max_encoding(self):
        """The largest encoding of an agent of the world."""
        return max(agent.encoding for agent in self.world.agents)


@st.composite
def sizes(draw):
    """(rows, cols) in 1..9 x 1..9: mostly not square, now and then a line or a single cell."""
    kind = draw(st.sampled_from(["any"] * 8 + ["line", "column", "one"]))
    rows = draw(st.integers(1, 9))
    cols = draw(st.integers(1, 9))
    if kind == "one":
        return 1, 1
    if kind == "line":
        return 1, cols
    if kind == "column":
        return rows, 1
    if rows == cols and draw(st.integers(0, 4)):
        cols = cols % 9 + 1
    return rows, cols


@st.composite
def relations(draw, encodings):
    """{encoding: set of encodings}: keys may be missing; neither symmetric nor transitive."""
    keys = draw(st.lists(st.sampled_from(encodings), unique=True))
    return {key: draw(st.sets(st.sampled_from(encodings), min_size=1)) for key in keys}


@st.composite
def naive_agents(draw, encodings):
    """One agent with all abilities; its state is still to be made."""
    return NaiveAgent(
        encoding=draw(st.sampled_from(encodings)),
        view_range=draw(st.integers(0, 4)),
        move_range=draw(st.integers(0, 4)),
        attack_range=draw(st.integers(0, 4)),
        attack_strength=draw(st.sampled_from([0.0, 0.1, 0.3, 0.5, 1.0])),
        attack_accuracy=draw(st.sampled_from([0.0, 0.5, 1.0, 1.0])),
        simultaneous_attacks=draw(st.sampled_from([0, 1, 1, 2, 3])),
        blocking=draw(st.sampled_from([False, False, True])),
        team=draw(st.sampled_from([None, None, 1, 2, 3])),
        initial_health=draw(st.sampled_from([None, 1.0, 1.0, 0.7, 0.3])),
    )


def put_somewhere(draw, world):
    """Make a legal state: agents enter in a random order; who finds no room, or is dead, is off."""
    cells = st.tuples(st.integers(0, world.rows - 1), st.integers(0, world.cols - 1))
    for number in draw(st.permutations(range(len(world.agents)))):
        agent = world.agents[number]
        taken = sorted(cell for cell, occupants in world.cells.items() if occupants)
        join = taken and draw(st.integers(0, 2)) == 0  # else cells are seldom shared
        agent.position = draw(st.sampled_from(taken) if join else cells)
        agent.health = draw(st.sampled_from([0.0, 0.1, 0.3, 0.3, 0.5, 1.0, 1.0, 1.0]))
        agent.active = agent.health > 0
        if agent.active and not world.place(number, agent.position):
            agent.health = 0.0
            agent.active = False


def give_initial_positions(draw, world):
    """Some agents get an initial position, no two the same one."""
    cells = draw(st.permutations(list(world.cells)))
    for agent, cell in zip(world.agents, cells, strict=False):
        if draw(st.integers(0, 3)) == 0:
            agent.initial_position = cell


@st.composite
def scenarios(draw, feasible=False):
    """A random world in a random legal state, with the parameters of its components.

    Args:
        feasible: no more agents than cells, so that a reset always succeeds; else it may fail.
    """
    rows, cols = draw(sizes())
    encodings = draw(st.sampled_from(ENCODING_SETS))
    most = min(14, rows * cols) if feasible else 14
    agents = draw(st.lists(naive_agents(encodings), min_size=1, max_size=most))
    overlapping = draw(relations(encodings))
    world = NaiveWorld(rows, cols, agents, overlapping)
    give_initial_positions(draw, world)
    put_somewhere(draw, world)
    return Scenario(
        world=world,
        encodings=encodings,
        overlapping=overlapping,
        attack_mapping=draw(relations(encodings)),
        stacked_attacks=draw(st.booleans()),
        observe_self=draw(st.booleans()),
        no_overlap_at_reset=draw(st.booleans()),
        randomize_placement_order=draw(st.booleans()),
        random_order=draw(st.booleans()),
        horizon=draw(st.sampled_from([None, 1, 2, 5, 20])),
        seed=draw(st.integers(0, 2**32 - 1)),
        world_index=draw(st.integers(0, 3)),
    )


def actions_of(agent):
    """Actions {"attack": int, "move": (dr, dc)} of an agent, all of them legal."""
    steps = st.integers(-agent.move_range, agent.move_range)
    return st.fixed_dictionaries(
        {"attack": st.integers(0, agent.simultaneous_attacks), "move": st.tuples(steps, steps)}
    )


@st.composite
def joint_actions(draw, world):
    """{agent: actions} of all agents of a world."""
    return {number: draw(actions_of(agent)) for number, agent in enumerate(world.agents)}
