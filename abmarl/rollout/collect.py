"""Run a vectorised simulation under policies and keep what happened."""

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from abmarl import terminal
from abmarl.rollout.columns import Rollout, check_rollout_memory
from abmarl.rollout.episodes import Episodes
from abmarl.rollout.policies import bind_policies, choose_actions
from abmarl.rollout.sinks import ColumnSink, EpisodeSink


@dataclass
class Tally:
    """Counters of a run.

    Attributes:
        steps: Steps done, of all worlds together one.
        env_steps: Steps done, one per world.
        agent_steps: Steps of agents that acted.
        step_seconds: Time spent in ``vec.step``.
        wall_seconds: Time from the reset to the end.
        interrupted: True when it was stopped before its time.
    """

    steps: int = 0
    env_steps: int = 0
    agent_steps: int = 0
    step_seconds: float = 0.0
    wall_seconds: float = 0.0
    interrupted: bool = False
    first_agent_steps: int = 0
    first_seconds: float = 0.0

    @property
    def rate(self) -> float:
        """Agent-steps per second of stepping, without the first step, which may compile."""
        if self.steps > 1:
            count = self.agent_steps - self.first_agent_steps
            seconds = self.step_seconds - self.first_seconds
        else:
            count, seconds = self.agent_steps, self.step_seconds
        return count / seconds if seconds > 0 else 0.0


@dataclass
class Statistics:
    """What `statistics` returns: the episodes and the counters, no columns.

    Attributes:
        episodes: The table of the episodes that ended.
        tally: The counters of the run.
    """

    episodes: Episodes
    tally: Tally

    @property
    def interrupted(self) -> bool:
        """True when it was stopped before its time."""
        return self.tally.interrupted


def collect(
    vec: Any,
    policies: Any = None,
    num_steps: int = 500,
    *,
    seed: Any = None,
    name: str | None = None,
    progress: bool = True,
    on_step: Callable[[int, dict], None] | None = None,
) -> Rollout:
    """Step every world ``num_steps`` times from a reset on and keep everything in columns.

    Ctrl-C ends the rollout after the step under way; what was collected is returned, with
    ``interrupted`` set.

    Args:
        vec: A vectorised simulation that resets its worlds itself (``autoreset=True``).
        policies: How each group acts: a dict from its name to ``"random"``, ``"heuristic"``, a
            `Policy` or a callable ``(observations, active) -> actions``. Observations are
            ``{channel: [B, n, ...]}`` (an array [B, n, ...] where the space has no channels),
            active is bool [B, n], actions are as observations; rows of agents that are not active
            do not matter but must lie in the space. Observations are the engine's own arrays:
            copy what you keep. An object with ``bind(vec, group_name)``
            is bound first. Groups that are not named act at random; None means all do; one entry
            instead of a dict is for all groups.
        num_steps: How many steps, at least 1.
        seed: Seed of the reset. None goes on with the worlds' own random streams; these are the
            ones of ``vec.seed`` when ``vec`` is new.
        name: What to call the simulation in the rollout and in reports; by default its class.
        progress: Whether to report on stderr: a bar on a terminal, else a few lines.
        on_step: Called as ``on_step(0, infos)`` after the reset and ``on_step(t, infos)`` after
            the t-th step.

    Returns:
        The rollout.

    Raises:
        MemoryError: When it does not fit; says what is needed, available and would fit.
        ValueError: For unknown groups or policies, a number of steps below 1, a simulation that
            does not reset its worlds.
    """
    num_steps = check_run(vec, "a rollout", "num_steps", num_steps)
    bound = bind_policies(vec, policies)
    check_rollout_memory(vec, num_steps)
    continued = seed is None and vec.started
    columns, table = ColumnSink(vec, num_steps), EpisodeSink(vec)
    name = name or simulation_name(vec)
    tally = _run(vec, bound, num_steps, [columns, table], seed, name, progress, on_step)
    return columns.finish(
        tally.steps,
        episodes=table.finish(tally.steps),
        seed=vec.seed if seed is None else seed,
        continued=continued,
        simulation=name,
        interrupted=tally.interrupted,
        tally=tally,
    )


def statistics(
    vec: Any,
    policies: Any = None,
    num_steps: int = 500,
    *,
    seed: Any = None,
    name: str | None = None,
    progress: bool = True,
    on_step: Callable[[int, dict], None] | None = None,
) -> Statistics:
    """Do as `collect`, but keep the table of episodes and the counters only.

    Takes about a hundred bytes per episode. Arguments and errors are those of `collect`.
    """
    num_steps = check_run(vec, "a rollout", "num_steps", num_steps)
    table = EpisodeSink(vec)
    bound = bind_policies(vec, policies)
    name = name or simulation_name(vec)
    tally = _run(vec, bound, num_steps, [table], seed, name, progress, on_step)
    return Statistics(table.finish(tally.steps), tally)


def simulation_name(vec: Any) -> str:
    """Return the name of the simulation's class."""
    return type(getattr(vec, "sim", vec)).__name__


def check_run(vec: Any, noun: str, name: str, count: int) -> int:
    """Return the number of steps or episodes of a run as an int.

    Args:
        vec: The vectorised simulation.
        noun: What the run is, with its article.
        name: The name of the number.
        count: The number.

    Raises:
        TypeError: When it is not an int.
        ValueError: When it is below 1, or the worlds do not reset themselves.
    """
    if isinstance(count, bool) or not isinstance(count, int | np.integer):
        raise TypeError(f"{name} must be an int, not {count!r}")
    if count < 1:
        raise ValueError(f"{name} must be at least 1, not {count}")
    if not vec.autoreset:
        raise ValueError(
            f"{noun} needs a simulation that resets its worlds: vectorize(..., autoreset=True)"
        )
    return int(count)


def _run(
    vec: Any,
    policies: dict,
    num_steps: int,
    sinks: list,
    seed: Any,
    name: str,
    progress: bool,
    on_step: Callable[[int, dict], None] | None,
) -> Tally:
    """Step the worlds: sinks see each step, the tally counts those that are complete."""
    tally = Tally()
    began = time.perf_counter()
    observations, infos = vec.reset(seed=seed)
    for sink in sinks:
        sink.start(observations, infos)
    if on_step is not None:
        on_step(0, infos)
    title = f"{name}, {vec.num_envs:,} worlds"
    with (
        terminal.deferred_interrupt() as interrupt,
        terminal.progress(title, num_steps, "steps", progress) as report,
    ):
        try:
            for step in range(num_steps):
                if interrupt:
                    tally.interrupted = True
                    break
                acting = sum(int(np.count_nonzero(who)) for who in infos["active"].values())
                for sink in sinks:
                    sink.before(step, infos)
                actions = choose_actions(vec, policies, observations, infos["active"])
                tick = time.perf_counter()
                result = vec.step(actions)
                seconds = time.perf_counter() - tick
                for sink in sinks:
                    sink.after(step, actions, result)
                observations, infos = result[0], result[-1]
                tally.steps = step + 1
                tally.env_steps += vec.num_envs
                tally.agent_steps += acting
                tally.step_seconds += seconds
                if step == 0:
                    tally.first_agent_steps, tally.first_seconds = acting, seconds
                if on_step is not None:
                    on_step(step + 1, infos)
                rate = terminal.readable_rate(tally.rate, 1, "agent-steps")
                report.update(step + 1, f"{rate} while stepping" if rate else "")
        except KeyboardInterrupt:
            # A second Ctrl-C, or one in a thread or under a handler that is not ours: the step
            # under way is dropped, the columns up to it are whole.
            tally.interrupted = True
    tally.wall_seconds = time.perf_counter() - began
    return tally
