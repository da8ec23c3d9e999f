"""Learn a table by Monte Carlo control, in one simulation and in many worlds at once.

Run it:  python examples/monte_carlo.py
"""

from abmarl.examples import MultiCorridor
from abmarl.gridworld.actor import BinaryAttackActor, CrossMoveActor
from abmarl.gridworld.agent import (
    AttackingAgent,
    GridObservingAgent,
    GridWorldAgent,
    MovingAgent,
)
from abmarl.gridworld.done import ActiveDone
from abmarl.gridworld.observer import PositionCenteredEncodingObserver
from abmarl.gridworld.smart import SmartGridWorldSimulation
from abmarl.gridworld.state import HealthState, PositionState
from abmarl.managers import TurnBasedManager
from abmarl.policies import EpsilonSoftPolicy
from abmarl.sim.wrappers import RavelDiscreteWrapper
from abmarl.trainers import MonteCarloTrainer


class Forager(MovingAgent, GridObservingAgent, AttackingAgent):
    """Sees, moves and collects within one cell."""

    def __init__(self, **kwargs):
        super().__init__(
            view_range=1, move_range=1, attack_range=1, attack_strength=1.0,
            attack_accuracy=1.0, initial_health=1.0, group="forager", **kwargs,
        )  # fmt: skip


def corridor():
    """Three agents that share a policy walk to the end of a corridor, by turns."""
    sim = TurnBasedManager(RavelDiscreteWrapper(MultiCorridor(end=6, num_agents=3)))
    agent = sim.agents["agent0"]
    policy = EpsilonSoftPolicy(agent.action_space, agent.observation_space, epsilon=0.1, seed=0)
    means = MonteCarloTrainer(sim, policy).train(iterations=400, gamma=0.95, seed=0)
    print(f"corridor: mean return {means[:20].mean():.1f} at first, {means[-20:].mean():.1f} now")


def forager():
    """Train a forager that sees one cell far in 1,024 worlds at once."""
    agents = {"forager": Forager(id="forager", encoding=1)}
    for i in range(8):
        agents[f"resource{i}"] = GridWorldAgent(id=f"resource{i}", encoding=1, initial_health=1.0)
    sim = SmartGridWorldSimulation.build_sim(
        5, 6,
        agents=agents,
        states=[PositionState, HealthState],
        actors=[BinaryAttackActor, CrossMoveActor],
        observers=[PositionCenteredEncodingObserver],
        dones=[ActiveDone],
        rewards={"kill": 1.0, "move_failed": -0.1, "step": -0.02},
        attack_mapping={1: {1}},
    )  # fmt: skip
    vec = sim.vectorize(num_envs=1024, seed=0, horizon=40).ravel()
    group = vec.groups["forager"]
    policy = EpsilonSoftPolicy(group.action_space, group.observation_space, epsilon=0.1, seed=0)
    means = MonteCarloTrainer(vec, policy).train(iterations=100, gamma=0.9)
    print(f"forager: mean return {means[0]:.1f} at first, {means[-10:].mean():.1f} now")


if __name__ == "__main__":
    corridor()
    forager()
