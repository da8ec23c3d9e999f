"""Where agents were and where they attacked in a rollout, by simulating it again."""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from abmarl.gridworld.actor import AttackActorBase
from abmarl.rollout.columns import Rollout
from abmarl.rollout.replay import check_same, first_difference, recorded_actions


class Whereabouts(NamedTuple):
    """How often agents were in the cells of a grid.

    Attributes:
        been: group -> int64 [rows, cols], how often its agents stood there at the start of a step
            in which they acted.
        attacked: group -> int64 [rows, cols], how often they attacked from there, hit or miss;
            groups that cannot attack are left out.
        mismatch: Where the first world began to do something else than was recorded, in words, or
            "". A world is not counted from there on.
    """

    been: dict[str, np.ndarray]
    attacked: dict[str, np.ndarray]
    mismatch: str


def whereabouts(
    sim: Any, rollout: Rollout, on_step: Callable[[int], None] | None = None
) -> Whereabouts:
    """Simulate a rollout again, all worlds at once, and count.

    Args:
        sim: The simulation that it was made with.
        rollout: The rollout.
        on_step: Called with the number of steps done.

    Raises:
        ValueError: When the simulation is another one, or the rollout went on from earlier steps,
            so that its beginning is not known.
    """
    if rollout.continued:
        raise ValueError("the rollout went on from earlier steps that are not in the file")
    vec = sim.vectorize(
        num_envs=rollout.num_envs, seed=rollout.seed, horizon=rollout.horizon,
        order=rollout.order, num_threads=1,
    )  # fmt: skip
    check_same(vec, rollout)
    counter = _Counter(vec, rollout)
    vec.reset()
    counter.compare(0)
    for step in range(rollout.num_steps):
        counter.stand(step)
        vec.step(recorded_actions(rollout, step, slice(None)))
        counter.attack(step)
        counter.compare(step + 1)
        if on_step is not None:
            on_step(step + 1)
    return Whereabouts(counter.been, counter.attacked, counter.mismatch)


class _Counter:
    def __init__(self, vec: Any, rollout: Rollout) -> None:
        self.vec, self.rollout = vec, rollout
        played = vec.part_of(0)[0]  # one thread: all worlds are there
        keys = list(played.actors)
        self._attacks = [
            (key, actor.unwrapped)
            for key, actor in played.actors.items()
            if isinstance(actor.unwrapped, AttackActorBase)
        ]
        # Where moves come before attacks, agents attack from where they have moved to.
        moves = keys.index("move") if "move" in keys else len(keys)
        self._moved = any(keys.index(key) > moves for key, _ in self._attacks)
        able = [
            name for name, group in vec.groups.items()
            if any(key in group.action_space.spaces for key, _ in self._attacks)
        ]  # fmt: skip
        self.been = {name: self._nothing() for name in vec.groups}
        self.attacked = {name: self._nothing() for name in able}
        self.mismatch = ""
        self._same = np.ones(rollout.num_envs, bool)

    def stand(self, step: int) -> None:
        """Count who stands where before a step."""
        self._cells = self._cells_now()
        for name, group in self.vec.groups.items():
            there = self.rollout.active[name][step] & self._same[:, None]
            self._add(self.been[name], self._cells[:, group.slots][there])

    def attack(self, step: int) -> None:
        """Count who has attacked in a step."""
        cells = self._cells
        if self._moved:
            # Worlds that were reset do not show where their agents had moved to.
            ended = self.rollout.ended[step]
            cells = np.where(ended[:, None], cells, self._cells_now())
        for _, actor in self._attacks:
            for name, counts in self.attacked.items():
                slots = self.vec.groups[name].slots
                there = actor.outcome.attempted[:, slots] & self._same[:, None]
                self._add(counts, cells[:, slots][there])

    def compare(self, step: int) -> None:
        """Leave out the worlds that show something else than was recorded."""
        record = self.rollout
        last = step == record.num_steps
        observations = self.vec.observations()
        for name, group in self.vec.groups.items():
            for key, now in observations[name].items():
                columns = record.last_observations if last else record.observations
                then = columns[name][key] if last else columns[name][key][step]
                differs = first_difference(now, then)
                if differs is None:
                    continue
                worlds, world, k = differs
                if not self.mismatch and self._same[world]:
                    self.mismatch = (
                        f"world {world}, after {step} steps: observation {key!r} of agent "
                        f"{group.agent_ids[k]!r}"
                    )
                self._same &= ~worlds

    def _nothing(self) -> np.ndarray:
        return np.zeros((self.vec.rows, self.vec.cols), np.int64)

    def _cells_now(self) -> np.ndarray:
        """int64 [B, N], cells row by row."""
        position = self.vec.store.position.astype(np.int64)
        return position[..., 0] * self.vec.cols + position[..., 1]

    def _add(self, counts: np.ndarray, cells: np.ndarray) -> None:
        counts += np.bincount(cells, minlength=counts.size).reshape(counts.shape)
