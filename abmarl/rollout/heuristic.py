"""A scripted policy that fights, hunts and flees by what it observes."""

from typing import Any

import numpy as np
from gymnasium import spaces

from abmarl.sim.layout import POINT

WINDOW = "position_centered_encoding"
OUT_OF_BOUNDS, MASKED, EMPTY = -1, -2, 0

# Rows and columns of the actions 0 stay, 1 left, 2 down, 3 right, 4 up.
CROSS = np.array([(0, 0), (0, -1), (1, 0), (0, 1), (-1, 0)])

# What a cell costs in squared distances besides the way that is left.
FORBIDDEN, UNSEEN, STAY = 1e6, 0.5, 1.0


class HeuristicPolicy:
    """Attacks what it can reach, walks to what it can attack, runs from what attacks it.

    In this order, for each agent by its own window:

    1. With something attackable within attack range: attack it with all attacks it has.
    2. Seeing an agent that can attack it and that it cannot attack itself: move to the cell
       farthest from the nearest such one.
    3. Seeing something attackable: stay if it is in range already, else move next to it.
    4. Else wander at random.

    It never steps out of the grid or on an occupied cell that it sees, unless it has to enter the
    cell of its target. Random choices come from its own generator, made from the simulation's
    seed and the group's name.

    It needs the observation channel ``position_centered_encoding``, and of the action channels
    uses ``move`` (Box of two or Discrete(5)) and ``attack`` (Discrete).
    """

    def bind(self, vec: Any, group_name: str) -> None:
        """Note what the group observes, can do, can attack and has to flee from.

        Args:
            vec: A vectorised simulation.
            group_name: One of its groups.

        Raises:
            ValueError: When the group has other channels than it can work with.
        """
        group = vec.groups[group_name]
        seen = getattr(group.observation_space, "spaces", {POINT: group.observation_space})
        window = seen.get(WINDOW)
        if window is None:
            raise ValueError(
                f"the heuristic policy needs the observation channel {WINDOW!r}; group "
                f"{group_name!r} has {sorted(map(str, seen))}"
            )
        self.channels = dict(getattr(group.action_space, "spaces", {POINT: group.action_space}))
        self._check_channels(group_name)
        self.side = window.shape[0]
        traits = vec.store.traits[np.asarray(group.slots)[0]]
        self.reach = int(traits["attack_range"]) if "attack" in self.channels else -1
        attackable = vec.attackable(group_name) if "attack" in self.channels else set()
        fearful = set(vec.attackers(group_name)) - set(attackable)
        own = int(group.encoding)

        # Encodings index these tables directly; -1 and -2 reach their ends, which stay False.
        highest = int(max(window.high.max(), *attackable, *fearful, own, 1))
        self.is_target, self.is_danger = (np.zeros(highest + 3, bool) for _ in range(2))
        self.is_target[list(attackable)] = True
        self.is_danger[list(fearful)] = True
        self.sees_itself_as_target = own in attackable

        view = self.side // 2
        rows, columns = np.divmod(np.arange(self.side**2), self.side)
        self.offsets = np.stack([rows - view, columns - view], axis=1)
        self.distance = np.abs(self.offsets).max(axis=1)
        self._find_steps(view)

        entropy = [] if vec.seed is None else [*np.atleast_1d(vec.seed), *group_name.encode()]
        self.rng = np.random.default_rng(entropy or None)

    def __call__(
        self, observations: dict[str, np.ndarray], active: np.ndarray
    ) -> dict[str, np.ndarray]:
        """Return the actions of all agents of the group; those that are not active do nothing.

        Args:
            observations: channel -> [B, n, ...].
            active: bool [B, n].

        Returns:
            channel -> [B, n, ...].
        """
        actions = {
            channel: np.zeros((*active.shape, *space.shape), np.int64)
            for channel, space in self.channels.items()
        }
        acting = np.nonzero(active)
        if not len(acting[0]):
            return actions
        seen = observations[WINDOW][acting].reshape(len(acting[0]), -1)
        # Equally near cells are tried in a random order, a fresh one in every step.
        nearest = np.argsort(self.distance + 0.5 * self.rng.random(len(self.distance)))
        target, has_target = self._first(self.is_target, seen, nearest, self.sees_itself_as_target)
        in_reach = has_target & (self.distance[target] <= self.reach)
        if "attack" in actions:
            actions["attack"][acting] = in_reach * (self.channels["attack"].n - 1)
        if "move" in actions:
            danger, has_danger = self._first(self.is_danger, seen, nearest, False)
            cost = self._step_costs(seen)
            self._towards(cost, has_target & ~has_danger, target)
            self._away(cost, has_danger, danger)
            step = cost.argmin(axis=1)
            step[in_reach & ~has_danger] = 0
            actions["move"][acting] = self.moves[step]
        return actions

    def _check_channels(self, group: str) -> None:
        move, attack = self.channels.get("move"), self.channels.get("attack")
        fine = {
            "move": move is None
            or (isinstance(move, spaces.Box) and move.shape == (2,))
            or (isinstance(move, spaces.Discrete) and move.n == 5),
            "attack": attack is None or isinstance(attack, spaces.Discrete),
        }
        for channel, space in self.channels.items():
            if not fine.get(channel, False):
                raise ValueError(
                    f"the heuristic policy cannot fill the action channel {channel!r} of group "
                    f"{group!r}, {space}; it knows 'move' (Box of 2 or Discrete(5)) and 'attack' "
                    f"(Discrete)"
                )

    def _find_steps(self, view: int) -> None:
        """List the moves to choose among (step 0 stays) and the window cells they lead to."""
        move = self.channels.get("move")
        if isinstance(move, spaces.Box):
            # Short moves all, long ones in the eight directions only: a few dozen candidates.
            farthest = int(move.high.max())
            near = range(-min(2, farthest), min(2, farthest) + 1)
            cells = {(r, c) for r in near for c in near} - {(0, 0)}
            eight = [(r, c) for r in (-1, 0, 1) for c in (-1, 0, 1) if (r, c) != (0, 0)]
            for length in {farthest, (farthest + 1) // 2, min(farthest, view)} - {0}:
                cells |= {(r * length, c * length) for r, c in eight}
            self.moves = self.steps = np.array([(0, 0), *sorted(cells)])
        else:
            self.moves, self.steps = np.arange(5), CROSS
        inside = np.abs(self.steps).max(axis=1) <= view
        flat = (self.steps[:, 0] + view) * self.side + self.steps[:, 1] + view
        self.step_cell = np.where(inside, flat, 0)
        self.step_outside = ~inside
        # Squared distance from where each step leads to each cell: float [cells, steps].
        way = self.offsets[:, None, :] - self.steps[None, :, :]
        self.squares = (way**2).sum(axis=2).astype(float)

    @staticmethod
    def _first(
        table: np.ndarray, seen: np.ndarray, order: np.ndarray, skip_centre: bool
    ) -> tuple[np.ndarray, np.ndarray]:
        """Find per row the first cell in ``order`` with an encoding of ``table``, if any."""
        if not table.any():
            return np.zeros(len(seen), int), np.zeros(len(seen), bool)
        hits = table[seen]
        if skip_centre:
            hits[:, seen.shape[1] // 2] = False
        cell = order[hits[:, order].argmax(axis=1)]
        return cell, hits[np.arange(len(seen)), cell]

    def _step_costs(self, seen: np.ndarray) -> np.ndarray:
        """Return the cost of each step with a little noise, float [m, steps]."""
        cost = self.rng.random((len(seen), len(self.steps)))
        cost *= 0.4
        there = seen[:, self.step_cell]
        there[:, self.step_outside] = MASKED
        cost[there == MASKED] += UNSEEN
        occupied = (there != EMPTY) & (there != MASKED)
        if self.reach == 0:
            occupied &= ~self.is_target[there]
        occupied[:, 0] = False
        cost[occupied] = FORBIDDEN
        cost[:, 0] += STAY
        return cost

    def _towards(self, cost: np.ndarray, rows: np.ndarray, cell: np.ndarray) -> None:
        cost[rows] += self.squares[cell[rows]]

    def _away(self, cost: np.ndarray, rows: np.ndarray, cell: np.ndarray) -> None:
        cost[rows] -= self.squares[cell[rows]]
