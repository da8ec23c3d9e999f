"""What happens in the worlds of a simulation of components, as steps of programs."""

import functools

import numpy as np

from abmarl.gridworld.base import GridWorldSimulation
from abmarl.gridworld.component import on_listed
from abmarl.kernels.program import Program


class PlayedWorlds(GridWorldSimulation):
    """Starts and plays all worlds of its store at once; the base of declared simulations.

    ``states`` and ``actors`` are its components, ``_rules`` its ``RewardRules``.
    """

    def finalize(self):
        """Makes agents and spaces ready for use."""
        super().finalize()
        self._started = np.zeros(self.store.num_worlds, np.int64)
        self._start = self._program = self._played = None

    def start_episode(self, worlds):
        """Starts an episode in the listed worlds (int64 array).

        Raises:
            ValueError: Agents do not fit on the grid.
        """
        if self._start is None:
            self._start = Program(self._start_steps(self._started))
        self._started[: len(worlds)] = worlds
        self._started[len(worlds) : len(worlds) + 1] = -1
        self._start()
        self.check_start()

    def start_steps(self, worlds) -> list:
        """What a program runs instead of ``start_episode``; a world below 0 ends the list."""
        if type(self).start_episode is not PlayedWorlds.start_episode:
            return [on_listed(self.start_episode, worlds)]
        return self._start_steps(worlds)

    def _start_steps(self, worlds):
        steps = self.store.beginning(worlds)
        for state in self.states:
            steps += state.steps(worlds)
        return steps

    def check_start(self):
        """Raises a ValueError if the last start of episodes failed."""
        self.store.touch()
        for state in self.states:
            state.check()

    def step_batch(self, actions):
        """What a step does, in all worlds.

        By default every actor processes its channel, in the order declared.

        Args:
            actions: The ``Actions`` of the step; ``actor.process(actions)`` takes them, and
                ``actions[key]`` is the array [B, n, ...] of a channel.
        """
        for actor in self.actors.values():
            actor.process(actions)

    def play_steps(self, actions) -> list:
        """What a program runs for a step: ``step_batch``, then what is rewarded besides events."""
        if type(self).step_batch is not PlayedWorlds.step_batch:
            steps = [lambda: self._step_batch(actions)]
        else:
            steps = [step for actor in self.actors.values() for step in actor.steps(actions)]
        steps += self._rules.steps(actions)
        return [*steps, self._check_rewards] if self.runs_foreign_code else steps

    def _step_batch(self, actions):
        for actor in self.actors.values():
            actor.acting = actions
        try:
            self.step_batch(actions)
        finally:
            for actor in self.actors.values():
                actor.acting = None

    def _play(self, actions):
        if self._played is not actions or self._program is None:
            self._program, self._played = Program(self.play_steps(actions)), actions
        self._program()
        self.store.touch()

    def _check_rewards(self):
        store = self.store
        if not np.isfinite(store.rewards).all():
            b, i = np.argwhere(~np.isfinite(store.rewards))[0]
            raise ValueError(
                f"Agent {store.ids[i]!r} in world {store.first_world + b} was given the reward "
                f"{store.rewards[b, i]}; rewards must be finite."
            )

    @functools.cached_property
    def runs_foreign_code(self) -> bool:
        """Whether a step runs code that is not the package's own and so may fail half way."""
        layers = [layer for actor in self.actors.values() for layer in actor.layers]
        parts = (*self.states, *self.observers, *self.dones, *layers, self)
        own = all(type(part).__module__.startswith("abmarl.") for part in parts)
        return not own or bool(self._rules.rules)
