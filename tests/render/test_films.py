import base64
import os
import re
import signal
import subprocess
import sys
import textwrap

import imageio_ffmpeg
import numpy as np
import pytest
from PIL import Image

from abmarl.examples import shipped
from abmarl.examples.sim.multi_corridor import MultiCorridor
from abmarl.managers import AllStepManager
from abmarl.render import FrameWriter, Recorder
from abmarl.render.drawing.agents import FLASH
from tests.support.grid_worlds import act, battle


def frames(count, height=48, width=66):
    """A square that moves, on a plain ground."""
    for k in range(count):
        image = np.full((height, width, 3), 250, dtype=np.uint8)
        image[10:20, k % (width - 10) : k % (width - 10) + 10] = (255, 0, 0)
        yield image


def record(path, images, **options):
    with FrameWriter(path, **options) as recorder:
        for image in images:
            recorder.add(image)
    return path


def details(path):
    """What ffmpeg says of the film, number of frames and (width, height)."""
    program = imageio_ffmpeg.get_ffmpeg_exe()
    text = subprocess.run([program, "-i", str(path)], capture_output=True, text=True).stderr
    stream = next(line for line in text.splitlines() if "Video:" in line)
    width, height = map(int, re.search(r" (\d+)x(\d+)[ ,]", stream).groups())
    return stream, len(decoded(path, height, width)), (width, height)


def decoded(path, height, width):
    """All frames of a film, uint8 [T, h, w, 3]. imageio's own reader leaves pipes open."""
    command = [imageio_ffmpeg.get_ffmpeg_exe(), "-loglevel", "error", "-i", str(path)]
    command += ["-f", "rawvideo", "-pix_fmt", "rgb24", "-"]
    data = subprocess.run(command, capture_output=True, check=True).stdout
    return np.frombuffer(data, np.uint8).reshape(-1, height, width, 3)


def only(folder, name):
    return [entry.name for entry in folder.iterdir()] == [name]


def test_mp4(tmp_path):
    path = record(tmp_path / "film.mp4", frames(23), fps=20)
    stream, number, size = details(path)
    assert "h264" in stream
    assert "yuv420p" in stream
    assert "20 fps" in stream
    assert number == 23
    assert size == (66, 48)
    image = decoded(path, 48, 66)[5]
    assert np.abs(image[15, 10].astype(int) - (255, 0, 0)).max() < 25
    assert np.abs(image[40, 40].astype(int) - 250).max() < 6
    data = path.read_bytes()
    assert data.index(b"moov") < data.index(b"mdat"), "the index must come first"
    assert only(tmp_path, "film.mp4")


def test_mp4_of_odd_size_is_made_even(tmp_path):
    stream, number, size = details(record(tmp_path / "odd.mp4", frames(3, 45, 63)))
    assert "yuv420p" in stream
    assert (number, size) == (3, (64, 46))


@pytest.mark.parametrize("still", [False, True])
def test_gif(tmp_path, still):
    images = list(frames(12))
    images = [images[0]] * 12 if still else images
    with Image.open(record(tmp_path / "film.GIF", images, fps=10)) as film:
        assert film.n_frames == 12
        assert film.info["loop"] == 0
        for number in (0, 7):
            film.seek(number)
            assert film.info["duration"] == 100
            assert np.array_equal(np.asarray(film.convert("RGB")), images[number])


def test_png_is_the_last_frame(tmp_path):
    images = list(frames(4))
    path = record(tmp_path / "last.png", images)
    with Image.open(path) as image:
        assert np.array_equal(np.asarray(image), images[-1])
    assert only(tmp_path, "last.png")


def test_the_caller_may_reuse_its_array(tmp_path):
    image = next(frames(1))
    with FrameWriter(tmp_path / "x.png") as recorder:
        recorder.add(image)
        image[:] = 0
    with Image.open(tmp_path / "x.png") as kept:
        assert np.asarray(kept)[0, 0].tolist() == [250, 250, 250]


def test_frames_need_not_be_contiguous(tmp_path):
    images = [image.swapaxes(0, 1) for image in frames(3)]
    assert details(record(tmp_path / "x.mp4", images))[2] == (48, 66)


@pytest.mark.parametrize("suffix", [".mp4", ".gif", ".png"])
@pytest.mark.parametrize("error", [RuntimeError, KeyboardInterrupt])
def test_an_exception_leaves_what_was_recorded(tmp_path, suffix, error):
    path = tmp_path / f"cut{suffix}"
    with pytest.raises(error), FrameWriter(path) as recorder:
        for image in frames(5):
            recorder.add(image)
        raise error
    if suffix == ".mp4":
        assert details(path)[1] == 5
    else:
        with Image.open(path) as image:
            assert getattr(image, "n_frames", 1) == (5 if suffix == ".gif" else 1)
    assert only(tmp_path, path.name)


@pytest.mark.skipif(sys.platform == "win32", reason="signals")
@pytest.mark.parametrize("suffix", [".mp4", ".gif"])
def test_ctrl_c_leaves_a_playable_file(tmp_path, suffix):
    """As a terminal does it: the signal goes to the whole process group, within a frame."""
    path = tmp_path / f"cut{suffix}"
    script = f"""
        import numpy as np
        from abmarl.render import FrameWriter
        image = np.zeros((1200, 1600, 3), np.uint8)
        with FrameWriter({str(path)!r}) as recorder:
            while True:
                image[:, recorder.num_frames % 1600] += 100
                recorder.add(image)
                print(recorder.num_frames, flush=True)
    """
    with subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(script)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    ) as process:
        while int(process.stdout.readline()) < 4:
            pass
        os.killpg(process.pid, signal.SIGINT)
        # Not communicate(), which leaves out lines that are in the buffer of readline().
        out, err = process.stdout.read(), process.stderr.read()
    added = max([4, *map(int, out.split())])
    assert "KeyboardInterrupt" in err
    assert "BrokenPipe" not in err
    if suffix == ".mp4":
        number = details(path)[1]
    else:
        with Image.open(path) as film:
            number = film.n_frames
    assert added <= number <= added + 1
    assert only(tmp_path, path.name)


def test_an_earlier_file_stays_until_the_new_one_is_whole(tmp_path):
    path = tmp_path / "film.mp4"
    path.write_bytes(b"earlier")
    with FrameWriter(path) as recorder:
        for image in frames(3):
            recorder.add(image)
        assert path.read_bytes() == b"earlier"
    assert details(path)[1] == 3


@pytest.mark.parametrize("suffix", [".mp4", ".png"])
def test_without_frames_there_is_no_file_and_an_earlier_one_stays(tmp_path, suffix):
    path = tmp_path / f"none{suffix}"
    record(path, [])
    assert not list(tmp_path.iterdir())
    path.write_bytes(b"earlier")
    record(path, [])
    assert path.read_bytes() == b"earlier"
    assert only(tmp_path, path.name)


def test_a_link_is_followed(tmp_path):
    (tmp_path / "there").mkdir()
    link = tmp_path / "film.png"
    link.symlink_to(tmp_path / "there" / "real.png")
    record(link, frames(1))
    assert link.is_symlink()
    assert (tmp_path / "there" / "real.png").stat().st_size > 0


@pytest.mark.parametrize("name", ["film.avi", "film", "film.mp4.txt"])
def test_unknown_suffix(tmp_path, name):
    with pytest.raises(ValueError, match=r"known suffixes: \.mp4 \.gif \.png"):
        FrameWriter(tmp_path / name)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("suffix", [".mp4", ".gif", ".png"])
def test_unwritable_path_is_told_before_the_work(tmp_path, suffix):
    (tmp_path / f"folder{suffix}").mkdir()
    (tmp_path / "file").touch()
    for name in ("nowhere/film", "file/film", "folder"):
        path = f"{tmp_path}/{name}{suffix}"
        with pytest.raises(OSError, match=re.escape(path)) as caught:
            FrameWriter(path)
        assert caught.value.filename == path


@pytest.mark.parametrize("suffix", [".mp4", ".gif"])
def test_an_encoder_that_fails_is_an_os_error(tmp_path, monkeypatch, suffix):
    """The temporary file is made a link to a device that is always full."""
    if not os.path.exists("/dev/full"):
        pytest.skip("no /dev/full")
    path = tmp_path / f"full{suffix}"
    path.write_bytes(b"earlier")
    with pytest.raises(OSError, match=re.escape(str(path))) as caught:  # noqa: SIM117
        with FrameWriter(path) as recorder:
            recorder._file.path.unlink()
            recorder._file.path.symlink_to("/dev/full")
            for image in frames(400):
                recorder.add(np.roll(image, recorder.num_frames, 0))
    assert caught.value.strerror == "No space left on device"
    assert path.read_bytes() == b"earlier"
    assert only(tmp_path, path.name)


def noise(count, height=120, width=160):
    """Frames that cannot be made small."""
    rng = np.random.default_rng(0)
    for _ in range(count):
        yield rng.integers(0, 255, (height, width, 3), dtype=np.uint8)


@pytest.mark.parametrize("suffix", [".mp4", ".gif"])
def test_a_full_disk_keeps_an_mp4_up_to_there_and_else_the_earlier_file(suffix, small_disk):
    disk = small_disk("1m")
    path = disk / f"film{suffix}"
    path.write_bytes(b"earlier")
    more = ", the film ends there" if suffix == ".mp4" else ""
    with pytest.raises(OSError, match="No space left on device") as caught:
        record(path, noise(2000), fps=10)
    assert caught.value.strerror == f"No space left on device{more}"
    assert os.listdir(disk) == [path.name]
    if suffix == ".gif":
        assert path.read_bytes() == b"earlier"
        return
    found = decoded(path, 120, 160)
    assert len(found) >= 10
    for image, original in zip(found, noise(len(found)), strict=True):
        # the same noise, as far as colours at half the resolution can have it
        assert np.corrcoef(image.mean(2).ravel(), original.mean(2).ravel())[0, 1] > 0.6


def test_frames_that_are_none(tmp_path):
    image = next(frames(1))
    with FrameWriter(tmp_path / "x.mp4") as recorder:
        recorder.add(image)
        for wrong in (image.astype(float), image[..., 0], image[..., :2], image[:0]):
            with pytest.raises(ValueError, match=r"a frame is uint8 \[height, width, 3\], not"):
                recorder.add(wrong)
        with pytest.raises(ValueError, match="is 66 x 40 pixels, but the recording has 66 x 48"):
            recorder.add(image[:40])
    with pytest.raises(ValueError, match="is closed"):
        recorder.add(image)
    assert details(tmp_path / "x.mp4")[1] == 1


@pytest.mark.parametrize("fps", [0, -1, float("nan"), float("inf")])
def test_fps(tmp_path, fps):
    with pytest.raises(ValueError, match="fps is"):
        FrameWriter(tmp_path / "x.mp4", fps=fps)
    with pytest.raises(ValueError, match="GIF plays at most 50"):
        FrameWriter(tmp_path / "x.gif", fps=60)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
@pytest.mark.parametrize("suffix", [".mp4", ".gif", ".png"])
def test_a_forked_process_leaves_the_film_alone(tmp_path, suffix):
    """It neither finishes the film nor keeps the encoder waiting while it lives."""
    path = tmp_path / f"film{suffix}"
    script = f"""
        import os, signal, sys, time
        import numpy as np
        from abmarl.render import FrameWriter
        image = np.zeros((40, 60, 3), np.uint8)
        with FrameWriter({str(path)!r}) as film:
            film.add(image)
            child = os.fork()
            if not child:
                try:
                    film.add(image)
                except ValueError as error:
                    print(error, flush=True)
                film.close()
                time.sleep(60)
                os._exit(0)
            time.sleep(1)
            assert not os.path.exists({str(path)!r})
            film.add(image)
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
    """
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", textwrap.dedent(script)],
        capture_output=True, text=True, timeout=40, check=False,
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (0, "")
    assert "belongs to the process that this one was forked from" in done.stdout
    assert only(tmp_path, path.name)
    if suffix == ".mp4":
        assert details(path)[1] == 2


@pytest.mark.parametrize("suffix", [".mp4", ".gif", ".png"])
@pytest.mark.parametrize("end", ["", "1 / 0", "sys.exit(3)"])
def test_a_film_that_nobody_closes_is_finished_at_the_end(tmp_path, suffix, end):
    path = tmp_path / f"film{suffix}"
    script = f"""
        import sys
        import numpy as np
        from abmarl.render import FrameWriter
        film = FrameWriter({str(path)!r})
        for _ in range(3):
            film.add(np.zeros((40, 60, 3), np.uint8))
        {end}
    """
    subprocess.run([sys.executable, "-c", textwrap.dedent(script)], timeout=60, check=False)
    assert only(tmp_path, path.name)
    if suffix == ".mp4":
        assert details(path)[1] == 3


SUFFIXES = [".mp4", ".gif", ".png"]


def has(image, color):
    return bool((image == color).all(axis=-1).any())


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_films_what_happens(tmp_path, suffix):
    sim = shipped["team-battle"]()
    manager = AllStepManager(sim)
    with Recorder(manager, tmp_path / f"film{suffix}", fps=5) as recorder:
        obs = manager.reset(seed=0)
        pictures = [recorder.capture()]
        rng = np.random.default_rng(0)
        for _ in range(6):
            actions = {name: {"attack": 1, "move": rng.integers(-1, 2, 2)} for name in obs}
            obs, _, dones, _ = manager.step(actions)
            obs = {name: one for name, one in obs.items() if not dones[name]}
            pictures.append(recorder.capture())
        assert recorder.num_frames == 7
        assert recorder._repr_html_() is None
    assert only(tmp_path, f"film{suffix}")
    assert len({picture.tobytes() for picture in pictures}) == 7
    if suffix == ".mp4":
        assert details(tmp_path / "film.mp4")[1] == 7
    if suffix == ".png":
        assert np.array_equal(np.asarray(Image.open(tmp_path / "film.png")), pictures[-1])
    html = recorder._repr_html_()
    kind = {".mp4": "<video controls", ".gif": "<img", ".png": "<img"}[suffix]
    assert html.startswith(kind)
    data = base64.b64decode(re.search(r"base64,([^\"]*)", html).group(1))
    assert data == (tmp_path / f"film{suffix}").read_bytes()


def test_attacks_flash(tmp_path):
    sim = battle()
    with Recorder(sim, tmp_path / "film.png") as recorder:
        sim.reset(seed=0)
        assert not has(recorder.capture(), FLASH)
        sim.step({"red0": act(1)})
        assert has(recorder.capture(), FLASH)
        sim.step({})
        assert not has(recorder.capture(), FLASH)


def test_two_who_watch_see_the_same(tmp_path):
    sim = battle()
    sim.reset(seed=0)
    with (
        Recorder(sim, tmp_path / "a.gif") as one,
        Recorder(sim, tmp_path / "b.gif", title="b", size=(320, 200)) as other,
    ):
        sim.step({"red0": act(1)})
        for recorder in (one, other):
            assert has(recorder.capture(), FLASH)


def test_a_world_of_many(tmp_path):
    vec = shipped["team-battle"]().vectorize(5, seed=0)
    vec.reset()
    with Recorder(vec.flatten(), tmp_path / "film.png", world=3) as recorder:
        assert recorder.capture().ndim == 3
    with pytest.raises(ValueError, match="world is 5, but there are 5: 0 to 4"):
        Recorder(vec, tmp_path / "other.png", world=5)
    assert only(tmp_path, "film.png")


def test_a_simulation_that_draws_itself(tmp_path):
    sim = MultiCorridor()
    with Recorder(sim, tmp_path / "film.gif") as recorder:
        sim.reset(seed=0)
        assert recorder.capture().shape == (640, 640, 3)
    assert only(tmp_path, "film.gif")


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_a_crash_keeps_what_was_filmed(tmp_path, suffix):
    sim = battle()
    sim.reset(seed=0)
    with pytest.raises(KeyboardInterrupt), Recorder(sim, tmp_path / f"x{suffix}") as recorder:
        recorder.capture()
        raise KeyboardInterrupt
    assert only(tmp_path, f"x{suffix}")


def test_refused(tmp_path):
    sim = battle()
    with pytest.raises(ValueError, match=r"known suffixes: \.mp4 \.gif \.png"):
        Recorder(sim, tmp_path / "film.avi")
    with pytest.raises(FileNotFoundError, match="nowhere"):
        Recorder(sim, tmp_path / "nowhere" / "film.mp4")
    with pytest.raises(ValueError, match="GIF plays at most 50"):
        Recorder(sim, tmp_path / "film.gif", fps=60)
    assert not list(tmp_path.iterdir())
