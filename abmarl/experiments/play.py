"""Episodes played by trained policies, shown or filmed."""

import os
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from abmarl.extras import load
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
    show: Callable[[int], None] | None = None,
) -> Played:
    """Play an episode.

    Args:
        manager: of the simulation.
        trainer: `TrainedPolicies`.
        steps: how many steps at most.
        explore: whether actions are drawn.
        seed: of the reset; None goes on with the simulation's random stream.
        show: called with the number of steps done, after the reset and after each step.
    """
    obs = manager.reset() if seed is None else manager.reset(seed=seed)
    returns = dict.fromkeys(obs, 0.0)
    done: dict[str, bool] = {"__all__": False}
    if show is not None:
        show(0)
    step = 0
    while step < steps and not done["__all__"]:
        acting = {agent_id: one for agent_id, one in obs.items() if not done.get(agent_id)}
        obs, rewards, done, _ = manager.step(trainer.compute_actions(acting, explore=explore))
        step += 1
        for agent_id, reward in rewards.items():
            returns[agent_id] = returns.get(agent_id, 0.0) + float(reward)
        if show is not None:
            show(step)
    return Played(step, returns, bool(done["__all__"]))


class Film:
    """Films a simulation: a grid world as `abmarl.render` draws it, others with matplotlib.

    A context manager, like a `Recorder`.

    Args:
        manager: of the simulation.
        path: where the film goes; .mp4, .gif, or .png for the last frame.
        fps: frames per second.
        title: a line below the picture of a grid world.

    Raises:
        ImportError: what draws is not installed.
        OSError: the file cannot be written.
    """

    def __init__(
        self, manager: SimulationManager, path: str | os.PathLike, fps: float, title: str = ""
    ) -> None:
        from abmarl.render import FrameWriter

        self._picture = picture_of(manager, title)
        self._recorder = FrameWriter(Path(path), fps=fps)

    def __enter__(self) -> "Film":
        return self

    def __exit__(self, *error: object) -> None:
        self._recorder.close()

    def __call__(self, step: int) -> None:
        """Add what the simulation looks like now."""
        self._recorder.add(self._picture(step))


class Window:
    """Shows a simulation on the screen.

    Args:
        manager: of the simulation.
        delay: seconds from one step to the next.
    """

    def __init__(self, manager: SimulationManager, delay: float) -> None:
        self._manager, self._delay = manager, delay

    def __call__(self, step: int) -> None:
        """Show what the simulation looks like now."""
        self._manager.render()
        time.sleep(self._delay)


def picture_of(manager: SimulationManager, title: str) -> Callable[[int], np.ndarray]:
    """A function of the number of steps that makes a picture, uint8 [height, width, 3]."""
    from abmarl.render import Scene, frame

    try:
        Scene.of(manager)
    except TypeError:  # it has no grid
        return _drawn_by_matplotlib(manager)
    return lambda step: frame(Scene.of(manager, step=step, title=title))


def _drawn_by_matplotlib(manager: SimulationManager) -> Callable[[int], np.ndarray]:
    figure = load("matplotlib.figure").Figure(figsize=(6, 6), dpi=80)
    canvas = load("matplotlib.backends.backend_agg").FigureCanvasAgg(figure)

    def draw(step: int) -> np.ndarray:
        manager.render(fig=figure)
        canvas.draw()
        return np.asarray(canvas.buffer_rgba())[:, :, :3].copy()

    return draw


def has_screen() -> bool:
    """Whether windows can be shown here."""
    return bool(os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"))
