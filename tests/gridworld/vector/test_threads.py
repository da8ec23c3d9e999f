"""Helping threads: what they do, how they fail, and that they go away."""

import gc
import os
import subprocess
import sys
import threading
import time

import numpy as np
import pytest

from abmarl.examples import shipped
from abmarl.gridworld.vector.threads import Crew
from abmarl.kernels.compile import JIT
from abmarl.kernels.episode import add_rewards
from abmarl.kernels.program import Call, Program

pytestmark = pytest.mark.skipif(not JIT, reason="without numba there are no helping threads")


def helpers():
    return [one for one in threading.enumerate() if one.name.startswith("abmarl-")]


def wait_for(condition):
    until = time.monotonic() + 20
    while not condition() and time.monotonic() < until:
        gc.collect()
        time.sleep(0.01)
    return condition()


def counting(rewards):
    return Call(add_rewards, np.ones_like(rewards), rewards)


@pytest.mark.parametrize("members", [1, 2, 3, 5])
def test_every_program_runs_once_a_time(members):
    arrays = [np.zeros((2, 2)) for _ in range(members)]
    # Every second one has a part in Python.
    extra = [[] if k % 2 == 0 else [lambda: None, counting(a)] for k, a in enumerate(arrays)]
    crew = Crew([Program([counting(a), *more]) for a, more in zip(arrays, extra, strict=True)])
    for number in range(1, 60):
        if number in (20, 40):
            time.sleep(0.05)  # long enough for the helpers to fall asleep
        crew.run()
        for k, array in enumerate(arrays):
            assert (array == number * (1 + k % 2)).all()


@pytest.mark.parametrize("member", [0, 1, 2])
def test_an_error_is_raised_after_all_are_done(member):
    arrays = [np.zeros((1, 1)) for _ in range(3)]
    fails = [True]

    def fail():
        if fails:
            raise RuntimeError("out of luck")

    programs = [[counting(a)] for a in arrays]
    programs[member].append(fail)
    crew = Crew([Program(steps) for steps in programs])
    for number in (1, 2):
        with pytest.raises(RuntimeError, match="out of luck"):
            crew.run()
        assert [array.item() for array in arrays] == [number] * 3
    fails.clear()
    crew.run()
    assert [array.item() for array in arrays] == [3] * 3


def test_helpers_go_with_their_simulation():
    assert wait_for(lambda: not helpers())
    vec = shipped["team-battle"]().vectorize(8, seed=0, num_threads=3)
    vec.reset()
    assert not helpers()  # nobody is hired before there is work
    vec.step(vec.sample_actions())
    assert len(helpers()) == 2
    del vec
    assert wait_for(lambda: not helpers())


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_fork_hires_its_own_helpers():
    program = (
        "import os, sys, warnings\n"
        "from abmarl.examples import shipped\n"
        "warnings.simplefilter('ignore')\n"
        "vec = shipped['team-battle']().vectorize(8, seed=0, num_threads=2)\n"
        "vec.reset()\n"
        "for _ in range(5): vec.step(vec.sample_actions())\n"
        "child = os.fork()\n"
        "for _ in range(5): obs, *_ = vec.step(vec.sample_actions())\n"
        "total = sum(int(one.sum()) for group in obs.values() for one in group.values())\n"
        "if child: os.waitpid(child, 0)\n"
        "print(total, flush=True)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=120, check=True
    )
    child, parent = done.stdout.split()
    assert child == parent


def test_a_process_ends_while_helpers_wait():
    program = (
        "from abmarl.examples import shipped\n"
        "vec = shipped['team-battle']().vectorize(8, seed=0, num_threads=2)\n"
        "vec.reset()\n"
        "vec.step(vec.sample_actions())\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, timeout=120)
    assert done.returncode == 0, done.stderr


def test_simulations_may_be_collected_at_any_moment():
    program = (
        "import gc\n"
        "from abmarl.examples import shipped\n"
        "gc.set_threshold(1)\n"
        "sim = shipped['foraging']()\n"
        "for _ in range(6):\n"
        "    vec = sim.vectorize(4, seed=0, num_threads=3)\n"
        "    vec.itself = vec\n"
        "    vec.reset()\n"
        "    for _ in range(5): vec.step(vec.sample_actions())\n"
    )
    subprocess.run([sys.executable, "-c", program], timeout=200, check=True)
