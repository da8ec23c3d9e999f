"""Scripts for clusters."""

import subprocess
import sys
import time

import pytest

from abmarl.cli.make_runnable import write_batch_script, write_runnable
from abmarl.experiments.experiment import read
from tests.support.experiment_files import write


def test_a_script_is_the_file_with_an_end(tmp_path):
    path = write(tmp_path)
    script = write_runnable(read(path))
    assert script == tmp_path / "runnable_walk.py"
    text = script.read_text()
    assert text.startswith(path.read_text().rstrip("\n"))
    assert text.endswith('    main(["train", __file__, *sys.argv[1:]])\n')
    # As a file it is an experiment still, which does not train by being read.
    assert read(script).title == "Walk"
    with pytest.raises(ValueError, match=r"runnable_walk\.py is runnable already"):
        write_runnable(read(script))


def test_one_script_serves_them_all(tmp_path):
    """What it calls is a stand-in, which tells where it would train."""
    script = write_runnable(read(write(tmp_path)))
    stand_in = tmp_path / "tools" / "abmarl" / "cli"
    stand_in.mkdir(parents=True)
    (stand_in.parent / "__init__.py").touch()
    (stand_in / "__init__.py").write_text(
        "import os\ndef main(words):\n    print(os.environ.get('RAY_ADDRESS'), *words[1:])\n"
    )
    end = script.read_text()[len((tmp_path / "walk.py").read_text()) :]
    script.write_text(end)  # the file needs the package itself
    for variables, address in (
        ({}, None), ({"RAY_ADDRESS": "a:1"}, "a:1"),
        ({"RAY_ADDRESS": "a:1", "MAGPIE_RAY_ADDRESS": "b:2"}, "b:2"),
    ):  # fmt: skip
        done = subprocess.run(
            [sys.executable, "-S", script, "--smoke"], capture_output=True, text=True, check=True,
            env={"PYTHONPATH": str(tmp_path / "tools"), **variables},
        )  # fmt: skip
        assert done.stdout == f"{address} {script} --smoke\n"
    write_batch_script(read(tmp_path / "walk.py"), "magpie", 1, 1)
    write_batch_script(read(tmp_path / "walk.py"), "slurm", 1, 1)
    assert script.read_text() == end  # batch scripts do not touch it


@pytest.mark.parametrize(
    ("kind", "name"),
    [("slurm", "Walk_slurm.sbatch"), ("magpie", "Walk_magpie.sbatch-srun-ray")],
)
def test_batch_scripts(tmp_path, kind, name):
    batch = write_batch_script(read(write(tmp_path)), kind, 3, 1.75)
    assert batch == tmp_path / name
    text = batch.read_text()
    assert "#SBATCH --nodes=3\n" in text
    assert "#SBATCH --time=1:45:00\n" in text
    assert str(tmp_path / "runnable_walk.py") in text
    subprocess.run(["bash", "-n", str(batch)], check=True)


FAKE = {
    "scontrol": 'printf "n1\\nn2\\nn3\\n"',
    "srun": 'while [[ $1 == -* ]]; do [[ $1 == -w ]] && shift; shift; done; "$@"',
    "hostname": "echo 10.0.0.1 10.0.0.2",
    "sleep": "exec /bin/sleep 0.1",
    "ray": 'echo "ray $*" >> log',
    "python": 'echo "$RAY_ADDRESS $#: $*" >> log',
}


def test_slurm_starts_ray_on_every_node(tmp_path):
    """The batch script itself, with a make-believe cluster, from a folder with a blank."""
    folder = tmp_path / "my runs"
    tools = tmp_path / "tools"
    for one in (folder, tools):
        one.mkdir()
    batch = write_batch_script(read(write(folder)), "slurm", 3, 1)
    for name, line in FAKE.items():
        (tools / name).write_text(f"#!/bin/bash\n{line}\n")
        (tools / name).chmod(0o755)
    environment = {
        "PATH": f"{tools}:/usr/bin:/bin", "SLURM_JOB_ID": "12345", "SLURM_JOB_NODELIST": "n[1-3]"
    }  # fmt: skip
    subprocess.run(["bash", str(batch)], cwd=tmp_path, env=environment, check=True, timeout=60)
    # What it started in the background may end after it.
    deadline = time.monotonic() + 60
    lines = []
    while len(lines) < 4 and time.monotonic() < deadline:
        time.sleep(0.05)
        lines = (tmp_path / "log").read_text().splitlines()
    address = "10.0.0.1:22345"
    assert sum(line.startswith("ray start --head") for line in lines) == 1
    assert lines.count(f"ray start --address={address} --block") == 2
    assert f"{address} 2: -u {folder}/runnable_walk.py" in lines
