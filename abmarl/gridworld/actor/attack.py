"""Actors that let agents attack one another."""

from typing import NamedTuple

import numpy as np
from gymnasium.spaces import Discrete

from abmarl.gridworld.actor.base import ActorBase
from abmarl.gridworld.agent import AttackingAgent
from abmarl.gridworld.grid import parse_encodings
from abmarl.kernels.attack import attack_agents, possible_targets
from abmarl.kernels.program import Call

# What an outcome can count.
MOST_ATTACKS = np.iinfo(np.int16).max


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


class BinaryAttackActor(ActorBase):
    """Agents attack random targets in their range, as many at once as they choose to.

    Channel ``attack``: ``Discrete(simultaneous_attacks + 1)``, null 0. ``process_action`` returns
    ``(attempted, attacked_agents)``. Events: ``attack_missed`` (an attack without a hit),
    ``kill``, ``killed``. Action masks have shape (simultaneous_attacks + 1,).

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
        super().__init__(**kwargs)
        if not isinstance(stacked_attacks, bool | np.bool_):
            raise TypeError(f"stacked_attacks must be True or False, got {stacked_attacks!r}.")
        if attack_mapping is None:
            raise ValueError(
                f"{type(self).__name__} needs to know who may attack whom: give attack_mapping by "
                "encoding, like {1: {2}, 2: {1}}, or {} if nobody may."
            )
        store = self.store
        kinds = store.kinds.tolist()
        self.attack_mapping = parse_encodings("attack_mapping", attack_mapping, kinds)
        self.stacked_attacks = bool(stacked_attacks)
        self._attackable = store.relation(self.attack_mapping)
        self._hostile, self._lowest = store.by_label(self._attackable)
        shape = (store.num_worlds, store.num_agents)
        most = int(max(1, store.traits["simultaneous_attacks"].max()))
        if most > MOST_ATTACKS:
            raise ValueError(
                f"simultaneous_attacks can be {MOST_ATTACKS} at most, got {most}; use fewer."
            )
        self._attackers = np.zeros(store.num_agents, store.slot_dtype)
        self._targets = np.zeros(shape, store.slot_dtype)
        self._struck = np.zeros((store.num_worlds, most), store.slot_dtype)
        self.outcome = AttackOutcome(
            np.zeros(shape, bool),
            np.zeros(shape, np.int16),
            np.zeros(shape, np.int16),
            np.zeros(shape, bool),
        )

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
            store.flat_walls, store.active, store.health, store.traits, self._attackable,
            self._hostile, self._lowest, padding.sight, padding.starts, store.hidden, store.streams,
            self._attackers, self._targets, self._struck, self.weights, store.rewards, fresh,
            *self.outcome,
        )  # fmt: skip
        return [attack]

    def event(self, name):
        """[B, N]: ``attack_missed`` (bool), ``kill`` (int16) or ``killed`` (bool)."""
        outcome = self.outcome
        if name == "attack_missed":
            return outcome.attempted & (outcome.hits == 0)
        found = {"kill": outcome.kills, "killed": outcome.killed}.get(name)
        return found if found is not None else super().event(name)

    def result(self, agent, outcome):
        """Whether the agent attacked, and the list of the agents that it hit."""
        slot = agent._slot
        hits = self._struck[0, : outcome.hits.item(slot)].tolist()
        everyone = self.grid.agents
        return outcome.attempted.item(slot), [everyone[j] for j in hits]

    def nothing(self):
        """No attempt, nobody hit."""
        return False, []

    def mask_shape(self, slot):
        """Shape of an agent's action mask."""
        return (int(self.store.traits["simultaneous_attacks"][slot]) + 1,)

    def masks(self, flat, slots, rows_of):
        """Writes which attacks would have a target now to ``flat``, for the agents in ``slots``."""
        store, padding = self.store, self.store.padding
        possible_targets(
            slots, rows_of, padding.width, padding.pad, store.cell, store.first,
            store.next_, store.flat_walls, store.active, store.traits, self._attackable,
            padding.sight, padding.starts, store.hidden, flat,
        )  # fmt: skip
