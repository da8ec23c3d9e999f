"""Signals that wait for the end of a step."""

import os
import signal

import pytest

from abmarl.rollout.interrupt import Terminated, deferred_interrupt, raised_termination


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
