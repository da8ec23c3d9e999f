"""``abmarl replay``: watch a rollout that was saved."""

import contextlib
import sys
from collections.abc import Callable, Iterator
from typing import Annotated, Any

import typer

from abmarl.cli.console import (
    DONE,
    INTERRUPTED,
    UserError,
    check_outputs,
    for_the_user,
    needs_screen,
    prepare_outputs,
    require_library,
)
from abmarl.cli.inputs import load_rollout, name_of_rollout, simulation_of
from abmarl.terminal import ProgressBar, deferred_interrupt, progress

EXAMPLES = {
    "abmarl replay run.npz": "in a window; h shows the keys",
    "abmarl replay run.npz --world 5 --episode 2": "another world, from its second episode on",
    "abmarl replay run.npz --sim my_sim.py": "a rollout of your own simulation",
    "abmarl replay run.npz --record clip.mp4 --from 40 --to 90": "a film of some steps; needs no "
    "screen",
}


def replay(
    file: Annotated[
        str,
        typer.Argument(
            metavar="FILE", show_default=False, help="A rollout, as `--save` of abmarl writes it."
        ),
    ],
    sim: Annotated[
        str | None,
        typer.Option(
            metavar="SIM",
            show_default=False,
            help="The simulation that it was made with: a shipped one, or a Python file, which is "
            "executed. [default: the shipped one that the file names]",
        ),
    ] = None,
    world: Annotated[
        int, typer.Option(min=0, metavar="K", help="Which world to show, from 0.")
    ] = 0,
    episode: Annotated[
        int | None,
        typer.Option(
            min=1, metavar="E", show_default=False, help="Which of its episodes to start with."
        ),
    ] = None,
    record: Annotated[
        str | None,
        typer.Option(
            metavar="FILE", help="Write a film in place of a window: .mp4, .gif, or .png."
        ),
    ] = None,
    first: Annotated[
        int | None,
        typer.Option(
            "--from", min=0, metavar="N", show_default=False,
            help="First step of the film. [default: the first one, or that of --episode]",
        ),
    ] = None,
    last: Annotated[
        int | None,
        typer.Option(
            "--to", min=0, metavar="N", show_default=False,
            help="Last step of the film. [default: the last one, or that of --episode]",
        ),
    ] = None,
    fps: Annotated[
        float, typer.Option(metavar="N", help="Steps per second of film, or in the window.")
    ] = 10,
) -> int:  # fmt: skip
    """Play a rollout back, forwards and backwards, with its rewards and a timeline.

    The world is simulated again from its seed and the recorded actions, and compared with what was
    recorded. Where it does something else, the place is told, and from there on the record is
    shown: what every agent saw. Needs abmarl[render].
    """
    if not 0 < fps < float("inf"):
        raise UserError(f"--fps {fps:g}: allowed are numbers above 0")
    for option, step in (("--from", first), ("--to", last)):
        if step is not None and record is None:
            raise UserError(f"{option} {step}: is for a film, give --record FILE too")
    check_outputs({"--record": record})
    require_library("pygame")
    rollout = load_rollout(file)
    if world >= rollout.num_envs:
        raise UserError(f"--world {world}: there are worlds 0 to {rollout.num_envs - 1} in {file}")
    simulation = simulation_of(rollout, file, sim)
    from abmarl.render.replay.show import ReplayShow

    with for_the_user(file):
        show = ReplayShow(
            simulation,
            rollout,
            world,
            name_of_rollout(file),
            on_check=_progress,
            on_mismatch=_print_mismatch,
        )
    begin, end = _moments_of(show, episode)
    if record is None:
        show.go(begin)
        return _watch(show, name_of_rollout(file), world, fps)
    moments = show.replay.moments
    begin = begin if first is None else _moment(moments, rollout, "--from", first)
    end = end if last is None else _moment(moments, rollout, "--to", last, ends=True)
    if begin > end:
        raise UserError(f"--from {moments.step[begin]}: comes after --to {moments.step[end]}")
    prepare_outputs({"--record": record})
    return _film(show, record, range(begin, end + 1), fps)


def _moments_of(show: Any, episode: int | None) -> tuple[int, int]:
    """Return the first and the last moment of an episode, or of the whole rollout."""
    moments = show.replay.moments
    if episode is None:
        return 0, len(moments) - 1
    count = int(moments.episode[-1]) + 1
    if episode > count:
        what = "there is 1 episode" if count == 1 else f"there are episodes 1 to {count}"
        raise UserError(f"--episode {episode}: {what} in world {show.replay.world}")
    mine = (moments.episode == episode - 1).nonzero()[0]
    return int(mine[0]), int(mine[-1])


def _moment(moments: Any, rollout: Any, option: str, step: int, ends: bool = False) -> int:
    """Return the moment after so many steps: the start of an episode, or with `ends` its end."""
    if step > rollout.num_steps:
        raise UserError(f"{option} {step}: the rollout has {rollout.num_steps} steps")
    moment = moments.of_step(step)
    later = moment + 1 < len(moments) and moments.fresh[moment + 1]
    return moment + 1 if later and not ends else moment


def _watch(show: Any, name: str, world: int, fps: float) -> int:
    from abmarl.render import Viewer
    from abmarl.render.replay.show import ReplayKeys
    from abmarl.render.replay.timeline import ReturnCurves, Timeline

    with for_the_user(), needs_screen("give --record FILE for a film"):
        viewer = Viewer(
            show, title=f"{name} - abmarl", speed=fps, world=world,
            input_handler=ReplayKeys(show), widgets=[ReturnCurves(show), Timeline(show)],
        )  # fmt: skip
        viewer.run()
    return DONE


def _film(show: Any, path: str, moments: range, fps: float) -> int:
    from abmarl.render.replay.timeline import Clip

    with for_the_user("--record"), deferred_interrupt() as interrupt:
        clip = Clip(show, path, fps)
        with clip, progress(f"filming {path}", len(moments), "pictures") as report:
            for number, moment in enumerate(moments, 1):
                clip.take(moment)
                report.update(number)
                if interrupt:
                    break
    print(f"wrote {path}", file=sys.stderr)
    if interrupt:
        print(f"interrupted after {number:,} of {len(moments):,} pictures", file=sys.stderr)
        return INTERRUPTED
    return DONE


@contextlib.contextmanager
def _progress(replay: Any) -> Iterator[Callable[[int], None] | None]:
    """Show how far a long rollout is simulated again, on a terminal."""
    total = len(replay.moments)
    report = progress(f"simulating world {replay.world} again", total, "steps", total > 5000)
    if isinstance(report, ProgressBar):
        with report:
            yield lambda moment: report.update(moment + 1)
    else:
        yield None


def _print_mismatch(mismatch: Any) -> None:
    print(
        f"not as recorded: {mismatch}\nfrom there on the record is shown, what every agent saw",
        file=sys.stderr,
    )
