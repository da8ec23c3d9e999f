"""Trained policies, loaded again from a results folder with their simulation."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from abmarl.experiments.configuration import mapping_of
from abmarl.experiments.environment import Codec, codecs_of, learners_of
from abmarl.experiments.experiment import Experiment, ExperimentError, read
from abmarl.experiments.ray_session import prepare
from abmarl.experiments.results import Results
from abmarl.experiments.settings import apply_settings
from abmarl.external.checkpoints.rllib import act, read_modules
from abmarl.external.runtime import hush
from abmarl.extras import load
from abmarl.managers.simulation_manager import SimulationManager


@dataclass
class TrainedExperiment:
    """A trained experiment.

    Attributes:
        results: its folder.
        experiment: its file, as it was when training began.
        iteration: iteration of the checkpoint.
        manager: manager of the simulation.
        trainer: the trained policies.
    """

    results: Results
    experiment: Experiment
    iteration: int
    manager: SimulationManager
    trainer: "TrainedPolicies"


def load_trained(
    results: Results, checkpoint: int | None = None, noisy: bool = False
) -> TrainedExperiment:
    """Load an experiment from its results folder. Its file is executed.

    Args:
        results: the folder.
        checkpoint: iteration of the checkpoint; None for the last one.
        noisy: whether RLlib may print warnings.

    Raises:
        ExperimentError: there is no such checkpoint, or it does not fit the file.
    """
    iteration, folder = results.checkpoint(checkpoint)
    prepare()
    if not noisy:
        hush()
    experiment = read(results.experiment, results.about.get("source"))
    apply_settings(experiment, results.about.get("set", []))
    manager = experiment.manager()
    config = experiment.config if experiment.old_style else dict(experiment.config.items())
    explore = bool(config.get("explore", True))
    trainer = TrainedPolicies(folder, manager, mapping_of(experiment), config, explore)
    return TrainedExperiment(results, experiment, iteration, manager, trainer)


class TrainedPolicies:
    """The policies of a checkpoint.

    They take the observations and return the actions of the simulation, converted for and from
    their networks. Ray need not run.

    Args:
        checkpoint: folder of the checkpoint.
        manager: manager of the simulation, for the spaces of the agents.
        policy_mapping_fn: function of an agent's id that returns the id of its policy.
        config: the other entries of the attribute `config`.
        explore: whether actions are drawn from a policy's distribution, by default.

    Attributes:
        explore: the argument of that name; may be changed.
        config: ``config["multiagent"]`` has the ``policies`` and the ``policy_mapping_fn``; the
            rest are the keys of the experiment's configuration.

    Raises:
        ExperimentError: the checkpoint cannot be read, or a policy does not fit the agents.
    """

    def __init__(
        self,
        checkpoint: Path,
        manager: Any,
        policy_mapping_fn: Callable[[str], str],
        config: Mapping[str, Any] | None = None,
        explore: bool = True,
    ) -> None:
        try:
            self._modules = read_modules(checkpoint)
        except ValueError as error:
            raise ExperimentError(str(error)) from error
        self.explore = explore
        self._normalized = bool((config or {}).get("normalize_actions", True))
        self._mapping = policy_mapping_fn
        agents = learners_of(manager)
        self._codecs: dict[str, Codec] = {}
        for agent_id, codec in codecs_of(agents).items():
            policy_id = policy_mapping_fn(agent_id)
            _check(self._modules, policy_id, codec, agent_id)
            self._codecs.setdefault(policy_id, codec)
        self.config = {
            **(config or {}),
            "multiagent": {
                "policies": sorted(self._codecs),
                "policy_mapping_fn": policy_mapping_fn,
            },
        }

    def compute_single_action(
        self,
        observation: Any,
        state: None = None,
        *,
        policy_id: str | None = None,
        explore: bool | None = None,
        **ignored: Any,
    ) -> Any:
        """Return the action for one observation.

        Args:
            observation: an observation of the simulation.
            state: must be None, policies without memory are supported.
            policy_id: which policy; may be left out where there is one policy for all.
            explore: whether to draw from the distribution, else the likeliest action is taken;
                None: as the attribute says.
            **ignored: further arguments of RLlib's method.

        Returns:
            An action for the simulation.

        Raises:
            ValueError: there is no such policy, or the observation is not in its space.
        """
        (action,) = self._compute([observation], policy_id, explore)
        return action

    compute_action = compute_single_action

    def compute_actions(
        self,
        observations: Mapping[str, Any],
        *,
        policy_id: str | None = None,
        explore: bool | None = None,
        **ignored: Any,
    ) -> dict[str, Any]:
        """Return the actions for many observations, one pass through a network for each policy.

        Args:
            observations: observations by agent id, or by any other key where `policy_id` is given.
            policy_id: which policy; None: each agent's own.
            explore: see `compute_single_action`.
            **ignored: further arguments of RLlib's method.

        Returns:
            Actions by the same keys.

        Raises:
            ValueError: there is no such policy, or an observation is not in its space.
        """
        groups: dict[str, list[str]] = {}
        for key in observations:
            groups.setdefault(policy_id or self._mapping(key), []).append(key)
        found: dict[str, Any] = {}
        for one, keys in groups.items():
            actions = self._compute([observations[key] for key in keys], one, explore)
            found.update(zip(keys, actions, strict=True))
        return {key: found[key] for key in observations}

    def seed(self, seed: int) -> None:
        """Seed the draws of actions."""
        load("torch", "rllib", "abmarl.experiments").manual_seed(seed)

    def _compute(self, observations: list, policy_id: str | None, explore: bool | None) -> list:
        if len(self._codecs) == 1 and policy_id in (None, "default_policy"):
            (policy_id,) = self._codecs
        if policy_id not in self._codecs:
            raise ValueError(
                f"there is no policy {policy_id!r}; there are {', '.join(map(repr, self._codecs))}"
            )
        codec, module = self._codecs[policy_id], self._modules[policy_id]
        explore = self.explore if explore is None else explore
        batch = np.stack([codec.observe(one) for one in observations])
        actions = act(module, batch, explore, self._normalized)
        # One number per action is an int.
        return [codec.act(value) for value in (actions.tolist() if actions.ndim == 1 else actions)]


def _check(modules: Any, policy_id: str, codec: Codec, agent_id: str) -> None:
    if policy_id not in modules:
        raise ExperimentError(
            f"agent {agent_id!r} is mapped to policy {policy_id!r}, which the checkpoint does not "
            f"have; it has {', '.join(map(repr, modules.keys()))}"
        )
    module = modules[policy_id]
    if module.is_stateful():
        raise ExperimentError(
            f"policy {policy_id!r} has a memory, which abmarl visualize and analyze do not support"
        )
    for side in ("observation_space", "action_space"):
        trained, now = getattr(module, side), getattr(codec, side)
        if trained.shape != now.shape or type(trained) is not type(now) or trained != now:
            raise ExperimentError(
                f"policy {policy_id!r} was trained with the {side} {trained!r:.120}\n"
                f"and agent {agent_id!r} now has {now!r:.120}: the experiment file was changed"
            )
