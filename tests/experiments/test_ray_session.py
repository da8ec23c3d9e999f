"""Ray elsewhere: who answers, and who does not."""

import socket

import pytest

from abmarl.experiments import ray_session
from abmarl.experiments.ray_session import wait_for_ray


def test_somebody_answers(capsys):
    with socket.create_server(("127.0.0.1", 0)) as server:
        place = f"127.0.0.1:{server.getsockname()[1]}"
        for address in (place, f"ray://{place}"):
            wait_for_ray(address)
    assert capsys.readouterr().out == (
        f"connecting to the Ray at {place}, as RAY_ADDRESS says ...\n"
        f"connecting to the Ray at ray://{place}, as RAY_ADDRESS says ...\n"
    )
    wait_for_ray("auto")  # Ray knows where


def test_nobody_answers(monkeypatch):
    monkeypatch.setattr(ray_session, "PATIENCE", 0.05)
    with socket.create_server(("127.0.0.1", 0)) as server:
        address = f"127.0.0.1:{server.getsockname()[1]}"
    with pytest.raises(ConnectionError) as caught:
        wait_for_ray(address)
    first, second = str(caught.value).splitlines()
    assert first.startswith(f"nobody answers at {address}, which RAY_ADDRESS names: ")
    assert second.endswith("or unset RAY_ADDRESS to train on this machine")
