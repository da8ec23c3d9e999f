"""Checkpoints of Stable-Baselines3 as policies of groups."""

import base64
import io
import json
import pickle
import subprocess
import sys
import zipfile

import gymnasium
import numpy as np
import pytest

pytest.importorskip("stable_baselines3")
pytest.importorskip("sb3_contrib")

import torch
from gymnasium import spaces
from sb3_contrib import MaskablePPO, RecurrentPPO
from stable_baselines3 import A2C, DQN, PPO, SAC
from stable_baselines3.common.torch_layers import FlattenExtractor

from abmarl.examples import shipped
from abmarl.external import SB3VecEnv, load_policy
from abmarl.external.learner_worlds import EntryMasks
from abmarl.rollout import collect
from abmarl.rollout.policies import bind_policies
from abmarl.sim.conversion import MultiDiscreteConversion
from tests.support.grid_worlds import corridor, skirmish
from tests.support.pickle_bomb import Bomb

torch.set_num_threads(1)
# Saving a model imports the old gym for its version, which pygame's or gym's own imports warn of.
pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning:gym")

SMALL = {"net_arch": [8]}


class Noise(gymnasium.Env):
    """Noise of some spaces, to train on."""

    def __init__(self, observation_space, action_space):
        self.observation_space, self.action_space = observation_space, action_space

    def reset(self, seed=None, options=None):
        return self.observation_space.sample(), {}

    def step(self, action):
        return self.observation_space.sample(), 1.0, False, False, {}

    def action_masks(self):
        return np.ones(self.action_space.n, bool)


def battle(**more):
    return skirmish().vectorize(**{"num_envs": 4, "seed": 2, "horizon": 6, **more})


def flat(vec):
    """Flat observations and one number per action, as single-agent libraries like them."""
    return vec.flatten(actions=False).ravel(observations=False)


def trained(kind, policy, group, tmp_path, action_space=None, **settings):
    """A model after a few steps, and its checkpoint."""
    env = Noise(group.observation_space, action_space or group.action_space)
    quick = {"n_steps": 8} if kind in (PPO, A2C, MaskablePPO) else {"learning_starts": 4}
    if kind in (PPO, MaskablePPO):
        quick.update(batch_size=8, n_epochs=1)
    settings = {"policy_kwargs": dict(SMALL), **settings}  # SAC adds to what it is given
    model = kind(policy, env, seed=1, device="cpu", **quick, **settings)
    model.learn(16)
    path = str(tmp_path / "model.zip")
    model.save(path)
    return model, path


def first(vec, name):
    observations, infos = vec.reset(seed=5)
    return observations[name], infos["active"][name]


@pytest.mark.parametrize("kind", [PPO, A2C, DQN])
@pytest.mark.parametrize("trust", [False, True])
def test_acts_as_the_model(kind, trust, tmp_path):
    vec = battle()
    for name, group in flat(vec).groups.items():
        model, path = trained(kind, "MlpPolicy", group, tmp_path)
        policy = load_policy(path, trust=trust)
        around = flat(vec)
        seen, active = first(around, name)
        wanted, _ = model.predict(seen.reshape(-1, seen.shape[-1]), deterministic=True)
        bound = bind_policies(around, {name: policy})[name]
        np.testing.assert_array_equal(bound(seen, active)[active], wanted[active.ravel()])
        rollouts = [collect(v, {name: policy}, 12, seed=5, progress=False) for v in (vec, around)]
        np.testing.assert_array_equal(*(rollout.rewards[name] for rollout in rollouts))


def test_masks_are_those_of_the_engine(tmp_path):
    vec = flat(battle())
    _, path = trained(MaskablePPO, "MlpPolicy", vec.groups["fighter_1"], tmp_path)
    vec = battle()
    policy = bind_policies(vec, {"fighter_1": load_policy(path, deterministic=False)})["fighter_1"]
    joint = vec.ravel(observations=False)
    observations, infos = vec.reset(seed=1)
    outside = 0
    for _ in range(30):
        actions = vec.sample_actions()
        actions["fighter_1"] = policy(observations["fighter_1"], infos["active"]["fighter_1"])
        masks = joint.action_masks()["fighter_1"]
        codes = joint._actions["fighter_1"].convert_batch(actions["fighter_1"])
        active = infos["active"]["fighter_1"]
        assert np.take_along_axis(masks, codes[..., None], -1)[..., 0][active].all()
        outside += np.count_nonzero(~masks[active])
        observations, *_, infos = vec.step(actions)
    assert outside > 100  # there was something to be masked


def test_masks_are_those_of_each_group_that_a_policy_acts_for(tmp_path):
    vec = flat(battle())
    _, path = trained(MaskablePPO, "MlpPolicy", vec.groups["fighter_1"], tmp_path)
    vec = battle()
    policy = load_policy(path, deterministic=False)
    bound = bind_policies(vec, dict.fromkeys(vec.groups, policy))
    joint = vec.ravel(observations=False)
    observations, infos = vec.reset(seed=1)
    for _ in range(30):
        actions = {
            name: bound[name](observations[name], infos["active"][name]) for name in vec.groups
        }
        masks = joint.action_masks()
        for name, active in infos["active"].items():
            codes = joint._actions[name].convert_batch(actions[name])
            chosen = np.take_along_axis(masks[name], codes[..., None], -1)[..., 0]
            assert chosen[active].all()
        observations, *_, infos = vec.step(actions)


def test_both_sides_throw_dice_of_their_own(tmp_path):
    vec = battle(num_envs=64)
    _, path = trained(A2C, "MlpPolicy", flat(vec).groups["fighter_1"], tmp_path)
    policies = {name: load_policy(path, deterministic=False, seed=3) for name in vec.groups}
    bound = bind_policies(vec, policies)
    seen, active = first(vec, "fighter_1")
    drawn = [policy(seen, active)["move"] for policy in bound.values()]
    again = [p(seen, active)["move"] for p in bind_policies(vec, policies).values()]
    np.testing.assert_array_equal(drawn, again)
    assert 0.1 < np.mean(drawn[0] == drawn[1]) < 0.6


def test_masks_entry_by_entry(tmp_path):
    env = SB3VecEnv(battle(), "fighter_1", actions="multi_discrete")
    model = MaskablePPO(
        "MlpPolicy", env, n_steps=4, batch_size=8, n_epochs=1, seed=1, device="cpu",
        **env.on_policy(masked=True),
    )  # fmt: skip
    path = str(tmp_path / "entries.zip")
    model.learn(16).save(path)
    vec = battle()
    around = SB3VecEnv(battle(), "fighter_1", actions="multi_discrete").vec
    outside = 0
    observations, infos = vec.reset(seed=1)
    same, _ = around.reset(seed=1)
    channels, entries = (
        bind_policies(one, {"fighter_1": load_policy(path)})["fighter_1"] for one in (vec, around)
    )
    masks_of = EntryMasks(vec, "fighter_1")
    for _ in range(10):
        active = infos["active"]["fighter_1"]
        masks = masks_of.now(active)
        rows = same["fighter_1"].reshape(active.size, -1)
        wanted, _ = model.predict(rows, deterministic=True, action_masks=masks)
        chosen = entries(same["fighter_1"], active)
        np.testing.assert_array_equal(chosen[active], wanted[active.reshape(-1)])
        free, _ = model.predict(rows, deterministic=True)
        outside += np.count_nonzero((free != wanted)[active.reshape(-1)])
        actions = vec.sample_actions()
        actions["fighter_1"] = channels(observations["fighter_1"], active)
        numbers = MultiDiscreteConversion(vec.groups["fighter_1"].action_space)
        found = numbers.convert_batch(actions["fighter_1"])
        np.testing.assert_array_equal(found[active], chosen[active])
        moved = {**around.sample_actions(), "fighter_1": found}
        moved.update({name: one for name, one in actions.items() if name != "fighter_1"})
        observations, *_, infos = vec.step(actions)
        same, *_ = around.step(moved)
    assert outside > 0  # there was something to be masked


def test_a_number_for_each_entry_of_the_actions(tmp_path):
    vec = battle()
    name, group = next(iter(flat(vec).groups.items()))
    entries = MultiDiscreteConversion(vec.groups[name].action_space)
    model, path = trained(PPO, "MlpPolicy", group, tmp_path, entries.target)
    seen, active = first(flat(vec), name)
    wanted, _ = model.predict(seen[active], deterministic=True)
    found = bind_policies(vec, {name: load_policy(path)})[name](*first(vec, name))
    np.testing.assert_array_equal(entries.convert_batch(found)[active], wanted)


def test_dict_observations_stay_dicts(tmp_path):
    vec = battle()
    name, group = next(iter(vec.groups.items()))
    actions = vec.ravel().groups[name].action_space
    model, path = trained(PPO, "MultiInputPolicy", group, tmp_path, actions)
    seen, active = first(vec, name)
    bound = bind_policies(vec, {name: load_policy(path)})[name]
    rows = {key: part[active] for key, part in seen.items()}
    wanted, _ = model.predict(rows, deterministic=True)
    found = vec.ravel()._actions[name].convert_batch(bound(seen, active))
    np.testing.assert_array_equal(found[active], wanted)


def test_continuous_actions_are_rounded(tmp_path):
    vec = corridor().vectorize(6, seed=0, horizon=8)
    group = vec.flatten().groups["walker"]
    box = spaces.Box(-1, 1, (2,), np.float32)
    model, path = trained(SAC, "MlpPolicy", group, tmp_path, box)
    seen, _ = first(vec.flatten(), "walker")
    wanted, _ = model.predict(seen[:, 0], deterministic=True)
    bound = bind_policies(vec, {"walker": load_policy(path)})["walker"]
    found = bound(*first(vec, "walker"))["move"]
    np.testing.assert_array_equal(found[:, 0], np.rint(wanted))


def test_what_was_learned_is_played(tmp_path):
    """PPO on one world, trained by its own loop, plays in many."""

    class Walk(gymnasium.Env):
        def __init__(self):
            self.vec = flat(corridor().vectorize(1, seed=0, horizon=20))
            group = self.vec.groups["walker"]
            self.observation_space, self.action_space = group.observation_space, group.action_space

        def reset(self, seed=None, options=None):
            return self.vec.reset(seed=seed)[0]["walker"][0, 0].copy(), {}

        def step(self, action):
            seen, rewards, terminated, truncated, infos = self.vec.step(
                {"walker": np.full((1, 1), action)}
            )
            ended = bool(infos["ended"][0])
            seen = infos["final_obs"]["walker"] if ended else seen["walker"]
            ends = (bool(side["walker"][0, 0]) for side in (terminated, truncated))
            return seen[0, 0].copy(), float(rewards["walker"][0, 0]), *ends, {}

    model = PPO("MlpPolicy", Walk(), seed=0, n_steps=256, batch_size=64, learning_rate=2e-3,
                gamma=0.9, device="cpu", policy_kwargs={"net_arch": [32]})  # fmt: skip
    model.learn(3_000)
    model.save(tmp_path / "walker.zip")
    vec = corridor().vectorize(200, seed=9, horizon=20)
    policies = {"walker": load_policy(tmp_path / "walker.zip")}
    rollout = collect(vec, policies, 40, progress=False)
    assert rollout.episodes.returns["walker"].mean() > -0.45


def test_settings_that_name_classes_of_libraries(tmp_path):
    vec = battle()
    name, group = next(iter(flat(vec).groups.items()))
    settings = {
        "net_arch": {"pi": [8], "vf": [4, 4]},
        "activation_fn": torch.nn.ELU,
        "features_extractor_class": FlattenExtractor,
        "optimizer_class": torch.optim.SGD,
    }
    _, path = trained(A2C, "MlpPolicy", group, tmp_path, policy_kwargs=settings)
    policy = bind_policies(vec, {name: load_policy(path)})[name]
    layers = policy.model._policy.mlp_extractor.policy_net
    assert [type(layer) for layer in layers] == [torch.nn.Linear, torch.nn.ELU]


class Doubling(FlattenExtractor):
    """A class of its own."""


@pytest.mark.parametrize(
    "settings",
    [{"features_extractor_class": Doubling}, {"activation_fn": lambda: torch.nn.Tanh()}],
)
def test_classes_of_its_own_need_trust(settings, tmp_path):
    vec = battle()
    name, group = next(iter(flat(vec).groups.items()))
    _, path = trained(A2C, "MlpPolicy", group, tmp_path, policy_kwargs={**SMALL, **settings})
    with pytest.raises(ValueError, match=r"of its own.*\n.*load_policy\(path, trust=True\)"):
        load_policy(path)
    collect(vec, {name: load_policy(path, trust=True)}, 3, progress=False)


def test_policies_that_remember_are_refused(tmp_path):
    group = next(iter(flat(battle()).groups.values()))
    model = RecurrentPPO("MlpLstmPolicy", Noise(group.observation_space, group.action_space),
                         n_steps=8, batch_size=8)  # fmt: skip
    model.save(tmp_path / "lstm.zip")
    for trust in (False, True):
        with pytest.raises(ValueError, match="remembers earlier steps"):
            load_policy(tmp_path / "lstm.zip", trust=trust)


def test_spaces_that_do_not_fit_are_both_shown(tmp_path):
    group = next(iter(flat(battle()).groups.values()))
    _, path = trained(PPO, "MlpPolicy", group, tmp_path)
    vec = corridor().vectorize(2)
    with pytest.raises(ValueError, match=r"does not fit group 'walker'") as caught:
        load_policy(path).bind(vec, "walker")
    assert repr(vec.groups["walker"].observation_space) in str(caught.value)
    assert repr(group.observation_space) in str(caught.value)


def rewritten(path, change=lambda data: None, **entries):
    with zipfile.ZipFile(path) as archive:
        found = {name: archive.read(name) for name in archive.namelist()}
    data = json.loads(found["data"])
    change(data)
    found = {**found, "data": json.dumps(data).encode(), **entries}
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in found.items():
            archive.writestr(name, content)
    return path


def test_pickles_are_not_executed(tmp_path):
    vec = battle()
    name, group = next(iter(flat(vec).groups.items()))
    _, path = trained(A2C, "MlpPolicy", group, tmp_path)

    def arm(data):
        bomb = base64.b64encode(pickle.dumps(Bomb(tmp_path / "harm"))).decode()
        armed = [entry for entry in data.values() if isinstance(entry, dict)]
        for entry in armed:
            if ":serialized:" in entry:
                entry[":serialized:"] = bomb
        assert len(armed) > 3

    rewritten(path, arm)
    collect(vec, {name: load_policy(path)}, 3, progress=False)
    assert not (tmp_path / "harm").exists()
    with pytest.raises(ValueError, match="cannot be restored"):  # one bomb after the other
        load_policy(path, trust=True)
    assert (tmp_path / "harm").exists()  # which is why it has to be asked for


def test_a_pickle_for_weights_is_not_executed(tmp_path):
    group = next(iter(flat(battle()).groups.values()))
    _, path = trained(A2C, "MlpPolicy", group, tmp_path)
    torch.save(Bomb(tmp_path / "harm"), tmp_path / "bomb.pth")
    for raw in ((tmp_path / "bomb.pth").read_bytes(), pickle.dumps(Bomb(tmp_path / "harm"))):
        rewritten(path, **{"policy.pth": raw})
        for trust in (False, True):
            with pytest.raises(ValueError, match="is damaged"):
                load_policy(path, trust=trust)
    assert not (tmp_path / "harm").exists()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda data: data.pop("observation_space"), "is damaged: its data are not in order"),
        (lambda data: data.update(action_space=3), "is damaged: its data are not in order"),
        (lambda data: data["action_space"].pop("n"), "is damaged: .*not a space that is known"),
        (lambda data: data.update(policy_kwargs=[1]), "is damaged: its data are not in order"),
        (lambda data: data["policy_class"].update(__module__="mine"),
         "its policy is a class of its own, from mine"),
        (lambda data: data.update(policy_kwargs={"activation_fn": "<class 'os.system'>"}),
         "its activation_fn is a class of its own"),
        (lambda data: data.update(policy_kwargs={
            "features_extractor_class": "<class 'abmarl.external.learner_worlds.only_group'>"}),
         "is no part of a network"),
    ],
)  # fmt: skip
def test_data_that_are_not_in_order(tmp_path, change, message):
    group = next(iter(flat(battle()).groups.values()))
    _, path = trained(PPO, "MlpPolicy", group, tmp_path)
    rewritten(path, change)
    with pytest.raises(ValueError, match=message):
        load_policy(path)


def test_weights_that_are_packed(tmp_path):
    """Kilobytes could unpack to gigabytes."""
    group = next(iter(flat(battle()).groups.values()))
    _, path = trained(PPO, "MlpPolicy", group, tmp_path)
    with zipfile.ZipFile(path) as archive:
        inner = zipfile.ZipFile(io.BytesIO(archive.read("policy.pth")))
    packed = io.BytesIO()
    with inner, zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for info in inner.infolist():
            contents = bytes(50_000_000) if info.filename.endswith("data/0") else inner.read(info)
            archive.writestr(info.filename, contents)
    rewritten(path, **{"policy.pth": packed.getvalue()})
    with pytest.raises(ValueError, match="is damaged: its weights are packed"):
        load_policy(path)


def test_data_that_are_packed_in_an_unusual_way(tmp_path):
    group = next(iter(flat(battle()).groups.values()))
    _, path = trained(PPO, "MlpPolicy", group, tmp_path)
    with zipfile.ZipFile(path) as archive:
        found = {name: archive.read(name) for name in archive.namelist()}
    with zipfile.ZipFile(path, "w", zipfile.ZIP_LZMA) as archive:
        for name, contents in found.items():
            archive.writestr(name, contents)
    with pytest.raises(ValueError, match="is damaged: data is neither stored nor deflated"):
        load_policy(path)


@pytest.mark.parametrize("layers", [[20_000, 20_000], [10**12], [1] * 1000])
def test_layers_for_which_there_are_no_weights_are_not_made(layers, tmp_path):
    vec = battle()
    name, group = next(iter(flat(vec).groups.items()))
    _, path = trained(PPO, "MlpPolicy", group, tmp_path)
    rewritten(path, lambda data: data.update(policy_kwargs={"net_arch": layers}))
    with pytest.raises(
        ValueError, match=r"do not fit .* ask for more or larger layers than it has"
    ):
        load_policy(path).bind(vec, name)


def test_weights_that_repeat_a_number_count_as_one(tmp_path):
    vec = battle()
    name, group = next(iter(flat(vec).groups.items()))
    _, path = trained(PPO, "MlpPolicy", group, tmp_path)
    raw = io.BytesIO()
    torch.save({"mlp_extractor.policy_net.0.weight": torch.zeros(1).expand(20_000, 20_000)}, raw)
    change = {"policy_kwargs": {"net_arch": [20_000, 20_000]}}
    rewritten(path, lambda data: data.update(change), **{"policy.pth": raw.getvalue()})
    with pytest.raises(ValueError, match="ask for more or larger layers than it has"):
        load_policy(path).bind(vec, name)


@pytest.mark.parametrize("weights", [{1: torch.zeros(2)}, {("a",): 1}])
def test_weights_without_names(weights, tmp_path):
    group = next(iter(flat(battle()).groups.values()))
    _, path = trained(PPO, "MlpPolicy", group, tmp_path)
    raw = io.BytesIO()
    torch.save(weights, raw)
    rewritten(path, **{"policy.pth": raw.getvalue()})
    with pytest.raises(ValueError, match="is damaged: its data are not in order"):
        load_policy(path)


def test_weights_of_another_network(tmp_path):
    vec = battle()
    name, group = next(iter(flat(vec).groups.items()))
    _, path = trained(PPO, "MlpPolicy", group, tmp_path)
    rewritten(path, lambda data: data.update(policy_kwargs={"net_arch": [9]}))
    with pytest.raises(ValueError, match=r"model\.zip: its weights do not fit a network for Box"):
        load_policy(path).bind(vec, name)


def test_files_that_are_damaged(tmp_path):
    group = next(iter(flat(battle()).groups.values()))
    _, path = trained(PPO, "MlpPolicy", group, tmp_path)
    data = (tmp_path / "model.zip").read_bytes()
    (tmp_path / "cut.zip").write_bytes(data[: len(data) // 2])
    with pytest.raises(ValueError, match=r"cut\.zip is cut off"):
        load_policy(tmp_path / "cut.zip")
    with zipfile.ZipFile(path) as archive:
        weights = archive.getinfo("policy.pth")
    place = weights.header_offset + 200
    (tmp_path / "bad.zip").write_bytes(data[:place] + b"\xff" * 40 + data[place + 40 :])
    with pytest.raises(ValueError, match=r"bad\.zip is damaged"):
        load_policy(tmp_path / "bad.zip")
    rewritten(path, **{"data": b"{"})
    with pytest.raises(ValueError, match=r"model\.zip is damaged"):
        load_policy(path)


@pytest.mark.parametrize("name", shipped)
def test_fits_every_group_of_every_shipped_simulation(name, tmp_path):
    vec = shipped[name]().vectorize(2, seed=0, horizon=4)
    policies = {}
    for group_name in vec.groups:
        try:
            group = flat(vec).groups[group_name]
        except ValueError:
            continue  # too many joint actions
        if group.action_space.n > 2_000:
            continue
        _, path = trained(A2C, "MlpPolicy", group, tmp_path)
        policies[group_name] = load_policy(path)
    assert policies
    assert collect(vec, policies, 6, progress=False).num_steps == 6


def test_without_the_library(tmp_path):
    group = next(iter(flat(battle()).groups.values()))
    _, path = trained(PPO, "MlpPolicy", group, tmp_path)
    script = (
        "import sys\nsys.modules['stable_baselines3'] = None\n"
        "from abmarl.external import load_policy\n"
        f"try:\n    load_policy({path!r})\nexcept ImportError as error:\n    print(error)\n"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert done.stdout == "load_policy needs stable_baselines3: pip install 'abmarl[sb3]'\n"
