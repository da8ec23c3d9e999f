"""Simulations as OpenSpiel's environments: time steps, ends, seeds, legal actions, bad input."""

import copy
import pickle
import runpy
import sys
from pathlib import Path

import numpy as np
import pytest
from gymnasium.spaces import Discrete

pytest.importorskip("open_spiel")

from open_spiel.python import vector_env
from open_spiel.python.algorithms import (
    boltzmann_tabular_qlearner,
    random_agent,
    tabular_qlearner,
)

from abmarl.examples import MultiCorridor, shipped
from abmarl.external.openspiel import ByPlayer, OpenSpielWrapper, Player
from abmarl.gridworld import AbsolutePositionObserver
from abmarl.managers import AllStepManager, TurnBasedManager
from abmarl.sim.wrappers import (
    FlattenWrapper,
    RavelDiscreteActionWrapper,
    RavelDiscreteWrapper,
    SARWrapper,
)
from tests.support.grid_worlds import build, corridor, fighter, skirmish, strike

rl_environment = pytest.importorskip("open_spiel.python.rl_environment")


MANAGERS = [AllStepManager, TurnBasedManager]
STAY, STRIKE = 4, 13  # of Discrete(18): the attack counts 9, of 3 x 3 moves staying is the fifth


class Digest(SARWrapper):
    """Observations as one of 32 numbers, so that every grid world has Discrete ones."""

    def __init__(self, sim):
        super().__init__(sim)
        for agent in self.agents.values():
            if hasattr(agent, "observation_space"):
                agent.observation_space, agent.null_observation = Discrete(32), 0
        self.finalize()

    def wrap_observation(self, from_agent, observation):
        return int(sum(abs(np.sum(part)) for part in observation.values())) % 32

    def action_masks(self):
        return self.sim.action_masks()


def make(sim, manager=AllStepManager, **kwargs):
    return OpenSpielWrapper(manager(RavelDiscreteWrapper(sim)), **kwargs)


def play(env, steps, choose, **reset):
    """Time steps of so many steps, beginning with a reset."""
    found = [env.reset(**reset)]
    for step in range(1, steps + 1):
        found.append(env.step(choose(found[-1], step)))
    return found


def any_legal(time_step, rng):
    """Random legal actions, as OpenSpiel's drivers choose them."""
    legal = time_step.observations["legal_actions"]
    player = time_step.observations["current_player"]
    asked = range(len(legal)) if time_step.is_simultaneous_move() else [player]
    return [rng.choice(legal[number]) for number in asked]


def strike_at(step, horizon=None, manager=AllStepManager, **kwargs):
    """The last time step of an episode whose attack comes at a step, and how many there were."""
    env = make(strike(), manager, horizon=horizon, **kwargs)
    time_step, count = env.reset(seed=0), 0
    while not time_step.last():
        count += 1
        time_step = env.step([STRIKE if count == step else STAY])
    return env, time_step, count


# --- time steps ---


def test_the_form_of_time_steps():
    env = make(skirmish(), discounts={"red": 0.9, "blue0": 0.8, "blue1": 0.7})
    first = env.reset(seed=0)
    ids = ["red", "blue0", "blue1"]
    assert isinstance(first, rl_environment.TimeStep)
    assert (first.first(), first.rewards, first.discounts) == (True, None, None)
    assert list(first.observations) == ["info_state", "legal_actions", "current_player"]
    assert list(first.observations["info_state"]) == ids
    assert list(first.observations["legal_actions"]) == ids
    assert first.is_simultaneous_move()
    second = env.step([STAY] * 3)
    assert second.mid()
    assert second.rewards == dict.fromkeys(ids, -0.125)
    assert second.discounts == {"red": 0.9, "blue0": 0.8, "blue1": 0.7}
    assert env.get_time_step() is second


def test_time_steps_say_what_the_manager_says():
    env, sim = make(skirmish()), AllStepManager(RavelDiscreteWrapper(skirmish()))
    assert env.reset(seed=5).observations["info_state"] == sim.reset(seed=5)
    for actions in ([4, 1, 7], [0, 8, 2], [5, 3, 6]):
        time_step = env.step(actions)
        obs, rewards, *_ = sim.step(dict(zip(sim.agents, actions, strict=True)))
        assert time_step.observations["info_state"] == obs
        assert time_step.rewards == rewards


def test_turns():
    env = make(skirmish(), TurnBasedManager)
    time_steps = play(env, 4, lambda time_step, step: [STAY], seed=0)
    turns = [one.observations["current_player"] for one in time_steps]
    assert turns == ["red", "blue0", "blue1", "red", "blue0"]
    assert turns == [0, 1, 2, 0, 1]
    assert not time_steps[0].is_simultaneous_move()
    # Red has got nothing for its step before its next turn comes.
    assert [one.rewards["red"] for one in time_steps[1:]] == [0, 0, -0.125, 0]
    assert all(len(one.observations["info_state"]) == 3 for one in time_steps)


def test_players_have_ids_and_numbers():
    found = ByPlayer(red=1.5, blue=2.5)
    assert found == {"red": 1.5, "blue": 2.5}
    assert (found["blue"], found[0], found[np.int64(1)]) == (2.5, 1.5, 2.5)
    for wrong in (2, -1, "green", None):
        with pytest.raises(KeyError, match="no player"):
            found[wrong]
    player = Player("blue", 1)
    assert player == "blue"
    assert player == 1
    assert player != "red"
    assert player != 0
    assert player != rl_environment.SIMULTANEOUS_PLAYER_ID
    assert player is not None
    assert player != None  # noqa: E711 - it is compared with what has no number
    assert ["x", "y"][player] == "y"
    assert {"blue": 7}[player] == 7
    for same in (copy.deepcopy(player), pickle.loads(pickle.dumps(player))):
        assert (same, int(same)) == ("blue", 1)


def test_step_begins_episodes():
    env = make(strike(), horizon=1)
    assert env.step([17]).first()
    assert env.step([STAY]).last()
    assert env.step([17]).first()


def test_specs():
    agents = [fighter("small", 1, (0, 0)), fighter("big", 2, (0, 4), simultaneous_attacks=2)]
    env = make(build(agents, attack_mapping={1: {2}, 2: {1}}, observers=[AbsolutePositionObserver]))
    assert (env.num_players, env.is_turn_based, env.num_actions_per_step) == (2, False, 2)
    assert (env.max_game_length, make(strike(), horizon=9).max_game_length) == (None, 9)
    spec = env.action_spec()
    assert {key: spec[key] for key in ("num_actions", "min", "max", "dtype")} == {
        "num_actions": 27, "min": 0, "max": 26, "dtype": int,
    }  # fmt: skip
    assert spec["small"] == {"num_actions": 18, "min": 0, "max": 17, "dtype": int}
    spec = env.observation_spec()
    assert (spec["info_state"], spec["legal_actions"], spec["current_player"]) == ((1,), (27,), ())
    assert spec["small"]["legal_actions"] == (18,)
    hot = OpenSpielWrapper(env.sim, one_hot=True)
    assert hot.observation_spec()["info_state"] == hot.observation_spec()["big"]["info_state"]
    state = hot.reset(seed=0).observations["info_state"]["big"]
    assert state == [float(k == 4) for k in range(15)]  # row 0, column 4 of 3 x 5


@pytest.mark.parametrize("manager", MANAGERS)
@pytest.mark.parametrize("name", shipped)
def test_shipped_simulations(name, manager):
    env = OpenSpielWrapper(manager(RavelDiscreteWrapper(Digest(shipped[name]()))), horizon=12)
    rng = np.random.default_rng(0)
    lasts = 0
    spec = env.action_spec()
    for time_step in play(env, 30, lambda before, step: any_legal(before, rng), seed=1):
        lasts += time_step.last()
        parts = [time_step.observations["info_state"], time_step.observations["legal_actions"]]
        parts += [] if time_step.first() else [time_step.rewards, time_step.discounts]
        assert (time_step.rewards is None) == (time_step.discounts is None) == time_step.first()
        for part in parts:
            assert list(part) == list(env.discounts)
            assert all(part[k] is part[key] for k, key in enumerate(part))
        for agent_id, legal in parts[1].items():
            assert legal
            assert legal == sorted(set(legal))
            assert 0 <= legal[0] <= legal[-1] <= spec[agent_id]["max"]
    assert lasts >= 1


# --- ends ---


@pytest.mark.parametrize("manager", MANAGERS)
def test_endings_terminated(manager):
    _, time_step, count = strike_at(3, 5, manager, discounts=0.9)
    assert count == 3
    assert time_step.rewards == {"knight": 0.875}
    assert time_step.discounts == {"knight": 0.0}


@pytest.mark.parametrize("manager", MANAGERS)
def test_endings_truncated(manager):
    _, time_step, count = strike_at(None, 3, manager, discounts=0.9)
    assert count == 3
    assert time_step.rewards == {"knight": -0.125}
    assert time_step.discounts == {"knight": 0.9}


@pytest.mark.parametrize("manager", MANAGERS)
def test_endings_terminated_at_the_horizon(manager):
    _, time_step, count = strike_at(3, 3, manager, discounts=0.9)
    assert count == 3
    assert time_step.discounts == {"knight": 0.0}


def test_endings_final_observation():
    env, time_step, _ = strike_at(3, 5)
    seen = time_step.observations["info_state"]["knight"]
    assert seen == env.sim.sim.get_obs("knight") != env.reset().observations["info_state"]["knight"]


def test_an_agent_that_ends_first():
    env = make(skirmish(), horizon=3)
    start = env.reset(seed=0).observations["info_state"]["blue0"]
    died, after, cut = (env.step([action, STAY, STAY]) for action in (STRIKE, STAY, STAY))
    null = env.agents["blue0"].null_observation
    assert died.rewards == {"red": 0.875, "blue0": -1.125, "blue1": -0.125}
    assert died.observations["info_state"]["blue0"] not in (null, start)
    assert died.observations["legal_actions"]["blue0"] == [env.agents["blue0"].null_action] == [4]
    assert after.observations["info_state"]["blue0"] == null
    assert after.rewards == {"red": -0.125, "blue0": 0.0, "blue1": -0.125}
    assert after.discounts == dict.fromkeys(after.rewards, 1.0)
    assert cut.last()
    assert cut.discounts == {"red": 1.0, "blue0": 0.0, "blue1": 1.0}


def test_those_whose_end_waits_for_their_turn_get_nothing_after_the_horizon():
    agents = [fighter("red", 1, (1, 1)), fighter("far", 2, (1, 4)), fighter("near", 2, (1, 0))]
    env = make(build(agents, attack_mapping={1: {2}}), TurnBasedManager, horizon=1)
    env.reset(seed=0)
    last = env.step([STRIKE])  # far is on turn next, so that near is not reported yet
    assert last.last()
    assert env.sim.sim.get_done("near")
    assert last.discounts == {"red": 1.0, "far": 1.0, "near": 0.0}


def test_agents_without_null_points_show_what_the_simulation_says():
    env = make(MultiCorridor(end=4, num_agents=2), TurnBasedManager)
    for agent in env.agents.values():
        agent.null_observation = agent.null_action = None
    rng = np.random.default_rng(0)
    time_step = env.reset()
    while not env.sim.done_agents:
        time_step = env.step(any_legal(time_step, rng))
    (gone,) = env.sim.done_agents
    assert time_step.mid()
    time_step = env.step(any_legal(time_step, rng))
    assert time_step.observations["info_state"][gone] == env.sim.sim.get_obs(gone)
    assert time_step.observations["legal_actions"][gone] == [0]


def test_a_horizon_hands_out_rewards_that_wait():
    env = make(skirmish(), TurnBasedManager, horizon=2)
    *_, last = play(env, 2, lambda before, step: [STAY], seed=0)
    # Blue1 would have been on turn, blue0 and red have acted since they were.
    assert last.last()
    assert last.rewards == {"red": -0.125, "blue0": -0.125, "blue1": 0.0}


# --- seeds ---


@pytest.mark.parametrize("manager", MANAGERS)
def test_seeds(manager):
    def run(start):
        env = make(skirmish(), manager, horizon=4)
        rng = np.random.default_rng(3)
        reset = {"seed": 8} if start == "reset" else {}
        if start == "seed":
            env.seed(8)
        return play(env, 20, lambda before, step: any_legal(before, rng), **reset)

    assert run("reset") == run("seed")
    assert run("reset") == run("reset")


def test_a_seed_decides_who_is_first():
    env = make(skirmish(), TurnBasedManager, horizon=1)
    firsts = [env.reset(seed=0).observations["current_player"] for _ in range(3)]
    env.seed(0)
    firsts.append(env.reset().observations["current_player"])
    assert firsts == ["red"] * 4
    assert env.reset().observations["current_player"] == "blue0"  # without one, turns go on


@pytest.mark.parametrize("manager", MANAGERS)
def test_a_refused_seed_changes_nothing(manager):
    env, twin = (make(skirmish(), manager, horizon=4) for _ in range(2))
    for one in (env, twin):
        one.reset(seed=0)
    for seed, error in ((-1, ValueError), ("a", TypeError), (True, TypeError)):
        with pytest.raises(error, match="seed must be an int"):
            env.reset(seed=seed)
    stay = [STAY] * env.num_actions_per_step
    assert env.step(stay) == twin.step(stay)


def test_a_seed_counts_for_one_reset():
    env, sim = make(corridor()), AllStepManager(RavelDiscreteWrapper(corridor()))
    env.seed(4)
    starts = [env.reset().observations["info_state"] for _ in range(10)]
    assert starts == [sim.reset(**({} if k else {"seed": 4})) for k in range(10)]
    assert len({one["walker"] for one in starts}) > 1


# --- legal actions ---


@pytest.mark.parametrize("manager", MANAGERS)
def test_legal_actions_are_those_of_the_masks(manager):
    env = make(skirmish(), manager)
    legal = env.reset(seed=0).observations["legal_actions"]
    vec = skirmish().vectorize(1, seed=0).ravel(observations=False)
    vec.reset()
    masks = vec.action_masks()
    assert legal["red"] == np.flatnonzero(masks["fighter_1"][0, 0]).tolist()
    assert legal["blue1"] == np.flatnonzero(masks["fighter_2"][0, 1]).tolist()
    # Row by row of moves; red at (1, 1) cannot go left, where blue is.
    assert legal["red"] == [k for k in range(18) if k % 9 != 3]
    assert env.get_legal_actions("red") == legal["red"]


def test_without_masks_all_actions_are_legal():
    env = make(MultiCorridor(end=4, num_agents=2))
    assert env.reset().observations["legal_actions"] == {"agent0": [0, 1, 2], "agent1": [0, 1, 2]}


def test_a_subclass_may_know_better():
    class Calm(OpenSpielWrapper):
        def get_legal_actions(self, agent_id):
            return [one for one in super().get_legal_actions(agent_id) if one < 9]

    env = Calm(AllStepManager(RavelDiscreteWrapper(skirmish())))
    assert max(env.reset(seed=0).observations["legal_actions"]["red"]) == 8


# --- bad input ---


@pytest.mark.parametrize(
    ("actions", "kind", "message"),
    [
        ([4, 4], ValueError, "list of 3, for red, blue0, blue1, got 2"),
        ([4, 4, 18], ValueError, r"agent 'blue1' is 18, not in Discrete\(18\)"),
        ([4, -1, 4], ValueError, r"agent 'blue0' is -1"),
        ([4.0, 4, 4], ValueError, r"agent 'red' is 4\.0"),
        ([None, 4, 4], ValueError, r"agent 'red' is None"),
        ({"red": 4, "blue0": 4, "blue1": 4}, TypeError, "must be a list in the order .* got dict"),
        (4, TypeError, "must be a list in the order of the players, got int"),
    ],
)
def test_bad_actions_change_nothing(actions, kind, message):
    env, other = make(skirmish()), make(skirmish())
    env.reset(seed=0), other.reset(seed=0)
    with pytest.raises(kind, match=message):
        env.step(actions)
    assert env.step([13, 1, 2]) == other.step([13, 1, 2])


def test_actions_of_done_agents_are_dropped():
    env = make(skirmish())
    env.reset(seed=0)
    env.step([STRIKE, STAY, STAY])
    assert env.step([STAY, "whatever", STAY]).mid()


def test_a_turn_takes_one_action():
    env = make(skirmish(), TurnBasedManager)
    env.reset(seed=0)
    with pytest.raises(ValueError, match="list of 1, for red, got 3"):
        env.step([4, 4, 4])


@pytest.mark.parametrize(
    ("kwargs", "kind", "message"),
    [
        ({"discounts": "1"}, TypeError, "discount of 'knight' must be a number, got '1'"),
        ({"discounts": 1.5}, ValueError, r"discount of 'knight' must be in \[0, 1\], got 1\.5"),
        ({"discounts": {"king": 1}}, ValueError, "exactly the agents knight, got king"),
        ({"discounts": {}}, ValueError, "exactly the agents knight, got none"),
        ({"horizon": 0}, ValueError, "horizon must be 1 or more, or None for no end, got 0"),
        ({"horizon": 2.5}, TypeError, r"horizon must be an int or None, got 2\.5"),
        ({"one_hot": 1}, TypeError, "one_hot must be True or False, got 1"),
    ],
)
def test_bad_parameters(kwargs, kind, message):
    with pytest.raises(kind, match=message):
        make(strike(), **kwargs)


def test_discounts_can_be_set():
    env = make(skirmish())
    with pytest.raises(ValueError, match="exactly the agents red, blue0, blue1, got red"):
        env.discounts = {"red": 0.5}
    assert env.discounts == {"red": 1.0, "blue0": 1.0, "blue1": 1.0}
    env.discounts = 0.5
    assert env.discounts[2] == 0.5


def test_what_openspiel_cannot_hold():
    with pytest.raises(TypeError, match="needs a TurnBasedManager or an AllStepManager, got Rav"):
        OpenSpielWrapper(RavelDiscreteWrapper(strike()))
    with pytest.raises(TypeError, match=r"'knight' has observation_space Dict.*\n.*RavelDisc"):
        OpenSpielWrapper(AllStepManager(RavelDiscreteActionWrapper(strike())))
    with pytest.raises(TypeError, match=r"observation_space Box[\s\S]*AbsolutePositionObserver"):
        flat = FlattenWrapper(strike(), actions=False)
        OpenSpielWrapper(AllStepManager(RavelDiscreteActionWrapper(flat)))
    agents = [fighter("a", 1, (0, 0), move_range=200)]
    with pytest.raises(ValueError, match=r"'a' has 321602 actions and OpenSpiel wants them listed"):
        make(build(agents, observers=[AbsolutePositionObserver]))
    agents = [fighter("a", 1, (0, 0), view_range=2)]
    with pytest.raises(ValueError, match=r"'a' has \d+ observations and OpenSpiel wants them"):
        make(build(agents), one_hot=True)


def test_nothing_has_happened_yet():
    with pytest.raises(ValueError, match=r"call reset\(\) before get_time_step\(\)"):
        make(strike()).get_time_step()


def test_repr():
    assert repr(make(strike())).startswith("OpenSpielWrapper(AllStepManager(RavelDiscreteWrapper(")


EXAMPLES = Path(__file__).parents[2] / "examples"


@pytest.fixture(autouse=True)
def _seeded():
    # OpenSpiel's agents draw from NumPy's global stream.
    np.random.seed(0)  # noqa: NPY002


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
    env = make(corridor() if one_hot else skirmish(), manager, one_hot=one_hot, horizon=20)
    size, count = env.observation_spec()["info_state"][0], env.action_spec()["num_actions"]
    agents = [AGENTS[name](player, count, size) for player in range(env.num_players)]
    for _ in range(6):
        episode(env, agents)
    if name != "random":
        assert agents[0].loss is not None


def test_agents_play_by_their_ids():
    env = make(skirmish(), TurnBasedManager, horizon=20)
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
    envs = vector_env.SyncVectorEnv([make(corridor(), horizon=20) for _ in range(3)])
    agent = random_agent.RandomAgent(0, envs.envs[0].action_spec()["num_actions"])
    time_steps = envs.reset()
    for _ in range(25):
        outputs = [agent.step(time_step) for time_step in time_steps]
        time_steps, rewards, done, _ = envs.step(outputs, reset_if_done=True)
    assert len(rewards) == len(done) == 3
    assert not any(time_step.last() for time_step in time_steps)


def test_a_q_learner_finds_the_way():
    env = make(corridor(), horizon=20)
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
