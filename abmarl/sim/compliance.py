"""Whether a simulation keeps to the rules that managers, trainers and wrappers rely on."""

import copy
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, NoReturn

import numpy as np
from gymnasium import spaces
from gymnasium.spaces import Space

from abmarl.sim.agent_based_simulation import AgentBasedSimulation, _check_agents, is_agent
from abmarl.sim.layout import SpaceLayout
from abmarl.sim.spaces import contains, is_given

# How many worlds of a vectorised simulation are compared with the single one.
_WORLDS = 2


class Checked(NamedTuple):
    """What `check_simulation` has tried.

    Attributes:
        steps: number of steps played.
        episodes: number of episodes begun.
        vector_steps: number of steps compared with those of a vectorised simulation; 0 for
            simulations that have none.
    """

    steps: int
    episodes: int
    vector_steps: int


def check_simulation(
    sim: AgentBasedSimulation, num_steps: int = 100, seed: int = 0, seeded: bool = True
) -> Checked:
    """Play with a simulation and check that it keeps to the rules.

    Checked are the agents, their spaces and null points; that random actions, given by all agents
    at once and by one after the other, are accepted and left as they are; that observations lie
    in their spaces and do not change once they were handed out; that rewards are finite and read
    once; that agents which are done stay done; that getters return what they should and `reset`
    and `step` nothing; that equal seeds and actions give equal episodes; and, where the simulation
    can be vectorised, that its worlds do just what the single simulation does.

    Args:
        sim: the simulation. It is played with, and left in the middle of some episode.
        num_steps: how many steps each of the plays takes.
        seed: seed of the episodes and the actions, an int >= 0.
        seeded: whether equal seeds are to give equal episodes. Say False for a simulation that is
            not meant to: then its `reset` gets no seed.

    Returns:
        How much was tried.

    Raises:
        TypeError: `sim` is no simulation, or something has a wrong type.
        ValueError: a rule is broken. The message says which, by whom, and in which step.
    """
    if not isinstance(sim, AgentBasedSimulation):
        hint = "; check its .sim" if hasattr(sim, "sim") else ""
        raise TypeError(f"check_simulation takes an AgentBasedSimulation, got {shown(sim)}{hint}")
    for name, value, least in (("num_steps", num_steps, 1), ("seed", seed, 0)):
        if isinstance(value, bool) or not isinstance(value, int) or value < least:
            raise ValueError(f"{name} must be an int of {least} or more, got {value!r:.60}")
    finding = Finding(sim)
    learning = check_agents(finding)
    play = _Play(finding, learning, seed, seeded)
    record = play.run(num_steps)
    if seeded:
        play.repeat(record)
    play.run(num_steps, one_by_one=True)
    compared = check_vectorised(finding, learning, min(num_steps, 50), seed) if seeded else 0
    return Checked(finding.tried, finding.episode, compared)


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
        """Call a method of the simulation; a failure becomes an error that tells where it was.

        Raises:
            ValueError: the method failed.
        """
        try:
            return function(*args, **kwargs)
        except Exception as error:
            self.refuse(f"{what} failed with {type(error).__name__}: {error}", cause=error)

    def obs(self, agent_id: str) -> Any:
        """Return the agent's observation, checked to lie in its space."""
        obs = self.call(f"get_obs({agent_id!r})", self.sim.get_obs, agent_id)
        space = self.sim.agents[agent_id].observation_space
        reason = why_outside(space, obs, f"the observation of {agent_id!r}")
        if reason:
            self.refuse(reason)
        return obs

    def reward(self, agent_id: str) -> Any:
        """Return the agent's reward, checked to be a finite number that is 0 when read again."""
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
        """Return whether the agent is done, checked to be a bool."""
        what = f"get_done({agent_id!r})"
        return self._truth(what, lambda: self.call(what, self.sim.get_done, agent_id))

    def all_done(self) -> bool:
        """Return whether the simulation is done, checked to be a bool."""
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


class _Play:
    """Plays episodes one after the other and looks at everything that comes of it."""

    def __init__(self, finding: Finding, learning: list[str], seed: int, seeded: bool) -> None:
        self.finding, self.learning, self.seed, self.seeded = finding, learning, seed, seeded
        self.sim = finding.sim
        self.ids = list(self.sim.agents)
        self.done: set[str] = set()
        # What was handed out last, and a copy of it.
        self.handed_out: dict[str, tuple[Any, Any]] = {}

    def run(self, num_steps: int, one_by_one: bool = False) -> list[tuple]:
        """Play with random actions.

        Returns:
            The actions and what came of them, step by step; None stands for the actions of a
            reset.
        """
        spaces = seeded_spaces(self.sim, self.learning, self.seed)
        record: list[tuple] = [(None, self.start(first=True))]
        turn = 0
        for number in range(num_steps):
            live = self.next_agents()
            if one_by_one:
                turn += 1
                live = [live[turn % len(live)]]
            actions = {}
            for agent_id in live:
                null = given_null(self.sim.agents[agent_id], "action")
                # In the first step everybody does nothing, where there is an action for it.
                use_null = number == 0 and null is not None
                actions[agent_id] = copy.deepcopy(null) if use_null else spaces[agent_id].sample()
            record.append((actions, self.step(actions)))
            if record[-1][1]["all_done"] or len(self.done) == len(self.learning):
                record.append((None, self.start()))
        return record

    def repeat(self, record: list[tuple]) -> None:
        """Play the same actions from the same seed and compare what comes of them."""
        # Rewards that nobody reads belong to the old episode: the new one must not report them.
        live = self.next_agents()
        spaces = seeded_spaces(self.sim, self.learning, self.seed + 1)
        actions = {agent_id: spaces[agent_id].sample() for agent_id in live}
        self.finding.call("step", self.sim.step, actions)
        for number, (actions, before) in enumerate(record):
            now = self.start(first=not number) if actions is None else self.step(actions)
            for name in before:
                reason = difference(before[name], now[name], name)
                if reason:
                    self.finding.refuse(
                        f"two runs with seed {self.seed} and the same actions differ: {reason}; "
                        f"draw from a stream that reset(seed=...) starts, and set everything again"
                    )

    def start(self, first: bool = False) -> dict[str, Any]:
        """Reset the simulation and return observations and dones."""
        finding = self.finding
        finding.episode += 1
        finding.step = 0
        kwargs = {"seed": self.seed} if first and self.seeded else {}
        what = f"reset({', '.join(f'{key}={value}' for key, value in kwargs.items())})"
        self.handed_out = {}
        self.nothing(what, finding.call(what, self.sim.reset, **kwargs))
        obs = self.look(self.learning)
        dones = {agent_id: finding.done(agent_id) for agent_id in self.learning}
        self.done = {agent_id for agent_id, done in dones.items() if done}
        over = finding.all_done()
        if over or len(self.done) == len(self.learning):
            finding.refuse(
                f"{'the simulation' if over else 'every agent'} is done before the first step; "
                f"reset must start a new episode"
            )
        return {"observations": obs, "dones": dones}

    def step(self, actions: dict[str, Any]) -> dict[str, Any]:
        """Step the simulation and return what its getters say of the agents not done before."""
        finding = self.finding
        finding.tried += 1
        finding.step += 1
        given = copy.deepcopy(actions)
        live = [agent_id for agent_id in self.learning if agent_id not in self.done]
        try:
            returned = self.sim.step(given)
        except Exception as error:
            finding.refuse(
                f"step({shown(actions)[5:]}) failed with {type(error).__name__}: {error}; "
                f"every point of an agent's action space must be accepted",
                cause=error,
            )
        self.nothing("step", returned)
        if list(given) != list(actions) or difference(actions, given, "action_dict"):
            finding.refuse("step changes the dict of actions that it is given; copy it first")
        if list(self.sim.agents) != self.ids:
            finding.refuse("the ids of the agents have changed; let agents be inactive instead")
        found: dict[str, Any] = {
            "observations": self.look(live),
            "rewards": {agent_id: finding.reward(agent_id) for agent_id in live},
            "dones": {agent_id: finding.done(agent_id) for agent_id in self.learning},
            "all_done": finding.all_done(),
        }
        for agent_id in live:
            finding.info(agent_id)
        for agent_id in self.done:
            if not found["dones"][agent_id]:
                finding.refuse(f"agent {agent_id!r} was done before and is not done any more")
        self.done = {agent_id for agent_id, done in found["dones"].items() if done}
        return found

    def next_agents(self) -> list[str]:
        """Return who acts next: the agents not done, or those that the simulation names."""
        live = [agent_id for agent_id in self.learning if agent_id not in self.done]
        named = getattr(self.sim, "next_agent", None)
        if named is None:
            return live
        named = [named] if isinstance(named, str) else list(named)
        chosen = [agent_id for agent_id in live if agent_id in named]
        if not chosen:
            self.finding.refuse(
                f"next_agent names {named!r:.200}, none of whom can act; name one that is not done"
            )
        return chosen

    def look(self, agent_ids: list[str]) -> dict[str, Any]:
        """Return observations, and check that those handed out before are as they were."""
        before, self.handed_out = self.handed_out, {}
        for agent_id in agent_ids:
            obs = self.finding.obs(agent_id)
            self.handed_out[agent_id] = obs, copy.deepcopy(obs)
        for handed_out in (before, self.handed_out):
            for agent_id, (obs, kept) in handed_out.items():
                if difference(kept, obs, "observation"):
                    self.finding.refuse(
                        f"the observation that get_obs({agent_id!r}) has returned before has "
                        f"changed since then; return a copy"
                    )
        return {agent_id: kept for agent_id, (_, kept) in self.handed_out.items()}

    def nothing(self, what: str, returned: Any) -> None:
        """Check that a method has returned nothing."""
        if returned is not None:
            self.finding.refuse(
                f"{what} must return nothing, got {shown(returned)}; "
                f"what it has to say is asked for with the getters",
                TypeError,
            )


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
    sim: Any = finding.sim
    try:
        vec = sim.vectorize(_WORLDS, seed=seed, copy=True)
    except TypeError:
        return 0  # written for single worlds, which is nothing wrong
    except AttributeError as error:
        if error.name != "vectorize":
            raise
        return 0  # this one, or one that it wraps, is no grid world
    members = {
        agent_id: (name, number)
        for name, group in vec.groups.items()
        for number, agent_id in enumerate(group.agent_ids)
    }
    if not _act_in_order(vec.groups, [members[agent_id] for agent_id in learning]):
        return 0
    obs, _ = finding.call("vectorize(...).reset", vec.reset)
    record: list[tuple] = [(None, obs)]
    for _ in range(num_steps):
        actions = vec.sample_actions()
        record.append((actions, finding.call("vectorize(...).step", vec.step, actions)))
    for world in range(_WORLDS):
        _SingleWorld(finding, learning, members, world).run(record, seed)
    return num_steps


def _act_in_order(groups: dict, members: list[tuple[str, int]]) -> bool:
    """Return whether these members of groups, in this order, act in the order of all agents."""
    slots = [
        groups[name].slots.reshape(len(groups[name].agent_ids), -1)[number]
        for name, number in members
    ]
    return bool((np.diff(np.concatenate(slots)) > 0).all())


class _SingleWorld:
    """One world of a vectorised simulation, played again with the single simulation."""

    def __init__(self, finding: Finding, learning: list[str], members: dict, world: int) -> None:
        self.finding, self.learning, self.members, self.world = finding, learning, members, world
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
            name, number = self.members[agent_id]
            single = self.finding.obs(agent_id)
            space = self.sim.agents[agent_id].observation_space
            self.same_points(space, obs[name], number, single, f"the observation of {agent_id!r}")

    def action(self, agent_id: str, actions: dict) -> Any:
        """Return one agent's action in the form of its space."""
        name, number = self.members[agent_id]
        return self.point(self.sim.agents[agent_id].action_space, actions[name], number)

    def point(self, space: Any, batch: Any, number: int) -> Any:
        """Return one agent's point of a batch: an array, or a dict or tuple of batches."""
        if isinstance(batch, dict):
            return {key: self.point(space[key], batch[key], number) for key in batch}
        if isinstance(batch, tuple):
            return tuple(self.point(space[i], one, number) for i, one in enumerate(batch))
        return SpaceLayout(space).point(batch[self.world, number].reshape(-1))

    def same_points(self, space: Any, batch: Any, number: int, expected: Any, what: str) -> None:
        """Compare one agent's point in a batch with that of the single simulation."""
        if isinstance(batch, (dict, tuple)):
            for key in batch if isinstance(batch, dict) else range(len(batch)):
                self.same_points(space[key], batch[key], number, expected[key], f"{what}[{key!r}]")
            return
        found, value = batch[self.world, number].reshape(-1), SpaceLayout(space).read(expected)[0]
        if not np.array_equal(found, value):
            self.refuse(what, found, value)

    def same(self, what: str, agent_id: str, found: dict, expected: Any) -> None:
        """Compare one value of one agent."""
        name, number = self.members[agent_id]
        value = found[name][self.world, number]
        if value != expected:
            self.refuse(f"{what} of {agent_id!r}", value, expected)

    def refuse(self, what: str, found: Any, expected: Any) -> None:
        """Say what differs."""
        self.finding.refuse(
            f"world {self.world} of the vectorised simulation is not the single one: {what} is "
            f"{_short(found)} there and {_short(expected)} in the single simulation"
        )


def given_null(agent: Any, side: str) -> Any:
    """Return the agent's null action or null observation, None when it has none."""
    null = getattr(agent, f"null_{side}", None)
    return null if is_given(null) else None


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
        one: numbers, arrays, dicts and sequences, nested.
        other: the same.
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
    """Return a short text of a value with its type."""
    plain = value.item() if isinstance(value, np.generic) else value
    text = " ".join(repr(plain).split())
    return f"{type(value).__name__} {text:.120}"


def seeded_spaces(sim: AgentBasedSimulation, agent_ids: list[str], seed: int) -> dict[str, Space]:
    """Return copies of the agents' action spaces, so that sampling leaves those of the agents."""
    found = {agent_id: copy.deepcopy(sim.agents[agent_id].action_space) for agent_id in agent_ids}
    for number, space in enumerate(found.values()):
        space.seed(seed + number)
    return found


def _short(value: Any) -> str:
    return f"{' '.join(str(value).split()):.120}"
