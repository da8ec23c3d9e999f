"""When a training run is over."""

from collections.abc import Mapping
from typing import Any

from abmarl.experiments.execute import ExperimentError
from abmarl.experiments.keys import POLICY_STOP, STOP, nearest


def stop_criteria(given: Any, where: str, lines: list[str]) -> dict[str, float]:
    """Read the key ``stop``.

    Args:
        given: criterion -> value at which to stop; a criterion is an old name, such as
            ``episodes_total``, or a path in RLlib's results, such as
            ``env_runners/episode_return_mean``. Paths may also be nested dicts.
        where: what it is called in the file.
        lines: what was translated is added here.

    Returns:
        path in a result -> value.

    Raises:
        ExperimentError: a criterion is unknown, or a value no number.
    """
    if given is None:
        return {}
    if not isinstance(given, Mapping):
        raise ExperimentError(f"{where} must be a dict of criterion to value, not {given!r:.60}")
    found = {}
    for key, value in _flat(given):
        path = _path(key, where)
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise ExperimentError(f"{where}[{key!r}] must be a number, not {value!r:.60}")
        if path != key:
            lines.append(f"stop: {key}={value!r} -> {path}")
        found[path] = value
    return found


def value_at(result: Mapping[str, Any], path: str) -> float | None:
    """What a result has at a path, None where it has nothing there.

    Raises:
        ExperimentError: it has more than a number there.
    """
    found: Any = result
    for part in path.split("/"):
        if not isinstance(found, Mapping) or part not in found:
            return None
        found = found[part]
    if isinstance(found, Mapping):
        inner = ", ".join(f"{path}/{key}" for key in list(found)[:4])
        raise ExperimentError(f"the criterion {path} is a group of results: choose one, as {inner}")
    return found if isinstance(found, int | float) else float(found)


def reached(result: Mapping[str, Any], stop: Mapping[str, float]) -> str | None:
    """The first criterion that a result has reached, None while there is none."""
    for path, limit in stop.items():
        value = value_at(result, path)
        if value is not None and value >= limit:
            return path
    return None


def share_done(result: Mapping[str, Any], stop: Mapping[str, float]) -> float:
    """How far training has come, from 0 to 1, by the criteria that count something up."""
    shares = [0.0]
    for path, limit in stop.items():
        value = value_at(result, path)
        if value is not None and limit > 0 and path.split("/")[-1] not in _NO_COUNTS:
            shares.append(min(1.0, value / limit))
    return max(shares)


_NO_COUNTS = ("episode_return_mean", "episode_len_mean")


def _path(key: str, where: str) -> str:
    if key in STOP:
        return STOP[key]
    first, _, rest = key.partition("/")
    if first in POLICY_STOP and rest:
        return f"{POLICY_STOP[first]}/{rest}"
    if rest:
        return key
    known = [*STOP, *(f"{one}/<policy>" for one in POLICY_STOP)]
    raise ExperimentError(
        f"{where} has no criterion {key!r}{nearest(key, known)}; there are {', '.join(known)}, "
        f"and paths in RLlib's results"
    )


def _flat(given: Mapping[str, Any], prefix: str = "") -> list[tuple[str, Any]]:
    found = []
    for key, value in given.items():
        path = f"{prefix}{key}"
        if isinstance(value, Mapping):
            found.extend(_flat(value, f"{path}/"))
        else:
            found.append((path, value))
    return found
