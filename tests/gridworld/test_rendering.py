"""Who draws a simulation is a matter of its ``renderer``."""

import types

import numpy as np
import pytest

from tests.support.grid_worlds import build, fighter


class Painter:
    """A renderer that notes what it is asked for."""

    def __init__(self):
        self.asked = []

    def show(self, sim, mode, world, fig):
        self.asked.append(("show", mode, world, fig))
        return np.zeros((2, 3, 3), np.uint8)

    def picture(self, sim, world, size):
        self.asked.append(("picture", world, size))
        return "a picture"

    def close(self, sim):
        self.asked.append(("close",))


@pytest.mark.parametrize("many", [False, True])
def test_a_renderer_of_ones_own_draws(many):
    sim = build([fighter("a", 1, (0, 0))])
    shown = sim.vectorize(3) if many else sim
    shown.reset()
    shown.renderer = painter = Painter()
    assert shown.render("rgb_array", world=2).shape == (2, 3, 3)
    assert shown.show(1, (40, 30)) == "a picture"
    shown.close()
    assert painter.asked == [
        ("show", "rgb_array", 2, None), ("picture", 1, (40, 30)), ("close",),
    ]  # fmt: skip


def test_a_renderer_may_be_named(monkeypatch):
    module, painter = types.ModuleType("painting"), Painter()
    module.painter = painter
    monkeypatch.setitem(__import__("sys").modules, "painting", module)
    sim = build([fighter("a", 1, (0, 0))])
    monkeypatch.setattr(type(sim), "renderer", "painting:painter")
    sim.show()
    assert painter.asked == [("picture", 0, None)]
