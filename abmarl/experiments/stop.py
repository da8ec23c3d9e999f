"""When a training run is over: criteria on RLlib's results."""

from collections.abc import Iterator, Mapping
from typing import Any

from abmarl.experiments.experiment import ExperimentError, nearest

# Old name of a criterion -> its path in a result.
STOP = {
    "episodes_total": "env_runners/num_episodes_lifetime",
    "timesteps_total": "env_runners/num_env_steps_sampled_lifetime",
    "episode_reward_mean": "env_runners/episode_return_mean",
    "episode_len_mean": "env_runners/episode_len_mean",
    "training_iteration": "training_iteration",
    "time_total_s": "time_total_s",
}
POLICY_STOP = {"policy_reward_mean": "env_runners/module_episode_returns_mean"}
# Criteria that do not count up, so that they do not tell how far training has come.
_NO_COUNTS = ("episode_return_mean", "episode_len_mean")


def stop_criteria(given: Any, where: str, lines: list[str]) -> dict[str, float]:
    """Read the key ``stop``.

    Args:
        given: criterion -> value at which to stop; a criterion is an old name, such as
            ``episodes_total``, or a path in RLlib's results, such as
            ``env_runners/episode_return_mean``. Paths may also be nested dicts.
        where: name of the key in the file, for messages.
        lines: a line is added for each translated criterion.

    Returns:
        path in a result -> value.

    Raises:
        ExperimentError: a criterion is unknown, or a value is no number.
    """
    if given is None:
        return {}
    if not isinstance(given, Mapping):
        raise ExperimentError(f"{where} must be a dict of criterion to value, not {given!r:.60}")
    found = {}
    for key, value in flat_items(given):
        path = _path(key, where)
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise ExperimentError(f"{where}[{key!r}] must be a number, not {value!r:.60}")
        if path != key:
            lines.append(f"stop: {key}={value!r} -> {path}")
        found[path] = value
    return found


def value_at(result: Mapping[str, Any], path: str) -> float | None:
    """Return the number at a path of a result, None where there is nothing.

    Raises:
        ExperimentError: there is more than a number.
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
    """Return the first criterion that a result has reached, None while there is none."""
    for path, limit in stop.items():
        value = value_at(result, path)
        if value is not None and value >= limit:
            return path
    return None


def share_done(result: Mapping[str, Any], stop: Mapping[str, float]) -> float:
    """Return how far training has come, from 0 to 1, by the criteria that count up."""
    shares = [0.0]
    for path, limit in stop.items():
        value = value_at(result, path)
        if value is not None and limit > 0 and path.split("/")[-1] not in _NO_COUNTS:
            shares.append(min(1.0, value / limit))
    return max(shares)


def already_reached(
    values: Mapping[str, float], stop: Mapping[str, float], iteration: int
) -> str | None:
    """Return why a run that is resumed has nothing left to train, None where it has.

    Args:
        values: path -> the last number that was logged.
        stop: path -> value at which training stops.
        iteration: iteration of the checkpoint to go on from.
    """
    names = {path: name for name, path in STOP.items()}
    for path, limit in stop.items():
        if path in values and values[path] >= limit:
            return (
                f"finished already: {path} reached after iteration {iteration}; to train on, raise "
                f"it: --set stop.{names.get(path, path)}=NUMBER, now {limit:,}"
            )
    return None


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


def flat_items(nested: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    """Yield path and value of every entry of nested dicts."""
    for key, value in nested.items():
        path = f"{prefix}{key}"
        if isinstance(value, Mapping):
            yield from flat_items(value, f"{path}/")
        else:
            yield path, value
