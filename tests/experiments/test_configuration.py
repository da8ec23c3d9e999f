"""Old keys, as RLlib understands them now."""

import pytest
from gymnasium.spaces import Box, Discrete

pytest.importorskip("ray.rllib")

from ray.rllib.core.rl_module.rl_module import RLModule

from abmarl.experiments import configuration
from abmarl.experiments.configuration import ENV_NAME, translate
from abmarl.experiments.environment import EnvCreator
from abmarl.experiments.experiment import ExperimentError, read
from abmarl.experiments.settings import apply_settings
from tests.support.experiment_files import MULTIAGENT, write


def plan_of(folder, *settings, **parts):
    experiment = read(write(folder, **parts))
    apply_settings(experiment, settings)
    return translate(experiment)


OLD = """
"num_envs_per_worker": 1, "num_sgd_iter": 3, "sgd_minibatch_size": 64, "train_batch_size": 512,
"lambda": 0.9, "gamma": 0.5, "lr": 0.01, "rollout_fragment_length": 32, "seed": 4,
"disable_env_checking": True, "simple_optimizer": True, "framework": "tf",
"model": {"fcnet_hiddens": [8, 8]}, "env_config": {"a": 1},
"""


def test_every_key_has_its_line(tmp_path):
    plan = plan_of(
        tmp_path, config=OLD, algorithm="PPO", stop="'episodes_total': 9",
        tune='"checkpoint_freq": 4, "checkpoint_at_end": False, "num_samples": 1,',
        local_dir=tmp_path,
    )  # fmt: skip
    config = plan.config
    assert (config.num_epochs, config.minibatch_size) == (3, 64)
    assert config.train_batch_size_per_learner == 512
    assert (config.lambda_, config.gamma, config.lr, config.seed) == (0.9, 0.5, 0.01, 4)
    assert config.num_env_runners == 0
    assert config.model_config["fcnet_hiddens"] == [8, 8]
    assert config.env_config == {"a": 1}
    assert plan.horizon == 20
    assert (plan.checkpoint_freq, plan.checkpoint_at_end) == (4, False)
    assert plan.base == tmp_path / "abmarl_results"
    assert plan.stop == {"env_runners/num_episodes_lifetime": 9}
    assert plan.lines == [
        "stop: episodes_total=9 -> env_runners/num_episodes_lifetime",
        "num_samples: has no effect, a file is one run",
        "num_workers=0 -> num_env_runners=0",
        "num_envs_per_worker=1 -> num_envs_per_env_runner=1",
        "num_sgd_iter=3 -> num_epochs=3",
        "sgd_minibatch_size=64 -> minibatch_size=64",
        "train_batch_size=512 -> train_batch_size_per_learner=512",
        "lambda=0.9 -> lambda_=0.9",
        "disable_env_checking: has no effect, environments are checked by abmarl",
        "simple_optimizer: has no effect, RLlib has one optimizer per policy",
        "framework='tf' -> 'torch', the only one that RLlib still has",
        "model -> rl_module(model_config={'fcnet_hiddens': [8, 8]})",
        "env='walk': is not registered, sim_creator makes the simulation",
        "horizon=20 -> episodes are truncated after as many steps",
        "multiagent -> multi_agent(policies=['walker']), the mapping function of an agent's id",
    ]
    config.validate()


def test_spaces_are_those_of_networks(tmp_path):
    plan = plan_of(tmp_path)
    (spec,) = plan.config.policies.values()
    assert isinstance(spec.observation_space, Box)
    assert (spec.observation_space.shape, spec.observation_space.dtype) == ((3,), "float32")
    assert spec.action_space == Discrete(3)
    assert plan.config.policy_mapping_fn("agent1", None) == "walker"
    env = EnvCreator(read(write(tmp_path)).sim_creator, 3)({})
    assert env.env.horizon == 3


@pytest.mark.parametrize("more", ["", ", episode", ", episode, worker, **kwargs"])
def test_mapping_functions_of_all_times(tmp_path, more):
    multiagent = f"'policies': ['walker'], 'policy_mapping_fn': lambda one{more}: 'walker'"
    config = plan_of(tmp_path, multiagent=multiagent).config
    assert config.policy_mapping_fn("agent0", None) == "walker"
    assert config.policy_mapping_fn("agent0", None, extra=3) == "walker"


def test_without_multiagent_all_share_a_policy(tmp_path):
    config = plan_of(tmp_path, multiagent="").config
    assert list(config.policies) == ["policy"]
    assert config.is_multi_agent


def test_a_policy_of_nobody_is_told(tmp_path):
    multiagent = "'policies': ['walker', 'idle'], 'policy_mapping_fn': lambda one: 'walker'"
    plan = plan_of(tmp_path, multiagent=multiagent)
    assert list(plan.config.policies) == ["walker"]
    assert "policy 'idle': is left out, no agent is mapped to it" in plan.lines


def test_settings_of_a_policy(tmp_path):
    multiagent = "'policies': {'walker': (None, None, None, {'lr': 0.5, 'num_sgd_iter': 2})}"
    config = plan_of(tmp_path, multiagent=multiagent, algorithm="PPO").config
    config.validate()
    config.freeze()
    assert config.get_config_for_module("walker").lr == 0.5
    assert config.get_config_for_module("walker").num_epochs == 2


class Idle(RLModule):
    """A policy of the user's."""


def test_a_policy_of_the_users(tmp_path):
    head = "from tests.experiments.test_configuration import Idle"
    config = plan_of(
        tmp_path, head=head, multiagent="'policies': {'walker': (Idle, None, None, {})}"
    ).config
    spec = config.get_multi_rl_module_spec()
    assert spec.rl_module_specs["walker"].module_class.__name__ == "Idle"


def test_no_more_workers_than_processors(tmp_path, monkeypatch):
    monkeypatch.setattr(configuration, "available_cpus", lambda: 3)
    plan = plan_of(tmp_path, "num_workers=7")
    assert plan.config.num_env_runners == 2
    assert "num_env_runners=7 -> 2: this machine has 3 processors" in plan.lines[-1]
    assert plan.num_processes == 3
    monkeypatch.setenv("RAY_ADDRESS", "somewhere:6379")
    assert plan_of(tmp_path, "num_workers=7").config.num_env_runners == 7


@pytest.mark.parametrize(
    ("parts", "message"),
    [
        ({"algorithm": "PP0"}, r"there is no algorithm 'PP0' \(did you mean 'PPO'\?\); "),
        ({"algorithm": None},  "has no 'run_or_experiment', the name of an algorithm such as"),
        ({"config": '"num_wrkers": 1,'}, r"has a key 'num_wrkers' that PG does not know \(did"),
        ({"config": '"build_algo": 1,'}, "has a key 'build_algo' that PG does not know"),
        ({"config": '"horizon": 0,'}, r"\['horizon'\] must be a number of steps, not 0"),
        ({"config": '"model": {"fcnet_hidden": 1},'}, r"did you mean 'fcnet_hiddens'\?"),
        ({"tune": '"checkpoint_freq": -1,'}, r"\['checkpoint_freq'\] must be a number of"),
        ({"config": '"num_envs_per_worker": 3,'},
         "3 simulations per worker, but the creator returns the same one each time"),
        ({"config": '"evaluation_interval": 3,'}, "evaluation needs a simulation of its own"),
        ({"multiagent": '"policy": {}'}, r"has no key 'policy' \(did you mean 'policies'\?\)"),
        ({"multiagent": '"policies": 3'}, r"\['policies'\] must be a dict of id to \(None, obs"),
        ({"multiagent": '"policies": {"a": 3}'}, r"\['policies'\]\['a'\] must be \(None, obs"),
        ({"multiagent": '"policies": ["a", "b"]'}, r"\['policy_mapping_fn'\] must be a function"),
        ({"multiagent": '"policies": ["walker"], "policy_mapping_fn": lambda one: "walkr"'},
         r"maps agent 'agent0' to 'walkr' \(did you mean 'walker'\?\); the policies are 'walker'"),
        ({"multiagent": '"policies": ["walker"], "policy_mapping_fn": lambda one: one.x'},
         r"\['policy_mapping_fn'\] fails for agent 'agent0': AttributeError: 'str' object has"),
        ({"multiagent": '"policies": {"a": (None, spaces[1], spaces[1], {})}'},
         r"policy 'a' has the observation_space Discrete\(3\)\nbut agent 'agent0', which is "),
        ({"multiagent": '"policies": {"a": (None, *spaces, {"lrr": 3})}'},
         r"policy 'a' has a setting 'lrr' that is unknown \(did you mean 'lr'\?\)"),
        ({"multiagent": '"policies": {"a": (dict, *spaces, {})}'},
         "policy 'a' is to be a <class 'dict'>; RLlib now takes a subclass of RLModule there"),
        ({"multiagent": MULTIAGENT + ', "policies_to_train": ["wolker"]'},
         r"policies_to_train names 'wolker' \(did you mean 'walker'\?\)"),
        ({"experiment": ', "batched": True'},
         "TurnBasedManager cannot be run in batches, where everybody acts in every step"),
        ({"experiment": ', "batched": True', "head": "from abmarl.managers import AllStepManager\n"
          "manager = AllStepManager(manager.sim)"}, "cannot be run in batches: "),
        ({"head": "manager = manager.sim"}, "without a simulation manager; write AllStepManager"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_told_in_two_lines(tmp_path, parts, message):
    with pytest.raises(ExperimentError, match=message) as caught:
        plan_of(tmp_path, **parts)
    assert str(caught.value).count("\n") <= 1


def test_a_simulation_that_fails_is_told_where(tmp_path):
    head = """
    class Broken(MultiCorridor):
        def step(self, action_dict, **kwargs):
            raise KeyError("no such thing")

    manager = TurnBasedManager(Broken(end=5, num_agents=2))
    """
    with pytest.raises(ExperimentError, match=r"walk\.py, line 11: KeyError: 'no such thing'"):
        plan_of(tmp_path, head=head)


NEW = """
from ray.rllib.algorithms.ppo import PPOConfig

from abmarl.examples import team_battle
from abmarl.managers import AllStepManager

def config():
    return PPOConfig().training(lr=0.25){more}

params = {{
    "experiment": {{
        "title": "Battle", "sim_creator": lambda config: AllStepManager(team_battle()), {experiment}
    }},
    "ray_tune": {{"config": config{call}}},
}}
"""
TEAMS = (
    ".multi_agent(policies={'a', 'b'}, policy_mapping_fn=lambda one, *args: 'ab'[one > 'agent3'])"
)


def new_plan(folder, *settings, more="", experiment="", call=""):
    path = folder / "battle.py"
    path.write_text(NEW.format(more=more, experiment=experiment, call=call))
    made = read(path)
    apply_settings(made, settings)
    return translate(made)


@pytest.mark.parametrize("call", ["", "()"])
def test_an_algorithm_config_or_a_function_that_makes_one(tmp_path, call):
    plan = new_plan(tmp_path, "num_sgd_iter=3", "num_workers=0", more=TEAMS, call=call)
    assert (plan.config.lr, plan.config.num_epochs) == (0.25, 3)
    assert plan.config.env == ENV_NAME
    assert sorted(plan.config.policies) == ["a", "b"]
    assert plan.config.policies["a"].action_space == Discrete(18)
    assert plan.config.policy_mapping_fn("agent7", None) == "b"


def test_batches(tmp_path):
    plan = new_plan(tmp_path, "num_workers=0", more=TEAMS, experiment="'batched': True")
    assert plan.config.num_envs_per_env_runner == 64
    assert plan.config.policies["a"].action_space == Discrete(18)
    assert plan.lines == ["batched='episodes' -> 64 worlds at once per env runner"]


def test_a_simulation_that_managers_share(tmp_path):
    path = tmp_path / "shared.py"
    path.write_text(NEW.format(more=TEAMS, experiment="", call="").replace(
        "AllStepManager(team_battle())", "AllStepManager(sim)"
    ).replace("def config", "sim = team_battle()\n\ndef config"))  # fmt: skip
    made = read(path)
    apply_settings(made, ["num_envs_per_worker=2", "num_workers=0"])
    with pytest.raises(ExperimentError, match="2 simulations per worker, but the creator returns"):
        translate(made)


@pytest.mark.parametrize(
    ("settings", "more", "message"),
    [
        (["lrr=3"], "", r"--set lrr=3: there is no such key \(did you mean 'lr'\?\)"),
        ([], ".multi_agent(policies={'a'}, policy_mapping_fn=lambda *args: 'b')",
         "maps agent 'agent0' to 'b'; the policies are 'a'"),
        ([], ".api_stack(enable_rl_module_and_learner=False, "
             "enable_env_runner_and_connector_v2=False)", "asks for RLlib's old API stack"),
        (["experiment.batched=True"], ".environment('mine')",
         "has an environment of its own, which cannot be run in batches"),
    ],
)  # fmt: skip
def test_configs_that_are_wrong(tmp_path, settings, more, message):
    with pytest.raises(ExperimentError, match=message):
        new_plan(tmp_path, *settings, more=more)


WHERE = r"walk\.py: params\['ray_tune'\]\['config'\]: "


@pytest.mark.parametrize(
    ("settings", "config", "message"),
    [
        (["lr=abc"], "", "lr='abc' is no number; RLlib's default is "),
        (["gamma=1.5"], "", "gamma=1.5 must be a number from 0 to 1"),
        (["lambda=-1"], "", "lambda=-1 must be a number from 0 to 1"),
        ([], '"lr": {"grid_search": [1, 2]}',
         "lr={.*} asks for several runs: a file is one run; use --set lr=..."),
        ([], '"env_config": {"size": {"grid_search": [1, 2]}}', "env_config={.*} asks for several"),
        (["train_batch_size=64", "sgd_minibatch_size=65"], "",
         "sgd_minibatch_size=65 is more than train_batch_size=64: set it to 64 or less"),
        (["train_batch_size=64"], "", "minibatch_size=128 is more than train_batch_size=64"),
        (["num_gpus=1"], "", "num_gpus=1 needs a GPU that torch can use, and there is none here"),
    ],
)  # fmt: skip
def test_values_that_are_refused(tmp_path, monkeypatch, settings, config, message):
    import torch

    monkeypatch.delenv("RAY_ADDRESS", raising=False)
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    experiment = read(write(tmp_path, algorithm="PPO", config=config))
    apply_settings(experiment, settings)
    with pytest.raises(ExperimentError, match=WHERE + message):
        translate(experiment)


def test_values_that_are_fine(tmp_path, monkeypatch):
    import torch

    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    experiment = read(write(tmp_path, algorithm="PPO", config='"lr": [[0, 0.1], [10, 0.0]],'))
    apply_settings(experiment, ["num_gpus=1", "gamma=1", "rollout_fragment_length=auto"])
    assert translate(experiment).config.num_gpus_per_learner == 1
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    monkeypatch.setenv("RAY_ADDRESS", "somewhere:1")  # which may have some
    assert translate(experiment).config.num_gpus_per_learner == 1


def test_batches_that_cannot_be_name_who_asked_for_them(tmp_path):
    experiment = read(write(tmp_path))
    apply_settings(experiment, ["experiment.batched=True"])
    with pytest.raises(ExperimentError, match=r"or leave out --set experiment\.batched=True$"):
        translate(experiment)
    experiment = read(write(tmp_path, experiment=", 'batched': True"))
    with pytest.raises(ExperimentError, match=r"or leave out params\['experiment'\]\['batched'\]$"):
        translate(experiment)
