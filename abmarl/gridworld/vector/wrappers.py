"""Vectorised simulations around vectorised simulations: converted spaces, and super agents."""

import dataclasses
import warnings
from collections import OrderedDict
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from gymnasium.spaces import Dict, MultiBinary, Space

from abmarl.gridworld.actions import as_array
from abmarl.gridworld.groups import Group
from abmarl.gridworld.rendering import Renderable
from abmarl.gridworld.state.base import world_numbers
from abmarl.kernels.episode import EpisodeState
from abmarl.kernels.spaces import blank_rows
from abmarl.sim.conversion import Conversion, FlattenConversion, RavelConversion, joint_masks
from abmarl.sim.layout import SpaceLayout, mapped, narrow
from abmarl.sim.spaces import is_given
from abmarl.sim.wrappers.super_agent_wrapper import MASK, check_covers


class VectorBase(Renderable):
    """What every vectorised simulation can be wrapped in, and how it is shown."""

    groups: dict[str, Group]
    num_envs: int
    agents: dict[str, Any]
    episodes: EpisodeState

    def flatten(
        self,
        actions: Any = True,
        observations: bool = True,
        one_hot: bool = True,
        groups: Any = None,
    ) -> "ConvertedSimulation":
        """Return the same worlds with flat arrays.

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

        def convert(space: Space, name: str) -> FlattenConversion:
            return flatten_group(space, name, one_hot)

        return ConvertedSimulation(self, convert, actions, observations, groups)

    def ravel(
        self, actions: Any = True, observations: bool = True, groups: Any = None
    ) -> "ConvertedSimulation":
        """Return the same worlds with one number per action and observation.

        Args:
            actions: Whether actions are numbers, ``actions[group]`` is ``(num_envs, n)`` then.
            observations: Whether observations are numbers, ``obs[group]`` likewise.
            groups: Names of the groups that are converted; None: all.

        Returns:
            A ``ConvertedSimulation`` around this one, which shares its worlds.

        Raises:
            TypeError, ValueError: A space cannot be ravelled, or there is no such group.
        """
        return ConvertedSimulation(self, RavelConversion, actions, observations, groups)

    def super_agents(self, super_agent_mapping: Mapping) -> "SuperAgentSimulation":
        """Return the same worlds with super agents in the place of the agents that they cover.

        Args:
            super_agent_mapping: ``{id of the super agent: ids of the covered agents}``.

        Returns:
            A ``SuperAgentSimulation`` around this one, which shares its worlds.

        Raises:
            TypeError, ValueError: The mapping is wrong.
        """
        return SuperAgentSimulation(self, super_agent_mapping)


def _passed_on(name: str) -> Any:
    def get(self: "VectorWrapper") -> Any:
        return getattr(self.vec, name)

    return property(get, doc=f"``{name}`` of the simulation wrapped.")


class VectorWrapper(VectorBase):
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

    def __init__(self, vec: VectorBase) -> None:
        self.vec: Any = vec
        self.groups = dict(vec.groups)

    @property
    def unwrapped(self) -> VectorBase:
        """The vectorised simulation within all wrappers."""
        return getattr(self.vec, "unwrapped", self.vec)

    def reset(self, seed: int | tuple | None = None, worlds: Any = None) -> tuple:
        """Start episodes; see ``VectorSimulation.reset``."""
        obs, infos = self.vec.reset(seed=seed, worlds=worlds)
        return self._observed(obs), self._informed(infos)

    def step(self, actions: Any) -> tuple:
        """One step of every world; see ``VectorSimulation.step``."""
        obs, rewards, terminated, truncated, infos = self.vec.step(self._acted(actions))
        return self._observed(obs), rewards, terminated, truncated, self._informed(infos)

    def observations(self) -> dict:
        """Return the present observations by group."""
        return self._observed(self.vec.observations())

    def infos(self) -> dict:
        """Return the infos that ``reset`` and ``step`` return."""
        return self._informed(self.vec.infos())

    def state_dict(self) -> dict:
        """Return a copy of everything that the worlds are."""
        return self.vec.state_dict()

    def load_state_dict(self, state: dict) -> None:
        """Go back to what ``state_dict`` returned."""
        self.vec.load_state_dict(state)

    def _observed(self, obs: dict) -> dict:
        """Return observations of the simulation wrapped as those of this one."""
        return obs

    def _acted(self, actions: Any) -> dict:
        """Actions of this simulation as those of the one wrapped."""
        return actions

    def _informed(self, infos: dict) -> dict:
        """Infos of the simulation wrapped as those of this one."""
        return infos

    def _check_groups(self, actions: Any) -> None:
        if not isinstance(actions, dict):
            raise TypeError(f"actions must be a dict by group, got {type(actions).__name__}.")
        if actions.keys() != self.groups.keys():
            raise ValueError(
                f"actions must have exactly the groups {list(self.groups)}, got {list(actions)}."
            )

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.vec!r})"


class ConvertedSimulation(VectorWrapper):
    """A vectorised simulation with one array per group instead of one per channel.

    ``obs[group]`` and ``actions[group]`` are arrays ``(num_envs, n, *shape)`` of points of
    ``groups[group].observation_space`` and ``action_space``. Everything else is as before.

    Args:
        vec: The vectorised simulation to wrap.
        convert: Function of a space and what to call it that returns a ``Conversion``.
        actions, observations: Which side is converted.
        groups: Names of the groups that are converted; None: all. The others keep their channels.

    Raises:
        TypeError, ValueError: A parameter is wrong, or a space cannot be converted.
    """

    def __init__(
        self,
        vec: VectorBase,
        convert: Callable,
        actions: Any = True,
        observations: bool = True,
        groups: Any = None,
    ) -> None:
        super().__init__(vec)
        chosen = self._chosen_groups(groups)
        for name, value in (("actions", actions), ("observations", observations)):
            if not isinstance(value, bool | np.bool_):
                raise TypeError(f"{name} must be True or False, got {value!r}.")
        self._actions = self._conversions(convert, "action_space", chosen) if actions else {}
        self._observations = (
            self._conversions(convert, "observation_space", chosen) if observations else {}
        )
        self.groups = {
            name: dataclasses.replace(
                group, **self._targets(name, action_space=self._actions,
                                       observation_space=self._observations)
            )
            for name, group in vec.groups.items()
        }  # fmt: skip
        leads = {name: (vec.num_envs, len(group)) for name, group in vec.groups.items()}
        made = {name: one.empty(leads[name]) for name, one in self._observations.items()}
        self._obs, self._final = made, {name: np.zeros_like(array) for name, array in made.items()}
        self._sampled = {name: one.empty(leads[name]) for name, one in self._actions.items()}
        self._chosen = {name: one.layout.empty(leads[name]) for name, one in self._actions.items()}

    def sample_actions(self) -> dict:
        """Return random actions for all groups, uniform over what the simulation wrapped has."""
        found = self.vec.sample_actions()
        for name, conversion in self._actions.items():
            conversion.convert_into(found[name], self._sampled[name])
        return {**found, **self._out(self._sampled)}

    def action_masks(self) -> dict:
        """Return which actions would do something now.

        Where actions are ravelled, ``{group: bool array (num_envs, n, number of actions)}``: an
        action is there when it is in the masks of all its channels. Else as before, by channel:
        a mask of choices says nothing of the entries of a flat action.

        Raises:
            ValueError: A group has too many joint actions for a mask, or they were flattened
                before they were ravelled.
        """
        masks = self.vec.action_masks()
        return {name: self._joint(name, mask) for name, mask in masks.items()}

    def attackable(self, group: str) -> set:
        """Return the encodings that the agents of a group may attack."""
        return self.vec.attackable(group)

    def attackers(self, group: str) -> set:
        """Return the encodings of the agents that may attack those of a group."""
        return self.vec.attackers(group)

    def _chosen_groups(self, groups: Any) -> list[str]:
        if groups is None:
            return list(self.vec.groups)
        if isinstance(groups, str) or not all(isinstance(name, str) for name in groups):
            raise TypeError(f"groups must be None or a list of names, got {groups!r:.100}.")
        for name in groups:
            if name not in self.vec.groups:
                raise ValueError(
                    f"There is no group {name!r}; the groups are {list(self.vec.groups)}."
                )
        return list(groups)

    def _conversions(
        self, convert: Callable[..., Conversion], side: str, chosen: list[str]
    ) -> dict[str, Conversion]:
        return {
            name: convert(getattr(self.vec.groups[name], side), f"{side} of group {name!r}")
            for name in chosen
        }

    @staticmethod
    def _targets(name: str, **sides: dict[str, Conversion]) -> dict[str, Any]:
        return {side: found[name].target for side, found in sides.items() if name in found}

    def _observed(self, obs: dict) -> dict:
        for name, conversion in self._observations.items():
            if conversion.convert_into(obs[name], self._obs[name]) >= 0:
                self._refuse_observations(name, obs[name])
        return {**obs, **self._out(self._obs)}

    def _informed(self, infos: dict) -> dict:
        if not self._observations:
            return infos
        worlds = np.flatnonzero(infos["ended"])
        if len(worlds):
            for name, conversion in self._observations.items():
                final = mapped(lambda array: array[worlds], infos["final_obs"][name])
                self._final[name][worlds] = conversion.convert_batch(final)
        return {**infos, "final_obs": {**infos["final_obs"], **self._out(self._final)}}

    def _acted(self, actions: Any) -> dict:
        self._check_groups(actions)
        found = dict(actions)
        for name, conversion in self._actions.items():
            found[name] = self._restored(name, conversion, np.asarray(actions[name]))
        return found

    def _restored(self, name: str, conversion: Conversion, given: np.ndarray) -> Any:
        expected = self._sampled[name].shape
        if given.shape != expected:
            raise ValueError(f"actions[{name!r}] must have shape {expected}, got {given.shape}.")
        row = conversion.outside(given)
        if row >= 0:
            b, k = divmod(row, expected[1])
            raise ValueError(
                f"Action of agent {self.groups[name].agent_ids[k]!r} in world {b} is "
                f"{given[b, k].tolist()}, which is not in {conversion.target}."
            )
        conversion.restore_into(given, self._chosen[name])
        return self._chosen[name]

    def _refuse_observations(self, name: str, obs: dict) -> None:
        """Refuse observations that are not in their space, unless nobody is there to observe.

        Worlds that have not been reset yet hold zeros, which need not be in the space.
        """
        worlds = np.flatnonzero(self.episodes.running)
        conversion = self._observations[name]
        found = mapped(lambda array: array[worlds], obs)
        row = conversion.convert_into(
            found, conversion.empty((len(worlds), len(self.groups[name])))
        )
        if row >= 0:
            b, k = divmod(row, len(self.groups[name]))
            raise ValueError(
                f"Agent {self.groups[name].agent_ids[k]!r} in world {worlds[b]} observes something "
                f"that is not in {conversion.source}."
            )

    def _joint(self, name: str, mask: dict) -> Any:
        conversion = self._actions.get(name)
        if not isinstance(conversion, RavelConversion):
            return mask
        return joint_masks(conversion, mask, self._sampled[name].shape, f"Group {name!r}")

    def _out(self, arrays: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
        return {name: array.copy() if self.copy else array for name, array in arrays.items()}


def flatten_group(space: Space, name: str, one_hot: bool) -> FlattenConversion:
    """Return a conversion that flattens, with the narrowest integers that hold the points."""
    found = FlattenConversion(space, name, one_hot)
    if not found.layout.integer or not found.width:
        return found
    dtype = narrow(int(found.target.low.min()), int(found.target.high.max()))
    return FlattenConversion(space, name, one_hot, dtype)


class SuperAgentSimulation(VectorWrapper):
    """A vectorised simulation with super agents in the place of the agents that they cover.

    What ``SuperAgentWrapper`` does for a single simulation. A super agent is a group of its own:
    ``obs[super][agent][channel]`` and ``actions[super][agent][channel]`` are arrays
    ``(num_envs, 1, *shape)``, ``obs[super]["mask"][agent]`` is ``(num_envs, 1, 1)``, and
    ``rewards[super]`` and the like are ``(num_envs, 1)``. Agents that nobody covers stay in their
    groups. A super agent is truncated when one of its agents is in the step in which the last of
    them ends, else terminated. At the end of a world the mask tells who is active.

    Args:
        vec: The vectorised simulation to wrap.
        super_agent_mapping: ``{id of the super agent: ids of the covered agents}``.

    Attributes:
        super_agent_mapping: The same with lists.

    Raises:
        TypeError, ValueError: See ``check_covers``; ``vec`` is a wrapper; or a super agent has the
            name of a group with agents that nobody covers.
    """

    def __init__(self, vec: VectorBase, super_agent_mapping: Mapping) -> None:
        if isinstance(vec, VectorWrapper):
            raise TypeError(
                f"Super agents cover the agents of a VectorSimulation, got {type(vec).__name__}; "
                "make them first, then flatten or ravel: vec.super_agents(mapping).flatten()."
            )
        super().__init__(vec)
        self.super_agent_mapping = check_covers(super_agent_mapping, vec.agents)
        members = {
            agent_id: Member(agent_id, group, k, vec.agents[agent_id].null_observation)
            for group in vec.groups.values()
            for k, agent_id in enumerate(group.agent_ids)
        }
        self._members = {
            name: [members.pop(agent_id) for agent_id in ids]
            for name, ids in self.super_agent_mapping.items()
        }
        self._parts = parts_of(self._members)
        self._rest: dict[str, list[int]] = {}
        for member in members.values():
            self._rest.setdefault(member.group.name, []).append(member.column)
        for name in self._members:
            if name in self._rest:
                raise ValueError(
                    f"Super agent {name!r} has the name of a group with agents that nobody "
                    "covers; give it another one."
                )
        self.groups = {name: super_group(name, found) for name, found in self._members.items()}
        for name, columns in self._rest.items():
            group = vec.groups[name]
            ids = tuple(group.agent_ids[k] for k in columns)
            self.groups[name] = dataclasses.replace(
                group, agent_ids=ids, slots=group.slots[columns]
            )
        self._chosen = {
            name: wide(SpaceLayout(group.action_space).empty((vec.num_envs, len(group))))
            for name, group in vec.groups.items()
        }
        shape = vec.episodes.alive.shape
        # Who was not done before the last step of a world, and who was active when it ended.
        self._was, self._last = np.ones(shape, bool), np.zeros(shape, bool)
        self._warned = False

    def reset(self, seed: int | tuple | None = None, worlds: Any = None) -> tuple:
        """Start episodes; see ``VectorSimulation.reset``."""
        obs, infos = self.vec.reset(seed=seed, worlds=worlds)
        self._was[world_numbers(worlds, self.num_envs)] = True
        return self._observed(obs), self._informed(infos)

    def step(self, actions: Any) -> tuple:
        """One step of every world; see ``VectorSimulation.step``.

        Entries of covered agents that are done are ignored.
        """
        episodes = self.episodes
        running, alive = episodes.running.copy(), episodes.alive.copy()
        obs, rewards, terminated, truncated, infos = self.vec.step(self._acted(actions))
        np.copyto(self._was, alive, where=running[:, None])
        ended = running & episodes.ended
        active = episodes.truncated | (self._was & episodes.final_active)
        np.copyto(self._last, active, where=ended[:, None])

        left = self._was & ~(episodes.terminated | episodes.truncated)
        found = [self._by_column(one) for one in (rewards, terminated, truncated)]
        for name, members in self._members.items():
            slots = [member.slot for member in members]
            was = self._was[:, slots]
            found[0][name] = (self.store.rewards[:, slots] * was).sum(axis=1)[:, None]
            cut = episodes.truncated[:, slots].any(axis=1)
            over = (episodes.terminated[:, slots].any(axis=1) | cut) & ~left[:, slots].any(axis=1)
            found[1][name] = (over & ~cut)[:, None]
            found[2][name] = (over & cut)[:, None]
        found = [self._ordered(one) for one in found]
        return self._observed(obs), *found, self._informed(infos)

    def sample_actions(self) -> dict:
        """Return random actions, those of the simulation wrapped."""
        return self._split(self.vec.sample_actions())

    def action_masks(self) -> dict:
        """Return which actions would do something, ``{super: {agent: {channel: array}}}``."""
        return self._split(self.vec.action_masks())

    def state_dict(self) -> dict:
        """Return a copy of everything that the worlds are."""
        own = {"super_agents.was": self._was.copy(), "super_agents.last": self._last.copy()}
        return {**self.vec.state_dict(), **own}

    def load_state_dict(self, state: dict) -> None:
        """Go back to what ``state_dict`` returned, of these or the same super agents.

        Raises:
            ValueError: It is of a different simulation; nothing has changed.
        """
        inner = dict(state)
        own = [inner.pop(f"super_agents.{name}", None) for name in ("was", "last")]
        if any(np.shape(array) != self._was.shape for array in own):
            raise ValueError("The state is not of a vectorised simulation with super agents.")
        self.vec.load_state_dict(inner)
        self._was[...], self._last[...] = own

    def _observed(self, obs: dict) -> dict:
        episodes = self.episodes
        # A world that was reset within the step shows its first observations, others their last.
        fresh = episodes.ended if self.autoreset else np.zeros_like(episodes.ended)
        mask = episodes.alive.copy()
        if not self.autoreset:
            np.copyto(mask, self._last, where=~episodes.running[:, None])
        return self._shown(obs, self._was | fresh[:, None], mask)

    def _informed(self, infos: dict) -> dict:
        episode = infos["episode"]
        returns = self._by_column(episode["return"])
        active = self._by_column(infos["active"])
        for name, members in self._members.items():
            slots = [member.slot for member in members]
            returns[name] = self.episodes.final_returns[:, slots].sum(axis=1)[:, None]
            active[name] = self.episodes.alive[:, slots].any(axis=1)[:, None]
        # Only worlds that have just ended show something there.
        seen = self._was | ~self.episodes.ended[:, None]
        return {
            **infos,
            "active": self._ordered(active),
            "final_obs": self._shown(infos["final_obs"], seen, self._last.copy()),
            "episode": {**episode, "return": self._ordered(returns)},
        }

    def _shown(self, obs: dict, seen: np.ndarray, mask: np.ndarray) -> dict:
        """Return the super agents' observations: null points for agents not ``seen`` [B, N].

        ``mask`` bool [B, N] is handed out.
        """
        found = self._by_column(obs)
        blanked = {name: self._blanked(part, obs[name], seen) for name, part in self._parts.items()}
        mask = mask.view(np.int8)
        for name, members in self._members.items():
            found[name] = {
                member.agent_id: mapped(member.of, blanked[member.group.name]) for member in members
            }
            found[name][MASK] = {one.agent_id: mask[:, one.slot, None, None] for one in members}
        return self._ordered(found)

    def _blanked(self, part: "Part", obs: Any, seen: np.ndarray) -> Any:
        """Return a group's observations, null points where covered agents are not ``seen``."""
        gone = ~seen[:, part.slots]
        lacking = gone & ~part.has_null
        if lacking.any():
            self._warn(part.agent_ids[int(lacking.any(axis=0).argmax())])
            gone &= part.has_null
        if not gone.any():
            return obs
        obs = mapped(np.copy, obs)
        mapped(part.blank(gone), obs, part.nulls)
        return obs

    def _warn(self, agent_id: str) -> None:
        if not self._warned:
            self._warned = True
            warnings.warn(
                f"agent {agent_id!r} is done and has no null_observation: its super agent goes on "
                "seeing what it observes; give covered agents a null_observation",
                stacklevel=7,
            )

    def _acted(self, actions: Any) -> dict:
        self._check_groups(actions)
        for name, members in self._members.items():
            given = actions[name]
            ids = self.super_agent_mapping[name]
            if not isinstance(given, dict) or given.keys() != set(ids):
                raise ValueError(
                    f"actions[{name!r}] must be a dict with the covered agents {ids}, "
                    f"got {list(given) if isinstance(given, dict) else given!r:.60}."
                )
            for member in members:
                chosen = self._chosen[member.group.name]
                where = f"actions[{name!r}][{member.agent_id!r}]"
                fill(mapped(member.of, chosen), given[member.agent_id], where)
        for name, columns in self._rest.items():
            if len(columns) == len(self.vec.groups[name]):
                continue
            # A list of columns gives a copy, so what was filled in is put back.
            part = mapped(lambda array, at=columns: array[:, at], self._chosen[name])
            fill(part, actions[name], f"actions[{name!r}]")
            mapped(
                lambda array, own, at=columns: array.__setitem__((slice(None), at), own),
                self._chosen[name], part,
            )  # fmt: skip
        whole = {
            name: actions[name] for name, group in self.vec.groups.items()
            if len(self._rest.get(name, ())) == len(group)
        }  # fmt: skip
        return {**self._chosen, **whole}

    def _split(self, nested: dict) -> dict:
        """Entries of all agents by group as those of the super agents."""
        found = self._by_column(nested)
        for name, members in self._members.items():
            found[name] = {
                member.agent_id: mapped(member.of, nested[member.group.name]) for member in members
            }
        return self._ordered(found)

    def _by_column(self, nested: dict) -> dict:
        """Return the entries of those whom nobody covers, by group."""
        return {
            name: mapped(lambda array, at=columns: array[:, at], nested[name])
            for name, columns in self._rest.items()
        }

    def _ordered(self, found: dict) -> dict:
        return {name: found[name] for name in self.groups}


@dataclasses.dataclass(frozen=True, eq=False)
class Member:
    """A learning agent: its group, its column there, and what it shows when it is done."""

    agent_id: str
    group: Group
    column: int
    null: dict

    @property
    def slot(self) -> int:
        """The agent's number."""
        return int(self.group.slots[self.column])

    def of(self, array: Any) -> Any:
        """Return the agent's entries in those of its group, a view ``[B, 1, ...]``."""
        return array[:, self.column : self.column + 1]


class Part:
    """The covered agents of a group: who they are, and their null observations one below another.

    Where an agent has none, that of another one stands in its row, and ``has_null`` is False.
    """

    def __init__(self, members: list) -> None:
        self.agent_ids = [member.agent_id for member in members]
        self.columns = np.array([member.column for member in members])
        self.slots = np.array([member.slot for member in members])
        self.has_null = np.array([is_given(member.null) for member in members])
        self.nulls = None
        if self.has_null.any():
            some = members[int(self.has_null.argmax())].null
            nulls = [member.null if is_given(member.null) else some for member in members]
            self.nulls = mapped(lambda *points: np.stack(points), *nulls)

    def blank(self, gone: np.ndarray) -> Callable:
        """Return a function of arrays ``[B, n, ...]`` and null points ``[len(self.slots), ...]``.

        It puts the null points where covered agents are ``gone``, bool [B, len(self.slots)].
        """

        def put(array: np.ndarray, nulls: np.ndarray) -> None:
            rows = array.reshape(*array.shape[:2], -1)
            blank_rows(gone, self.columns, nulls.reshape(len(nulls), -1), rows)

        return put


def parts_of(members_of: dict) -> dict:
    """Return the covered agents by the name of their group."""
    found: dict[str, list[Member]] = {}
    for members in members_of.values():
        for member in members:
            found.setdefault(member.group.name, []).append(member)
    return {name: Part(members) for name, members in found.items()}


def super_group(name: str, members: list) -> Group:
    """Return a super agent as a group: one agent with its members' spaces side by side."""
    # An OrderedDict, because gymnasium would sort the keys of another one.
    observations = OrderedDict((one.agent_id, one.group.observation_space) for one in members)
    observations[MASK] = Dict(OrderedDict((one.agent_id, MultiBinary(1)) for one in members))
    return Group(
        name=name,
        agent_ids=(name,),
        slots=np.array([member.slot for member in members]),
        encoding=members[0].group.encoding,
        observation_space=Dict(observations),
        action_space=Dict(OrderedDict((one.agent_id, one.group.action_space) for one in members)),
    )


def wide(nested: Any) -> Any:
    """Arrays of the same shapes that hold every number a user may give, to be checked later."""
    return mapped(
        lambda array: np.zeros(array.shape, np.int64 if array.dtype.kind in "iu" else np.float64),
        nested,
    )


def fill(target: Any, given: Any, where: str) -> None:
    """Copy a user's arrays into arrays of the simulation."""
    if isinstance(target, dict):
        if not isinstance(given, dict) or given.keys() != target.keys():
            raise ValueError(
                f"{where} must be a dict with {list(target)}, "
                f"got {list(given) if isinstance(given, dict) else given!r:.60}."
            )
        for key, part in target.items():
            fill(part, given[key], f"{where}[{key!r}]")
        return
    target[...] = as_array(given, target.shape, target.dtype.kind == "i", where)
