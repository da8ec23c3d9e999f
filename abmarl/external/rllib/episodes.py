"""Columns of a rollout as episodes of RLlib."""

from collections.abc import Callable, KeysView
from typing import Any

import numpy as np
import tree
from ray.rllib.core.columns import Columns
from ray.rllib.env.multi_agent_episode import MultiAgentEpisode
from ray.rllib.env.utils.infinite_lookback_buffer import InfiniteLookbackBuffer as Buffer

from abmarl.external.rllib.mold import Mold
from abmarl.external.rllib.recorder import Rows
from abmarl.external.rllib.seats import Seats
from abmarl.external.rllib.story import Chunks, Story


class OrderedEpisode(MultiAgentEpisode):
    """An episode whose agents have an order, that of their first appearance.

    RLlib's own gives a set of them, through which the learner goes when it lines up its batch: the
    order of strings in a set changes from process to process, and so did what was learned.
    """

    @property
    def agent_ids(self) -> KeysView:
        """The ids of the agents."""
        return self.agent_episodes.keys()


class EpisodeBuilder:
    """Makes ``MultiAgentEpisode`` s of what was recorded, as RLlib's own env runner returns them.

    Their arrays are views of the columns. Chunks of an episode that goes on have no lookback
    buffer.

    Args:
        seats: seats by policy.
        observation_spaces, action_spaces: spaces by agent id.
        policy_of: ``{agent id: policy id}``.
        mapping_fn: RLlib's policy mapping function.
    """

    def __init__(
        self,
        seats: dict[str, Seats],
        observation_spaces: dict,
        action_spaces: dict,
        policy_of: dict[str, str],
        mapping_fn: Callable,
    ) -> None:
        self._seats = seats
        self._spaces = observation_spaces, action_spaces
        self._policy_of, self._mapping_fn = policy_of, mapping_fn
        self._molds = {
            agent_id: Mold(agent_id, policy, observation_spaces[agent_id], action_spaces[agent_id])
            for agent_id, policy in policy_of.items()
        }

    def build(self, rows: dict[str, Rows], story: Story) -> list[MultiAgentEpisode]:
        """The episodes that ended, in the order of time, then those that go on."""
        chunks = Chunks(story)
        found: dict[int, MultiAgentEpisode] = {}
        for policy, mine in rows.items():
            self._add(policy, mine, story, chunks, found)
        return [found[chunk] for chunk in chunks.order if chunk in found]

    def _add(self, policy, rows, story, chunks, found):
        """Add the episodes of the agents of one policy."""
        seats = self._seats[policy]
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
        steps = np.repeat(np.arange(story.num_steps), np.diff(rows.starts))[order]
        slots = rows.slots[order[lasts]]
        worlds, agents = seats.world_of[slots], seats.agent_of[slots]
        held = chunks.holding(worlds, steps[firsts])
        terminated, truncated = rows.terminated[order[lasts]], rows.truncated[order[lasts]]
        lengths = (chunks.last - chunks.first).tolist()
        for k, chunk in enumerate(held.tolist()):
            if chunk not in found:
                found[chunk] = self._episode(chunks, chunk)
            episode, agent_id = found[chunk], seats.agent_ids[agents[k]]
            first, last = int(firsts[k]), int(lasts[k]) + 1
            began = int(story.agent_t[agent_id][worlds[k]]) if chunks.carried[chunk] else 0
            episode.agent_episodes[agent_id] = self._molds[agent_id].cast(
                episode.id_,
                began,
                (bool(terminated[k]), bool(truncated[k])),
                _part(obs, first + k, last + k + 1),
                actions[first:last],
                rewards[first:last],
                {key: array[first:last] for key, array in columns.items()},
            )
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


def _part(obs: Any, first: int, last: int) -> Any:
    if isinstance(obs, dict):
        return {key: array[first:last] for key, array in obs.items()}
    return obs[first:last]
