"""Columns of a sample as episodes of RLlib."""

import copy
from collections.abc import Callable, KeysView
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import tree
from ray.rllib.core.columns import Columns
from ray.rllib.env.multi_agent_episode import MultiAgentEpisode
from ray.rllib.env.single_agent_episode import SingleAgentEpisode
from ray.rllib.env.utils.infinite_lookback_buffer import InfiniteLookbackBuffer as Buffer

from abmarl.external.rllib.sample_buffer import PolicySlots, SampleRows


@dataclass(eq=False)
class EpisodeLog:
    """Which episodes the worlds are in while they are sampled.

    Attributes:
        ids: The episode that each world is in at the start.
        env_t: int64 [worlds], how many steps it had then.
        agent_t: ``{agent id: int64 [worlds]}``, in how many steps of it the agent had acted.
        num_steps: Steps of the sample.
        ends: ``(step, world, id of the next episode)`` of the episodes that ended.
    """

    ids: list[str]
    env_t: np.ndarray
    agent_t: dict[str, np.ndarray]
    num_steps: int = 0
    ends: list[tuple[int, int, str]] = field(default_factory=list)


class Chunks:
    """The chunks of episodes of which a sample consists: those that ended, then one per world.

    Attributes:
        ids: Their episodes.
        first, last: int64, their first step, and the one after the last.
        carried: bool, the episode began before the sample.
        ended: bool.
        order: Their numbers, those that ended in the order of time first.
    """

    def __init__(self, log: EpisodeLog) -> None:
        num_worlds, self._num_steps = len(log.ids), log.num_steps
        ends = sorted((world, step, following) for step, world, following in log.ends)
        self._ends = np.array([end[:2] for end in ends], np.int64).reshape(-1, 2)
        worlds = np.concatenate([self._ends[:, 0], np.arange(num_worlds)])
        self.last = np.concatenate([self._ends[:, 1] + 1, np.full(num_worlds, self._num_steps)])
        self.ended = np.arange(len(worlds)) < len(ends)
        self.first = np.zeros(len(worlds), np.int64)
        self.carried = np.ones(len(worlds), bool)
        current = list(log.ids)
        self.ids = []
        began = [-1] * num_worlds
        for chunk, (world, step, following) in enumerate(ends):
            self._begin(chunk, began[world])
            self.ids.append(current[world])
            current[world], began[world] = following, step + 1
        for world in range(num_worlds):
            self._begin(len(ends) + world, began[world])
        self.ids += current
        self.env_t = np.where(self.carried, log.env_t[worlds], 0)
        in_time = np.lexsort((self._ends[:, 0], self._ends[:, 1]))
        self.order = [*in_time.tolist(), *range(len(ends), len(worlds))]

    def _begin(self, chunk: int, step: int) -> None:
        if step >= 0:
            self.first[chunk], self.carried[chunk] = step, False

    def holding(self, worlds: np.ndarray, steps: np.ndarray) -> np.ndarray:
        """Return the chunks that hold some steps of some worlds."""
        width = self._num_steps + 1
        keys = self._ends[:, 0] * width + self._ends[:, 1]
        found = np.searchsorted(keys, worlds * width + steps)
        inside = found < len(keys)
        inside[inside] = self._ends[found[inside], 0] == worlds[inside]
        return np.where(inside, found, len(keys) + worlds)


class OrderedEpisode(MultiAgentEpisode):
    """An episode whose agents have an order, that of their first appearance.

    RLlib's own has them in a set, in whose order the learner assembles its batch: the order of
    strings in a set changes from process to process, and the results of training with it.
    """

    @property
    def agent_ids(self) -> KeysView:
        """The ids of the agents."""
        return self.agent_episodes.keys()


class EpisodeBuilder:
    """Makes ``MultiAgentEpisode`` s of a sample, as RLlib's own env runner returns them.

    Their arrays are views of the columns. Chunks of an episode that goes on have no lookback
    buffer.

    Args:
        slots: Slots by policy.
        spaces: Observation spaces and action spaces by agent id.
        policy_of: ``{agent id: policy id}``.
        mapping_fn: RLlib's policy mapping function.
    """

    def __init__(
        self,
        slots: dict[str, PolicySlots],
        spaces: tuple[dict, dict],
        policy_of: dict[str, str],
        mapping_fn: Callable,
    ) -> None:
        self._slots, self._spaces = slots, spaces
        self._policy_of, self._mapping_fn = policy_of, mapping_fn
        self._templates: dict[str, SingleAgentEpisode] = {}

    def build(self, rows: dict[str, SampleRows], log: EpisodeLog) -> list[MultiAgentEpisode]:
        """Return the episodes that ended, in the order of time, then those that go on."""
        chunks = Chunks(log)
        found: dict[int, MultiAgentEpisode] = {}
        for policy, mine in rows.items():
            self._add(policy, mine, log, chunks, found)
        return [found[chunk] for chunk in chunks.order if chunk in found]

    def _add(
        self, policy: str, rows: SampleRows, log: EpisodeLog, chunks: Chunks, found: dict
    ) -> None:
        """Add the episodes of the agents of one policy."""
        policy_slots = self._slots[policy]
        order = np.argsort(rows.slots, kind="stable")
        # The last row of an agent in a chunk is the one that is followed by a tail.
        lasts = np.flatnonzero(rows.tail_of[order] >= 0)
        firsts = np.concatenate([[0], lasts[:-1] + 1])
        tails = len(rows) + rows.tail_of[order[lasts]]
        seen = np.insert(order, lasts + 1, tails)
        obs = tree.map_structure(lambda a, b: np.concatenate([a, b])[seen], rows.obs, rows.tails)
        columns = {key: values[order] for key, values in rows.outputs.items()}
        actions = columns.pop(Columns.ACTIONS)
        rewards = rows.rewards[order]
        steps = np.repeat(np.arange(log.num_steps), np.diff(rows.starts))[order]
        slots = rows.slots[order[lasts]]
        worlds, agents = policy_slots.world_of[slots], policy_slots.agent_of[slots]
        held = chunks.holding(worlds, steps[firsts])
        terminated, truncated = rows.terminated[order[lasts]], rows.truncated[order[lasts]]
        lengths = (chunks.last - chunks.first).tolist()
        for k, chunk in enumerate(held.tolist()):
            if chunk not in found:
                found[chunk] = self._episode(chunks, chunk)
            episode, agent_id = found[chunk], policy_slots.agent_ids[agents[k]]
            first, last = int(firsts[k]), int(lasts[k]) + 1
            began = int(log.agent_t[agent_id][worlds[k]]) if chunks.carried[chunk] else 0
            part = slice(first + k, last + k + 1)
            made = self._agent_episode(
                agent_id,
                episode.id_,
                began,
                {key: one[part] for key, one in obs.items()}
                if isinstance(obs, dict)
                else obs[part],
                actions[first:last],
                rewards[first:last],
                {key: array[first:last] for key, array in columns.items()},
            )
            made.is_terminated, made.is_truncated = bool(terminated[k]), bool(truncated[k])
            episode.agent_episodes[agent_id] = made
            episode.agent_t_started[agent_id] = began
            skipped = [episode.SKIP_ENV_TS_TAG] * (lengths[chunk] - (last - first))
            episode.env_t_to_agent_t[agent_id] = Buffer(
                [*range(began, began + last - first + 1), *skipped]
            )
            if truncated[k] and steps[last - 1] + 1 == chunks.last[chunk]:
                episode.is_terminated, episode.is_truncated = False, True

    def _episode(self, chunks: Chunks, chunk: int) -> MultiAgentEpisode:
        episode = OrderedEpisode(
            chunks.ids[chunk],
            observation_space=self._spaces[0],
            action_space=self._spaces[1],
            terminateds=bool(chunks.ended[chunk]),
            env_t_started=int(chunks.env_t[chunk]),
            len_lookback_buffer=0,
            agent_module_ids=self._policy_of,
            agent_to_module_mapping_fn=self._mapping_fn,
        )
        episode.env_t += int(chunks.last[chunk] - chunks.first[chunk])
        return episode

    def _agent_episode(
        self, agent_id: str, episode_id: str, began: int, obs: Any, actions: np.ndarray,
        rewards: np.ndarray, outputs: dict[str, np.ndarray],
    ) -> SingleAgentEpisode:  # fmt: skip
        """Return an episode of one agent, or a chunk of one, that the agent began at step `began`.

        The first one is made by its constructor; the others are copies of it with arrays of their
        own, which takes a fifth of the time.
        """
        # One dict for all: a dict per row would keep the garbage collector busy.
        infos: list[dict] = [{}] * (len(rewards) + 1)
        template = self._templates.get(agent_id)
        if template is None or template.extra_model_outputs.keys() != outputs.keys():
            template = SingleAgentEpisode(
                agent_id=agent_id,
                module_id=self._policy_of[agent_id],
                observations=Buffer(obs),
                infos=Buffer(infos),
                actions=Buffer(actions),
                rewards=Buffer(rewards),
                extra_model_outputs={key: Buffer(one) for key, one in outputs.items()},
                len_lookback_buffer=0,
            )
            template.observation_space, template.action_space = (
                spaces[agent_id] for spaces in self._spaces
            )
            self._templates[agent_id] = template
        made = copy.copy(template)
        # The same in all chunks: replay buffers join them by it.
        made.id_ = f"{episode_id}/{agent_id}"
        made.multi_agent_episode_id = episode_id
        made.t_started, made.t = began, began + len(rewards)
        made.observations = _filled(template.observations, obs)
        made.infos = _filled(template.infos, infos)
        made.actions = _filled(template.actions, actions)
        made.rewards = _filled(template.rewards, rewards)
        made.extra_model_outputs = {
            key: _filled(template.extra_model_outputs[key], one) for key, one in outputs.items()
        }
        made._custom_data = {}
        return made


def _filled(model: Buffer, data: Any) -> Buffer:
    made = object.__new__(Buffer)
    made.__dict__.update(model.__dict__)
    made.data = data
    return made
