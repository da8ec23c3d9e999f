"""What the agents of one policy saw, did and got, as columns with a row per agent and step."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from ray.rllib.core.columns import Columns

from abmarl.external.rllib.points import ACTION_MASK, OBSERVATIONS
from abmarl.external.rllib.seats import Seats

_NOTHING = np.empty(0, np.float32)


@dataclass(eq=False)
class Rows:
    """K rows in the order of time, and what was seen after the last row of every agent's episode.

    Attributes:
        starts: int64 [steps + 1], the first row of every step.
        slots: int64 [K], whose row it is.
        obs: float32 [K, width], or a dict of arrays when there are masks.
        outputs: further columns of the module, with its actions.
        rewards: float32 [K].
        terminated, truncated: bool [K], the agent ended in this step.
        tail_of: int64 [K], the row of `tails` that follows, -1 where the agent's next row does.
        tails: observations as `obs`.
    """

    starts: np.ndarray
    slots: np.ndarray
    obs: Any
    outputs: dict[str, np.ndarray]
    rewards: np.ndarray
    terminated: np.ndarray
    truncated: np.ndarray
    tail_of: np.ndarray
    tails: Any

    def __len__(self) -> int:
        return len(self.slots)


class Recorder:
    """Makes `Rows` while worlds are stepped: `look`, `act` and `keep` in turns, then `finish`.

    Args:
        seats: the agents of the policy.
        masked: whether observations hold action masks.
    """

    def __init__(self, seats: Seats, masked: bool) -> None:
        self.seats = seats
        self._masked = masked
        self._slots: list[np.ndarray] = []
        self._obs: list[np.ndarray] = []
        self._masks: list[np.ndarray] = []
        self._outputs: dict[str, list[np.ndarray]] = {}
        self._ends: list[tuple] = []
        self._tails: list[tuple] = []
        self._tail_of: list[np.ndarray] = []
        self._num_tails = 0

    def look(self, active: dict, obs: dict, masks: dict) -> Any:
        """Take the observations of the agents that act now.

        Args:
            active: bool ``{group: [worlds, n]}``.
            obs: ``{group: [worlds, n, width]}``.
            masks: bool ``{group: [worlds, n, actions]}``, empty without masks.

        Returns:
            Their rows, for the module; None when nobody acts.
        """
        self._rows = [np.flatnonzero(part.rows(active)) for part in self.seats.parts]
        slots = [part.first + rows for part, rows in self._each()]
        self._slots.append(np.concatenate(slots))
        seen, mask = self._seen(obs, self._rows), self._seen(masks, self._rows)
        self._obs.append(seen)
        self._masks.append(mask)
        return self._joined(seen, mask) if len(seen) else None

    def act(self, outputs: dict[str, np.ndarray], actions: dict[str, np.ndarray]) -> None:
        """Take what the module put out, and put its actions where the worlds find them."""
        for key, values in outputs.items():
            self._outputs.setdefault(key, []).append(values)
        chosen, first = outputs[Columns.ACTIONS], 0
        for part, rows in self._each():
            part.put(actions, rows, chosen[first : first + len(rows)])
            first += len(rows)

    def random(self, sampled: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
        """The outputs of a module that acts as sampled."""
        return {Columns.ACTIONS: self._taken(sampled, self._rows)}

    def keep(self, result: tuple) -> None:
        """Take what came of the step.

        Args:
            result: observations, rewards, terminated, truncated and infos of the step.
        """
        obs, *ends, infos = result
        columns = [self._taken(one, self._rows) for one in ends]
        self._ends.append(columns)
        done = columns[1] | columns[2]
        found, first = [], 0
        for part, rows in self._each():
            mine = rows[done[first : first + len(rows)]]
            first += len(rows)
            if not len(mine):
                continue
            # An agent that ends before its world shows its last view in the step itself.
            seen = part.rows(obs)[mine].astype(np.float32)
            over = np.flatnonzero(infos["ended"][mine // len(part.agent_ids)])
            if len(over):
                seen[over] = part.rows(infos["final_obs"])[mine[over]]
            found.append(seen)
        count = int(done.sum())
        numbers = np.full(len(done), -1)
        numbers[done] = np.arange(self._num_tails, self._num_tails + count)
        self._tail_of.append(numbers)
        self._num_tails += count
        if count:
            # Nobody acts on a last view: no action is masked.
            self._tails.append((np.concatenate(found), None))

    def finish(self, obs: dict, masks: dict) -> Rows | None:
        """The rows, the present observations being the last ones of episodes that go on.

        Args:
            obs, masks: as for `look`.

        Returns:
            None when nobody acted.
        """
        slots = np.concatenate(self._slots)
        if not len(slots):
            return None
        tail_of = np.concatenate(self._tail_of)
        self._add_present(obs, masks, slots, tail_of)
        rewards, terminated, truncated = map(np.concatenate, zip(*self._ends, strict=True))
        made = [seen for seen, _ in self._tails]
        mask = self._joined_masks(made)
        return Rows(
            starts=np.cumsum([0, *map(len, self._slots)]),
            slots=slots,
            obs=self._joined(np.concatenate(self._obs), np.concatenate(self._masks)),
            outputs={key: np.concatenate(values) for key, values in self._outputs.items()},
            rewards=rewards.astype(np.float32),
            terminated=terminated,
            truncated=truncated,
            tail_of=tail_of,
            tails=self._joined(np.concatenate(made), mask),
        )

    def _add_present(self, obs: dict, masks: dict, slots: np.ndarray, tail_of: np.ndarray) -> None:
        """Make tails of what is seen now by those whose last row does not end their episode."""
        last = np.full(self.seats.num_slots, -1)
        last[slots] = np.arange(len(slots))
        going = np.flatnonzero(last >= 0)
        going = going[tail_of[last[going]] < 0]
        if not len(going):
            return
        bounds = np.searchsorted(going, [part.first for part in self.seats.parts])
        chosen = [
            mine - part.first
            for part, mine in zip(self.seats.parts, np.split(going, bounds[1:]), strict=True)
        ]
        tail_of[last[going]] = np.arange(self._num_tails, self._num_tails + len(going))
        self._num_tails += len(going)
        self._tails.append((self._seen(obs, chosen), self._seen(masks, chosen)))

    def _joined_masks(self, made: list[np.ndarray]) -> np.ndarray | None:
        if not self._masked:
            return None
        width = self._masks[0].shape[1]
        return np.concatenate(
            [
                np.ones((len(seen), width), np.float32) if mask is None else mask
                for seen, (_, mask) in zip(made, self._tails, strict=True)
            ]
        )

    def _joined(self, seen: np.ndarray, mask: np.ndarray | None) -> Any:
        return {ACTION_MASK: mask, OBSERVATIONS: seen} if self._masked else seen

    def _each(self) -> Any:
        return zip(self.seats.parts, self._rows, strict=True)

    def _seen(self, arrays: dict, rows: list[np.ndarray]) -> np.ndarray:
        """What networks read, which masks are only where there are any."""
        return self._taken(arrays, rows).astype(np.float32) if arrays else _NOTHING

    def _taken(self, arrays: dict, rows: list[np.ndarray]) -> np.ndarray:
        """Some rows of ``{group: [worlds, n, ...]}``, part by part."""
        pairs = zip(self.seats.parts, rows, strict=True)
        taken = [part.rows(arrays)[mine] for part, mine in pairs]
        return taken[0] if len(taken) == 1 else np.concatenate(taken)
