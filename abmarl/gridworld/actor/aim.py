"""Attack actors whose actions say which encodings or which cells are attacked."""

import numpy as np
from gymnasium.spaces import Box, Dict, Discrete, MultiDiscrete

from abmarl.gridworld.actor.attack import AttackActorBase
from abmarl.kernels import aim
from abmarl.kernels.program import Call
from abmarl.kernels.targets import possible_cells, possible_targets


class _AimedAttackActor(AttackActorBase):
    """Runs the kernel of aimed attacks; ``how`` tells what the entries of an action are."""

    how = None

    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        store = self.store
        self._single = np.eye(len(store.kinds), dtype=bool)
        self._hostile, self._lowest = store.by_label(self._single)
        self._sides = np.zeros(store.num_agents, np.int64)
        for slot, agent in enumerate(self.agents.values()):
            if self.form_of[slot] >= 0:
                self._sides[slot] = _side(agent)

    def calls(self, turns, num_turns, flat, rows_of, fresh) -> list:
        """The attacks."""
        store, padding = self.store, self.store.padding
        attack = Call(
            aim.attack_aimed, self.how, turns, num_turns, flat, rows_of, self._sides,
            self.stacked_attacks, padding.width, padding.pad, store.cell, store.first, store.next_,
            store.top, store.walls, store.flat_walls, store.active, store.health, self._ammo,
            store.traits, self._limited, self._attackable, self._single, self._hostile,
            self._lowest, padding.sight, padding.starts, store.hidden, store.streams,
            self._targets, self._struck, self.weights, store.rewards, self._watched, self._notes,
            fresh, *self.outcome,
        )  # fmt: skip
        return [attack]

    def _attacks(self, slot):
        return int(self.store.traits["simultaneous_attacks"][slot])


class EncodingBasedAttackActor(_AimedAttackActor):
    """Agents say how many agents of every encoding to attack; random ones in range are hit.

    Channel ``attack``: ``Dict{encoding: Discrete(simultaneous_attacks + 1)}`` with every encoding
    that the agent may attack, ascending, null all 0. Arrays of actions have an entry for each of
    them, in this order. Action masks have shape (encodings, simultaneous_attacks + 1). Agents that
    may attack nobody do not have the channel. All else is as ``AttackActorBase`` says.
    """

    how = aim.ENCODINGS

    def supports(self, agent):
        """Whether an agent has this channel."""
        return super().supports(agent) and bool(self.attack_mapping.get(agent.encoding))

    def parameters(self, agent):
        """The attackable encodings and the number of attacks decide the space."""
        return tuple(self._encodings(agent)), agent.simultaneous_attacks

    def space(self, agent):
        """How many attacks to make, per encoding."""
        count = agent.simultaneous_attacks + 1
        return Dict({encoding: Discrete(count) for encoding in self._encodings(agent)})

    def null(self, agent):
        """No attack on any encoding."""
        return dict.fromkeys(self._encodings(agent), 0)

    def hits_at_most(self, agent):
        """How many hits one action of an agent can have."""
        return agent.simultaneous_attacks * len(self._encodings(agent))

    def mask_shape(self, slot):
        """Shape of an agent's action mask."""
        return (self.form(slot).width, self._attacks(slot) + 1)

    def masks(self, flat, slots, rows_of):
        """Writes which attacks would have a target now to ``flat``, for the agents in ``slots``."""
        store, padding = self.store, self.store.padding
        possible_targets(
            slots, rows_of, True, padding.width, padding.pad, store.cell, store.first,
            store.next_, store.flat_walls, store.active, self._ammo, store.traits, self._limited,
            self._attackable, self._single, padding.sight, padding.starts, store.hidden, flat,
        )  # fmt: skip

    def _encodings(self, agent):
        return sorted(self.attack_mapping[agent.encoding])


class _CellAttackActor(_AimedAttackActor):
    """Attacks on cells of the window with the attacker in the middle, ``W = 2 * range + 1``."""

    def parameters(self, agent):
        """The range and the number of attacks decide the space."""
        return _side(agent), agent.simultaneous_attacks

    def masks(self, flat, slots, rows_of):
        """Writes which attacks would have a target now to ``flat``, for the agents in ``slots``."""
        store, padding = self.store, self.store.padding
        possible_cells(
            slots, rows_of, self.how == aim.LISTED, self._sides, padding.width, padding.pad,
            store.cell, store.first, store.next_, store.flat_walls, store.active, self._ammo,
            store.traits, self._limited, self._attackable, padding.sight, padding.starts,
            store.hidden, flat,
        )  # fmt: skip


class SelectiveAttackActor(_CellAttackActor):
    """Agents say how many attacks to make on every cell around them.

    Channel ``attack``: ``Box(0, simultaneous_attacks, (W, W), int)`` with
    ``W = 2 * attack_range + 1``: attacks per cell, each of which hits a random agent there; null
    all 0. Action masks have shape (W, W, simultaneous_attacks + 1). All else is as
    ``AttackActorBase`` says.
    """

    how = aim.CELLS

    def space(self, agent):
        """How many attacks to make, per cell."""
        side = _side(agent)
        return Box(0, agent.simultaneous_attacks, (side, side), int)

    def null(self, agent):
        """No attack on any cell."""
        return np.zeros((_side(agent), _side(agent)), int)

    def hits_at_most(self, agent):
        """How many hits one action of an agent can have."""
        return agent.simultaneous_attacks * min(_side(agent) ** 2, self.store.num_agents)

    def mask_shape(self, slot):
        """Shape of an agent's action mask."""
        return (*self.form(slot).shape, self._attacks(slot) + 1)


class RestrictedSelectiveAttackActor(_CellAttackActor):
    """Agents name the cell of every attack that they make.

    Channel ``attack``: ``MultiDiscrete([W * W + 1] * simultaneous_attacks)`` with
    ``W = 2 * attack_range + 1``: 0 is no attack, k is an attack on a random agent in cell k - 1 of
    the window, row by row; null all 0. Action masks have shape (simultaneous_attacks, W * W + 1).
    Agents with no attacks do not have the channel. All else is as ``AttackActorBase`` says.
    """

    how = aim.LISTED

    def supports(self, agent):
        """Whether an agent has this channel."""
        return super().supports(agent) and agent.simultaneous_attacks > 0

    def space(self, agent):
        """A cell, or none, per attack."""
        return MultiDiscrete([_side(agent) ** 2 + 1] * agent.simultaneous_attacks)

    def null(self, agent):
        """No attack."""
        return np.zeros(agent.simultaneous_attacks, int)

    def mask_shape(self, slot):
        """Shape of an agent's action mask."""
        return (self._attacks(slot), int(self._sides[slot]) ** 2 + 1)


def _side(agent):
    return 2 * agent.attack_range + 1
