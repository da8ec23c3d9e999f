"""How an episode ends, in one table for all adapters.

A knight kills its victim, or not, in the third step, and the horizon is five steps or three. Every
adapter has to say the same, in the words of its library.
"""

from typing import NamedTuple

import numpy as np
import pytest

from abmarl.managers import AllStepManager
from abmarl.sim.conversion import RavelConversion
from abmarl.sim.wrappers import RavelDiscreteWrapper
from tests.support.grid_worlds import REWARDS, WINDOW, act, strike

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::UserWarning")

STEPS = 3


class End(NamedTuple):
    """What a library says in the step in which the episode ends.

    Attributes:
        step: the number of that step, from 1.
        terminated, truncated: its two flags.
        reward: of that step alone.
        window: the final observation, int [9].
    """

    step: int
    terminated: bool
    truncated: bool
    reward: float
    window: list


def play(step, attack_at):
    """Steps until it is over; ``step(action)`` returns None or how it ended, without the count."""
    for number in range(1, 10):
        end = step(act(1 if number == attack_at else 0))
        if end is not None:
            terminated, truncated, reward, window = end
            window = np.asarray(window).reshape(-1).tolist()
            return End(number, bool(terminated), bool(truncated), float(reward), window)
    pytest.fail("it never ends")


def through_gym(attack_at, horizon):
    pytest.importorskip("gym")
    from abmarl.external import GymWrapper

    return single(GymWrapper(strike(), horizon=horizon), attack_at)


def through_gymnasium(attack_at, horizon):
    from abmarl.external import GymnasiumWrapper

    return single(GymnasiumWrapper(strike(), horizon=horizon), attack_at)


def through_time_limit(attack_at, horizon):
    from gymnasium.wrappers import TimeLimit

    from abmarl.external import GymnasiumWrapper

    return single(TimeLimit(GymnasiumWrapper(strike()), horizon), attack_at)


def single(env, attack_at):
    env.reset(seed=0)

    def step(action):
        obs, reward, terminated, truncated, _ = env.step(action)
        return (terminated, truncated, reward, obs[WINDOW]) if terminated or truncated else None

    return play(step, attack_at)


def through_vector_env(mode):
    def through(attack_at, horizon):
        from abmarl.external import GymnasiumVectorEnv

        vec = strike().vectorize(2, seed=0, horizon=horizon, autoreset=mode == "SameStep")
        env = GymnasiumVectorEnv(vec, mode)
        env.reset(seed=0)

        def step(action):
            actions = {key: np.stack([one, one]) for key, one in action.items()}
            obs, rewards, terminated, truncated, infos = env.step(actions)
            if not (terminated[1] or truncated[1]):
                return None
            final = infos["final_obs"][1] if mode == "SameStep" else {WINDOW: obs[WINDOW][1]}
            return terminated[1], truncated[1], rewards[1], final[WINDOW]

        return play(step, attack_at)

    return through


def through_parallel(attack_at, horizon):
    pytest.importorskip("pettingzoo")
    from abmarl.external import PettingZooParallelWrapper

    env = PettingZooParallelWrapper(strike(), horizon=horizon)
    env.reset(seed=0)

    def step(action):
        obs, rewards, terminated, truncated, _ = env.step({"knight": action})
        if env.agents:
            return None
        return terminated["knight"], truncated["knight"], rewards["knight"], obs["knight"][WINDOW]

    return play(step, attack_at)


def through_aec(attack_at, horizon):
    pytest.importorskip("pettingzoo")
    from abmarl.external import PettingZooAECWrapper

    env = PettingZooAECWrapper(strike(), horizon=horizon)
    env.reset(seed=0)

    def step(action):
        env.step(action)
        obs, reward, terminated, truncated, _ = env.last()
        return (terminated, truncated, reward, obs[WINDOW]) if terminated or truncated else None

    return play(step, attack_at)


def through_sb3(attack_at, horizon):
    pytest.importorskip("stable_baselines3")
    from abmarl.external import SB3VecEnv

    env = SB3VecEnv(strike().vectorize(2, seed=0, horizon=horizon))
    env.reset()

    def step(action):
        number = ravelled(action)
        _, rewards, dones, infos = env.step(np.array([number, number]))
        if not dones[1]:
            return None
        late = infos[1]["TimeLimit.truncated"]
        return not late, late, rewards[1], infos[1]["terminal_observation"]

    return play(step, attack_at)


def through_openspiel(attack_at, horizon):
    pytest.importorskip("pyspiel")
    from abmarl.external import OpenSpielWrapper

    env = OpenSpielWrapper(
        AllStepManager(RavelDiscreteWrapper(strike())), discounts=0.5, horizon=horizon
    )
    env.reset()
    windows = RavelConversion(strike().agents["knight"].observation_space)

    def step(action):
        time_step = env.step([ravelled(action)])
        if not time_step.last():
            return None
        window = windows.restore(time_step.observations["info_state"]["knight"])
        # There are no flags: nothing comes after the end of a world, and something after a cut.
        over = time_step.discounts["knight"] == 0
        return over, not over, time_step.rewards["knight"], window[WINDOW]

    return play(step, attack_at)


def through_torchrl(attack_at, horizon):
    pytest.importorskip("torchrl")
    import torch

    from abmarl.external import TorchRLEnv

    env = TorchRLEnv(
        strike().vectorize(2, seed=0, horizon=horizon, autoreset=False), ravel_actions=True
    )
    now = [env.reset()]

    def step(action):
        now[0]["fighter", "action"] = torch.full((2, 1), ravelled(action))
        found = env.step(now[0])["next"]
        now[0] = found
        group = found["fighter"]
        if not group["done"][1, 0, 0]:
            return None
        ends = (group[key][1, 0, 0] for key in ("terminated", "truncated", "reward"))
        return *ends, group["observation", WINDOW][1, 0].numpy()

    return play(step, attack_at)


def through_rllib(attack_at, horizon):
    pytest.importorskip("ray")
    from abmarl.external import MultiAgentWrapper

    env = MultiAgentWrapper(strike(), horizon=horizon)
    env.reset(seed=0)

    def step(action):
        obs, rewards, terminated, truncated, _ = env.step({"knight": action})
        if not (terminated["__all__"] or truncated["__all__"]):
            return None
        ends = terminated["__all__"], truncated["__all__"]
        return *ends, rewards["knight"], obs["knight"][WINDOW]

    return play(step, attack_at)


def ravelled(action):
    return RavelConversion(strike().agents["knight"].action_space).convert(action)


ADAPTERS = {
    "gym": through_gym,
    "Gymnasium": through_gymnasium,
    "Gymnasium's TimeLimit": through_time_limit,
    "vector, same step": through_vector_env("SameStep"),
    "vector, next step": through_vector_env("NextStep"),
    "vector, disabled": through_vector_env("Disabled"),
    "PettingZoo, parallel": through_parallel,
    "PettingZoo, AEC": through_aec,
    "Stable-Baselines3": through_sb3,
    "OpenSpiel": through_openspiel,
    "TorchRL": through_torchrl,
    "RLlib": through_rllib,
}
# Who is done at the horizon has come to an end, not been cut off. Gymnasium's own wrapper knows
# of the horizon alone and says both.
BOTH = {"Gymnasium's TimeLimit"}

KILLED = REWARDS["kill"] + REWARDS["step"]
ALONE = [0, 0, 0, 0, 1, 0, 0, 0, 0]
WITH_VICTIM = [0, 0, 0, 0, 1, 2, 0, 0, 0]


@pytest.mark.parametrize("name", ADAPTERS)
def test_terminated(name):
    assert ADAPTERS[name](STEPS, 5) == End(STEPS, True, False, KILLED, ALONE)


@pytest.mark.parametrize("name", ADAPTERS)
def test_truncated(name):
    assert ADAPTERS[name](None, STEPS) == End(STEPS, False, True, REWARDS["step"], WITH_VICTIM)


@pytest.mark.parametrize("name", ADAPTERS)
def test_terminated_at_the_horizon(name):
    assert ADAPTERS[name](STEPS, STEPS) == End(STEPS, True, name in BOTH, KILLED, ALONE)
