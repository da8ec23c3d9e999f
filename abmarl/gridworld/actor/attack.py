"""Actors that let agents attack one another."""

from collections.abc import Hashable, Mapping
from typing import Any

import numpy as np
from gymnasium import Space
from gymnasium.spaces import Box, Dict, Discrete, MultiDiscrete

from abmarl.gridworld.actor.base import ActorBase
from abmarl.gridworld.agent import AmmoAgent, AttackingAgent, GridWorldAgent
from abmarl.gridworld.grid import parse_encodings
from abmarl.gridworld.registry import register
from abmarl.kernels.attack import (
    CELLS,
    ENCODINGS,
    LISTED,
    Aim,
    AttackOutcome,
    Attacks,
    Notes,
    attack_agents,
    attack_aimed,
    possible_cells,
    possible_targets,
)
from abmarl.kernels.program import Call
from abmarl.kernels.turns import Turns

# What an outcome can count.
MOST_ATTACKS = np.iinfo(np.int16).max
# Attacks that are written down between two looks at a world that is watched: the last ones.
MOST_NOTES = 4_096
# Worlds that can be watched at a time.
MOST_WATCHED = 4


class AttackActorBase(ActorBase):
    """What all attack actors have in common.

    An agent can be attacked when it is not the attacker, is active, its encoding is in the
    mapping, it is in range, no blocking agent hides its cell, and a random number is not above the
    attacker's accuracy. The chosen ones lose ``attack_strength`` health; one that reaches 0
    becomes inactive and leaves the grid at once. An ``AmmoAgent`` hits a random choice of them, as
    many as it has ammo, and pays one for each; misses are free.

    Channel ``attack``. ``process_action`` returns ``(attempted, attacked_agents)``. Events:
    ``attack_missed`` (an attack without a hit), ``kill``, ``killed``.

    Args:
        attack_mapping: ``{encoding: encoding or set of encodings}`` that it may attack; ``{}``
            when nobody may attack.
        stacked_attacks: Whether several attacks of one action may hit the same agent. Targets
            are then drawn with replacement; otherwise spare attacks are lost.

    Attributes:
        outcome: An ``AttackOutcome``.
    """

    key = "attack"
    needs_positions = True
    supported_agent_type = AttackingAgent
    events = ("attack_missed", "kill", "killed")

    def __init__(
        self, attack_mapping: Mapping | None = None, stacked_attacks: bool = False, **kwargs: Any
    ) -> None:
        if not isinstance(stacked_attacks, bool | np.bool_):
            raise TypeError(f"stacked_attacks must be True or False, got {stacked_attacks!r}.")
        self.stacked_attacks = bool(stacked_attacks)
        self.attack_mapping: Any = attack_mapping
        super().__init__(**kwargs)
        store = self.store
        shape = (store.num_worlds, store.num_agents)
        self._targets = np.zeros(shape, store.slot_dtype)
        self._struck = np.zeros((store.num_worlds, self._most_hits()), store.slot_dtype)
        limited = np.array([isinstance(agent, AmmoAgent) for agent in self.agents.values()])
        self._limited = limited if limited.any() else limited[:0]
        self._ammo = store.ammo if limited.any() else np.zeros((store.num_worlds, 0), np.int32)
        room = min(2 * store.num_agents * self._struck.shape[1], MOST_NOTES)
        self._looks = np.zeros(MOST_WATCHED, np.int64)  # when each of them was looked at last
        self._notes = Notes(
            watched=np.tile([-1, 0], (MOST_WATCHED, 1)),
            notes=np.zeros((MOST_WATCHED, room, 2), f"i{store.slot_dtype.itemsize}"),
        )
        self.outcome = AttackOutcome(
            attempted=np.zeros(shape, bool),
            hits=np.zeros(shape, np.int16),
            kills=np.zeros(shape, np.int16),
            killed=np.zeros(shape, bool),
        )

    def prepare(self) -> None:
        if self.attack_mapping is None:
            raise ValueError(
                f"{type(self).__name__} needs to know who may attack whom: give attack_mapping by "
                "encoding, like {1: {2}, 2: {1}}, or {} if nobody may."
            )
        store = self.store
        kinds = store.kinds.tolist()
        self.attack_mapping = parse_encodings("attack_mapping", self.attack_mapping, kinds)
        self._mapping = store.relation(self.attack_mapping)
        self._attackable = self._attackable_rows()
        self._hostile, self._lowest = store.by_label(self._attackable)

    def _attackable_rows(self) -> np.ndarray:
        """Return bool [rows, kinds], see ``abmarl.kernels.attack``."""
        return self._mapping

    @property
    def _attacks(self) -> Attacks:
        return Attacks(
            attackable=self._attackable,
            hostile=self._hostile,
            lowest=self._lowest,
            stacked=self.stacked_attacks,
            ammo=self._ammo,
            limited=self._limited,
            weights=self.weights,
            targets=self._targets,
            struck=self._struck,
        )

    def hits_at_most(self, agent: AttackingAgent) -> int:
        """Return how many hits one action of an agent can have."""
        return agent.simultaneous_attacks

    def _most_hits(self):
        kinds: dict[tuple, Any] = {}
        for slot, agent in enumerate(self.agents.values()):
            if self.form_of[slot] >= 0:
                kinds.setdefault((self.form_of[slot], agent.encoding), agent)
        most = max((self.hits_at_most(agent) for agent in kinds.values()), default=0)
        if most > MOST_ATTACKS:
            raise ValueError(
                f"simultaneous_attacks can be {MOST_ATTACKS} at most, got {most}; use fewer."
            )
        return max(1, most)

    def event(self, name: str) -> np.ndarray:
        outcome = self.outcome
        if name == "attack_missed":
            return outcome.attempted & (outcome.hits == 0)
        found = {"kill": outcome.kills, "killed": outcome.killed}.get(name)
        return found if found is not None else super().event(name)

    def noted(self, world: int, since: int = 0) -> tuple[np.ndarray, int]:
        """Tell who attacked whom in one world lately, for those who draw it.

        A world is watched from the first call on. There are `MOST_WATCHED` at the most: another
        one takes the place of that which was looked at the longest ago. Notes are no part of the
        state.

        Args:
            world: Which one.
            since: How many notes had been taken at the last call, as it returned it.

        Returns:
            int [n, 2], attacker and target (-1: a miss) of the attacks since then, in their order,
            or none if the world was not watched until now; and the number of notes taken.
        """
        watched = self._notes.watched
        known = np.flatnonzero(watched[:, 0] == world)
        place = int(known[0] if known.size else np.argmin(self._looks))
        self._looks[place] = self._looks.max() + 1
        watched[place, 0] = world
        count, notes = int(watched[place, 1]), self._notes.notes[place]
        first = max(since, count - len(notes)) if known.size else count
        return notes[np.arange(first, count) % len(notes)], count

    def result(self, agent: AttackingAgent, outcome: Any) -> Any:
        slot = agent._slot
        hits = self._struck[0, : outcome.hits.item(slot)].tolist()
        everyone = self.grid.agents
        return outcome.attempted.item(slot), [everyone[j] for j in hits]

    def nothing(self) -> Any:
        return False, []


@register
class BinaryAttackActor(AttackActorBase):
    """Agents attack random targets in their range, as many at once as they choose to.

    Channel ``attack``: ``Discrete(simultaneous_attacks + 1)``, null 0. Action masks have shape
    (simultaneous_attacks + 1,). All else is as ``AttackActorBase`` says.
    """

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self._attackers = np.zeros(self.store.num_agents, self.store.slot_dtype)

    def parameters(self, agent: AttackingAgent) -> Hashable:
        return agent.simultaneous_attacks

    def space(self, agent: AttackingAgent) -> Space:
        return Discrete(agent.simultaneous_attacks + 1)

    def null(self, agent: AttackingAgent) -> Any:
        return 0

    def calls(self, turns: Turns) -> list[Call]:
        attack = attack_agents, self.store.world, turns, self._attackers, self._attacks
        return [Call(*attack, self.outcome, self._notes)]

    def mask_shape(self, slot: int) -> tuple[int, ...]:
        """Return the shape of an agent's action mask."""
        return (int(self.store.traits["simultaneous_attacks"][slot]) + 1,)

    def masks(self, flat: np.ndarray, slots: np.ndarray, rows_of: np.ndarray) -> None:
        """Write which attacks would have a target now to ``flat``, for the agents in ``slots``."""
        given = self._attacks, False, self._mapping
        self.run_masks(possible_targets, flat, slots, rows_of, *given)


class _AimedAttackActor(AttackActorBase):
    """Runs the kernel of aimed attacks; ``how`` tells what the entries of an action are."""

    how: int

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        sides = np.zeros(self.store.num_agents, np.int64)
        for slot, agent in enumerate(self.agents.values()):
            if self.form_of[slot] >= 0:
                sides[slot] = _side(agent)
        self._aim = Aim(self.how, sides, self._mapping)

    def calls(self, turns: Turns) -> list[Call]:
        attack = attack_aimed, self.store.world, turns, self._aim, self._attacks
        return [Call(*attack, self.outcome, self._notes)]

    def _num_attacks(self, slot: int) -> int:
        return int(self.store.traits["simultaneous_attacks"][slot])


@register
class EncodingBasedAttackActor(_AimedAttackActor):
    """Agents say how many agents of every encoding to attack; random ones in range are hit.

    Channel ``attack``: ``Dict{encoding: Discrete(simultaneous_attacks + 1)}`` with every encoding
    that the agent may attack, ascending, null all 0. Arrays of actions have an entry for each of
    them, in this order. Action masks have shape (encodings, simultaneous_attacks + 1). Agents that
    may attack nobody do not have the channel. All else is as ``AttackActorBase`` says.
    """

    how = ENCODINGS

    def supports(self, agent: GridWorldAgent) -> bool:
        return super().supports(agent) and bool(self.attack_mapping.get(agent.encoding))

    def parameters(self, agent: AttackingAgent) -> Hashable:
        return tuple(self._encodings(agent)), agent.simultaneous_attacks

    def space(self, agent: AttackingAgent) -> Space:
        count = agent.simultaneous_attacks + 1
        spaces: dict[Any, Space] = {
            encoding: Discrete(count) for encoding in self._encodings(agent)
        }
        return Dict(spaces)

    def null(self, agent: AttackingAgent) -> Any:
        return dict.fromkeys(self._encodings(agent), 0)

    def hits_at_most(self, agent: AttackingAgent) -> int:
        return agent.simultaneous_attacks * len(self._encodings(agent))

    def mask_shape(self, slot: int) -> tuple[int, ...]:
        return (self.form(slot).width, self._num_attacks(slot) + 1)

    def masks(self, flat: np.ndarray, slots: np.ndarray, rows_of: np.ndarray) -> None:
        given = self._attacks, True, self._mapping
        self.run_masks(possible_targets, flat, slots, rows_of, *given)

    def _attackable_rows(self):
        """Attack every kind by itself."""
        return np.eye(len(self.store.kinds), dtype=bool)

    def _encodings(self, agent: AttackingAgent) -> list[int]:
        return sorted(self.attack_mapping[agent.encoding])


class _CellAttackActor(_AimedAttackActor):
    """Attacks on cells of the window with the attacker in the middle, ``W = 2 * range + 1``."""

    def parameters(self, agent: AttackingAgent) -> Hashable:
        return _side(agent), agent.simultaneous_attacks

    def masks(self, flat: np.ndarray, slots: np.ndarray, rows_of: np.ndarray) -> None:
        self.run_masks(possible_cells, flat, slots, rows_of, self._attacks, self._aim)


@register
class SelectiveAttackActor(_CellAttackActor):
    """Agents say how many attacks to make on every cell around them.

    Channel ``attack``: ``Box(0, simultaneous_attacks, (W, W), int)`` with
    ``W = 2 * attack_range + 1``: attacks per cell, each of which hits a random agent there; null
    all 0. Action masks have shape (W, W, simultaneous_attacks + 1). All else is as
    ``AttackActorBase`` says.
    """

    how = CELLS

    def space(self, agent: AttackingAgent) -> Space:
        side = _side(agent)
        return Box(0, agent.simultaneous_attacks, (side, side), np.int_)

    def null(self, agent: AttackingAgent) -> Any:
        return np.zeros((_side(agent), _side(agent)), int)

    def hits_at_most(self, agent: AttackingAgent) -> int:
        return agent.simultaneous_attacks * min(_side(agent) ** 2, self.store.num_agents)

    def mask_shape(self, slot: int) -> tuple[int, ...]:
        return (*self.form(slot).shape, self._num_attacks(slot) + 1)


@register
class RestrictedSelectiveAttackActor(_CellAttackActor):
    """Agents name the cell of every attack that they make.

    Channel ``attack``: ``MultiDiscrete([W * W + 1] * simultaneous_attacks)`` with
    ``W = 2 * attack_range + 1``: 0 is no attack, k is an attack on a random agent in cell k - 1 of
    the window, row by row; null all 0. Action masks have shape (simultaneous_attacks, W * W + 1).
    Agents with no attacks do not have the channel. All else is as ``AttackActorBase`` says.
    """

    how = LISTED

    def supports(self, agent: AttackingAgent) -> bool:
        return super().supports(agent) and agent.simultaneous_attacks > 0

    def space(self, agent: AttackingAgent) -> Space:
        return MultiDiscrete([_side(agent) ** 2 + 1] * agent.simultaneous_attacks)

    def null(self, agent: AttackingAgent) -> Any:
        return np.zeros(agent.simultaneous_attacks, int)

    def mask_shape(self, slot: int) -> tuple[int, ...]:
        return (self._num_attacks(slot), int(self._aim.sides[slot]) ** 2 + 1)


def _side(agent: Any):
    return 2 * agent.attack_range + 1
