"""Going on with an earlier training."""

from abmarl.experiments.execute import ExperimentError
from abmarl.experiments.keys import STOP
from abmarl.experiments.plan import Plan
from abmarl.experiments.results import Results


def check_same(plan: Plan, results: Results) -> None:
    """Refuse to go on with another experiment.

    Args:
        plan: what is to be run.
        results: the folder of the run to go on with.

    Raises:
        ExperimentError: the title or the algorithm is another one.
    """
    about = results.about
    for what, now in (("title", plan.title), ("algorithm", plan.algorithm)):
        before = about.get(what, now)
        if now != before:
            raise ExperimentError(
                f"{results.folder} holds a training with the {what} {before!r}, here it is "
                f"{now!r}:\ntrain without --resume for a new run, or with the file of that one"
            )


def finished(plan: Plan, results: Results, iteration: int) -> str | None:
    """Why there is nothing to go on with: a criterion that was reached already.

    Args:
        plan: what is to be run.
        results: the folder of the run to go on with.
        iteration: of the checkpoint to go on from.

    Returns:
        One line, or None where there is something left to train.
    """
    values = results.last_values(iteration)
    names = {path: name for name, path in STOP.items()}
    for path, limit in plan.stop.items():
        if path in values and values[path] >= limit:
            name = names.get(path, path)
            return (
                f"finished already: {path} reached after iteration {iteration}; to train on, raise "
                f"it: --set stop.{name}=NUMBER, now {limit:,}"
            )
    return None
