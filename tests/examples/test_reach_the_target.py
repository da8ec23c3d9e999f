import numpy as np
import pytest

from abmarl.examples import ReachTheTargetSim, RunningAgent, TargetAgent, WallAgent
from abmarl.examples.reach_the_target import BARRIER, RUNNER, TARGET, reach_the_target


def placed(target, *runners, barrier=(0, 6), **abilities):
    """A target, runners and a barrier on 5 x 7."""
    agents = [
        TargetAgent(id="target", initial_position=target, **abilities),
        *(RunningAgent(id=f"runner{i}", initial_position=at) for i, at in enumerate(runners)),
        WallAgent(id="barrier", encoding=BARRIER, initial_position=barrier),
    ]
    sim = ReachTheTargetSim.build_sim(
        5, 7, agents={agent.id: agent for agent in agents},
        overlapping={TARGET: {RUNNER}, RUNNER: {RUNNER}},
    )  # fmt: skip
    sim.reset(seed=0)
    return sim


def step(sim, attack, *moves):
    """One step; returns the rewards, the target's first."""
    actions = {"target": {"attack": attack}}
    actions |= {f"runner{i}": {"move": np.array(move)} for i, move in enumerate(moves)}
    sim.step(actions)
    return pytest.approx([sim.get_reward(agent_id) for agent_id in actions])


def test_arriving():
    sim = placed((2, 3), (2, 1), (0, 0))
    assert step(sim, 0, (0, 1), (0, 1)) == [-0.01, -0.01, -0.01]
    assert not sim.get_done("runner0")
    assert step(sim, 0, (0, 1), (0, 1)) == [-1.01, 0.99, -0.01]
    assert [sim.get_done(f"runner{i}") for i in (0, 1)] == [True, False]
    assert list(sim.grid[2, 3]) == ["target"]
    assert not sim.get_all_done()


def test_all_that_arrive_at_once_count():
    sim = placed((2, 3), (2, 2), (1, 4))
    assert step(sim, 0, (0, 1), (1, -1)) == [-2.01, 0.99, 0.99]
    assert sim.get_all_done()


def test_the_target_strikes_first():
    sim = placed((2, 3), (2, 2), (0, 0), attack_accuracy=1.0)
    assert step(sim, 1, (0, 1), (0, 0)) == [0.99, -1.01, -0.01]
    assert sim.get_done("runner0")
    assert not sim.get_done("target")


def test_failed_moves_and_attacks():
    sim = placed((4, 0), (0, 5), (1, 6))
    assert step(sim, 1, (0, 1), (0, 1)) == [-0.11, -0.11, -0.11]


def test_runners_start_far_from_the_target():
    sim = reach_the_target()
    for seed in range(5):
        sim.reset(seed=seed)
        target, runners = sim.agents["target"], [sim.agents[f"runner{i}"] for i in range(6)]
        far = [np.abs(one.position - target.position).max() for one in runners]
        assert min(far) > 4
        assert len({tuple(one.position) for one in runners}) == 6
