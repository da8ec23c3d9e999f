"""What a single simulation does not keep of its episode: steps, rewards so far, last actions."""

from typing import Any

_METHODS = ("reset", "step", "get_reward", "get_outputs", "load_state_dict")


class Ledger:
    """Counts and adds up while the simulation is played, from the day it is first watched.

    A simulation that nobody watches has no ledger and does nothing for it.

    Attributes:
        starts: episodes that have begun since, and states that were loaded.
        steps: steps of the running episode, those before the first look left out.
        returns: id to the rewards that were read in the running episode.
        actions: id to the last action of the running episode.
        busy: whether a call is under way within which nothing is to be counted.
    """

    def __init__(self) -> None:
        self.starts = 0
        self.busy = False
        self._clear()

    @classmethod
    def of(cls, sim: Any) -> "Ledger":
        """The ledger of a simulation; the first call opens it."""
        ledger = sim.__dict__.get("_ledger")
        if ledger is None:
            ledger = sim._ledger = cls()
            for name in _METHODS:
                if hasattr(sim, name):
                    setattr(sim, name, _Tap(sim, name, ledger))
        return ledger

    def _clear(self) -> None:
        self.steps = 0
        self.returns: dict[str, float] = {}
        self.actions: dict[str, Any] = {}

    def reset(self, result: Any, *args: Any, **kwargs: Any) -> None:
        """An episode has begun."""
        self.starts += 1
        self._clear()

    def load_state_dict(self, result: Any, state: dict[str, Any], **kwargs: Any) -> None:
        """The simulation is somewhere else: what was counted does not belong there."""
        self.reset(result)

    def step(self, result: Any, action_dict: dict[str, Any], **kwargs: Any) -> None:
        """Agents have acted."""
        self.steps += 1
        self.actions.update(action_dict)

    def get_reward(self, result: float, agent_id: str, **kwargs: Any) -> None:
        """A reward has been read, which the simulation forgets then."""
        self.returns[agent_id] = self.returns.get(agent_id, 0.0) + float(result)

    def get_outputs(self, result: tuple, agent_ids: Any, **kwargs: Any) -> None:
        """Rewards of several agents have been read, perhaps not by ``get_reward``."""
        for agent_id, reward in result[1].items():
            self.get_reward(reward, agent_id)


class _Tap:
    """Stands before a method of one simulation and tells a ledger what went through.

    An object, not a closure: copies of the simulation, and pickled ones, get taps of their own.
    """

    def __init__(self, sim: Any, name: str, ledger: Ledger) -> None:
        self.sim, self.name, self.ledger = sim, name, ledger
        self.own = sim.__dict__.get(name)  # where somebody has replaced the method already

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        method = self.own or getattr(type(self.sim), self.name).__get__(self.sim)
        if self.ledger.busy:  # called by another method that is tapped, which counts for both
            return method(*args, **kwargs)
        self.ledger.busy = self.name == "get_outputs"
        try:
            result = method(*args, **kwargs)
        finally:
            self.ledger.busy = False
        getattr(self.ledger, self.name)(result, *args, **kwargs)
        return result
