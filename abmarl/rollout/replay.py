"""Rollouts that are simulated again from their seed and actions, and compared with the record."""

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np

from abmarl.rollout.columns import Rollout

# Moments between two saved states, and how many before its first moment a stretch begins, so that
# what is drawn of deaths does not depend on where it began.
STRIDE, RUN_UP = 64, 4


class Moments:
    """The moments of one world of a rollout that can be looked at, in their order.

    The start is one, and every step adds one; a step that ends an episode adds two, the end and
    the start of the next episode, unless it is the last step of the rollout.

    Args:
        rollout: The rollout.
        world: The world.

    Attributes:
        step: int64 [P], steps of the rollout done until then.
        fresh: bool [P], an episode starts.
        final: bool [P], an episode has ended.
        episode: int64 [P], number of the episode, from 0.
    """

    def __init__(self, rollout: Rollout, world: int) -> None:
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
        """Return the moment after so many steps: the end of an episode, not the next start."""
        return int(np.searchsorted(self.step, step))


def recorded_observations(
    rollout: Rollout, moments: Moments, world: int, moment: int
) -> dict[str, dict[str, np.ndarray]]:
    """Return what was recorded of the observations of a world at a moment.

    Returns:
        group -> channel -> [n, ...].
    """
    step = int(moments.step[moment])
    at: tuple[int, ...]
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


def recorded_actions(rollout: Rollout, step: int, worlds: Any) -> dict[str, dict[str, np.ndarray]]:
    """Return the recorded actions of some worlds in a step, as a simulation takes them."""
    return {
        name: {key: column[step, worlds] for key, column in channels.items()}
        for name, channels in rollout.actions.items()
    }


class Mismatch(NamedTuple):
    """Where a world does something else than what was recorded.

    Attributes:
        moment: The first moment that differs, see `Moments`.
        world: The world.
        step: Steps of the rollout done until then.
        what: What differs, in words.
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
        ValueError: When its groups, agents or spaces are others; says which.
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


def first_difference(now: np.ndarray, then: np.ndarray) -> tuple[np.ndarray, int, int] | None:
    """Compare two arrays [B, n, ...]; floats may differ by rounding.

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


class Replay:
    """One world of a rollout, simulated again; can be brought to any moment.

    Args:
        sim: The simulation that the rollout was made with.
        rollout: The rollout.
        world: Which world of it.

    Attributes:
        vec: A vectorised simulation with that world only, at the moment ``now``.
        moments: The `Moments` of the world.
        now: The present moment.
        mismatch: Where the world began to do something else, once `check` has been called.
        good: How many moments are as they were recorded.
        deaths: int64 [K], the moments in which agents have died.

    Raises:
        ValueError: When there is no such world, or the simulation is another one.
    """

    def __init__(self, sim: Any, rollout: Rollout, world: int = 0) -> None:
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
            on_moment: Called with the number of every moment that was compared.
        """
        deaths: list[int] = []
        moments, vec = self.moments, self.vec
        difference = self._begin()
        while difference is None:
            now = self.now
            self.good = now + 1
            if now % STRIDE == STRIDE - RUN_UP or now == 0:
                self._saved[now] = vec.state_dict()
            if on_moment is not None:
                on_moment(now)
            if now + 1 == len(moments):
                break
            before = vec.store.active[0].copy()
            difference = self._forward() or self._compare()
            if not moments.fresh[self.now] and (before & ~vec.store.active[0]).any():
                deaths.append(self.now)
        if difference is not None:
            self.mismatch = Mismatch(
                self.good, self.world, int(moments.step[self.good]), difference
            )
        later = self._recorded_deaths()
        self.deaths = np.array(
            [one for one in deaths if one < self.good] + later[later >= self.good].tolist(),
            np.int64,
        )

    def go(self, moment: int, on_move: Callable[[bool], None]) -> None:
        """Bring the world to a moment.

        Args:
            moment: One of the first `good` ones.
            on_move: Called after every change, with True when the world was taken back to an
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
        """Start at the beginning; return what differs, if something does."""
        if self.rollout.continued:
            return "it went on from earlier steps that are not in the file"
        self.vec.store.seed(self.rollout.seed, first_world=self.world)
        self.vec.reset()
        self.now = 0
        return self._compare()

    def _forward(self) -> str | None:
        """Go on by a moment; return why that is not possible, if it is not."""
        self.now += 1
        if self.moments.fresh[self.now]:
            self.vec.reset()
            return None
        step = int(self.moments.step[self.now]) - 1
        try:
            self.vec.step(recorded_actions(self.rollout, step, slice(self.world, self.world + 1)))
        except ValueError as error:
            return f"the recorded action is refused: {error}"
        return None

    def _compare(self) -> str | None:
        """Return what differs from the record now, if something does."""
        if not self.moments.fresh[self.now]:
            ends = bool(self.vec.episodes.ended[0])
            if ends != bool(self.rollout.ended[self.moments.step[self.now] - 1, self.world]):
                return f"the episode {'ends' if ends else 'does not end'}"
        for what, group, now, then in self._compared():
            found = first_difference(now[None], then[None])
            if found is not None:
                return f"{what} of agent {self.vec.groups[group].agent_ids[found[2]]!r}"
        return None

    def _compared(self) -> Iterator[tuple[str, str, np.ndarray, np.ndarray]]:
        """List what is compared: its name, the group, the arrays [n, ...] now and recorded."""
        record, vec, world = self.rollout, self.vec, self.world
        if not self.moments.fresh[self.now]:
            step = self.moments.step[self.now] - 1
            for name, group in vec.groups.items():
                for what, now, column in (
                    ("reward", vec.store.rewards, record.rewards),
                    ("terminated", vec.episodes.terminated, record.terminated),
                    ("truncated", vec.episodes.truncated, record.truncated),
                ):
                    yield what, name, now[0, group.slots], column[name][step, world]
        observations = vec.observations()
        recorded = recorded_observations(record, self.moments, world, self.now)
        for name, channels in recorded.items():
            for key, then in channels.items():
                yield f"observation {key!r}", name, observations[name][key][0], then

    def _recorded_deaths(self) -> np.ndarray:
        """Return the moments in which agents ended before their episode did, by the record."""
        record, world = self.rollout, self.world
        ends = np.zeros(record.num_steps, bool)
        for column in record.terminated.values():
            ends |= column[:, world].any(axis=1)
        return np.flatnonzero(~self.moments.fresh)[ends & ~record.ended[:, world]]
