"""An env runner of RLlib that keeps whole batches of worlds as arrays."""

import itertools
import uuid
from typing import Any

import numpy as np
import torch
from ray.rllib.callbacks.utils import make_callback
from ray.rllib.core.columns import Columns
from ray.rllib.env.env_context import EnvContext
from ray.rllib.env.env_runner import ENV_STEP_FAILURE
from ray.rllib.env.multi_agent_env_runner import MultiAgentEnvRunner
from ray.rllib.utils.metrics import RLMODULE_INFERENCE_TIMER

from abmarl.external.rllib.columns import ColumnBatch
from abmarl.external.rllib.episodes import EpisodeBuilder
from abmarl.external.rllib.forward import forward
from abmarl.external.rllib.recorder import Recorder, Rows
from abmarl.external.rllib.saved_worlds import SavedWorlds
from abmarl.external.rllib.scores import Scores
from abmarl.external.rllib.seats import policy_of_agents, seats_of_policies
from abmarl.external.rllib.seeds import seed_of_worlds
from abmarl.external.rllib.setting import KEY
from abmarl.external.rllib.story import Story
from abmarl.external.rllib.worlds import Worlds
from abmarl.external.torch_threads import use_one_thread
from abmarl.rollout.evaluation import shared_out


class BatchedEnvRunner(SavedWorlds, MultiAgentEnvRunner):
    """Steps all worlds together, with one forward pass per policy and step. `batched` sets it up.

    Connectors between environment and module are not run, nor callbacks per episode and step.
    A policy mapping function is asked once per agent, with None for the episode.
    """

    def __init__(self, config: Any, **kwargs: Any) -> None:
        self.scores: Scores | None = None
        self.module = None
        self._made = itertools.count()
        if not kwargs.get("worker_index"):  # Ray sees to the others
            use_one_thread()
        super().__init__(config=config, **kwargs)

    def make_env(self) -> None:
        """Make the worlds; they start with the next sample."""
        context = self.config.env_config
        if not isinstance(context, EnvContext):
            context = EnvContext(context, worker_index=self.worker_index)
        self.setting = context[KEY]
        seed = seed_of_worlds(self._seed, next(self._made))
        self.env = Worlds(self.setting, seed, self.config.num_envs_per_env_runner)
        self.num_envs = self.env.num_envs
        self._mapping_fn = None
        self._map_agents()
        self._needs_initial_reset = True
        make_callback(
            "on_environment_created",
            callbacks_objects=self._callbacks,
            callbacks_functions=self.config.callbacks_on_environment_created,
            kwargs={
                "env_runner": self,
                "metrics_logger": self.metrics,
                "env": self.env,
                "env_context": context,
            },
        )

    def make_module(self) -> None:
        """Make the modules, in evaluation mode: to switch there and back is as slow as to act."""
        super().make_module()
        if self.module is not None:
            self.module.foreach_module(_evaluate)

    def _map_agents(self) -> None:
        """Find out who plays whom, anew when the mapping function has been replaced."""
        if self._mapping_fn is self.config.policy_mapping_fn:
            return
        env, self._mapping_fn = self.env, self.config.policy_mapping_fn
        policies = self.config.policies if self.module is None else self.module.keys()
        policy_of = policy_of_agents(self._mapping_fn, env.possible_agents, policies)
        self._seats = seats_of_policies(env.groups, policy_of, self.num_envs)
        self._builder = EpisodeBuilder(
            self._seats, env.observation_spaces, env.action_spaces, policy_of, self._mapping_fn
        )
        if self.scores is None or self.scores.vec is not env.vec:
            self.scores = Scores(self.metrics, env.vec, policy_of, self.config)
        self.scores.policy_of = policy_of

    def _sample(
        self,
        *,
        num_timesteps: int | None = None,
        num_episodes: int | None = None,
        explore: bool,
        random_actions: bool = False,
        force_reset: bool = False,
    ) -> list:
        """Sample time steps or episodes.

        Every world plays an equal share of `num_episodes`, settled beforehand: taking those that
        end first would favour short ones.
        """
        if force_reset or num_episodes is not None or self._needs_initial_reset:
            self._begin()
        self._needs_initial_reset = num_episodes is not None
        self._map_agents()
        while True:
            rollout = self._roll(num_timesteps, num_episodes, explore, random_actions)
            if rollout is not None:
                break
            # A step failed and RLlib is to go on: the worlds have been made anew.
            self._begin()
            self._needs_initial_reset = num_episodes is not None
        rows, story, env_steps = rollout
        self.scores.log_steps()
        if self.setting.mode == "columns":
            batch = ColumnBatch(rows, env_steps, self.config.gamma, self.config.lambda_)
            return [batch] if rows else []
        return self._builder.build(rows, story)

    def _begin(self) -> None:
        """Start all worlds anew; their random streams, seeded when they were made, go on."""
        self._try_env_reset()
        self.scores.begin()
        self._ids = [uuid.uuid4().hex for _ in range(self.num_envs)]
        self._needs_initial_reset = False

    def _roll(
        self, num_timesteps: int | None, num_episodes: int | None, explore: bool, random: bool
    ) -> tuple[dict[str, Rows], Story, int] | None:
        """Step the worlds; None when a step failed and the worlds had to be made anew."""
        env, vec = self.env, self.env.vec
        recorders = {key: Recorder(seats, env.masks) for key, seats in self._seats.items()}
        counts = self.scores.agent_t
        agent_t = {
            agent_id: column.copy()
            for name, ids in env.groups.items()
            for agent_id, column in zip(ids, counts[name].T, strict=True)
        }
        story = Story(list(self._ids), vec.episodes.length.copy(), agent_t)
        quota = None if num_episodes is None else shared_out(num_episodes, self.num_envs)
        per_agent = self.config.count_steps_by == "agent_steps"
        env_steps = sampled = 0
        obs, infos, masks = vec.observations(), vec.infos(), env.action_masks()
        while quota.any() if num_timesteps is None else sampled < num_timesteps:
            playing = None if quota is None else quota > 0
            active = infos["active"]
            if playing is not None:
                active = {name: one & playing[:, None] for name, one in active.items()}
            actions = env.sample_actions() if random else env.empty_actions()
            acted = self._act(recorders, (active, obs, masks), actions, explore, random, env_steps)
            self.scores.step(active, playing)
            result = self._try_env_step(actions)
            if isinstance(result, str) and result == ENV_STEP_FAILURE:
                return None
            for recorder in recorders.values():
                recorder.keep(result)
            obs, _, _, _, infos = result
            masks = env.action_masks()
            over = infos["ended"] if playing is None else infos["ended"] & playing
            if over.any():
                worlds = np.flatnonzero(over)
                self.scores.end(worlds, infos)
                for world in worlds.tolist():
                    self._ids[world] = uuid.uuid4().hex
                    story.ends.append((story.num_steps, world, self._ids[world]))
                if quota is not None:
                    quota[worlds] -= 1
            story.num_steps += 1
            stepped = self.num_envs if playing is None else int(playing.sum())
            env_steps += stepped
            sampled += acted if per_agent else stepped
        if env_steps:
            self._log_env_steps(self._metrics_num_env_steps_sampled, env_steps)
        found = {key: recorder.finish(obs, masks) for key, recorder in recorders.items()}
        rows = {key: one for key, one in found.items() if one is not None}
        return rows, story, env_steps

    def _act(self, recorders, seen, actions, explore, random, env_steps) -> int:
        """Let the modules act for their agents; returns how many acted."""
        batch = {key: one.look(*seen) for key, one in recorders.items()}
        batch = {key: rows for key, rows in batch.items() if rows is not None}
        if random:
            outputs = {key: recorders[key].random(actions) for key in batch}
        else:
            runners = self.config.num_env_runners or 1
            steps = self.num_env_steps_sampled_lifetime // runners + env_steps
            with self.metrics.log_time(RLMODULE_INFERENCE_TIMER):
                outputs = forward(self.module, batch, explore, steps * runners, self._device)
        for key, columns in outputs.items():
            recorders[key].act(columns, actions)
        return sum(len(columns[Columns.ACTIONS]) for columns in outputs.values())

    def get_metrics(self) -> Any:
        """The metrics since the last time, reduced."""
        if self.scores is not None:
            self.scores.log_episodes()
        return self.metrics.reduce()

    def assert_healthy(self) -> None:
        """Check that there are worlds and modules.

        Raises:
            RuntimeError: there are none.
        """
        if self.env is None or self.module is None:
            raise RuntimeError(f"{type(self).__name__} has no worlds or no module")


def _evaluate(policy: str, module: Any) -> None:
    if isinstance(module, torch.nn.Module):
        module.eval()
