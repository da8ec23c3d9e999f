"""What a results folder holds, loaded again: the simulation and the trained policies."""

from dataclasses import dataclass
from typing import Any

from abmarl.experiments.environment import codecs_of, learners_of
from abmarl.experiments.experiment import Experiment, read
from abmarl.experiments.policies import AgentMapping, policies_of
from abmarl.experiments.ray_session import prepare
from abmarl.experiments.results import Results
from abmarl.experiments.settings import apply_settings
from abmarl.experiments.trainer import TrainedPolicies
from abmarl.external.ray_logs import hush
from abmarl.managers.simulation_manager import SimulationManager


@dataclass
class Replay:
    """A trained experiment.

    Attributes:
        results: its folder.
        experiment: its file, as it was when training began.
        iteration: of the checkpoint.
        manager: manager of the simulation.
        trainer: the trained policies.
    """

    results: Results
    experiment: Experiment
    iteration: int
    manager: SimulationManager
    trainer: TrainedPolicies


def load_replay(results: Results, checkpoint: int | None = None, noisy: bool = False) -> Replay:
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
    trainer = TrainedPolicies(
        folder, manager, mapping_of(experiment), config, bool(config.get("explore", True))
    )
    return Replay(results, experiment, iteration, manager, trainer)


def mapping_of(experiment: Experiment) -> Any:
    """The function of an agent's id that tells its policy."""
    if not experiment.old_style and experiment.config.is_multi_agent:
        return AgentMapping(experiment.config.policy_mapping_fn)
    multiagent = experiment.config.get("multiagent") or {} if experiment.old_style else {}
    agents = learners_of(experiment.manager())
    where = f"{experiment.where}['multiagent']"
    return policies_of(multiagent, agents, codecs_of(agents), where).mapping
