"""An env runner of RLlib that keeps whole batches of worlds as arrays."""

import itertools
import uuid
from typing import Any

import numpy as np
import ray
import torch
from ray.rllib.callbacks.utils import make_callback
from ray.rllib.core.columns import Columns
from ray.rllib.env.env_context import EnvContext
from ray.rllib.env.env_runner import ENV_STEP_FAILURE
from ray.rllib.env.multi_agent_env_runner import MultiAgentEnvRunner
from ray.rllib.utils.metrics import RLMODULE_INFERENCE_TIMER

from abmarl.external.rllib.columns import ColumnBatch
from abmarl.external.rllib.episodes import EpisodeBuilder, EpisodeLog
from abmarl.external.rllib.metrics import SampleMetrics
from abmarl.external.rllib.modules import forward
from abmarl.external.rllib.sample_buffer import (
    SampleBuffer,
    SampleRows,
    policy_of_agents,
    slots_of_policies,
)
from abmarl.external.rllib.worlds import KEY, Worlds
from abmarl.external.runtime import use_one_thread
from abmarl.rollout.evaluation import shared_out

# Key of the worlds in the state of an env runner.
COMPONENT_WORLDS = "worlds"


class BatchedEnvRunner(MultiAgentEnvRunner):
    """Steps all worlds together, with one forward pass per policy and step. `batched` sets it up.

    Connectors between environment and module are not run, nor callbacks per episode and step.
    A policy mapping function is asked once per agent, with None for the episode.

    RLlib saves the local env runner only. That one collects the worlds of the remote ones, so it
    has their group as `env_runner_group`.
    """

    env_runner_group: Any = None

    def __init__(self, config: Any, **kwargs: Any) -> None:
        self.sample_metrics: Any = None  # a `SampleMetrics` once there are worlds
        self.module = None
        self._made = itertools.count()
        if not kwargs.get("worker_index"):  # Ray sets the threads of the others
            use_one_thread()
        super().__init__(config=config, **kwargs)

    def make_env(self) -> None:
        """Make the worlds; they start with the next sample."""
        context = self.config.env_config
        if not isinstance(context, EnvContext):
            context = EnvContext(context, worker_index=self.worker_index)
        self.worlds_config = context[KEY]
        seed = _worlds_seed(self._seed, next(self._made))
        self.env = Worlds(self.worlds_config, seed, self.config.num_envs_per_env_runner)
        self.num_envs = self.env.num_envs
        self._mapping_fn: Any = None
        self._map_agents()
        self._needs_initial_reset = True
        make_callback(
            "on_environment_created",
            callbacks_objects=self._callbacks,
            callbacks_functions=self.config.callbacks_on_environment_created,
            kwargs={
                "env_runner": self, "metrics_logger": self.metrics, "env": self.env,
                "env_context": context,
            },
        )  # fmt: skip

    def make_module(self) -> None:
        """Make the modules, in evaluation mode: switching there and back is as slow as acting."""
        super().make_module()
        if self.module is not None:
            self.module.foreach_module(_evaluate)

    def _map_agents(self) -> None:
        """Ask which policy plays which agent, if the mapping function is a new one."""
        if self._mapping_fn is self.config.policy_mapping_fn:
            return
        env, self._mapping_fn = self.env, self.config.policy_mapping_fn
        policies = self.config.policies if self.module is None else self.module.keys()
        policy_of = policy_of_agents(self._mapping_fn, env.possible_agents, policies)
        self._slots = slots_of_policies(env.groups, policy_of, self.num_envs)
        spaces = env.observation_spaces, env.action_spaces
        self._builder = EpisodeBuilder(self._slots, spaces, policy_of, self._mapping_fn)
        if self.sample_metrics is None or self.sample_metrics.vec is not env.vec:
            self.sample_metrics = SampleMetrics(self.metrics, env.vec, policy_of, self.config)
        self.sample_metrics.policy_of = policy_of

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

        Every world plays an equal share of `num_episodes`, fixed beforehand: taking those that end
        first would favour short ones.
        """
        begin, sample = force_reset or num_episodes is not None or self._needs_initial_reset, None
        self._needs_initial_reset = num_episodes is not None
        # Again, from the beginning, if a step failed and RLlib has made new worlds.
        while sample is None:
            if begin:
                self._begin()
                self._needs_initial_reset = num_episodes is not None
            self._map_agents()
            sample = self._collect(num_timesteps, num_episodes, explore, random_actions)
            begin = True
        rows, log, env_steps = sample
        self.sample_metrics.log_steps()
        if self.worlds_config.mode == "columns":
            batch = ColumnBatch(rows, env_steps, self.config.gamma, self.config.lambda_)
            return [batch] if rows else []
        return self._builder.build(rows, log)

    def _begin(self) -> None:
        """Start an episode in every world; the random streams, seeded when made, go on."""
        self._try_env_reset()
        self.sample_metrics.begin()
        self._ids = [uuid.uuid4().hex for _ in range(self.num_envs)]
        self._needs_initial_reset = False

    def _collect(
        self, num_timesteps: int | None, num_episodes: int | None, explore: bool, random: bool
    ) -> tuple[dict[str, SampleRows], EpisodeLog, int] | None:
        """Step the worlds; return None if a step failed and new worlds had to be made."""
        env, vec = self.env, self.env.vec
        buffers = {key: SampleBuffer(slots, env.masks) for key, slots in self._slots.items()}
        counts = self.sample_metrics.agent_t
        agent_t = {
            agent_id: column.copy()
            for name, ids in env.groups.items()
            for agent_id, column in zip(ids, counts[name].T, strict=True)
        }
        log = EpisodeLog(list(self._ids), vec.episodes.length.copy(), agent_t)
        quota: Any = None if num_episodes is None else shared_out(num_episodes, self.num_envs)
        per_agent = self.config.count_steps_by == "agent_steps"
        env_steps = sampled = 0
        obs, infos, masks = vec.observations(), vec.infos(), env.action_masks()
        while quota.any() if num_timesteps is None else sampled < num_timesteps:
            playing = None if quota is None else quota > 0
            active = infos["active"]
            if playing is not None:
                active = {name: one & playing[:, None] for name, one in active.items()}
            actions = env.sample_actions() if random else env.empty_actions()
            acted = self._act(buffers, (active, obs, masks), actions, explore, random, env_steps)
            self.sample_metrics.step(active, playing)
            result = self._try_env_step(actions)
            if isinstance(result, str) and result == ENV_STEP_FAILURE:
                return None
            for buffer in buffers.values():
                buffer.end_step(result)
            obs, _, _, _, infos = result
            masks = env.action_masks()
            over = infos["ended"] if playing is None else infos["ended"] & playing
            if over.any():
                worlds = np.flatnonzero(over)
                self.sample_metrics.end(worlds, infos)
                for world in worlds.tolist():
                    self._ids[world] = uuid.uuid4().hex
                    log.ends.append((log.num_steps, world, self._ids[world]))
                if quota is not None:
                    quota[worlds] -= 1
            log.num_steps += 1
            stepped = self.num_envs if playing is None else int(playing.sum())
            env_steps += stepped
            sampled += acted if per_agent else stepped
        if env_steps:
            self._log_env_steps(self._metrics_num_env_steps_sampled, env_steps)
        found = {key: buffer.finish(obs, masks) for key, buffer in buffers.items()}
        rows = {key: one for key, one in found.items() if one is not None}
        return rows, log, env_steps

    def _act(
        self, buffers: dict[str, SampleBuffer], seen: tuple, actions: dict, explore: bool,
        random: bool, env_steps: int,
    ) -> int:  # fmt: skip
        """Let the modules act for their agents, and return how many acted."""
        batch = {key: one.observe(*seen) for key, one in buffers.items()}
        batch = {key: rows for key, rows in batch.items() if rows is not None}
        if random:
            outputs = {key: buffers[key].random_outputs(actions) for key in batch}
        else:
            runners = self.config.num_env_runners or 1
            steps = self.num_env_steps_sampled_lifetime // runners + env_steps
            with self.metrics.log_time(RLMODULE_INFERENCE_TIMER):
                outputs = forward(self.module, batch, explore, steps * runners, self._device)
        for key, columns in outputs.items():
            buffers[key].act(columns, actions)
        return sum(len(columns[Columns.ACTIONS]) for columns in outputs.values())

    def get_metrics(self) -> Any:
        """Return the metrics since the last time, reduced."""
        if self.sample_metrics is not None:
            self.sample_metrics.log_episodes()
        return self.metrics.reduce()

    def get_state(
        self, components: Any = None, *, not_components: Any = None, **kwargs: Any
    ) -> dict:
        """Return RLlib's state, with the state of each env runner's worlds as ``"worlds"``."""
        state = super().get_state(components, not_components=not_components, **kwargs)
        wanted = self._check_component(COMPONENT_WORLDS, components, not_components)
        if wanted and not self.config.in_evaluation:
            state[COMPONENT_WORLDS] = self._all_worlds()
        return state

    def set_state(self, state: dict) -> None:
        """Load a state; without the worlds where their number, or that of env runners, differs."""
        super().set_state(state)
        worlds = state.get(COMPONENT_WORLDS)
        if not worlds or self.config.in_evaluation:
            return
        if self.env is not None:
            self.load_worlds(worlds)
        if self.env_runner_group is not None:
            self.env_runner_group.foreach_env_runner(
                lambda runner: runner.load_worlds(worlds), local_env_runner=False
            )

    def _all_worlds(self) -> dict[int, dict]:
        found = [] if self.env is None else [self.save_worlds()]
        if self.env_runner_group is not None:
            found += self.env_runner_group.foreach_env_runner(
                lambda runner: runner.save_worlds(), local_env_runner=False
            )
        return {index: saved for one in found for index, saved in one.items()}

    def save_worlds(self) -> dict[int, dict]:
        """Return the state of this env runner's worlds by its number; empty before they start."""
        if self._needs_initial_reset:
            return {}
        return {
            self.worker_index or 0: {
                "num_envs": self.num_envs,
                "ids": list(self._ids),
                "agent_t": {
                    name: counts.copy() for name, counts in self.sample_metrics.agent_t.items()
                },
                "vec": self.env.vec.state_dict(),
            }
        }

    def load_worlds(self, worlds: dict[int, dict]) -> None:
        """Load what `save_worlds` returned."""
        saved = worlds.get(self.worker_index or 0)
        if saved is None or saved["num_envs"] != self.num_envs:
            return
        self.env.vec.load_state_dict(saved["vec"])
        self.sample_metrics.begin()
        for name, counts in saved["agent_t"].items():
            np.copyto(self.sample_metrics.agent_t[name], counts)
        self._ids = list(saved["ids"])
        self._needs_initial_reset = False

    def assert_healthy(self) -> None:
        """Refuse to work without worlds or modules."""
        if self.env is None or self.module is None:
            raise RuntimeError(f"{type(self).__name__} has no worlds or no module")


def _evaluate(policy: str, module: Any) -> None:
    if isinstance(module, torch.nn.Module):
        module.eval()


def _worlds_seed(seed: int | None, made: int) -> int | None:
    """Return the seed of the worlds that an env runner makes; None for a fresh one.

    An env runner that replaces one that was killed gets a fresh seed, and one that has `made`
    worlds before, some of which failed, another one each time.
    """
    if seed is None or _restarted():
        return None
    if not made:
        return seed
    return int(np.random.SeedSequence(seed, spawn_key=(made,)).generate_state(1)[0])


def _restarted() -> bool:
    """Return whether this process replaces an actor of Ray that was killed."""
    if not ray.is_initialized():
        return False
    context = ray.get_runtime_context()
    return context.get_actor_id() is not None and bool(context.was_current_actor_reconstructed)
