"""The command ``abmarl``."""

import sys
from collections.abc import Sequence

from abmarl.cli.console import INTERRUPTED


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command and leave the interpreter with its exit code.

    The code is 0 when all went well, 2 when the user has to change something, 130 when Ctrl-C
    stopped the command, and 143 when SIGTERM did.

    Args:
        arguments: The command line without the program's name; by default that of the process.
    """
    try:
        from abmarl.cli.app import run

        code = run(sys.argv[1:] if arguments is None else arguments)
    except KeyboardInterrupt:  # while it was still being loaded
        print("interrupted: nothing was kept", file=sys.stderr)
        code = INTERRUPTED
    sys.exit(code)
