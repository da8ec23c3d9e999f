"""Samples of worlds as columns: which agents a policy plays, and what they saw, did and got."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from ray.rllib.core.columns import Columns

from abmarl.external.learner_worlds import Slots
from abmarl.external.rllib.worlds import ACTION_MASK, OBSERVATIONS

_NO_MASKS = np.empty(0, np.float32)


def policy_of_agents(
    mapping_fn: Callable, agent_ids: Iterable[str], policies: Any
) -> dict[str, str]:
    """Ask a policy mapping function once for every agent, with None for the episode.

    Raises:
        ValueError: It names a policy that is not in `policies`.
    """
    found = {agent_id: mapping_fn(agent_id, None) for agent_id in agent_ids}
    for agent_id, policy in found.items():
        if policy not in policies:
            raise ValueError(
                f"policy_mapping_fn gives agent {agent_id!r} the policy {policy!r}, which is not "
                f"among the policies {', '.join(map(repr, policies))}"
            )
    return found


class PolicySlots:
    """The slots of a policy: its agents in all worlds, group by group and world by world.

    Attributes:
        groups: The `Slots` of each group.
        firsts: The first slot of each group among those of the policy.
        agent_ids: Ids of all agents.
        world_of, agent_of: int64 by slot: the world, and the number among `agent_ids`.
    """

    def __init__(self, groups: list[Slots]) -> None:
        self.groups = groups
        self.firsts: list[int] = []
        self.agent_ids: list[str] = []
        self.num_slots = 0
        worlds, agents = [], []
        for slots in groups:
            world, agent = np.divmod(np.arange(slots.num_slots), len(slots.agent_ids))
            worlds.append(world)
            agents.append(agent + len(self.agent_ids))
            self.firsts.append(self.num_slots)
            self.agent_ids += slots.agent_ids
            self.num_slots += slots.num_slots
        self.world_of, self.agent_of = np.concatenate(worlds), np.concatenate(agents)


def slots_of_policies(
    groups: Mapping[str, tuple[str, ...]], policy_of: Mapping[str, str], num_envs: int
) -> dict[str, PolicySlots]:
    """Return the slots of every policy that plays an agent, of agent ids by group."""
    found: dict[str, list[Slots]] = {}
    for group, ids in groups.items():
        for policy in dict.fromkeys(policy_of[agent_id] for agent_id in ids):
            columns = [k for k, agent_id in enumerate(ids) if policy_of[agent_id] == policy]
            chosen = None if len(columns) == len(ids) else np.array(columns)
            found.setdefault(policy, []).append(Slots(group, ids, num_envs, chosen))
    return {policy: PolicySlots(slots) for policy, slots in found.items()}


@dataclass(eq=False)
class SampleRows:
    """K rows in the order of time, and what was seen after the last row of every agent's episode.

    Attributes:
        starts: int64 [steps + 1], the first row of every step.
        slots: int64 [K], whose row it is.
        obs: float32 [K, width], or a dict of arrays when there are masks.
        outputs: Further columns of the module, with its actions.
        rewards: float32 [K].
        terminated, truncated: bool [K], the agent ended in this step.
        tail_of: int64 [K], the row of `tails` that follows, -1 where the agent's next row does.
        tails: Observations as `obs`.
    """

    starts: np.ndarray
    slots: np.ndarray
    obs: Any
    outputs: dict[str, np.ndarray]
    rewards: np.ndarray
    terminated: np.ndarray
    truncated: np.ndarray
    tail_of: np.ndarray
    tails: Any

    def __len__(self) -> int:
        return len(self.slots)


class SampleBuffer:
    """Collects `SampleRows` of one policy: `observe`, `act` and `end_step` in turns, then `finish`.

    Args:
        slots: The agents of the policy.
        masked: Whether observations hold action masks.
    """

    def __init__(self, slots: PolicySlots, masked: bool) -> None:
        self.slots = slots
        self._masked = masked
        self._acting: list[np.ndarray] = []
        self._obs: list[np.ndarray] = []
        self._masks: list[np.ndarray] = []
        self._outputs: dict[str, list[np.ndarray]] = {}
        self._ends: list[list[np.ndarray]] = []
        self._tails: list[tuple[np.ndarray, np.ndarray | None]] = []
        self._tail_of: list[np.ndarray] = []
        self._num_tails = 0

    def observe(self, active: dict, obs: dict, masks: dict) -> Any:
        """Take the observations of the agents that act now.

        Args:
            active: bool ``{group: [worlds, n]}``.
            obs: ``{group: [worlds, n, width]}``.
            masks: bool ``{group: [worlds, n, actions]}``, empty without masks.

        Returns:
            Their rows, for the module; None if no agent acts.
        """
        self._rows = [np.flatnonzero(slots.rows(active)) for slots in self.slots.groups]
        pairs = zip(self.slots.firsts, self._rows, strict=True)
        self._acting.append(np.concatenate([first + rows for first, rows in pairs]))
        seen, mask = self._floats(obs, self._rows), self._floats(masks, self._rows)
        self._obs.append(seen)
        self._masks.append(mask)
        return self._joined(seen, mask) if len(seen) else None

    def act(self, outputs: dict[str, np.ndarray], actions: dict[str, np.ndarray]) -> None:
        """Take the outputs of the module, and write its actions into those of the groups."""
        for key, values in outputs.items():
            self._outputs.setdefault(key, []).append(values)
        chosen = outputs[Columns.ACTIONS]
        for slots, rows, part in self._parts():
            slots.put(actions, rows, chosen[part])

    def random_outputs(self, sampled: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
        """Return the outputs of a module that acts as sampled."""
        return {Columns.ACTIONS: self._taken(sampled, self._rows)}

    def end_step(self, results: tuple) -> None:
        """Take the results of the step: observations, rewards, terminated, truncated and infos."""
        obs, *ends, infos = results
        columns = [self._taken(one, self._rows) for one in ends]
        self._ends.append(columns)
        done = columns[1] | columns[2]
        tails = [
            slots.final_observations(rows[done[part]], obs, infos).astype(np.float32)
            for slots, rows, part in self._parts()
            if done[part].any()
        ]
        count = int(done.sum())
        numbers = np.full(len(done), -1)
        numbers[done] = np.arange(self._num_tails, self._num_tails + count)
        self._tail_of.append(numbers)
        self._num_tails += count
        if count:
            # No agent acts on its last observation: no action is masked.
            self._tails.append((np.concatenate(tails), None))

    def finish(self, obs: dict, masks: dict) -> SampleRows | None:
        """Return the rows, or None if no agent acted.

        The present observations are the last ones of episodes that go on.
        """
        acting = np.concatenate(self._acting)
        if not len(acting):
            return None
        tail_of = np.concatenate(self._tail_of)
        self._add_present(obs, masks, acting, tail_of)
        rewards, terminated, truncated = map(np.concatenate, zip(*self._ends, strict=True))
        tails = np.concatenate([seen for seen, _ in self._tails])
        return SampleRows(
            starts=np.cumsum([0, *map(len, self._acting)]),
            slots=acting,
            obs=self._joined(np.concatenate(self._obs), np.concatenate(self._masks)),
            outputs={key: np.concatenate(values) for key, values in self._outputs.items()},
            rewards=rewards.astype(np.float32),
            terminated=terminated,
            truncated=truncated,
            tail_of=tail_of,
            tails=self._joined(tails, self._tail_masks() if self._masked else None),
        )

    def _add_present(self, obs: dict, masks: dict, acting: np.ndarray, tail_of: np.ndarray) -> None:
        """Add as tails the present observations of agents whose episodes go on."""
        last = np.full(self.slots.num_slots, -1)
        last[acting] = np.arange(len(acting))
        going = np.flatnonzero(last >= 0)
        going = going[tail_of[last[going]] < 0]
        if not len(going):
            return
        firsts = self.slots.firsts
        parts = np.split(going, np.searchsorted(going, firsts)[1:])
        rows = [part - first for first, part in zip(firsts, parts, strict=True)]
        tail_of[last[going]] = np.arange(self._num_tails, self._num_tails + len(going))
        self._num_tails += len(going)
        self._tails.append((self._floats(obs, rows), self._floats(masks, rows)))

    def _tail_masks(self) -> np.ndarray:
        every = np.ones(self._masks[0].shape[1], np.float32)
        return np.concatenate(
            [np.tile(every, (len(seen), 1)) if mask is None else mask for seen, mask in self._tails]
        )

    def _joined(self, seen: np.ndarray, mask: np.ndarray | None) -> Any:
        return {ACTION_MASK: mask, OBSERVATIONS: seen} if self._masked else seen

    def _parts(self) -> Iterator[tuple[Slots, np.ndarray, slice]]:
        """Yield the slots of each group, its rows that act, and where these lie in the step's."""
        first = 0
        for slots, rows in zip(self.slots.groups, self._rows, strict=True):
            yield slots, rows, slice(first, first + len(rows))
            first += len(rows)

    def _floats(self, arrays: dict, rows: list[np.ndarray]) -> np.ndarray:
        """Return rows as the network reads them; masks are empty where there are none."""
        return self._taken(arrays, rows).astype(np.float32) if arrays else _NO_MASKS

    def _taken(self, arrays: dict, rows: list[np.ndarray]) -> np.ndarray:
        """Return some rows of ``{group: [worlds, n, ...]}``, group by group."""
        pairs = zip(self.slots.groups, rows, strict=True)
        taken = [slots.rows(arrays)[mine] for slots, mine in pairs]
        return taken[0] if len(taken) == 1 else np.concatenate(taken)
