import io
import sys

import pytest

from abmarl.rollout import progress
from abmarl.rollout.progress import Bar, Lines, Silent, readable_rate, reporter


class Terminal(io.StringIO):
    def isatty(self):
        return True


def test_a_log_gets_a_line_at_either_end(capsys):
    with reporter("battle", 1200, "steps") as report:
        assert type(report) is Lines
        for step in range(1200):
            report.update(step + 1, "5 agent-steps/s")
    first, last = capsys.readouterr().err.splitlines()
    assert first == "battle: 1,200 steps ..."
    assert last.startswith("battle: 1,200 of 1,200 steps in 0.")
    assert last.endswith(" s, 5 agent-steps/s")


def test_a_long_run_says_that_it_is_alive(capsys, monkeypatch):
    clock = iter([0.0, 1.0, 31.0, 40.0, 62.0, 63.0])
    monkeypatch.setattr(progress.time, "monotonic", lambda: next(clock))
    with reporter("battle", 10, "steps") as report:
        for step in (1, 2, 3, 4):
            report.update(step)
    assert [line.split(" steps ")[0] for line in capsys.readouterr().err.splitlines()] == [
        "battle: 10",
        "battle: 2 of 10",
        "battle: 4 of 10",
        "battle: 4 of 10",
    ]


def test_a_terminal_gets_a_bar(monkeypatch):
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.setenv("COLUMNS", "120")
    with reporter("battle [x]", 200, "steps") as report:
        assert type(report) is Bar
        for step in range(200):
            report.update(step + 1, "5 agent-steps/s")
    shown = terminal.getvalue()
    assert "battle [x]" in shown
    assert "200/200 steps" in shown
    assert "5 agent-steps/s" in shown


@pytest.mark.parametrize("how", ["off", "dumb", "none"])
def test_other_places(monkeypatch, how):
    monkeypatch.setattr(sys, "stderr", None if how == "none" else Terminal())
    monkeypatch.setenv("TERM", "dumb")
    expected = Lines if how == "dumb" else Silent
    assert type(reporter("battle", 3, "steps", how != "off")) is expected


@pytest.mark.parametrize(
    ("count", "seconds", "text"),
    [
        (5, 0, ""),
        (5, 2, "2 x/s"),
        (12345, 1, "12,345 x/s"),
        (999_400, 1, "999,400 x/s"),
        (8_200_000, 2, "4.1M x/s"),
    ],
)
def test_rates_for_people(count, seconds, text):
    assert readable_rate(count, seconds, "x") == text
