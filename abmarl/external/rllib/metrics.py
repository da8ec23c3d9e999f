"""Metrics of a batched env runner, under the names of RLlib's own."""

import math
import time
from typing import Any

import numpy as np
from ray.rllib.utils import metrics as names

from abmarl.rollout.episodes import team_names, teams_of

SURVIVORS, WIN_RATE = "survivors", "win_rate"


class SampleMetrics:
    """Counts steps of worlds and agents, and logs the episodes that ended.

    Beside RLlib's names there are, per episode, ``survivors/<team>`` and ``win_rate/<team>``: how
    many learning agents of the team were active at the end, and 1 where no other team had any.
    """

    def __init__(self, metrics: Any, vec: Any, policy_of: dict[str, str], config: Any) -> None:
        self._metrics, self.vec, self.policy_of = metrics, vec, policy_of
        smoothed = config.metrics_num_episodes_for_smoothing
        self._window = max(1, math.ceil(smoothed / (config.num_env_runners or 1)))
        self._in_evaluation = config.in_evaluation
        self._ended: list[dict[str, np.ndarray]] = []
        self._agent_ids = [
            agent_id for group in vec.groups.values() for agent_id in group.agent_ids
        ]
        self._acted = {name: np.zeros(len(group), np.int64) for name, group in vec.groups.items()}
        self._env_steps = self._num_episodes = 0
        self.agent_t = {
            name: np.zeros((vec.num_envs, len(group)), np.int64)
            for name, group in vec.groups.items()
        }
        self._began = np.full(vec.num_envs, time.perf_counter())

    def begin(self) -> None:
        """Start to count in all worlds, after their reset."""
        for counts in self.agent_t.values():
            counts[:] = 0
        self._began[:] = time.perf_counter()
        self._teams = np.array(teams_of(self.vec))
        self._team_names = team_names(self.vec, self._teams)
        learning = np.concatenate([group.slots for group in self.vec.groups.values()])
        self._learning = np.zeros(self._teams.shape[1], bool)
        self._learning[learning] = True
        self._learning_teams = np.unique(self._teams[:, self._learning]).tolist()

    def step(self, active: dict[str, np.ndarray], playing: np.ndarray | None) -> None:
        """Count a step: who acted, bool ``{group: [worlds, n]}``, and which worlds count."""
        for name, acted in active.items():
            self._acted[name] += acted.sum(axis=0)
            self.agent_t[name] += acted
        self._env_steps += self.vec.num_envs if playing is None else int(playing.sum())

    def end(self, worlds: np.ndarray, infos: dict) -> None:
        """Take the episodes of some worlds that ended in the step."""
        now = time.perf_counter()
        alive, teams = infos["final_active"][worlds] & self._learning, self._teams[worlds]
        returns = infos["episode"]["return"]
        self._ended.append(
            {
                "length": infos["episode"]["length"][worlds],
                "seconds": now - self._began[worlds],
                "survivors": np.stack(
                    [(alive & (teams == team)).sum(axis=1) for team in self._learning_teams], 1
                ),
                "returns": np.concatenate([returns[name][worlds] for name in self._acted], 1),
                "steps": np.concatenate([self.agent_t[name][worlds] for name in self._acted], 1),
            }
        )
        self._num_episodes += len(worlds)
        for counts in self.agent_t.values():
            counts[worlds] = 0
        self._began[worlds] = now
        self._teams[worlds] = teams_of(self.vec)[worlds]

    def log_steps(self) -> None:
        """Log what was counted since the last time."""
        log = self._metrics.log_value
        for name, value, lifetime in (
            (names.NUM_ENV_STEPS_SAMPLED, self._env_steps, names.NUM_ENV_STEPS_SAMPLED_LIFETIME),
            (names.NUM_EPISODES, self._num_episodes, names.NUM_EPISODES_LIFETIME),
        ):
            log(name, value, reduce="sum")
            throughput = name == names.NUM_ENV_STEPS_SAMPLED
            log(lifetime, value, reduce="lifetime_sum", with_throughput=throughput)
        modules: dict[str, int] = {}
        for name, group in self.vec.groups.items():
            for agent_id, count in zip(group.agent_ids, self._acted[name].tolist(), strict=True):
                log((names.NUM_AGENT_STEPS_SAMPLED, agent_id), count, reduce="sum")
                lifetime = names.NUM_AGENT_STEPS_SAMPLED_LIFETIME, agent_id
                log(lifetime, count, reduce="lifetime_sum")
                module = self.policy_of[agent_id]
                modules[module] = modules.get(module, 0) + count
            self._acted[name][:] = 0
        for module, count in modules.items():
            log((names.NUM_MODULE_STEPS_SAMPLED, module), count, reduce="sum")
            log((names.NUM_MODULE_STEPS_SAMPLED_LIFETIME, module), count, reduce="lifetime_sum")
        self._env_steps = self._num_episodes = 0

    def log_episodes(self) -> None:
        """Log the means over the last episodes that ended since the last time.

        RLlib's logger would reduce them to these means anyway. In evaluation all episodes count,
        because those that end first are the short ones.
        """
        if not self._ended:
            return
        count = sum(len(one["length"]) for one in self._ended)
        window = count if self._in_evaluation else min(count, self._window)
        table = {
            key: np.concatenate([one[key] for one in self._ended])[-window:]
            for key in self._ended[0]
        }
        self._ended.clear()
        returns, left = table["returns"], table["survivors"]
        total, agents = returns.sum(axis=1), returns.mean(axis=0)
        modules: dict[str, float] = {}
        for agent_id, value in zip(self._agent_ids, agents.tolist(), strict=True):
            module = self.policy_of[agent_id]
            modules[module] = modules.get(module, 0.0) + value
        wins = (left > 0) & (left == left.sum(axis=1, keepdims=True))
        called = [self._team_names[team] for team in self._learning_teams]
        length = table["length"]
        self._metrics.log_dict(
            {
                names.EPISODE_LEN_MEAN: length.mean(),
                names.EPISODE_RETURN_MEAN: total.mean(),
                names.EPISODE_DURATION_SEC_MEAN: table["seconds"].mean(),
                names.EPISODE_AGENT_RETURN_MEAN: _by(self._agent_ids, agents),
                names.EPISODE_AGENT_STEPS: _by(self._agent_ids, table["steps"].mean(axis=0)),
                names.EPISODE_MODULE_RETURN_MEAN: modules,
                SURVIVORS: _by(called, left.mean(axis=0)),
                WIN_RATE: _by(called, wins.mean(axis=0)),
            },
            window=self._window,
        )
        for reduce, pair in (
            ("min", {names.EPISODE_LEN_MIN: length.min(), names.EPISODE_RETURN_MIN: total.min()}),
            ("max", {names.EPISODE_LEN_MAX: length.max(), names.EPISODE_RETURN_MAX: total.max()}),
        ):
            self._metrics.log_dict(pair, reduce=reduce, window=self._window)


def _by(keys: list[str], values: np.ndarray) -> dict[str, float]:
    return dict(zip(keys, values.tolist(), strict=True))
