"""What done components have in common."""

import numpy as np

from abmarl.gridworld.component import Component, has_calls
from abmarl.kernels.done import add_done
from abmarl.kernels.program import Call, Program

_ON_ARRAYS, _BY_HAND = ("done", "all_done"), ("get_done", "get_all_done")


class DoneBase(Component):
    """Says when agents and worlds are done.

    A subclass defines ``done`` and ``all_done`` on the arrays, or, for single worlds only,
    ``get_done`` and ``get_all_done``. Those of the package define ``calls`` instead, which write to
    ``agents_done`` and ``worlds_done``.

    Attributes:
        agents_done: bool [B, N], ``worlds_done``: bool [B], as found last.
    """

    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        self.agents_done = np.zeros((self.store.num_worlds, self.store.num_agents), bool)
        self.worlds_done = np.zeros(self.store.num_worlds, bool)
        self._program = None

    def done(self) -> np.ndarray:
        """bool [B, N]: the agents that are done; by default those that are not active."""
        if type(self).get_done is not DoneBase.get_done:
            return np.array([[bool(self.get_done(agent)) for agent in self.agents.values()]])
        return self._done()

    def all_done(self) -> np.ndarray:
        """bool [B]: the worlds that are done; by default those whose agents all are."""
        if type(self).get_all_done is not DoneBase.get_all_done:
            return np.array([bool(self.get_all_done())])
        return self._all_done()

    def get_done(self, agent, **kwargs) -> bool:
        """Whether an agent of a single world is done."""
        own = type(self).done is not DoneBase.done
        return bool((self.done() if own else self._done())[0, agent._slot])

    def get_all_done(self, **kwargs) -> bool:
        """Whether a single world is done."""
        own = type(self).all_done is not DoneBase.all_done
        return bool((self.all_done() if own else self._all_done())[0])

    @property
    def by_hand(self) -> bool:
        """Whether it looks at single worlds only."""
        return not has_calls(self, *_BY_HAND, *_ON_ARRAYS) and any(
            getattr(type(self), name) is not getattr(DoneBase, name) for name in _BY_HAND
        )

    def steps(self) -> list:
        """What a program runs to bring ``agents_done`` and ``worlds_done`` up to date."""
        return self.calls() if has_calls(self, *_ON_ARRAYS, *_BY_HAND) else [self._ask]

    def _ask(self):
        # What the package's calls find is in the same arrays, so these are filled afterwards.
        agents, worlds = np.array(self.done()), np.array(self.all_done())
        self.agents_done[...], self.worlds_done[...] = agents, worlds

    def _done(self):
        if not hasattr(self, "calls"):
            return ~self.store.active
        self._find()
        return self.agents_done

    def _all_done(self):
        if not hasattr(self, "calls"):
            return self.done().all(axis=1)
        self._find()
        return self.worlds_done

    def _find(self):
        if self._program is None:
            self._program = Program(self.calls())
        self._program()


class AnyDone:
    """Agents and worlds that are done by any of several components.

    Args:
        dones: The components.
        store: The store that they work on.

    Attributes:
        agents_done, worlds_done: As those of a component.
    """

    def __init__(self, dones, store):
        self._dones = dones
        if len(dones) == 1:
            self.agents_done, self.worlds_done = dones[0].agents_done, dones[0].worlds_done
        else:
            self.agents_done = np.zeros((store.num_worlds, store.num_agents), bool)
            self.worlds_done = np.zeros(store.num_worlds, bool)

    def steps(self) -> list:
        """What a program runs to bring the arrays up to date."""
        if len(self._dones) == 1:
            return self._dones[0].steps()
        steps = []
        for number, one in enumerate(self._dones):
            steps += one.steps()
            found = one.agents_done, one.worlds_done
            steps.append(Call(add_done, self.agents_done, self.worlds_done, *found, number == 0))
        return steps
