"""Simulations that are declared: the components are named, the rest follows."""

import difflib
import functools
import inspect
from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np

from abmarl.gridworld.actions import ActionReader, Actions, AgentMasks
from abmarl.gridworld.actor.base import ActorBase
from abmarl.gridworld.base import GridWorldSimulation
from abmarl.gridworld.component import on_listed
from abmarl.gridworld.done import AnyDone
from abmarl.gridworld.registry import class_of, find_component, layers_of, make_component
from abmarl.gridworld.rewards import RewardRules, RewardsById
from abmarl.kernels.program import Program


class SmartGridWorldSimulation(GridWorldSimulation):
    """A grid world made of components, without a class or with little of one.

    With ``actors`` declared nothing else is needed. A subclass may say in ``step_batch`` what a
    step does, on arrays, for one world and for thousands; or in ``step`` agent by agent, as in
    the object style, for single worlds only.

    Args:
        states, observers, dones: Component classes or registered names, as a set, list or tuple.
            They work in a fixed order whatever the collection: states placement first, the others
            by name.
        actors: Component classes or registered names, as a list or tuple; they act in this order.
            A component that needs parameters of its own, or an actor in a wrapper, is given as a
            ``functools.partial``: ``partial(RavelActionWrapper, MoveActor)``.
        rewards: ``{event: amount}`` and rules, see ``RewardRules``.
        agents, grid: See ``GridWorldSimulation``.
        kwargs: Parameters of the components.

    Raises:
        TypeError, ValueError: A component, parameter or event is unknown.
    """

    # What subclasses define, by name.
    _defined: ClassVar[frozenset[str]] = frozenset()

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        bases = cls.__mro__[: cls.__mro__.index(SmartGridWorldSimulation)]
        cls._defined = frozenset(name for base in bases for name in vars(base))

    def __init__(
        self,
        agents: Any = None,
        grid: Any = None,
        states: Any = (),
        actors: Any = (),
        observers: Any = (),
        dones: Any = (),
        rewards: Any = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(agents=agents, grid=grid)
        self._kwargs = {"agents": self.agents, "grid": self.grid, **kwargs}
        for name, given in (("states", states), ("observers", observers), ("dones", dones)):
            if not isinstance(given, set | frozenset | list | tuple):
                raise TypeError(f"{name} must be a set, list or tuple, got {given!r}.")
        if not isinstance(actors, list | tuple):
            raise TypeError(f"actors act in their order: give a list or tuple, got {actors!r}.")
        found = {
            "state": [find_component("state", one) for one in states],
            "actor": [find_component("actor", one) for one in actors],
            "observer": [find_component("observer", one) for one in observers],
            "done": [find_component("done", one) for one in dones],
        }
        for kind in ("observer", "done"):
            found[kind].sort(key=lambda one: class_of(one).__name__)
        found["state"].sort(key=lambda one: (class_of(one).rank, class_of(one).__name__))
        if type(self) is SmartGridWorldSimulation:
            everything = [one for ones in found.values() for one in ones]
            _refuse_unknown(kwargs, [part for one in everything for part in layers_of(one)])
            _refuse_unplaced(found)
        made = {
            kind: [make_component(one, self._kwargs) for one in found[kind]]
            for kind in ("state", "observer", "done", "actor")
        }
        self.states, self.observers, self.dones = made["state"], made["observer"], made["done"]
        self._declared_actors = made["actor"]
        self._declared_rewards = {} if rewards is None else rewards
        self.rewards = RewardsById(self.store)

    def finalize(self) -> None:
        """Make agents and spaces ready for use, and settle who acts and what is rewarded."""
        super().finalize()
        self._arrays = self.store
        made = [part for part in vars(self).values() if isinstance(part, ActorBase)]
        actors = [*self._declared_actors, *made]
        within = [layer for actor in actors for layer in actor.layers[1:]]
        actors = [actor for actor in actors if not any(actor is layer for layer in within)]
        self.actors = {actor.key: actor for actor in actors}
        if len(self.actors) < len(actors):
            keys = [actor.key for actor in actors]
            raise ValueError(f"Two actors have the same channel; each needs its own: {keys}.")
        self._rules = RewardRules(self._declared_rewards, actors, self.store)
        self._reader = ActionReader(self._arrays, self.actors)
        self.any_done = AnyDone(self.dones, self.store)
        self._find: Program | None = None
        self._masks = AgentMasks(self._arrays, self.actors)
        getters = ("get_obs", "get_reward", "get_done", "get_info")
        self._own_getters = self._defined.isdisjoint(getters)
        self._one_by_one = [one for one in self.observers if one.works_on == "agents"]
        # By the agents who were asked for, and not more than some.
        self._selections: dict[tuple, tuple[np.ndarray, list[tuple]]] = {}
        self._done_version = -1
        self._placed = False
        self._started = np.zeros(self.store.num_worlds, np.int64)
        self._start: Program | None = None
        self._program: Program | None = None
        self._played: Actions | None = None

    # --- the interface of a single simulation ---

    def reset(self, seed: int | tuple | None = None, **kwargs: Any) -> None:
        """Start an episode.

        Args:
            seed: An int s for world 0 of seed s, (s, k) for world k; None goes on with the
                random stream.
        """
        self.start_episode(np.zeros(1, np.int64))
        self.store.rewards[:] = 0.0

    def step(self, action_dict: Mapping, **kwargs: Any) -> None:
        """Let the agents in ``action_dict`` act, in its order.

        Raises:
            ValueError: An agent or channel is unknown or an action is not in its space; nothing
                has changed.
        """
        if not self.actors and "step_batch" not in self._defined:
            raise TypeError(f"{type(self).__name__} has no actors; declare some, or define step.")
        if not self._placed and not self.store.cell.any():
            raise ValueError(
                "Nobody is on the grid; call reset() before step(), and see to it that a state "
                "component such as PositionState places the agents."
            )
        self._placed = True
        self._play(self._reader.read(action_dict))

    def get_obs(self, agent_id: str, **kwargs: Any) -> dict:
        """Return the observation of one agent: ``{channel: array}``.

        The arrays are the caller's own: they never change, and what is written into them does not
        show in what is asked for later.
        """
        slot = self._arrays.index[agent_id]
        obs = {}
        for observer in self.observers:
            if observer.works_on == "agents":
                obs.update(observer.get_obs(self.agents[agent_id], **kwargs))
                continue
            row = observer.row(slot)
            if row is not None:
                obs[observer.key] = row
        return obs

    def get_reward(self, agent_id: str, **kwargs: Any) -> float:
        """Return the reward since it was read last; reading sets it to 0."""
        rewards = self._arrays.rewards
        slot = self._arrays.index[agent_id]
        reward = rewards.item(slot)
        rewards[0, slot] = 0.0
        return reward

    def get_done(self, agent_id: str, **kwargs: Any) -> bool:
        """Tell whether the agent is done."""
        return self.find_done().item(self._arrays.index[agent_id])

    def get_all_done(self, **kwargs: Any) -> bool:
        """Tell whether the simulation is done."""
        if self._done_version != self._arrays.version:
            self.find_done()
        return self.any_done.worlds_done.item(0)

    def action_masks(self) -> dict:
        """Return which actions would do something now: possible moves, attacks with a target.

        Returns:
            ``{agent id: {channel: bool array}}``, of the channels whose actors make masks; the
            shapes are those of ``VectorSimulation.action_masks``.

        Raises:
            ValueError: Nobody is on the grid yet.
        """
        if not self._placed and not self.store.cell.any():
            raise ValueError("Call reset() before action_masks().")
        return self._masks.read()

    def find_done(self) -> np.ndarray:
        """Return which agents are done, bool [N]; the next call overwrites it."""
        if self._done_version != self._arrays.version:
            if self._find is None:
                self._find = Program(self.any_done.steps())
            self._find()
            self._done_version = self._arrays.version
        return self.any_done.agents_done[0]

    def get_outputs(self, agent_ids: Any) -> tuple:
        """Return observations, rewards, dones and infos of several agents by id, made in one go."""
        if not self._own_getters:
            return super().get_outputs(agent_ids)
        ids = tuple(agent_ids)
        slots, selected = self._selections.get(ids) or self._select(ids)
        obs = None
        for observer, those, *where in selected:
            key, rows = observer.key, observer.read(*where)
            if obs is None and len(those) == len(ids):
                obs = {agent_id: {key: row} for agent_id, row in zip(those, rows)}  # noqa: B905
                continue
            obs = {agent_id: {} for agent_id in ids} if obs is None else obs
            for agent_id, row in zip(those, rows):  # noqa: B905 - strict= costs time here
                obs[agent_id][key] = row
        obs = {agent_id: {} for agent_id in ids} if obs is None else obs
        for observer in self._one_by_one:
            for agent_id in ids:
                obs[agent_id].update(observer.get_obs(self.agents[agent_id]))
        row = self._arrays.rewards[0]
        rewards = row.take(slots).tolist()
        row[slots] = 0.0
        dones = self.find_done().take(slots).tolist()
        return (
            obs,
            dict(zip(ids, rewards)),  # noqa: B905
            dict(zip(ids, dones)),  # noqa: B905
            {agent_id: {} for agent_id in ids},
        )

    def _select(self, ids: tuple[str, ...]) -> tuple[np.ndarray, list[tuple]]:
        """Find out who these agents are and where their observations lie."""
        slots = np.array([self._arrays.index[agent_id] for agent_id in ids], np.int64)
        selected = [
            (one, ids if len(there) == len(ids) else [ids[k] for k in there], *where)
            for one in self.observers
            if one.works_on != "agents"
            for there, *where in one.select(slots)
        ]
        if len(self._selections) * len(ids) > 1000:
            self._selections.clear()
        self._selections[ids] = slots, selected
        return slots, selected

    # --- all worlds at once, as arrays ---

    def start_episode(self, worlds: Any) -> None:
        """Start an episode in the listed worlds (int64 array).

        Raises:
            ValueError: Agents do not fit on the grid.
        """
        if self._start is None:
            self._start = Program(self._start_steps(self._started))
        self._started[: len(worlds)] = worlds
        self._started[len(worlds) : len(worlds) + 1] = -1
        self._start()
        self.check_start()

    def start_steps(self, worlds: Any) -> list:
        """Return what a program runs instead of ``start_episode``; worlds below 0 end the list."""
        if "start_episode" in self._defined:
            return [on_listed(self.start_episode, worlds)]
        return self._start_steps(worlds)

    def _start_steps(self, worlds: np.ndarray) -> list:
        steps = self.store.beginning(worlds)
        for state in self.states:
            steps += state.steps(worlds)
        return steps

    def check_start(self) -> None:
        """Raise a ValueError if the last start of episodes failed."""
        self.store.touch()
        for state in self.states:
            state.check()

    def step_batch(self, actions: Any) -> None:
        """Carry out a step, in all worlds.

        By default every actor processes its channel, in the order declared.

        Args:
            actions: The ``Actions`` of the step; ``actor.process(actions)`` takes them, and
                ``actions[key]`` is the array [B, n, ...] of a channel.
        """
        for actor in self.actors.values():
            actor.process(actions)

    def play_steps(self, actions: Any) -> list:
        """Return what a program runs for a step: ``step_batch``, then the reward rules."""
        if "step_batch" in self._defined:
            steps = [lambda: self._step_batch(actions)]
        else:
            steps = [step for actor in self.actors.values() for step in actor.steps(actions)]
        steps += self._rules.steps(actions)
        return [*steps, self._check_rewards] if self.runs_foreign_code else steps

    def _step_batch(self, actions: Actions) -> None:
        for actor in self.actors.values():
            actor.acting = actions
        try:
            self.step_batch(actions)
        finally:
            for actor in self.actors.values():
                actor.acting = None

    def _play(self, actions: Actions) -> None:
        if self._played is not actions or self._program is None:
            self._program, self._played = Program(self.play_steps(actions)), actions
        self._program()
        self._arrays.touch()

    def _check_rewards(self) -> None:
        store = self.store
        if not np.isfinite(store.rewards).all():
            b, i = np.argwhere(~np.isfinite(store.rewards))[0]
            raise ValueError(
                f"Agent {store.ids[i]!r} in world {store.first_world + b} was given the reward "
                f"{store.rewards[b, i]}; rewards must be finite."
            )

    @functools.cached_property
    def runs_foreign_code(self) -> bool:
        """Whether a step runs code that is not the package's own and so may fail half way."""
        layers = [layer for actor in self.actors.values() for layer in actor.layers]
        parts = (*self.states, *self.observers, *self.dones, *layers, self)
        own = all(type(part).__module__.startswith("abmarl.") for part in parts)
        return not own or bool(self._rules.rules)

    def vectorize(self, num_envs: int, **kwargs: Any) -> Any:
        """Many worlds of this simulation at once.

        Args:
            num_envs: How many.
            kwargs: See ``VectorSimulation``.

        Raises:
            TypeError: Its ``step`` is written for single worlds.
        """
        from abmarl.gridworld.vector import VectorSimulation

        if "step" in self._defined or not (self.actors or "step_batch" in self._defined):
            return super().vectorize(num_envs, **kwargs)
        for name in ("reset", "get_obs", "get_reward", "get_done", "get_all_done"):
            if name in self._defined:
                raise TypeError(
                    f"{type(self).__name__} overrides {name}, which vectorised worlds do not call; "
                    "put it into components, step_batch or start_episode(worlds)."
                )
        for part in (*self.states, *self.observers, *self.dones, *self.actors.values()):
            if part.works_on == "agents":
                raise TypeError(
                    f"{type(part).__name__} works for single agents and worlds only; vectorize "
                    "needs it on arrays: start(worlds), space and observe, space and run, or done."
                )
        return VectorSimulation(self, num_envs, **kwargs)


def _refuse_unknown(kwargs: dict[str, Any], components: list) -> None:
    """Refuse parameters that no component takes.

    Args:
        kwargs: The parameters of the components by name.
        components: What was declared, with everything that it wraps.

    Raises:
        TypeError: Names a parameter, and the nearest one that is known.
    """
    known = {
        name
        for component in components
        for base in class_of(component).__mro__
        if "__init__" in vars(base)
        for name in inspect.signature(base.__init__).parameters
    }
    own = [name for one in components for name in getattr(one, "keywords", ())]
    for name in (*kwargs, *own):
        if name not in known:
            near = difflib.get_close_matches(name, known - {"self", "kwargs"}, 1)
            hint = f"; did you mean {near[0]!r}?" if near else "."
            raise TypeError(f"No component of this simulation takes {name!r}{hint}")


def _refuse_unplaced(components: dict[str, list]) -> None:
    """Refuse components that need agents on the grid where nothing places them.

    Placement comes from a state component: there is no class that could do it by hand.

    Args:
        components: What was declared, by kind.

    Raises:
        ValueError: Names a component.
    """
    for state in map(class_of, components["state"]):
        if state.rank == 0 or not state.__module__.startswith("abmarl."):
            return
    acting = [layer for actor in components["actor"] for layer in layers_of(actor)]
    for component in map(class_of, (*acting, *components["observer"])):
        if component.needs_positions:
            raise ValueError(
                f"{component.__name__} needs agents on the grid, and no state component places "
                'them; add one, states=["PositionState", ...].'
            )
