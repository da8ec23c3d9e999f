"""What OpenSpiel wants to know of spaces, and which ones it can hold."""

from collections.abc import Mapping
from typing import Any

from gymnasium.spaces import Discrete

from abmarl.sim.agent_based_simulation import PrincipleAgent
from abmarl.sim.conversion import MOST_CHOICES


def check_spaces(agent: PrincipleAgent, one_hot: bool) -> None:
    """Refuse an agent that OpenSpiel cannot hold.

    Raises:
        TypeError: a space is not `Discrete`, or actions do not count from 0.
        ValueError: there are too many actions, or observations that are to be one-hot.
    """
    for side in ("observation", "action"):
        space = getattr(agent, f"{side}_space")
        if not isinstance(space, Discrete) or (side == "action" and space.start != 0):
            raise TypeError(
                f"OpenSpiel needs Discrete spaces, with actions from 0, and agent {agent.id!r} has "
                f"{side}_space {space!r:.120};\n"
                f"wrap the simulation in a RavelDiscreteWrapper, and where windows of the grid "
                f"have too many points for that, observe with AbsolutePositionObserver"
            )
        if space.n > MOST_CHOICES and (side == "action" or one_hot):
            raise ValueError(
                f"agent {agent.id!r} has {space.n} {side}s and OpenSpiel wants them listed; "
                f"{MOST_CHOICES} are the most"
            )


def observation_spec(learners: Mapping[str, PrincipleAgent], one_hot: bool) -> dict[str, Any]:
    """Shapes of observations: large enough for every agent, and by agent id."""
    sizes = {
        agent_id: (agent.observation_space.n if one_hot else 1, agent.action_space.n)
        for agent_id, agent in learners.items()
    }
    largest = tuple(map(max, zip(*sizes.values(), strict=True)))
    specs = {
        key: {"info_state": (int(seen),), "legal_actions": (int(acts),), "current_player": ()}
        for key, (seen, acts) in {None: largest, **sizes}.items()
    }
    return {**specs.pop(None), **specs}


def action_spec(learners: Mapping[str, PrincipleAgent]) -> dict[str, Any]:
    """Bounds of actions: wide enough for every agent, and by agent id."""
    counts = {agent_id: int(agent.action_space.n) for agent_id, agent in learners.items()}
    specs = {
        key: {"num_actions": count, "min": 0, "max": count - 1, "dtype": int}
        for key, count in {None: max(counts.values()), **counts}.items()
    }
    return {**specs.pop(None), **specs}


def one_hot(space: Discrete, point: int) -> list[float]:
    """A float per point of a space, 1 for the one that is given."""
    state = [0.0] * int(space.n)
    state[int(point) - int(space.start)] = 1.0
    return state
