"""The worlds of env runners in RLlib's checkpoints."""

from typing import Any

import numpy as np

# Where the state of an env runner holds its worlds.
COMPONENT_WORLDS = "worlds"


class SavedWorlds:
    """The part of a batched env runner that saves and restores its worlds.

    RLlib saves the local env runner only. That collects the worlds of the remote ones, which is why
    it is told of their group (see `attach`).
    """

    _group: Any = None

    def get_state(
        self, components: Any = None, *, not_components: Any = None, **kwargs: Any
    ) -> dict:
        """RLlib's state, with ``"worlds"``: what each env runner's worlds are, by its number."""
        state = super().get_state(components, not_components=not_components, **kwargs)
        wanted = self._check_component(COMPONENT_WORLDS, components, not_components)
        if wanted and not self.config.in_evaluation:
            state[COMPONENT_WORLDS] = self._all_worlds()
        return state

    def set_state(self, state: dict) -> None:
        """Take over a state. Worlds of another number of env runners or worlds are left alone."""
        super().set_state(state)
        worlds = state.get(COMPONENT_WORLDS)
        if not worlds or self.config.in_evaluation:
            return
        if self.env is not None:
            self.load_worlds(worlds)
        if self._group is not None:
            self._group.foreach_env_runner(
                lambda runner: runner.load_worlds(worlds), local_env_runner=False
            )

    def _all_worlds(self) -> dict[int, dict]:
        found = [] if self.env is None else [self.save_worlds()]
        if self._group is not None:
            found += self._group.foreach_env_runner(
                lambda runner: runner.save_worlds(), local_env_runner=False
            )
        return {index: saved for one in found for index, saved in one.items()}

    def save_worlds(self) -> dict[int, dict]:
        """What the worlds of this env runner are, by its number; nothing before their start."""
        if self._needs_initial_reset:
            return {}
        return {
            self.worker_index or 0: {
                "num_envs": self.num_envs,
                "ids": list(self._ids),
                "agent_t": {name: counts.copy() for name, counts in self.scores.agent_t.items()},
                "vec": self.env.vec.state_dict(),
            }
        }

    def load_worlds(self, worlds: dict[int, dict]) -> None:
        """Go on with what `save_worlds` returned."""
        saved = worlds.get(self.worker_index or 0)
        if saved is None or saved["num_envs"] != self.num_envs:
            return
        self.env.vec.load_state_dict(saved["vec"])
        self.scores.begin()
        for name, counts in saved["agent_t"].items():
            np.copyto(self.scores.agent_t[name], counts)
        self._ids = list(saved["ids"])
        self._needs_initial_reset = False


def attach(algorithm: Any, **kwargs: Any) -> None:
    """Callback at the start of an algorithm: tell the local env runner of the remote ones."""
    runner = algorithm.env_runner
    if isinstance(runner, SavedWorlds):
        runner._group = algorithm.env_runner_group
