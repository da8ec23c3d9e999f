"""The simulation says who acts next."""

from collections.abc import Mapping
from typing import Any, NoReturn

from abmarl.managers.simulation_manager import Output, SimulationManager
from abmarl.sim.agent_based_simulation import DynamicOrderSimulation, next_agents


class DynamicOrderManager(SimulationManager):
    """Lets those agents act that the simulation names as its ``next_agent``.

    Args:
        sim: a simulation with ``next_agent``, or a wrapper of one.

    Raises:
        TypeError: `sim` is not a DynamicOrderSimulation.
    """

    def __init__(self, sim: DynamicOrderSimulation) -> None:
        # A wrapper is not one itself, but passes on whom the simulation within it names.
        if not isinstance(getattr(sim, "unwrapped", sim), DynamicOrderSimulation):
            raise TypeError(
                f"DynamicOrderManager needs a DynamicOrderSimulation, which names its next_agent, "
                f"got {type(sim).__name__}"
            )
        super().__init__(sim)
        self.sim: DynamicOrderSimulation
        # The learning agents not yet reported done, and those among them that act next.
        self._live: dict[str, None] = {}
        self._may_act: dict[str, None] = {}

    def reset(self, **kwargs: Any) -> dict[str, Any]:
        """Start an episode.

        Args:
            **kwargs: for the simulation's reset, ``seed`` for example.

        Returns:
            The observations, by id, of the agents that act first.

        Raises:
            RuntimeError: the simulation names nobody who could act.
        """
        sim = self.sim
        self._running = False
        sim.reset(**kwargs)
        self._live = dict.fromkeys(self._learning_ids())
        self._done = set()
        self._may_act = dict.fromkeys(self._named())
        if self._live and not self._may_act:
            self._refuse_order()
        self._running = True
        return {agent_id: sim.get_obs(agent_id) for agent_id in self._may_act}

    def step(self, action_dict: dict[str, Any], **kwargs: Any) -> Output:
        """Let the agents act whose turn it is, and report those that the simulation names next.

        Args:
            action_dict: actions by agent id. It is not changed.
            **kwargs: for the simulation's step.

        Returns:
            Observations, rewards, dones and infos by id, of the agents named that have not been
            reported done before; when the simulation is done, of all agents not yet reported done.
            ``dones['__all__']`` is True then, and when every learning agent is done.

        Raises:
            ValueError: an action comes from an agent whose turn it is not, or no episode is
                running. Nothing has changed then.
            TypeError: `action_dict` is not a dict.
            RuntimeError: the simulation is not done, but names nobody who could act. The episode
                is over then.
        """
        if not self._running:
            self._refuse_step()
        if not isinstance(action_dict, Mapping) or not action_dict.keys() <= self._may_act.keys():
            self._refuse_actions(action_dict, self._may_act)
        sim = self.sim
        sim.step(action_dict, **kwargs)

        self._running = False
        all_done = bool(sim.get_all_done())
        named = list(self._live) if all_done else self._named()
        obs = {agent_id: sim.get_obs(agent_id) for agent_id in named}
        rewards = {agent_id: sim.get_reward(agent_id) for agent_id in named}
        dones = {agent_id: sim.get_done(agent_id) for agent_id in named}
        infos = {agent_id: sim.get_info(agent_id) for agent_id in named}
        self._may_act = {agent_id: None for agent_id in named if not dones[agent_id]}
        for agent_id in named:
            if dones[agent_id]:
                self._done.add(agent_id)
                del self._live[agent_id]
        all_done = all_done or not self._live
        if not all_done and not self._may_act:
            self._refuse_order()
        dones["__all__"] = all_done
        self._running = not all_done
        return obs, rewards, dones, infos

    def _named(self) -> list[str]:
        """Return the agents that the simulation names, without those already reported done."""
        ids = next_agents(self.sim.next_agent, self.sim.agents)
        return [agent_id for agent_id in ids if agent_id in self._live]

    def _refuse_order(self) -> NoReturn:
        raise RuntimeError(
            f"{type(self.sim).__name__} is not done, but its next_agent {self.sim.next_agent!r} "
            f"names no learning agent that is not done"
        )
