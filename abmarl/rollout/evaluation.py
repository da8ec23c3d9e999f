"""How good policies are: a fixed number of episodes, counted without bias, with intervals."""

import functools
import math
from dataclasses import dataclass
from statistics import NormalDist
from typing import Any

import numpy as np

from abmarl import terminal
from abmarl.rollout.collect import check_run, simulation_name
from abmarl.rollout.episodes import Episodes
from abmarl.rollout.policies import bind_policies, choose_actions
from abmarl.rollout.sinks import EpisodeSink, GrowingColumn

CONFIDENCE = 0.95


@dataclass(frozen=True)
class Interval:
    """An estimate and where the true value lies with a confidence of 95 %.

    Attributes:
        value: The estimate; nan without any data.
        low, high: Bounds of the interval; nan where there are too few data for one.
    """

    value: float
    low: float
    high: float

    def __str__(self) -> str:
        if math.isnan(self.value):
            return "-"
        if math.isnan(self.low):
            return f"{self.value:,.2f}"
        return f"{self.value:,.2f} [{self.low:,.2f}, {self.high:,.2f}]"


def mean_interval(values: np.ndarray) -> Interval:
    """Return the mean of independent values with Student's interval: mean +- t s / sqrt(n).

    s is the standard deviation with n - 1 in the denominator, and t the 0.975 quantile of
    Student's distribution with n - 1 degrees of freedom.

    Args:
        values: Numbers [n].
    """
    count = len(values)
    mean = float(np.mean(values)) if count else math.nan
    if count < 2:
        return Interval(mean, math.nan, math.nan)
    spread = student_quantile(count - 1) * float(np.std(values, ddof=1)) / math.sqrt(count)
    return Interval(mean, mean - spread, mean + spread)


def share_interval(hits: np.ndarray) -> Interval:
    """Return the share of hits with Wilson's interval, which is of use at 0 and 1 too.

    E. B. Wilson, Probable inference, the law of succession, and statistical inference, Journal of
    the American Statistical Association 22 (1927).

    Args:
        hits: bool [n].
    """
    count = len(hits)
    if not count:
        return Interval(math.nan, math.nan, math.nan)
    share = float(np.mean(hits))
    z = NormalDist().inv_cdf((1 + CONFIDENCE) / 2)
    scale = 1 + z * z / count
    middle = (share + z * z / (2 * count)) / scale
    spread = z / scale * math.sqrt(share * (1 - share) / count + (z / (2 * count)) ** 2)
    # Rounding must not push the share out of its interval, nor the interval out of [0, 1].
    return Interval(share, min(share, max(0.0, middle - spread)),
                    max(share, min(1.0, middle + spread)))  # fmt: skip


@functools.cache
def student_quantile(freedom: int) -> float:
    """Return the 0.975 quantile of Student's distribution with so many degrees of freedom."""
    from scipy.special import stdtrit

    return float(stdtrit(freedom, (1 + CONFIDENCE) / 2))


@dataclass(repr=False)
class Evaluation:
    """The results of a number of episodes.

    Attributes:
        episodes: The table of them, in the order of their ends.
        truncated: bool [E], the episodes that the horizon ended.
        wanted: How many episodes there were to be.
        contestants: The teams with agents that learn; none where there is one such team only, as
            nobody wins there.
    """

    episodes: Episodes
    truncated: np.ndarray
    wanted: int
    contestants: tuple[int, ...]

    def __len__(self) -> int:
        return len(self.episodes)

    @property
    def interrupted(self) -> bool:
        """Whether it was stopped before its time. What was finished over-represents short ones."""
        return len(self) < self.wanted

    @functools.cached_property
    def returns(self) -> dict[str, Interval]:
        """Mean of an episode's rewards of all agents of a group together: group -> interval."""
        return {name: mean_interval(column) for name, column in self.episodes.returns.items()}

    @functools.cached_property
    def length(self) -> Interval:
        """Mean number of steps."""
        return mean_interval(self.episodes.length)

    @functools.cached_property
    def truncated_share(self) -> Interval:
        """The share of episodes that the horizon ended."""
        return share_interval(self.truncated)

    @functools.cached_property
    def winners(self) -> np.ndarray:
        """The team that alone was left at the end, int64 [E]; -1 for none or several: a draw."""
        winners = np.full(len(self), -1)
        if not self.contestants:
            return winners
        left = np.stack([self.episodes.survivors[team] > 0 for team in self.contestants])
        alone = left.sum(axis=0) == 1
        winners[alone] = np.array(self.contestants)[left[:, alone].argmax(axis=0)]
        return winners

    @functools.cached_property
    def wins(self) -> dict[int, Interval]:
        """The share of episodes that a team won: number of the team -> interval.

        `team_names` says what the numbers are called.
        """
        return {team: share_interval(self.winners == team) for team in self.contestants}

    @functools.cached_property
    def draws(self) -> Interval | None:
        """The share of episodes that nobody won; None where there is nobody to win."""
        return share_interval(self.winners == -1) if self.contestants else None

    @property
    def team_names(self) -> dict[int, str]:
        """The names of the teams by their numbers."""
        return self.episodes.team_names

    def __repr__(self) -> str:
        count = f"{len(self):,}{f' of {self.wanted:,}' if self.interrupted else ''} episodes"
        returns = ", ".join(f"{name} {mean}" for name, mean in self.returns.items())
        return f"Evaluation({count}, returns: {returns})"


def evaluate(
    vec: Any,
    policies: Any = None,
    num_episodes: int = 1000,
    *,
    seed: Any = None,
    name: str | None = None,
    progress: bool = True,
) -> Evaluation:
    """Play a number of episodes and return their results.

    How many episodes of each world count is fixed beforehand: ``num_episodes`` shared out evenly,
    the first of each world, one more in the first worlds where it does not come out even. The
    first to finish of all worlds would be short ones more often than they are played. Ctrl-C ends
    it after the step under way, with the episodes that are finished.

    Args:
        vec: A vectorised simulation that resets its worlds itself (``autoreset=True``).
        policies: How each group acts, as for `collect`.
        num_episodes: How many episodes, at least 1.
        seed: Seed of the reset. None goes on with the worlds' own random streams.
        name: What to call the simulation in reports; by default its class.
        progress: Whether to report on stderr.

    Returns:
        The episodes, with means and intervals.

    Raises:
        TypeError, ValueError: For unknown groups or policies, a number of episodes below 1, or a
            simulation that does not reset its worlds.
    """
    num_episodes = check_run(vec, "an evaluation", "num_episodes", num_episodes)
    bind_policies(vec, policies)  # what is refused is refused before the reset
    quota = shared_out(num_episodes, vec.num_envs)
    table, truncated = EpisodeSink(vec), GrowingColumn(bool)
    done = step = 0
    title = f"{name or simulation_name(vec)}, {vec.num_envs:,} worlds"
    observations, infos = vec.reset(seed=seed)
    # Policies that draw make their random streams from the seed of the worlds, which is set now.
    bound = bind_policies(vec, policies)
    table.start(observations, infos)
    contestants = _contestants(vec, table.teams)
    with (
        terminal.deferred_interrupt() as interrupt,
        terminal.progress(title, num_episodes, "episodes", progress) as report,
    ):
        try:
            while quota.any() and not interrupt:
                # Policies are not asked for worlds that have done their part.
                active = {who: mask & (quota > 0)[:, None] for who, mask in infos["active"].items()}
                actions = choose_actions(vec, bound, observations, active)
                result = vec.step(actions)
                observations, infos = result[0], result[-1]
                counted = infos["ended"] & (quota > 0)
                if counted.any():
                    quota = quota - counted
                    over = functools.reduce(
                        np.logical_or, (mask.any(axis=1) for mask in result[3].values())
                    )
                    truncated.extend(over[counted])
                    table.after(step, actions, (*result[:-1], {**infos, "ended": counted}))
                    done += int(np.count_nonzero(counted))
                    report.update(done)
                step += 1
        except KeyboardInterrupt:
            pass  # a second Ctrl-C: the step under way does not count
    episodes = table.finish(step)
    ended_by_horizon = truncated.first(len(episodes))
    return Evaluation(episodes, ended_by_horizon, num_episodes, contestants)


def shared_out(count: int, worlds: int) -> np.ndarray:
    """Return how many episodes of each world count, int64 [B]."""
    return count // worlds + (np.arange(worlds) < count % worlds)


def _contestants(vec: Any, teams: np.ndarray) -> tuple[int, ...]:
    slots = np.concatenate([np.asarray(group.slots) for group in vec.groups.values()])
    found = np.unique(teams[:, slots])
    return tuple(found.tolist()) if len(found) > 1 else ()
