"""Super agents in vectorised simulations."""

import dataclasses
import warnings

import numpy as np

from abmarl.gridworld.state.base import world_numbers
from abmarl.gridworld.vector.covered import Member, fill, parts_of, super_group, wide
from abmarl.gridworld.vector.wrapping import VectorWrapper, mapped
from abmarl.sim.covers import MASK, check_covers
from abmarl.sim.layout import SpaceLayout


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

    def __init__(self, vec, super_agent_mapping):
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
        self._rest = {}
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

    def reset(self, seed=None, worlds=None) -> tuple:
        """Starts episodes; see ``VectorSimulation.reset``."""
        obs, infos = self.vec.reset(seed=seed, worlds=worlds)
        self._was[world_numbers(worlds, self.num_envs)] = True
        return self._observed(obs), self._informed(infos)

    def step(self, actions) -> tuple:
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
        """Random actions, those of the simulation wrapped."""
        return self._split(self.vec.sample_actions())

    def action_masks(self) -> dict:
        """Which actions would do something now, ``{super: {agent: {channel: bool array}}}``."""
        return self._split(self.vec.action_masks())

    def state_dict(self) -> dict:
        """A copy of everything that the worlds are."""
        own = {"super_agents.was": self._was.copy(), "super_agents.last": self._last.copy()}
        return {**self.vec.state_dict(), **own}

    def load_state_dict(self, state):
        """Goes back to what ``state_dict`` returned, of these or the same super agents.

        Raises:
            ValueError: It is of a different simulation; nothing has changed.
        """
        inner = dict(state)
        own = [inner.pop(f"super_agents.{name}", None) for name in ("was", "last")]
        if any(np.shape(array) != self._was.shape for array in own):
            raise ValueError("The state is not of a vectorised simulation with super agents.")
        self.vec.load_state_dict(inner)
        self._was[...], self._last[...] = own

    def _observed(self, obs):
        episodes = self.episodes
        # A world that started anew within the step shows its first observations, others their last.
        fresh = episodes.ended if self.autoreset else np.zeros_like(episodes.ended)
        mask = episodes.alive.copy()
        if not self.autoreset:
            np.copyto(mask, self._last, where=~episodes.running[:, None])
        return self._shown(obs, self._was | fresh[:, None], mask)

    def _informed(self, infos):
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

    def _shown(self, obs, seen, mask):
        """Observations of the super agents; those who are not ``seen`` [B, N] show null points.

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

    def _blanked(self, part, obs, seen):
        """Observations of a group, with null points where covered agents are not ``seen``."""
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

    def _warn(self, agent_id):
        if not self._warned:
            self._warned = True
            warnings.warn(
                f"agent {agent_id!r} is done and has no null_observation: its super agent goes on "
                "seeing what it observes; give covered agents a null_observation",
                stacklevel=7,
            )

    def _acted(self, actions):
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

    def _split(self, nested):
        """Entries of all agents by group as those of the super agents."""
        found = self._by_column(nested)
        for name, members in self._members.items():
            found[name] = {
                member.agent_id: mapped(member.of, nested[member.group.name]) for member in members
            }
        return self._ordered(found)

    def _by_column(self, nested):
        """The entries of those whom nobody covers, by group."""
        return {
            name: mapped(lambda array, at=columns: array[:, at], nested[name])
            for name, columns in self._rest.items()
        }

    def _ordered(self, found):
        return {name: found[name] for name in self.groups}
