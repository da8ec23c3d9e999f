"""Rewards: amounts for events, and rules over the arrays."""

import difflib
import inspect
import math
from collections.abc import Callable, Iterator, KeysView
from numbers import Real
from typing import Any

import numpy as np

from abmarl.gridworld.store import SHOWN, Store
from abmarl.kernels.episode import add_rewards, reward_turns
from abmarl.kernels.program import Call

# The arrays that rules are about, besides those that agents and components declare.
_USUAL = ("position", "health", "active", "encoding", "teams", "rewards")


class RewardRules:
    """What a declared simulation rewards.

    Args:
        rewards: ``{event: amount}`` for events of the actors and ``step`` (every agent that was
            given an action), and ``{name: rule}`` for rules of one's own. A rule is a function,
            plain or compiled by numba, whose parameters name arrays of the store (``health``,
            ``position``, ...) or events; it returns the rewards to add, float [B, N].
        actors: The actors of the simulation.
        store: Its store.

    Raises:
        TypeError, ValueError: An event is unknown, an amount is not finite, a rule asks for an
            array that does not exist.
    """

    def __init__(self, rewards: dict | None, actors: Any, store: Store) -> None:
        if not isinstance(rewards, dict):
            raise TypeError(f"rewards must be a dict like {{'kill': 1}}, got {rewards!r}.")
        self.step_amount = 0.0
        self.rules = {}
        self._store = store
        self._sources = {event: actor for actor in actors for event in actor.events}
        for actor in actors:
            actor.weights[:] = 0.0
        for name, what in rewards.items():
            if callable(what):
                self.rules[name] = what, self._parameters(name, what)
            else:
                self._set_amount(name, what)

    def _set_amount(self, event: str, amount: Any) -> None:
        if isinstance(amount, bool) or not isinstance(amount, Real) or not math.isfinite(amount):
            raise ValueError(f"The reward of {event!r} must be a finite number, got {amount!r}.")
        known = [*self._sources, "step"]
        if event not in known:
            near = difflib.get_close_matches(str(event), known, 1)
            hint = f"did you mean {near[0]!r}?" if near else f"known are {known}."
            raise ValueError(f"There is no event {event!r} to reward; {hint}")
        if event == "step":
            self.step_amount = float(amount)
        else:
            actor = self._sources[event]
            actor.weights[actor.events.index(event)] = amount

    def _parameters(self, name: str, rule: Callable) -> list[str]:
        plain = getattr(rule, "py_func", rule)
        parameters = list(inspect.signature(plain).parameters)
        known = [*self._arrays(), *self._sources]
        for parameter in parameters:
            if parameter not in known:
                declared = [one for one in self._store.fields() if not one.startswith(SHOWN)]
                usual = [*_USUAL, *declared, *self._sources]
                near = difflib.get_close_matches(parameter, usual, 1)
                hint = f"did you mean {near[0]!r}?" if near else f"known are {usual}."
                raise ValueError(f"Reward rule {name!r} asks for {parameter!r}; {hint}")
        return parameters

    def _arrays(self):
        return ("position", "teams", "encoding", *self._store.state())

    def _array(self, name: str) -> np.ndarray:
        store = self._store
        if name in self._sources:
            return np.asarray(self._sources[name].event(name))
        if name == "teams":
            return np.broadcast_to(store.teams(), store.active.shape)
        if name == "encoding":
            return np.broadcast_to(store.encodings, store.active.shape)
        return getattr(store, name)

    def steps(self, actions: Any) -> list:
        """Return what a program runs to add what the events did not add themselves."""
        steps: list = []
        if self.step_amount:
            turns = actions.turns, actions.num_turns
            steps.append(Call(reward_turns, *turns, self.step_amount, self._store.rewards))
        if self.rules:
            steps.append(self._apply_rules)
        return steps

    def _apply_rules(self) -> None:
        """Add what the rules say.

        Raises:
            ValueError: A rule returned something of another shape, or not finite.
        """
        store = self._store
        for name, (rule, parameters) in self.rules.items():
            found = np.asarray(rule(*(self._array(p) for p in parameters)), np.float64)
            if found.shape != store.rewards.shape:
                raise ValueError(
                    f"Reward rule {name!r} must return shape {store.rewards.shape} "
                    f"(worlds, agents), got {found.shape}."
                )
            wrong = add_rewards(np.ascontiguousarray(found), store.rewards)
            if wrong >= 0:
                b, i = divmod(wrong, store.num_agents)
                raise ValueError(
                    f"Reward rule {name!r} gave {found[b, i]} to agent {store.ids[i]!r} "
                    f"in world {store.first_world + b}; rewards must be finite."
                )


class RewardsById:
    """The rewards of a single world by agent id, on the store's array: ``rewards['a'] -= 0.1``."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def __getitem__(self, agent_id: str) -> float:
        return self._store.rewards.item(self._store.index[agent_id])

    def __setitem__(self, agent_id: str, value: float) -> None:
        self._store.rewards[0, self._store.index[agent_id]] = value

    def __contains__(self, agent_id: object) -> bool:
        return agent_id in self._store.index

    def __iter__(self) -> Iterator[str]:
        return iter(self._store.ids)

    def __len__(self) -> int:
        return self._store.num_agents

    def keys(self) -> KeysView:
        """Return the agents' ids."""
        return self._store.index.keys()

    def values(self) -> list:
        """Return the rewards, as floats."""
        return self._store.rewards[0].tolist()

    def items(self) -> zip:
        """Pairs of id and reward."""
        return zip(self._store.ids, self.values(), strict=True)

    def __repr__(self) -> str:
        return repr(dict(self.items()))
