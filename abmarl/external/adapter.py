"""What the adapters share: who learns, horizons, seeds, and the render modes of Gymnasium."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from abmarl.managers import AllStepManager, SimulationManager, TurnBasedManager
from abmarl.render import modes
from abmarl.render.modes import RENDER_FPS, RENDER_MODES
from abmarl.sim.agent_based_simulation import AgentBasedSimulation, is_agent
from abmarl.sim.agents import Agent

METADATA = {"render_modes": list(RENDER_MODES), "render_fps": RENDER_FPS}


def managed(sim: Any, user: str) -> SimulationManager:
    """Return a manager as it is, and a simulation in an `AllStepManager`.

    Raises:
        TypeError: `sim` is neither; names the adapter `user`.
    """
    if isinstance(sim, AgentBasedSimulation):
        return AllStepManager(sim)
    if not isinstance(sim, SimulationManager):
        raise TypeError(f"{user} needs a simulation or a manager, got {type(sim).__name__}")
    return sim


def learning_agents(manager: SimulationManager, user: str) -> dict[str, Agent]:
    """Return the agents that both observe and act, by id.

    Raises:
        ValueError: There are none.
    """
    found: dict[str, Any] = {
        agent_id: agent for agent_id, agent in manager.agents.items() if is_agent(agent)
    }
    if not found:
        raise ValueError(
            f"{user} needs an agent that both observes and acts, {type(manager.sim).__name__} "
            f"has none"
        )
    return found


def check_horizon(horizon: Any) -> int | None:
    """Return the number of steps after which episodes are truncated; None: never.

    Raises:
        TypeError: It is neither None nor an int.
        ValueError: It is below 1.
    """
    if horizon is None:
        return None
    if isinstance(horizon, bool) or not isinstance(horizon, int | np.integer):
        raise TypeError(f"horizon must be an int or None, got {horizon!r:.60}")
    if horizon < 1:
        raise ValueError(f"horizon must be 1 or more, or None for no end, got {horizon}")
    return int(horizon)


def prepare_seed(manager: SimulationManager, seed: Any) -> None:
    """Prepare a manager for a reset with a seed, which also decides who acts first.

    Raises:
        TypeError, ValueError: The seed is invalid. Nothing has changed, whereas the manager would
            end the episode before the simulation refuses the seed.
    """
    if seed is None:
        return
    # Loads the grid worlds, which listing the registered names does not need.
    from abmarl.gridworld.seeding import parse_seed

    parse_seed(seed)
    if isinstance(manager, TurnBasedManager):
        manager.restart_order()


def check_render_mode(mode: Any, known: Sequence[str] = RENDER_MODES) -> str | None:
    """Return the render mode.

    Raises:
        ValueError: It is neither None nor one of the known modes.
    """
    if mode is not None and mode not in known:
        raise ValueError(
            f"render_mode must be None or {' or '.join(map(repr, known))}, got {mode!r}"
        )
    return mode


def render(sim: Any, mode: str | None, world: int = 0) -> Any:
    """Show a world.

    Args:
        sim: A simulation, single or vectorised, or a manager or wrapper around one.
        mode: One of `RENDER_MODES`, or None.
        world: Which world of a vectorised simulation.

    Returns:
        For ``"rgb_array"`` uint8 ``[height, width, 3]``, for ``"ansi"`` text; for ``"human"``, a
        window that stays open for the next call, None.

    Raises:
        ValueError: The mode is None, or the simulation has no grid to write as text.
        OSError: There is no screen for a window.
        ImportError: The extra ``render`` is not installed.
    """
    if mode is None:
        raise ValueError('nothing to render without a mode: make it with render_mode="rgb_array"')
    return modes.show(sim, mode, world)


def close(sim: Any) -> None:
    """Close the window of a simulation, if it has one."""
    modes.close(sim)
