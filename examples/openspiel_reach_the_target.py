"""OpenSpiel's tabular Q learners: runners learn the way to a target that learns to shoot.

Run it:  python examples/openspiel_reach_the_target.py  (needs abmarl[openspiel])
"""

import numpy as np
from open_spiel.python.algorithms.tabular_qlearner import QLearner

from abmarl.examples import ReachTheTargetSim, RunningAgent, TargetAgent
from abmarl.external import OpenSpielWrapper
from abmarl.gridworld.observer import AbsolutePositionObserver
from abmarl.managers import AllStepManager
from abmarl.sim.wrappers import RavelDiscreteWrapper


def environment(rows=6, cols=9, num_runners=2):
    """Everybody knows where it is and nothing else, which makes a table of `rows * cols` rows."""
    agents = {f"runner{i}": RunningAgent(id=f"runner{i}") for i in range(num_runners)}
    agents["target"] = TargetAgent(
        id="target", initial_position=np.array([1, 7]), attack_range=1, attack_accuracy=0.2
    )
    encodings = {agent.encoding for agent in agents.values()}
    sim = ReachTheTargetSim.build_sim(
        rows, cols,
        agents=agents,
        overlapping=dict.fromkeys(encodings, encodings),
        observers=(AbsolutePositionObserver,),
        no_overlap_at_reset=False,
    )  # fmt: skip
    return OpenSpielWrapper(AllStepManager(RavelDiscreteWrapper(sim)), horizon=30)


def episode(env, agents, **kwargs):
    """Play an episode; the returns of all players."""
    time_step, returns = env.reset(), np.zeros(env.num_players)
    while not time_step.last():
        time_step = env.step([agent.step(time_step, **kwargs).action for agent in agents])
        returns += list(time_step.rewards.values())
    for agent in agents:
        agent.step(time_step, **kwargs)
    return returns


def main(episodes=600, seed=0):
    """Train everybody at once; the mean returns of the first and of the last 100 episodes."""
    np.random.seed(seed)  # noqa: NPY002 - OpenSpiel's agents draw from the global stream
    env = environment()
    env.seed(seed)
    num_actions = [env.action_spec()[player]["num_actions"] for player in env.discounts]
    agents = [QLearner(player, count) for player, count in enumerate(num_actions)]
    returns = np.array([episode(env, agents) for _ in range(episodes)])
    first, last = returns[:100].mean(axis=0), returns[-100:].mean(axis=0)
    for player, before, after in zip(env.discounts, first, last, strict=True):
        print(f"{player}: mean return {before:.2f} at first, {after:.2f} now")
    return first, last


if __name__ == "__main__":
    main()
