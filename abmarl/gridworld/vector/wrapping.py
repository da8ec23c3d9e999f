"""Vectorised simulations around vectorised simulations."""

from abmarl.gridworld.rendering import Renderable


class Wrappable(Renderable):
    """What every vectorised simulation can be wrapped in, and how it is shown."""

    def flatten(self, actions=True, observations=True, one_hot=True, groups=None):
        """The same worlds with flat arrays.

        Args:
            actions: Whether actions are flat, ``actions[group]`` is ``(num_envs, n, width)`` then.
            observations: Whether observations are flat, ``obs[group]`` likewise.
            one_hot: Whether a ``Discrete`` becomes one entry for each of its points; else it
                becomes one entry that counts from 0.
            groups: Names of the groups that are converted; None: all.

        Returns:
            A ``ConvertedSimulation`` around this one, which shares its worlds.

        Raises:
            TypeError, ValueError: A space cannot be flattened, or there is no such group.
        """
        from abmarl.gridworld.vector.converted import ConvertedSimulation, flatten_group

        def convert(space, name):
            return flatten_group(space, name, one_hot)

        return ConvertedSimulation(self, convert, actions, observations, groups)

    def ravel(self, actions=True, observations=True, groups=None):
        """The same worlds with one number per action and observation.

        Args:
            actions: Whether actions are numbers, ``actions[group]`` is ``(num_envs, n)`` then.
            observations: Whether observations are numbers, ``obs[group]`` likewise.
            groups: Names of the groups that are converted; None: all.

        Returns:
            A ``ConvertedSimulation`` around this one, which shares its worlds.

        Raises:
            TypeError, ValueError: A space cannot be ravelled, or there is no such group.
        """
        from abmarl.gridworld.vector.converted import ConvertedSimulation
        from abmarl.sim.ravel import RavelConversion

        return ConvertedSimulation(self, RavelConversion, actions, observations, groups)

    def super_agents(self, super_agent_mapping):
        """The same worlds with super agents in the place of the agents that they cover.

        Args:
            super_agent_mapping: ``{id of the super agent: ids of the covered agents}``.

        Returns:
            A ``SuperAgentSimulation`` around this one, which shares its worlds.

        Raises:
            TypeError, ValueError: The mapping is wrong.
        """
        from abmarl.gridworld.vector.super_agents import SuperAgentSimulation

        return SuperAgentSimulation(self, super_agent_mapping)


def _passed_on(name):
    def get(self):
        return getattr(self.vec, name)

    return property(get, doc=f"``{name}`` of the simulation wrapped.")


class VectorWrapper(Wrappable):
    """A vectorised simulation around another one; by itself it changes nothing.

    Args:
        vec: The vectorised simulation to wrap. Both share their worlds, so step only one of them.

    Attributes:
        vec: The simulation wrapped.
        groups: ``{name: Group}`` with the spaces of this one.
    """

    num_envs = _passed_on("num_envs")
    horizon = _passed_on("horizon")
    num_threads = _passed_on("num_threads")
    order = _passed_on("order")
    autoreset = _passed_on("autoreset")
    copy = _passed_on("copy")
    sim = _passed_on("sim")
    agents = _passed_on("agents")
    rows = _passed_on("rows")
    cols = _passed_on("cols")
    seed = _passed_on("seed")
    store = _passed_on("store")
    episodes = _passed_on("episodes")
    started = _passed_on("started")

    def __init__(self, vec):
        self.vec = vec
        self.groups = dict(vec.groups)

    @property
    def unwrapped(self):
        """The vectorised simulation within all wrappers."""
        return getattr(self.vec, "unwrapped", self.vec)

    def reset(self, seed=None, worlds=None) -> tuple:
        """Starts episodes; see ``VectorSimulation.reset``."""
        obs, infos = self.vec.reset(seed=seed, worlds=worlds)
        return self._observed(obs), self._informed(infos)

    def step(self, actions) -> tuple:
        """One step of every world; see ``VectorSimulation.step``."""
        obs, rewards, terminated, truncated, infos = self.vec.step(self._acted(actions))
        return self._observed(obs), rewards, terminated, truncated, self._informed(infos)

    def observations(self) -> dict:
        """The present observations by group."""
        return self._observed(self.vec.observations())

    def infos(self) -> dict:
        """What ``reset`` and ``step`` return as infos."""
        return self._informed(self.vec.infos())

    def state_dict(self) -> dict:
        """A copy of everything that the worlds are."""
        return self.vec.state_dict()

    def load_state_dict(self, state):
        """Goes back to what ``state_dict`` returned."""
        self.vec.load_state_dict(state)

    def _observed(self, obs):
        """Observations of the simulation wrapped as those of this one."""
        return obs

    def _acted(self, actions):
        """Actions of this simulation as those of the one wrapped."""
        return actions

    def _informed(self, infos):
        """Infos of the simulation wrapped as those of this one."""
        return infos

    def _check_groups(self, actions):
        if not isinstance(actions, dict):
            raise TypeError(f"actions must be a dict by group, got {type(actions).__name__}.")
        if actions.keys() != self.groups.keys():
            raise ValueError(
                f"actions must have exactly the groups {list(self.groups)}, got {list(actions)}."
            )

    def __repr__(self):
        return f"{type(self).__name__}({self.vec!r})"


def mapped(function, *nested):
    """``function`` of the arrays at the same place of equally nested dicts and tuples."""
    first = nested[0]
    if isinstance(first, dict):
        return {key: mapped(function, *(one[key] for one in nested)) for key in first}
    if isinstance(first, tuple):
        return tuple(mapped(function, *parts) for parts in zip(*nested, strict=True))
    return function(*nested)
