"""What `batched` does to a config, what it refuses, and what it leaves to RLlib's own runner."""

import random
import subprocess
import sys
from types import SimpleNamespace

import numpy as np
import pytest

pytest.importorskip("ray.rllib")

from gymnasium.spaces import Box, Dict, Discrete, MultiDiscrete
from ray.rllib.algorithms.appo import APPOConfig
from ray.rllib.algorithms.ppo import PPOConfig
from ray.rllib.connectors.env_to_module import FlattenObservations
from ray.rllib.env.multi_agent_env_runner import MultiAgentEnvRunner
from ray.rllib.policy.policy import PolicySpec

from abmarl.examples import MultiCorridor, predator_prey_resources
from abmarl.external.rllib import BatchedEnvRunner, batched
from abmarl.external.rllib.batched import on_algorithm_init
from abmarl.external.rllib.worlds import ActionConversion, ObservationConversion, StockEnv
from abmarl.gridworld import SmartGridWorldSimulation
from abmarl.managers import AllStepManager
from tests.support.grid_worlds import build, corridor, fighter, skirmish


def by_kind(agent_id, episode, **kwargs):
    return "p" if agent_id.startswith("prey") else "q"


class ByHand(SmartGridWorldSimulation):
    """Handles actions one by one."""

    def step(self, action_dict, **kwargs):
        """Nothing happens."""


def at_the_end(**kwargs):
    """A callback. RLlib calls it, as the random actions will have it, in some runs of the tests."""


def base():
    return PPOConfig().env_runners(num_env_runners=0).rl_module(model_config={"fcnet_hiddens": [8]})


def by_first_letter(agent_id, episode, **kwargs):
    return agent_id[0]


def test_a_config_without_policies_gets_one_per_group():
    config = batched(base(), skirmish, num_envs=3)
    assert set(config.policies) == {"fighter_1", "fighter_2"}
    assert config.policy_mapping_fn("blue0", None) == "fighter_2"
    assert config.env_runner_cls is BatchedEnvRunner
    assert config.num_envs_per_env_runner == 3
    assert config.policies["fighter_1"].observation_space.dtype == np.float32


def test_spaces_that_experiment_files_give_are_replaced():
    sim = skirmish()
    red, blue = sim.agents["red"], sim.agents["blue0"]
    config = base().multi_agent(
        policies={
            "r": (None, red.observation_space, red.action_space, {"gamma": 0.5}),
            "b": PolicySpec(None, blue.observation_space, blue.action_space),
        },
        policy_mapping_fn=by_first_letter,
        policies_to_train=["r"],
    )
    config = batched(config, sim, num_envs=2)
    assert config.policies["r"].config == {"gamma": 0.5}
    assert config.policies["r"].action_space.n == 2 * 3 * 3
    assert config.policies_to_train == ["r"]
    assert len(BatchedEnvRunner(config=config).sample(num_timesteps=4)) == 2


def test_a_policy_that_plays_nobody_yet():
    config = base().multi_agent(policies={"r", "b", "later"}, policy_mapping_fn=by_first_letter)
    config = batched(config, skirmish, num_envs=2)
    assert config.policies["later"].action_space == config.policies["r"].action_space


def test_policies_have_the_same_order_in_every_process():
    names = {"r", "b", *"klmnop"}
    config = base().multi_agent(policies=names, policy_mapping_fn=by_first_letter)
    assert list(batched(config, skirmish, num_envs=2).policies) == sorted(names)


def test_the_number_of_worlds_can_be_changed():
    config = batched(base(), skirmish, num_envs=5).evaluation(
        evaluation_config={"num_envs_per_env_runner": 2}
    )
    assert BatchedEnvRunner(config=config).num_envs == 5
    runner = BatchedEnvRunner(config=config.get_evaluation_config_object())
    assert runner.num_envs == 2
    assert len(runner.sample(num_timesteps=6)) == 2


REFUSED = {
    "config": (lambda: batched({}, skirmish), TypeError, "must be an AlgorithmConfig.*got dict"),
    "mode": (lambda: batched(base(), skirmish, mode="rows"), ValueError, "mode must be 'episodes'"),
    "num_envs": (lambda: batched(base(), skirmish, num_envs=0), ValueError, "num_envs"),
    "horizon": (lambda: batched(base(), skirmish, horizon=-1), ValueError, "horizon"),
    "simulation": (
        lambda: batched(base(), MultiCorridor()),
        TypeError,
        "vectorises, got MultiCorridor; .*MultiAgentWrapper",
    ),
    "old stack": (
        lambda: batched(
            base().api_stack(
                enable_env_runner_and_connector_v2=False, enable_rl_module_and_learner=False
            ),
            skirmish,
        ),
        ValueError,
        "new API stack",
    ),
    "unknown policy": (
        lambda: batched(
            base().multi_agent(policies={"x", "r"}, policy_mapping_fn=by_first_letter), skirmish
        ),
        ValueError,
        "agent 'blue0' the policy 'b', which is not among",
    ),
    "spaces": (
        lambda: batched(
            base().multi_agent(policies={"p"}, policy_mapping_fn=by_first_letter),
            predator_prey_resources,
        ),
        ValueError,
        "policy 'p' plays agents 'prey0' and 'predator0', whose spaces differ",
    ),
    "policy of nobody": (
        lambda: batched(
            base().multi_agent(policies={"p", "q", "h"}, policy_mapping_fn=by_kind),
            predator_prey_resources,
        ),
        ValueError,
        "policy 'h' plays nobody and has no spaces",
    ),
    "columns, algorithm": (
        lambda: batched(APPOConfig(), skirmish, mode="columns"),
        ValueError,
        "made for PPO and its like, got APPOConfig; use mode=\"episodes\"",
    ),
    "columns, learners": (
        lambda: batched(base().learners(num_learners=2), skirmish, mode="columns"),
        ValueError,
        "one learner at most, got num_learners=2",
    ),
    "columns, connectors": (
        lambda: batched(
            base().training(learner_connector=lambda *_: []), skirmish, mode="columns"
        ),
        ValueError,
        "take the place of the learner connectors",
    ),
    "object style": (
        lambda: batched(base(), build([fighter("a")], kind=ByHand, actors=[])),
        TypeError,
        "needs step_batch.*one world at a time",
    ),
    "masks, module": (
        lambda: batched(base(), skirmish, masks=True),
        ValueError,
        "ActionMaskingTorchRLModule",
    ),
    "masks, callbacks": (
        lambda: batched(base().callbacks(on_episode_end=at_the_end), skirmish, masks=True),
        ValueError,
        "masks=True needs the batched env runner, and the config has a callback on_episode_end",
    ),
}  # fmt: skip


def lstm():
    return base().rl_module(model_config={"use_lstm": True, "lstm_cell_size": 4, "max_seq_len": 5})


@pytest.mark.parametrize("case", list(REFUSED))
def test_refused(case):
    call, error, message = REFUSED[case]
    with pytest.raises(error, match=message):
        call()


def test_what_is_refused_leaves_the_config_alone():
    config = base().learners(num_learners=2)
    before = config.to_dict()
    with pytest.raises(ValueError, match="one learner"):
        batched(config, skirmish, mode="columns")
    after = config.to_dict()
    assert {key for key in after if repr(after[key]) != repr(before[key])} == set()


LEFT_TO_RLLIB = {
    "recurrent": (lstm, "the module of policy 'fighter_1' is recurrent"),
    "connectors": (
        lambda: base().env_runners(
            env_to_module_connector=lambda *_: FlattenObservations(multi_agent=True)
        ),
        "the config has env-to-module connectors of its own",
    ),
    "callbacks": (
        lambda: base().callbacks(on_episode_end=at_the_end),
        "the config has a callback on_episode_end",
    ),
    "mapping": (
        lambda: base().multi_agent(
            policies={"even", "odd"},
            policy_mapping_fn=lambda agent_id, episode, **_: (
                "even" if hash(episode.id_) % 2 else "odd"
            ),
        ),
        "its policy_mapping_fn needs the episode",
    ),
    "lots": (
        lambda: base().multi_agent(
            policies={"even", "odd"},
            policy_mapping_fn=lambda agent_id, episode, **_: random.choice(["even", "odd"]),
        ),
        "its policy_mapping_fn says something else each time",
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", list(LEFT_TO_RLLIB))
def test_left_to_the_runner_of_rllib(case, capsys):
    make, reason = LEFT_TO_RLLIB[case]
    config = batched(make(), skirmish, num_envs=2, horizon=5)
    (line,) = capsys.readouterr().out.splitlines()
    assert line.endswith(f"because {reason}")
    assert config.env_runner_cls is None
    if case == "connectors":
        return
    episodes = MultiAgentEnvRunner(config=config).sample(
        num_timesteps=8, random_actions=case != "recurrent"
    )
    assert {len(one) for one in episodes} <= {1, 2, 3, 4, 5}


def connected(*spaces):
    return FlattenObservations(multi_agent=True)


@pytest.mark.parametrize(
    ("mode", "later", "message"),
    [
        ("columns", lambda config: config.learners(learner_connector=connected),
         "columns take the place of the learner connectors"),
        ("episodes", lambda config: config.env_runners(env_to_module_connector=connected),
         r"the config has env-to-module connectors of its own, since batched\(\.\.\.\) was called"),
        ("episodes", lambda config: config.callbacks(on_episode_end=at_the_end),
         "the config has a callback on_episode_end, since batched"),
        ("episodes", lambda config: config.rl_module(model_config={"use_lstm": True}),
         "the module of policy 'fighter_1' is recurrent, since batched"),
    ],
)  # fmt: skip
@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::UserWarning")
def test_what_is_changed_afterwards_is_refused_at_the_start(ray_session, mode, later, message):
    config = batched(base(), skirmish, mode=mode, num_envs=2)
    later(config)
    with pytest.raises(ValueError, match=message):
        config.build_algo()


def test_more_learners_are_refused_at_the_start():
    config = batched(base(), skirmish, mode="columns", num_envs=2).learners(num_learners=2)
    runner = object.__new__(BatchedEnvRunner)
    runner.module = None
    with pytest.raises(ValueError, match="one learner at most, got num_learners=2"):
        on_algorithm_init(SimpleNamespace(config=config, env_runner=runner))


def test_single_worlds_do_not_start_alike():
    sim = corridor(40)
    AllStepManager(sim).reset(seed=1)
    config = batched(base(), sim, num_envs=2)
    one, other = (StockEnv(config.env_config) for _ in "ab")
    starts = [tuple(env.reset()[0]["walker"]) for env in (one, other) for _ in range(3)]
    assert starts[:3] != starts[3:]
    # RLlib gives the seed anew before it samples whole episodes.
    again = [tuple(one.reset(seed=5)[0]["walker"]) for _ in range(4)]
    assert len(set(again)) > 1
    assert again == [tuple(other.reset(seed=5)[0]["walker"]) for _ in range(4)]


def test_large_actions_become_several_choices():
    space = Dict(a=Box(-1, 1, (2,), int), b=Discrete(3, start=2), c=MultiDiscrete([200, 9]))
    points = ActionConversion(space, "action_space")
    assert not points.ravelled
    assert points.space == MultiDiscrete([3, 3, 3, 200, 9])
    found = points.restore(np.array([0, 2, 1, 199, 8]))
    assert found["a"].tolist() == [-1, 1]
    assert found["b"] == 3
    assert found["c"].tolist() == [199, 8]
    assert all(points.restore(points.space.sample()) in space for _ in range(50))
    with pytest.raises(TypeError, match="action_space holds numbers that are no bounded integers"):
        ActionConversion(Box(0, 1, (2,)), "action_space")


def test_observations_become_floats():
    points = ObservationConversion(
        Dict(a=Discrete(3), b=Box(-2, 5, (2,), int)), "observation_space"
    )
    flat = points.convert({"a": 1, "b": np.array([-2, 4])})
    assert flat.tolist() == [0, 1, 0, -2, 4]
    assert flat in points.space


def test_without_ray():
    script = (
        "import sys; sys.modules['ray'] = None\n"
        "try:\n    import abmarl.external.rllib\n"
        "except ImportError as error:\n    print(error)"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert done.stdout == "abmarl.external.rllib needs ray: pip install 'abmarl[rllib]'\n"
