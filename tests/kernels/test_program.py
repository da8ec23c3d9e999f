"""Programs, and handing them to helping threads."""

import copy
import pickle
import threading
from typing import NamedTuple

import numpy as np
import pytest

from abmarl.kernels.compile import JIT, kernel
from abmarl.kernels.episode import add_rewards, clear_rewards, fill_worlds
from abmarl.kernels.handoff import DONE, ROW, TAKEN, WANTED, finish, lead, serve, take
from abmarl.kernels.program import Call, Program

compiled = pytest.mark.skipif(not JIT, reason="kernels are plain functions here")


def adding(amount, rewards):
    return Call(add_rewards, np.full(rewards.shape, amount), rewards)


def test_calls_and_functions_run_in_order():
    rewards = np.ones((2, 3))
    seen = []
    program = Program(
        [
            adding(1.0, rewards),
            lambda: seen.append(rewards.sum()),
            Call(clear_rewards, rewards),
            adding(2.0, rewards),
            adding(0.5, rewards),
            lambda: seen.append(rewards.sum()),
        ]
    )
    assert not seen  # making a program runs nothing
    program()
    assert seen == [12.0, 15.0]
    program()
    assert seen == [12.0, 15.0, 21.0, 15.0]
    assert not program.native
    assert len(program.table) == 0


def test_arguments_of_all_kinds_arrive():
    for dtype in (bool, np.uint8, np.int16, np.int64, np.float64):
        values = np.zeros((3, 4), dtype)
        start = np.array([1, 0, 1, 1], dtype)
        Program([Call(fill_worlds, np.array([2, 0, -1]), values, start)])()
        assert values.tolist() == [start.tolist(), [0] * 4, start.tolist()]


class Scale(NamedTuple):
    """A factor and what it is for."""

    factor: float
    values: np.ndarray


class Job(NamedTuple):
    """A tuple in a tuple."""

    on: bool
    scale: Scale
    out: np.ndarray


@kernel
def run_job(job, shift):
    """Scale and shift values."""
    for k in range(job.out.shape[0]):
        if job.on:
            job.out[k] = job.scale.factor * job.scale.values[k] + shift


@pytest.mark.parametrize("on", [True, False])
def test_tuples_arrive_member_by_member(on):
    values, out = np.arange(3), np.zeros(3)
    run = Program([Call(run_job, Job(on, Scale(0.5, values), out), 7)])
    values += 1  # arrays are alive, numbers fixed
    run()
    assert out.tolist() == ([7.5, 8.0, 8.5] if on else [0.0] * 3)


@compiled
def test_a_program_of_kernels_is_native():
    program = Program([adding(1.0, np.zeros((1, 1))) for _ in range(5)])
    assert program.native
    assert program.table.shape == (5, 2)
    assert Program([]).native is False


def test_the_arrays_live_as_long_as_the_program():
    rewards = np.zeros((50, 50))
    program = Program([adding(float(k), rewards) for k in range(4)])
    rubbish = [np.full((50, 50), 7.0) for _ in range(200)]
    program()
    assert (rewards == 6.0).all()
    assert len(rubbish) == 200


@pytest.mark.parametrize("twin", [copy.deepcopy, lambda one: pickle.loads(pickle.dumps(one))])
def test_a_copy_is_nothing(twin):
    """It would work on the arrays of the original."""
    assert twin(Program([adding(1.0, np.zeros((1, 1)))])) is None


@compiled
def test_a_helper_does_what_is_wanted_and_gives_up_waiting():
    rewards = np.zeros((1, 1))
    program = Program([adding(1.0, rewards)])  # keeps alive what the table points to
    nothing = np.zeros((0, 2), np.int64)
    mail = np.zeros((1, ROW), np.int64)
    assert serve(mail, 0, program.table, 0, 0) == (0, False)  # nobody wants anything
    mail[0, WANTED] = 1
    assert serve(mail, 0, program.table, 0, 0) == (1, False)
    assert (rewards[0, 0], mail[0, DONE]) == (1.0, 1)
    mail[0, WANTED] = 2
    assert take(mail, 0, 2)  # somebody else is faster
    assert serve(mail, 0, program.table, 1, 0) == (2, False)
    assert (rewards[0, 0], mail[0, DONE]) == (1.0, 1)
    mail[0, WANTED] = 3
    assert serve(mail, 0, nothing, 2, 0) == (3, True)  # Python has to do it
    assert not take(mail, 0, 3)
    assert mail[0, DONE] == 1
    assert serve(mail, 0, nothing, 3, 3) == (3, False)
    assert mail[0, DONE] == 3


@compiled
def test_the_leader_does_what_no_helper_takes():
    mine, theirs = np.zeros((1, 1)), np.zeros((1, 1))
    programs = Program([adding(1.0, mine)]), Program([adding(1.0, theirs)] * 2)
    tables = np.concatenate([program.table for program in programs]), np.array([0, 1, 3])
    mail = np.zeros((1, ROW), np.int64)
    assert lead(mail, 1, *tables)
    assert (mine[0, 0], theirs[0, 0]) == (1.0, 2.0)
    mail[0, TAKEN] = 2  # a helper has it, and does not come to an end
    assert not lead(mail, 2, *tables)
    assert not finish(mail, 2)
    assert (mine[0, 0], theirs[0, 0]) == (2.0, 2.0)
    mail[0, DONE] = 2
    assert finish(mail, 2)


@compiled
def test_the_leader_and_a_helper_share_the_work():
    mine, theirs = np.zeros((1, 1)), np.zeros((1, 1))
    own, other = Program([adding(1.0, mine)]), Program([adding(1.0, theirs)])
    tables = np.concatenate([own.table, other.table]), np.array([0, 1, 2])
    mail = np.zeros((1, ROW), np.int64)
    seen = 0
    stop = threading.Event()

    def help_out():
        nonlocal seen
        while not stop.is_set():
            seen, _ = serve(mail, 0, other.table, seen, 0)

    helper = threading.Thread(target=help_out)
    helper.start()
    try:
        for number in range(1, 2000):
            finished = lead(mail, number, *tables)
            while not finished:
                finished = finish(mail, number)
            assert theirs[0, 0] == mine[0, 0] == number
    finally:
        stop.set()
        helper.join()
