"""Policies of single agents on vectorised simulations, and their experience as trajectories."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from abmarl.algs.trajectories import Trajectories
from abmarl.policies.policy import Policy
from abmarl.rollout.agent_policies import AgentPolicies
from abmarl.rollout.channels import POINT
from abmarl.rollout.collect import collect
from abmarl.rollout.policies import bind_policies, choose_actions


def is_vectorised(sim: Any) -> bool:
    """Whether it is a vectorised simulation, wrapped or not."""
    return hasattr(sim, "groups") and hasattr(sim, "num_envs")


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

    def compute_actions(self, obs: Mapping[str, Any]) -> dict[str, Any]:
        """Actions by group, for the agents that act now."""
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


def _side_by_side(ones: list[tuple[np.ndarray, ...]]) -> Trajectories:
    """Agents by worlds, [T, B] each, as episodes in the order of worlds and agents."""
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
