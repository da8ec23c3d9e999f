"""``abmarl rollout``: run many worlds at once and keep, film or plot what happens."""

import sys
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, Any

import typer

from abmarl.cli import options
from abmarl.cli.console import (
    DONE,
    INTERRUPTED,
    UserError,
    brief,
    check_outputs,
    for_the_user,
    prepare_outputs,
)
from abmarl.cli.inputs import load_policies, name_of_simulation, names_of_policies, vectorized
from abmarl.terminal import print_table

EXAMPLES = {
    "abmarl rollout team-battle": "1024 worlds, 500 steps, random actions; prints a table",
    "abmarl rollout team-battle --policy heuristic --record battle.mp4": "film the first world",
    "abmarl rollout predator-prey-resources --policy predator=heuristic --plot alive.png": (
        "hunters that hunt, and a plot of who survives"
    ),
    "abmarl rollout foraging --policy forager=ppo.zip": "a policy that Stable-Baselines3 trained",
    "abmarl rollout my_sim.py --num-envs 64 --steps 2000 --save run.npz": (
        "your simulation; read the file with abmarl.rollout.load"
    ),
}


def rollout(
    sim: options.Sim,
    num_envs: Annotated[
        int, typer.Option("--num-envs", "-n", min=1, metavar="N", help="Worlds to run at once.")
    ] = 1024,
    steps: Annotated[
        int, typer.Option("--steps", "-t", min=1, metavar="N", help="Steps of every world.")
    ] = 500,
    horizon: options.Horizon = 200,
    seed: options.Seed = 0,
    threads: options.Threads = None,
    order: options.Order = "fixed",
    policy: options.Policy = None,
    trust: options.Trust = False,
    sample: options.Sample = False,
    save: Annotated[
        str | None,
        typer.Option(metavar="FILE.npz", help="Save every step (observations, actions, rewards)."),
    ] = None,
    record: Annotated[
        str | None,
        typer.Option(
            metavar="FILE",
            help="Film one world: .mp4, .gif, or .png for the last frame. Needs abmarl[render].",
        ),
    ] = None,
    record_world: Annotated[
        int, typer.Option(min=0, metavar="K", help="Which world to film, from 0.")
    ] = 0,
    fps: Annotated[int, typer.Option(min=1, metavar="N", help="Steps per second of film.")] = 10,
    plot: Annotated[
        str | None,
        typer.Option(
            metavar="FILE.png",
            help="Plot how many agents of each team are alive over the steps of an episode, on "
            "average. Needs abmarl[render].",
        ),
    ] = None,
) -> int:
    """Run many worlds of a simulation at once and tell what happened.

    Worlds are reset when their episode ends. Ctrl-C stops early: what was collected until then is
    saved, filmed and counted as usual.
    """
    outputs = {"--save": save, "--record": record, "--plot": plot}
    check_outputs(outputs)
    vec = vectorized(sim, num_envs, seed, horizon, threads, order)
    if record_world >= num_envs:
        raise UserError(f"--record-world {record_world}: there are worlds 0 to {num_envs - 1}")
    names = names_of_policies(vec, policy or [])
    for group, several in names.items():
        if len(several) > 1:
            raise UserError(
                f"--policy: a rollout takes one policy for group {group!r}, got "
                f"{', '.join(several)};\nabmarl evaluate plays all of them"
            )
    loaded = load_policies(vec, names, trust, sample, seed)
    policies = {group: loaded[group][name] for group, [name] in names.items()}
    if save:
        from abmarl.rollout.columns import check_rollout_memory

        with for_the_user("--save"):
            check_rollout_memory(vec, steps)
    prepare_outputs(outputs)
    session = Session(vec, name_of_simulation(sim), policies, steps, save, plot)
    if record:
        session.film(record, record_world, fps)
    return session.run()


@dataclass
class Session:
    """Collect, film and plot, and keep what can be kept whatever happens in between.

    Args:
        vec: The vectorised simulation.
        name: The name of the simulation.
        policies: group -> policy, or the name of one.
        steps: How many steps to do.
        save: Where the rollout goes, or None.
        plot: Where the plot goes, or None.
    """

    vec: Any
    name: str
    policies: dict[str, Any]
    steps: int
    save: str | None
    plot: str | None

    def __post_init__(self) -> None:
        from abmarl.rollout import AliveCurve

        self._curve: Any = AliveCurve(self.vec) if self.plot else None
        self._recorder: Any = None
        self._film = ""
        self._kept: list[str] = []
        self._lost: dict[str, str] = {}  # option -> why its file was not written

    def film(self, path: str, world: int, fps: int) -> None:
        """Film a world.

        Raises:
            UserError: When the film cannot be written there.
        """
        with for_the_user("--record"):
            from abmarl.render import Recorder

            self._recorder = Recorder(self.vec, path, fps, world=world, title=self.name)
        self._film = path

    def run(self) -> int:
        """Run all steps.

        Returns:
            The exit code.

        Raises:
            UserError: When the simulation fails, or a file could not be written.
        """
        from abmarl.rollout import collect, save, statistics

        gather: Any = collect if self.save else statistics
        path = self.save
        try:
            with for_the_user():
                result = gather(
                    self.vec, self.policies, self.steps, name=self.name, on_step=self._watch
                )
        finally:
            if self._recorder is not None:
                self._attempt("--record", self._film, self._recorder.close)
        # Each file is tried even if another one failed: a run is not easily done again.
        if path:
            self._attempt("--save", path, lambda: save(result, path, progress=True))
        if self.plot:
            self._attempt("--plot", self.plot, self._plot)
        return self._report(result)

    def _watch(self, step: int, infos: dict) -> None:
        if self._curve is not None:
            self._curve(step, infos)
        if self._recorder is not None:
            try:
                self._recorder.capture()
            except OSError as error:
                # A full disk ends the film but not the run.
                self._lost["--record"] = brief(error)
                recorder, self._recorder = self._recorder, None
                self._attempt("--record", self._film, recorder.close)

    def _attempt(self, option: str, path: str, write: Callable[[], None]) -> None:
        try:
            write()
        except KeyboardInterrupt:
            self._lost[option] = f"interrupted, {path} is as it was before"
        except (OSError, MemoryError, ValueError) as error:
            self._lost.setdefault(option, brief(error))
        else:
            if option not in self._lost:
                self._kept.append(path)

    def _plot(self) -> None:
        from abmarl.render import Scene, plot_alive
        from abmarl.render.scenes.appearance import drawn_colors
        from abmarl.rollout.episodes import team_names, teams_of

        vec = self.vec
        teams = teams_of(vec)
        names = team_names(vec, teams)
        # A team is drawn in the colour that most of its agents have.
        colors: dict[int, Counter] = {}
        for team, color in zip(
            teams[0].tolist(), drawn_colors(list(vec.agents.values())), strict=True
        ):
            colors.setdefault(team, Counter())[color] += 1
        counted = Scene.of(vec).team_names  # walls are no team
        shown = [team for team in self._curve.mean if team in counted]
        plot_alive(
            self.plot,
            {names[team]: self._curve.mean[team] for team in shown},
            {names[team]: colors[team].most_common(1)[0][0] for team in shown},
            title=f"{self.name}: agents alive",
            xlabel="step of the episode",
            ylabel="mean over running episodes",
        )

    def _report(self, result: Any) -> int:
        tally = result.tally
        sizes = {name: len(group) for name, group in self.vec.groups.items()}
        title = f"{self.name}: {self.vec.num_envs:,} worlds, {tally.steps:,} steps"
        print_table(title, _rows(tally, result.episodes, sizes))
        sys.stdout.flush()
        if self._kept:
            print(f"wrote {', '.join(self._kept)}", file=sys.stderr)
        lost = [f"{option}: {reason}" for option, reason in self._lost.items()]
        if tally.interrupted or any("interrupted" in line for line in lost):
            for line in lost:
                print(line, file=sys.stderr)
            print(
                f"interrupted after {tally.steps:,} of {self.steps:,} steps; what was collected "
                f"is {'in these files' if self._kept else 'in the table above'}",
                file=sys.stderr,
            )
            return INTERRUPTED
        if lost:
            raise UserError("\n".join(lost))
        return DONE


def _rows(tally: Any, episodes: Any, sizes: dict[str, int]) -> list[tuple[str, str]]:
    """Return the table of a run.

    Args:
        tally: The counters of the run.
        episodes: The episodes that ended in it.
        sizes: group -> number of agents.
    """
    rows = [
        ("env steps", f"{tally.env_steps:,}"),
        ("agent steps", f"{tally.agent_steps:,}"),
        ("agent-steps per second", f"{tally.rate:,.0f}"),
        ("wall time", f"{tally.wall_seconds:.1f} s, {tally.step_seconds:.1f} s of it stepping"),
        ("episodes", f"{len(episodes):,}"),
        ("mean length", _mean(episodes.length)),
    ]
    for group, returns in episodes.returns.items():
        size = sizes[group]
        who = "1 agent" if size == 1 else f"sum of {size} agents"
        rows.append((f"mean return, {group} ({who})", _mean(returns)))
    for team, survivors in episodes.survivors.items():
        rows.append((f"mean survivors, {episodes.team_names[team]}", _mean(survivors)))
    return rows


def _mean(values: Any) -> str:
    return f"{values.mean():,.2f}" if len(values) else "- (no episode ended)"
