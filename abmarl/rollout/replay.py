"""Rollouts that are simulated again from their seed and actions, and compared with the record."""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from abmarl.rollout.columns import Rollout

# Moments between two saved states, and how many before its first moment a stretch begins, so that
# what is drawn of deaths does not depend on where it began.
STRIDE, RUN_UP = 64, 4


class Moments:
    """What there is to see of one world of a rollout, one after the other.

    The start is one, and every step adds one; a step that ends an episode adds two, the end and
    the start of the next episode, unless it is the last step of the rollout.

    Args:
        rollout: the rollout.
        world: the world.

    Attributes:
        step: int64 [P], steps of the rollout done until then.
        fresh: bool [P], an episode starts.
        final: bool [P], an episode has ended.
        episode: int64 [P], number of the episode, from 0.
    """

    def __init__(self, rollout: Rollout, world: int):
        ended = rollout.ended[:, world]
        after = 1 + np.arange(len(ended)) + np.concatenate([[0], np.cumsum(ended[:-1])])
        count = 1 + len(ended) + int(np.count_nonzero(ended[:-1]))
        self.fresh, self.final = np.ones(count, bool), np.zeros(count, bool)
        self.fresh[after] = False
        self.final[after] = ended
        self.step = np.cumsum(~self.fresh)
        self.episode = np.cumsum(self.fresh) - 1

    def __len__(self) -> int:
        return len(self.step)

    def of_step(self, step: int) -> int:
        """The moment after so many steps, the end of an episode rather than the next start."""
        return int(np.searchsorted(self.step, step))


def recorded_observations(
    rollout: Rollout, moments: Moments, world: int, moment: int
) -> dict[str, dict[str, np.ndarray]]:
    """What was recorded of what the agents of a world saw at a moment.

    Returns:
        group -> channel -> [n, ...].
    """
    step = int(moments.step[moment])
    if moments.final[moment]:
        index = np.flatnonzero((rollout.final_index == (step - 1, world)).all(axis=1))[0]
        source, at = rollout.final_observations, (index,)
    elif step == rollout.num_steps:
        source, at = rollout.last_observations, (world,)
    else:
        source, at = rollout.observations, (step, world)
    return {
        name: {key: column[at] for key, column in channels.items()}
        for name, channels in source.items()
    }


class Mismatch(NamedTuple):
    """Where a world does something else than what was recorded.

    Attributes:
        moment: the first moment that differs, see `Moments`.
        world: the world.
        step: steps of the rollout done until then.
        what: what differs, in words.
    """

    moment: int
    world: int
    step: int
    what: str

    def __str__(self) -> str:
        return f"world {self.world}, after {self.step} steps: {self.what}"


def check_same(vec: Any, rollout: Rollout) -> None:
    """Refuse a simulation that cannot be the one that was recorded.

    Raises:
        ValueError: Its groups, agents or spaces are others; says which.
    """
    if list(vec.groups) != list(rollout.groups):
        raise ValueError(
            f"the simulation has the groups {', '.join(vec.groups)}, the rollout has "
            f"{', '.join(rollout.groups)}: it was made with another simulation"
        )
    for name, group in vec.groups.items():
        was = rollout.groups[name]
        if tuple(group.agent_ids) != was.ids:
            raise ValueError(
                f"group {name!r} has {len(group)} agents, {len(was)} were recorded, or they have "
                f"other ids: the rollout was made with another simulation"
            )
        for side in ("observation_space", "action_space"):
            now, then = getattr(group, side), getattr(was, side)
            if now != then:
                raise ValueError(
                    f"group {name!r} has the {side} {now!s:.90}, recorded was "
                    f"{then!s:.90}: the rollout was made with another simulation"
                )


def actions_of(rollout: Rollout, step: int, worlds: Any) -> dict[str, dict[str, np.ndarray]]:
    """The recorded actions of some worlds in a step, as a vectorised simulation takes them."""
    return {
        name: {key: column[step, worlds] for key, column in channels.items()}
        for name, channels in rollout.actions.items()
    }


class Replay:
    """One world of a rollout, simulated again; can be brought to any moment.

    Args:
        sim: the simulation that the rollout was made with.
        rollout: the rollout.
        world: which world of it.

    Attributes:
        vec: a vectorised simulation with that world only; what it shows is the moment `now`.
        moments: the `Moments` of the world.
        now: the present moment.
        mismatch: where the world began to do something else, once `check` has been called.
        good: how many moments are as they were recorded.
        deaths: int64 [K], the moments in which agents have died.

    Raises:
        ValueError: There is no such world, or the simulation is another one.
    """

    def __init__(self, sim: Any, rollout: Rollout, world: int = 0):
        if not 0 <= world < rollout.num_envs:
            raise ValueError(f"world is {world!r}, but there are {rollout.num_envs}, from 0")
        self.rollout, self.world = rollout, world
        self.vec = sim.vectorize(
            num_envs=1, seed=rollout.seed, horizon=rollout.horizon, order=rollout.order,
            num_threads=1, autoreset=False,
        )  # fmt: skip
        check_same(self.vec, rollout)
        self.moments = Moments(rollout, world)
        self.mismatch: Mismatch | None = None
        self.good, self.deaths = 0, np.empty(0, np.int64)
        self.now = 0
        self._saved: dict[int, dict] = {}

    def check(self, on_moment: Callable[[int], None] | None = None) -> None:
        """Simulate everything once and compare it with the record.

        Args:
            on_moment: called with the number of every moment that was compared.
        """
        deaths: list[int] = []
        moments, vec = self.moments, self.vec
        different = self._begin()
        while different is None:
            now = self.now
            self.good = now + 1
            if now % STRIDE == STRIDE - RUN_UP or now == 0:
                self._saved[now] = vec.state_dict()
            if on_moment is not None:
                on_moment(now)
            if now + 1 == len(moments):
                break
            before = vec.store.active[0].copy()
            different = self._forward() or self._compare()
            if not moments.fresh[self.now] and (before & ~vec.store.active[0]).any():
                deaths.append(self.now)
        if different is not None:
            self.mismatch = Mismatch(self.good, self.world, int(moments.step[self.good]), different)
        later = self._recorded_ends()
        self.deaths = np.array(
            [one for one in deaths if one < self.good] + later[later >= self.good].tolist(),
            np.int64,
        )

    def go(self, moment: int, on_move: Callable[[bool], None]) -> None:
        """Bring the world to a moment.

        Args:
            moment: one of the first `good` ones.
            on_move: called after every change, with True when the world was taken back to an
                earlier moment or ahead to a later one, with False when it has done a step.
        """
        saved = max(one for one in self._saved if one <= max(moment - RUN_UP, 0))
        if not saved <= self.now <= moment:
            self.vec.load_state_dict(self._saved[saved])
            self.now = saved
            on_move(True)
        while self.now < moment:
            self._forward()
            on_move(False)

    def _begin(self) -> str | None:
        """Start at the beginning; what differs, if something does."""
        if self.rollout.continued:
            return "it went on from earlier steps that are not in the file"
        self.vec.store.seed(self.rollout.seed, first_world=self.world)
        self.vec.reset()
        self.now = 0
        return self._compare()

    def _forward(self) -> str | None:
        """Go on by a moment; why that is not possible, if it is not."""
        self.now += 1
        if self.moments.fresh[self.now]:
            self.vec.reset()
            return None
        step = int(self.moments.step[self.now]) - 1
        try:
            self.vec.step(actions_of(self.rollout, step, slice(self.world, self.world + 1)))
        except ValueError as error:
            return f"the recorded action is refused: {error}"
        return None

    def _compare(self) -> str | None:
        """What differs from the record now, if something does."""
        record, world = self.rollout, self.world
        step, fresh = int(self.moments.step[self.now]), bool(self.moments.fresh[self.now])
        if not fresh:
            episodes, store = self.vec.episodes, self.vec.store
            if bool(episodes.ended[0]) != bool(record.ended[step - 1, world]):
                return f"the episode {'ends' if episodes.ended[0] else 'does not end'}"
            for name, group in self.vec.groups.items():
                for what, now in (
                    ("reward", store.rewards), ("terminated", episodes.terminated),
                    ("truncated", episodes.truncated),
                ):  # fmt: skip
                    column = getattr(record, what if what != "reward" else "rewards")[name]
                    found = _first(now[0, group.slots], column[step - 1, world])
                    if found is not None:
                        return f"{what} of agent {group.agent_ids[found]!r}"
        observations = self.vec.observations()
        for name, group in self.vec.groups.items():
            for key, now in observations[name].items():
                found = _first(now[0], self.recorded(name, key, self.now))
                if found is not None:
                    return f"observation {key!r} of agent {group.agent_ids[found]!r}"
        return None

    def recorded(self, group: str, channel: str, moment: int) -> np.ndarray:
        """What the agents of a group observed at a moment, [n, ...]."""
        return recorded_observations(self.rollout, self.moments, self.world, moment)[group][channel]

    def _recorded_ends(self) -> np.ndarray:
        """The moments in which agents ended before their episode did, by the record."""
        record, world = self.rollout, self.world
        ends = np.zeros(record.num_steps, bool)
        for column in record.terminated.values():
            ends |= column[:, world].any(axis=1)
        return np.flatnonzero(~self.moments.fresh)[ends & ~record.ended[:, world]]


def first_difference(now: np.ndarray, then: np.ndarray) -> tuple[np.ndarray, int, int] | None:
    """Where two arrays [B, n, ...] differ; floats may by rounding.

    Returns:
        bool [B], the worlds with a difference, and the first one and its first agent; None if
        there is no difference.
    """
    same = now == then if now.dtype.kind != "f" else np.isclose(now, then, rtol=1e-6, atol=1e-9)
    if same.all():
        return None
    different = ~same.reshape(*same.shape[:2], -1).all(axis=2)
    world = int(different.any(axis=1).argmax())
    return different.any(axis=1), world, int(different[world].argmax())


def _first(now: np.ndarray, then: np.ndarray) -> int | None:
    """The first row in which two arrays [n, ...] differ."""
    found = first_difference(now[None], then[None])
    return None if found is None else found[2]
