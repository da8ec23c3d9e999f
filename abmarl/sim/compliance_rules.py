"""What `check_simulation` looks at one by one: agents, points, rewards; and where it found it."""

import copy
from collections.abc import Mapping, Sequence
from typing import Any, NoReturn

import numpy as np
from gymnasium import spaces
from gymnasium.spaces import Space

from abmarl.sim.agent_based_simulation import AgentBasedSimulation, _check_agents, is_agent
from abmarl.sim.spaces import contains


class Finding:
    """Where in the play of a simulation the checks are, for their messages.

    Args:
        sim: the simulation.

    Attributes:
        tried: number of steps so far.
        episode: number of the episode, 0 before the first reset.
        step: number of the step in the episode.
    """

    def __init__(self, sim: AgentBasedSimulation) -> None:
        self.sim = sim
        self.tried = self.episode = self.step = 0

    def refuse(self, what: str, error: type = ValueError, cause: Any = None) -> NoReturn:
        """Raise an error that says what is wrong and where.

        Raises:
            ValueError, TypeError: always.
        """
        where = "before the first reset"
        if self.episode:
            where = f"in step {self.step}" if self.step else "right after reset"
            where += f" of episode {self.episode}"
        steps = "1 step" if self.tried == 1 else f"{self.tried} steps"
        text = f"{type(self.sim).__name__}, {where} ({steps} tried): {what}"
        raise error(text) from cause

    def call(self, what: str, function: Any, *args: Any, **kwargs: Any) -> Any:
        """Call a method of the simulation; a failure is an error that says where it happened.

        Raises:
            ValueError: the method failed.
        """
        try:
            return function(*args, **kwargs)
        except Exception as error:
            self.refuse(f"{what} failed with {type(error).__name__}: {error}", cause=error)

    def obs(self, agent_id: str) -> Any:
        """The agent's observation, checked to lie in its space."""
        obs = self.call(f"get_obs({agent_id!r})", self.sim.get_obs, agent_id)
        space = self.sim.agents[agent_id].observation_space
        reason = why_outside(space, obs, f"the observation of {agent_id!r}")
        if reason:
            self.refuse(reason)
        return obs

    def reward(self, agent_id: str) -> float:
        """The agent's reward, checked to be a finite number that is 0 when read again."""
        what = f"get_reward({agent_id!r})"
        reward = self.call(what, self.sim.get_reward, agent_id)
        if isinstance(reward, (bool, np.bool_)) or not isinstance(
            reward, (int, float, np.integer, np.floating)
        ):
            self.refuse(f"{what} must be a number, got {shown(reward)}", TypeError)
        if not np.isfinite(reward):
            self.refuse(f"{what} must be finite, got {reward}")
        again = self.call(what, self.sim.get_reward, agent_id)
        if again != 0:
            self.refuse(
                f"{what} is {again!r:.60} when read a second time; reading a reward sets it to 0"
            )
        return reward

    def done(self, agent_id: str) -> bool:
        """Whether the agent is done, checked to be a bool."""
        what = f"get_done({agent_id!r})"
        return self._truth(what, lambda: self.call(what, self.sim.get_done, agent_id))

    def all_done(self) -> bool:
        """Whether the simulation is done, checked to be a bool."""
        what = "get_all_done()"
        return self._truth(what, lambda: self.call(what, self.sim.get_all_done))

    def _truth(self, what: str, ask: Any) -> bool:
        value, again = ask(), ask()
        for one in (value, again):
            if not isinstance(one, (bool, np.bool_)):
                self.refuse(f"{what} must be True or False, got {shown(one)}", TypeError)
        if value != again:
            self.refuse(f"{what} is {value}, and {again} when asked again")
        return bool(value)

    def info(self, agent_id: str) -> None:
        """Check that the agent's info is a dict."""
        info = self.call(f"get_info({agent_id!r})", self.sim.get_info, agent_id)
        if not isinstance(info, dict):
            self.refuse(
                f"get_info({agent_id!r}) must be a dict, got {shown(info)}; "
                f"return {{}} when there is nothing to say",
                TypeError,
            )


def check_agents(finding: Finding) -> list[str]:
    """Check the agents of a simulation, and their spaces and null points.

    Returns:
        The ids of the agents that both observe and act.

    Raises:
        TypeError, ValueError: something is wrong with them.
    """
    agents = finding.call("agents", lambda: finding.sim.agents)
    try:
        _check_agents(agents)
    except (TypeError, ValueError) as error:
        finding.refuse(str(error), type(error), error)
    for agent_id, agent in agents.items():
        if not agent.configured:
            finding.call("check_configured()", agent.check_configured)
            finding.refuse(f"agent {agent_id!r} is not configured")
        for side in ("action", "observation"):
            if not hasattr(agent, f"{side}_space"):
                continue
            space = getattr(agent, f"{side}_space")
            if not isinstance(space, Space):
                finding.refuse(
                    f"{side}_space of agent {agent_id!r} must be a gymnasium space, got "
                    f"{shown(space)}; call self.finalize() at the end of __init__",
                    TypeError,
                )
            null = given_null(agent, side)
            reason = null is not None and why_outside(space, null, f"null_{side} of {agent_id!r}")
            if reason:
                finding.refuse(reason)
    learning = [agent_id for agent_id, agent in agents.items() if is_agent(agent)]
    if not learning:
        finding.refuse("no agent both observes and acts, so there is nobody to play with")
    return learning


def given_null(agent: Any, side: str) -> Any:
    """The agent's null action or null observation; None when it has none."""
    null = getattr(agent, f"null_{side}", None)
    return None if isinstance(null, dict) and not null else null


def why_outside(space: Space, point: Any, name: str) -> str | None:
    """Say why a point does not lie in a space; None when it does.

    Args:
        space: a gymnasium space.
        point: anything.
        name: what the point is called in the answer.
    """
    if isinstance(space, spaces.Dict) and isinstance(point, Mapping):
        missing = [key for key in space.spaces if key not in point]
        surplus = [key for key in point if key not in space.spaces]
        if missing or surplus:
            return (
                f"{name} has the keys {list(point)!r:.200}, "
                f"its space has {list(space.spaces)!r:.200}"
            )
        parts = [(part, point[key], f"{name}[{key!r}]") for key, part in space.spaces.items()]
        return next(filter(None, (why_outside(*part) for part in parts)), None)
    if contains(space, point):
        return None
    shape = np.shape(point) if isinstance(point, np.ndarray) else None
    if shape is not None and space.shape is not None and shape != space.shape:
        return f"{name} has shape {shape}, its space {space.shape}: {space!r:.120}"
    return f"{name} is {shown(point)}, which does not lie in {space!r:.200}"


def difference(one: Any, other: Any, name: str) -> str | None:
    """Say in what two nested values differ; None when they are exactly equal.

    Args:
        one, other: numbers, arrays, dicts and sequences, nested.
        name: what the first is called in the answer.
    """
    if isinstance(one, Mapping) and isinstance(other, Mapping):
        if one.keys() != other.keys():
            return f"{name} has the keys {list(one)!r:.200} and {list(other)!r:.200}"
        parts = [(one[key], other[key], f"{name}[{key!r}]") for key in one]
        return next(filter(None, (difference(*part) for part in parts)), None)
    if _is_sequence(one) and _is_sequence(other):
        if len(one) != len(other):
            return f"{name} has {len(one)} and {len(other)} entries"
        parts = [(one[i], other[i], f"{name}[{i}]") for i in range(len(one))]
        return next(filter(None, (difference(*part) for part in parts)), None)
    left, right = np.asarray(one), np.asarray(other)
    nans = left.dtype.kind == right.dtype.kind == "f"
    if left.shape == right.shape and np.array_equal(left, right, equal_nan=nans):
        return None
    return f"{name} is {shown(one)} and {shown(other)}"


def _is_sequence(value: Any) -> bool:
    return isinstance(value, Sequence) and not isinstance(value, (str, bytes))


def shown(value: Any) -> str:
    """A short text of a value with its type."""
    plain = value.item() if isinstance(value, np.generic) else value
    text = " ".join(repr(plain).split())
    return f"{type(value).__name__} {text:.120}"


def seeded_spaces(sim: AgentBasedSimulation, agent_ids: list[str], seed: int) -> dict[str, Space]:
    """Copies of the agents' action spaces, to sample from without touching those of the agents."""
    found = {agent_id: copy.deepcopy(sim.agents[agent_id].action_space) for agent_id in agent_ids}
    for number, space in enumerate(found.values()):
        space.seed(seed + number)
    return found
