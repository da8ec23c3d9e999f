"""One run of ``abmarl rollout``, from the first step to the table, whatever happens in between."""

import sys
from collections.abc import Callable
from typing import Any

from abmarl.cli.errors import UserError, brief, for_the_user
from abmarl.cli.exit_codes import DONE, INTERRUPTED
from abmarl.cli.film import Camera, team_colors
from abmarl.cli.report import print_table, rows_of
from abmarl.rollout import AliveCurve, Rollout, Statistics, collect, statistics
from abmarl.rollout import save as save_rollout
from abmarl.rollout.episodes import team_names, teams_of


class Session:
    """Collects, films and plots, and keeps what can be kept.

    Args:
        vec: The vectorised simulation.
        name: What to call it.
        policies: group -> policy, or the name of one.
        steps: Steps to do.
        save: Where the rollout goes, or None.
        plot: Where the plot goes, or None.
    """

    def __init__(
        self,
        vec: Any,
        name: str,
        policies: dict[str, Any],
        steps: int,
        save: str | None,
        plot: str | None,
    ) -> None:
        self.vec, self.name, self.policies, self.steps = vec, name, policies, steps
        self.save, self.plot = save, plot
        self.curve = AliveCurve(vec) if plot else None
        self.camera: Camera | None = None
        self.kept: list[str] = []
        self.lost: list[str] = []

    def film(self, path: str, world: int, fps: int) -> None:
        """Film a world.

        Raises:
            UserError: When there is no filming to that path.
        """
        with for_the_user("--record"):
            self.camera = Camera(self.vec, path, world, fps, self.name)
        self.record = path

    def run(self) -> int:
        """Do it.

        Returns:
            The exit code.

        Raises:
            UserError: When the simulation fails, or a file could not be written.
        """
        gather = collect if self.save else statistics
        try:
            with for_the_user():
                result = gather(
                    self.vec, self.policies, self.steps, name=self.name, on_step=self._watch
                )
        finally:
            if self.camera is not None:
                self._attempt("--record", self.record, self.camera.close)
        # Each file is tried even if another one failed: a run is not easily done again.
        if self.save:
            self._attempt(
                "--save", self.save, lambda: save_rollout(result, self.save, progress=True)
            )
        if self.plot:
            self._attempt("--plot", self.plot, self._plot)
        return self._report(result)

    def _watch(self, step: int, infos: dict) -> None:
        if self.curve is not None:
            self.curve(step, infos)
        if self.camera is not None:
            try:
                self.camera(step, infos)
            except OSError as error:
                # A full disk ends the film but not the run.
                self.lost.append(f"--record: {brief(error)}")
                camera, self.camera = self.camera, None
                self._attempt("--record", self.record, camera.close)

    def _attempt(self, option: str, path: str, write: Callable[[], None]) -> None:
        try:
            write()
        except KeyboardInterrupt:
            self.lost.append(f"{option}: interrupted, {path} is as it was before")
        except (OSError, MemoryError, ValueError) as error:
            if not any(line.startswith(option) for line in self.lost):
                self.lost.append(f"{option}: {brief(error)}")
        else:
            if not any(line.startswith(option) for line in self.lost):
                self.kept.append(path)

    def _plot(self) -> None:
        from abmarl.render import Scene, plot_alive

        names, colors = team_names(self.vec, teams_of(self.vec)), team_colors(self.vec)
        counted = Scene.of(self.vec).team_names  # walls are no team
        teams = [team for team in self.curve.mean if team in counted]
        plot_alive(
            self.plot,
            {names[team]: self.curve.mean[team] for team in teams},
            {names[team]: colors[team] for team in teams},
            title=f"{self.name}: agents alive",
            xlabel="step of the episode",
            ylabel="mean over running episodes",
        )

    def _report(self, result: Rollout | Statistics) -> int:
        tally = result.tally
        sizes = {name: len(group) for name, group in self.vec.groups.items()}
        title = f"{self.name}: {self.vec.num_envs:,} worlds, {tally.steps:,} steps"
        print_table(title, rows_of(tally, result.episodes, sizes))
        sys.stdout.flush()
        if self.kept:
            print(f"wrote {', '.join(self.kept)}", file=sys.stderr)
        if tally.interrupted or any("interrupted" in line for line in self.lost):
            for line in self.lost:
                print(line, file=sys.stderr)
            print(
                f"interrupted after {tally.steps:,} of {self.steps:,} steps; what was collected "
                f"is {'in these files' if self.kept else 'in the table above'}",
                file=sys.stderr,
            )
            return INTERRUPTED
        if self.lost:
            raise UserError("\n".join(self.lost))
        return DONE
