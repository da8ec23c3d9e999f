import importlib
import re
import sys

import numpy as np
import pytest

from abmarl.examples import Predator, PredatorPreySimulation, Prey
from abmarl.managers import AllStepManager

STILL = [0, 0]


def build(*agents, region=4, **config):
    sim = PredatorPreySimulation.build({"region": region, "agents": list(agents), **config})
    sim.reset(seed=0)
    sim.resources[:], sim._fertile[:] = 0, True
    return sim


def put(sim, **cells):
    for agent_id, cell in cells.items():
        sim.agents[agent_id].position = np.array(cell)
    return sim


def rewards(sim):
    return {agent_id: pytest.approx(sim.get_reward(agent_id)) for agent_id in sim.agents}


def move(rows, cols):
    return {"move": [rows, cols], "attack": 0}


def flee(rows, cols):
    return {"move": [rows, cols], "harvest": 0}


HIT, TAKE = {"move": [1, 1], "attack": 1}, {"move": [1, 1], "harvest": 1}


def test_the_configuration_of_the_manual():
    region = 6
    predators = [Predator(id=f"predator{i}", attack=1) for i in range(2)]
    prey = [Prey(id=f"prey{i}") for i in range(7)]
    agents = predators + prey
    sim_config = {"region": region, "max_steps": 200, "agents": agents}
    sim = AllStepManager(PredatorPreySimulation.build(sim_config))
    again = PredatorPreySimulation.build(sim_config)
    assert (again.agents["prey0"].move, again.agents["prey0"].view) == (1, 5)
    assert again.agents["prey0"].harvest_amount == 0.1
    # The agents given are left alone, so that a configuration makes many simulations.
    assert (agents[0].move, agents[0].action_space) == (None, None)
    assert again.agents["prey0"] is not sim.agents["prey0"]
    assert again.agents["prey0"].observation_space == again.agents["prey6"].observation_space
    assert (Predator.value, Prey.value) == (2, 1)
    # The loop of the manual's analysis, with random actions.
    grid = np.zeros((sim.sim.region, sim.sim.region))
    obs = sim.reset(seed=1)
    done = dict.fromkeys(obs, False)
    while True:
        joint_action = {
            agent_id: sim.agents[agent_id].action_space.sample()
            for agent_id in obs
            if not done[agent_id]
        }
        assert all(obs[one] in sim.agents[one].observation_space for one in obs)
        obs, _, done, _ = sim.step(joint_action)
        pox, poy = sim.agents["predator0"].position
        grid[pox, poy] += 1
        assert joint_action["predator0"]["attack"] in (0, 1)
        if done["__all__"]:
            break
    assert grid.sum() == sim.sim.steps


def test_moves():
    sim = put(build(Predator(id="p"), Prey(id="q", move=2)), p=[0, 3], q=[3, 1])
    sim.step({"p": move(1, -1), "q": flee(-2, 0)})
    assert sim.agents["p"].position.tolist() == [1, 2]
    assert sim.agents["q"].position.tolist() == [1, 1]
    assert rewards(sim) == {"p": -0.01, "q": -0.01}
    sim.step({"p": move(0, 0), "q": flee(-2, 0)})
    assert sim.agents["q"].position.tolist() == [1, 1]
    assert rewards(sim) == {"p": -0.01, "q": -0.11}
    # Cells may be shared.
    sim.step({"p": move(0, -1)})
    assert sim.agents["p"].position.tolist() == [1, 1]


def test_attacks():
    agents = Predator(id="p", attack=1), Prey(id="q"), Prey(id="far")
    sim = put(build(*agents), p=[1, 1], q=[2, 2], far=[1, 3])
    # The prey dies before it can run.
    sim.step({"q": flee(1, 1), "far": flee(0, 0), "p": HIT})
    assert [agent.active for agent in sim.agents.values()] == [True, False, True]
    assert sim.agents["q"].position.tolist() == [2, 2]
    assert sim.agents["p"].position.tolist() == [1, 1]
    assert rewards(sim) == {"p": 0.99, "q": -1, "far": -0.01}
    assert (sim.get_done("q"), sim.get_done("p"), sim.get_all_done()) == (True, False, False)
    sim.step({"p": HIT})
    assert rewards(sim) == {"p": -0.11, "q": 0, "far": 0}
    put(sim, far=[1, 2])
    sim.step({"p": HIT})
    assert sim.get_all_done()


def test_an_attack_takes_one_at_random():
    victims = set()
    for seed in range(20):
        sim = build(Predator(id="p"), Prey(id="q"), Prey(id="r"))
        sim.reset(seed=seed)
        put(sim, p=[1, 1], q=[1, 2], r=[0, 0]).step({"p": HIT})
        victims.add(tuple(one for one in "qr" if sim.get_done(one)))
    assert victims == {("q",), ("r",)}


def test_harvest_takes_what_is_there_and_it_grows_again():
    sim = build(Prey(id="q", harvest_amount=0.4), resources={"regrow": 0.25})
    put(sim, q=[2, 1])
    sim.resources[2, 1] = 0.6
    sim.step({"q": TAKE})
    assert sim.agents["q"].position.tolist() == [2, 1]
    assert sim.resources[2, 1] == pytest.approx(0.2 + 0.25)
    assert rewards(sim) == {"q": 0.1 - 0.01}
    sim.resources[2, 1] = 0.1
    sim.step({"q": TAKE})
    assert rewards(sim) == {"q": 0.025 - 0.01}
    sim.resources[2, 1] = 0
    sim.step({"q": TAKE})
    assert rewards(sim) == {"q": -0.1 - 0.01}
    assert sim.resources[2, 1] == 0.25
    assert sim.resources[0, 0] == pytest.approx(0.75)
    sim.step({})
    sim.step({})
    assert sim.resources[0, 0] == 1


def test_only_a_part_of_the_cells_bears_resources():
    sim = PredatorPreySimulation.build(
        {"agents": [Prey(id="q")], "region": 30, "resources": {"coverage": 0.3, "max_value": 2}}
    )
    sim.reset(seed=3)
    fertile = sim.resources > 0
    assert set(np.unique(sim.resources)) == {0, 2}
    assert 0.25 < fertile.mean() < 0.35
    sim.step({})
    assert (sim.resources[~fertile] == 0).all()


def test_the_grid_around_an_agent():
    """
    row 0: . q r .
    row 1: p . . .
    row 2: . s+t . .      s is prey, t a predator
    """
    agents = [Predator(id=one, view=1) for one in "pt"] + [Prey(id=one, view=1) for one in "qrs"]
    sim = put(build(*agents), p=[1, 0], q=[0, 1], r=[0, 2], s=[2, 1], t=[2, 1])
    sim.resources[:] = np.arange(16).reshape(4, 4) / 16
    assert sim.get_obs("p")["agents"].tolist() == [[-1, 0, 1], [-1, 0, 0], [-1, 0, 2]]
    assert sim.get_obs("t")["agents"].tolist() == [[2, 0, 0], [0, 1, 0], [0, 0, 0]]
    seen = sim.get_obs("q")
    assert seen["agents"].tolist() == [[-1, -1, -1], [0, 0, 1], [2, 0, 0]]
    assert (seen["resources"] * 16).tolist() == [[-16, -16, -16], [0, 1, 2], [4, 5, 6]]
    sim.agents["r"].active = False
    assert sim.get_obs("q")["agents"].tolist() == [[-1, -1, -1], [0, 0, 0], [2, 0, 0]]
    assert list(sim.get_obs("p")) == ["agents"]


def test_distances_to_the_others():
    agents = Predator(id="p", view=2), Prey(id="q", view=3), Prey(id="r", view=3)
    sim = put(build(*agents, observation_mode="distance"), p=[1, 0], q=[3, 1], r=[0, 3])
    seen = sim.get_obs("p")
    assert seen["position"].tolist() == [1, 0]
    assert seen["others"].tolist() == [[2, 1, 1], [0, 0, 0]]
    assert sim.get_obs("r")["others"].tolist() == [[1, -3, 2], [3, -2, 1]]
    assert sim.get_obs("r")["resources"].shape == (7, 7)
    sim.agents["p"].active = False
    assert sim.get_obs("r")["others"].tolist() == [[0, 0, 0], [3, -2, 1]]


@pytest.mark.parametrize("mode", ["grid", "distance"])
def test_points_lie_in_their_spaces(mode):
    sim = build(Predator(id="p", view=1), Prey(id="q", view=0, move=0), observation_mode=mode)
    for agent in sim.agents.values():
        assert sim.get_obs(agent.id) in agent.observation_space
        assert agent.null_observation in agent.observation_space
        assert agent.null_action in agent.action_space


def test_the_end():
    sim = build(Prey(id="q"), max_steps=2)
    sim.step({"q": flee(0, 0)})
    assert not sim.get_all_done()
    sim.step({"q": flee(0, 0)})
    assert sim.get_all_done()
    assert not sim.get_done("q")
    sim.reset()
    assert not sim.get_all_done()


def test_rewards_can_be_given():
    sim = build(Predator(id="p"), Prey(id="q"), rewards={"predator": {"kill": 7, "step": 0}})
    put(sim, p=[0, 0], q=[0, 1]).step({"p": HIT})
    assert rewards(sim) == {"p": 7, "q": -1}


@pytest.mark.parametrize("mode", ["grid", "distance"])
def test_the_seed_decides(mode):
    def play(seed):
        agents = [Predator(id="p"), *(Prey(id=f"q{i}") for i in range(3))]
        config = {"agents": agents, "region": 5, "observation_mode": mode, "max_steps": 15}
        sim = AllStepManager(PredatorPreySimulation.build(config))
        for agent in sim.agents.values():
            agent.action_space.seed(1)
        found = [sim.reset(seed=seed)]
        for _ in range(30):
            live = [one for one in found[-1] if one not in sim.done_agents]
            output = sim.step({one: sim.agents[one].action_space.sample() for one in live})
            found += [output, output[0]]
            if output[2]["__all__"]:
                found.append(sim.reset())
        return repr(found)

    assert play(1) == play(1)
    assert play(1) != play(2)


@pytest.mark.parametrize(
    ("actions", "message"),
    [
        ({"p": {"move": [2, 0], "attack": 0}}, "which does not lie in its action space"),
        ({"p": {"move": STILL, "attack": 2}}, "the action of agent 'p' is"),
        ({"p": {"move": STILL}}, "the action of agent 'p' is"),
        ({"z": HIT}, "agent 'z', which is not in the simulation"),
        ({"r": TAKE}, "action from agent 'r', which is done"),
    ],
)
def test_bad_actions_change_nothing(actions, message):
    sim = build(Predator(id="p"), Prey(id="q"), Prey(id="r"))
    put(sim, p=[0, 0], q=[3, 3], r=[0, 1]).step({"p": HIT})
    before = sim.resources.copy()
    with pytest.raises(ValueError, match=re.escape(message)):
        sim.step({"q": TAKE, **actions})
    assert sim.steps == 1
    assert (sim.resources == before).all()


ONE = [Prey(id="q")]


@pytest.mark.parametrize(
    ("config", "error", "message"),
    [
        (None, TypeError, "sim_config must be a dict"),
        ({}, TypeError, "agents must be a list or dict"),
        ({"agents": [Predator(id="p")]}, ValueError, "one Prey at least"),
        ({"agents": [*ONE, *ONE]}, ValueError, "two agents with the id 'q'"),
        ({"agents": ["q"]}, TypeError, "agents must be Predator or Prey, got str"),
        ({"agents": ONE, "regin": 3}, ValueError, "has no key 'regin' (did you mean 'region'?)"),
        ({"agents": ONE, "region": 0}, ValueError, "region must be 1 or more"),
        ({"agents": ONE, "max_steps": 2.5}, TypeError, "max_steps must be an int"),
        ({"agents": ONE, "observation_mode": "x"}, ValueError, "one of 'grid', 'distance'"),
        (
            {"agents": ONE, "rewards": {"prey": {"kill": 1}}},
            ValueError,
            "sim_config['rewards']['prey'] has no key 'kill' (did you mean 'killed'?)",
        ),
        ({"agents": ONE, "rewards": {"prey": {"step": "1"}}}, TypeError, "must be a number"),
        ({"agents": ONE, "resources": {"coverage": 1.5}}, ValueError, "must be 1 or less"),
        ({"agents": ONE, "resources": {"regrow": -1}}, ValueError, "must be 0 or more"),
        ({"agents": ONE, "resources": {"regrow": np.nan}}, ValueError, "must be finite"),
        ({"agents": [Prey(id="q", move=-1)]}, ValueError, "move of agent 'q' must be 0 or more"),
        ({"agents": [Prey(id="q", view=1.5)]}, TypeError, "view of agent 'q' must be an int"),
        ({"agents": [Prey(id="q", harvest_amount=0)]}, ValueError, "must be more than 0"),
    ],
)
def test_bad_configurations(config, error, message):
    with pytest.raises(error, match=re.escape(message)):
        PredatorPreySimulation.build(config)


def test_agents_by_id():
    sim = PredatorPreySimulation.build({"agents": {"q": Prey(id="q")}})
    assert list(sim.agents) == ["q"]


def test_render():
    from matplotlib.figure import Figure

    sim, fig = build(Predator(id="p"), Prey(id="q"), Prey(id="r")), Figure()
    put(sim, p=[0, 1], q=[2, 3], r=[0, 0]).agents["r"].active = False
    sim.render(fig=fig)
    (axes,) = fig.axes
    # x is the column, y the row; the dead are left out.
    assert [one.get_offsets().tolist() for one in axes.collections] == [[[3, 2]], [[1, 0]]]
    assert (axes.images[0].get_array() == sim.resources).all()
    sim.render()


def test_the_old_place_warns():
    sys.modules.pop("abmarl.sim.predator_prey", None)
    with pytest.warns(DeprecationWarning, match="from abmarl.examples import PredatorPreySim"):
        old = importlib.import_module("abmarl.sim.predator_prey")
    assert (old.Predator, old.Prey) == (Predator, Prey)
