"""Run a simulation and write down everything that happens."""

import os
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from abmarl.policies.policy import Policy, RandomPolicy
from abmarl.sim.agents import is_agent
from abmarl.trainers.base import Episode, MultiPolicyTrainer, check_horizon, is_vectorised


class DebugTrainer(MultiPolicyTrainer):
    """Plays episodes without learning anything and writes them to text files.

    Args:
        sim: a simulation manager.
        policies: policy id -> policy; None: a `RandomPolicy` for every agent.
        policy_mapping_fn: function of an agent's id that returns the id of its policy.
        name: name of the output folder.
        output_dir: folder for the files; None: a new one with the name and the time of the day in
            ``~/abmarl_results``. It is made when it is needed.
        seed: seed of the random policies, which differ from one another.

    Attributes:
        output_dir: `Path` of the folder.

    Raises:
        TypeError: an argument is of the wrong kind.
        ValueError: an agent has no policy, or one with other spaces than its own; or policies are
            given without a mapping function or the other way round.
    """

    def __init__(
        self,
        sim: Any,
        policies: Mapping[str, Policy] | None = None,
        policy_mapping_fn: Callable[[str], str] | None = None,
        name: str = "DebugTrainer",
        output_dir: str | os.PathLike | None = None,
        seed: int | None = None,
    ) -> None:
        if is_vectorised(sim):
            raise TypeError(
                "DebugTrainer follows a single simulation in a manager; "
                "many worlds at once are kept by abmarl.rollout.collect"
            )
        if (policies is None) != (policy_mapping_fn is None):
            raise ValueError("policies and policy_mapping_fn belong together: give both or none")
        if policies is None or policy_mapping_fn is None:
            agents = getattr(sim, "agents", {})
            policies, policy_mapping_fn = _random_policies(agents, seed), _itself
        super().__init__(sim, policies, policy_mapping_fn)
        if output_dir is None:
            stamp = time.strftime("%Y-%m-%d_%H-%M-%S")
            output_dir = Path.home() / "abmarl_results" / f"{name}-{stamp}"
        self.output_dir = Path(output_dir)

    def train(
        self,
        iterations: int = 5,
        render: bool = False,
        horizon: int = 200,
        seed: int | None = None,
        **kwargs: Any,
    ) -> None:
        """Play episodes; nothing is learned.

        Episode i, counted from 0, is in two files: ``Episode_i_by_event.txt`` has everything in the
        order of time, up to the step under way when something fails, ``Episode_i_by_agent.txt``
        agent by agent.

        Args:
            iterations: how many episodes.
            render: whether to render every step.
            horizon: steps after which an episode ends at the latest.
            seed: seed of the simulation in the first episode; None goes on with its random stream.
            **kwargs: for the resets of the simulation.
        """
        check_horizon(iterations, "iterations")
        check_horizon(horizon)
        self.output_dir.mkdir(parents=True, exist_ok=True)
        for i in range(iterations):
            seeded = kwargs if seed is None or i else {**kwargs, "seed": seed}
            by_event = self.output_dir / f"Episode_{i}_by_event.txt"
            with by_event.open("w", encoding="utf-8", buffering=1) as file:

                def log(step: int, actions: dict, output: tuple, file: Any = file) -> None:
                    file.write(event_text(step, actions, output))

                episode = self.generate_episode(horizon, render, log, **seeded)
            by_agent = self.output_dir / f"Episode_{i}_by_agent.txt"
            by_agent.write_text(agents_text(episode), encoding="utf-8")


def event_text(step: int, actions: Mapping[str, Any], output: tuple) -> str:
    """Return what a reset or a step was, as text.

    Args:
        step: number of the step, 0 for the reset.
        actions: actions by agent id.
        output: observations, rewards, dones and infos by agent id.

    Returns:
        Lines, each with its line end.
    """
    obs, rewards, dones, _ = output
    lines = [f"Step {step}" if step else "Reset"]
    lines += [f"  {agent_id} action: {point_text(one)}" for agent_id, one in actions.items()]
    for agent_id, one in obs.items():
        lines.append(f"  {agent_id} observation: {point_text(one)}")
        if agent_id in rewards:
            lines.append(f"  {agent_id} reward: {point_text(rewards[agent_id])}")
            lines.append(f"  {agent_id} done: {bool(dones[agent_id])}")
    if "__all__" in dones:
        lines.append(f"  all done: {bool(dones['__all__'])}")
    return "\n".join(lines) + "\n"


def agents_text(episode: Episode) -> str:
    """Return an episode as text, agent by agent.

    Args:
        episode: observations, actions, rewards and dones by agent id.

    Returns:
        Lines, each with its line end.
    """
    lines = []
    for agent_id in episode[0]:
        lines.append(agent_id)
        kinds = ("observations", "actions", "rewards", "dones")
        for name, found in zip(kinds, episode, strict=True):
            lines.append(f"  {name}")
            lines += [f"    {k}: {point_text(one)}" for k, one in enumerate(found[agent_id])]
    return "".join(f"{line}\n" for line in lines)


def point_text(value: Any) -> str:
    """Return a point of a space on one line, with all its numbers and no dtypes."""
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{key}: {point_text(one)}" for key, one in value.items()) + "}"
    if isinstance(value, tuple):
        return "(" + ", ".join(map(point_text, value)) + ")"
    if isinstance(value, np.ndarray | np.generic):
        return str(value.tolist())
    return str(value)


def _itself(agent_id: str) -> str:
    return agent_id


def _random_policies(agents: Mapping[str, Any], seed: int | None) -> dict[str, Policy]:
    learning = [agent for agent in agents.values() if is_agent(agent)]
    seeds = np.random.SeedSequence(seed).generate_state(len(learning))
    return {
        agent.id: RandomPolicy(agent.action_space, agent.observation_space, seed=int(one))
        for agent, one in zip(learning, seeds, strict=True)
    }
