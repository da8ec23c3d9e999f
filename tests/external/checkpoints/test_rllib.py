"""Checkpoint folders of RLlib as policies of groups."""

import dataclasses
import pickle
import shutil

import numpy as np
import pytest

pytest.importorskip("ray")
pytest.importorskip("torch")

import torch
from gymnasium import spaces

from abmarl.cli.console import UserError
from abmarl.cli.inputs import load_policies, names_of_policies
from abmarl.external import load_policy
from abmarl.rollout import collect
from abmarl.rollout.policies import bind_policies
from tests.support.grid_worlds import corridor, skirmish
from tests.support.pickle_bomb import Bomb

torch.set_num_threads(1)
# What importing and building RLlib's modules warns of is its own.
pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::UserWarning")


def flat(vec):
    return vec.flatten(actions=False).ravel(observations=False)


def spec(observation_space, action_space, kind=None, **more):
    from ray.rllib.algorithms.ppo.torch.default_ppo_torch_rl_module import DefaultPPOTorchRLModule
    from ray.rllib.core.rl_module.default_model_config import DefaultModelConfig
    from ray.rllib.core.rl_module.rl_module import RLModuleSpec

    config = dataclasses.asdict(DefaultModelConfig(fcnet_hiddens=[8], **more))
    kind = kind or DefaultPPOTorchRLModule
    return RLModuleSpec(kind, observation_space=observation_space,
                        action_space=action_space, model_config=config)  # fmt: skip


def made(path, specs):
    from ray.rllib.core.rl_module.multi_rl_module import MultiRLModuleSpec

    modules = MultiRLModuleSpec(rl_module_specs=specs).build()
    modules.save_to_path(str(path))
    return modules


@pytest.fixture
def vec():
    return skirmish().vectorize(4, seed=2, horizon=6)


@pytest.fixture
def folder(vec, tmp_path):
    """The policies of an algorithm's checkpoint."""
    path = tmp_path / "algo" / "learner_group" / "learner" / "rl_module"
    groups = flat(vec).groups
    made(path, {n: spec(g.observation_space, g.action_space) for n, g in groups.items()})
    return tmp_path / "algo"


@pytest.fixture
def algorithm(folder):
    """As a checkpoint of an algorithm has it: pickles at every level."""
    for inner in ("", "learner_group", "learner_group/learner"):
        (folder / inner / "class_and_ctor_args.pkl").write_bytes(b"")
    return folder


def module_of(folder, name):
    from ray.rllib.core.rl_module.rl_module import RLModule

    return RLModule.from_checkpoint(
        str(folder / "learner_group" / "learner" / "rl_module" / name)
    ).eval()


def test_acts_as_the_module(vec, algorithm):
    for name in vec.groups:
        policy = load_policy(algorithm, name, trust=True)
        around = flat(vec)
        observations, infos = around.reset(seed=5)
        seen, active = observations[name], infos["active"][name]
        logits = module_of(algorithm, name).forward_inference(
            {"obs": torch.as_tensor(seen[active].astype(np.float32))}
        )["action_dist_inputs"]
        bound = bind_policies(around, {name: policy})[name]
        np.testing.assert_array_equal(bound(seen, active)[active], logits.argmax(-1).numpy())
        rollouts = [collect(v, {name: policy}, 12, seed=5, progress=False) for v in (vec, around)]
        np.testing.assert_array_equal(*(rollout.rewards[name] for rollout in rollouts))


def test_draws_are_those_of_the_seed(vec, algorithm):
    name = next(iter(vec.groups))

    def moves(seed):
        policy = load_policy(algorithm, name, trust=True, deterministic=False, seed=seed)
        return collect(vec, {name: policy}, 30, seed=1, progress=False).actions[name]["move"]

    np.testing.assert_array_equal(moves(1), moves(1))
    assert not np.array_equal(moves(1), moves(2))


def test_what_connectors_flattened_has_no_bounds(vec, tmp_path):
    name, group = next(iter(flat(vec).groups.items()))
    unbounded = spaces.Box(-np.inf, np.inf, group.observation_space.shape)
    made(tmp_path / "one", {name: spec(unbounded, group.action_space)})
    policy = load_policy(tmp_path / "one", trust=True)  # there is but one
    assert collect(vec, {name: policy}, 5, progress=False).num_steps == 5
    assert load_policy(tmp_path / "one" / name, trust=True)


def test_masks_are_those_of_the_engine(tmp_path):
    from ray.rllib.examples.rl_modules.classes.action_masking_rlm import ActionMaskingTorchRLModule

    plain = skirmish().vectorize(4, seed=2, horizon=6)
    vec = flat(plain)
    group = vec.groups["fighter_1"]
    count = int(group.action_space.n)
    box = group.observation_space
    floats = spaces.Box(box.low.astype(np.float32), box.high.astype(np.float32))
    seen = spaces.Dict(action_mask=spaces.Box(0.0, 1.0, (count,)), observations=floats)
    made(tmp_path / "m", {"red": spec(seen, group.action_space, ActionMaskingTorchRLModule)})
    policy = load_policy(tmp_path / "m", trust=True, deterministic=False)
    collect(plain, {"fighter_1": policy}, 3, progress=False)
    bound = bind_policies(vec, {"fighter_1": policy})["fighter_1"]
    observations, infos = vec.reset()
    outside = 0
    for _ in range(20):
        actions, masks = vec.sample_actions(), vec.action_masks()["fighter_1"]
        active = infos["active"]["fighter_1"]
        actions["fighter_1"] = bound(observations["fighter_1"], active)
        assert masks[active][np.arange(active.sum()), actions["fighter_1"][active]].all()
        outside += np.count_nonzero(~masks[active])
        observations, *_, infos = vec.step(actions)
    assert outside > 100  # there was something to be masked


def test_boxes_of_actions_are_scaled_to_their_bounds(tmp_path):
    vec = corridor().vectorize(4, seed=0, horizon=6)
    seen = vec.flatten().groups["walker"].observation_space
    made(tmp_path / "box", {"walker": spec(seen, spaces.Box(-1, 1, (2,), np.float32))})
    policy = load_policy(tmp_path / "box", trust=True)
    moves = collect(vec, {"walker": policy}, 5, progress=False).actions["walker"]["move"]
    assert np.isin(moves, [-1, 0, 1]).all()


def test_which_policy(algorithm):
    names = r"choose one of '\w+', '\w+' by name,\nor give its folder"
    with pytest.raises(ValueError, match=f"has several policies: {names}"):
        load_policy(algorithm, trust=True)
    with pytest.raises(ValueError, match=f"has no policy 'green': {names}"):
        load_policy(algorithm, "green", trust=True)
    one = algorithm / "learner_group/learner/rl_module/fighter_1"
    with pytest.raises(ValueError, match="holds one policy: leave out name='green'"):
        load_policy(one, "green", trust=True)


def test_spaces_that_do_not_fit_are_both_shown(algorithm):
    vec = corridor().vectorize(2)
    policy = load_policy(algorithm, "fighter_1", trust=True)
    with pytest.raises(ValueError, match=r"does not fit group 'walker'") as caught:
        policy.bind(vec, "walker")
    assert repr(vec.groups["walker"].observation_space) in str(caught.value)
    assert repr(policy.observation_space) in str(caught.value)


def test_pickles_are_not_opened_without_trust(algorithm, tmp_path):
    one = algorithm / "learner_group/learner/rl_module/fighter_1"
    for name in ("class_and_ctor_args.pkl", "module_state.pkl"):
        (one / name).write_bytes(pickle.dumps(Bomb(tmp_path / "harm")))
    for arguments in ((algorithm, "fighter_1"), (one,)):
        with pytest.raises(ValueError, match=r"pickles, which can execute code;\n.*trust=True"):
            load_policy(*arguments)
    assert not (tmp_path / "harm").exists()
    with pytest.raises(ValueError, match="cannot be restored"):
        load_policy(one, trust=True)
    assert (tmp_path / "harm").exists()  # which is why it has to be asked for


def test_folders_that_are_damaged(algorithm, tmp_path):
    one = algorithm / "learner_group/learner/rl_module/fighter_1"
    (one / "module_state.pkl").write_bytes(b"")
    with pytest.raises(ValueError, match=r"fighter_1 cannot be restored"):
        load_policy(one, trust=True)
    shutil.rmtree(algorithm / "learner_group")
    with pytest.raises(ValueError, match="algo is a checkpoint of RLlib without policies"):
        load_policy(algorithm, trust=True)


def test_policies_that_remember_are_refused(vec, tmp_path):
    group = next(iter(flat(vec).groups.values()))
    recurrent = spec(group.observation_space, group.action_space, use_lstm=True)
    made(tmp_path / "lstm", {"red": recurrent})
    with pytest.raises(ValueError, match="remembers earlier steps"):
        load_policy(tmp_path / "lstm", trust=True)


@pytest.fixture
def results(algorithm, tmp_path):
    """A results folder of a training, whose last checkpoint it is."""
    from abmarl.experiments.results import Results

    (tmp_path / "fight.py").write_text("params = {}\n")
    results = Results.create(tmp_path / "base", "fight", str(tmp_path / "fight.py"))
    (results.folder / "checkpoint_000001").mkdir()
    shutil.move(algorithm, results.folder / "checkpoint_000020")
    return results.folder


def asked(vec, *given, trust=True):
    """What the command line makes of some ``--policy``."""
    return load_policies(vec, names_of_policies(vec, given), trust, False, 0)


def test_results_of_a_training_are_asked_for_by_their_folder(vec, results, capsys):
    found = asked(vec, str(results))
    assert list(found) == ["fighter_1", "fighter_2"]
    for group, policies in found.items():
        alone = load_policy(results / "checkpoint_000020", group, trust=True)
        rollouts = [
            collect(vec, {group: one}, 8, seed=3, progress=False)
            for one in (alone, policies[str(results)])
        ]
        np.testing.assert_array_equal(*(one.rewards[group] for one in rollouts))
    assert f"loading {results} ...\n" in capsys.readouterr().err


def test_one_of_several_policies_is_named_behind_the_path(vec, results, monkeypatch):
    monkeypatch.setenv("HOME", str(results.parent))
    for path in (str(results), f"{results}/checkpoint_000020", f"~/{results.name}"):
        name = f"{path}#fighter_2"
        policy = asked(vec, f"fighter_1={name}")["fighter_1"][name]
        alone = load_policy(results / "checkpoint_000020", "fighter_2", trust=True)
        rollouts = [
            collect(vec, {"fighter_1": one}, 8, seed=3, progress=False) for one in (alone, policy)
        ]
        np.testing.assert_array_equal(*(one.rewards["fighter_1"] for one in rollouts))


def test_which_policy_is_meant_is_asked(vec, results):
    walkers = corridor().vectorize(2)
    with pytest.raises(UserError) as caught:
        asked(walkers, str(results))
    assert str(caught.value) == (
        f"--policy: {results} has the policies 'fighter_1', 'fighter_2', and none for group "
        f"'walker':\nchoose one, as --policy 'walker={results}#fighter_1'"
    )
    with pytest.raises(UserError, match="no policy 'red': choose one of 'fighter_1', 'fighter_2'"):
        asked(vec, f"{results}#red")
    with pytest.raises(UserError, match=r"pickles, which can execute code;\n.*--trust"):
        asked(vec, str(results), trust=False)
    shutil.rmtree(results / "checkpoint_000020")
    (results / "checkpoint_000001").rmdir()
    with pytest.raises(UserError, match="has no checkpoints: training ended before"):
        asked(vec, str(results))


def test_a_name_with_the_mark_in_it_may_be_a_path(vec, results, tmp_path):
    other = tmp_path / "run#2"
    shutil.copytree(results, other)
    assert list(asked(vec, f"fighter_1={other}")["fighter_1"]) == [str(other)]
    name = f"{other}#fighter_1"
    assert list(asked(vec, f"fighter_1={name}")["fighter_1"]) == [name]


def test_rllib_does_not_warn_of_itself(vec, algorithm, caplog):
    import logging

    asked(vec, f"fighter_1={algorithm}#fighter_1")
    logger = logging.getLogger("ray._common.deprecation")
    logger.warning("DeprecationWarning: `RLModule(config=[RLModuleConfig object])` is old")
    logger.warning("DeprecationWarning: `yours` is old")
    assert [one.getMessage() for one in caplog.records] == ["DeprecationWarning: `yours` is old"]
