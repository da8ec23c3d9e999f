"""``abmarl visualize``: watch trained policies play, or film them."""

import os
from typing import Annotated, Any

import typer

from abmarl.cli.errors import UserError, for_the_user, wants_traceback
from abmarl.cli.options import AnySeed, Checkpoint, Debug, Episodes, StepsPerEpisode

EXAMPLES = {
    "abmarl visualize ~/abmarl_results/MultiCorridor_2026-01-31_12-00-00 -n 5 --record": (
        "watch five episodes and film them"
    ),
    "abmarl visualize DIR -n 5 --record-only": "film them without a screen",
    "abmarl visualize DIR -c 50 --explore --seed 1": "an earlier checkpoint, acting by chance",
}


def visualize(
    folder: Annotated[
        str,
        typer.Argument(
            metavar="DIR", show_default=False, help="A results folder of `abmarl train`."
        ),
    ],
    episodes: Episodes = 1,
    steps: StepsPerEpisode = 200,
    checkpoint: Checkpoint = None,
    record: Annotated[
        bool,
        typer.Option("--record", help="Film every episode, as .mp4 files in the results folder."),
    ] = False,
    record_only: Annotated[
        bool, typer.Option("--record-only", help="Film them without showing them.")
    ] = False,
    frame_delay: Annotated[
        int,
        typer.Option(
            "--frame-delay", min=1, metavar="MS", help="Milliseconds from one step to the next."
        ),
    ] = 200,
    explore: Annotated[
        bool,
        typer.Option(
            "--explore", help="Draw actions by chance, as in training, instead of the likeliest."
        ),
    ] = False,
    seed: AnySeed = None,
    debug: Debug = False,
) -> int:
    """Show episodes played by the policies that were trained.

    The copy of the experiment file in the results folder is executed.
    """
    with for_the_user():
        from abmarl.experiments.play import has_screen
        from abmarl.experiments.results import Results

        results = Results.open(folder)
        if not record_only and not has_screen():
            raise UserError(
                "there is no screen here (DISPLAY is not set): give --record-only to film the "
                "episodes instead"
            )
        from abmarl.experiments.replay import load_replay

        replay = load_replay(results, checkpoint, wants_traceback())
        if seed is not None:
            replay.trainer.seed(seed)
        for episode in range(episodes):
            first = seed if episode == 0 else None
            path = None
            if record or record_only:
                path = results.folder / f"Episode_{replay.iteration:06d}_{episode}.mp4"
            played = _play(replay, steps, explore, first, path, frame_delay, not record_only)
            print(_told(episode, played, path), flush=True)
    return 0


def _play(
    replay: Any, steps: int, explore: bool, seed: int | None, path: Any, delay: int, shown: bool
) -> Any:
    from contextlib import ExitStack

    from abmarl.experiments.play import OnScreen, play
    from abmarl.render import Recorder

    with ExitStack() as stack:
        shows = []
        if shown:
            shows.append(stack.enter_context(OnScreen(replay.manager, delay / 1000)))
        if path is not None:
            title = replay.experiment.title
            film = Recorder(replay.manager, path, 1000 / delay, title=title)
            shows.append(stack.enter_context(film).capture)

        def show() -> None:
            for one in shows:
                one()

        return play(replay.manager, replay.trainer, steps, explore, seed, show)


def _told(episode: int, played: Any, path: Any) -> str:
    total = sum(played.returns.values())
    end = "" if played.ended else ", not at its end"
    where = f", filmed in {os.fspath(path)}" if path is not None else ""
    return f"episode {episode}: {played.steps} steps{end}, return {total:,.2f}{where}"
