"""The stream, the masks and moves against cases worked out by hand. ``@`` is the observer."""

import pytest

from .action_masks import cross_move_mask, move_mask
from .hand_made import NoStream, Script, world_of
from .move import cross_move, move
from .sight import hidden_offsets
from .streams import Stream, streams


def hidden_from_map(text):
    """Offsets of ``x`` relative to ``@``, and of the blockers ``#``."""
    found = {"x": set(), "#": set(), "@": set()}
    for r, line in enumerate(text.split()):
        for c, letter in enumerate(line):
            if letter != ".":
                found[letter].add((r, c))
    ((row, col),) = found["@"]
    return tuple({(r - row, c - col) for r, c in found[letter]} for letter in "x#")


# --- random stream


def test_stream_gives_the_reference_output_of_xoshiro256plusplus():
    stream = Stream([1, 2, 3, 4])
    assert [stream.next_u64() for _ in range(3)] == [41943041, 58720359, 3588806011781223]


def test_below_draws_nothing_without_a_choice():
    stream = Stream([1, 2, 3, 4])
    assert [stream.below(0), stream.below(1)] == [0, 0]
    assert stream.words == [1, 2, 3, 4]


def test_below_rejects_the_low_products():
    # The upper halves of the reference outputs are 0, 0, 835583. With n = 3 the threshold is
    # (2**32 - 3) % 3 = 1, so the two products with a low half of 0 are drawn again.
    stream = Stream([1, 2, 3, 4])
    assert stream.below(3) == 835583 * 3 >> 32
    used = Stream([1, 2, 3, 4])
    for _ in range(3):
        used.next_u64()
    assert stream.words == used.words


def test_uniform_uses_the_upper_53_bits():
    assert Stream([1, 2, 3, 4]).uniform() == (41943041 >> 11) / 2**53


def test_shuffle_and_choose():
    items = list("abcd")
    Script(belows=[0, 2, 1]).shuffle(items)
    # abcd, swap 3 and 0: dbca, swap 2 and 2: dbca, swap 1 and 1: dbca
    assert items == list("dbca")
    # abcd, swap 0 and 0+2: cbad, swap 1 and 1+2: cdab
    assert Script(belows=[2, 2]).choose("abcd", 2) == ["c", "d"]
    assert Stream.choose(NoStream(), "abcd", 4) == list("abcd")


def test_streams_differ_and_are_reproducible():
    words = [stream.words for stream in streams(7, 2)]
    assert words == [stream.words for stream in streams(7, 2)]
    assert len({tuple(word) for word in words + [s.words for s in streams(7, 3)]}) == 6


# --- masks

# (1, 0): rays through (1/2, -1/2) and (1/2, 1/2), the diagonals: |c| < r is hidden.
BELOW = """
...@...
...#...
..xxx..
.xxxxx.
"""

# (1, 1): rays of slope 1/3 and 3. (3, 1) and (1, 3) are on them and stay visible.
DIAGONAL = """
@....
.#x..
.xxxx
..xxx
..xxx
"""

# (2, 1): c / r between 1/5 and 1. (5, 1), (2, 2), (3, 3) are on the rays.
KNIGHT = """
@.....
......
.#....
.xx...
.xxx..
..xxx.
"""

# (0, -2): rays of slope 1/3: (1, -3) is on one of them, (1, -4) is between them.
LEFT = """
.....
x....
xx#.@
x....
.....
"""


@pytest.mark.parametrize(("text", "radius"), [(BELOW, 3), (DIAGONAL, 4), (KNIGHT, 5), (LEFT, 4)])
def test_mask_of_one_blocker(text, radius):
    hidden, blockers = hidden_from_map(text)
    assert hidden_offsets(radius, blockers) == hidden


def test_masks_turn_and_mirror():
    hidden, blockers = hidden_from_map(KNIGHT)
    for sign_r in (-1, 1):
        for sign_c in (-1, 1):
            turned = {(sign_c * c, sign_r * r) for r, c in hidden}
            blocker = {(sign_c * c, sign_r * r) for r, c in blockers}
            assert hidden_offsets(5, blocker) == turned


def test_masks_add_up_and_blockers_far_or_here_hide_nothing():
    one, two = hidden_offsets(3, [(1, 0)]), hidden_offsets(3, [(0, 1)])
    assert hidden_offsets(3, [(1, 0), (0, 1), (0, 0), (-4, 0)]) == one | two
    # A blocker hides another one, and that one still hides what is behind it.
    assert (2, 0) in hidden_offsets(3, [(1, 0), (2, 0)])


# --- movement


def test_move_needs_a_target_cell_that_is_available():
    # 0 and 1 may share a cell, 2 overlaps with nothing.
    world = world_of(
        """
        ab.
        .c.
        """,
        overlapping={1: 2},
        a={"encoding": 1},
        b={"encoding": 2},
        c={"encoding": 3},
    )
    assert move(world, 0, (0, 0))
    assert not move(world, 0, (-1, 0))
    assert not move(world, 0, (1, 1))
    assert move(world, 0, (0, 1))
    assert world.cells[0, 1] == [0, 1]
    assert world.cells[0, 0] == []
    assert move(world, 1, (0, 0))
    assert world.cells[0, 1] == [0, 1]
    assert not cross_move(world, 1, 2)
    assert cross_move(world, 1, 1)
    assert world.agents[1].position == (0, 0)
    assert cross_move(world, 2, 3)
    assert cross_move(world, 2, 4)
    assert cross_move(world, 2, 0)
    assert world.agents[2].position == (0, 2)


def test_move_masks():
    world = world_of(
        """
        ab.
        ..b
        """,
        a={"encoding": 1, "move_range": 1},
        b={"encoding": 2, "move_range": 2},
    )
    assert move_mask(world, 0) == [[False] * 3, [False, True, False], [False, True, True]]
    assert cross_move_mask(world, 0) == [True, False, True, False, False]
