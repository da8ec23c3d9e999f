"""Results folders of training runs: where they are, and what is in them."""

import csv
import itertools
import json
import math
import os
import shutil
import time
from pathlib import Path
from typing import Any

from abmarl import __version__
from abmarl.experiments.experiment import ExperimentError
from abmarl.extras import load
from abmarl.files import replacing

RUN_FILE = "run.json"
PROGRESS_FILE = "progress.csv"
CHECKPOINT = "checkpoint_"
FORMAT = 1
"""Raised when what a results folder holds changes so that older ones cannot be read."""


def base_folder(local_dir: Any = None) -> Path:
    """Return ``abmarl_results`` in the folder that an experiment names, else in the home folder.

    Raises:
        ExperimentError: the folder is no path of this machine.
    """
    if local_dir is None:
        return Path.home() / "abmarl_results"
    if not isinstance(local_dir, str | os.PathLike) or "://" in str(local_dir):
        raise ExperimentError(
            f"local_dir and storage_path must be a folder of this machine, not {local_dir!r:.60}"
        )
    return Path(local_dir).expanduser().absolute() / "abmarl_results"


def new_folder(base: Path, name: str) -> Path:
    """Make the folder ``<name>_<date>_<time>``, with a number where that exists already.

    Args:
        base: folder to make it in, which is made too.
        name: the beginning of its name.

    Raises:
        OSError: it cannot be made.
    """
    base.mkdir(parents=True, exist_ok=True)
    stamp = time.strftime("%Y-%m-%d_%H-%M-%S")
    folder, count = base / f"{name}_{stamp}", 1
    while True:
        try:
            folder.mkdir()
        except FileExistsError:
            count += 1
            folder = base / f"{name}_{stamp}-{count}"
        else:
            return folder


class Results:
    """A results folder.

    Args:
        folder: its path.
    """

    def __init__(self, folder: str | os.PathLike) -> None:
        self.folder = Path(folder).absolute()

    @classmethod
    def create(cls, base: Path, title: str, experiment: str, **about: Any) -> "Results":
        """Make a new one, with a copy of the experiment file.

        Args:
            base: folder to make it in.
            title: title of the experiment; the folder's name is ``<title>_<date>_<time>``.
            experiment: path of the experiment file.
            **about: further entries of `about`.

        Raises:
            OSError: the folder cannot be made or written to.
        """
        results = cls(new_folder(base, plain_name(title)))
        shutil.copy(experiment, results.folder)
        results.remember(
            title=title, experiment=os.path.basename(experiment), source=str(experiment), **about
        )
        return results

    @classmethod
    def open(cls, folder: str | os.PathLike) -> "Results":
        """Open an existing one.

        Raises:
            ExperimentError: it is no results folder, or was made by an incompatible version.
        """
        results = cls(folder)
        if not results.folder.is_dir():
            raise ExperimentError(f"{folder} is no folder; 'abmarl list' names earlier results")
        if not (results.folder / RUN_FILE).is_file():
            raise ExperimentError(
                f"{folder} is no results folder of 'abmarl train': it has no {RUN_FILE}; "
                f"'abmarl list' names earlier results"
            )
        about = results.about
        if about.get("format") != FORMAT:
            raise ExperimentError(
                f"{folder} was made by abmarl {about.get('abmarl', '?')}, whose results this "
                f"version, {__version__}, cannot read; train again with the copy of the file in it"
            )
        return results

    @property
    def about(self) -> dict[str, Any]:
        """What the folder tells about the run: title, algorithm, settings, versions."""
        try:
            return json.loads((self.folder / RUN_FILE).read_text(encoding="utf-8"))
        except ValueError as error:
            raise ExperimentError(f"{self.folder / RUN_FILE} is damaged: {error}") from error

    def remember(self, **about: Any) -> None:
        """Write `about`, with the versions.

        Raises:
            OSError: it cannot be written; the earlier file is intact then.
        """
        about = {"format": FORMAT, "abmarl": __version__, **about}
        text = json.dumps(about, indent=2, default=str) + "\n"
        with replacing(self.folder / RUN_FILE, "w", encoding="utf-8") as file:
            file.write(text)

    @property
    def experiment(self) -> Path:
        """The copy of the experiment file."""
        return self.folder / self.about["experiment"]

    def checkpoints(self) -> dict[int, Path]:
        """Return iteration -> folder of its checkpoint, in order."""
        found = {}
        for path in self.folder.glob(f"{CHECKPOINT}*"):
            number = path.name.removeprefix(CHECKPOINT)
            if path.is_dir() and number.isdecimal():
                found[int(number)] = path
        return dict(sorted(found.items()))

    def checkpoint(self, number: int | None = None) -> tuple[int, Path]:
        """Return the iteration and the folder of a checkpoint.

        Args:
            number: its iteration; None for the last one.

        Raises:
            ExperimentError: there is none, or it was made by another version of Ray.
        """
        there = self.checkpoints()
        if not there:
            raise ExperimentError(
                f"{self.folder} has no checkpoints: training ended before the first one; "
                f"set checkpoint_freq for more of them"
            )
        if number is None:
            number = max(there)
        if number not in there:
            raise ExperimentError(
                f"{self.folder.name} has no checkpoint {number}; there are "
                f"{', '.join(map(str, there))}"
            )
        trained = self.about.get("ray")
        if trained is not None:
            here = load("ray", "rllib", "abmarl.experiments").__version__
            if trained.split(".")[:2] != here.split(".")[:2]:
                raise ExperimentError(
                    f"{self.folder.name} was trained with Ray {trained}, here is {here}: "
                    f"pip install 'ray[rllib]=={trained}', or train again"
                )
        return number, there[number]

    def checkpoint_path(self, iteration: int) -> Path:
        """Return the folder for the checkpoint of an iteration."""
        return self.folder / f"{CHECKPOINT}{iteration:06d}"

    def film_path(self, iteration: int) -> Path:
        """Return the path for the next film of an iteration's policies; earlier ones stay."""
        numbers = itertools.count()
        paths = (self.folder / f"Episode_{iteration:06d}_{number}.mp4" for number in numbers)
        return next(path for path in paths if not path.exists())

    def last_values(self, iteration: float = math.inf) -> dict[str, float]:
        """Return column of the log -> the last number in it, up to an iteration."""
        found: dict[str, float] = {}
        path = self.folder / PROGRESS_FILE
        if path.is_file():
            with path.open(newline="", encoding="utf-8") as file:
                for row in csv.DictReader(file):
                    if int(row["training_iteration"]) > iteration:
                        break
                    found.update((key, float(value)) for key, value in row.items() if value)
        return found

    def forget_after(self, iteration: int) -> None:
        """Remove the iterations after one from the log: they come again.

        Raises:
            OSError: the log cannot be written; it is intact then.
        """
        path = self.folder / PROGRESS_FILE
        if not path.is_file() or not path.stat().st_size:
            return
        with path.open(newline="", encoding="utf-8") as file:
            columns, *rows = csv.reader(file)
        which = columns.index("training_iteration")
        kept = [row for row in rows if int(row[which]) <= iteration]
        if len(kept) < len(rows):
            replace_rows(path, [columns, *kept])


def replace_rows(path: Path, rows: list[list[str]]) -> None:
    """Replace a CSV file.

    Raises:
        OSError: it cannot be written; the earlier file is intact then.
    """
    with replacing(path, "w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows(rows)


def plain_name(title: str) -> str:
    """Return a title as the name of a file."""
    return "".join(c if c.isalnum() or c in "-_." else "-" for c in title)


def earlier(base: Path) -> list[Results]:
    """Return the results folders in a folder, the oldest first."""
    found = [path.parent for path in base.glob(f"*/{RUN_FILE}")]
    return [Results(one) for one in sorted(found, key=lambda one: one.stat().st_mtime)]
