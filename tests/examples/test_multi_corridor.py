import importlib
import re
import subprocess
import sys

import numpy as np
import pytest

from abmarl.examples import MultiCorridor
from abmarl.managers import AllStepManager, TurnBasedManager
from abmarl.sim.wrappers import RavelDiscreteWrapper

LEFT, STAY, RIGHT = MultiCorridor.Actions


def placed(*cells, end=6):
    """A corridor with agents on these cells."""
    sim = MultiCorridor(end=end, num_agents=len(cells))
    sim.reset(seed=0)
    sim.corridor[:] = None
    for agent, cell in zip(sim.agents.values(), cells, strict=True):
        agent.position = cell
        sim.corridor[cell] = agent
    return sim


def rewards(sim):
    return [sim.get_reward(agent_id) for agent_id in sim.agents]


def cells(sim):
    return [agent.position for agent in sim.agents.values()]


def test_free_moves_and_staying_cost_one():
    sim = placed(1, 3)
    sim.step({"agent0": LEFT, "agent1": RIGHT})
    assert (cells(sim), rewards(sim)) == ([0, 4], [-1, -1])
    sim.step({"agent0": STAY})
    assert (cells(sim), rewards(sim)) == ([0, 4], [-1, 0])
    assert rewards(sim) == [0, 0]


def test_the_left_wall():
    sim = placed(0)
    sim.step({"agent0": LEFT})
    assert (cells(sim), rewards(sim)) == ([0], [-5])


def test_bumping_costs_both():
    sim = placed(1, 2)
    sim.step({"agent0": RIGHT})
    assert (cells(sim), rewards(sim)) == ([1, 2], [-5, -2])
    sim.step({"agent1": LEFT, "agent0": RIGHT})
    assert (cells(sim), rewards(sim)) == ([1, 2], [-7, -7])


def test_agents_move_in_the_order_of_the_dict():
    sim = placed(1, 2)
    sim.step({"agent1": RIGHT, "agent0": RIGHT})
    assert (cells(sim), rewards(sim)) == ([2, 3], [-1, -1])


def test_the_end_is_worth_its_square_and_takes_everybody():
    sim = placed(4, 3)
    sim.step({"agent0": RIGHT, "agent1": RIGHT})
    assert (cells(sim), rewards(sim)) == ([5, 4], [36, -1])
    assert [sim.get_done(one) for one in sim.agents] == [True, False]
    assert not sim.get_all_done()
    assert sim.get_obs("agent1")["right"] == [0]
    sim.step({"agent1": RIGHT})
    assert (cells(sim), rewards(sim)) == ([5, 5], [0, 36])
    assert sim.get_all_done()


def test_observations():
    sim = placed(0, 1, 3)
    assert sim.get_obs("agent0") == {"position": [0], "left": [0], "right": [1]}
    assert sim.get_obs("agent1") == {"position": [1], "left": [1], "right": [0]}
    assert sim.get_obs("agent2") == {"position": [3], "left": [0], "right": [0]}
    for agent in sim.agents.values():
        assert sim.get_obs(agent.id) in agent.observation_space
        assert agent.null_observation in agent.observation_space


def test_reset_puts_agents_on_cells_of_their_own():
    sim = MultiCorridor(end=5, num_agents=4)
    seen = set()
    for seed in range(60):
        sim.reset(seed=seed)
        assert sorted(cells(sim)) == [0, 1, 2, 3]
        assert all(sim.corridor[agent.position] is agent for agent in sim.agents.values())
        seen.add(tuple(cells(sim)))
    assert len(seen) > 15  # of 24


def test_the_seed_decides():
    def starts(seed):
        sim = MultiCorridor(end=30)
        sim.reset(seed=seed)
        first = cells(sim)
        sim.reset()
        return first, cells(sim), sim.random_order("abcdefgh")

    assert starts(1) == starts(1)
    assert starts(1) == starts((1, 0)) != starts((1, 1))
    assert starts(1)[0] != starts(1)[1]
    sim = MultiCorridor(end=30)
    state = np.random.get_state()[1].copy()  # noqa: NPY002 - that of everybody, to be left alone
    sim.reset()
    assert (np.random.get_state()[1] == state).all()  # noqa: NPY002


def test_an_episode_in_every_manager():
    for manager in (TurnBasedManager(MultiCorridor()), AllStepManager(MultiCorridor())):
        obs, steps, total = manager.reset(seed=2), 0, 0
        while True:
            live = [one for one in obs if one not in manager.done_agents]
            obs, reward, done, _ = manager.step(dict.fromkeys(live, RIGHT))
            steps, total = steps + 1, total + sum(reward.values())
            if done["__all__"]:
                break
            assert steps < 200
        assert total > 0


def test_ravelled():
    sim = RavelDiscreteWrapper(MultiCorridor(end=7))
    assert sim.agents["agent0"].observation_space.n == 7 * 2 * 2


@pytest.mark.parametrize(
    ("actions", "message"),
    [
        ({"agent1": STAY, "agent0": 3}, "the action of agent 'agent0' is 3, which does not lie"),
        ({"agent1": STAY, "agent0": 0.5}, "which does not lie in its action space Discrete(3)"),
        ({"agent1": STAY, "agent9": 0}, "agent 'agent9', which is not in the simulation"),
        ({"agent1": STAY, "agent2": LEFT}, "action from agent 'agent2', which is done"),
    ],
)
def test_bad_actions_change_nothing(actions, message):
    sim = placed(0, 1, 4)
    sim.step({"agent2": RIGHT})
    rewards(sim)
    with pytest.raises(ValueError, match=re.escape(message)):
        sim.step(actions)
    assert (cells(sim), rewards(sim)) == ([0, 1, 5], [0, 0, 0])


@pytest.mark.parametrize(
    ("kwargs", "error", "message"),
    [
        ({"end": 1}, ValueError, "end must be 2 or more, got 1"),
        ({"end": 5.0}, TypeError, "end must be an int"),
        ({"num_agents": 0}, ValueError, "num_agents must be 1 or more"),
        ({"end": 4, "num_agents": 4}, ValueError, "num_agents may be up to 3"),
    ],
)
def test_bad_parameters(kwargs, error, message):
    with pytest.raises(error, match=message):
        MultiCorridor(**kwargs)


def test_step_before_reset():
    with pytest.raises(ValueError, match=r"call reset\(\) before step"):
        MultiCorridor().step({"agent0": 0})
    with pytest.raises(TypeError, match="seed must be an int"):
        MultiCorridor().reset(seed="a")


def test_actions_by_id():
    with pytest.raises(TypeError, match="must be a dict of agent id to action, got list"):
        placed(0).step([1])


def test_examples_load_on_first_use():
    code = (
        "import sys, abmarl.examples as e; name = 'abmarl.examples.sim';"
        "assert name not in sys.modules; assert 'MultiCorridor' in dir(e);"
        "e.MultiCorridor; assert name in sys.modules; assert 'matplotlib' not in sys.modules;"
        "assert not hasattr(e, 'Corridor')"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_render_draws_everybody():
    from matplotlib.figure import Figure

    sim, fig = placed(0, 2), Figure()
    sim.render(fig=fig)
    sim.step({"agent0": RIGHT})
    sim.render(fig=fig)
    (axes,) = fig.axes
    assert axes.collections[0].get_offsets().tolist() == [[1, 0], [2, 0]]
    sim.render()


def test_the_old_place_warns():
    sys.modules.pop("abmarl.sim.corridor", None)
    with pytest.warns(DeprecationWarning, match="from abmarl.examples import MultiCorridor"):
        old = importlib.import_module("abmarl.sim.corridor")
    assert old.MultiCorridor is MultiCorridor
