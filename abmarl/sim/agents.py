"""Agents: who is in a simulation, what they see and what they can do. Data, no behaviour.

Agents are sums of capabilities by cooperative multiple inheritance: every ``__init__`` takes what
is its own and passes the rest on, every ``finalize`` calls the next one.
"""

from typing import Any

from abmarl.sim.principle_agent import PrincipleAgent


class ActingAgent(PrincipleAgent):
    """An agent that can act.

    Args:
        action_space: a space (gymnasium's or old gym's), a (nested) dict of spaces, or None.
        null_action: the action that stands for doing nothing; None when there is none.
        **kwargs: for the other classes of the agent.
    """

    required_parameters = ("action_space",)

    def __init__(self, action_space: Any = None, null_action: Any = None, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.action_space = action_space
        self.null_action = null_action

    @property
    def action_space(self) -> Any:
        """The space of actions; a dict may be extended until `finalize` makes a `Dict` of it."""
        return self._action_space

    @action_space.setter
    def action_space(self, value: Any) -> None:
        self._action_space = self._accepted_space("action_space", value)

    def finalize(self, **kwargs: Any) -> None:
        """Make a gymnasium space of the action space, seed it, check the null action.

        Raises:
            TypeError: something in the dict of spaces is not a space.
            ValueError: the agent is not configured, or the null action is not in the space.
        """
        super().finalize(**kwargs)
        self._action_space = space = self._final_space("action_space", self._action_space)
        self._check_null("null_action", self.null_action, "action_space", space)


class ObservingAgent(PrincipleAgent):
    """An agent that can observe.

    Args:
        observation_space: a space (gymnasium's or old gym's), a (nested) dict of spaces, or None.
        null_observation: what an agent that is done is shown; None when there is none.
        **kwargs: for the other classes of the agent.
    """

    required_parameters = ("observation_space",)

    def __init__(
        self, observation_space: Any = None, null_observation: Any = None, **kwargs: Any
    ) -> None:
        super().__init__(**kwargs)
        self.observation_space = observation_space
        self.null_observation = null_observation

    @property
    def observation_space(self) -> Any:
        """The space of observations; a dict may be extended until `finalize`."""
        return self._observation_space

    @observation_space.setter
    def observation_space(self, value: Any) -> None:
        self._observation_space = self._accepted_space("observation_space", value)

    def finalize(self, **kwargs: Any) -> None:
        """Make a gymnasium space of the observation space, seed it, check the null observation.

        Raises:
            TypeError: something in the dict of spaces is not a space.
            ValueError: the agent is not configured, or the null observation is not in the space.
        """
        super().finalize(**kwargs)
        self._observation_space = space = self._final_space(
            "observation_space", self._observation_space
        )
        self._check_null("null_observation", self.null_observation, "observation_space", space)


class Agent(ObservingAgent, ActingAgent):
    """An agent that observes and acts, and so can learn."""


def is_agent(value: Any) -> bool:
    """Tell whether `value` is an agent that both observes and acts, of whatever class."""
    return isinstance(value, ObservingAgent) and isinstance(value, ActingAgent)


__all__ = ["ActingAgent", "Agent", "ObservingAgent", "PrincipleAgent", "is_agent"]
