"""What the ravel and flatten wrappers have in common: every agent's spaces are converted."""

from abc import abstractmethod
from typing import Any

from abmarl.sim.agent_based_simulation import (
    ActingAgent,
    AgentBasedSimulation,
    ObservingAgent,
    PrincipleAgent,
)
from abmarl.sim.conversion import Conversion
from abmarl.sim.spaces import is_given
from abmarl.sim.wrappers.sar_wrapper import SARWrapper


class ConversionWrapper(SARWrapper):
    """Converts actions and observations, or one side of them, null points included.

    Args:
        sim: the simulation to wrap.
        actions, observations: whether these are converted.

    Attributes:
        converts_actions, converts_observations: the same.

    Raises:
        TypeError: `actions` or `observations` is no bool, or as below.
        TypeError, ValueError: an agent's space cannot be converted.
    """

    def __init__(
        self, sim: AgentBasedSimulation, actions: bool = True, observations: bool = True
    ) -> None:
        super().__init__(sim)
        for name, value in (("actions", actions), ("observations", observations)):
            if not isinstance(value, bool):
                raise TypeError(f"{name} must be True or False, got {value!r:.60}")
        self.converts_actions, self.converts_observations = actions, observations
        self._actions: dict[str, Conversion] = {}
        self._observations: dict[str, Conversion] = {}
        made: dict[int, Conversion] = {}
        for agent in self.agents.values():
            if isinstance(agent, ActingAgent) and actions:
                self._actions[agent.id] = self._convert_side(agent, "action", made)
            if isinstance(agent, ObservingAgent) and observations:
                self._observations[agent.id] = self._convert_side(agent, "observation", made)
        self.finalize()

    def wrap_observation(self, from_agent: PrincipleAgent, observation: Any) -> Any:
        """Convert an observation of the inner simulation.

        Raises:
            ValueError: it does not lie in the agent's observation space.
        """
        return self._call(self._observations, from_agent, "convert", observation)

    def unwrap_observation(self, from_agent: PrincipleAgent, observation: Any) -> Any:
        """Turn a converted observation back.

        Raises:
            ValueError: it does not lie in the converted space.
        """
        return self._call(self._observations, from_agent, "restore", observation)

    def wrap_action(self, from_agent: PrincipleAgent, action: Any) -> Any:
        """Turn a converted action back into one for the inner simulation.

        Raises:
            ValueError: it does not lie in the converted space.
        """
        return self._call(self._actions, from_agent, "restore", action)

    def unwrap_action(self, from_agent: PrincipleAgent, action: Any) -> Any:
        """Convert an action of the inner simulation.

        Raises:
            ValueError: it does not lie in the agent's action space.
        """
        return self._call(self._actions, from_agent, "convert", action)

    @abstractmethod
    def _conversion(self, space: Any, name: str) -> Conversion:
        """How points of a space are converted."""

    def _convert_side(
        self, agent: PrincipleAgent, side: str, made: dict[int, Conversion]
    ) -> Conversion:
        space = getattr(agent, f"{side}_space")
        # Agents that are alike share a space object, and then the conversion too.
        if id(space) not in made:
            made[id(space)] = self._conversion(space, f"{side}_space of agent {agent.id!r}")
            made[id(space)].name = f"the {side}_space"
        conversion = made[id(space)]
        setattr(agent, f"{side}_space", conversion.target)
        null = getattr(agent, f"null_{side}")
        setattr(agent, f"null_{side}", conversion.convert(null) if is_given(null) else None)
        return conversion

    @staticmethod
    def _call(
        conversions: dict[str, Conversion], agent: PrincipleAgent, method: str, point: Any
    ) -> Any:
        conversion = conversions.get(agent.id)
        if conversion is None:
            return point
        try:
            return getattr(conversion, method)(point)
        except ValueError as error:
            raise ValueError(f"agent {agent.id!r}: {error}") from None
