"""What a `VecEnv` must offer per environment, for slots that share one simulation."""

from typing import Any

import numpy as np

from abmarl.external import rendering
from abmarl.extras import load

_vec_env = load("stable_baselines3.common.vec_env", "sb3", "abmarl.external.sb3")
_monitor = load("stable_baselines3.common.monitor", "sb3", "abmarl.external.sb3")


class SharedVecEnv(_vec_env.VecEnv):
    """Attributes, methods and pictures of slots.

    Subclasses have a simulation ``vec``, a ``render_mode``, the number ``render_worlds`` of worlds
    to show, ``has_masks``, and with it a method ``action_masks``.
    """

    def get_attr(self, attr_name: str, indices: Any = None) -> list[Any]:
        """An attribute of this or, if it has none, of the simulation, once for every slot asked.

        Raises:
            AttributeError: Neither has it, or it is ``action_masks`` where there are none.
        """
        if attr_name == "action_masks" and not self.has_masks:
            raise AttributeError(f"there are no masks for actions of {self.action_space}")
        owner = self if hasattr(self, attr_name) else self.vec
        return [getattr(owner, attr_name)] * len(self._chosen(indices))

    def set_attr(self, attr_name: str, value: Any, indices: Any = None) -> None:
        """Set an attribute of this, for all slots.

        Raises:
            ValueError: `indices` are not all slots, which share one simulation.
        """
        if len(set(self._chosen(indices))) != self.num_envs:
            raise ValueError(f"slots share one simulation: set {attr_name!r} for all of them")
        setattr(self, attr_name, value)

    def env_method(
        self, method_name: str, *method_args: Any, indices: Any = None, **method_kwargs: Any
    ) -> list[Any]:
        """Call a method once; what it returns, for every slot asked, its own row of masks."""
        chosen = self._chosen(indices)
        found = self.get_attr(method_name, 0)[0](*method_args, **method_kwargs)
        return [found[slot] if method_name == "action_masks" else found for slot in chosen]

    def env_is_wrapped(self, wrapper_class: type, indices: Any = None) -> list[bool]:
        """True for `Monitor`, because the infos hold what it writes; else False."""
        return [issubclass(wrapper_class, _monitor.Monitor)] * len(self._chosen(indices))

    def get_images(self) -> list[np.ndarray | None]:
        """Pictures of the first worlds, uint8 ``[height, width, 3]``, None without a mode."""
        worlds = range(self.render_worlds)
        if self.render_mode is None:
            return [None for _ in worlds]
        return [rendering.render(self.vec, self.render_mode, world) for world in worlds]

    def render(self, mode: str | None = None) -> Any:
        """The first worlds in one picture; see the library's `VecEnv.render`."""
        if self.render_mode in (None, "rgb_array"):
            return super().render(mode)
        return rendering.render(self.vec, self.render_mode)

    def close(self) -> None:
        """Close the window, if there is one."""
        rendering.close(self.vec)

    def _chosen(self, indices: Any) -> list[int]:
        """Numbers of slots.

        Raises:
            IndexError: There is no such slot.
        """
        if indices is None:
            return list(range(self.num_envs))
        chosen = np.atleast_1d(np.asarray(indices, np.int64)).tolist()
        for index in chosen:
            if not 0 <= index < self.num_envs:
                raise IndexError(f"there is no slot {index}, there are {self.num_envs}")
        return chosen
