"""What all trainers have in common: who acts by which policy, and episodes of what they did."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from abmarl.managers.simulation_manager import SimulationManager
from abmarl.policies.policy import Policy, require_discrete
from abmarl.rollout.collect import collect
from abmarl.rollout.policies import AgentPolicies, bind_policies, check_spaces, choose_actions
from abmarl.sim.agents import is_agent
from abmarl.sim.layout import POINT

# Observations, actions, rewards and dones of an episode: agent id -> list.
Episode = tuple[dict[str, list], dict[str, list], dict[str, list], dict[str, list]]


@dataclass
class Trajectories:
    """K episodes of single agents, one per column, of at most T steps.

    Attributes:
        observations: int64 [T, K], what was seen before each step.
        actions: int64 [T, K].
        rewards: float64 [T, K], what each step brought.
        lengths: int64 [K], how many steps each episode has; what comes after does not matter.
    """

    observations: np.ndarray
    actions: np.ndarray
    rewards: np.ndarray
    lengths: np.ndarray

    @classmethod
    def of(
        cls,
        observations: Sequence[Sequence[int]],
        actions: Sequence[Sequence[int]],
        rewards: Sequence[Sequence[float]],
    ) -> "Trajectories":
        """Make episodes of lists, one list per episode.

        Args:
            observations: what was seen; the observation after the last step may be there too.
            actions: actions.
            rewards: as many as actions.

        Raises:
            ValueError: the lists do not have as many entries as one another.
        """
        lengths = np.array([len(one) for one in actions], np.int64)
        shape = lengths.max(initial=0), len(lengths)
        made = cls(np.zeros(shape, int), np.zeros(shape, int), np.zeros(shape), lengths)
        for k, (seen, done, got) in enumerate(zip(observations, actions, rewards, strict=True)):
            n = len(done)
            if len(got) != n or len(seen) not in (n, n + 1):
                raise ValueError(
                    f"episode {k} has {len(seen)} observations, {n} actions and {len(got)} "
                    f"rewards; it must have as many rewards as actions, and one observation more"
                )
            made.observations[:n, k] = seen[:n]
            made.actions[:n, k], made.rewards[:n, k] = done, got
        return made

    @property
    def valid(self) -> np.ndarray:
        """Which entries are steps of the episodes, bool [T, K]."""
        return np.arange(len(self.rewards))[:, None] < self.lengths

    def __len__(self) -> int:
        return len(self.lengths)


class MultiPolicyTrainer(ABC):
    """Several policies, each for some of the agents of a simulation.

    Args:
        sim: a simulation manager, or a vectorised simulation.
        policies: policy id -> policy.
        policy_mapping_fn: function of an agent's id that returns the id of its policy.

    Attributes:
        sim: as given.
        policies: as given.
        policy_mapping_fn: as given.

    Raises:
        TypeError: one of the arguments is of the wrong kind.
        ValueError: an agent has no policy, or one with other spaces than its own.
    """

    def __init__(
        self,
        sim: Any,
        policies: Mapping[str, Policy],
        policy_mapping_fn: Callable[[str], str],
    ) -> None:
        vectorised = is_vectorised(sim)
        if not vectorised and not isinstance(sim, SimulationManager):
            raise TypeError(
                f"{type(self).__name__} needs a simulation manager or a vectorised simulation, "
                f"got {type(sim).__name__}; write AllStepManager(sim)"
            )
        if not isinstance(policies, Mapping) or not policies:
            raise TypeError(f"policies must be a dict of id to Policy, got {policies!r:.100}")
        for policy_id, policy in policies.items():
            if not isinstance(policy, Policy):
                raise TypeError(
                    f"policies[{policy_id!r}] must be a Policy, got {type(policy).__name__}"
                )
        if not callable(policy_mapping_fn):
            raise TypeError(
                f"policy_mapping_fn must be a function of an agent's id, got {policy_mapping_fn!r}"
            )
        self.sim = sim
        self.policies = dict(policies)
        self.policy_mapping_fn = policy_mapping_fn
        if vectorised:
            learning = [one for group in sim.groups.values() for one in group.agent_ids]
        else:
            learning = [one for one, agent in sim.agents.items() if is_agent(agent)]
        self._policy_ids = {agent_id: self._policy_id(agent_id) for agent_id in learning}
        self._play = GroupPlay(sim, self.policies, self._policy_ids) if vectorised else None
        if not vectorised:
            for agent_id in learning:
                check_spaces(self._policy_of(agent_id), sim.agents[agent_id], f"agent {agent_id!r}")

    def compute_actions(self, obs: Mapping[str, Any]) -> dict[str, Any]:
        """Ask the policies what to do.

        Args:
            obs: observations as the simulation reports them: by agent id, or of a vectorised
                simulation by group.

        Returns:
            Actions by agent id, without agents that are done; or by group.

        Raises:
            ValueError: an observation comes from an agent that does not learn.
        """
        if self._play is not None:
            return self._play.compute_actions(obs)
        done = self.sim.done_agents
        for agent_id in obs:
            if agent_id not in self._policy_ids:
                raise ValueError(
                    f"observation of {agent_id!r}, which is no learning agent of the simulation"
                )
        return {
            agent_id: self._policy_of(agent_id).compute_action(one)
            for agent_id, one in obs.items()
            if agent_id not in done
        }

    def generate_episode(
        self,
        horizon: int = 200,
        render: bool = False,
        log: Callable[[int, dict, tuple], None] | None = None,
        **kwargs: Any,
    ) -> Episode:
        """Play an episode.

        Args:
            horizon: steps after which the episode ends at the latest.
            render: whether to render the simulation before each step and at the end.
            log: called as ``log(step, actions, output)`` after the reset (step 0, no actions) and
                after every step; output is what `SimulationManager.step` returns.
            **kwargs: for the reset of the simulation, ``seed`` for example.

        Returns:
            Observations, actions, rewards and dones, dicts of lists by agent id. The k-th reward
            and done are those reported after the k-th action, and there is one observation more:
            the first. Where agents take turns, the horizon may come before the outcome of an
            agent's last action; and what an agent is rewarded with before its first action belongs
            to no action and is left out, only the log has it.

        Raises:
            TypeError: the simulation is a vectorised one, or `horizon` is not an int.
            ValueError: `horizon` is less than 1.
        """
        if self._play is not None:
            raise TypeError(
                "generate_episode plays a simulation manager; the episodes of a vectorised "
                "simulation come from generate_trajectories"
            )
        check_horizon(horizon)
        obs = self.sim.reset(**kwargs)
        for policy in self.policies.values():
            policy.reset()
        observations = {agent_id: [one] for agent_id, one in obs.items()}
        actions: dict[str, list] = {agent_id: [] for agent_id in obs}
        rewards: dict[str, list] = {agent_id: [] for agent_id in obs}
        dones: dict[str, list] = {agent_id: [] for agent_id in obs}
        if log is not None:
            log(0, {}, (obs, {}, {}, {}))
        for step in range(1, horizon + 1):
            if render:
                self.sim.render()
            chosen = self.compute_actions(obs)
            output = self.sim.step(chosen)
            if log is not None:
                log(step, chosen, output)
            for agent_id, action in chosen.items():
                actions[agent_id].append(action)
            obs, reward, done, _ = output
            for agent_id in obs:
                if agent_id not in observations:
                    observations[agent_id] = [obs[agent_id]]
                    actions[agent_id], rewards[agent_id], dones[agent_id] = [], [], []
                    continue
                observations[agent_id].append(obs[agent_id])
                rewards[agent_id].append(reward[agent_id])
                dones[agent_id].append(done[agent_id])
            if done["__all__"]:
                break
        if render:
            self.sim.render()
        return observations, actions, rewards, dones

    def generate_trajectories(self, horizon: int = 200, **kwargs: Any) -> dict[str, Trajectories]:
        """Play an episode, in all worlds of a vectorised simulation, for algorithms on tables.

        A world counts until its first end, so that long episodes count as much as short ones.

        Args:
            horizon: steps after which an episode ends at the latest.
            **kwargs: ``seed`` for the simulation; others as for `generate_episode`.

        Returns:
            policy id -> the episodes of its agents, in the order of worlds and agents.

        Raises:
            TypeError: a space of a policy is not `Discrete`.
        """
        check_horizon(horizon)
        for policy_id, policy in self.policies.items():
            for side in ("observation_space", "action_space"):
                require_discrete(f"{side} of policy {policy_id!r}", getattr(policy, side))
        if self._play is not None:
            for policy in self.policies.values():
                policy.reset()
            return self._play.trajectories(horizon, **kwargs)
        found: dict[str, list] = {policy_id: [] for policy_id in self.policies}
        observations, actions, rewards, _ = self.generate_episode(horizon, **kwargs)
        for agent_id, done in actions.items():
            # An action whose outcome was not reported before the horizon has no reward.
            known = len(rewards[agent_id])
            one = observations[agent_id], done[:known], rewards[agent_id]
            found[self._policy_ids[agent_id]].append(one)
        return {
            policy_id: Trajectories.of(*(zip(*ones, strict=True) if ones else ((), (), ())))
            for policy_id, ones in found.items()
        }

    @abstractmethod
    def train(self, **kwargs: Any) -> Any:
        """Improve the policies; this is the algorithm's."""

    def _policy_id(self, agent_id: str) -> str:
        policy_id = self.policy_mapping_fn(agent_id)
        if policy_id not in self.policies:
            raise ValueError(
                f"policy_mapping_fn maps agent {agent_id!r} to {policy_id!r}, which is not among "
                f"the policies {', '.join(map(repr, self.policies))}"
            )
        return policy_id

    def _policy_of(self, agent_id: str) -> Policy:
        return self.policies[self._policy_ids[agent_id]]


class SinglePolicyTrainer(MultiPolicyTrainer):
    """One policy for all agents of a simulation.

    Args:
        sim: a simulation manager, or a vectorised simulation.
        policy: the policy; all learning agents have its spaces.

    Raises:
        TypeError: one of the arguments is of the wrong kind.
        ValueError: an agent has other spaces than the policy.
    """

    def __init__(self, sim: Any, policy: Policy) -> None:
        if not isinstance(policy, Policy):
            raise TypeError(f"policy must be a Policy, got {type(policy).__name__}")
        super().__init__(sim, {"policy": policy}, lambda agent_id: "policy")

    @property
    def policy(self) -> Policy:
        """The policy of all agents."""
        return self.policies["policy"]


class GroupPlay:
    """The groups of a vectorised simulation, acting by the policies of their agents.

    Args:
        vec: a vectorised simulation.
        policies: policy id -> policy.
        policy_ids: agent id -> policy id.

    Raises:
        ValueError: a policy has other spaces than the group of its agent.
    """

    def __init__(
        self, vec: Any, policies: Mapping[str, Policy], policy_ids: Mapping[str, str]
    ) -> None:
        self.vec, self.policies, self.policy_ids = vec, policies, policy_ids
        self._acting = {
            name: AgentPolicies([policies[policy_ids[agent_id]] for agent_id in group.agent_ids])
            for name, group in vec.groups.items()
        }
        self._bound = bind_policies(vec, self._acting)

    def compute_actions(self, obs: Any) -> dict[str, Any]:
        """Return actions by group, for the agents that act now."""
        return choose_actions(self.vec, self._bound, obs, self.vec.infos()["active"])

    def trajectories(self, horizon: int, seed: int | None = None) -> dict[str, Trajectories]:
        """Step all worlds from a reset on and cut out the first episode of each.

        Args:
            horizon: how many steps at most.
            seed: seed of the reset; None goes on with the worlds' random streams.

        Returns:
            policy id -> the episodes of its agents.
        """
        steps = min(horizon, self.vec.horizon or horizon)
        rollout = collect(self.vec, self._acting, steps, seed=seed, progress=False)
        if rollout.interrupted:
            # Ctrl-C ends the training and not only this rollout, of which nothing is learned.
            raise KeyboardInterrupt
        last = np.where(rollout.ended.any(axis=0), rollout.ended.argmax(axis=0), steps - 1)
        before_end = np.arange(len(rollout.ended))[:, None] <= last
        found: dict[str, list] = {policy_id: [] for policy_id in self.policies}
        for name, group in rollout.groups.items():
            lengths = (rollout.active[name] & before_end[:, :, None]).sum(axis=0)
            columns = (
                rollout.observations[name][POINT],
                rollout.actions[name][POINT],
                rollout.rewards[name],
            )
            for agent, agent_id in enumerate(group.ids):
                mine = [column[:, :, agent] for column in columns]
                found[self.policy_ids[agent_id]].append((*mine, lengths[:, agent]))
        return {policy_id: _side_by_side(ones) for policy_id, ones in found.items()}


def is_vectorised(sim: Any) -> bool:
    """Return whether it is a vectorised simulation, wrapped or not."""
    return hasattr(sim, "groups") and hasattr(sim, "num_envs")


def check_horizon(value: Any, name: str = "horizon") -> None:
    """Refuse what is not a number of steps or episodes.

    Raises:
        TypeError: it is not an int.
        ValueError: it is less than 1.
    """
    if isinstance(value, bool) or not isinstance(value, int | np.integer):
        raise TypeError(f"{name} must be an int, got {value!r:.60}")
    if value < 1:
        raise ValueError(f"{name} must be 1 or more, got {value}")


def _side_by_side(ones: list[tuple[np.ndarray, ...]]) -> Trajectories:
    """Return agents by worlds, [T, B] each, as episodes in the order of worlds and agents."""
    if not ones:
        return Trajectories.of((), (), ())
    seen, done, got, lengths = (np.stack(parts, axis=-1) for parts in zip(*ones, strict=True))
    steps = len(got)
    return Trajectories(
        seen.reshape(steps, -1).astype(np.int64),
        done.reshape(steps, -1).astype(np.int64),
        got.reshape(steps, -1),
        lengths.ravel(),
    )
