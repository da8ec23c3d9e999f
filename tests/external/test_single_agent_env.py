"""Single worlds as Gymnasium environments."""

import subprocess
import sys

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env, data_equivalence

from abmarl.examples import MultiCorridor, foraging, maze_navigation, shipped
from abmarl.external import GymnasiumWrapper
from abmarl.external.gymnasium import SHIPPED
from abmarl.external.single_agent_env import only_learner
from abmarl.managers import AllStepManager, TurnBasedManager
from abmarl.sim.agents import is_agent
from abmarl.sim.wrappers import FlattenWrapper, RavelDiscreteWrapper, SuperAgentWrapper
from tests.support.grid_worlds import WINDOW, act, skirmish, strike

ATTACK, WAIT = act(attack=1), act()


def equal(one, other):
    """Whether two nested points are equal to the last bit, dtypes included."""
    return data_equivalence(one, other, exact=True)


@pytest.mark.parametrize("name", SHIPPED)
def test_check_env(name):
    pytest.importorskip("pygame")
    env = gymnasium.make(name)
    assert type(env.unwrapped) is GymnasiumWrapper
    check_env(env.unwrapped)


# Advice about action spaces, not about the environment.
no_advice = pytest.mark.filterwarnings("ignore:.*For Box action spaces, we recommend")


@no_advice
@pytest.mark.parametrize("name", shipped)
def test_check_env_with_a_super_agent(name):
    sim = shipped[name]()
    learners = [agent_id for agent_id, agent in sim.agents.items() if is_agent(agent)]
    env = GymnasiumWrapper(SuperAgentWrapper(sim, {"crew": learners}))
    check_env(env, skip_render_check=True)


@no_advice
@pytest.mark.parametrize(
    "wrap", [RavelDiscreteWrapper, FlattenWrapper, AllStepManager, TurnBasedManager]
)
def test_check_env_of_wrapped_simulations(wrap):
    check_env(GymnasiumWrapper(wrap(strike())), skip_render_check=True)


def test_every_shipped_simulation_with_one_learner_is_registered():
    found = set()
    for builder in shipped.values():
        try:
            only_learner(builder(), "test")
        except ValueError:
            continue
        found.add(builder.__name__)
    assert found | {"MultiCorridor"} == {one.builder for one in SHIPPED.values()}


@pytest.mark.parametrize("make", [foraging, maze_navigation])
@pytest.mark.parametrize("wrap", [lambda sim: sim, AllStepManager, TurnBasedManager])
def test_same_run_as_the_bare_simulation(make, wrap):
    env, sim = GymnasiumWrapper(wrap(make())), make()
    agent_id = env.agent_id
    assert env.simulation is not sim
    assert env.observation_space == sim.agents[agent_id].observation_space
    env.action_space.seed(3)
    for seed in (5, None):
        obs, info = env.reset(seed=seed)
        sim.reset(seed=seed)
        assert info == {}
        assert equal(obs, sim.get_obs(agent_id))
        for _ in range(20):
            action = env.action_space.sample()
            obs, reward, terminated, truncated, info = env.step(action)
            sim.step({agent_id: action})
            assert equal(obs, sim.get_obs(agent_id))
            assert (reward, terminated) == (sim.get_reward(agent_id), sim.get_done(agent_id))
            assert (truncated, info) == (False, {})


def test_corridor_through_a_manager():
    env = GymnasiumWrapper(AllStepManager(MultiCorridor(end=5, num_agents=1)))
    obs, _ = env.reset(seed=0)
    steps = 4 - obs["position"].item()
    found = [env.step(MultiCorridor.Actions.RIGHT) for _ in range(steps)]
    assert [one[2] for one in found] == [False] * (steps - 1) + [True]
    assert found[-1][1] == 5**2
    assert env.metadata["render_modes"] == []


def endings(env, attack_at, steps):
    """What every step of a strike returns, without observations that are not final."""
    env.reset(seed=0)
    found = [env.step(ATTACK if n == attack_at else WAIT) for n in range(1, steps + 1)]
    return [(terminated, truncated) for _, _, terminated, truncated, _ in found], found[-1]


@pytest.mark.parametrize("wrap", [lambda sim: sim, AllStepManager, TurnBasedManager])
@pytest.mark.parametrize(
    ("horizon", "attack_at", "last"),
    [(5, 3, (True, False)), (3, None, (False, True)), (3, 3, (True, False))],
)
def test_endings(wrap, horizon, attack_at, last):
    env = GymnasiumWrapper(wrap(strike()), horizon=horizon)
    found, (obs, reward, *_) = endings(env, attack_at, 3)
    assert found == [(False, False), (False, False), last]
    # The final observation: the victim, who is to the right, is there or is not.
    assert obs[WINDOW][1].tolist() == [0, 1, 0 if attack_at else 2]
    assert reward == (1.0 if attack_at else 0.0) - 0.125
    with pytest.raises(ValueError, match=r"call reset\(\) before step\(\)"):
        env.step(WAIT)
    assert env.reset()[0][WINDOW][1].tolist() == [0, 1, 2]
    assert endings(env, attack_at, 3)[0][-1] == last


@pytest.mark.parametrize(("attack_at", "last"), [(None, (False, True)), (3, (True, True))])
def test_endings_with_the_time_limit_of_gymnasium(attack_at, last):
    env = gymnasium.wrappers.TimeLimit(GymnasiumWrapper(strike()), 3)
    assert endings(env, attack_at, 3)[0] == [(False, False), (False, False), last]


def test_wrappers_of_gymnasium():
    env = GymnasiumWrapper(strike(), horizon=4)
    env = gymnasium.wrappers.FlattenObservation(gymnasium.wrappers.RecordEpisodeStatistics(env))
    obs, _ = env.reset(seed=0)
    assert obs.shape == (9,)
    for _ in range(4):
        *_, truncated, info = env.step(WAIT)
    assert truncated
    assert (info["episode"]["r"], info["episode"]["l"]) == (-0.5, 4)


def test_rendering():
    pytest.importorskip("pygame")
    from abmarl.render import Scene, frame

    env = GymnasiumWrapper(AllStepManager(strike()), render_mode="rgb_array")
    env.reset(seed=0)
    before = env.render()
    assert np.array_equal(before, frame(Scene.of(env.simulation)))
    env.step(ATTACK)
    assert not np.array_equal(before, env.render())


BAD = {
    "no simulation": (lambda: GymnasiumWrapper("sim"), TypeError, "a simulation or a manager"),
    "several": (
        lambda: GymnasiumWrapper(skirmish()),
        ValueError,
        "exactly one learning agent, SmartGridWorldSimulation has 3: red, blue0, blue1; use",
    ),
    "mode": (
        lambda: GymnasiumWrapper(strike(), render_mode="film"),
        ValueError,
        "render_mode must be None or",
    ),
    "mode without a grid": (
        lambda: GymnasiumWrapper(MultiCorridor(num_agents=1), render_mode="rgb_array"),
        ValueError,
        "cannot show MultiCorridor, which is no grid world",
    ),
    "horizon": (lambda: GymnasiumWrapper(strike(), horizon=0), ValueError, "1 or more, or None"),
    "kind of horizon": (
        lambda: GymnasiumWrapper(strike(), horizon=2.5),
        TypeError,
        "must be an int or None, got 2.5",
    ),
    "no mode": (
        lambda: GymnasiumWrapper(strike()).render(),
        ValueError,
        "nothing to render without a mode",
    ),
    "step before reset": (
        lambda: GymnasiumWrapper(strike()).step(WAIT),
        ValueError,
        r"call reset\(\) before step\(\)",
    ),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_input(case):
    call, error, message = BAD[case]
    with pytest.raises(error, match=message):
        call()


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda env: env.step(act(attack=2)), ValueError, "knight"),
        (lambda env: env.step({"jump": 0}), ValueError, "jump"),
        (lambda env: env.step(1), ValueError, "knight"),
        (lambda env: env.step({}), ValueError, r"'knight' is \{\}, which is not in Dict"),
        (lambda env: env.step({"attack": 0}), ValueError, "which is not in Dict"),
        (lambda env: env.step(act(move=(0, 0, 0))), ValueError, "knight"),
        (lambda env: env.reset(seed=-1), gymnasium.error.Error, "-1"),
        (lambda env: env.reset(seed="a"), gymnasium.error.Error, "a"),
        (lambda env: env.reset(seed=True), TypeError, "seed must be an int"),
    ],
)
def test_bad_input_changes_nothing(call, error, message):
    env, twin = (GymnasiumWrapper(strike(), horizon=3) for _ in range(2))
    for one in (env, twin):
        one.reset(seed=1)
        one.step(WAIT)
    before = env.np_random.bit_generator.state
    with pytest.raises(error, match=message):
        call(env)
    assert env.np_random.bit_generator.state == before
    for _ in range(2):
        found = [one.step(WAIT) for one in (env, twin)]
        assert equal(*found)
    assert found[0][3]


def test_who_is_done_has_ended_whatever_the_info_says():
    class Silent(MultiCorridor):
        def get_info(self, agent_id, **kwargs):
            return {"terminated": False, "truncated": False}

    env = GymnasiumWrapper(Silent(end=2, num_agents=1))
    env.reset(seed=0)
    for _ in range(2):
        *_, terminated, truncated, info = env.step(2)
        if terminated:
            break
    assert (terminated, truncated, info) == (True, False, {})


def test_names_are_registered_by_a_light_import():
    code = (
        "import sys, gymnasium\n"
        "gymnasium.make('abmarl.external.gymnasium:abmarl/MultiCorridor-v0', end=4)\n"
        "print(*(name for name in ('gym', 'torch', 'ray', 'pygame', 'matplotlib')"
        " if name in sys.modules))\n"
        "import abmarl.external.gymnasium"
    )
    light = (
        "import sys, abmarl.external.gymnasium\n"
        "print(*(name for name in sys.modules if 'gridworld' in name or 'numba' in name))"
    )
    for script in (code, light):
        done = subprocess.run(
            [sys.executable, "-W", "error", "-c", script], capture_output=True, text=True
        )
        assert (done.returncode, done.stdout.split()) == (0, []), done.stderr
