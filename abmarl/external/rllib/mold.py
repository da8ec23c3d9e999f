"""Episodes of single agents made of arrays, by the thousand."""

import copy
from typing import Any

import gymnasium
import numpy as np
from ray.rllib.env.single_agent_episode import SingleAgentEpisode
from ray.rllib.env.utils.infinite_lookback_buffer import InfiniteLookbackBuffer as Buffer


class Mold:
    """Makes ``SingleAgentEpisode`` s of one agent.

    The first is made by its constructor; the others are copies of it with arrays of their own,
    which takes a fifth of the time.

    Args:
        agent_id, policy: whose episodes.
        observation_space, action_space: spaces of the agent.
    """

    def __init__(
        self,
        agent_id: str,
        policy: str,
        observation_space: gymnasium.Space,
        action_space: gymnasium.Space,
    ) -> None:
        self._agent_id, self._policy = agent_id, policy
        self._spaces = observation_space, action_space
        self._model: SingleAgentEpisode | None = None

    def cast(
        self,
        episode_id: str,
        began: int,
        ends: tuple[bool, bool],
        obs: Any,
        actions: np.ndarray,
        rewards: np.ndarray,
        outputs: dict[str, np.ndarray],
    ) -> SingleAgentEpisode:
        """An episode, or a chunk of one.

        Args:
            episode_id: the episode of all agents that it belongs to.
            began: the agent's steps before the chunk.
            ends: whether the agent was terminated and truncated at its end.
            obs: ``[steps + 1, ...]``, or a dict of such.
            actions, rewards: ``[steps, ...]``.
            outputs: further columns of the module, likewise.
        """
        # One dict for all of them: as many as there are rows would keep the collector busy.
        infos = [{}] * (len(rewards) + 1)
        model = self._model
        if model is None or model.extra_model_outputs.keys() != outputs.keys():
            self._model = model = self._made(obs, infos, actions, rewards, outputs)
        made = copy.copy(model)
        # The same in all chunks, by which replay buffers put them together.
        made.id_ = f"{episode_id}/{self._agent_id}"
        made.multi_agent_episode_id = episode_id
        made.is_terminated, made.is_truncated = ends
        made.t_started, made.t = began, began + len(rewards)
        made.observations = _filled(model.observations, obs)
        made.infos = _filled(model.infos, infos)
        made.actions = _filled(model.actions, actions)
        made.rewards = _filled(model.rewards, rewards)
        made.extra_model_outputs = {
            key: _filled(model.extra_model_outputs[key], one) for key, one in outputs.items()
        }
        made._custom_data = {}
        return made

    def _made(self, obs, infos, actions, rewards, outputs) -> SingleAgentEpisode:
        model = SingleAgentEpisode(
            agent_id=self._agent_id,
            module_id=self._policy,
            observations=Buffer(obs),
            infos=Buffer(infos),
            actions=Buffer(actions),
            rewards=Buffer(rewards),
            extra_model_outputs={key: Buffer(one) for key, one in outputs.items()},
            len_lookback_buffer=0,
        )
        model.observation_space, model.action_space = self._spaces
        return model


def _filled(model: Buffer, data: Any) -> Buffer:
    made = object.__new__(Buffer)
    made.__dict__.update(model.__dict__)
    made.data = data
    return made
