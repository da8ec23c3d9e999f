"""Progress, tables and signals."""

import io
import os
import signal
import sys

import pytest

from abmarl import terminal
from abmarl.terminal import (
    LiveTable,
    Progress,
    ProgressBar,
    ProgressLog,
    Terminated,
    deferred_interrupt,
    print_table,
    progress,
    raised_termination,
    readable_rate,
)


class Terminal(io.StringIO):
    def isatty(self):
        return True


def test_a_log_gets_a_line_at_either_end(capsys):
    with progress("battle", 1200, "steps") as report:
        assert type(report) is ProgressLog
        for step in range(1200):
            report.update(step + 1, "5 agent-steps/s")
    first, last = capsys.readouterr().err.splitlines()
    assert first == "battle: 1,200 steps ..."
    assert last.startswith("battle: 1,200 of 1,200 steps in 0.")
    assert last.endswith(" s, 5 agent-steps/s")


def test_a_long_run_says_that_it_is_alive(capsys, monkeypatch):
    clock = iter([0.0, 1.0, 31.0, 40.0, 62.0, 63.0])
    monkeypatch.setattr(terminal.time, "monotonic", lambda: next(clock))
    with progress("battle", 10, "steps") as report:
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
    with progress("battle [x]", 200, "steps") as report:
        assert type(report) is ProgressBar
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
    expected = ProgressLog if how == "dumb" else Progress
    assert type(progress("battle", 3, "steps", how != "off")) is expected


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


ROWS = [("episodes", "12"), ("mean return [x]", "-3.25")]


def test_a_table_in_a_log(capsys):
    print_table("battle", ROWS)
    assert capsys.readouterr().out == "battle\n  episodes         12\n  mean return [x]  -3.25\n"


def test_a_table_with_names_of_columns_in_a_log(capsys):
    print_table("battle", [("red", "1", "22"), ("blue", "-", "3")], ["policy", "random", "own"])
    assert capsys.readouterr().out == (
        "battle\n  policy  random  own\n  red          1   22\n  blue         -    3\n"
    )


def test_a_table_on_a_terminal(monkeypatch):
    monkeypatch.setattr(sys, "stdout", Terminal())
    print_table("battle [1]", ROWS)
    print_table("battle", ROWS, ["what", "how [many]"])
    with LiveTable("battle") as table:
        table.update(ROWS)
    shown = sys.stdout.getvalue()
    assert "battle [1]" in shown
    assert shown.count("mean return [x]") >= 3
    assert shown.count("how [many]") == 1
    assert "╭" in shown


def send(signum):
    os.kill(os.getpid(), signum)


def test_ctrl_c_waits_once(capfd):
    with deferred_interrupt("wait") as stop:
        assert not stop
        send(signal.SIGINT)
        assert stop
        assert not stop.terminated
        with pytest.raises(KeyboardInterrupt):
            send(signal.SIGINT)
    assert capfd.readouterr().err == "wait\n"
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_sigterm_waits_however_often_it_comes(capfd):
    before = signal.getsignal(signal.SIGTERM)
    with deferred_interrupt("wait", termination=True) as stop:
        send(signal.SIGTERM)
        send(signal.SIGTERM)
        assert stop.terminated
        with pytest.raises(KeyboardInterrupt):
            send(signal.SIGINT)  # somebody sits there and is in a hurry
    assert capfd.readouterr().err == "wait\n"
    assert signal.getsignal(signal.SIGTERM) is before


def test_sigterm_is_raised_once():
    before = signal.getsignal(signal.SIGTERM)  # Ray has one of its own, if it was started here
    cleaned = []
    with pytest.raises(Terminated), raised_termination():
        try:
            send(signal.SIGTERM)
        finally:
            send(signal.SIGTERM)
            cleaned.append(True)
    assert cleaned
    assert signal.getsignal(signal.SIGTERM) is before


def test_sigterm_stays_what_it_was_on_its_way():
    with pytest.raises(Terminated), raised_termination():
        try:
            send(signal.SIGTERM)
        except KeyboardInterrupt:
            raise KeyboardInterrupt("of a library") from None
    with pytest.raises(KeyboardInterrupt) as caught, raised_termination():
        raise KeyboardInterrupt
    assert not isinstance(caught.value, Terminated)
