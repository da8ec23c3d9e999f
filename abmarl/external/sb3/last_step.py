"""Who acted in the last step: what rollout buffers ask for."""

import numpy as np


class LastStep:
    """A place that an `SB3VecEnv` writes to and its rollout buffers read.

    It is saved empty with a model, because a saved model has no environment.
    """

    def __init__(self) -> None:
        self._acted: np.ndarray | None = None

    @property
    def acted(self) -> np.ndarray:
        """bool [slots].

        Raises:
            ValueError: No environment has written to it.
        """
        if self._acted is None:
            raise ValueError(
                "the buffer does not know who acted, because it has not been given its environment "
                "anew: load the model with PPO.load(path, env, **env.on_policy())"
            )
        return self._acted

    @acted.setter
    def acted(self, acted: np.ndarray) -> None:
        self._acted = acted

    def __reduce__(self) -> tuple:
        return LastStep, ()
