"""What the plain example simulations share: a random stream of their own, and checked actions."""

from abc import abstractmethod
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from abmarl.extras import load
from abmarl.gridworld.seeding import parse_seed
from abmarl.sim.agent_based_simulation import AgentBasedSimulation
from abmarl.sim.spaces import contains


class PlainSimulation(AgentBasedSimulation):
    """A simulation whose episodes depend on a seed and the actions alone."""

    # Rewards gathered since they were read, by agent id; set by every reset.
    reward: dict[str, Any]

    @property
    def rng(self) -> np.random.Generator:
        """The simulation's random stream; of fresh entropy until a seed is given."""
        if "_rng" not in self.__dict__:
            self._rng = np.random.default_rng()
        return self._rng

    def reseed(self, seed: Any) -> None:
        """Restart the random stream.

        Args:
            seed: an int, or a pair (seed, world) as of the worlds of a vectorised simulation; None
                goes on with the stream.

        Raises:
            TypeError, ValueError: it is neither.
        """
        if seed is not None:
            entropy, world = parse_seed(seed)
            self._rng = np.random.default_rng(np.random.SeedSequence(entropy, spawn_key=(world,)))

    def check_actions(self, action_dict: Mapping[str, Any]) -> None:
        """Refuse actions that cannot be processed.

        Raises:
            TypeError: `action_dict` is not a dict.
            ValueError: an action does not lie in its space, or comes from an agent that is unknown
                or done, or there was no reset.
        """
        if "reward" not in self.__dict__:
            raise ValueError("no episode is running: call reset() before step()")
        if not isinstance(action_dict, Mapping):
            raise TypeError(
                f"actions must be a dict of agent id to action, got {type(action_dict).__name__}"
            )
        for agent_id, action in action_dict.items():
            if agent_id not in self.agents:
                raise ValueError(f"action from agent {agent_id!r}, which is not in the simulation")
            if self.get_done(agent_id):
                raise ValueError(f"action from agent {agent_id!r}, which is done")
            space = self.agents[agent_id].action_space
            if not contains(space, action):
                raise ValueError(
                    f"the action of agent {agent_id!r} is {action!r:.200}, "
                    f"which does not lie in its action space {space!r:.200}"
                )

    def random_order(self, agent_ids: Iterable[str]) -> list[str]:
        """Return the ids in a fresh random order, drawn from the simulation's own stream."""
        ids = list(agent_ids)
        self.rng.shuffle(ids)
        return ids

    def get_reward(self, agent_id: str, **kwargs: Any) -> float:
        """Return the reward gathered since it was last asked for, and set it to 0."""
        reward, self.reward[agent_id] = self.reward[agent_id], 0
        return reward

    def render(self, mode: str = "human", fig: Any = None, **kwargs: Any) -> Any:
        """Draw the simulation with matplotlib.

        Args:
            mode: ``"human"``: on the current figure, which is shown if there is a screen;
                ``"rgb_array"``: on a figure of its own, returned as an array.
            fig: matplotlib figure to draw on, which is not shown; the mode does not matter then.
            **kwargs: ignored.

        Returns:
            uint8 [height, width, 3] for ``"rgb_array"``, else None.

        Raises:
            ValueError: there is no such mode.
            ImportError: matplotlib is missing.
        """
        if fig is None and mode == "rgb_array":
            from abmarl.render.drawing.figure import figure_picture

            return figure_picture(self.render)
        if fig is None and mode != "human":
            raise ValueError(
                f"mode must be 'human' or 'rgb_array' for {type(self).__name__}, got {mode!r}"
            )
        shown = fig is None
        if shown:
            plt = load("matplotlib.pyplot")
            fig = plt.gcf()
        fig.clear()
        self.draw(fig.gca())
        if shown and fig.canvas.required_interactive_framework:
            plt.pause(1e-3)
        return None

    @abstractmethod
    def draw(self, axes: Any) -> None:
        """Draw the simulation on empty matplotlib axes."""

    def get_info(self, agent_id: str, **kwargs: Any) -> dict:
        """Return {}: there is nothing else to say."""
        return {}


def check_int(name: str, value: Any, least: int) -> None:
    """Refuse what is not an int of at least `least`.

    Raises:
        TypeError: it is not an int.
        ValueError: it is too small.
    """
    if isinstance(value, bool) or not isinstance(value, int | np.integer):
        raise TypeError(f"{name} must be an int, got {value!r:.60}")
    if value < least:
        raise ValueError(f"{name} must be {least} or more, got {value}")
