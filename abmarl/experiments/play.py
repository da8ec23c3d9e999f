"""Episodes played by trained policies, shown or filmed."""

import os
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from abmarl.managers.simulation_manager import SimulationManager


@dataclass
class Played:
    """An episode that was played.

    Attributes:
        steps: how many steps it had.
        returns: agent id -> sum of its rewards.
        ended: whether it came to its end before the limit of steps.
    """

    steps: int
    returns: dict[str, float]
    ended: bool


def play(
    manager: SimulationManager,
    trainer: Any,
    steps: int,
    explore: bool,
    seed: int | None = None,
    show: Callable[[], None] | None = None,
) -> Played:
    """Play an episode.

    Args:
        manager: of the simulation.
        trainer: `TrainedPolicies`.
        steps: how many steps at most.
        explore: whether actions are drawn.
        seed: of the reset; None goes on with the simulation's random stream.
        show: called after the reset and after each step.
    """
    obs = manager.reset() if seed is None else manager.reset(seed=seed)
    returns = dict.fromkeys(obs, 0.0)
    done: dict[str, bool] = {"__all__": False}
    if show is not None:
        show()
    step = 0
    while step < steps and not done["__all__"]:
        acting = {agent_id: one for agent_id, one in obs.items() if not done.get(agent_id)}
        obs, rewards, done, _ = manager.step(trainer.compute_actions(acting, explore=explore))
        step += 1
        for agent_id, reward in rewards.items():
            returns[agent_id] = returns.get(agent_id, 0.0) + float(reward)
        if show is not None:
            show()
    return Played(step, returns, bool(done["__all__"]))


class OnScreen:
    """Shows a simulation in a window; a context manager, which closes it.

    Args:
        manager: of the simulation.
        delay: seconds from one step to the next.
    """

    def __init__(self, manager: SimulationManager, delay: float) -> None:
        self._manager, self._delay = manager, delay

    def __enter__(self) -> "OnScreen":
        return self

    def __exit__(self, *error: object) -> None:
        from abmarl.render import modes

        modes.close(self._manager)

    def __call__(self) -> None:
        """Show what the simulation looks like now.

        Raises:
            OSError: there is no screen.
        """
        from abmarl.render import modes

        modes.show(self._manager)
        time.sleep(self._delay)


def has_screen() -> bool:
    """Whether windows can be shown here."""
    return bool(os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"))
