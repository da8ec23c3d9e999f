"""The files that a run leaves, checked before it starts."""

import os
import tempfile

from abmarl.cli.errors import UserError, for_the_user

SUFFIXES = {
    "--save": (".npz",),
    "--record": (".mp4", ".gif", ".png"),
    "--plot": (".png",),
}


def check_outputs(
    paths: dict[str, str | None], suffixes: dict[str, tuple[str, ...]] = SUFFIXES
) -> None:
    """Refuse what can be refused by the names alone, and libraries that are not there.

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
        _check_library(option)


def make_room(paths: dict[str, str | None]) -> None:
    """Make the folders of the files, and see that one can write there.

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


def _check_library(option: str) -> None:
    from abmarl import extras

    needed = {"--record": ("pygame", "imageio"), "--plot": ("matplotlib",)}
    for module in needed.get(option, ()):
        with for_the_user(option):
            extras.load(module)
