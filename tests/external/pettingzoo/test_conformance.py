"""The suites that PettingZoo ships, on every simulation that ships with the package."""

import warnings

import pytest

pytest.importorskip("pettingzoo")

with warnings.catch_warnings():
    # The suites import a game of PettingZoo's own, which complains about how.
    warnings.filterwarnings("ignore", category=DeprecationWarning)
    from pettingzoo.test import (
        api_test,
        parallel_api_test,
        parallel_seed_test,
        render_test,
        seed_test,
    )
    from pettingzoo.test.state_test import state_test
from pettingzoo.utils import aec_to_parallel, parallel_to_aec

from abmarl.examples import MultiCorridor, shipped
from abmarl.external.adapter import RENDER_MODES
from abmarl.external.pettingzoo import PettingZooAECWrapper, PettingZooParallelWrapper
from abmarl.managers import DynamicOrderManager, TurnBasedManager
from abmarl.sim.wrappers import FlattenWrapper, RavelDiscreteActionWrapper, RavelDiscreteWrapper
from tests.support.grid_worlds import corridor, skirmish, strike
from tests.support.relay import Relay

# What PettingZoo would rather see, and does not ask for: names with underscores, plain spaces, the
# same ones for everybody.
pytestmark = [
    pytest.mark.filterwarnings(f"ignore:{text}:UserWarning")
    for text in (
        "We recommend agents to be named in the format",
        "Observation space for each agent probably should be",
        "Action space for each agent probably should be",
        "Observation is not a NumPy array",
        "Agents have different observation space sizes",
        "Observation numpy array is all zeros",
        "Agent's minimum action space value is equal",
        "The class of observation spaces is different between two agents",
        "Observations are different shapes",
        "The observation contains negative numbers and is in the shape",
        "The state contains negative numbers and is in the shape",
        "Environment.s m(in|ax)imum state space value is",
    )
]


ALL = {**shipped, "multi-corridor": MultiCorridor, "strike": strike, "skirmish": skirmish}
SIMS = pytest.mark.parametrize("make", ALL.values(), ids=ALL)
CYCLES = 25


@SIMS
def test_parallel(make):
    parallel_api_test(PettingZooParallelWrapper(make(), horizon=20), CYCLES)
    parallel_api_test(PettingZooParallelWrapper(make()), CYCLES)


@SIMS
def test_agent_by_agent(make):
    api_test(PettingZooAECWrapper(make(), horizon=5), CYCLES)


@SIMS
def test_turns(make):
    api_test(PettingZooAECWrapper(TurnBasedManager(make()), horizon=40), CYCLES)


@SIMS
def test_seeds(make):
    parallel_seed_test(lambda: PettingZooParallelWrapper(make(), horizon=10), CYCLES)
    seed_test(lambda: PettingZooAECWrapper(make(), horizon=10), CYCLES)
    seed_test(lambda: PettingZooAECWrapper(TurnBasedManager(make()), horizon=30), CYCLES)


@SIMS
def test_state(make):
    state_test(
        PettingZooAECWrapper(make(), horizon=5), PettingZooParallelWrapper(make(), horizon=5), 4
    )


@pytest.mark.parametrize("make", shipped.values(), ids=shipped)
def test_rendering(make):
    pytest.importorskip("pygame")

    def env(render_mode):
        # The suite makes one with "human" to read the metadata.
        mode = render_mode if render_mode in RENDER_MODES else None
        return PettingZooAECWrapper(make(), render_mode=mode)

    render_test(env)


@pytest.mark.parametrize("kind", [RavelDiscreteActionWrapper, FlattenWrapper])
def test_converted(kind):
    api_test(PettingZooAECWrapper(kind(shipped["team-battle"]()), horizon=5), CYCLES)
    parallel_api_test(PettingZooParallelWrapper(kind(skirmish()), horizon=5), CYCLES)


def test_numbers():
    api_test(PettingZooAECWrapper(RavelDiscreteWrapper(corridor()), horizon=5), CYCLES)


def test_masks():
    def env():
        return PettingZooAECWrapper(
            RavelDiscreteActionWrapper(skirmish()), horizon=10, action_masks=True
        )

    api_test(env(), CYCLES)
    seed_test(env, CYCLES)


def test_dynamic_order():
    api_test(PettingZooAECWrapper(DynamicOrderManager(Relay())), CYCLES)


@pytest.mark.parametrize("make", shipped.values(), ids=shipped)
def test_conversions_of_pettingzoo(make):
    api_test(parallel_to_aec(PettingZooParallelWrapper(make(), horizon=5)), CYCLES)
    parallel_api_test(aec_to_parallel(PettingZooAECWrapper(make(), horizon=5)), CYCLES)
