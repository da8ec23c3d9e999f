"""Everybody acts in every step."""

from collections.abc import Mapping
from typing import Any

from abmarl.managers.simulation_manager import Output, SimulationManager
from abmarl.sim.agent_based_simulation import AgentBasedSimulation


class AllStepManager(SimulationManager):
    """Reports all learning agents at reset, and in every step those that have not been done before.

    Agents without an action in a step do not act in it.

    Args:
        sim: the simulation.
        randomize_action_input: hand the actions of each step to the simulation in a fresh random
            order, drawn by ``sim.random_order``, so that nobody is always first.

    Raises:
        TypeError: `sim` is not an AgentBasedSimulation, or the flag is not a bool.
    """

    def __init__(self, sim: AgentBasedSimulation, randomize_action_input: bool = False) -> None:
        super().__init__(sim)
        if not isinstance(randomize_action_input, bool):
            raise TypeError(
                f"randomize_action_input must be True or False, got {randomize_action_input!r:.60}"
            )
        self.randomize_action_input = randomize_action_input
        # The agents not yet reported done: a dict for its order and its fast keys.
        self._live: dict[str, None] = {}

    def reset(self, **kwargs: Any) -> dict[str, Any]:
        """Start an episode.

        Args:
            **kwargs: for the simulation's reset, ``seed`` for example.

        Returns:
            The observations of all learning agents by id.
        """
        sim = self.sim
        self._running = False
        sim.reset(**kwargs)
        self._live = live = dict.fromkeys(self._learning_ids())
        self._done = set()
        self._running = True
        return dict(zip(live, map(sim.get_obs, live), strict=True))

    def step(self, action_dict: dict[str, Any], **kwargs: Any) -> Output:
        """Let agents act and report all that were not done before.

        Args:
            action_dict: actions by agent id. It is not changed.
            **kwargs: for the simulation's step.

        Returns:
            Observations, rewards, dones and infos by id. ``dones['__all__']`` is True when the
            simulation is done or every learning agent is.

        Raises:
            ValueError: an action comes from an agent that is done, unknown or does not learn, or
                no episode is running. Nothing has changed then.
            TypeError: `action_dict` is not a dict.
        """
        if not self._running:
            self._refuse_step()
        live = self._live
        if not isinstance(action_dict, (dict, Mapping)) or not action_dict.keys() <= live.keys():
            self._refuse_actions(action_dict, live)
        sim = self.sim
        if self.randomize_action_input:
            order = sim.random_order(list(action_dict))
            try:
                sim.step({agent_id: action_dict[agent_id] for agent_id in order}, **kwargs)
            except BaseException:
                sim.undo_random_order()
                raise
        else:
            sim.step(action_dict, **kwargs)

        obs, rewards, dones, infos = sim.get_outputs(live)
        if any(dones.values()):
            self._done.update(agent_id for agent_id in live if dones[agent_id])
            self._live = live = {agent_id: None for agent_id in live if not dones[agent_id]}
        all_done = bool(sim.get_all_done()) or not live
        dones["__all__"] = all_done
        self._running = not all_done
        return obs, rewards, dones, infos
