"""`batched`: an algorithm of RLlib samples from whole batches of worlds."""

from typing import Any

from ray.rllib.algorithms.algorithm_config import AlgorithmConfig
from ray.rllib.algorithms.ppo import PPOConfig
from ray.rllib.callbacks.callbacks import RLlibCallback
from ray.rllib.policy.policy import PolicySpec
from ray.rllib.utils import force_list

from abmarl.external.rllib.columns import columns_connector
from abmarl.external.rllib.env_runner import BatchedEnvRunner
from abmarl.external.rllib.sample_buffer import policy_of_agents
from abmarl.external.rllib.worlds import KEY, StockEnv, Worlds, WorldsConfig
from abmarl.external.runtime import hush_own_deprecations
from abmarl.gridworld.fields import positive

MODES = ("episodes", "columns")
_EPISODE_CALLBACKS = ("on_episode_created", "on_episode_start", "on_episode_step", "on_episode_end")


def batched(
    config: AlgorithmConfig,
    sim: Any,
    mode: str = "episodes",
    num_envs: int = 64,
    horizon: int | None = None,
    num_threads: int | None = 1,
    order: str = "fixed",
    masks: bool = False,
) -> AlgorithmConfig:
    """Let an algorithm of RLlib sample from many worlds at once.

    Call it when policies, modules, connectors and callbacks are set: what is changed afterwards so
    that it cannot be batched any more is refused when the algorithm is built. Observations become
    flat float32 arrays; actions one `Discrete`, or a `MultiDiscrete` beyond 4,096 joint actions. A
    config without policies gets one per group of agents, which has the group's name.

    Where a config asks for what this env runner does not do (recurrent modules, connectors of its
    own between environment and module, callbacks per episode, a policy mapping that needs the
    episode or draws lots), RLlib's own env runner plays the same worlds one by one, and a printed
    line says why.

    Args:
        config: Of any algorithm on the new API stack; it is changed.
        sim: A simulation that vectorises, or a function without parameters that makes one. It
            reaches remote env runners pickled; a function is pickled and called there.
        mode: ``"episodes"`` hands RLlib its usual episodes and works with everything downstream;
            ``"columns"`` makes the train batch of PPO and its like directly, which is faster, with
            one learner at most and without learner connectors of the user.
        num_envs: Worlds per env runner.
        horizon: Steps after which an episode is truncated; None: never.
        num_threads: Threads per env runner; None: ``ABMARL_NUM_THREADS`` or 1.
        order: Who acts first, see ``vectorize``.
        masks: Whether observations are dicts of ``"observations"`` and ``"action_mask"``, as
            RLlib's modules with action masks want them.

    Returns:
        The config.

    Raises:
        TypeError: `config` is not an ``AlgorithmConfig``, or the simulation does not vectorise.
        ValueError: A parameter is out of range, agents of a policy have different spaces, the
            mapping names an unknown policy, or columns cannot do what the config asks for. The
            config is as before then.
    """
    _check(config, mode)
    hush_own_deprecations()
    worlds_config = WorldsConfig(
        sim, mode, positive("num_envs", num_envs), horizon, num_threads, order, masks
    )
    worlds = _one_world(worlds_config)
    policies, mapping_fn = config.policies, config.policy_mapping_fn
    if not config.is_multi_agent:
        group_of = {key: name for name, ids in worlds.groups.items() for key in ids}
        policies, mapping_fn = dict.fromkeys(worlds.groups), _Lookup(group_of)
    policies = _specs(policies)
    reason = _needs_stock_runner(config)
    try:
        policy_of = policy_of_agents(mapping_fn, worlds.possible_agents, policies)
    except (AttributeError, TypeError):
        reason = reason or "its policy_mapping_fn needs the episode"
    else:
        policies = _with_spaces(policies, worlds, policy_of)
        if any(policy_of_agents(mapping_fn, policy_of, policies) != policy_of for _ in range(20)):
            reason = reason or "its policy_mapping_fn says something else each time"
        reason = reason or _recurrent(config, policies, masks)
    if mode == "columns":
        _check_columns(config)
    if reason and masks:
        raise ValueError(
            f"masks=True needs the batched env runner, and {reason}; leave masks=False"
        )
    config.environment(StockEnv, env_config={**config.env_config, KEY: worlds_config})
    config.multi_agent(policies=policies, policy_mapping_fn=mapping_fn)
    config.env_runners(num_envs_per_env_runner=worlds_config.num_envs)
    if reason:
        print(f"abmarl: RLlib's own env runner plays one world at a time, because {reason}")
        return config
    config.env_runners(env_runner_cls=BatchedEnvRunner)
    before = force_list(config.callbacks_on_algorithm_init)
    others = [one for one in before if one is not on_algorithm_init]
    config.callbacks(on_algorithm_init=[*others, on_algorithm_init])
    if mode == "columns":
        config.learners(
            add_default_connectors_to_learner_pipeline=False,
            learner_connector=columns_connector,
        )
    return config


class _Lookup:
    """A policy mapping function that looks agents up."""

    def __init__(self, policy_of: dict[str, str]) -> None:
        self._policy_of = policy_of

    def __call__(self, agent_id: str, *args: Any, **kwargs: Any) -> str:
        return self._policy_of[agent_id]


def _check(config: Any, mode: Any) -> None:
    if not isinstance(config, AlgorithmConfig):
        raise TypeError(
            f"config must be an AlgorithmConfig, such as PPOConfig(), got {type(config).__name__}"
        )
    if mode not in MODES:
        raise ValueError(f"mode must be {' or '.join(map(repr, MODES))}, got {mode!r}")
    if not config.enable_env_runner_and_connector_v2:
        raise ValueError(
            "batched needs RLlib's new API stack; leave enable_env_runner_and_connector_v2 on"
        )


def _one_world(config: WorldsConfig) -> Worlds:
    sim = config.make()
    if not hasattr(sim, "vectorize"):
        raise TypeError(
            f"batched needs a simulation that vectorises, got {type(sim).__name__}; give the "
            f"simulation itself, or train one world at a time with MultiAgentWrapper"
        )
    try:
        return Worlds(config, seed=0, num_envs=1)
    except TypeError as error:
        raise TypeError(f"{error} MultiAgentWrapper trains it one world at a time.") from error


def _specs(policies: Any) -> dict[str, PolicySpec]:
    """Return the policies by id, in the order of their ids.

    Sets, and what RLlib makes of them, have another order in each process, so that one seed would
    lead to different networks.
    """
    if not isinstance(policies, dict):
        policies = dict.fromkeys(policies)
    return {
        key: spec if isinstance(spec, PolicySpec) else PolicySpec(*(spec or ()))
        for key, spec in sorted(policies.items(), key=lambda item: item[0])
    }


def _with_spaces(policies: dict, worlds: Worlds, policy_of: dict[str, str]) -> dict:
    """Return the policies with the spaces of their agents in RLlib's form."""
    spaces: dict[str, tuple] = {}
    first: dict[str, str] = {}
    for agent_id, policy in policy_of.items():
        pair = worlds.observation_spaces[agent_id], worlds.action_spaces[agent_id]
        other = first.setdefault(policy, agent_id)
        if spaces.setdefault(policy, pair) != pair:
            raise ValueError(
                f"policy {policy!r} plays agents {other!r} and {agent_id!r}, whose spaces differ: "
                f"{spaces[policy]!s:.200} and {pair!s:.200}; give them different policies"
            )
    for key, spec in policies.items():
        if key not in spaces and spec.observation_space is None:
            # A policy that plays no agent yet has the spaces of the others, if these are all alike.
            pair, *others = spaces.values()
            if any(other != pair for other in others):
                raise ValueError(
                    f"policy {key!r} plays nobody and has no spaces; leave it out of the policies, "
                    f"or map an agent to it"
                )
            spaces[key] = pair
    return {
        key: PolicySpec(spec.policy_class, *spaces[key], spec.config) if key in spaces else spec
        for key, spec in policies.items()
    }


def _check_columns(config: AlgorithmConfig) -> None:
    """Refuse a config that columns do not support."""
    problem = None
    if not isinstance(config, PPOConfig):
        problem = f"are made for PPO and its like, got {type(config).__name__}"
    elif config.num_learners > 1:
        # RLlib would shard a batch by the steps of worlds, and drop most of the rows.
        problem = f"go to one learner at most, got num_learners={config.num_learners}"
    elif config._learner_connector not in (None, columns_connector):
        problem = "take the place of the learner connectors, and the config has some of its own"
    if problem:
        raise ValueError(f'columns {problem}; use mode="episodes"')


def _needs_stock_runner(config: AlgorithmConfig) -> str | None:
    """Return why RLlib's own env runner is needed, None if it is not."""
    for side in ("env_to_module", "module_to_env"):
        default = getattr(config, f"add_default_connectors_to_{side}_pipeline")
        if getattr(config, f"_{side}_connector") is not None or not default:
            return f"the config has {side.replace('_', '-')} connectors of its own"
    for name in _EPISODE_CALLBACKS:
        classes = force_list(config.callbacks_class)
        overridden = any(getattr(one, name) is not getattr(RLlibCallback, name) for one in classes)
        if overridden or getattr(config, f"callbacks_{name}") is not None:
            return f"the config has a callback {name}"
    return None


def _recurrent(config: AlgorithmConfig, policies: dict[str, PolicySpec], masks: bool) -> str | None:
    """Return why the modules cannot act in batches: one of them is recurrent."""
    spaces: dict = {
        key: (spec.observation_space, spec.action_space) for key, spec in policies.items()
    }
    asked = config.copy(copy_frozen=False).multi_agent(policies=policies)
    try:
        modules = asked.get_multi_rl_module_spec(spaces=spaces, inference_only=True).build()
    except ValueError as error:
        if not masks:
            raise
        raise ValueError(
            "masks=True needs modules that take masks: set module_class to RLlib's "
            "ActionMaskingTorchRLModule, or the like, in config.rl_module"
        ) from error
    return _with_states(modules)


def _with_states(modules: Any) -> str | None:
    """Return which of the modules, by policy, is recurrent, as a reason; None if none is."""
    stateful = [key for key, module in modules.items() if module.is_stateful()]
    return f"the module of policy {stateful[0]!r} is recurrent" if stateful else None


def on_algorithm_init(algorithm: Any, **kwargs: Any) -> None:
    """Check the config again, which may have been changed since `batched`.

    It is a callback of RLlib. It also gives the local env runner the group of the remote ones.

    Raises:
        ValueError: The batched env runner does not support the config any more.
    """
    config, runner = algorithm.config, algorithm.env_runner
    if isinstance(runner, BatchedEnvRunner):
        reason = _with_states(runner.module or {}) or _needs_stock_runner(config)
        if reason:
            raise ValueError(
                f"{reason}, since batched(...) was called, which cannot do that; call it last"
            )
        if config.env_config[KEY].mode == "columns":
            _check_columns(config)
        runner.env_runner_group = algorithm.env_runner_group


start = on_algorithm_init  # its name in checkpoints of earlier versions
