"""Plays a simulation in a window, in one call."""

from typing import Any

from abmarl.render.scenes.cast import grid_of
from abmarl.render.viewer.shows import PolicyShow
from abmarl.render.viewer.viewer import Viewer


def view(
    sim: Any, policies: Any = None, *, num_worlds: int = 1, seed: Any = 0,
    horizon: int | None = 200, speed: float = 8, title: str | None = None,
) -> None:  # fmt: skip
    """Play a simulation in a window until it is closed. It is vectorised for that.

    Args:
        sim: a grid simulation that can be vectorised, or a vectorised one.
        policies: as `abmarl.rollout.collect` takes them; None: everybody acts at random.
        num_worlds: how many worlds, if it is not vectorised yet.
        seed: of the worlds.
        horizon: longest episode in steps; None: no limit.
        speed: steps per second.
        title: what stands in the frame; None: the name of the simulation's class.

    Raises:
        TypeError: `sim` has no grid, or cannot be vectorised.
        ValueError: the speed is not above 0, or there is no such policy.
        OSError: there is no screen.
        ImportError: what draws is not installed.
    """
    grid = grid_of(sim)
    if grid is None:
        shown = repr(sim) if isinstance(sim, str | int | float | None) else type(sim).__name__
        raise TypeError(
            f"sim is {shown}, but must be a grid world simulation that has been built, or a "
            "vectorised one"
        )
    vec = sim if hasattr(sim, "num_envs") else _vectorised(grid, num_worlds, seed, horizon)
    name = title or type(getattr(vec, "sim", vec)).__name__
    Viewer(PolicyShow(vec, policies), title=name, speed=speed).run()


def _vectorised(grid: Any, num_worlds: int, seed: Any, horizon: int | None) -> Any:
    if hasattr(grid, "num_envs"):  # in a wrapper that is not known
        return grid
    try:
        return grid.vectorize(num_worlds, seed=seed, horizon=horizon)
    except (TypeError, NotImplementedError) as error:
        raise TypeError(
            f"sim cannot be vectorised, which view needs: {error}\nStep it in a loop of your own "
            "and call sim.render() after every step"
        ) from error
