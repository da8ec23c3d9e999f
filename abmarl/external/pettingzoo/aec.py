"""One agent acts after the other: PettingZoo's AECEnv."""

from typing import Any

from abmarl.external.pettingzoo.adapted import AdaptedManager
from abmarl.extras import load
from abmarl.managers import SimulationManager
from abmarl.sim.agent_based_simulation import AgentBasedSimulation
from abmarl.sim.spaces import contains

pettingzoo = load("pettingzoo", "pettingzoo", "abmarl.external.pettingzoo")


class PettingZooAECWrapper(AdaptedManager, pettingzoo.AECEnv):
    """A simulation in which agents choose one after the other, as a ``pettingzoo.AECEnv``.

    The manager says whose turn it is. Where it waits for several agents, as an `AllStepManager`
    does, their actions are collected, and the simulation takes its step with the last of them.
    After every step of the simulation all agents have their rewards, also those who are not on
    turn, and those who are done are the next to be selected, for their dead step.

    Args:
        sim: A manager, or a simulation, which gets an `AllStepManager`.
        horizon: Steps of the manager after which an episode is truncated, None: never. With an
            `AllStepManager` that is one round of all agents, with a `TurnBasedManager` one turn.
        render_mode: None or one of ``metadata["render_modes"]``.
        action_masks: Whether infos have an ``action_mask``, which ``action_space(agent).sample``
            takes: int8, 1 for choices that would do something now.

    Raises:
        TypeError: A parameter is of the wrong kind, or the simulation has no masks.
        ValueError: Nobody both observes and acts, or a parameter is out of its range.
    """

    def __init__(
        self,
        sim: AgentBasedSimulation | SimulationManager,
        horizon: int | None = None,
        render_mode: str | None = None,
        action_masks: bool = False,
    ) -> None:
        super().__init__(sim, horizon, render_mode, action_masks)
        # Those whose actions the manager waits for, and the actions that are there.
        self._due: list[str] = []
        self._chosen: dict[str, Any] = {}

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> None:
        """Start an episode.

        Args:
            seed: For the simulation; None goes on with its random stream. With a seed, turns begin
                with the first agent.
            options: For the simulation's ``reset``, as ``options``, where given.
        """
        self._due = list(self._begin(seed, options))
        self._chosen = {}
        agents = self.agents
        self.rewards = dict.fromkeys(agents, 0.0)
        self._cumulative_rewards = dict.fromkeys(agents, 0.0)
        self.terminations = dict.fromkeys(agents, False)
        self.truncations = dict.fromkeys(agents, False)
        self.infos = self._masked({agent_id: self.sim.get_info(agent_id) for agent_id in agents})
        self.agent_selection = self._due[0]
        self._skip_agent_selection = None
        self._paid = False

    def last(self, observe: bool = True) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        """Observation, reward since its last action, ends and info of the selected agent.

        Args:
            observe: Whether to return the observation, else None in its place.

        Raises:
            ValueError: No episode has begun.
        """
        if not self._begun:
            raise ValueError("nobody is on turn before the first episode: call reset() first")
        return super().last(observe)

    def observe(self, agent: str) -> Any:
        """What an agent sees at present.

        Raises:
            ValueError: The agent is not in `agents`.
        """
        if agent not in self.terminations:
            raise ValueError(
                f"agent {agent!r} has left or never was here; there are {self.agents[:8]}"
            )
        return self._typed({agent: self.sim.get_obs(agent)})[agent]

    def step(self, action: Any) -> None:
        """Let the selected agent act.

        Args:
            action: Its action; None for an agent that is terminated or truncated.

        Raises:
            TypeError, ValueError: No episode is running, or it is no action of this agent. Nothing
                has changed then.
        """
        if not self.agents:
            self._refuse_step()
        agent = self.agent_selection
        if self.terminations[agent] or self.truncations[agent]:
            seen = None if action is not None else self.observe(agent)
            self._was_dead_step(action)
            self._last_seen = {**self._last_seen, agent: seen}
            return
        if len(self._due) > 1 and not contains(self.action_spaces[agent], action):
            # The simulation would find out too late, when others have chosen as well.
            raise ValueError(
                f"action of agent {agent!r} is {action!r:.200}, "
                f"which is not in {self.action_spaces[agent]!r:.200}"
            )
        chosen = self._chosen if len(self._due) > 1 else {}
        chosen[agent] = action
        if len(chosen) < len(self._due):
            self.agent_selection = self._due[len(chosen)]
            if self._paid:
                self._clear_rewards()
                self._paid = False
            self._cumulative_rewards[agent] = 0.0
            return
        try:
            output = self.manager.step(chosen)
        except BaseException:
            del chosen[agent]
            raise
        self._cumulative_rewards[agent] = 0.0
        self._report(*output)

    def _report(self, obs, rewards, dones, infos) -> None:
        """Bring everything up to date with a step of the manager, for those not reported too."""
        sim = self.sim
        over, late = dones.pop("__all__"), self._is_late()
        for agent in self.agents:
            if agent in obs:
                reward, done, info = rewards[agent], dones[agent], infos[agent]
            else:
                reward, done, info = (
                    read(agent) for read in (sim.get_reward, sim.get_done, sim.get_info)
                )
            self.rewards[agent] = reward
            self.infos[agent] = info
            self.terminations[agent] = ended = bool(done or over)
            self.truncations[agent] = late and not ended
        self._paid = True
        self._accumulate_rewards()
        self.infos = self._masked(self.infos)
        self._chosen = {}
        self._due = [agent for agent in obs if not dones[agent] and agent in self.rewards]
        self.agent_selection = self._due[0] if self._due else self.agents[0]
        self._deads_step_first()
        self._show()
