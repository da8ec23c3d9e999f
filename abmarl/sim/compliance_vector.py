"""Whether the worlds of a vectorised simulation do what the single simulation does."""

from typing import Any

import numpy as np
from gymnasium import spaces
from gymnasium.spaces import Space

from abmarl.sim.compliance_rules import Finding

_WORLDS = 2


def check_vectorised(finding: Finding, learning: list[str], num_steps: int, seed: int) -> int:
    """Play vectorised worlds with random actions, and each again as a single simulation.

    Args:
        finding: where the checks are.
        learning: ids of the agents that observe and act.
        num_steps: how many steps.
        seed: seed of the worlds.

    Returns:
        The number of steps; 0 when the simulation cannot be vectorised, or when its agents are
        super agents who cannot take their turns in the order in which vectorised agents do.

    Raises:
        ValueError: they differ.
    """
    try:
        vec = finding.sim.vectorize(_WORLDS, seed=seed, copy=True)
    except TypeError:
        return 0  # written for single worlds, which is nothing wrong
    except AttributeError as error:
        if error.name != "vectorize":
            raise
        return 0  # this one, or one that it wraps, is no grid world
    seats = {
        agent_id: (name, number)
        for name, group in vec.groups.items()
        for number, agent_id in enumerate(group.agent_ids)
    }
    if not _act_in_order(vec.groups, [seats[agent_id] for agent_id in learning]):
        return 0
    obs, _ = finding.call("vectorize(...).reset", vec.reset)
    record: list[tuple] = [(None, obs)]
    for _ in range(num_steps):
        actions = vec.sample_actions()
        record.append((actions, finding.call("vectorize(...).step", vec.step, actions)))
    for world in range(_WORLDS):
        _Replay(finding, learning, seats, world).run(record, seed)
    return num_steps


def _act_in_order(groups: dict, seats: list[tuple[str, int]]) -> bool:
    """Whether agents at these seats, one after the other, act in the order of all agents."""
    slots = [
        groups[name].slots.reshape(len(groups[name].agent_ids), -1)[number]
        for name, number in seats
    ]
    return bool((np.diff(np.concatenate(slots)) > 0).all())


class _Replay:
    """One world, played again with the single simulation."""

    def __init__(self, finding: Finding, learning: list[str], seats: dict, world: int) -> None:
        self.finding, self.learning, self.seats, self.world = finding, learning, seats, world
        self.sim = finding.sim
        self.live: list[str] = []

    def run(self, record: list[tuple], seed: int) -> None:
        """Play the recorded actions and compare.

        Raises:
            ValueError: something is not as it was.
        """
        self.start(record[0][1], seed=(seed, self.world))
        for actions, (obs, rewards, terminated, truncated, infos) in record[1:]:
            self.finding.tried += 1
            self.finding.step += 1
            acted = list(self.live)
            chosen = {agent_id: self.action(agent_id, actions) for agent_id in acted}
            self.finding.call("step", self.sim.step, chosen)
            over = self.finding.all_done()
            for agent_id in self.learning:
                self.same("reward", agent_id, rewards, self.finding.reward(agent_id))
                done = agent_id in acted and (over or self.finding.done(agent_id))
                self.same("terminated", agent_id, terminated, done)
                self.same("truncated", agent_id, truncated, False)
                if done:
                    self.live.remove(agent_id)
            ended = over or not self.live
            if infos["ended"][self.world] != ended:
                self.refuse("ended", infos["ended"][self.world], ended)
            self.see(infos["final_obs"] if ended else obs)
            if ended:
                self.start(obs)

    def start(self, obs: dict, **kwargs: Any) -> None:
        """Begin an episode and compare the observations."""
        self.finding.episode += 1
        self.finding.step = 0
        self.finding.call("reset", self.sim.reset, **kwargs)
        self.live = list(self.learning)
        self.see(obs)

    def see(self, obs: dict) -> None:
        """Compare all observations, channel by channel."""
        for agent_id in self.learning:
            name, number = self.seats[agent_id]
            single = self.finding.obs(agent_id)
            space = self.sim.agents[agent_id].observation_space
            self.same_parts(space, obs[name], number, single, f"the observation of {agent_id!r}")

    def action(self, agent_id: str, actions: dict) -> Any:
        """One agent's action in the form of its space."""
        name, number = self.seats[agent_id]
        return self.part(self.sim.agents[agent_id].action_space, actions[name], number)

    def part(self, space: Space, batch: Any, number: int) -> Any:
        """One agent's point in a batch, which is an array or a dict or tuple of batches."""
        if isinstance(batch, dict):
            return {key: self.part(space[key], batch[key], number) for key in batch}
        if isinstance(batch, tuple):
            return tuple(self.part(space[i], one, number) for i, one in enumerate(batch))
        return point(space, batch[self.world, number].reshape(-1))

    def same_parts(self, space: Space, batch: Any, number: int, expected: Any, what: str) -> None:
        """Compare one agent's point in a batch with that of the single simulation."""
        if isinstance(batch, (dict, tuple)):
            for key in batch if isinstance(batch, dict) else range(len(batch)):
                self.same_parts(space[key], batch[key], number, expected[key], f"{what}[{key!r}]")
            return
        found, value = batch[self.world, number].reshape(-1), entries(space, expected)
        if not np.array_equal(found, value):
            self.refuse(what, found, value)

    def same(self, what: str, agent_id: str, found: dict, expected: Any) -> None:
        """Compare one value of one agent."""
        name, number = self.seats[agent_id]
        value = found[name][self.world, number]
        if value != expected:
            self.refuse(f"{what} of {agent_id!r}", value, expected)

    def refuse(self, what: str, found: Any, expected: Any) -> None:
        """Say what differs."""
        self.finding.refuse(
            f"world {self.world} of the vectorised simulation is not the single one: {what} is "
            f"{_short(found)} there and {_short(expected)} in the single simulation"
        )


def point(space: Space, numbers: np.ndarray) -> Any:
    """The point of a space whose entries, side by side, are the numbers."""
    if isinstance(space, spaces.Dict):
        sizes = [_size(part) for part in space.spaces.values()]
        parts = np.split(numbers, np.cumsum(sizes)[:-1])
        return {
            key: point(part, piece)
            for (key, part), piece in zip(space.spaces.items(), parts, strict=True)
        }
    if not space.shape:
        return numbers[0].item()
    return numbers.reshape(space.shape).astype(space.dtype)


def entries(space: Space, value: Any) -> np.ndarray:
    """The entries of a point of a space, side by side."""
    if isinstance(space, spaces.Dict):
        return np.concatenate([entries(part, value[key]) for key, part in space.spaces.items()])
    return np.asarray(value).reshape(-1)


def _size(space: Space) -> int:
    if isinstance(space, spaces.Dict):
        return sum(map(_size, space.spaces.values()))
    return int(np.prod(space.shape, dtype=int))


def _short(value: Any) -> str:
    return f"{' '.join(str(value).split()):.120}"
