import errno
import json
import os
import re
import zipfile

import numpy as np
import pytest

from abmarl import archive, resources
from abmarl.rollout import collect, load, save
from tests.support.fake_vector import WINDOW, FakeSim


@pytest.fixture
def rollout(vec):
    return collect(vec, num_steps=30, progress=False)


@pytest.fixture
def path(rollout, tmp_path):
    save(rollout, tmp_path / "run.npz")
    return tmp_path / "run.npz"


def test_round_trip(rollout, path, capsys):
    again = load(path)
    assert [names for names, _ in again.arrays()] == [names for names, _ in rollout.arrays()]
    for (_, left), (_, right) in zip(again.arrays(), rollout.arrays(), strict=True):
        assert left.dtype == right.dtype
        assert left.shape == right.shape
        assert (left == right).all()
    assert again.groups == rollout.groups
    assert again.episodes.team_names == rollout.episodes.team_names
    for name in ("seed", "horizon", "order", "simulation", "continued", "versions"):
        assert getattr(again, name) == getattr(rollout, name)
    assert set(again.versions) == {"abmarl", "numpy", "numba", "gymnasium", "python"}
    assert (
        again.next_observations("red", WINDOW) == rollout.next_observations("red", WINDOW)
    ).all()
    assert capsys.readouterr().err == ""


def test_equal_rollouts_make_equal_files(path, tmp_path):
    save(load(path), tmp_path / "again.npz")
    assert (tmp_path / "again.npz").read_bytes() == path.read_bytes()


def test_numpy_opens_it_too(rollout, path):
    with np.load(path) as arrays:
        assert (arrays["rewards/blue"] == rollout.rewards["blue"]).all()
        assert json.loads(arrays["metadata.json"])["seed"] == 3


def test_rollouts_without_steps_or_ends(tmp_path):
    def policy(observations, active):
        raise KeyboardInterrupt

    vec = FakeSim().vectorize(num_envs=2, seed=1)
    rollout = collect(vec, {"red": policy}, 3, progress=False)
    save(rollout, tmp_path / "none.npz")
    again = load(tmp_path / "none.npz")
    assert again.interrupted
    assert again.num_steps == 0
    assert again.horizon is None


def test_names_may_hold_any_character(tmp_path):
    vec = FakeSim().vectorize(num_envs=2, seed=1, horizon=3)
    vec.groups = {"a/b é%2F..": vec.groups["red"], "blue": vec.groups["blue"]}
    vec.sample_actions = renamed(vec.sample_actions)
    step, reset = vec.step, vec.reset
    rollout = collect(Renamed(vec, step, reset), num_steps=4, progress=False)
    save(rollout, tmp_path / "run.npz")
    again = load(tmp_path / "run.npz")
    assert set(again.groups) == {"a/b é%2F..", "blue"}
    assert (again.rewards["a/b é%2F.."] == rollout.rewards["a/b é%2F.."]).all()


class Renamed:
    """The stand-in works under the name red, and the world sees another one."""

    def __init__(self, vec, step, reset):
        self.vec, self._step, self._reset = vec, step, reset
        self.shown, vec.groups = vec.groups, {"red": next(iter(vec.groups.values())),
                                              "blue": vec.groups["blue"]}  # fmt: skip

    def __getattr__(self, name):
        return getattr(self.vec, name)

    @property
    def groups(self):
        return self.shown

    def reset(self, seed=None):
        return renamed(self._reset)(seed)

    def step(self, actions):
        actions = {"red" if "/" in name else name: a for name, a in actions.items()}
        return renamed(self._step)(actions)


def renamed(function):
    def change(value):
        if isinstance(value, dict):
            return {"a/b é%2F.." if k == "red" else k: change(v) for k, v in value.items()}
        return tuple(change(v) for v in value) if isinstance(value, tuple) else value

    return lambda *args: change(function(*args))


def test_no_pickles(path, tmp_path):
    bad = rewrite(path, tmp_path / "bad.npz", "ended.npy", npy(np.array([{}, []], object)))
    with pytest.raises(ValueError, match=r"bad.npz is damaged: ended.npy does not hold"):
        load(bad)


def npy(array):
    import io

    file = io.BytesIO()
    np.lib.format.write_array(file, array)
    return file.getvalue()


def rewrite(path, new, name, contents):
    """A copy of the archive with one entry changed, or left out with None."""
    with zipfile.ZipFile(path) as old, zipfile.ZipFile(new, "w") as file:
        for info in old.infolist():
            data = contents if info.filename == name else old.read(info)
            if data is not None:
                file.writestr(info.filename, data)
    return new


def metadata(path, **changes):
    with zipfile.ZipFile(path) as file:
        return json.dumps({**json.loads(file.read("metadata.json")), **changes})


@pytest.mark.parametrize("keep", [0.1, 0.5, 0.99])
def test_files_that_are_cut_off(path, tmp_path, keep):
    data = path.read_bytes()
    (tmp_path / "cut.npz").write_bytes(data[: int(len(data) * keep)])
    with pytest.raises(ValueError, match=r"cut.npz is cut off: its end is missing$"):
        load(tmp_path / "cut.npz")


def test_files_that_are_damaged(path, tmp_path):
    with zipfile.ZipFile(path) as file:
        info = file.getinfo(f"observations/red/{WINDOW}.npy")
    data = bytearray(path.read_bytes())
    middle = info.header_offset + info.compress_size // 2
    data[middle : middle + 8] = bytes(8)
    (tmp_path / "bad.npz").write_bytes(data)
    with pytest.raises(ValueError, match=r"bad.npz is damaged: "):
        load(tmp_path / "bad.npz")


def test_arrays_that_promise_too_much(path, tmp_path):
    array = npy(np.zeros((30, 6), bool)).replace(b"(30, 6)", b"(99, 6)")
    bad = rewrite(path, tmp_path / "bad.npz", "ended.npy", array)
    with pytest.raises(ValueError, match=r"ended.npy does not hold what it says"):
        load(bad)
    bad = rewrite(path, tmp_path / "bad.npz", "ended.npy", b"no array at all")
    with pytest.raises(ValueError, match=r"ended.npy is not an array"):
        load(bad)


@pytest.mark.parametrize(
    ("name", "array"),
    [
        ("rewards/red", np.zeros((30, 6, 2))),
        ("actions/blue/move", np.zeros((29, 6, 2), np.int8)),
        ("ended", np.zeros((30, 7), bool)),
        ("episodes/length", np.zeros(3, np.int64)),
        ("final_index", np.zeros((1, 2), np.int64)),
    ],
)
def test_columns_of_another_shape(path, tmp_path, name, array):
    bad = rewrite(path, tmp_path / "bad.npz", f"{name}.npy", npy(array))
    with pytest.raises(ValueError, match=r"bad.npz is damaged: .* has another shape than the rest"):
        load(bad)


def test_columns_that_are_missing(path, tmp_path):
    bad = rewrite(path, tmp_path / "bad.npz", "rewards/red.npy", None)
    with pytest.raises(ValueError, match=r"bad.npz is not a whole rollout: rewards/red is missing"):
        load(bad)


def test_files_that_are_something_else(tmp_path):
    (tmp_path / "text.npz").write_text("hello")
    with pytest.raises(ValueError, match=r"text.npz is not a rollout: it is no .npz file"):
        load(tmp_path / "text.npz")
    (tmp_path / "empty.npz").write_bytes(b"")
    with pytest.raises(ValueError, match=r"empty.npz is not a rollout: it is no .npz file"):
        load(tmp_path / "empty.npz")
    np.savez(tmp_path / "numbers.npz", a=np.arange(3))
    with pytest.raises(ValueError, match=r"numbers.npz is not a rollout: it has no metadata.json"):
        load(tmp_path / "numbers.npz")
    with pytest.raises(FileNotFoundError):
        load(tmp_path / "nothing.npz")


@pytest.mark.parametrize("contents", ["{", "[]", "{}", '{"format": "abmarl-rollout"}'])
def test_metadata_that_is_not_ours(path, tmp_path, contents):
    bad = rewrite(path, tmp_path / "bad.npz", "metadata.json", contents)
    with pytest.raises(ValueError, match=r"bad.npz is not a rollout: its metadata.json is not"):
        load(bad)


def test_files_of_the_future(path, tmp_path):
    text = metadata(path, format_version=7, versions={"abmarl": "9.1"})
    new = rewrite(path, tmp_path / "new.npz", "metadata.json", text)
    with pytest.raises(ValueError, match=r"has format 7, written by abmarl 9.1; this is abmarl"):
        load(new)


def test_files_that_do_not_fit(path, monkeypatch):
    monkeypatch.setattr(resources, "available_memory", lambda: 1000)
    with pytest.raises(MemoryError, match=r"run.npz needs .* of memory, 1.0 kB are available"):
        load(path)


def test_paths_that_cannot_be_saved_to(rollout, tmp_path):
    with pytest.raises(ValueError, match=r"saved to a .npz file, not to '.*run.zip'"):
        save(rollout, tmp_path / "run.zip")
    (tmp_path / "folder.npz").mkdir()
    with pytest.raises(ValueError, match=r"folder.npz is there and is not a file"):
        save(rollout, tmp_path / "folder.npz")
    with pytest.raises(OSError, match=r"cannot write .*run.npz: No such file or directory"):
        save(rollout, tmp_path / "no" / "run.npz")


def test_a_link_is_followed(rollout, tmp_path):
    (tmp_path / "link.npz").symlink_to(tmp_path / "real.npz")
    save(rollout, tmp_path / "link.npz")
    assert (tmp_path / "link.npz").is_symlink()
    assert load(tmp_path / "real.npz").num_steps == 30


class Full:
    """A file on a disk with room for some bytes."""

    def __init__(self, file, room, error):
        self.file, self.room, self.error = file, room, error

    def write(self, data):
        self.room -= len(data)
        if self.room < 0:
            raise self.error
        return self.file.write(data)

    def __getattr__(self, name):
        return getattr(self.file, name)


@pytest.mark.parametrize(
    ("error", "message"),
    [
        (OSError(errno.ENOSPC, "No space left on device"), "no room left on the disk for"),
        (OSError(errno.EIO, "Input/output error"), "cannot write .*run.npz: Input/output error"),
        (KeyboardInterrupt(), None),
    ],
)
@pytest.mark.parametrize("room", [0, 200, 8_000])
def test_when_it_goes_wrong_the_earlier_file_stays(
    rollout, path, monkeypatch, error, message, room
):
    before = path.read_bytes()
    write = archive.write_archive
    monkeypatch.setattr(
        "abmarl.archive.write_archive",
        lambda file, *more: write(Full(file, room, error), *more),
    )
    with pytest.raises(type(error), match=message):
        save(rollout, path)
    assert path.read_bytes() == before
    assert os.listdir(path.parent) == ["run.npz"]


def test_a_full_disk(vec, tmp_path, small_disk):
    disk = small_disk("64k")
    save(collect(vec, num_steps=2, progress=False), disk / "run.npz")
    before = (disk / "run.npz").read_bytes()
    with pytest.raises(OSError, match="no room left on the disk for") as caught:
        save(collect(vec, num_steps=2000, progress=False), disk / "run.npz")
    assert caught.value.errno == errno.ENOSPC
    assert (disk / "run.npz").read_bytes() == before
    assert os.listdir(disk) == ["run.npz"]


def test_progress(rollout, vec, tmp_path, capsys):
    save(rollout, tmp_path / "run.npz", progress=True)
    assert capsys.readouterr().err == ""  # is there at once
    save(collect(vec, num_steps=2000, progress=False), tmp_path / "run.npz", progress=True)
    assert re.search(r"run\.npz: ([1-9]\d*) of \1 MB in", capsys.readouterr().err)
