"""A game: one world in which people act for some agents and policies for the others."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from abmarl.rollout.columns import Rollout
from abmarl.rollout.pilot import WAIT, Order, Pilot, place_of
from abmarl.rollout.policies import bind_policies, choose_actions
from abmarl.rollout.sinks import ColumnSink, EpisodeSink


class Result(NamedTuple):
    """The result of an episode of a game.

    Attributes:
        steps: Its length.
        ended: Whether it was played to its end.
        agents: id -> the rewards of an agent that people act for.
        groups: group -> the rewards of all its agents.
    """

    steps: int
    ended: bool
    agents: dict[str, float]
    groups: dict[str, float]


class Game:
    """Episodes of one world, played one after the other and recorded.

    An episode that has ended stays as it ended until the next one is started.

    Args:
        vec: A vectorised simulation of one world with ``autoreset=False`` and ``copy=True``.
        people: The ids of the agents that people act for.
        policies: As `abmarl.rollout.collect` takes them, for all other agents.

    Attributes:
        pilots: id -> `Pilot` of the agents that people act for.
        over: Whether the episode has ended.
        num_steps: Steps of all episodes.

    Raises:
        ValueError: When there is no such agent, group or policy, or an agent cannot be played.
    """

    def __init__(self, vec: Any, people: Sequence[str], policies: Any = None) -> None:
        if vec.num_envs != 1 or vec.autoreset or not vec.copy:
            raise ValueError("a game needs vectorize(num_envs=1, autoreset=False, copy=True)")
        self.vec = vec
        self.pilots = {name: Pilot(vec, name) for name in people}
        self._policies = bind_policies(vec, policies)
        self._results: list[Result] = []
        # From the steps (infos before, actions, result) columns are made at the end, when their
        # number is known.
        self._steps: list[tuple[dict, dict, list]] = []
        self._table = EpisodeSink(vec)
        self._first: tuple[Any, ...] = ()
        self.over = False
        self.start()

    @property
    def results(self) -> list[Result]:
        """The results of all episodes, with the one under way once it has a step."""
        if self.over or not self.vec.episodes.length[0]:
            return list(self._results)
        return [*self._results, self._result()]

    @property
    def num_steps(self) -> int:
        """Steps of all episodes."""
        return len(self._steps)

    def start(self) -> None:
        """Start an episode.

        Raises:
            ValueError: When one is under way.
        """
        if self.num_steps and not self.over:
            raise ValueError("the episode has not ended yet")
        self._observations, self._infos = self.vec.reset()
        if not self._first:
            self._first = self._observations, self._infos
            self._table.start(*self._first)
        else:
            # In a rollout the step that ends an episode shows the beginning of the next one.
            self._steps[-1][2][0] = self._observations
        self.over = False

    def acts(self, agent_id: str) -> bool:
        """Return whether an agent that people act for is to act next."""
        pilot = self.pilots[agent_id]
        return not self.over and bool(self._infos["active"][pilot.group][0, pilot.place])

    def play(self, orders: Mapping[str, Order]) -> None:
        """Do a step.

        Args:
            orders: id -> what an agent that people act for is to do; the others wait.

        Raises:
            ValueError: When the episode has ended.
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
        self._table.after(self.num_steps, actions, result)
        self._steps.append((self._infos, actions, list(result)))
        self._observations, self._infos = result[0], result[-1]
        self.over = bool(self._infos["ended"][0])
        if self.over:
            self._results.append(self._result())

    def score(self, agent_id: str) -> float:
        """Return the rewards of an agent in the episode so far."""
        group, place = place_of(self.vec, agent_id)
        return float(self.vec.episodes.returns[0, self.vec.groups[group].slots[place]])

    def scores(self) -> dict[str, float]:
        """Return the rewards of each group in the episode so far, by name."""
        returns = self.vec.episodes.returns[0]
        return {name: float(returns[one.slots].sum()) for name, one in self.vec.groups.items()}

    def _result(self) -> Result:
        agents = {name: self.score(name) for name in self.pilots}
        return Result(int(self.vec.episodes.length[0]), self.over, agents, self.scores())

    def rollout(self, name: str) -> Rollout:
        """Return all that was played, as `abmarl.rollout.collect` would have returned it.

        Ends the episode under way for good: nothing can be played afterwards.

        Args:
            name: What to call the simulation.

        Raises:
            ValueError: When nothing was played.
        """
        if not self.num_steps:
            raise ValueError("nothing was played")
        if self.over:
            # What the world would have shown next, had it gone on at once.
            self.start()
        self.over = True
        columns = ColumnSink(self.vec, self.num_steps)
        columns.start(*self._first)
        for step, (before, actions, result) in enumerate(self._steps):
            columns.before(step, before)
            columns.after(step, actions, tuple(result))
        return columns.finish(
            self.num_steps,
            episodes=self._table.finish(self.num_steps),
            seed=self.vec.seed,
            simulation=name,
        )
