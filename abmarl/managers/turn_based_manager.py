"""One agent after the other."""

from collections import deque
from collections.abc import Iterable, Mapping
from typing import Any

from abmarl.managers.simulation_manager import Output, SimulationManager
from abmarl.sim.agent_based_simulation import AgentBasedSimulation


class TurnBasedManager(SimulationManager):
    """Lets the learning agents take turns in the order of the simulation's dict.

    The order goes on across resets: an episode begins with the agent after the one whose turn
    came last in the episode before.

    Args:
        sim: the simulation.

    Raises:
        TypeError: `sim` is not an AgentBasedSimulation.
    """

    def __init__(self, sim: AgentBasedSimulation) -> None:
        super().__init__(sim)
        self._order: list[str] = []
        # Agents not yet reported done, the next one first: popping is a turn, whatever N is.
        self._line: deque[str] = deque()
        self._last: str | None = None
        self._may_act: dict[str, None] = {}

    def restart_order(self) -> None:
        """Let the next episode begin with the first agent, whoever's turn came last."""
        self._last = None

    def reset(self, **kwargs: Any) -> dict[str, Any]:
        """Start an episode.

        Args:
            **kwargs: for the simulation's reset, ``seed`` for example.

        Returns:
            The observation of the next agent in line, by id.
        """
        self._running = False
        self.sim.reset(**kwargs)
        self._order = order = self._learning_ids()
        self._line = deque(order)
        if self._last is not None and self._last in self._line:
            self._line.rotate(-1 - order.index(self._last))
        self._done = set()
        self._may_act = {}
        self._running = True
        if not order:
            return {}
        agent_id = self._take_turn()
        return {agent_id: self.sim.get_obs(agent_id)}

    def step(self, action_dict: dict[str, Any], **kwargs: Any) -> Output:
        """Let the agent whose turn it is act and report the next one.

        Args:
            action_dict: the action by agent id. It is not changed.
            **kwargs: for the simulation's step.

        Returns:
            Observations, rewards, dones and infos by id, of the next agent in line that is not done
            and of those found done on the way to it; when the simulation is done, of all agents not
            yet reported done. ``dones['__all__']`` is True then, and when every learning agent is
            done.

        Raises:
            ValueError: an action comes from an agent whose turn it is not, or no episode is
                running. Nothing has changed then.
            TypeError: `action_dict` is not a dict.
        """
        if not self._running:
            self._refuse_step()
        may_act = self._may_act
        if not isinstance(action_dict, (dict, Mapping)) or not action_dict.keys() <= may_act.keys():
            self._refuse_actions(action_dict, may_act)
        self.sim.step(action_dict, **kwargs)

        if self.sim.get_all_done():
            done = self._done
            output = self._report([agent_id for agent_id in self._order if agent_id not in done])
            all_done = True
        else:
            output = self._report(self._turns())
            all_done = not self._line
        output[2]["__all__"] = all_done
        self._running = not all_done
        return output

    def _take_turn(self) -> str:
        """Make the first in line the one that acts next, and the last in line."""
        agent_id = self._line.popleft()
        self._line.append(agent_id)
        self._last = agent_id
        self._may_act = {agent_id: None}
        return agent_id

    def _turns(self) -> Iterable[str]:
        """Yield the agents whose turn comes now: one that is not done, after those found done."""
        while self._line:
            agent_id = self._take_turn()
            yield agent_id
            # `_report` has noted by now whether it is done.
            if agent_id not in self._done:
                return
            self._line.pop()

    def _report(self, agent_ids: Iterable[str]) -> Output:
        sim = self.sim
        obs, rewards, dones, infos = {}, {}, {}, {}
        for agent_id in agent_ids:
            obs[agent_id] = sim.get_obs(agent_id)
            rewards[agent_id] = sim.get_reward(agent_id)
            dones[agent_id] = done = sim.get_done(agent_id)
            infos[agent_id] = sim.get_info(agent_id)
            if done:
                self._done.add(agent_id)
        return obs, rewards, dones, infos
