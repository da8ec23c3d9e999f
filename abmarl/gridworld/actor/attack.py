"""Actors that let agents attack one another."""

from typing import NamedTuple

import numpy as np
from gymnasium.spaces import Discrete

from abmarl.gridworld.actor.base import ActorBase
from abmarl.gridworld.agent import AmmoAgent, AttackingAgent
from abmarl.gridworld.grid import parse_encodings
from abmarl.kernels.attack import attack_agents
from abmarl.kernels.program import Call
from abmarl.kernels.targets import possible_targets

# What an outcome can count.
MOST_ATTACKS = np.iinfo(np.int16).max
# Attacks that are written down between two looks at a world that is watched: the last ones.
MOST_NOTES = 4_096
# Worlds that can be watched at a time.
MOST_WATCHED = 4


class AttackOutcome(NamedTuple):
    """What came of the attacks of a step, per agent of every world.

    Attributes:
        attempted: bool [B, N], attacked at all.
        hits, kills: int16 [B, N], how many hits and kills the agent had.
        killed: bool [B, N], was killed.
    """

    attempted: np.ndarray
    hits: np.ndarray
    kills: np.ndarray
    killed: np.ndarray


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

    def __init__(self, attack_mapping=None, stacked_attacks=False, **kwargs):
        if not isinstance(stacked_attacks, bool | np.bool_):
            raise TypeError(f"stacked_attacks must be True or False, got {stacked_attacks!r}.")
        self.stacked_attacks = bool(stacked_attacks)
        self.attack_mapping = attack_mapping
        super().__init__(**kwargs)
        store = self.store
        shape = (store.num_worlds, store.num_agents)
        self._targets = np.zeros(shape, store.slot_dtype)
        self._struck = np.zeros((store.num_worlds, self._most_hits()), store.slot_dtype)
        limited = np.array([isinstance(agent, AmmoAgent) for agent in self.agents.values()])
        self._limited = limited if limited.any() else limited[:0]
        self._ammo = store.ammo if limited.any() else np.zeros((store.num_worlds, 0), np.int32)
        room = min(2 * store.num_agents * self._struck.shape[1], MOST_NOTES)
        self._watched = np.tile([-1, 0], (MOST_WATCHED, 1))
        self._looks = np.zeros(MOST_WATCHED, np.int64)  # when each of them was looked at last
        self._notes = np.zeros((MOST_WATCHED, room, 2), f"i{store.slot_dtype.itemsize}")
        self.outcome = AttackOutcome(
            np.zeros(shape, bool),
            np.zeros(shape, np.int16),
            np.zeros(shape, np.int16),
            np.zeros(shape, bool),
        )

    def prepare(self):
        """Reads who may attack whom, which spaces can depend on."""
        if self.attack_mapping is None:
            raise ValueError(
                f"{type(self).__name__} needs to know who may attack whom: give attack_mapping by "
                "encoding, like {1: {2}, 2: {1}}, or {} if nobody may."
            )
        store = self.store
        kinds = store.kinds.tolist()
        self.attack_mapping = parse_encodings("attack_mapping", self.attack_mapping, kinds)
        self._attackable = store.relation(self.attack_mapping)

    def hits_at_most(self, agent) -> int:
        """How many hits one action of an agent can have."""
        return agent.simultaneous_attacks

    def _most_hits(self):
        kinds = {}
        for slot, agent in enumerate(self.agents.values()):
            if self.form_of[slot] >= 0:
                kinds.setdefault((self.form_of[slot], agent.encoding), agent)
        most = max((self.hits_at_most(agent) for agent in kinds.values()), default=0)
        if most > MOST_ATTACKS:
            raise ValueError(
                f"simultaneous_attacks can be {MOST_ATTACKS} at most, got {most}; use fewer."
            )
        return max(1, most)

    def event(self, name):
        """[B, N]: ``attack_missed`` (bool), ``kill`` (int16) or ``killed`` (bool)."""
        outcome = self.outcome
        if name == "attack_missed":
            return outcome.attempted & (outcome.hits == 0)
        found = {"kill": outcome.kills, "killed": outcome.killed}.get(name)
        return found if found is not None else super().event(name)

    def noted(self, world, since=0) -> tuple:
        """Who attacked whom in one world lately, for those who draw it.

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
        known = np.flatnonzero(self._watched[:, 0] == world)
        place = int(known[0] if known.size else np.argmin(self._looks))
        self._looks[place] = self._looks.max() + 1
        self._watched[place, 0] = world
        count, notes = int(self._watched[place, 1]), self._notes[place]
        first = max(since, count - len(notes)) if known.size else count
        return notes[np.arange(first, count) % len(notes)], count

    def result(self, agent, outcome):
        """Whether the agent attacked, and the list of the agents that it hit."""
        slot = agent._slot
        hits = self._struck[0, : outcome.hits.item(slot)].tolist()
        everyone = self.grid.agents
        return outcome.attempted.item(slot), [everyone[j] for j in hits]

    def nothing(self):
        """No attempt, nobody hit."""
        return False, []


class BinaryAttackActor(AttackActorBase):
    """Agents attack random targets in their range, as many at once as they choose to.

    Channel ``attack``: ``Discrete(simultaneous_attacks + 1)``, null 0. Action masks have shape
    (simultaneous_attacks + 1,). All else is as ``AttackActorBase`` says.
    """

    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        self._hostile, self._lowest = self.store.by_label(self._attackable)
        self._attackers = np.zeros(self.store.num_agents, self.store.slot_dtype)

    def parameters(self, agent):
        """The number of attacks decides the space."""
        return agent.simultaneous_attacks

    def space(self, agent):
        """How many attacks to make."""
        return Discrete(agent.simultaneous_attacks + 1)

    def null(self, agent):
        """No attack."""
        return 0

    def calls(self, turns, num_turns, flat, rows_of, fresh) -> list:
        """The attacks."""
        store, padding = self.store, self.store.padding
        attack = Call(
            attack_agents, turns, num_turns, flat, rows_of, self.stacked_attacks, padding.width,
            padding.pad, store.cell, store.first, store.next_, store.top, store.walls,
            store.flat_walls, store.active, store.health, self._ammo, store.traits, self._limited,
            self._attackable, self._hostile, self._lowest, padding.sight, padding.starts,
            store.hidden, store.streams, self._attackers, self._targets, self._struck,
            self.weights, store.rewards, self._watched, self._notes, fresh, *self.outcome,
        )  # fmt: skip
        return [attack]

    def mask_shape(self, slot):
        """Shape of an agent's action mask."""
        return (int(self.store.traits["simultaneous_attacks"][slot]) + 1,)

    def masks(self, flat, slots, rows_of):
        """Writes which attacks would have a target now to ``flat``, for the agents in ``slots``."""
        store, padding = self.store, self.store.padding
        possible_targets(
            slots, rows_of, False, padding.width, padding.pad, store.cell, store.first,
            store.next_, store.flat_walls, store.active, self._ammo, store.traits, self._limited,
            self._attackable, self._attackable, padding.sight, padding.starts, store.hidden, flat,
        )  # fmt: skip
