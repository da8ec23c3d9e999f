"""Every combination of some policies against each other."""

import itertools
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from abmarl.rollout.collect import check_run, simulation_name
from abmarl.rollout.episodes import teams_of
from abmarl.rollout.evaluation import Evaluation, evaluate
from abmarl.rollout.policies import bind_policies


@dataclass
class Match:
    """One combination of policies and its evaluation.

    Attributes:
        labels: group -> what its policy is called.
        result: The evaluation.
    """

    labels: dict[str, str]
    result: Evaluation


@dataclass(repr=False)
class CrossPlay:
    """Every combination of some policies of groups.

    Attributes:
        entrants: group -> the labels of its policies.
        matches: The combinations that were played.
        wanted: How many there were to be.
        teams: group -> its team, None where its agents are of several.
    """

    entrants: dict[str, list[str]]
    matches: list[Match]
    wanted: int
    teams: dict[str, int | None]

    @property
    def interrupted(self) -> bool:
        """Whether it was stopped before its time."""
        return len(self.matches) < self.wanted or any(m.result.interrupted for m in self.matches)

    @property
    def axes(self) -> tuple[str, str] | None:
        """The groups of rows and columns of a matrix: the first two, those with choices first.

        None where there is one group, or three have a choice.
        """
        chosen = [name for name, labels in self.entrants.items() if len(labels) > 1]
        if len(self.entrants) < 2 or len(chosen) > 2:
            return None
        chosen += [name for name in self.entrants if name not in chosen]
        first, second = (name for name in self.entrants if name in chosen[:2])
        return first, second

    def matrix(self, what: str = "return") -> np.ndarray:
        """Return a number for each pair of policies, of the group of the rows.

        Args:
            what: ``"return"``: its mean return; ``"win rate"``: the share of episodes that its
                team won, draws counted as lost.

        Returns:
            float64 [policies of the rows, policies of the columns]; nan where nothing was played.

        Raises:
            ValueError: When there are no two groups to compare, the team of the rows is not
                known, or ``what`` is something else.
        """
        if self.axes is None:
            raise ValueError("a matrix needs two groups, and no third one with several policies")
        rows, columns = self.axes
        if what not in ("return", "win rate"):
            raise ValueError(f"what must be 'return' or 'win rate', got {what!r:.60}")
        team = self.teams[rows] if what == "win rate" else None
        if what == "win rate" and not self.has_wins:
            raise ValueError(f"group {rows!r} is of no team that could win against another")
        found = np.full((len(self.entrants[rows]), len(self.entrants[columns])), np.nan)
        for match in self.matches:
            place = (
                self.entrants[rows].index(match.labels[rows]),
                self.entrants[columns].index(match.labels[columns]),
            )
            result = match.result
            side = result.returns[rows] if team is None else result.wins[team]
            found[place] = side.value
        return found

    @property
    def has_wins(self) -> bool:
        """Whether the group of the rows can win."""
        if self.axes is None or not self.matches:
            return False
        return self.teams[self.axes[0]] in self.matches[0].result.contestants

    def __repr__(self) -> str:
        sides = "; ".join(f"{group}: {', '.join(few)}" for group, few in self.entrants.items())
        return f"CrossPlay({len(self.matches)} of {self.wanted} combinations played, {sides})"


def cross_play(
    vec: Any,
    policies: Mapping[str, Mapping[str, Any]],
    num_episodes: int = 1000,
    *,
    seed: int = 0,
    name: str | None = None,
    progress: bool = True,
) -> CrossPlay:
    """Play every combination of the policies of each group, all from the same seed.

    Ctrl-C ends it with what is finished.

    Args:
        vec: A vectorised simulation that resets its worlds itself.
        policies: group -> label -> policy, as for `collect`. Groups that are not named act at
            random.
        num_episodes: Episodes of every combination; see `evaluate`.
        seed: Seed of every combination.
        name: What to call the simulation in reports; by default its class.
        progress: Whether to report on stderr.

    Returns:
        The combinations with their evaluations.

    Raises:
        TypeError, ValueError: As `evaluate`; all policies are tried before anything is played.
    """
    bind_policies(vec, dict.fromkeys(policies, "random"))  # are there such groups?
    entrants = {group: dict(policies.get(group) or {"random": "random"}) for group in vec.groups}
    check_run(vec, "an evaluation", "num_episodes", num_episodes)
    for group, choices in entrants.items():
        for policy in choices.values():
            bind_policies(vec, {group: policy})
    combinations = [
        dict(zip(entrants, labels, strict=True)) for labels in itertools.product(*entrants.values())
    ]
    matches = []
    for number, labels in enumerate(combinations, 1):
        which = f"{number} of {len(combinations)}: " if len(combinations) > 1 else ""
        result = evaluate(
            vec,
            {group: entrants[group][label] for group, label in labels.items()},
            num_episodes,
            seed=seed,
            name=f"{which}{name or simulation_name(vec)}",
            progress=progress,
        )
        if len(result):
            matches.append(Match(labels, result))
        if result.interrupted:
            break
    teams = _group_teams(vec, teams_of(vec))
    labels = {group: list(choices) for group, choices in entrants.items()}
    return CrossPlay(labels, matches, len(combinations), teams)


def _group_teams(vec: Any, teams: np.ndarray) -> dict[str, int | None]:
    """Return the team of each group; None where its agents are of several.

    Args:
        vec: A vectorised simulation.
        teams: int [B, N].
    """
    found = {name: np.unique(teams[:, group.slots]) for name, group in vec.groups.items()}
    return {name: int(few[0]) if len(few) == 1 else None for name, few in found.items()}
