"""What commands share: exit codes, errors for the user, and checks before a long run starts."""

import contextlib
import os
import tempfile
from collections.abc import Iterator

from abmarl import extras

# Exit codes. A process that SIGTERM ends has that of `abmarl.terminal.Terminated`.
DONE = 0
WRONG = 2  # the user has to change something
INTERRUPTED = 130  # by Ctrl-C, as in shells: 128 and the number of the signal

# The errors of the package for bad input. Anything else is a defect and keeps its traceback.
EXPECTED = (ValueError, TypeError, NotImplementedError, MemoryError, OSError, ImportError)

# Option for a file that is written -> how its name may end.
SUFFIXES = {"--save": (".npz",), "--record": (".mp4", ".gif", ".png"), "--plot": (".png",)}
LIBRARIES = {"--record": ("pygame", "imageio"), "--plot": ("matplotlib",)}


class UserError(Exception):
    """A message of one or two lines for the user, with exit code 2."""


@contextlib.contextmanager
def for_the_user(about: str = "") -> Iterator[None]:
    """Turn the errors that bad input leads to into a `UserError`.

    Args:
        about: What the message starts with, such as the option that is wrong.

    Raises:
        UserError: One of `EXPECTED` was raised.
    """
    try:
        yield
    except EXPECTED as error:
        raise UserError(f"{about}{': ' if about else ''}{brief(error)}") from error


def brief(error: BaseException) -> str:
    """Return the message of an exception, in two lines at most."""
    if isinstance(error, OSError) and error.strerror:
        place = f"{error.filename}: " if error.filename is not None else ""
        return f"{place}{error.strerror}"
    lines = [line.rstrip() for line in str(error).splitlines() if line.strip()]
    if not lines:
        return "out of memory" if isinstance(error, MemoryError) else type(error).__name__
    return "\n".join(lines[:2])


def wants_traceback() -> bool:
    """Return whether ABMARL_TRACEBACK asks for the traceback of an error."""
    return os.environ.get("ABMARL_TRACEBACK", "") not in ("", "0")


def check_outputs(
    paths: dict[str, str | None], suffixes: dict[str, tuple[str, ...]] = SUFFIXES
) -> None:
    """Refuse output files that are wrong by name, and missing libraries.

    Args:
        paths: option -> path, None where the option was not given.
        suffixes: option -> how its path may end.

    Raises:
        UserError: For an unknown suffix, one path for two options, or a missing library.
    """
    taken: dict[str, str] = {}
    for option, path in paths.items():
        if path is None:
            continue
        known = suffixes[option]
        if not path.lower().endswith(known):
            raise UserError(f"{option} {path}: the name must end in {' or '.join(known)}")
        real = os.path.realpath(path)
        if real in taken:
            raise UserError(f"{option} and {taken[real]} are both to write {path}")
        taken[real] = option
        for module in LIBRARIES.get(option, ()):
            with for_the_user(option):
                extras.load(module)


def prepare_outputs(paths: dict[str, str | None]) -> None:
    """Make the folders of output files, and check that they can be written to.

    Args:
        paths: option -> path, None where the option was not given.

    Raises:
        UserError: When a file could not be written.
    """
    for option, path in paths.items():
        if path is None:
            continue
        real = os.path.realpath(path)
        if os.path.exists(real) and not os.path.isfile(real):
            raise UserError(f"{option} {path}: is there and is not a file")
        if os.path.exists(real) and not os.access(real, os.W_OK):
            raise UserError(f"{option} {path}: may not be overwritten")
        try:
            os.makedirs(os.path.dirname(real), exist_ok=True)
            # Permissions do not tell everything: a read-only or full disk shows when one writes.
            with tempfile.TemporaryFile(dir=os.path.dirname(real)) as probe:
                probe.write(b"?")
        except OSError as error:
            raise UserError(f"{option} {path}: cannot be written: {error.strerror}") from error


def require_library(module: str) -> None:
    """Refuse to start without an optional library.

    Raises:
        UserError: It is not installed.
    """
    with for_the_user():
        extras.load(module)


@contextlib.contextmanager
def needs_screen(instead: str) -> Iterator[None]:
    """Tell what can be done where there is no screen.

    Args:
        instead: What to do then, in words.

    Raises:
        UserError: A window could not be opened.
    """
    from abmarl.render import NoScreenError

    try:
        yield
    except NoScreenError as error:
        reason = str(error).partition(":")[0]
        raise UserError(f"{reason}: {instead}") from error
