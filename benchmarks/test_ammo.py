"""Ammo: attacks that need it, its state and its observer, on 1 to 1,024 team battles."""

import pytest

from abmarl.examples import BattleAgent, TeamBattleSim
from abmarl.gridworld.agent import AmmoAgent
from abmarl.gridworld.observer import AmmoObserver, PositionCenteredEncodingObserver
from abmarl.gridworld.state import AmmoState, HealthState, PositionState
from benchmarks.stage import Stage
from benchmarks.worlds import TEAMS, Play

pytestmark = pytest.mark.parametrize("worlds", [1, 64, 1024])


class GunnerAgent(BattleAgent, AmmoAgent):
    """A fighter that needs ammo."""


@pytest.fixture
def stage(benchmark, warm_up, worlds, request):
    """Return the stage of a battle with ammo for 20 hits each, in the middle of episodes."""
    benchmark.group = f"{request.node.originalname.removeprefix('test_')}, {worlds} worlds"
    agents = {
        f"gunner{i}": GunnerAgent(id=f"gunner{i}", encoding=TEAMS[i % 4], initial_ammo=20)
        for i in range(24)
    }
    sim = TeamBattleSim.build_sim(
        8,
        8,
        agents=agents,
        overlapping={team: {team} for team in TEAMS},
        attack_mapping={team: set(TEAMS) - {team} for team in TEAMS},
        states=(PositionState, HealthState, AmmoState),
        observers=(PositionCenteredEncodingObserver, AmmoObserver),
    )
    return Stage(Play(sim, worlds, min(warm_up, 40)))


def test_ammo_attack(benchmark, per_agent, stage, worlds):
    per_agent(stage.play.acting())
    benchmark.pedantic(stage.attack, setup=stage.rewind, rounds=200, warmup_rounds=1)


def test_ammo_state(benchmark, per_agent, stage, worlds):
    per_agent(stage.store.active.size)
    (place,) = (k for k, state in enumerate(stage.sim.states) if isinstance(state, AmmoState))
    benchmark(stage.start, place)


def test_ammo_observer(benchmark, per_agent, stage, worlds):
    per_agent(stage.play.acting())
    (observer,) = (one for one in stage.sim.observers if isinstance(one, AmmoObserver))
    flat, rows_of = stage.outputs(observer)
    benchmark(observer.write, stage.worlds, flat, rows_of, False)
