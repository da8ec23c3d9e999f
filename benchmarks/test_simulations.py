"""Steps and resets of the shipped simulations, single and vectorised, and of large worlds."""

import pytest

from abmarl.examples import shipped
from benchmarks.adapters import ParallelPlay
from benchmarks.worlds import Play, SinglePlay, crowd, field

every_simulation = pytest.mark.parametrize("name", list(shipped))
sizes = pytest.mark.parametrize("worlds", [1, 64, 1024])
crowds = pytest.mark.parametrize("agents", [10_000, 100_000])


@every_simulation
def test_single_step(benchmark, per_agent, warm_up, name):
    benchmark.group = "step, one world through AllStepManager"
    play = SinglePlay(shipped[name]())
    # Whole horizons, so that every benchmark sees the same mixture of early and late steps.
    acted = benchmark.pedantic(play.episodes, rounds=max(1, warm_up // 10))
    # The time is that of 200 steps and 4 resets; agents count as often as they acted.
    per_agent(acted)


def test_pettingzoo_step(benchmark, per_agent, warm_up):
    pytest.importorskip("pettingzoo")
    benchmark.group = "steps, one world of 162 agents through PettingZoo"
    play = ParallelPlay(field(), warm_up)
    acted = benchmark.pedantic(
        lambda: sum(play.step() for _ in range(warm_up)), rounds=max(1, warm_up // 10)
    )
    per_agent(acted)


@every_simulation
def test_single_reset(benchmark, per_agent, name):
    benchmark.group = "reset, one world through AllStepManager"
    play = SinglePlay(shipped[name]())
    per_agent(len(play.manager.agents))
    benchmark(play.reset)


@every_simulation
@sizes
def test_vectorised_step(benchmark, per_agent, warm_up, name, worlds):
    benchmark.group = f"step, vectorised, {worlds} worlds"
    play = Play(shipped[name](), worlds, warm_up)
    per_agent(play.active)
    benchmark(play.step)


@every_simulation
@sizes
def test_vectorised_reset(benchmark, per_agent, name, worlds):
    benchmark.group = f"reset, vectorised, {worlds} worlds"
    play = Play(shipped[name](), worlds, 1)
    per_agent(worlds * play.vec.store.num_agents)
    benchmark(play.vec.reset)


@pytest.fixture(scope="module")
def large_worlds():
    """One world per number of agents: objects for 100,000 agents take seconds to make."""
    return {}


def full_world(large_worlds, agents):
    """One vectorised world of so many agents, a tenth of its cells, and its first state."""
    if agents not in large_worlds:
        play = Play(crowd(agents), 1, 1)
        play.vec.reset()
        large_worlds[agents] = play, play.vec.state_dict()
    return large_worlds[agents]


@crowds
def test_large_world_step(benchmark, per_agent, large_worlds, agents):
    """The first step of an episode, in which all agents act."""
    benchmark.group = "step, one large world"
    play, start = full_world(large_worlds, agents)
    per_agent(agents)
    benchmark.pedantic(
        play.step, setup=lambda: play.vec.load_state_dict(start), rounds=20, warmup_rounds=1
    )


@crowds
def test_large_world_reset(benchmark, per_agent, large_worlds, agents):
    benchmark.group = "reset, one large world"
    play, _ = full_world(large_worlds, agents)
    per_agent(agents)
    benchmark.pedantic(play.vec.reset, rounds=10, warmup_rounds=1)
