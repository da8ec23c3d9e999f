"""What all benchmarks share: how much is warmed up, and rates per second beside the times."""

import pytest

from benchmarks.worlds import HORIZON


@pytest.fixture
def warm_up(request):
    """Return how many steps to play before measuring; few under ``make bench-quick``."""
    return 3 if request.config.getoption("benchmark_disable") else HORIZON


@pytest.fixture
def per_agent(benchmark):
    """Tells a benchmark how many agents its call serves: ``per_agent(count)``.

    What comes of it, agent-steps per second by the median time, is kept in ``extra_info`` and
    printed below the table.
    """
    counts = []
    yield counts.append
    if counts and benchmark.stats is not None:
        rate = counts[-1] / benchmark.stats.stats.median
        benchmark.extra_info["agents"] = round(counts[-1], 2)
        benchmark.extra_info["agent_steps_per_second"] = round(rate)


@pytest.fixture
def frames(benchmark):
    """Tells a benchmark how many frames its call makes: ``frames(count, floor)``.

    The rate by the median time is kept and printed as above; below ``floor`` the benchmark fails.
    """
    told = []
    yield lambda count, floor: told.append((count, floor))
    if told and benchmark.stats is not None:
        count, floor = told[-1]
        rate = count / benchmark.stats.stats.median
        benchmark.extra_info["frames"] = count
        benchmark.extra_info["frames_per_second"] = round(rate)
        assert rate >= floor, f"{rate:.0f} frames a second, {floor} are promised"


def pytest_terminal_summary(terminalreporter, config):
    """Print the rates, which pytest-benchmark's table has no column for."""
    session = getattr(config, "_benchmarksession", None)
    made = [one for one in getattr(session, "benchmarks", []) if one and one.extra_info]
    kinds = (
        ("agents", "agent_steps_per_second", "agent-steps per second"),
        ("frames", "frames_per_second", "frames per second"),
    )
    for what, rate, title in kinds:
        found = [one for one in made if rate in one.extra_info]
        if not found:
            continue
        terminalreporter.section(title)
        width = max(len(one.name) for one in found)
        for one in sorted(found, key=lambda one: (one.group or "", one.name)):
            count = f"({one.extra_info[what]:,.0f} {what} a call)"
            terminalreporter.write_line(
                f"{one.name:<{width}}  {one.extra_info[rate]:>13,}  {count}"
            )
