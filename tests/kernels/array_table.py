"""The rest of the table: kernels on plain arrays, which need no world.

``ArrayEntry.engine(given)`` and ``ArrayEntry.twin(given)`` return the same as nested lists; given
is drawn from ``ArrayEntry.inputs``.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from hypothesis import strategies as st

from abmarl.gridworld.store import TRAITS, Padding
from abmarl.kernels import done, episode, placement, sight, streams, world
from abmarl.kernels.compile import JIT
from tests.naive import bookkeeping
from tests.naive import sight as sight_twins
from tests.naive.maze import grow_maze
from tests.naive.streams import streams as naive_streams
from tests.naive.world import NaiveWorld


@dataclass(frozen=True)
class ArrayEntry:
    """One way to run a kernel on arrays; see the head of the file."""

    kernel: str
    variant: str
    inputs: Any
    engine: Callable
    twin: Callable

    def __str__(self):
        return f"{self.kernel}[{self.variant}]" if self.variant else self.kernel


# --- cells: (rows, cols, pad, positions [M, 2])


@st.composite
def padded_positions(draw):
    rows, cols = draw(st.integers(1, 1000)), draw(st.integers(1, 1000))
    one = st.tuples(st.integers(0, rows - 1), st.integers(0, cols - 1))
    return rows, cols, draw(st.integers(1, 40)), draw(st.lists(one, min_size=1, max_size=30))


def run_ravel(given):
    _, cols, pad, positions = given
    found = np.zeros(len(positions), np.int64)
    world.ravel_cells(np.array(positions), cols + 2 * pad, pad, found)
    return found.tolist()


def naive_ravel(given):
    rows, cols, pad, positions = given
    return [
        int(np.ravel_multi_index((r + pad, c + pad), (rows + 2 * pad, cols + 2 * pad)))
        for r, c in positions
    ]


def run_unravel(given):
    _, cols, pad, positions = given
    found = np.zeros((2, len(positions), 2), np.int32)
    world.unravel_cells(np.array([naive_ravel(given)] * 2), cols + 2 * pad, pad, found)
    return found.tolist()


def naive_unravel(given):
    return [[list(cell) for cell in given[3]]] * 2


# --- sight: (reach, offsets of blockers); tables up to range 24, the rule beyond


def naive_hidden(reach, blockers):
    inside = [b for b in blockers if max(map(abs, b)) <= reach]
    return sorted(
        cell
        for cell in sight_twins.window_offsets(reach)
        if any(sight_twins.hides(b, cell) for b in inside)
    )


@st.composite
def blockers(draw, ranges):
    reach = draw(st.sampled_from(ranges))
    # Some stand outside of the window: they hide nothing.
    offset = st.integers(-reach - 1, reach + 1)
    return reach, draw(st.lists(st.tuples(offset, offset), max_size=5, unique=True))


def run_hidden(tabled):
    def run(given):
        reach, offsets = given
        pad = reach + 1
        width = 2 * pad + 1
        words = ((2 * reach + 1) ** 2 + 63) // 64
        # The second of two worlds; blockers are read eight cells at a time, beyond the end too.
        walls = np.zeros(2 * width * width + 8, np.uint8)
        centre = width * width + pad * width + pad
        for dr, dc in offsets:
            walls[centre + dr * width + dc] = 1
        starts = np.full(pad + 1, -1, np.int64)
        table = np.zeros(1, np.uint64)
        if tabled:
            table, starts[reach] = tables(reach), 0
        hidden = np.full(words, np.uint64(2**64 - 1))
        given = bare_world(
            width=width,
            flat_walls=walls,
            first=np.zeros((2, width * width), np.int16),
            sight=world.Sight(table, starts, hidden),
        )
        found = sight.hidden_cells(given, 1, pad * width + pad, reach)
        bits = [(int(hidden[k >> 6]) >> (k & 63)) & 1 for k in range(64 * words)]
        cells_of = sight_twins.window_offsets(reach)
        inside = [o for o in offsets if max(map(abs, o)) <= reach]
        if not found:
            return [bool(inside), []]
        return [True, sorted(cell for cell, bit in zip(cells_of, bits, strict=False) if bit)]

    return run


def bare_world(**given):
    """A world of which a kernel uses only a part."""
    return world.World(**(dict.fromkeys(world.World._fields) | given))


@lru_cache(None)
def tables(reach):
    words = ((2 * reach + 1) ** 2 + 63) // 64
    table = np.zeros((2 * reach + 1) ** 2 * words, np.uint64)
    sight.sight_table(reach, words, table, 0)
    return table


def naive_hidden_cells(given):
    reach, offsets = given
    inside = [o for o in offsets if max(map(abs, o)) <= reach]
    return [bool(inside), naive_hidden(reach, offsets)]


# --- streams: (seed, ranges [K] of (low, high))


@st.composite
def ranges(draw):
    low = st.integers(-5, 5)
    # Many of the large ones are drawn again by the rule that avoids bias.
    size = st.sampled_from([1, 2, 3, 5, 49, 2**31 + 1, 3 * 2**30, 2**32 - 1])
    entries = draw(st.lists(st.tuples(low, size), min_size=1, max_size=8))
    return draw(st.integers(0, 2**63)), [(low, low + size - 1) for low, size in entries]


def run_samples(given):
    seed, entries = given
    states = [naive_streams(seed, b)[2].words for b in range(3)]
    rng = np.array(states, np.uint64)
    # Agents of up to two entries each, whose rows lie in reverse order.
    agents = [entries[k : k + 2] for k in range(0, len(entries), 2)]
    widths = np.array([len(own) for own in agents])
    low, high = np.zeros((2, len(agents), 2), np.int64)
    for form, own in enumerate(agents):
        low[form, : len(own)], high[form, : len(own)] = zip(*own, strict=True)
    starts = len(entries) - np.cumsum(widths)
    rows_of = np.stack([starts, np.full(len(agents), len(entries))], axis=1)
    slots, form_of = np.arange(len(agents)), np.arange(len(agents), dtype=np.int16)
    out = np.zeros(3 * len(entries), np.int64)
    streams.draw_samples(rng, slots, rows_of, form_of, low, high, widths, out)
    rows = out.reshape(3, -1).tolist()
    found = [
        [value for k, start in enumerate(starts) for value in row[start : start + widths[k]]]
        for row in rows
    ]
    return [found, rng.tolist()]


def naive_samples(given):
    seed, entries = given
    sampling = [naive_streams(seed, b)[2] for b in range(3)]
    found = [bookkeeping.draw_samples(stream, entries) for stream in sampling]
    return [found, [stream.words for stream in sampling]]


# --- mazes: (seed, rows, cols, starts of two worlds)


@st.composite
def maze_starts(draw):
    rows, cols = draw(st.integers(1, 12)), draw(st.integers(1, 12))
    cell = st.tuples(st.integers(0, rows - 1), st.integers(0, cols - 1))
    return draw(st.integers(0, 2**63)), rows, cols, [draw(cell), draw(cell)]


def run_mazes(given):
    seed, rows, cols, starts = given
    padding = Padding(rows, cols, np.zeros(1, TRAITS))
    rng = np.array([naive_streams(seed, b)[0].words for b in range(2)], np.uint64)
    ground = np.zeros((2, padding.cells), np.uint8)
    cells_of = np.array([padding.ravel(*start) for start in starts])
    frontier = np.zeros(rows * cols, np.int32)
    given = bare_world(rows=rows, cols=cols, width=padding.width, pad=padding.pad, streams=rng)
    placement.grow_mazes(given, cells_of, ground, frontier)
    grids = ground.reshape(2, -1, padding.width)
    # There is nothing but passages and walls on the grid, and neither beside it.
    inside = grids[:, padding.pad : padding.pad + rows, padding.pad : padding.pad + cols]
    assert np.isin(inside, (placement.WALL, placement.PASSAGE)).all()
    assert np.count_nonzero(grids) == inside.size
    found = [
        [tuple(cell) for cell in np.argwhere(one == placement.PASSAGE).tolist()] for one in inside
    ]
    return [found, rng.tolist()]


def naive_mazes(given):
    seed, rows, cols, starts = given
    dynamics = [naive_streams(seed, b)[0] for b in range(2)]
    world = NaiveWorld(rows, cols, [])
    found = [
        sorted(grow_maze(world, stream, start))
        for stream, start in zip(dynamics, starts, strict=True)
    ]
    return [found, [stream.words for stream in dynamics]]


# --- ammo and orientation: (seed, [(initial ammo, initial orientation, has one)], worlds)

owners = st.tuples(st.integers(-5, 2**31 - 1), st.integers(0, 4), st.booleans())
belongings = st.tuples(
    st.integers(0, 2**63),
    st.lists(owners, min_size=1, max_size=6),
    st.sampled_from([[0, 1, 2], [2, 0], [1], []]),
)


def traits_of(agents):
    traits = np.zeros(len(agents), TRAITS)
    if not JIT:
        traits = traits.view(np.recarray)
    traits["initial_ammo"] = [ammo for ammo, _, _ in agents]
    traits["initial_orientation"] = [orientation for _, orientation, _ in agents]
    return traits


def run_ammo(given):
    _, agents, worlds = given
    ammo = np.full((3, len(agents)), 77, np.int32)
    episode.reset_ammo(bare_world(traits=traits_of(agents)), listed(worlds, 3), ammo)
    return ammo.tolist()


def naive_ammo(given):
    _, agents, worlds = given
    full = [max(0, ammo) for ammo, _, _ in agents]
    return [full if b in worlds else [77] * len(agents) for b in range(3)]


def run_orientation(given):
    seed, agents, worlds = given
    rng = np.array([naive_streams(seed, b)[0].words for b in range(3)], np.uint64)
    turning = np.array([has for _, _, has in agents])
    orientation = np.full((3, len(agents)), 77, np.int8)
    given = bare_world(traits=traits_of(agents), streams=rng)
    episode.reset_orientation(given, listed(worlds, 3), turning, orientation)
    return [orientation.tolist(), rng.tolist()]


def naive_orientation(given):
    seed, agents, worlds = given
    dynamics = [naive_streams(seed, b)[0] for b in range(3)]
    found = [[77] * len(agents) for _ in range(3)]
    for b in worlds:
        for i, (_, initial, has) in enumerate(agents):
            if has:
                found[b][i] = initial or 1 + dynamics[b].below(4)
    return [found, [stream.words for stream in dynamics]]


# --- episode


@st.composite
def ends_of_steps(draw):
    worlds, agents = draw(st.integers(1, 3)), draw(st.integers(1, 5))

    def grid(entry):
        row = st.lists(entry, min_size=agents, max_size=agents)
        return draw(st.lists(row, min_size=worlds, max_size=worlds))

    def line(entry):
        return draw(st.lists(entry, min_size=worlds, max_size=worlds))

    running = line(st.sampled_from([True, True, False]))
    alive = grid(st.booleans())
    return {
        "done": grid(st.sampled_from([False, False, True])),
        "over": line(st.sampled_from([False, False, True])),
        "horizon": draw(st.integers(0, 4)),
        "rewards": grid(st.floats(-2, 2)),
        "running": running,
        # A world that is not running has nobody who acts.
        "alive": [[one and running[b] for one in row] for b, row in enumerate(alive)],
        "length": line(st.integers(0, 4)),
        "returns": grid(st.floats(-2, 2)),
    }


def run_close_step(given):
    arrays = {
        name: np.array(value) if isinstance(value, list) else value for name, value in given.items()
    }
    episodes, (num_worlds, _) = episodes_of(arrays), arrays["done"].shape
    ends = np.full(num_worlds, 99)
    names = "done", "over", "horizon", "rewards"
    count = episode.close_step(episodes, *(arrays[name] for name in names), ends)
    assert ends[:count].tolist() == np.flatnonzero(episodes.ended).tolist()
    assert count == num_worlds or ends[count] == -1
    names = "terminated", "truncated", "ended", "length", "alive", "returns"
    found = (getattr(episodes, name).tolist() for name in names)
    return [list(row) for row in zip(*found, strict=True)]


def episodes_of(given):
    """EpisodeState under way; what a kernel is to fill is full of rubbish."""
    episodes = episode.EpisodeState.zeros(*np.shape(given["done"]))
    for array in episodes:
        array[...] = 1
    for name in ("running", "alive", "length", "returns"):
        getattr(episodes, name)[...] = given[name]
    return episodes


def naive_close_step(given):
    found = []
    for b in range(len(given["over"])):
        alive, returns = list(given["alive"][b]), list(given["returns"][b])
        result = bookkeeping.close_step(
            given["done"][b], given["over"][b], given["horizon"], given["rewards"][b],
            given["running"][b], alive, given["length"][b], returns,
        )  # fmt: skip
        found.append([*result, alive, returns])
    return found


@st.composite
def addends(draw):
    worlds, agents = draw(st.integers(1, 3)), draw(st.integers(1, 4))
    odd = st.sampled_from([float("nan"), float("inf"), float("-inf"), 1e308])
    entry = st.one_of(st.floats(-2, 2), st.floats(-2, 2), st.floats(-2, 2), odd)
    row = st.lists(entry, min_size=agents, max_size=agents)
    plain = st.lists(st.floats(-2, 2), min_size=agents, max_size=agents)
    return (
        draw(st.lists(row, min_size=worlds, max_size=worlds)),
        draw(st.lists(plain, min_size=worlds, max_size=worlds)),
    )


def run_add_rewards(given):
    addend, rewards = map(np.array, given)
    return [int(episode.add_rewards(addend, rewards)), rewards.tolist()]


def naive_add_rewards(given):
    addend, rewards = given
    rewards = [list(row) for row in rewards]
    return [bookkeeping.add_rewards(addend, rewards), rewards]


@st.composite
def turn_lists(draw):
    agents = draw(st.integers(1, 6))
    order = st.permutations(range(agents))
    worlds = draw(st.lists(st.tuples(order, st.integers(0, agents)), min_size=1, max_size=3))
    return [list(turns) for turns, _ in worlds], [count for _, count in worlds]


def run_reward_turns(given):
    turns, count = (np.array(part) for part in given)
    rewards = np.full(turns.shape, 0.5)
    episode.reward_turns(turns, count, -0.01, rewards)
    return rewards.tolist()


def naive_reward_turns(given):
    return [
        [0.5 + -0.01 if i in turns[:count] else 0.5 for i in range(len(turns))]
        for turns, count in zip(*given, strict=True)
    ]


bounded = st.tuples(st.lists(st.integers(-4, 4), max_size=9), st.integers(-4, 0), st.integers(0, 4))


def run_copy_within(given):
    values, low, high = given
    out = np.full(len(values), 99, np.int8)
    fine = episode.copy_within(np.array(values, np.int8), np.int8(low), np.int8(high), out)
    # What was copied counts only if all of it is in range.
    return [bool(fine), out.tolist() if fine else None]


def naive_copy_within(given):
    values, low, high = given
    fine = all(low <= value <= high for value in values)
    return [fine, values if fine else None]


@st.composite
def ends_of_episodes(draw):
    given = draw(ends_of_steps())
    count, agents = len(given["over"]), len(given["done"][0])
    worlds = draw(st.lists(st.integers(0, count - 1), unique=True))
    learning = draw(st.lists(st.booleans(), min_size=agents, max_size=agents))
    return sorted(worlds), learning, draw(st.booleans()), given


def run_end_episodes(data):
    worlds, learning, restart, given = data
    active, episodes = np.array(given["done"]), episodes_of(given)
    episodes.final_length[:], episodes.final_returns[:], episodes.final_active[:] = -1, -1.0, False
    ended = listed(worlds, len(active)), active, np.array(learning), restart
    episode.end_episodes(episodes, *ended)
    names = ("running", "alive", "length", "returns")
    return [
        getattr(episodes, name).tolist()
        for name in (*names, "final_length", "final_returns", "final_active")
    ]


def naive_end_episodes(data):
    worlds, learning, restart, given = data
    names = ("running", "alive", "length", "returns")
    running, alive, length, returns = (list(given[name]) for name in names)
    active = given["done"]
    final_length = [-1] * len(active)
    final_returns = [[-1.0] * len(row) for row in active]
    final_active = [[False] * len(row) for row in active]
    for b in worlds:
        final_length[b], final_returns[b], final_active[b] = length[b], returns[b], active[b]
        running[b] = restart
        alive[b] = learning if restart else [False] * len(learning)
        if restart:
            length[b], returns[b] = 0, [0.0] * len(learning)
    return [running, alive, length, returns, final_length, final_returns, final_active]


def listed(worlds, count):
    """The list of worlds as kernels take it, with an end and some rubbish when there is room."""
    room = [-1, 0][: count - len(worlds)]
    return np.array([*worlds, *room], np.int64)


def run_begin_episodes(data):
    worlds, _, _, given = data
    active, health = np.array(given["done"]), np.array(given["rewards"])
    episode.begin_episodes(bare_world(active=active, health=health), listed(worlds, len(active)))
    return [active.tolist(), health.tolist()]


def naive_begin_episodes(data):
    worlds, _, _, given = data
    active, health = map(list, (given["done"], given["rewards"]))
    for b in worlds:
        active[b], health[b] = [True] * len(active[b]), [1.0] * len(health[b])
    return [active, health]


def run_fill_worlds(data):
    worlds, learning, _, given = data
    values = np.array(given["done"])
    episode.fill_worlds(listed(worlds, len(values)), values, np.array(learning))
    return values.tolist()


def naive_fill_worlds(data):
    worlds, learning, _, given = data
    return [learning if b in worlds else row for b, row in enumerate(given["done"])]


def run_clear_rewards(given):
    rewards = np.array(given[1])
    episode.clear_rewards(rewards)
    return rewards.tolist()


def naive_clear_rewards(given):
    return [[0.0] * len(row) for row in given[1]]


def run_add_done(data):
    _, _, first, given = data
    agents, worlds = np.array(given["done"]), np.array(given["over"])
    done.add_done(agents, worlds, np.array(given["alive"]), np.array(given["running"]), first)
    return [agents.tolist(), worlds.tolist()]


def naive_add_done(data):
    _, _, first, given = data
    if first:
        return [given["alive"], given["running"]]
    rows = zip(given["done"], given["alive"], strict=True)
    agents = [[one or more for one, more in zip(*row, strict=True)] for row in rows]
    both = zip(given["over"], given["running"], strict=True)
    return [agents, [one or more for one, more in both]]


ARRAY_TABLE = [
    ArrayEntry("world.ravel_cells", "", padded_positions(), run_ravel, naive_ravel),
    ArrayEntry("world.unravel_cells", "", padded_positions(), run_unravel, naive_unravel),
    ArrayEntry(
        "sight.sight_table", "", blockers(range(8)), run_hidden(True), naive_hidden_cells
    ),
    ArrayEntry(
        "sight.hidden_cells", "tables", blockers([0, 1, 2, 3, 3, 3, 7, 10]), run_hidden(True),
        naive_hidden_cells,
    ),
    ArrayEntry(
        "sight.hidden_cells", "rule", blockers([1, 2, 3, 3, 7, 10, 25]), run_hidden(False),
        naive_hidden_cells,
    ),
    ArrayEntry("placement.grow_mazes", "", maze_starts(), run_mazes, naive_mazes),
    ArrayEntry("episode.reset_ammo", "", belongings, run_ammo, naive_ammo),
    ArrayEntry(
        "episode.reset_orientation", "", belongings, run_orientation, naive_orientation
    ),
    ArrayEntry("streams.draw_samples", "", ranges(), run_samples, naive_samples),
    ArrayEntry("episode.close_step", "", ends_of_steps(), run_close_step, naive_close_step),
    ArrayEntry("episode.add_rewards", "", addends(), run_add_rewards, naive_add_rewards),
    ArrayEntry("episode.reward_turns", "", turn_lists(), run_reward_turns, naive_reward_turns),
    ArrayEntry("episode.copy_within", "", bounded, run_copy_within, naive_copy_within),
    ArrayEntry(
        "episode.end_episodes", "", ends_of_episodes(), run_end_episodes, naive_end_episodes
    ),
    ArrayEntry(
        "episode.begin_episodes", "", ends_of_episodes(), run_begin_episodes, naive_begin_episodes
    ),
    ArrayEntry("episode.fill_worlds", "", ends_of_episodes(), run_fill_worlds, naive_fill_worlds),
    ArrayEntry("episode.clear_rewards", "", addends(), run_clear_rewards, naive_clear_rewards),
    ArrayEntry("done.add_done", "", ends_of_episodes(), run_add_done, naive_add_done),
]  # fmt: skip
