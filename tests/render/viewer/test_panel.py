"""What an agent observes, in the panel."""

import numpy as np
import pytest
from gymnasium.spaces import Box

from abmarl.examples import shipped
from abmarl.gridworld import (
    AbsolutePositionObserver,
    AmmoAgent,
    AmmoObserver,
    AmmoState,
    HealthState,
    PositionCenteredEncodingObserver,
    PositionState,
    StackedPositionCenteredEncodingObserver,
)
from abmarl.gridworld.observer import ObserverBase
from abmarl.render import SimulationShow, Viewer
from abmarl.render.drawing.surface import pygame
from abmarl.render.scenes.appearance import Look
from abmarl.render.scenes.describe import describe_value
from abmarl.render.viewer.panel import PANEL_WIDTH, draw_observed
from abmarl.render.viewer.shows import Observed, Pane
from tests.support.grid_worlds import FighterAgent, build, fighter, wall


class Archer(FighterAgent, AmmoAgent):
    pass


class HeatObserver(ObserverBase):
    """Two rows of three numbers, which the package does not know."""

    key = "heat"

    def space(self, agent):
        return Box(0.0, 9.0, (2, 3), float)

    def null(self, agent):
        return np.zeros((2, 3))

    def observe(self, out=None):
        return np.broadcast_to(np.arange(6.0).reshape(2, 3), (1, self.store.num_agents, 2, 3))


def world(**parameters):
    agents = [
        fighter("a", 1, (1, 1), view_range=2, kind=Archer, initial_ammo=4),
        fighter("b", 2, (1, 2), kind=Archer, initial_ammo=1),
        fighter("c", 2, (1, 2), kind=Archer, initial_ammo=1),
        wall("w", 9, (0, 0)),
    ]
    given = {
        "states": [PositionState, HealthState, AmmoState],
        "observers": [
            AbsolutePositionObserver, AmmoObserver, StackedPositionCenteredEncodingObserver,
            PositionCenteredEncodingObserver,
        ],
        "overlapping": {2: {2}},
    }  # fmt: skip
    sim = build(agents, attack_mapping={1: {2}}, **(given | parameters))
    sim.reset(seed=0)
    return sim


def test_everything_that_is_observed_is_told():
    sim = world()
    observed = SimulationShow(sim).observed(0, 0)
    stacked = "stacked position centered encoding"
    assert [(pane.channel, pane.part) for pane in observed.panes] == [
        ("position centered encoding", ""),
        *((stacked, f"encoding {k}") for k in (1, 2, 9)),
    ]
    seen = sim.get_obs("a")
    assert np.array_equal(observed.panes[0].cells, seen["position_centered_encoding"])
    twos = observed.panes[2]
    assert np.array_equal(twos.counts, seen["stacked_position_centered_encoding"][..., 1])
    assert (twos.cells[2, 3], twos.counts[2, 3]) == (2, 2)
    assert set(twos.looks) <= {2}
    assert dict(observed.lines) == {
        "position": "1 1",
        "ammo": "4",
        stacked: "nobody of 3, 4, 5, 6, 7, 8",
    }


def test_channels_of_ones_own_are_shades():
    sim = world(observers=[HeatObserver, PositionCenteredEncodingObserver])
    show = SimulationShow(sim)
    assert [pane.channel for pane in show.observed(0, 0).panes] == ["position centered encoding"]
    sim.get_obs("a")  # made aside it could change something: it is shown once it was asked for
    panes = show.observed(0, 0).panes
    assert [pane.channel for pane in panes] == ["position centered encoding", "heat"]
    assert panes[1].looks is None
    assert panes[1].cells.tolist() == [[0, 1, 2], [3, 4, 5]]


@pytest.mark.parametrize("name", ["pacman", "comms-blocking"])
def test_all_windows_fit_into_the_panel(name):
    vec = shipped[name]().vectorize(1, seed=1)
    vec.reset()
    show = SimulationShow(vec)
    viewer = Viewer(show)
    slots = {name: int(group.slots[0]) for name, group in vec.groups.items()}
    viewer.chosen = slots.get("caster", slots.get("ghost", 0))
    panel = viewer.picture()[:, -PANEL_WIDTH:]
    edge = panel[:, -14:]
    assert (edge == 255).all(), "there is a margin at the right"
    assert (panel[-8:, 1:] == 255).all(), "and at the bottom"


def test_windows_are_where_there_is_room():
    """A red cell in the first window, a blue one in the second; what is masked is hatched."""
    looks = {1: (Look("s", (255, 0, 0), 400.0), False), 2: (Look("s", (0, 0, 255), 400.0), False)}
    panes = [Pane("view", part, np.zeros((5, 5), int), looks) for part in ("one", "two")]
    panes[0].cells[0, 0], panes[1].cells[4, 4] = 1, 2
    panes[1].cells[0, :] = -2
    found = {}
    for height in (700, 250):
        surface = pygame.Surface((280, height), 0, 32)
        surface.fill((255, 255, 255))
        draw_observed(surface, Observed(tuple(panes), (("ammo", "3"),)), 20)
        pixels = pygame.surfarray.array3d(surface)
        red, blue = (np.argwhere((pixels == color).all(-1)) for color in ((255, 0, 0), (0, 0, 255)))
        found[height] = red.mean(0), blue.mean(0), len(red)
    high, low = found[700], found[250]
    assert high[1][1] > high[0][1] + 200, "one below the other"
    assert low[1][0] > low[0][0] + 120, "beside one another"
    assert high[2] > low[2] > 20


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (np.array([3, 4]), "3 4"),
        (np.float64(0.123456), "0.1235"),
        (7, "7"),
        ({"left": np.array([1]), "right": np.array([0.5])}, "left 1, right 0.5"),
        (np.zeros(20), "0 0 0 0 0 0 0 0 0 0 0 0 ... (20 numbers)"),
        ("hello  there", "hello there"),
        ((1, np.array([2, 3])), "1, 2 3"),
    ],
)
def test_observations_in_words(value, words):
    assert describe_value(value) == words


def test_long_observations_are_cut():
    assert describe_value({f"agent{k}": k for k in range(30)}).endswith("...")
    assert len(describe_value("x" * 200)) == 80
