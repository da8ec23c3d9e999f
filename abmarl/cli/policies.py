"""From names and paths on the command line to policies of groups."""

import os
import sys
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

from abmarl.cli.checkpoints import is_checkpoint, place_of, read_checkpoint
from abmarl.cli.errors import brief, for_the_user


def chosen(
    vec: Any, given: Iterable[str], option: str = "--policy", otherwise: str = "random"
) -> dict[str, list[str]]:
    """``["random", "red=heuristic"]`` -> the names or paths for each group, in their order.

    Those for one group win over those for all of them.

    Args:
        vec: The vectorised simulation.
        given: Entries ``[GROUP=]NAME``; the group ``*`` is all of them.
        option: What messages call the option.
        otherwise: What groups get that are not given anything.

    Raises:
        UserError: For a group that does not exist.
    """
    everyone: list[str] = []
    named: dict[str, list[str]] = {}
    for entry in given:
        group, name = _split(entry, vec.groups)
        names = everyone if group == "*" else named.setdefault(group, [])
        if name in names:
            names.remove(name)
        names.append(name)
    with for_the_user(option):
        # Imported here and below, so that help texts do not wait for numpy and numba.
        from abmarl.rollout.policies import bind_policies

        bind_policies(vec, dict.fromkeys(named, "random"))
    return {group: named.get(group) or everyone or [otherwise] for group in vec.groups}


def policies_of(
    vec: Any, names: Mapping[str, Iterable[str]], trust: bool, sample: bool, seed: int,
    option: str = "--policy",
) -> dict[str, dict[str, Any]]:  # fmt: skip
    """The policies of each group, tried on it.

    Args:
        vec: The vectorised simulation.
        names: group -> names of shipped policies, or checkpoints, see `read_checkpoint`.
        trust: Whether checkpoints may execute code.
        sample: Whether checkpoints draw their actions.
        seed: Of these draws.
        option: What messages call the option.

    Returns:
        group -> name -> the name itself, or the policy that was read.

    Raises:
        UserError: There is no such policy, it cannot be read, or it does not fit the group.
    """
    uses = Counter(name for entries in names.values() for name in entries)
    # The libraries that wrote these take some seconds to be imported.
    slow = [
        name
        for name in uses
        if os.path.exists(place_of(name)[0]) and (trust or name.endswith(".zip"))
    ]
    if slow:
        print(f"loading {', '.join(slow)} ...", file=sys.stderr, flush=True)
    with for_the_user(option):
        return {
            group: {
                name: _tried(
                    vec,
                    group,
                    _read(name, group, trust, sample, seed, option),
                    name,
                    uses[name] > 1,
                    option,
                )
                for name in entries
            }
            for group, entries in names.items()
        }


def _read(name: str, group: str, trust: bool, sample: bool, seed: int, option: str) -> Any:
    if not is_checkpoint(name):
        return name
    return read_checkpoint(name, group, trust, sample, seed, option)


def _tried(vec: Any, group: str, policy: Any, name: str, shared: bool, option: str) -> Any:
    """The policy, which fits the group."""
    from abmarl.rollout.policies import bind_policies

    try:
        bind_policies(vec, {group: policy})
    except ValueError as error:
        if not (shared and is_checkpoint(name)):
            raise
        raise ValueError(f"{brief(error)}; for one group only: {option} GROUP={name}") from error
    return policy


def _split(entry: str, groups: Iterable[str]) -> tuple[str, str]:
    """Names of groups and paths may both hold an ``=``."""
    places = [place for place, letter in enumerate(entry) if letter == "="]
    for place in places:
        if entry[:place] in groups or entry[:place] == "*":
            return entry[:place], entry[place + 1 :]
    if not places or os.path.exists(entry):
        return "*", entry
    return entry[: places[-1]], entry[places[-1] + 1 :]
