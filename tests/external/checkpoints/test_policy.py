"""Tables as checkpoints, what all checkpoints have in common, and spaces as text."""

import io
import json
import pathlib
import re
import shutil
import tracemalloc
import zipfile

import numpy as np
import pytest
from gymnasium.spaces import Box, Dict, Discrete, MultiBinary, MultiDiscrete

from abmarl.external import load_policy
from abmarl.external.checkpoints.spaces import SpaceDescription
from abmarl.policies import EpsilonSoftPolicy, GreedyPolicy, QTablePolicy
from abmarl.rollout import collect, save
from abmarl.rollout.policies import bind_policies
from abmarl.trainers import MonteCarloTrainer
from tests.support.grid_worlds import corridor, skirmish
from tests.support.pickle_bomb import Bomb


def make_vec(**more):
    return corridor().vectorize(5, **{"seed": 3, "horizon": 9, **more})


@pytest.fixture
def table():
    group = make_vec().ravel().groups["walker"]
    policy = EpsilonSoftPolicy(group.action_space, group.observation_space, epsilon=0.5)
    policy.q_table[:] = np.random.default_rng(0).random(policy.q_table.shape)
    return policy


@pytest.fixture
def path(table, tmp_path):
    table.save(tmp_path / "table.npz")
    return str(tmp_path / "table.npz")


def rewritten(path, change=None, **entries):
    """The archive with other metadata or entries."""
    with zipfile.ZipFile(path) as archive:
        found = {name: archive.read(name) for name in archive.namelist()}
    if change:
        metadata = json.loads(found["metadata.json"])
        change(metadata)
        found["metadata.json"] = json.dumps(metadata).encode()
    found.update(entries)
    with zipfile.ZipFile(path, "w") as archive:
        for name, data in found.items():
            if data is not None:
                archive.writestr(name, data)
    return path


def test_saved_and_loaded(table, path):
    again = QTablePolicy.load(path, seed=1)
    assert type(again) is EpsilonSoftPolicy
    assert again.epsilon == 0.5
    assert again.action_space == table.action_space
    assert again.observation_space == table.observation_space
    np.testing.assert_array_equal(again.q_table, table.q_table)


def test_metadata_that_are_larger_than_the_archive_says(path):
    """They are not unpacked beyond that: a few bytes can hold gigabytes."""
    with zipfile.ZipFile(path) as archive:
        found = {info.filename: archive.read(info) for info in archive.infolist()}
    found["metadata.json"] += b" " * 20_000_000
    size = len(found["metadata.json"]).to_bytes(4, "little")
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, contents in found.items():
            archive.writestr(name, contents)
    raw = pathlib.Path(path).read_bytes()
    pathlib.Path(path).write_bytes(raw.replace(size, (1000).to_bytes(4, "little")))
    with pytest.raises(ValueError, match=r"table\.npz is damaged: Bad CRC-32"):
        peak_of(lambda: load_policy(path))
    with zipfile.ZipFile(path, "w", zipfile.ZIP_BZIP2) as archive:
        for name, contents in found.items():
            archive.writestr(name, contents)
    with pytest.raises(ValueError, match=r"metadata\.json is neither stored nor deflated"):
        load_policy(path)


def peak_of(call):
    """Calls, and fails when that takes more than a megabyte at any time."""
    tracemalloc.start()
    try:
        call()
    finally:
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert peak < 1_000_000


def test_metadata_that_are_nested_too_deeply(path):
    rewritten(path, **{"metadata.json": b"[" * 100_000})
    with pytest.raises(ValueError, match=r"its metadata\.json is not one of ours"):
        load_policy(path)


def test_a_greedy_policy_stays_greedy(table, tmp_path):
    greedy = GreedyPolicy(table.action_space, table.observation_space, table.q_table)
    greedy.save(tmp_path / "greedy.npz")
    assert type(GreedyPolicy.load(tmp_path / "greedy.npz")) is GreedyPolicy
    with pytest.raises(ValueError, match=r"holds a GreedyPolicy: read it with GreedyPolicy\.load"):
        EpsilonSoftPolicy.load(tmp_path / "greedy.npz")


def test_classes_of_users_cannot_be_named_in_a_file(table, tmp_path):
    class Mine(GreedyPolicy):
        pass

    mine = Mine(table.action_space, table.observation_space)
    with pytest.raises(TypeError, match=r"a Mine cannot be saved, only GreedyPolicy and Epsilon"):
        mine.save(tmp_path / "mine.npz")
    with pytest.raises(ValueError, match=r"saved to a \.npz file, not to 'mine\.zip'"):
        table.save("mine.zip")
    assert not list(tmp_path.iterdir())


def test_channels_and_ravelled_worlds_play_the_same(table, path):
    greedy = GreedyPolicy(table.action_space, table.observation_space, table.q_table)
    wanted = collect(make_vec().ravel(), greedy, 30, progress=False)
    for vec in (make_vec(), make_vec().ravel(), make_vec().ravel(actions=False)):
        found = collect(vec, {"walker": load_policy(path)}, 30, progress=False)
        np.testing.assert_array_equal(found.rewards["walker"], wanted.rewards["walker"])
        np.testing.assert_array_equal(found.ended, wanted.ended)


def test_draws_are_those_of_the_seed(path):
    def moves(seed):
        policy = load_policy(path, deterministic=False, seed=seed)
        first, second = (
            collect(make_vec(), {"walker": policy}, 40, progress=False).actions["walker"]["move"]
            for _ in range(2)
        )
        np.testing.assert_array_equal(first, second)
        return first

    assert not np.array_equal(moves(1), moves(2))


def test_only_who_acts_is_asked(path):
    vec = make_vec()
    observations, infos = vec.reset()
    policy = bind_policies(vec, {"walker": load_policy(path)})["walker"]
    everybody = policy(observations["walker"], infos["active"]["walker"])["move"]
    active = np.array([[True], [False], [True], [False], [False]])
    some = policy(observations["walker"], active)["move"]
    np.testing.assert_array_equal(some[active], everybody[active])
    assert (some[~active] == -1).all()
    nobody = policy(observations["walker"], np.zeros((5, 1), bool))["move"]
    assert (nobody == -1).all()


def test_one_policy_for_several_groups_is_bound_to_each(tmp_path):
    class Names:
        def bind(self, vec, name):
            self.name = name

        def __call__(self, observations, active):
            return self.name

    vec = skirmish().vectorize(2, seed=0)
    bound = bind_policies(vec, Names())
    assert len(bound) > 1
    assert all(policy.name == name for name, policy in bound.items())


def test_what_a_trainer_learned_plays_as_well_as_the_trainer(tmp_path):
    vec = corridor().vectorize(64, seed=1, horizon=20).ravel()
    group = vec.groups["walker"]
    policy = EpsilonSoftPolicy(group.action_space, group.observation_space, epsilon=0.3, seed=1)
    MonteCarloTrainer(vec, policy).train(40, gamma=1.0, horizon=20, seed=1)
    policy.save(tmp_path / "learned.npz")
    plain = corridor().vectorize(64, seed=2, horizon=20)
    learned = {"walker": load_policy(tmp_path / "learned.npz")}
    rollout = collect(plain, learned, 40, progress=False)
    assert rollout.episodes.returns["walker"].mean() > -0.45


def test_spaces_that_do_not_fit_are_both_shown(path):
    vec = skirmish().vectorize(2, seed=0)
    name = next(iter(vec.groups))
    with pytest.raises(ValueError, match=r"does not fit group") as caught:
        load_policy(path).bind(vec, name)
    message = str(caught.value)
    assert path in message
    assert repr(vec.groups[name].observation_space)[:100] in message
    assert "Discrete(" in message
    assert message.count("\n") == 1


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"format": "abmarl-rollout"}, "is not a policy: its format is 'abmarl-rollout'"),
        ({"format_version": 2}, "has format 2, written by abmarl .*; this is abmarl .*upgrade"),
        ({"kind": "RandomPolicy"}, "holds a 'RandomPolicy'; known are GreedyPolicy and Epsilon"),
        ({"numbers": {"epsilon": 3}}, r"is damaged: epsilon must lie in \[0, 1\], got 3"),
        ({"numbers": {"seed": 3}}, "is damaged: .*seed"),
        ({"numbers": None}, "is damaged: metadata.json is not in order"),
        ({"action_space": {"type": "Box"}}, "not the description of a space"),
        ({"action_space": {"type": "MultiBinary", "n": 3}}, "action_space is MultiBinary"),
        ({"action_space": {"type": "Discrete", "n": 4, "start": 0, "dtype": "int64"}},
         "is damaged: q_table must have shape"),
    ],
)  # fmt: skip
def test_metadata_that_are_not_in_order(path, change, message):
    rewritten(path, lambda metadata: metadata.update(change))
    with pytest.raises(ValueError, match=message):
        load_policy(path)


def test_files_that_are_damaged(path, tmp_path):
    data = pathlib.Path(path).read_bytes()
    for end in (len(data) // 2, len(data) - 5):
        (tmp_path / "cut.npz").write_bytes(data[:end])
        with pytest.raises(ValueError, match=r"cut\.npz is cut off"):
            load_policy(tmp_path / "cut.npz")
    flipped = bytearray(data)
    flipped[len(data) // 2] ^= 255
    (tmp_path / "flipped.npz").write_bytes(flipped)
    with pytest.raises(ValueError, match=r"flipped\.npz"):
        load_policy(tmp_path / "flipped.npz")
    with pytest.raises(ValueError, match="is not a whole policy: q_table is missing"):
        load_policy(rewritten(path, **{"q_table.npy": None}))


def test_a_pickle_in_the_table_is_not_executed(path, tmp_path):
    file = io.BytesIO()
    np.save(file, np.array([Bomb(tmp_path / "harm")], object), allow_pickle=True)
    rewritten(path, **{"q_table.npy": file.getvalue()})
    for read in (load_policy, QTablePolicy.load):
        with pytest.raises(ValueError, match="is damaged"):
            read(path)
    assert not (tmp_path / "harm").exists()
    with np.load(path, allow_pickle=True) as archive:
        archive["q_table"]
    assert (tmp_path / "harm").exists()  # it would have worked


def test_files_of_another_kind(path, tmp_path):
    known = re.escape("known are a .zip of Stable-Baselines3, a .npz that a policy")
    (tmp_path / "text.zip").write_text("no archive")
    with zipfile.ZipFile(tmp_path / "other.zip", "w") as archive:
        archive.writestr("a.txt", "hello")
    for name in ("text.zip", "other.zip"):
        with pytest.raises(ValueError, match=f"{name} is no checkpoint that is known; {known}"):
            load_policy(tmp_path / name)
    with pytest.raises(ValueError, match="is a folder but no checkpoint of RLlib"):
        load_policy(tmp_path)
    with pytest.raises(FileNotFoundError, match=r"none\.zip"):
        load_policy(tmp_path / "none.zip")
    save(collect(make_vec(), None, 2, progress=False), tmp_path / "run.npz")
    with pytest.raises(ValueError, match="is not a policy: its format is 'abmarl-rollout'"):
        load_policy(tmp_path / "run.npz")
    shutil.copy(path, tmp_path / "no_suffix")
    load_policy(tmp_path / "no_suffix")


def test_arguments_that_are_wrong(path):
    with pytest.raises(ValueError, match="holds one policy: leave out name='red'"):
        load_policy(path, "red")
    with pytest.raises(TypeError, match="trust must be True or False, got 'yes'"):
        load_policy(path, trust="yes")
    with pytest.raises(TypeError, match="seed must be an int"):
        load_policy(path, seed="a")
    with pytest.raises(ValueError, match="seed must not be negative"):
        load_policy(path, seed=-1)


LOW = np.arange(6, dtype=np.float32).reshape(2, 3)


@pytest.mark.parametrize(
    ("space", "same", "others"),
    [
        (Box(-2, 3, (5, 5), np.int8), [Box(-2, 3, (5, 5), np.int64), Box(-2, 3, (5, 5))],
         [Box(-2, 4, (5, 5), np.int8), Box(-1, 3, (5, 5)), Box(-2, 3, (25,)), Discrete(5)]),
        (Box(LOW, LOW + 1), [Box(LOW.astype(int), LOW.astype(int) + 1, dtype=int)],
         [Box(LOW, LOW + 2), Box(LOW.T, LOW.T + 1), Box(0, 1, (2, 3))]),
        (Box(-np.inf, np.inf, (6,)), [Box(0, 1, (6,)), Box(-2, 3, (6,), int)],
         [Box(0, 1, (5,)), Discrete(6)]),
        (Box(0, 1, (6,)), [], [Box(-np.inf, np.inf, (6,))]),
        (Discrete(5), [Discrete(5, dtype=np.int8)], [Discrete(6), Discrete(5, start=1)]),
        (MultiDiscrete([3, 4]), [MultiDiscrete([3, 4], dtype=np.int8)],
         [MultiDiscrete([4, 3]), MultiDiscrete([3, 4], start=[1, 0])]),
        (MultiBinary(4), [], [MultiBinary(5), MultiBinary((2, 2))]),
        (Dict(a=Box(0, 1, (2,), np.int8), b=Discrete(3)),
         [Dict(a=Box(0, 1, (2,)), b=Discrete(3, dtype=np.int8))],
         [Dict(a=Box(0, 1, (2,), np.int8)), Dict(a=Box(0, 1, (2,), np.int8), b=Discrete(4)),
          Dict(a=Box(0, 1, (2,), np.int8), c=Discrete(3))]),
    ],
)  # fmt: skip
def test_spaces_are_the_same_up_to_their_dtypes(space, same, others):
    described = SpaceDescription.of(space)
    with np.printoptions(precision=2, threshold=3):  # how users print changes nothing
        assert described.matches(space)
    for other in same:
        assert described.matches(other)
    for other in others:
        assert not described.matches(other)
