"""What is raced against what: every entry of ``CONTESTS`` makes one ratio.

The kernels are raced against the plain implementations in ``reference.py``, on the same worlds, the
vectorised simulation against the single one, two threads against one, a small world against a
large one, and Gymnasium's vector environment against the vectorised simulation in it.
"""

from concurrent.futures import ThreadPoolExecutor

import numpy as np

from abmarl.gridworld.observer import StackedPositionCenteredEncodingObserver, TeamObserver
from benchmarks import reference
from benchmarks.adapters import ParallelPlay, gymnasium_play
from benchmarks.interleaved import Contest
from benchmarks.points import Flattened, Ravelled
from benchmarks.stage import Recorded, Stage
from benchmarks.worlds import HORIZON, Play, SinglePlay, battle, crowd, field

WORLDS = 256
WALLS = {"walls": 6, "blocking": True}
COUNTS = (StackedPositionCenteredEncodingObserver,)
TEAMS = (TeamObserver,)


class Plain:
    """The state of a stage as the reference implementations want it.

    Args:
        stage: The stage to copy.
    """

    def __init__(self, stage):
        store = stage.store
        self.rows, self.cols = store.rows, store.cols
        self.encoding = store.traits["encoding"].astype(np.int64)
        self.blocking = store.traits["blocking"].copy()
        self.viewers = int((self.encoding <= 4).sum())
        self.reach = int(store.traits["view_range"].max())
        self.attack_range = int(store.traits["attack_range"].max())
        self.actions = stage.slot_actions()
        self.position = store.position.astype(np.int64)
        self.active, self.health = store.active.copy(), store.health.copy()
        self.rewards = store.rewards.copy()
        self.kills = np.zeros(self.active.shape, np.int64)
        self.moved = np.zeros(self.active.shape, np.int64)
        self.seed = np.array([88172645463325252], np.uint64)
        self.side = 2 * self.reach + 1
        self._saved = {name: getattr(self, name).copy() for name in self._VARIABLES}

    _VARIABLES = ("position", "active", "health", "rewards")

    def rewind(self):
        """Goes back to the moment of the stage."""
        for name in self._VARIABLES:
            getattr(self, name)[...] = self._saved[name]

    def attack(self):
        """See ``reference.attack``."""
        reference.attack(
            self.position, self.active, self.health, self.encoding, self.actions,
            self.attack_range, self.seed, self.rewards, self.kills,
        )  # fmt: skip

    def move(self):
        """See ``reference.move``."""
        reference.move(
            self.position, self.active, self.encoding, self.actions, self.rows, self.cols,
            self.rewards, self.moved,
        )  # fmt: skip


def staged(sim, worlds=WORLDS):
    """Return a stage in the middle of the episodes of a simulation, and its plain copy."""
    stage = Stage(Play(sim, worlds))
    return stage, Plain(stage)


def windows(function, *layers, worlds=WORLDS, **kwargs):
    """Return a contest of observation windows; ``kwargs`` tell which battle."""
    stage, plain = staged(battle(**kwargs), worlds)
    shape = (*plain.active.shape, plain.side, plain.side, *layers)
    out = np.full(shape, -2, np.int8)
    known = [plain.position, plain.active, plain.encoding]
    if function is reference.masked_windows:
        known.append(plain.blocking)

    def call():
        function(*known, plain.viewers, plain.reach, plain.rows, plain.cols, out)

    contest = Contest(stage.observe, call)
    contest.stage, contest.out = stage, out
    return contest


def attack(**kwargs):
    """Return a contest of attacks."""
    stage, plain = staged(battle(**kwargs))
    return Contest(stage.attack, plain.attack, stage.rewind, plain.rewind)


def move():
    """Return a contest of moves."""
    stage, plain = staged(battle())
    return Contest(stage.move, plain.move, stage.rewind, plain.rewind)


def done():
    """Return a contest of done conditions."""
    stage, plain = staged(battle())
    finished, over = np.zeros(plain.active.shape, bool), np.zeros(WORLDS, bool)
    return Contest(stage.done, lambda: reference.done(plain.active, plain.encoding, finished, over))


def close_step():
    """Return a contest of the bookkeeping of episodes."""
    play = Play(battle(), WORLDS)
    stage, recorded = Stage(play), Recorded(play)
    before = play.vec.episodes.alive.copy()
    arrays = [before.copy(), np.zeros(WORLDS, np.int64), np.zeros(before.shape)]
    finished, over = stage.done()

    def rewind():
        arrays[0][...] = before

    return Contest(
        recorded,
        lambda: reference.close(finished, over, HORIZON, stage.store.rewards, *arrays),
        recorded.rewind,
        rewind,
    )


def reset(corners):
    """Return a contest of starting episodes."""
    stage, plain = staged(battle(corners=corners))
    starts = np.full((len(plain.encoding), 2), -1)
    if corners:
        starts = plain.position[0].copy()
    arrays = plain.position, plain.active, plain.health
    return Contest(
        stage.start_episode,
        lambda: reference.place(
            starts, plain.encoding, plain.rows, plain.cols, plain.seed, *arrays
        ),
    )


def masks():
    """Return a contest of action masks."""
    stage, plain = staged(battle())
    moves = np.zeros((*plain.active.shape, 3, 3), bool)
    attacks = np.zeros((*plain.active.shape, 2), bool)
    known = plain.position, plain.active, plain.encoding

    def call():
        reference.move_masks(*known, plain.rows, plain.cols, moves)
        reference.attack_masks(*known, plain.attack_range, attacks)

    return Contest(stage.play.vec.action_masks, call)


def turns():
    """Return a contest of shuffling the agents."""
    stage, plain = staged(battle())
    generator = np.random.default_rng(0)
    return Contest(
        lambda: stage.take_turns(True),
        lambda: reference.random_turns(generator, plain.active),
    )


def sampling():
    """Return a contest of drawing random actions."""
    vec = Play(battle(), WORLDS, warm_up=1).vec
    generator = np.random.default_rng(0)
    low, high = np.array([0, -1, -1]), np.array([1, 1, 1])
    shape = (WORLDS, vec.store.num_agents)
    return Contest(vec.sample_actions, lambda: reference.sample(generator, shape, low, high))


def converted(kind):
    """Return a contest of ravelling or flattening 24,000 observations, against one at a time."""
    points = kind()
    return Contest(points.batch, points.one_by_one)


def _steps(play, count):
    return lambda: sum(play.step() for _ in range(count))


def vectorised():
    """Vectorised against single, per agent that acts."""
    play, single = Play(battle(), 1024), SinglePlay(battle())
    return Contest(_steps(play, 4), single.episodes)


def threads():
    """Two threads against one, as a part of what two cores give to code that is all compiled."""
    two, one = (Play(battle(), 1024, num_threads=count) for count in (2, 1))
    pool = ThreadPoolExecutor(1)

    def on_two():
        other = pool.submit(reference.busy, 150_000)
        reference.busy(150_000)
        other.result()

    control = on_two, lambda: reference.busy(300_000)
    return Contest(_steps(two, 1), _steps(one, 1), control=control)


def blockers():
    """Walls that hide what is behind them against walls that do not."""
    hiding, plain = (Play(battle(walls=6, blocking=yes), WORLDS) for yes in (True, False))
    return Contest(_steps(hiding, 4), _steps(plain, 4))


def large_world():
    """10,000 agents in one world against 1,000, per agent."""
    large, small = (Play(crowd(count), 1, warm_up=5) for count in (10_000, 1_000))
    contest = Contest(_Full(large), _Full(small))
    contest.before_ours, contest.before_reference = contest.ours.rewind, contest.reference.rewind
    return contest


def parallel_env():
    """Return a battle with dicts in and out through PettingZoo, against one vectorised world."""
    return Contest(_steps(ParallelPlay(field()), HORIZON), _steps(Play(field(), 1), HORIZON))


class _Full:
    """One step of a world in which nobody has been killed yet."""

    def __init__(self, play):
        self._play = play
        play.vec.reset()
        self._start = play.vec.state_dict()

    def rewind(self):
        self._play.vec.load_state_dict(self._start)

    def __call__(self):
        return self._play.step()


CONTESTS = {
    "windows": lambda: windows(reference.windows),
    "windows behind blockers": lambda: windows(reference.masked_windows, **WALLS),
    "stacked windows": lambda: windows(reference.stacked_windows, 4, observers=COUNTS),
    "team windows": lambda: windows(reference.windows, observers=TEAMS),
    "attack": attack,
    "attack behind blockers": lambda: attack(attack_range=2, **WALLS),
    "move": move,
    "done": done,
    "close step": close_step,
    "reset to start cells": lambda: reset(True),
    "reset to random cells": lambda: reset(False),
    "action masks": masks,
    "random turns": turns,
    "sampled actions": sampling,
    "ravel": lambda: converted(Ravelled),
    "flatten": lambda: converted(Flattened),
    "vectorised / single": vectorised,
    "two threads / one": threads,
    "blockers / none": blockers,
    "large world / small": large_world,
    "PettingZoo / vectorised": parallel_env,
    "Gymnasium / vectorised": gymnasium_play,
}
