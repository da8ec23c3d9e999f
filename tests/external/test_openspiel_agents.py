"""Agents of OpenSpiel play and learn, unchanged."""

import runpy
import sys
from pathlib import Path

import numpy as np
import pytest

from abmarl.managers import AllStepManager, TurnBasedManager
from abmarl.sim.wrappers import RavelDiscreteWrapper
from tests.external.probes import corridor, skirmish

pytest.importorskip("open_spiel")

from open_spiel.python import vector_env
from open_spiel.python.algorithms import (
    boltzmann_tabular_qlearner,
    random_agent,
    tabular_qlearner,
)

from abmarl.external import OpenSpielWrapper

EXAMPLES = Path(__file__).parents[2] / "examples"


@pytest.fixture(autouse=True)
def _seeded():
    # OpenSpiel's agents draw from NumPy's global stream.
    np.random.seed(0)  # noqa: NPY002


def make(sim, manager=AllStepManager, **kwargs):
    return OpenSpielWrapper(manager(RavelDiscreteWrapper(sim)), horizon=20, **kwargs)


def episode(env, agents, is_evaluation=False):
    """One episode as OpenSpiel's own drivers play it; the return of the first player."""
    time_step, total, acted = env.reset(), 0.0, set()
    while not time_step.last():
        player = time_step.observations["current_player"]
        asked = [int(player)] if env.is_turn_based else range(len(agents))
        acted.update(asked)
        time_step = env.step([agents[k].step(time_step, is_evaluation).action for k in asked])
        total += time_step.rewards[0]
    # A tabular learner that is shown the end of an episode in which it never acted, because it died
    # before its first turn, takes that for a step of its own and fails in the next episode.
    for k in acted:
        agents[k].step(time_step, is_evaluation)
    return total


def needs_torch(module, name, **kwargs):
    """An agent of OpenSpiel that is made of torch networks."""

    def make_agent(player_id, num_actions, size):
        pytest.importorskip("torch").set_num_threads(1)
        kind = getattr(pytest.importorskip(f"open_spiel.python.pytorch.{module}"), name)
        return kind(player_id, size, num_actions, **kwargs)

    return make_agent


def tabular(kind):
    return lambda player_id, num_actions, size: kind(player_id, num_actions)


AGENTS = {
    "random": tabular(random_agent.RandomAgent),
    "q learner": tabular(tabular_qlearner.QLearner),
    "boltzmann": tabular(boltzmann_tabular_qlearner.BoltzmannQLearner),
    "dqn": needs_torch(
        "dqn", "DQN", hidden_layers_sizes=[8], batch_size=4, min_buffer_size_to_learn=8
    ),
    "policy gradient": needs_torch(
        "policy_gradient",
        "PolicyGradient",
        hidden_layers_sizes=[8],
        batch_size=4,
        num_critic_before_pi=1,
    ),
}


@pytest.mark.parametrize("manager", [AllStepManager, TurnBasedManager])
@pytest.mark.parametrize("name", AGENTS)
def test_agents_play_by_their_numbers(name, manager):
    one_hot = name in ("dqn", "policy gradient")
    env = make(corridor() if one_hot else skirmish(), manager, one_hot=one_hot)
    size, count = env.observation_spec()["info_state"][0], env.action_spec()["num_actions"]
    agents = [AGENTS[name](player, count, size) for player in range(env.num_players)]
    for _ in range(6):
        episode(env, agents)
    if name != "random":
        assert agents[0].loss is not None


def test_agents_play_by_their_ids():
    env = make(skirmish(), TurnBasedManager)
    agents = {
        agent_id: tabular_qlearner.QLearner(agent_id, env.action_spec()[agent_id]["num_actions"])
        for agent_id in env.discounts
    }
    time_step = env.reset(seed=0)
    while not time_step.last():
        agent = agents[time_step.observations["current_player"]]
        time_step = env.step([agent.step(time_step).action])
    for agent in agents.values():
        agent.step(time_step)


def test_many_environments():
    envs = vector_env.SyncVectorEnv([make(corridor()) for _ in range(3)])
    agent = random_agent.RandomAgent(0, envs.envs[0].action_spec()["num_actions"])
    time_steps = envs.reset()
    for _ in range(25):
        outputs = [agent.step(time_step) for time_step in time_steps]
        time_steps, rewards, done, _ = envs.step(outputs, reset_if_done=True)
    assert len(rewards) == len(done) == 3
    assert not any(time_step.last() for time_step in time_steps)


def test_a_q_learner_finds_the_way():
    env = make(corridor())
    env.seed(0)
    agents = [tabular_qlearner.QLearner(0, env.action_spec()["num_actions"])]
    before = np.mean([episode(env, [random_agent.RandomAgent(0, 9)]) for _ in range(100)])
    for _ in range(400):
        episode(env, agents)
    after = np.mean([episode(env, agents, is_evaluation=True) for _ in range(200)])
    # The best there is: -0.28 on average. Legal moves only are -0.95 when they are random.
    assert before < -0.8
    assert after > -0.32


def test_example(capsys):
    example = runpy.run_path(str(EXAMPLES / "openspiel_reach_the_target.py"))
    first, last = example["main"](episodes=300)
    assert first.shape == last.shape == (3,)
    assert last[:2].mean() > first[:2].mean() + 0.2
    assert "runner0: mean return" in capsys.readouterr().out


def test_missing_library(monkeypatch):
    for name in [name for name in sys.modules if name.startswith("abmarl.external.openspiel")]:
        monkeypatch.delitem(sys.modules, name)
    for name in [name for name in sys.modules if name.split(".")[0] == "open_spiel"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "open_spiel", None)
    with pytest.raises(ImportError) as caught:
        __import__("abmarl.external.openspiel")
    assert str(caught.value) == (
        "abmarl.external.openspiel needs open_spiel: pip install 'abmarl[openspiel]'"
    )
