"""The vectorised simulation: what a user of thousands of worlds sees."""

import dataclasses
import itertools
from collections.abc import Iterable
from typing import Any

import numpy as np
from gymnasium.spaces import Dict

from abmarl.gridworld.actions import Actions, Masks
from abmarl.gridworld.component import ChannelComponent, Component
from abmarl.gridworld.fields import positive
from abmarl.gridworld.groups import Group
from abmarl.gridworld.saving import check_arrays, check_worlds, without_signature
from abmarl.gridworld.seeding import seed_of, seed_of_worlds, seed_words
from abmarl.gridworld.state.base import world_numbers
from abmarl.gridworld.vector.channels import Channels, Outputs, Sampler
from abmarl.gridworld.vector.shard import Shard
from abmarl.gridworld.vector.threads import Crew, thread_count
from abmarl.gridworld.vector.wrappers import VectorBase
from abmarl.kernels.episode import EpisodeState
from abmarl.resources import check_memory
from abmarl.sim.agents import is_agent

_PARAMETERS = ("num_envs", "seed", "horizon", "num_threads", "order", "autoreset", "copy")


class VectorSimulation(VectorBase):
    """B worlds of one simulation, stepped together.

    Everything is keyed by group: ``obs[group][channel]`` and ``actions[group][channel]`` are
    arrays ``(num_envs, n, *shape)``, ``rewards[group]``, ``terminated[group]`` and
    ``truncated[group]`` are ``(num_envs, n)``. World k does exactly what the single simulation
    does after ``reset(seed=(seed, k))``.

    Args:
        sim: The simulation to multiply; it is not changed.
        num_envs: Number of worlds.
        seed: Seed of all worlds; None: a fresh one, kept in ``seed``.
        horizon: Steps after which an episode is truncated; None: never.
        num_threads: Threads to use; None: ``ABMARL_NUM_THREADS`` or 1. Results do not depend
            on it.
        order: ``"fixed"``: agents act in their order; ``"random"``: in a fresh random order per
            world and step.
        autoreset: Whether a world that ends is reset in the same step.
        copy: Whether the arrays returned are fresh; else the next step overwrites them.

    Attributes:
        groups: ``{name: Group}`` of the learning agents.
        store: The arrays of all worlds.
        started: Whether the worlds have been reset, so that their random streams are on the way.
        loads: How many states were loaded, for those who watch the worlds from step to step.

    Raises:
        TypeError, ValueError: A parameter is of the wrong kind or out of its range.
    """

    loads = 0

    def __init__(
        self,
        sim: Any,
        num_envs: int,
        seed: int | None = None,
        horizon: int | None = None,
        num_threads: int | None = None,
        order: str = "fixed",
        autoreset: bool = True,
        copy: bool = False,
    ) -> None:
        self.num_envs = positive("num_envs", num_envs)
        self.horizon = None if horizon is None else positive("horizon", horizon)
        self.num_threads = thread_count(num_threads, self.num_envs)
        if order not in ("fixed", "random"):
            raise ValueError(f'order must be "fixed" or "random", got {order!r}.')
        for name, value in (("autoreset", autoreset), ("copy", copy)):
            if not isinstance(value, bool | np.bool_):
                raise TypeError(f"{name} must be True or False, got {value!r}.")
        self.order, self.autoreset, self.copy = order, bool(autoreset), bool(copy)
        self.sim = sim
        self.agents = sim.agents
        self.rows, self.cols = sim.grid.rows, sim.grid.cols
        self.seed = seed_of_worlds(seed)
        self._learning = np.array([is_agent(agent) for agent in sim.agents.values()])
        if not self._learning.any():
            raise ValueError("No agent both observes and acts, so there is nobody to act for.")
        learners = {
            name: group for name, group in sim.groups.items() if self._learning[group.slots[0]]
        }
        one = bytes_per_world(sim)
        check_memory(
            one * self.num_envs,
            f"{self.num_envs} worlds need",
            lambda available: f"num_envs up to {available // one} would fit.",
        )
        self.store = sim.store.replicate(self.num_envs)
        self.store.seed(self.seed)
        self.episodes = EpisodeState.zeros(self.num_envs, self.store.num_agents)
        self.channels = Channels(sim, learners, self.num_envs)
        self.groups = {name: self._with_spaces(group) for name, group in learners.items()}
        bounds = np.linspace(0, self.num_envs, self.num_threads + 1).astype(int)
        self._shards = [
            Shard(
                sim=sim,
                low=low,
                high=high,
                store=self.store,
                episodes=self.episodes,
                channels=self.channels,
                learning=self._learning,
                random_order=order == "random",
                horizon=self.horizon or 0,
                autoreset=self.autoreset,
            )
            for low, high in itertools.pairwise(bounds.tolist())
        ]
        self._crew = Crew([shard.program for shard in self._shards])
        first = self._shards[0].sim
        self._guarded = first.runs_foreign_code or any(one.may_fail for one in first.states)
        self._outputs = Outputs(self.episodes, self.channels, self.groups, self.copy)
        self._sampler = Sampler(self.channels, sim.actors)
        self._masks = Masks(sim.actors, self.channels.mask_layout)
        self.started = False

    def _with_spaces(self, group: Group) -> Group:
        slot = int(group.slots[0])
        spaces = {"action_space": self.sim.actors.items()}
        spaces["observation_space"] = [(one.key, one) for one in self.sim.observers]
        found: dict[str, Any] = {}
        for name, components in spaces.items():
            forms = {key: component.form(slot) for key, component in components}
            found[name] = Dict({k: form.narrow_space() for k, form in forms.items() if form})
        return dataclasses.replace(group, **found)

    def reset(self, seed: int | tuple | None = None, worlds: Any = None) -> tuple:
        """Start episodes.

        Args:
            seed: Restarts the random streams of the worlds; None goes on with them.
            worlds: bool mask [B] or ints, the worlds to reset; by default all of them.

        Returns:
            Observations and infos, as from ``step``.

        Raises:
            ValueError: A world or seed is wrong, or agents do not fit on the grid; then
                everything is as before.
        """
        chosen = world_numbers(worlds, self.num_envs)
        entropy = self.seed if seed is None else seed_of_worlds(seed)
        # Before the first start there is nothing but random streams to go back to.
        before = self._keep(chosen) if self.started else self.store.streams_copy()
        try:
            if seed is not None:
                self.store.seed(entropy, chosen)
            if not self.started:
                self.episodes.running[:] = False
                self.episodes.alive[:] = False
                self.store.active[np.isin(np.arange(self.num_envs), chosen, invert=True)] = False
            self.store.rewards[chosen] = 0.0
            for shard in self._shards:
                mine = chosen[(chosen >= shard.low) & (chosen < shard.low + len(shard.everywhere))]
                if len(mine):
                    shard.begin(mine - shard.low)
                    shard.observe(mine - shard.low)
        except BaseException:
            self._put_back(before) if self.started else self.store.load(before)
            raise
        if worlds is None:
            self.seed = entropy
        for name in ("terminated", "truncated", "ended"):
            getattr(self.episodes, name)[chosen] = False
        self.started = True
        return self._outputs.observations(), self._outputs.infos()

    def step(self, actions: Any) -> tuple:
        """One step of every world.

        Args:
            actions: ``{group: {channel: integer array (num_envs, n, *shape)}}``; a ``Dict``
                channel is one array with the entries of its keys side by side. Entries of
                agents that do not act any more must lie in the space too; they are ignored.

        Returns:
            ``obs, rewards, terminated, truncated, infos``. An agent is terminated or truncated
            in the step in which it ends, once. ``infos`` holds ``active[group]`` (who acts next),
            ``ended`` (worlds that ended) and, valid where ``ended`` is set, ``final_obs``,
            ``final_active`` (bool, all agents) and ``episode`` with ``return`` and ``length``.

        Raises:
            TypeError, ValueError: The actions are wrong; nothing has changed.
        """
        if not self.started:
            raise ValueError("Call reset() before step().")
        self.channels.receive(actions)
        before = self.state_dict() if self._guarded else None
        try:
            self._crew.run()
            for shard in self._shards:
                shard.sim.check_start()
        except BaseException:
            if before is not None:
                self._go_back(before)
            raise
        episodes, outputs = self.episodes, self._outputs
        return (
            outputs.observations(),
            outputs.by_group(self.store.rewards),
            outputs.by_group(episodes.terminated),
            outputs.by_group(episodes.truncated),
            outputs.infos(),
        )

    def observations(self) -> dict:
        """Return the present observations, ``{group: {channel: array}}``."""
        return self._outputs.observations()

    def infos(self) -> dict:
        """Return what ``reset`` and ``step`` return as infos."""
        return self._outputs.infos()

    def sample_actions(self) -> dict:
        """Return random actions for all groups, from the worlds' streams for this purpose."""
        return self._outputs.of_channels(self._sampler.sample(self.store.sample_streams))

    def action_masks(self) -> dict:
        """Return which actions would do something now.

        Returns:
            ``{group: {channel: bool array}}``: moves that are possible, attacks that have a
            target; ``(B, n, k)`` for a discrete channel of k actions, ``(B, n, *shape, k)`` for
            channels of several numbers with k options each, and ``(B, n, 2m+1, 2m+1)`` for moves
            by row and column. The action that does nothing is always there. Channels of
            components without masks are left out.
        """
        if not self.started:
            raise ValueError("Call reset() before action_masks().")
        masks = self._masks.update((shard.sim.actors, shard.low) for shard in self._shards)
        return self._outputs.of_channels(self.channels.by_group(masks))

    def attackable(self, group: str) -> set:
        """Return the encodings that the agents of a group may attack."""
        encoding = self._group(group).encoding
        return set().union(*(mapping.get(encoding, ()) for mapping in self._attack_mappings()))

    def attackers(self, group: str) -> set:
        """Return the encodings of the agents that may attack those of a group."""
        encoding = self._group(group).encoding
        return {
            other
            for mapping in self._attack_mappings()
            for other, them in mapping.items()
            if encoding in them
        }

    def _attack_mappings(self):
        actors = [one.unwrapped for one in self.sim.actors.values()]
        return [getattr(one, "attack_mapping", {}) for one in actors]

    def _group(self, name: str) -> Group:
        if name not in self.groups:
            raise ValueError(f"There is no group {name!r}; the groups are {list(self.groups)}.")
        return self.groups[name]

    # --- saving ---

    def state_dict(self) -> dict:
        """Return a copy of everything that the worlds are, random streams and outputs included."""
        state = {name: array.copy() for name, array in self._arrays().items()}
        return {"signature": self.store.signature, "seed": seed_words(self.seed), **state}

    def load_state_dict(self, state: dict) -> None:
        """Go back to what ``state_dict`` returned, of this or an equal vectorised simulation.

        Raises:
            ValueError: It is of a different simulation, or damaged; nothing has changed.
        """
        saved = without_signature(state, self.store)
        seed = seed_of(saved.pop("seed", None))
        check_arrays(self._arrays(), saved)
        check_worlds(self.store, saved)
        self.seed = seed
        self._go_back(saved)
        self.started = True
        self.loads += 1

    def _go_back(self, saved: dict[str, np.ndarray]) -> None:
        """Load a state that is known to be right."""
        for name, array in self._arrays().items():
            array[...] = saved[name]
        self._touch()

    def _keep(self, worlds: np.ndarray) -> list[tuple]:
        """Return what some worlds are, for ``_put_back``; all where foreign code may reach them.

        A reset of few worlds is cheap that way: what it cannot change is not copied.
        """
        if self._guarded or len(worlds) == self.num_envs:
            return [(array, ..., array.copy()) for array in self._arrays().values()]
        arrays = [*self.store.state().values(), *self.episodes]
        arrays += self.channels.observed_blocks()
        return [(array, worlds, array.take(worlds, axis=0)) for array in arrays]

    def _put_back(self, kept: list[tuple]) -> None:
        """Undoe what has happened since ``_keep``."""
        for array, worlds, saved in kept:
            array[worlds] = saved
        self._touch()

    def _touch(self) -> None:
        for store in (self.store, *(shard.store for shard in self._shards)):
            store.touch()

    def _arrays(self) -> dict[str, np.ndarray]:
        arrays = dict(self.store.state())
        arrays.update({f"episodes.{k}": array for k, array in self.episodes._asdict().items()})
        for key, (flat, final, _) in self.channels.observations.items():
            arrays[f"obs.{key}"], arrays[f"final_obs.{key}"] = flat, final
        return arrays

    def __reduce__(self) -> tuple:
        # Arrays are shared with the shards: a copy builds its own and gets the state.
        parameters = {name: getattr(self, name) for name in _PARAMETERS}
        return _rebuild, (type(self), self.sim, parameters, self.state_dict(), self.started)

    def part_of(self, world: int) -> tuple:
        """Return where a world is played: the simulation that holds it, and its number in there.

        The components of that simulation have the outcomes of the last step.
        """
        for shard in self._shards:
            if 0 <= world - shard.low < len(shard.everywhere):
                return shard.sim, world - shard.low
        raise ValueError(f"There is no world {world!r}; there are 0 to {self.num_envs - 1}.")

    def __repr__(self) -> str:
        return (
            f"VectorSimulation({type(self.sim).__name__}, num_envs={self.num_envs}, "
            f"seed={self.seed}, horizon={self.horizon}, num_threads={self.num_threads})"
        )


def _rebuild(
    kind: type[VectorSimulation], sim: Any, parameters: dict, state: dict, started: bool
) -> VectorSimulation:
    vec = kind(sim, **parameters)
    vec.load_state_dict(state)
    vec.started = started
    return vec


def bytes_per_world(sim: Any) -> int:
    """Return what one world of a vectorised simulation takes, with its actions and observations."""
    store = sim.store
    kept = sum(array.nbytes for array in store.state().values())
    kept += sum(array.nbytes for array in EpisodeState.zeros(1, store.num_agents))
    # Each twice: observations run and are final, actions are received and sampled.
    kept += 2 * _entries(sim.observers)
    actors = [layer for actor in sim.actors.values() for layer in actor.layers]
    size = kept + 2 * _entries(actors)
    turns = Actions(store, {})
    size += turns.turns.nbytes + turns.num_turns.nbytes
    for part in (*sim.states, *actors, *sim.observers, *sim.dones):
        size += _scratch(part)
    # A reset, and a step that may fail, is made with a copy of the state at hand.
    return size + kept


def _entries(channels: Iterable[ChannelComponent]) -> int:
    return sum(part.num_entries * part.dtype.itemsize for part in channels)


def _scratch(part: Component) -> int:
    """Bytes of the arrays [B, N, ...] that a component has beside the store."""
    store = part.store
    own = {id(array) for array in store.state().values()}
    found: list[Any] = []
    for value in vars(part).values():
        found.extend(value if isinstance(value, tuple) else (value,))
    return sum(
        one.nbytes
        for one in found
        if isinstance(one, np.ndarray)
        and one.ndim > 1
        and len(one) == store.num_worlds
        and id(one) not in own
    )
