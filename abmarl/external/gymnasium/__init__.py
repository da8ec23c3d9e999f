"""Gymnasium: one world or thousands of them as environments, and the shipped ones by name.

Importing this package registers the shipped simulations with one learning agent, so that
`gymnasium.make` finds them.
"""

from typing import TYPE_CHECKING, Any, NamedTuple

import gymnasium
from gymnasium.vector import AutoresetMode

from abmarl.external.adapter import METADATA
from abmarl.external.single_agent_env import SingleAgentEnv
from abmarl.lazy import names_from

if TYPE_CHECKING:
    from abmarl.external.gymnasium.vector_env import GymnasiumVectorEnv

__all__ = ["GymnasiumVectorEnv", "GymnasiumWrapper"]

# Vector environments load the grid worlds, which registering names does not need.
__getattr__, __dir__ = names_from(__name__, {"GymnasiumVectorEnv": "vector_env"}, __all__)


class GymnasiumWrapper(SingleAgentEnv, gymnasium.Env):
    """A ``gymnasium.Env`` around a simulation in which one agent learns.

    Args:
        sim: A simulation or a manager; others may be in it that do not learn.
        render_mode: None, ``"human"`` (a window), ``"rgb_array"`` (arrays) or ``"ansi"`` (text).
        horizon: Steps after which an episode is truncated; None: never.

    Attributes:
        sim: What was given.
        agent_id: The id of the learning agent.

    Raises:
        TypeError: `sim` is neither a simulation nor a manager, or the horizon is not an int.
        ValueError: There is not exactly one learning agent, the horizon is below 1, or there is no
            such render mode.
    """


class Shipped(NamedTuple):
    """A simulation to register.

    Attributes:
        builder: Name of the function or class in `abmarl.examples` that makes it.
        max_episode_steps: Steps after which an episode is truncated.
        vectorised: Whether it can be vectorised.
        parameters: What differs from the builder's own defaults.
    """

    builder: str
    max_episode_steps: int
    vectorised: bool = True
    parameters: dict[str, Any] = {}  # noqa: RUF012 - a field of a NamedTuple is no class variable


SHIPPED = {
    "abmarl/Foraging-v0": Shipped("foraging", 200),
    "abmarl/MazeNavigation-v0": Shipped("maze_navigation", 200),
    "abmarl/MultiCorridor-v0": Shipped("MultiCorridor", 100, False, {"num_agents": 1}),
}


def make_env(builder: str, render_mode: str | None = None, **parameters: Any) -> GymnasiumWrapper:
    """Make a registered environment, for `gymnasium.make`.

    Args:
        builder: Name of the function or class in `abmarl.examples` that makes the simulation.
        render_mode: See `GymnasiumWrapper`.
        **parameters: For the builder.
    """
    return GymnasiumWrapper(_built(builder, parameters), render_mode)


# Gymnasium reads it before it calls: it draws in a window what can be had as an array.
make_env.metadata = METADATA  # type: ignore[attr-defined]


def make_vector_env(
    builder: str, num_envs: int, max_episode_steps: int | None = None,
    autoreset_mode: AutoresetMode | str = AutoresetMode.SAME_STEP, render_mode: str | None = None,
    action_masks: bool = False, statistics: bool = False, copy: bool = True,
    num_threads: int | None = None, **parameters: Any,
) -> "GymnasiumVectorEnv":  # fmt: skip
    """Make a registered vector environment, for `gymnasium.make_vec`.

    Args:
        builder: Name of the function in `abmarl.examples` that makes the simulation.
        num_envs: How many worlds.
        max_episode_steps: Steps after which an episode is truncated; None or -1: never.
        autoreset_mode: See `GymnasiumVectorEnv`, also for the next four.
        render_mode: See there.
        action_masks: See there.
        statistics: See there.
        copy: See there.
        num_threads: See ``sim.vectorize``.
        **parameters: For the builder.
    """
    from abmarl.external.gymnasium.vector_env import GymnasiumVectorEnv

    vec = _built(builder, parameters).vectorize(
        num_envs,
        horizon=None if max_episode_steps == -1 else max_episode_steps,
        autoreset=autoreset_mode in (AutoresetMode.SAME_STEP, AutoresetMode.SAME_STEP.value),
        num_threads=num_threads,
    )
    return GymnasiumVectorEnv(vec, autoreset_mode, render_mode, action_masks, statistics, copy)


def _built(builder: str, parameters: dict[str, Any]) -> Any:
    from abmarl import examples

    return getattr(examples, builder)(**parameters)


for _name, _one in SHIPPED.items():
    if _name not in gymnasium.registry:
        gymnasium.register(
            _name,
            entry_point=f"{__name__}:make_env",
            vector_entry_point=f"{__name__}:make_vector_env" if _one.vectorised else None,
            max_episode_steps=_one.max_episode_steps,
            kwargs={"builder": _one.builder, **_one.parameters},
        )
