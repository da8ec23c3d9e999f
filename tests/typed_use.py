"""Code of a user with a type checker: mypy reads it in `make lint`, nothing runs it."""

from typing import TYPE_CHECKING, Any

from abmarl.examples import MultiCorridor, team_battle
from abmarl.external import GymnasiumWrapper, PettingZooParallelWrapper
from abmarl.gridworld import (
    AttackingAgent,
    GridObservingAgent,
    MovingAgent,
    SmartGridWorldSimulation,
)
from abmarl.managers import AllStepManager
from abmarl.policies import RandomPolicy
from abmarl.rollout import Rollout, collect, save
from abmarl.sim import Agent, AgentBasedSimulation, check_simulation
from abmarl.sim.wrappers import FlattenWrapper, SARWrapper

if TYPE_CHECKING:
    from typing_extensions import assert_type


class Knight(MovingAgent, GridObservingAgent, AttackingAgent):
    """Several capabilities in one class."""


class Tick(AgentBasedSimulation):
    """A plain simulation, with the signatures that its interface asks for."""

    def __init__(self) -> None:
        self.agents = {"one": Agent(id="one")}
        self.steps = 0

    def reset(self, **kwargs: Any) -> None:
        self.steps = 0

    def step(self, action_dict: dict[str, Any], **kwargs: Any) -> None:
        self.steps += 1

    def render(self, **kwargs: Any) -> None: ...

    def get_obs(self, agent_id: str, **kwargs: Any) -> int:
        return self.steps

    def get_reward(self, agent_id: str, **kwargs: Any) -> float:
        return 1.0

    def get_done(self, agent_id: str, **kwargs: Any) -> bool:
        return False

    def get_all_done(self, **kwargs: Any) -> bool:
        return self.steps > 9

    def get_info(self, agent_id: str, **kwargs: Any) -> dict[str, Any]:
        return {}


class Doubled(SARWrapper):
    """A wrapper."""

    def wrap_reward(self, reward: float) -> float:
        return 2 * reward


def play() -> None:
    """Call what users call."""
    knight = Knight(id="knight", encoding=1, view_range=2, move_range=1)
    assert_type(knight.id, str)
    sim = SmartGridWorldSimulation.build_sim(5, 7, agents={"knight": knight})
    assert_type(sim, SmartGridWorldSimulation)
    manager = AllStepManager(Doubled(FlattenWrapper(MultiCorridor(end=5, num_agents=2))))
    obs = manager.reset(seed=0)
    obs, rewards, _, _ = manager.step(dict.fromkeys(obs, 0))
    assert_type(rewards, dict[str, Any])
    assert_type(check_simulation(Tick()).steps, int)
    agent = manager.agents["agent0"]
    policy = RandomPolicy(agent.action_space, agent.observation_space, seed=0)
    policy.compute_action(obs["agent0"])
    rollout = collect(team_battle().vectorize(num_envs=4, seed=0), {"red": "random"}, num_steps=5)
    assert_type(rollout, Rollout)
    save(rollout, "run.npz")
    GymnasiumWrapper(MultiCorridor(num_agents=1)).reset(seed=0)
    PettingZooParallelWrapper(team_battle()).reset(seed=0)
