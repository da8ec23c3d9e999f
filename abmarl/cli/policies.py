"""From names and paths on the command line to policies of groups."""

import os
from collections.abc import Iterable
from typing import Any

from abmarl.cli.errors import for_the_user


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
        from abmarl.rollout.policies import bind_policies

        bind_policies(vec, dict.fromkeys(named, "random"))
    return {group: named.get(group) or everyone or [otherwise] for group in vec.groups}


def _split(entry: str, groups: Iterable[str]) -> tuple[str, str]:
    """Names of groups and paths may both hold an ``=``."""
    places = [place for place, letter in enumerate(entry) if letter == "="]
    for place in places:
        if entry[:place] in groups or entry[:place] == "*":
            return entry[:place], entry[place + 1 :]
    if not places or os.path.exists(entry):
        return "*", entry
    return entry[: places[-1]], entry[places[-1] + 1 :]


def policy_of(
    vec: Any, group: str, name: str, trust: bool, sample: bool, seed: int,
    option: str = "--policy",
) -> Any:  # fmt: skip
    """The policy of a group, tried on it.

    Args:
        vec: The vectorised simulation.
        group: One of its groups.
        name: The name of a shipped policy, or the path of a checkpoint.
        trust: Whether checkpoints may execute code.
        sample: Whether checkpoints draw their actions.
        seed: Of these draws.
        option: What messages call the option.

    Returns:
        The name itself, or the policy that was read.

    Raises:
        UserError: There is no such policy, it cannot be read, or it does not fit the group.
    """
    from abmarl.rollout.policies import SHIPPED, bind_policies

    policy: Any = name
    with for_the_user(option):
        if name not in SHIPPED and _is_path(name):
            from abmarl.external import load_policy

            policy = load_policy(name, trust=trust, deterministic=not sample, seed=seed)
        bind_policies(vec, {group: policy})
    return policy


def _is_path(name: str) -> bool:
    return os.path.exists(name) or os.sep in name or name.endswith((".zip", ".npz"))
