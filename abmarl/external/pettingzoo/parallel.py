"""All agents act in every step: PettingZoo's ParallelEnv."""

from collections.abc import Mapping
from typing import Any

from abmarl.external.pettingzoo.adapted import AdaptedManager
from abmarl.extras import load
from abmarl.managers import AllStepManager, SimulationManager
from abmarl.sim.agent_based_simulation import AgentBasedSimulation

pettingzoo = load("pettingzoo", "pettingzoo", "abmarl.external.pettingzoo")

Step = tuple[dict[str, Any], dict[str, float], dict[str, bool], dict[str, bool], dict[str, Any]]


class PettingZooParallelWrapper(AdaptedManager, pettingzoo.ParallelEnv):
    """A simulation in which all agents act at once, as a ``pettingzoo.ParallelEnv``.

    Agents leave `agents` in the step in which they end, and are reported in it for the last time,
    with their final observation and reward. They are terminated when they or the simulation are
    done, else truncated when the horizon is reached.

    Args:
        sim: A simulation, or an `AllStepManager` around one.
        horizon: Steps after which an episode is truncated; None: never.
        render_mode: None or one of ``metadata["render_modes"]``.
        action_masks: Whether infos have an ``action_mask``, which ``action_space(agent).sample``
            takes: int8, 1 for choices that would do something now.

    Raises:
        TypeError: The agents do not all act at once, or a parameter is of the wrong kind, or the
            simulation has no masks.
        ValueError: Nobody both observes and acts, or a parameter is out of its range.
    """

    def __init__(
        self,
        sim: AgentBasedSimulation | AllStepManager,
        horizon: int | None = None,
        render_mode: str | None = None,
        action_masks: bool = False,
    ) -> None:
        if isinstance(sim, SimulationManager) and not isinstance(sim, AllStepManager):
            raise TypeError(
                f"{type(self).__name__} needs an AllStepManager, got {type(sim).__name__}; "
                f"use PettingZooAECWrapper, where agents take turns"
            )
        super().__init__(sim, horizon, render_mode, action_masks)

    def reset(
        self, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[dict[str, Any], dict[str, Any]]:
        """Start an episode.

        Args:
            seed: For the simulation; None goes on with its random stream.
            options: For the simulation's ``reset``, as ``options``, where given.

        Returns:
            Observations and infos by id.
        """
        obs = self._begin(seed, options)
        return obs, self._masked({agent_id: self.sim.get_info(agent_id) for agent_id in obs})

    def step(self, actions: Mapping[str, Any]) -> Step:
        """Let agents act, in the order of the dict; those left out do not act.

        Args:
            actions: By id, of agents in `agents`.

        Returns:
            Observations, rewards, terminations, truncations and infos of all who were in `agents`.
            Arrays handed out are never written to again.

        Raises:
            TypeError, ValueError: No episode is running, an action is from somebody who is not in
                `agents`, or it is not in its space. Nothing has changed then.
        """
        if not self.agents:
            self._refuse_step()
        obs, rewards, terminated, infos = self.manager.step(actions)
        over, late = terminated.pop("__all__"), self._is_late()
        truncated = dict.fromkeys(obs, False)
        if self._scalars:
            obs = self._typed(obs)
        if over:
            left, terminated = [], dict.fromkeys(obs, True)
        elif late:
            left, truncated = [], {agent_id: not done for agent_id, done in terminated.items()}
        elif any(terminated.values()):
            left = [agent_id for agent_id, done in terminated.items() if not done]
        else:
            left = self.agents
        if left is not self.agents:
            staying = set(left)
            gone = {agent_id: one for agent_id, one in obs.items() if agent_id not in staying}
            self._last_seen = {**self._last_seen, **gone}
            self.agents = left
        self._show()
        return obs, rewards, terminated, truncated, self._masked(infos)
