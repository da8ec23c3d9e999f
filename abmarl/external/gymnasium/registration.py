"""The shipped simulations with one learning agent, by names that `gymnasium.make` knows."""

from typing import Any, NamedTuple

import gymnasium
from gymnasium.vector import AutoresetMode

from abmarl.external.gymnasium.vector_env import GymnasiumVectorEnv
from abmarl.external.gymnasium.wrapper import GymnasiumWrapper
from abmarl.external.rendering import METADATA


class Shipped(NamedTuple):
    """A simulation to register.

    Attributes:
        builder: name of the function or class in `abmarl.examples` that makes it.
        max_episode_steps: steps after which an episode is truncated.
        vectorised: whether it can be vectorised.
        parameters: what differs from the builder's own defaults.
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


def register_shipped() -> None:
    """Register everything in `SHIPPED` that is not registered yet."""
    for name, one in SHIPPED.items():
        if name not in gymnasium.registry:
            gymnasium.register(
                name,
                entry_point=f"{__name__}:make_env",
                vector_entry_point=f"{__name__}:make_vector_env" if one.vectorised else None,
                max_episode_steps=one.max_episode_steps,
                kwargs={"builder": one.builder, **one.parameters},
            )


def make_env(builder: str, render_mode: str | None = None, **parameters: Any) -> GymnasiumWrapper:
    """What `gymnasium.make` calls.

    Args:
        builder: name of the function or class in `abmarl.examples` that makes the simulation.
        render_mode: see `GymnasiumWrapper`.
        **parameters: for the builder.
    """
    return GymnasiumWrapper(_built(builder, parameters), render_mode)


# Where Gymnasium looks before it calls: it draws in a window what can be had as an array.
make_env.metadata = METADATA


def make_vector_env(
    builder: str, num_envs: int, max_episode_steps: int | None = None,
    autoreset_mode: AutoresetMode | str = AutoresetMode.SAME_STEP, render_mode: str | None = None,
    action_masks: bool = False, statistics: bool = False, copy: bool = True,
    num_threads: int | None = None, **parameters: Any,
) -> GymnasiumVectorEnv:  # fmt: skip
    """What `gymnasium.make_vec` calls.

    Args:
        builder: name of the function in `abmarl.examples` that makes the simulation.
        num_envs: how many worlds.
        max_episode_steps: steps after which an episode is truncated; None or -1: never.
        autoreset_mode, render_mode, action_masks, statistics, copy: see `GymnasiumVectorEnv`.
        num_threads: see `sim.vectorize`.
        **parameters: for the builder.
    """
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
