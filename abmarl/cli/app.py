"""The typer application: its commands, and how their errors are reported."""

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
from abmarl.cli.console import DONE, INTERRUPTED, WRONG, UserError, wants_traceback
from abmarl.terminal import Terminated


def _show_version(wanted: bool) -> None:
    if wanted:
        print(f"abmarl {__version__}")
        raise typer.Exit()


def _epilog(examples: dict[str, str]) -> str:
    """Lay out examples, command line -> what it does, for an ``epilog``."""
    lines = [f"  {line}\n      {why}" for line, why in examples.items()]
    return "\n".join(["\b", "Examples:", *lines])  # the backspace keeps the lines apart


# Plain help: frames around it leave little room for words, and take "abmarl[render]" for markup.
app = typer.Typer(
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    epilog=_epilog(
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
        typer.Option("--version", callback=_show_version, is_eager=True, help="Print the version."),
    ] = False,
) -> None:
    """Many agents in many grid worlds, stepped at once for reinforcement learning.

    A simulation is one of the shipped ones, by name, or a Python file of yours.
    """


def _stoppable(command: Callable[..., int]) -> Callable[..., int]:
    """Let a command report that a signal ended it; typer would leave without a word."""

    @functools.wraps(command)
    def run_it(*args: object, **kwargs: object) -> int:
        try:
            return command(*args, **kwargs)
        except Terminated as error:
            print("terminated: nothing was kept", file=sys.stderr)
            return error.exit_code
        except KeyboardInterrupt:
            print("interrupted: nothing was kept", file=sys.stderr)
            return INTERRUPTED

    return run_it


# name -> the command and its examples
COMMANDS: dict[str, tuple[Callable[..., int], dict[str, str]]] = {
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
    app.command(name, epilog=_epilog(examples), no_args_is_help=name != "list")(_stoppable(command))


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
