"""Vectorised simulations whose spaces are ravelled or flattened, in whole batches."""

import dataclasses

import numpy as np

from abmarl.gridworld.form import narrow
from abmarl.gridworld.vector.wrapping import VectorWrapper, mapped
from abmarl.sim.flatten import FlattenConversion
from abmarl.sim.joint_masks import joint_masks
from abmarl.sim.ravel import RavelConversion


def flatten_group(space, name, one_hot):
    """How the points of a space are flattened, with the narrowest integers that hold them."""
    found = FlattenConversion(space, name, one_hot)
    if not found.layout.integer or not found.width:
        return found
    dtype = narrow(int(found.target.low.min()), int(found.target.high.max()))
    return FlattenConversion(space, name, one_hot, dtype)


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

    def __init__(self, vec, convert, actions=True, observations=True, groups=None):
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
        """Random actions for all groups, uniform over what the simulation wrapped has."""
        found = self.vec.sample_actions()
        for name, conversion in self._actions.items():
            conversion.convert_into(found[name], self._sampled[name])
        return {**found, **self._out(self._sampled)}

    def action_masks(self) -> dict:
        """Which actions would do something now.

        Where actions are ravelled, ``{group: bool array (num_envs, n, number of actions)}``: an
        action is there when it is in the masks of all its channels. Else as before, by channel:
        a mask of choices says nothing of the entries of a flat action.

        Raises:
            ValueError: A group has too many joint actions for a mask, or they were flattened
                before they were ravelled.
        """
        masks = self.vec.action_masks()
        return {name: self._joint(name, mask) for name, mask in masks.items()}

    def attackable(self, group) -> set:
        """The encodings that the agents of a group may attack."""
        return self.vec.attackable(group)

    def attackers(self, group) -> set:
        """The encodings of the agents that may attack those of a group."""
        return self.vec.attackers(group)

    def _chosen_groups(self, groups):
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

    def _conversions(self, convert, side, chosen):
        return {
            name: convert(getattr(self.vec.groups[name], side), f"{side} of group {name!r}")
            for name in chosen
        }

    @staticmethod
    def _targets(name, **sides):
        return {side: found[name].target for side, found in sides.items() if name in found}

    def _observed(self, obs):
        for name, conversion in self._observations.items():
            if conversion.convert_into(obs[name], self._obs[name]) >= 0:
                self._refuse_observations(name, obs[name])
        return {**obs, **self._out(self._obs)}

    def _informed(self, infos):
        if not self._observations:
            return infos
        worlds = np.flatnonzero(infos["ended"])
        if len(worlds):
            for name, conversion in self._observations.items():
                final = mapped(lambda array: array[worlds], infos["final_obs"][name])
                self._final[name][worlds] = conversion.convert_batch(final)
        return {**infos, "final_obs": {**infos["final_obs"], **self._out(self._final)}}

    def _acted(self, actions):
        self._check_groups(actions)
        found = dict(actions)
        for name, conversion in self._actions.items():
            found[name] = self._restored(name, conversion, np.asarray(actions[name]))
        return found

    def _restored(self, name, conversion, given):
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

    def _refuse_observations(self, name, obs):
        """Refuses observations that are not in their space, unless nobody is there to observe.

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

    def _joint(self, name, mask):
        conversion = self._actions.get(name)
        if not isinstance(conversion, RavelConversion):
            return mask
        return joint_masks(conversion, mask, self._sampled[name].shape, f"Group {name!r}")

    def _out(self, arrays):
        return {name: array.copy() if self.copy else array for name, array in arrays.items()}
