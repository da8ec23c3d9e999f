"""What has to be said of a training while it runs: dead workers, losses that are no numbers."""

import difflib
import math
from collections.abc import Mapping
from typing import Any

from abmarl.experiments.logs import flat_result
from abmarl.experiments.stop import value_at

_LOSSES = ("total_loss", "policy_loss", "vf_loss")
_RETURNS = ("episode_return_mean", "module_episode_returns_mean")


class Watch:
    """Looks at every result, and says each thing once.

    Args:
        stop: path in a result -> value at which training stops.
    """

    def __init__(self, stop: Mapping[str, float]) -> None:
        self._unseen = dict(stop)
        self._finite = True
        self._restarts = 0

    def look(self, result: Mapping[str, Any], kept: str) -> list[str]:
        """What there is to say now, a line for each thing.

        Args:
            result: of an iteration.
            kept: which checkpoint there is from before.
        """
        lines = []
        restarts = int(result.get("fault_tolerance", {}).get("num_remote_worker_restarts", 0))
        died, self._restarts = restarts - self._restarts, restarts
        if died > 0:
            who = "an env runner died and was" if died == 1 else f"{died} env runners died and were"
            lines.append(f"{who} replaced")
        found = not_finite(result) if self._finite else None
        if found:
            self._finite = False
            lines.append(
                f"iteration {result['training_iteration']}: {found}; the policies may be spoiled "
                f"from here on, {kept}"
            )
        missing = never_stopping(result, self._unseen)
        for path, line in missing.items():
            del self._unseen[path]
            lines.append(line)
        return lines


def not_finite(result: Mapping[str, Any]) -> str | None:
    """The first loss or return of a result that is infinite or no number.

    Args:
        result: of an iteration.

    Returns:
        Its path and value, as ``"learners/red/total_loss is nan"``; None where all are finite. A
        mean return that is nan because no episode ended counts as none.
    """
    for policy_id, values in result.get("learners", {}).items():
        for key in _LOSSES if isinstance(values, Mapping) else ():
            if key in values and not math.isfinite(values[key]):
                return f"learners/{policy_id}/{key} is {float(values[key])}"
    runners = result.get("env_runners", {})
    returns = {f"env_runners/{key}": runners[key] for key in _RETURNS if key in runners}
    for path, value in returns.items():
        values = value if isinstance(value, Mapping) else {"": value}
        for policy_id, one in values.items():
            ended = bool(runners.get("num_episodes"))
            if one is not None and (math.isinf(one) or (math.isnan(one) and ended)):
                return f"{path}{'/' if policy_id else ''}{policy_id} is {float(one)}"
    return None


def never_stopping(result: Mapping[str, Any], stop: Mapping[str, float]) -> dict[str, str]:
    """What to say of criteria that a result does not have, by their paths.

    Some results are there only when an episode has ended, or after an evaluation: these are not
    missed before.

    Args:
        result: of an iteration.
        stop: path in a result -> value.
    """
    ended = bool(value_at(result.get("env_runners", {}), "num_episodes_lifetime"))
    lines = {}
    for path in stop:
        first = path.partition("/")[0]
        later = (first == "env_runners" and not ended) or (
            first == "evaluation" and "evaluation" not in result
        )
        if later or value_at(result, path) is not None:
            continue
        close = difflib.get_close_matches(path, list(flat_result(result)), n=3)
        hint = f"; near are {', '.join(close)}" if close else ""
        lines[path] = f"the results have no {path}: this criterion stops nothing{hint}"
    return lines
