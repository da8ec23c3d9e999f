import itertools
import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from abmarl.gridworld import Grid, GridWorldAgent, GridWorldSimulation, PositionState
from tests.support.equivalence import replay
from tests.support.grid_worlds import SmartGridWorldSimulation as Smart
from tests.support.grid_worlds import build, fighter, wall

MAP = """
A . _ 0 W
. A B . W
_ . . B 0
"""
REGISTRY = {
    "A": lambda n: fighter(f"red{n}", 1),
    "B": lambda n: fighter(f"blue{n}", 2),
    "W": lambda n: wall(f"wall{n}"),
}
STARTS = {
    "red0": [0, 0], "wall1": [0, 4], "red2": [1, 1], "blue3": [1, 2], "wall4": [1, 4],
    "blue5": [2, 3],
}  # fmt: skip
PARTS = {
    "states": ["PositionState", "HealthState"],
    "actors": ["BinaryAttackActor", "MoveActor"],
    "observers": ["PositionCenteredEncodingObserver"],
    "dones": ["ActiveDone"],
    "attack_mapping": {1: {2}, 2: {1}},
}


class PlainSim(GridWorldSimulation):
    """In the object style."""

    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        self.placement = PositionState(**kwargs)
        self.finalize()

    def reset(self, **kwargs):
        self.placement.reset(**kwargs)

    def step(self, action_dict, **kwargs):
        pass

    def get_obs(self, agent_id, **kwargs):
        return {}

    def get_reward(self, agent_id, **kwargs):
        return 0

    def get_done(self, agent_id, **kwargs):
        return False

    def get_all_done(self, **kwargs):
        return False


def map_file(tmp_path, text, encoding="utf-8"):
    path = tmp_path / "map.txt"
    path.write_bytes(text.encode(encoding))
    return path


def array_of(text):
    return np.array([line.split() for line in text.split("\n") if line])


def starts(sim):
    return {name: agent.initial_position.tolist() for name, agent in sim.agents.items()}


def positions(sim):
    return {name: agent.position.tolist() for name, agent in sim.agents.items()}


def from_file(tmp_path, text=MAP, registry=REGISTRY, **kwargs):
    return PlainSim.build_sim_from_file(map_file(tmp_path, text), registry, **kwargs)


def from_array(rows, registry=REGISTRY, **kwargs):
    return PlainSim.build_sim_from_array(np.array(rows), registry, **kwargs)


def test_build_sim_from_array():
    sim = PlainSim.build_sim_from_array(array_of(MAP), REGISTRY)
    assert (sim.grid.rows, sim.grid.cols) == (3, 5)
    assert list(sim.agents) == list(STARTS)
    assert starts(sim) == STARTS
    sim.reset(seed=1)
    assert positions(sim) == STARTS


def test_build_sim_from_nested_lists_and_arrays_with_empty_strings():
    sim = PlainSim.build_sim_from_array([["", "A", "."], ["B", "0", ""]], REGISTRY)
    assert starts(sim) == {"red0": [0, 1], "blue1": [1, 0]}


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig"])
@pytest.mark.parametrize(
    "text", [MAP, MAP.replace("\n", "\r\n"), "\n \n" + MAP.replace(" ", "\t ")]
)
def test_build_sim_from_file(tmp_path, text, encoding):
    sim = PlainSim.build_sim_from_file(map_file(tmp_path, text, encoding), REGISTRY)
    assert starts(sim) == STARTS
    assert (sim.grid.rows, sim.grid.cols) == (3, 5)


def test_characters_beyond_ascii_and_paths_as_str(tmp_path):
    path = map_file(tmp_path, ". Ä\nλ .")
    sim = PlainSim.build_sim_from_file(str(path), {"Ä": REGISTRY["A"], "λ": REGISTRY["B"]})
    assert starts(sim) == {"red0": [0, 1], "blue1": [1, 0]}
    assert sim.grid[0, 1] == {}


def test_build_sim_from_grid():
    grid = Grid(3, 5, overlapping={1: {1, 7}, 2: {1}})
    agents = {
        name: fighter(name, encoding)
        for name, encoding in (("late", 2), ("one", 1), ("two", 1), ("gone", 3))
    }
    assert grid.place(agents["late"], (2, 4))
    assert grid.place(agents["two"], (0, 3))
    assert grid.place(agents["one"], (0, 3))
    assert grid.place(agents["gone"], (1, 1))
    grid.remove(agents["gone"], (1, 1))
    sim = PlainSim.build_sim_from_grid(grid)
    assert starts(sim) == {"two": [0, 3], "one": [0, 3], "late": [2, 4]}
    assert list(sim.agents) == ["two", "one", "late"]
    assert sim.grid.overlapping == {1: {1, 2}, 2: {1}}
    sim.reset()
    assert list(sim.grid[0, 3]) == ["two", "one"]
    assert agents["one"].initial_position is None
    assert list(grid[0, 3]) == ["two", "one"]
    assert sim.agents["one"] is not agents["one"]


def test_build_sim_from_the_grid_of_a_running_simulation():
    sim = build([fighter("walker", 1), fighter("other", 2)])
    sim.reset(seed=4)
    before = positions(sim)
    again = PlainSim.build_sim_from_grid(sim.grid)
    again.reset(seed=9)
    assert positions(again) == before == positions(sim)
    assert sim.agents["walker"].initial_position is None


def test_extra_agents(tmp_path):
    extra = {
        "red0": fighter("red0", 5, (2, 2)),
        "guest": fighter("guest", 3, (2, 0)),
        "free": fighter("free", 4),
    }
    grid = Grid(3, 5)
    for name, cell in STARTS.items():
        grid.place(REGISTRY[{"r": "A", "b": "B", "w": "W"}[name[0]]](int(name[-1])), cell)
    for sim in (
        PlainSim.build_sim_from_array(array_of(MAP), REGISTRY, extra_agents=extra),
        from_file(tmp_path, extra_agents=extra),
        PlainSim.build_sim_from_grid(grid, extra_agents=extra),
    ):
        assert list(sim.agents) == [*STARTS, "guest", "free"]
        assert sim.agents["red0"].encoding == 1
        sim.reset(seed=2)
        found = positions(sim)
        free = found.pop("free")
        assert found == {**STARTS, "guest": [2, 0]}
        assert free not in found.values()
    assert extra["red0"].initial_position.tolist() == [2, 2]


def test_only_extra_agents():
    sim = from_array([[".", ".", "0"]], {}, extra_agents={"free": fighter("free")})
    assert (sim.grid.rows, sim.grid.cols, list(sim.agents)) == (1, 3, ["free"])


def test_further_parameters_reach_the_components():
    rows = [["A", "."], [".", "W"]]
    sim = Smart.build_sim_from_array(rows, REGISTRY, **PARTS | {"attack_mapping": {1: {9}}})
    assert sim.actors["attack"].attack_mapping == {1: {9}}
    with pytest.raises(TypeError, match="takes 'no_overlap_at_rest'; did you mean"):
        Smart.build_sim_from_array(rows, REGISTRY, no_overlap_at_rest=True, **PARTS)


@pytest.mark.parametrize("way", ["grid", "array", "file"])
def test_vectorised_worlds_of_every_builder(tmp_path, way):
    def make_sim():
        array = Smart.build_sim_from_array(array_of(MAP), REGISTRY, **PARTS)
        if way == "array":
            return array
        if way == "file":
            return Smart.build_sim_from_file(map_file(tmp_path, MAP), REGISTRY, **PARTS)
        array.reset(seed=0)
        return Smart.build_sim_from_grid(array.grid, **PARTS)

    assert replay(make_sim, 30, 3, seed=5, horizon=9, order="fixed", num_threads=1) >= 9


SEVERAL = {
    "A": lambda n: fighter(f"red{n}", 1),
    "K": lambda n: [fighter(f"king{n}", 1), wall(f"throne{n}", 9)],
    "T": lambda n: (fighter(f"twin{n}a", 1), fighter(f"twin{n}b", 1)),
}
SHARING = {1: {1, 9}}


def test_a_character_that_stands_for_several_agents():
    sim = from_array([["K", ".", "A"], [".", "T", "T"]], SEVERAL, overlapping=SHARING)
    assert starts(sim) == {
        "king0": [0, 0], "throne0": [0, 0], "red1": [0, 2],
        "twin2a": [1, 1], "twin2b": [1, 1], "twin3a": [1, 2], "twin3b": [1, 2],
    }  # fmt: skip
    sim.reset()
    assert list(sim.grid[0, 0]) == ["king0", "throne0"]


@pytest.mark.parametrize("text", ["A . . . W\n. A B . W\n. . . B .\n", "B\n", ". B . A\n"])
def test_to_map_writes_what_was_read(tmp_path, text):
    sim = from_file(tmp_path, text)
    sim.reset()
    assert sim.to_map() == text


def test_to_map_writes_the_present_state(tmp_path):
    sim = from_file(tmp_path)
    sim.reset()
    sim.agents["red0"].position = np.array([2, 0])
    sim.grid.remove(sim.agents["wall4"], (1, 4))
    assert sim.to_map() == ". . . . W\n. A B . .\nA . . B .\n"
    again = from_file(tmp_path, sim.to_map())
    again.reset()
    assert again.to_map() == sim.to_map()


def test_to_map_with_several_agents_in_a_cell():
    sim = from_array([["K", ".", "A"], [".", "T", "T"]], SEVERAL, overlapping=SHARING)
    sim.reset()
    assert sim.to_map() == "K . A\n. T T\n"
    sim.agents["king0"].position = np.array([0, 1])
    message = "No character stands for 'throne0' in cell (0, 0); name one, to_map(characters={9: "
    with pytest.raises(ValueError, match=re.escape(message)):
        sim.to_map()
    assert sim.to_map({9: "t", 1: "k"}) == "t k A\n. T T\n"
    sim.agents["red1"].position = np.array([0, 1])
    with pytest.raises(ValueError, match=re.escape("'king0', 'red1' in cell (0, 1); name one")):
        sim.to_map({9: "t", 1: "k"})
    assert sim.to_map({9: "t", (1, 1): "P"}) == "t P .\n. T T\n"


def test_agents_of_two_cells_do_not_pass_for_one():
    sim = from_array([["T", "T", "."]], SEVERAL, overlapping={1: {1}})
    sim.reset()
    for name in ("twin0a", "twin1a"):
        sim.agents[name].position = np.array([0, 2])
    # Who they are does not matter, only what: first and first are not first and second.
    with pytest.raises(ValueError, match="No character stands for 'twin0b'"):
        sim.to_map()


def test_to_map_of_simulations_that_know_no_characters():
    sim = build([fighter("red", 1, (0, 0)), fighter("blue", 2, (2, 4))])
    with pytest.raises(ValueError, match="Nobody is on the grid yet; call reset"):
        sim.to_map({1: "r", 2: "b"})
    sim.reset()
    with pytest.raises(ValueError, match=re.escape("to_map(characters={1: 'x'})")):
        sim.to_map()
    assert sim.to_map({1: "r", 2: "b"}) == "r . . . .\n. . . . .\n. . . . b\n"
    for name, cell in (("red", (0, 0)), ("blue", (2, 4))):
        sim.grid.remove(sim.agents[name], cell)
    assert sim.to_map() == ". . . . .\n" * 3


@pytest.mark.parametrize(
    ("characters", "error", "message"),
    [
        ({1: "."}, ValueError, "characters has '.', which means an empty cell"),
        ({1: "ab"}, ValueError, "characters has 'ab'; a cell is one character"),
        ({"red": "a"}, TypeError, "characters must map an encoding"),
        ({True: "a"}, TypeError, "characters must map an encoding"),
        ({1: 3}, TypeError, "characters must name characters, which are str, got 3"),
        ("ab", TypeError, "characters must be a dict {encoding: character}, got 'ab'"),
    ],
)
def test_to_map_refuses_bad_characters(characters, error, message):
    sim = build([fighter("red", 1, (0, 0))])
    sim.reset()
    with pytest.raises(error, match=re.escape(message)):
        sim.to_map(characters)


@settings(max_examples=40, deadline=None, derandomize=True, database=None)
@given(
    st.tuples(st.integers(1, 5), st.integers(1, 6)).flatmap(
        lambda shape: st.lists(
            st.lists(st.sampled_from("ABKW.0_"), min_size=shape[1], max_size=shape[1]),
            min_size=shape[0],
            max_size=shape[0],
        )
    )
)
def test_every_map_comes_back(rows):
    registry = {**REGISTRY, "K": SEVERAL["K"]}
    present = set(itertools.chain(*rows))
    if present <= set("0._"):
        return
    sharing = SHARING if "K" in present else {}
    sim = PlainSim.build_sim_from_array(rows, registry, overlapping=sharing)
    sim.reset()
    dots = [["." if one in "0_" else one for one in row] for row in rows]
    assert sim.to_map() == "".join(" ".join(row) + "\n" for row in dots)
    expected = [(r, c) for r, row in enumerate(dots) for c, one in enumerate(row) if one != "."]
    assert sorted({tuple(cell) for cell in starts(sim).values()}) == expected


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("A . .\n. B\n", "Line 2 of {path} has 2 characters, line 1 has 3; every row of a map is"),
        ("\nA .\n\n. B\n", "Line 3 of {path} has 0 characters, line 2 has 2"),
        ("\nA .\n. X\n", "Line 3, column 2 of {path} holds 'X', which is not in the object "
                          "registry; known are: A B W (and 0 . _ for empty cells)."),
        ("A .\n.B B\n", "Line 2, column 1 of {path} holds '.B', which is more than one character"),
        ("  \n\n", "{path} is empty; a map has one line per row"),
    ],
)  # fmt: skip
def test_bad_files(tmp_path, text, message):
    path = map_file(tmp_path, text)
    with pytest.raises(ValueError, match=re.escape(message.format(path=path))):
        PlainSim.build_sim_from_file(path, REGISTRY)


def test_files_that_cannot_be_read(tmp_path):
    with pytest.raises(FileNotFoundError, match="There is no map file"):
        PlainSim.build_sim_from_file("nowhere.txt", REGISTRY)
    (tmp_path / "map.txt").write_bytes(b"A . \xff B\n")
    with pytest.raises(ValueError, match=r"map.txt is no text in UTF-8 \(byte 4\); save it"):
        PlainSim.build_sim_from_file(tmp_path / "map.txt", REGISTRY)
    with pytest.raises(IsADirectoryError):
        PlainSim.build_sim_from_file(tmp_path, REGISTRY)
    with pytest.raises(TypeError):
        PlainSim.build_sim_from_file(3, REGISTRY)


@pytest.mark.parametrize(
    ("array", "error", "message"),
    [
        (np.array(["A", "."]), ValueError, "must be 2-D with a row and a column at least, got "
                                           "shape (2,)"),
        (np.full((1, 2, 2), "A"), ValueError, "got shape (1, 2, 2)"),
        (np.full((0, 3), "A"), ValueError, "got shape (0, 3)"),
        (np.zeros((2, 3), int), TypeError, "must hold str, one character per cell, got int64 of "
                                           "shape (2, 3)"),
        (np.array([["A", None]]), TypeError, "must hold str"),
        (np.array([[b"A", b"."]]), TypeError, "must hold str"),
        ([["A", "."], ["."]], ValueError, "must have one length; they have"),
        ("A.", ValueError, "got shape ()"),
        (np.array([["A", "X"]]), ValueError, "Cell (0, 1) holds 'X', which is not in the object "
                                             "registry"),
        (np.array([["A", "AB"]]), ValueError, "Cell (0, 1) holds 'AB', which is more than one"),
        (np.array([[".", "_"]]), ValueError, "A simulation needs at least one agent, got none."),
    ],
)  # fmt: skip
def test_bad_arrays(array, error, message):
    with pytest.raises(error, match=re.escape(message)):
        PlainSim.build_sim_from_array(array, REGISTRY)


@pytest.mark.parametrize(
    ("registry", "error", "message"),
    [
        ([("A", fighter)], TypeError, "object_registry must be a dict {character: function of a "),
        ({".": REGISTRY["A"]}, ValueError, "object_registry has '.', which means an empty cell, as "
                                           "all of 0 . _ do; use another character."),
        ({"0": REGISTRY["A"]}, ValueError, "object_registry has '0', which means an empty cell"),
        ({"_": REGISTRY["A"]}, ValueError, "object_registry has '_', which means an empty cell"),
        ({"AB": REGISTRY["A"]}, ValueError, "object_registry has 'AB'; a cell is one character"),
        ({" ": REGISTRY["A"]}, ValueError, "object_registry has ' '; a cell is one character"),
        ({1: REGISTRY["A"]}, TypeError, "object_registry must name characters, which are str"),
        ({"A": fighter("red0")}, TypeError, "object_registry['A'] must be a function of a number"),
        ({"A": lambda n: None}, TypeError, "The function of 'A' must return a GridWorldAgent, or a "
                                           "list of them, for cell (0, 1); it returned None."),
        ({"A": lambda n: []}, TypeError, "it returned []."),
        ({"A": lambda n: [fighter("x"), "y"]}, TypeError, "it returned ["),
        ({"A": lambda n: fighter("red", 1)}, ValueError, "cell (0, 1) and cell (1, 0) both hold an "
                                                         "agent 'red'; use the running number"),
        ({"A": SEVERAL["K"]}, ValueError, "'king0' (encoding 1) and 'throne0' (encoding 9) may not "
                                          "share cell (0, 1); add overlapping={1: {9}}."),
        ({}, ValueError, "known are: none (and 0 . _ for empty cells)."),
    ],
)  # fmt: skip
def test_bad_registries(registry, error, message):
    with pytest.raises(error, match=re.escape(message)):
        from_array([[".", "A"], ["A", "."]], registry)


def test_bad_grids_and_extra_agents():
    with pytest.raises(TypeError, match=r"takes a Grid with agents, got array"):
        PlainSim.build_sim_from_grid(np.zeros((3, 5)))
    with pytest.raises(ValueError, match="needs at least one agent"):
        PlainSim.build_sim_from_grid(Grid(3, 5))
    for extra in ([fighter("a")], fighter("a")):
        with pytest.raises(TypeError, match=r"extra_agents must be a dict \{id: agent\}, got "):
            from_array([["A"]], extra_agents=extra)
    with pytest.raises(ValueError, match="the key of an agent must be its id"):
        from_array([["A", "."]], extra_agents={"b": fighter("c")})
    with pytest.raises(TypeError, match="agents follows from the map or grid; name further agents"):
        from_array([["A"]], agents={})
    with pytest.raises(TypeError, match="rows follows from the map or grid; leave it out"):
        PlainSim.build_sim_from_array([["A"]], REGISTRY, rows=3)


def test_overlapping_that_the_grid_allows_can_be_forbidden():
    grid = Grid(3, 5, overlapping={1: {1}})
    for name in "ab":
        grid.place(fighter(name), (1, 3))
    with pytest.raises(ValueError, match=r"may not share cell \(1, 3\)"):
        PlainSim.build_sim_from_grid(grid, overlapping={})
    assert len(PlainSim.build_sim_from_grid(grid).agents) == 2


def test_agents_of_another_simulation_are_copied_and_keep_their_start():
    other = build([fighter("red", 1, (2, 4))])
    other.reset()
    sim = from_array([["A", "."]], {"A": lambda n: other.agents["red"]})
    assert starts(sim) == {"red": [0, 0]}
    assert starts(other) == {"red": [2, 4]}


def test_agents_in_one_cell_that_are_not_configured():
    registry = {"A": lambda n: [fighter("a"), GridWorldAgent(id="b", encodng=2)]}
    message = "agent 'b' (GridWorldAgent) is not configured: encoding missing; arguments that no"
    with pytest.raises(ValueError, match=re.escape(message)):
        from_array([["A"]], registry)


def test_a_bad_map_changes_no_agent():
    agents = [fighter("a", 1, (2, 4)), fighter("a", 1, (2, 3))]
    with pytest.raises(ValueError, match="both hold an agent 'a'"):
        from_array([["A", "A"]], {"A": lambda n: agents[n]})
    assert [agent.initial_position.tolist() for agent in agents] == [[2, 4], [2, 3]]
    assert agents[0]._store is None


def test_classes_keep_their_own_build_sim():
    class Sized(PlainSim):
        @classmethod
        def build_sim(cls, rows, cols, **kwargs):
            sim = super().build_sim(rows, cols, **kwargs)
            sim.size = rows * cols
            return sim

    sim = Sized.build_sim_from_array([["A", ".", "."]], REGISTRY)
    assert sim.size == 3
