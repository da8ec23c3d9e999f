"""``abmarl visualize``: watch trained policies play, or film them."""

import os
from contextlib import ExitStack
from typing import Annotated, Any

import typer

from abmarl.cli.console import DONE, UserError, for_the_user, wants_traceback
from abmarl.cli.options import AnySeed, Checkpoint, Debug, Episodes, ResultsFolder, StepsPerEpisode

EXAMPLES = {
    "abmarl visualize ~/abmarl_results/MultiCorridor_2026-01-31_12-00-00 -n 5 --record": (
        "watch five episodes and film them"
    ),
    "abmarl visualize DIR -n 5 --record-only": "film them without a screen",
    "abmarl visualize DIR -c 50 --explore --seed 1": "an earlier checkpoint, acting by chance",
}


def visualize(
    folder: ResultsFolder,
    episodes: Episodes = 1,
    steps: StepsPerEpisode = 200,
    checkpoint: Checkpoint = None,
    record: Annotated[
        bool,
        typer.Option(
            "--record",
            help="Film every episode, as .mp4 files in the results "
            "folder, beside those of earlier times.",
        ),
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

    Closing the window ends it, and keeps what was filmed. The copy of the experiment file in the
    results folder is executed.
    """
    with for_the_user():
        from abmarl.experiments.results import Results
        from abmarl.experiments.watching import EpisodeWindow, has_screen

        results = Results.open(folder)
        if not record_only and not has_screen():
            raise UserError(
                "there is no screen here (DISPLAY is not set): give --record-only to film the "
                "episodes instead"
            )
        from abmarl.experiments.trained import load_trained

        trained = load_trained(results, checkpoint, wants_traceback())
        if seed is not None:
            trained.trainer.seed(seed)
        with ExitStack() as stack:
            window = None
            if not record_only:
                title = trained.experiment.title
                window = stack.enter_context(
                    EpisodeWindow(trained.manager, frame_delay / 1000, title)
                )
            for episode in range(episodes):
                first = seed if episode == 0 else None
                path = None
                if record or record_only:
                    path = results.film_path(trained.iteration)
                played = _play(trained, steps, explore, first, path, frame_delay, window)
                print(_line(episode, played, path), flush=True)
                if played.stopped:
                    break
    return DONE


def _play(
    trained: Any, steps: int, explore: bool, seed: int | None, path: Any, delay: int, window: Any
) -> Any:
    """Play an episode; film it if there is a path, and show it if there is a window."""
    from abmarl.experiments.watching import captioned, play_episode
    from abmarl.render import Recorder

    with ExitStack() as stack:
        film = None
        if path is not None:
            title = trained.experiment.title
            filmed = captioned(trained.manager, title)
            film = stack.enter_context(Recorder(filmed, path, 1000 / delay, title=title))

        def show() -> bool:
            if film is not None:
                film.capture()
            return window is None or window()

        return play_episode(trained.manager, trained.trainer, steps, explore, seed, show)


def _line(episode: int, played: Any, path: Any) -> str:
    total = sum(played.returns.values())
    end = "" if played.ended else ", not at its end"
    end = ", when the window was closed" if played.stopped else end
    where = f", filmed in {os.fspath(path)}" if path is not None else ""
    return f"episode {episode}: {played.steps} steps{end}, return {total:,.2f}{where}"
