"""Episodes played by trained policies, shown in a window or filmed."""

import os
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from abmarl.managers.simulation_manager import SimulationManager


@dataclass
class PlayedEpisode:
    """What came of an episode.

    Attributes:
        steps: how many steps it had.
        returns: agent id -> sum of its rewards.
        ended: whether it ended before the limit of steps.
        stopped: whether the viewer stopped it before that.
    """

    steps: int
    returns: dict[str, float]
    ended: bool
    stopped: bool = False


def play_episode(
    manager: SimulationManager,
    trainer: Any,
    steps: int,
    explore: bool,
    seed: int | None = None,
    show: Callable[[], bool] | None = None,
) -> PlayedEpisode:
    """Play an episode.

    Args:
        manager: manager of the simulation.
        trainer: `TrainedPolicies`.
        steps: how many steps at most.
        explore: whether actions are drawn.
        seed: seed of the reset; None goes on with the simulation's random stream.
        show: called after the reset and after each step; the episode stops when it returns False.
    """
    obs = manager.reset() if seed is None else manager.reset(seed=seed)
    returns = dict.fromkeys(obs, 0.0)
    done: dict[str, bool] = {"__all__": False}
    going = show is None or show()
    step = 0
    while going and step < steps and not done["__all__"]:
        acting = {agent_id: one for agent_id, one in obs.items() if not done.get(agent_id)}
        obs, rewards, done, _ = manager.step(trainer.compute_actions(acting, explore=explore))
        step += 1
        for agent_id, reward in rewards.items():
            returns[agent_id] = returns.get(agent_id, 0.0) + float(reward)
        going = show is None or show()
    return PlayedEpisode(step, returns, bool(done["__all__"]), not going)


class Captioned:
    """A plain simulation with its title and the step in its pictures, as those of grids have.

    Args:
        manager: manager of the simulation.
        title: what it is called.
    """

    def __init__(self, manager: SimulationManager, title: str) -> None:
        self._manager, self._title = manager, title
        self._step = 0

    def render(self, fig: Any, **kwargs: Any) -> None:
        """Draw the next step, starting with that after the reset, into a figure of matplotlib."""
        self._manager.render(fig=fig, **kwargs)
        fig.suptitle(f"{self._title}, step {self._step}")
        self._step += 1


def captioned(manager: SimulationManager, title: str) -> Any:
    """Return what a `Recorder` is to film for a film with title and steps."""
    from abmarl.render.scenes.appearance import grid_of

    return Captioned(manager, title) if grid_of(manager) is None else manager


class EpisodeWindow:
    """A window that shows a simulation; a context manager, which closes it.

    Args:
        manager: manager of the simulation.
        delay: seconds from one step to the next.
        title: title of the window.

    Raises:
        ImportError: what draws is not installed.
    """

    def __init__(self, manager: SimulationManager, delay: float, title: str) -> None:
        from abmarl.render.scenes.appearance import grid_of

        self._manager, self._delay = manager, delay
        self._viewer = None
        if grid_of(manager) is not None:
            from abmarl.render import SimulationShow, Viewer

            self._viewer = Viewer(SimulationShow(manager), title=title, speed=1 / delay)

    def __enter__(self) -> "EpisodeWindow":
        return self

    def __exit__(self, *error: object) -> None:
        if self._viewer is not None:
            self._viewer.close()

    def __call__(self) -> bool:
        """Show the simulation as it is now, and wait until it is time for the next step.

        Returns:
            Whether the window is still open; that of a plain simulation always is.

        Raises:
            OSError: there is no screen.
        """
        if self._viewer is not None:
            return self._viewer.update()
        self._manager.render()
        time.sleep(self._delay)
        return True


def has_screen() -> bool:
    """Return whether windows can be shown here."""
    if sys.platform in ("darwin", "win32"):
        return True
    return bool(os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"))
