"""The typer application: its commands, and what becomes of their errors."""

import functools
import os
import sys
from collections.abc import Callable, Sequence
from typing import Annotated

import typer

from abmarl import __version__
from abmarl.cli import (
    analyze,
    debug,
    evaluate,
    listing,
    make_runnable,
    play,
    plot,
    replay,
    rollout,
    train,
    visualize,
)
from abmarl.cli.errors import UserError, wants_traceback
from abmarl.cli.examples import epilog
from abmarl.cli.exit_codes import DONE, INTERRUPTED, WRONG


def show_version(wanted: bool) -> None:
    """Print the version and leave."""
    if wanted:
        print(f"abmarl {__version__}")
        raise typer.Exit()


# Plain help: frames around it leave little room for words, and take "abmarl[render]" for markup.
app = typer.Typer(
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    epilog=epilog(
        {
            "abmarl rollout team-battle": "run 1024 battles of four teams at once",
            "abmarl evaluate team-battle --policy red=heuristic": "how good a policy is",
            "abmarl train examples/multi_corridor_example.py": "learn, and keep what was learned",
            "abmarl play pacman --agent pacman --fps 4": "play yourself",
            "abmarl replay run.npz": "watch a rollout that was saved",
            "abmarl plot run.npz": "curves and heat maps of it",
            "abmarl train --help": "what else a command can do",
        }
    ),
)


@app.callback()
def abmarl(
    version: Annotated[
        bool,
        typer.Option("--version", callback=show_version, is_eager=True, help="Print the version."),
    ] = False,
) -> None:
    """Many agents in many grid worlds, stepped at once for reinforcement learning.

    A simulation is one of the shipped ones, by name, or a Python file of yours.
    """


def stoppable(command: Callable[..., int]) -> Callable[..., int]:
    """Let a command say that a signal ended it, which typer would do without a word."""

    @functools.wraps(command)
    def run_it(*args: object, **kwargs: object) -> int:
        try:
            return command(*args, **kwargs)
        except KeyboardInterrupt as error:
            # `Terminated` says which; to import it takes as long as numba.
            code = getattr(error, "exit_code", INTERRUPTED)
            how = "interrupted" if code == INTERRUPTED else "terminated"
            print(f"{how}: nothing was kept", file=sys.stderr)
            return code

    return run_it


# name -> the command and examples of it.
COMMANDS = {
    "rollout": (rollout.rollout, rollout.EXAMPLES),
    "evaluate": (evaluate.evaluate, evaluate.EXAMPLES),
    "play": (play.play, play.EXAMPLES),
    "replay": (replay.replay, replay.EXAMPLES),
    "plot": (plot.plot, plot.EXAMPLES),
    "train": (train.train, train.EXAMPLES),
    "debug": (debug.debug, debug.EXAMPLES),
    "visualize": (visualize.visualize, visualize.EXAMPLES),
    "analyze": (analyze.analyze, analyze.EXAMPLES),
    "make-runnable": (make_runnable.make_runnable, make_runnable.EXAMPLES),
    "list": (listing.list_everything, listing.EXAMPLES),
}
for name, (command, examples) in COMMANDS.items():
    app.command(name, epilog=epilog(examples), no_args_is_help=name != "list")(stoppable(command))


def run(arguments: Sequence[str]) -> int:
    """Run the command line.

    Args:
        arguments: The words after ``abmarl``.

    Returns:
        The exit code.
    """
    arguments = list(arguments) or ["--help"]
    try:
        code = typer.main.get_command(app)(arguments, prog_name="abmarl", standalone_mode=False)
        sys.stdout.flush()
        return code if isinstance(code, int) else DONE
    except UserError as error:
        return _wrong(str(error), error)
    except (KeyboardInterrupt, typer.Abort):
        return INTERRUPTED
    except BrokenPipeError:
        # Whoever read our output has gone, as `head` does. Nothing more can be said there.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return DONE
    except Exception as error:
        # Wrong options, from typer or from click, which older versions of typer stand on.
        if not hasattr(error, "format_message"):
            raise
        if "NoArgsIsHelp" in type(error).__name__:
            print(error.format_message())
            return DONE
        command = f"abmarl {arguments[0]}" if arguments[0] in COMMANDS else "abmarl"
        return _wrong(f"{error.format_message()}\ntry '{command} --help'", error)


def _wrong(message: str, error: BaseException) -> int:
    if wants_traceback():
        import traceback

        traceback.print_exception(error)
    print(f"error: {message}", file=sys.stderr)
    return WRONG
