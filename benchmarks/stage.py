"""The parts of a step, one by one, on the worlds of a vectorised simulation."""

import numpy as np

from abmarl.kernels.program import Program


class Stage:
    """A moment of a running vectorised simulation, to which one can go back.

    It goes through the methods of the components, and so does not depend on what the kernels
    below take.

    Args:
        play: The ``Play`` that has been brought to that moment; on one thread.

    Attributes:
        store, sim: The arrays and the components of all worlds.
        worlds: int64, all worlds.
        actions: The ``Actions`` of the next step.
    """

    def __init__(self, play):
        self.play = play
        # The one place here that looks behind the public surface of a vectorised simulation.
        self._shard = play.vec._shards[0]
        self.sim, self.store = self._shard.sim, self._shard.store
        self.worlds = self._shard.everywhere
        self.actions = self._shard.actions
        self._find_done = Program(self.sim.any_done.steps())
        self._observe = Program(
            [
                step
                for observer, flat, _, rows_of in self._shard.outputs
                for step in observer.steps(self.worlds, flat, rows_of, False)
            ]
        )
        play.vec.channels.receive(play.pool[0])
        self.take_turns()
        self._saved = {name: array.copy() for name, array in self.store.state().items()}

    def rewind(self):
        """Goes back to the moment."""
        for name, array in self.store.state().items():
            array[...] = self._saved[name]

    def take_turns(self, in_random_order=False):
        """Who acts."""
        self.actions.take_turns(self._shard.episodes.alive, in_random_order)

    def attack(self):
        """Everybody's attacks."""
        return self.sim.actors["attack"].process(self.actions)

    def move(self):
        """Everybody's moves."""
        return self.sim.actors["move"].process(self.actions)

    def observe(self):
        """Everybody's observations."""
        self._observe()

    def outputs(self, observer) -> tuple:
        """Where an observer writes: a flat array, and where the rows lie in it."""
        return next(
            (flat, rows_of) for one, flat, _, rows_of in self._shard.outputs if one is observer
        )

    def done(self):
        """Who is done."""
        self._find_done()
        return self.sim.any_done.agents_done, self.sim.any_done.worlds_done

    def start(self, state):
        """Do what one state component does at the start of an episode, by its place."""
        self.sim.states[state].start(self.worlds)

    def start_episode(self):
        """Do what all of them do."""
        self.sim.start_episode(self.worlds)

    def slot_actions(self) -> np.ndarray:
        """int64 [B, N, 3]: attack, row and column step of every agent, 0 for those without."""
        found = np.zeros((self.store.num_worlds, self.store.num_agents, 3), np.int64)
        for name, channels in self.play.pool[0].items():
            slots = self.play.vec.groups[name].slots
            found[:, slots, 0] = channels["attack"]
            found[:, slots, 1:] = channels["move"]
        return found


class Recorded:
    """A call that a step makes, ready to be made again and again as in that step.

    Args:
        play: Plays one step, in which the call is made; on one thread.
        name: The name of the kernel that is called.
    """

    def __init__(self, play, name="close_step"):
        play.vec.channels.receive(play.pool[0])
        for step in play.vec._shards[0].steps():
            if getattr(getattr(step, "function", None), "__name__", "") == name:
                self._program = Program([step])
                self._before = [(one, one.copy()) for one in _arrays(step.arguments)]
            step()

    def rewind(self):
        """Give all arrays the contents that they had."""
        for array, before in self._before:
            array[...] = before

    def __call__(self):
        return self._program()


def _arrays(arguments):
    """Yield the arrays among the arguments of a call and in their tuples."""
    for one in arguments:
        if isinstance(one, tuple):
            yield from _arrays(one)
        elif isinstance(one, np.ndarray):
            yield one
