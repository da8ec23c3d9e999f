"""A game: one world in which people act for some agents and policies for the others."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from abmarl.rollout.columns import Rollout
from abmarl.rollout.file import versions
from abmarl.rollout.pilot import WAIT, Order, Pilot, place_of
from abmarl.rollout.policies import bind_policies, choose_actions
from abmarl.rollout.sinks import ColumnSink, EpisodeSink


class Result(NamedTuple):
    """What came of an episode.

    Attributes:
        steps: how many.
        ended: whether it was played to its end.
        agents: id -> the rewards of an agent that people act for.
        groups: group -> the rewards of all its agents.
    """

    steps: int
    ended: bool
    agents: dict[str, float]
    groups: dict[str, float]


class Game:
    """Plays episodes of one world, one after the other, and remembers them.

    An episode that has ended stays as it ended until the next one is started.

    Args:
        vec: a vectorised simulation of one world with ``autoreset=False`` and ``copy=True``.
        people: the ids of the agents that people act for.
        policies: as `abmarl.rollout.collect` takes them, for all other agents.

    Attributes:
        pilots: id -> `Pilot` of the agents that people act for.
        over: whether the episode has ended.
        num_steps: steps of all episodes.

    Raises:
        ValueError: There is no such agent, group or policy, or an agent cannot be played.
    """

    def __init__(self, vec: Any, people: Sequence[str], policies: Any = None):
        if vec.num_envs != 1 or vec.autoreset or not vec.copy:
            raise ValueError("a game needs vectorize(num_envs=1, autoreset=False, copy=True)")
        self.vec = vec
        self.pilots = {name: Pilot(vec, name) for name in people}
        self._policies = bind_policies(vec, policies)
        self._memory = _Memory(vec)
        self._results: list[Result] = []
        self.over = False
        self.start()

    @property
    def results(self) -> list[Result]:
        """What came of all episodes, the one under way with them once it has a step."""
        if self.over or not self.vec.episodes.length[0]:
            return list(self._results)
        return [*self._results, self._result()]

    @property
    def num_steps(self) -> int:
        """Steps of all episodes."""
        return len(self._memory.steps)

    def start(self) -> None:
        """Start an episode.

        Raises:
            ValueError: One is under way.
        """
        if self.num_steps and not self.over:
            raise ValueError("the episode has not ended yet")
        self._observations, self._infos = self.vec.reset()
        self._memory.start(self._observations, self._infos)
        self.over = False

    def acts(self, agent_id: str) -> bool:
        """Whether an agent that people act for is to act next."""
        pilot = self.pilots[agent_id]
        return not self.over and bool(self._infos["active"][pilot.group][0, pilot.place])

    def play(self, orders: Mapping[str, Order]) -> None:
        """Do a step.

        Args:
            orders: id -> what the agent is to do, of those that people act for; others wait.

        Raises:
            ValueError: The episode has ended.
        """
        if self.over:
            raise ValueError("the episode has ended: start another one")
        active = self._infos["active"]
        chosen = choose_actions(self.vec, self._policies, self._observations, active)
        actions = {
            name: {key: np.array(value) for key, value in channels.items()}
            for name, channels in chosen.items()
        }
        for name, pilot in self.pilots.items():
            for key, entry in pilot.action(orders.get(name, WAIT)).items():
                actions[pilot.group][key][0, pilot.place] = entry
        result = self.vec.step(actions)
        self._memory.add(actions, result)
        self._observations, self._infos = result[0], result[-1]
        self.over = bool(self._infos["ended"][0])
        if self.over:
            self._results.append(self._result())

    def score(self, agent_id: str) -> float:
        """The rewards of an agent in the episode so far."""
        group, place = place_of(self.vec, agent_id)
        return float(self.vec.episodes.returns[0, self.vec.groups[group].slots[place]])

    def scores(self) -> dict[str, float]:
        """group -> the rewards of all its agents in the episode so far."""
        returns = self.vec.episodes.returns[0]
        return {name: float(returns[one.slots].sum()) for name, one in self.vec.groups.items()}

    def _result(self) -> Result:
        agents = {name: self.score(name) for name in self.pilots}
        return Result(int(self.vec.episodes.length[0]), self.over, agents, self.scores())

    def rollout(self, name: str) -> Rollout:
        """All that was played, as `abmarl.rollout.collect` would have returned it.

        Ends the episode under way for good: nothing can be played afterwards.

        Args:
            name: what to call the simulation.

        Raises:
            ValueError: Nothing was played.
        """
        if not self.num_steps:
            raise ValueError("nothing was played")
        if self.over:
            # What the world would have shown next, had it gone on at once.
            self.start()
        self.over = True
        return self._memory.rollout(name)


class _Memory:
    """The steps of a game, from which columns are made at the end, when their number is known."""

    def __init__(self, vec: Any):
        self.vec = vec
        self.steps: list[tuple[dict, dict, list]] = []
        self._table = EpisodeSink(vec)
        self._first: tuple[dict, dict] | None = None
        self._infos: dict = {}

    def start(self, observations: dict, infos: dict) -> None:
        """An episode has begun."""
        if self._first is None:
            self._first = observations, infos
            self._table.start(observations, infos)
        else:
            # In a rollout the step that ends an episode shows the beginning of the next one.
            self.steps[-1][2][0] = observations
        self._infos = infos

    def add(self, actions: dict, result: tuple) -> None:
        """A step was done."""
        self._table.after(len(self.steps), actions, result)
        self.steps.append((self._infos, actions, list(result)))
        self._infos = result[-1]

    def rollout(self, name: str) -> Rollout:
        """The columns."""
        vec, count = self.vec, len(self.steps)
        columns = ColumnSink(vec, count)
        columns.start(*self._first)
        for step, (before, actions, result) in enumerate(self.steps):
            columns.before(step, before)
            columns.after(step, actions, tuple(result))
        return columns.finish(
            count,
            episodes=self._table.finish(count),
            seed=vec.seed,
            continued=False,
            horizon=vec.horizon,
            order=vec.order,
            simulation=name,
            interrupted=False,
            versions=versions(),
        )
