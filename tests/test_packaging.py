"""What an installation contains and what ``import abmarl`` costs."""

import os
import shutil
import subprocess
import sys
import sysconfig
import tarfile
import zipfile
from importlib import metadata
from pathlib import Path

import pytest

import abmarl

ROOT = Path(__file__).resolve().parents[1]
HEAVY = (
    "numba", "numpy", "scipy", "psutil", "ray", "torch", "gym", "pettingzoo", "stable_baselines3",
    "pyspiel", "torchrl", "pygame", "imageio", "matplotlib",
)  # fmt: skip


def _run(*arguments, **options) -> str:
    result = subprocess.run(
        [sys.executable, *map(str, arguments)], capture_output=True, text=True, **options
    )
    if result.returncode:
        pytest.fail(f"{arguments}\n{result.stdout}{result.stderr}")
    return result.stdout


def _data_files() -> set[str]:
    """Files of the package that are no Python."""
    maps = {path.relative_to(ROOT).as_posix() for path in ROOT.glob("abmarl/**/*.txt")}
    return maps | {"abmarl/py.typed"}


def _source_files() -> set[str]:
    """Python files as an installation names them."""
    found = set()
    for folder, _, names in os.walk(ROOT / "abmarl", followlinks=True):
        inside = Path(folder).relative_to(ROOT)
        found |= {(inside / name).as_posix() for name in names if name.endswith(".py")}
    return found


@pytest.fixture(scope="module")
def source(tmp_path_factory) -> Path:
    """A copy of what a build reads: building in place would leave files in the repository."""
    setuptools_version = metadata.version("setuptools")
    if int(setuptools_version.split(".")[0]) < 77:
        pytest.skip(f"building needs setuptools 77 or newer, here is {setuptools_version}")
    folder = tmp_path_factory.mktemp("source")
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, folder)
    for name in ("abmarl", "kernels"):
        ignore = shutil.ignore_patterns("__pycache__")
        shutil.copytree(ROOT / name, folder / name, symlinks=True, ignore=ignore)
    return folder


@pytest.fixture(scope="module")
def wheel(source, tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    options = ("--no-deps", "--no-build-isolation", "--no-index", "--wheel-dir", folder)
    _run("-m", "pip", "wheel", "--quiet", "--disable-pip-version-check", *options, source)
    (built,) = folder.glob("*.whl")
    return built


def test_kernels_are_a_link_in_the_package():
    assert (ROOT / "abmarl" / "kernels").is_symlink()
    assert (ROOT / "abmarl" / "kernels").resolve() == ROOT / "kernels"


def test_wheel_holds_every_module_and_nothing_else(wheel):
    with zipfile.ZipFile(wheel) as archive:
        names = {name for name in archive.namelist() if ".dist-info/" not in name}
    assert "abmarl/kernels/__init__.py" in names
    assert _data_files()
    assert names == _source_files() | _data_files()


def test_wheel_metadata(wheel, tmp_path):
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(tmp_path)
    (distribution,) = metadata.distributions(path=[str(tmp_path)])
    assert distribution.version == abmarl.__version__
    (script,) = distribution.entry_points.select(group="console_scripts")
    assert (script.name, script.value) == ("abmarl", "abmarl.cli:main")
    assert {
        "render", "gym", "pettingzoo", "sb3", "openspiel", "torchrl", "rllib", "all", "docs",
        "test",
    } == set(distribution.metadata.get_all("Provides-Extra"))  # fmt: skip


def test_kernels_are_imported_from_an_unpacked_wheel(wheel, tmp_path):
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(tmp_path)
    assert _kernels_folder(tmp_path, working_folder=tmp_path) == tmp_path / "abmarl" / "kernels"


def test_source_distribution_holds_the_kernels_as_files(source, tmp_path):
    code = "import sys, setuptools.build_meta as b; b.build_sdist(sys.argv[1])"
    _run("-c", code, tmp_path, cwd=source)
    (built,) = tmp_path.glob("*.tar.gz")
    with tarfile.open(built) as archive:
        members = {name.partition("/")[2]: archive.getmember(name) for name in archive.getnames()}
    assert _source_files() <= set(members)
    assert members["abmarl/kernels/compile.py"].isfile()


def test_editable_install_is_found_beside_a_clone(source, tmp_path):
    """A script may lie in the folder that holds the clone, which is called as the package is."""
    clone = tmp_path / "abmarl"
    shutil.copytree(source, clone, symlinks=True)
    code = (
        "import sys, setuptools.build_meta as b;"
        "b.build_editable(sys.argv[1], {'editable_mode': 'compat'})"
    )
    _run("-c", code, tmp_path, cwd=clone)
    (built,) = tmp_path.glob("*.whl")
    with zipfile.ZipFile(built) as archive:
        archive.extractall(tmp_path / "site")
    for working_folder in (tmp_path, clone, tmp_path / "site"):
        found = _kernels_folder(tmp_path / "site", working_folder)
        assert found.resolve() == clone / "kernels"


def _kernels_folder(site_folder: Path, working_folder: Path) -> Path:
    """Where ``abmarl.kernels`` comes from in a fresh Python with ``site_folder`` installed.

    Without ``-S`` the installation that runs this test would be found as well.
    """
    code = (
        "import site, sys; site.addsitedir(sys.argv[1]); sys.path += sys.argv[2:];"
        "sys.path.insert(0, '');"
        "import abmarl.kernels; print(abmarl.kernels.__file__)"
    )
    libraries = {sysconfig.get_path("purelib"), sysconfig.get_path("platlib")}
    environment = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}
    output = _run("-S", "-c", code, site_folder, *libraries, cwd=working_folder, env=environment)
    return Path(output.strip()).parent


def test_importing_abmarl_imports_nothing_heavy():
    code = "import sys, abmarl; print(*(m for m in sys.argv[1:] if m in sys.modules))"
    assert _run("-c", code, *HEAVY, cwd=ROOT).split() == []


def test_dir_of_abmarl_imports_nothing_heavy():
    code = "import sys, abmarl; dir(abmarl); print(*(m for m in sys.argv[1:] if m in sys.modules))"
    assert _run("-c", code, *HEAVY, cwd=ROOT).split() == []
