"""What films show beside the simulation."""

import pytest

pytest.importorskip("matplotlib")

from matplotlib.figure import Figure

from abmarl.examples import MultiCorridor
from abmarl.experiments.watching import Captioned, captioned
from abmarl.managers import AllStepManager, TurnBasedManager
from tests.support.grid_worlds import skirmish


def test_plain_simulations_are_captioned():
    manager = TurnBasedManager(MultiCorridor(end=5, num_agents=2))
    manager.reset(seed=0)
    filmed = captioned(manager, "Walk")
    assert isinstance(filmed, Captioned)
    for step in range(2):
        figure = Figure()
        filmed.render(fig=figure)
        assert figure.get_suptitle() == f"Walk, step {step}"
        assert figure.axes  # and what the simulation draws


def test_grids_have_captions_of_their_own():
    manager = AllStepManager(skirmish())
    assert captioned(manager, "Fight") is manager
