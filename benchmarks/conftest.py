"""What all benchmarks share: how much is warmed up, and agent-steps per second beside the times."""

import pytest

from benchmarks.worlds import HORIZON


@pytest.fixture
def warm_up(request):
    """Steps to play before measuring; few where nothing is measured (``make bench-quick``)."""
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


def pytest_terminal_summary(terminalreporter, config):
    """Prints the rates, which pytest-benchmark's table has no column for."""
    session = getattr(config, "_benchmarksession", None)
    found = [one for one in getattr(session, "benchmarks", []) if one and one.extra_info]
    if not found:
        return
    terminalreporter.section("agent-steps per second")
    width = max(len(one.name) for one in found)
    for one in sorted(found, key=lambda one: (one.group or "", one.name)):
        rate, agents = one.extra_info["agent_steps_per_second"], one.extra_info["agents"]
        terminalreporter.write_line(
            f"{one.name:<{width}}  {rate:>13,}  ({agents:,.0f} agents a call)"
        )
