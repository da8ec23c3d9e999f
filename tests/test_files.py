"""Files that are complete or absent."""

import errno
import os

import pytest

from abmarl.files import PartialFile, disk_is_full, replacing


def test_a_file_appears_when_it_is_complete(tmp_path):
    path = tmp_path / "a.txt"
    with replacing(path, "w", encoding="utf-8") as file:
        file.write("ä")
        assert not path.exists()
    assert path.read_bytes() == "ä".encode()
    with replacing(path) as file:
        file.write(b"new")
        assert path.read_bytes() == "ä".encode()
    assert path.read_bytes() == b"new"
    assert os.listdir(tmp_path) == ["a.txt"]


@pytest.mark.parametrize(
    ("error", "message"),
    [
        (OSError(errno.ENOSPC, "No space left on device"), r"no room left on the disk for .*a.txt"),
        (OSError(errno.EIO, "Input/output error"), r"cannot write .*a.txt: Input/output error"),
        (FileNotFoundError(errno.ENOENT, "No such file", "other.txt"), "other.txt"),
        (ValueError("no"), "^no$"),
        (KeyboardInterrupt(), None),
    ],
)
def test_an_earlier_file_stays_when_it_goes_wrong(tmp_path, error, message):
    path = tmp_path / "a.txt"
    path.write_text("before")
    with pytest.raises(type(error), match=message), replacing(path) as file:
        file.write(b"half")
        raise error
    assert path.read_text() == "before"
    assert os.listdir(tmp_path) == ["a.txt"]


def test_the_note_of_a_full_disk(tmp_path):
    full = OSError(errno.ENOSPC, "No space left on device")
    with pytest.raises(OSError, match=r"a.txt \(2 MB\); nothing was written") as caught:  # noqa: SIM117
        with replacing(tmp_path / "a.txt", note="2 MB"):
            raise full
    assert caught.value.errno == errno.ENOSPC
    assert caught.value.filename is None


def test_places_that_cannot_be_written(tmp_path):
    with (
        pytest.raises(OSError, match=r"cannot write .*a.txt: No such file"),
        replacing(tmp_path / "no" / "a.txt"),
    ):
        pass
    with pytest.raises(IsADirectoryError, match="is a folder"):
        PartialFile(tmp_path)


def test_a_partial_file_is_discarded_or_kept(tmp_path):
    path = tmp_path / "a.txt"
    file = PartialFile(path)
    file.write(b"1")
    file.discard()
    assert os.listdir(tmp_path) == []
    with PartialFile(path) as file:
        file.path.write_text("2")
    assert path.read_text() == "2"
    assert os.listdir(tmp_path) == ["a.txt"]


def test_a_link_is_followed(tmp_path):
    (tmp_path / "link").symlink_to(tmp_path / "real")
    with replacing(tmp_path / "link", "w") as file:
        file.write("1")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "real").read_text() == "1"


def test_full_disks_are_known_by_number_or_text():
    assert disk_is_full(OSError(errno.ENOSPC, "full"))
    assert disk_is_full(OSError("No space left on device (os error 28)"))
    assert not disk_is_full(OSError(errno.EIO, "Input/output error"))
