"""Writes a file under another name and moves it to its place when it is whole."""

import errno
import os
import secrets
from pathlib import Path


class PartialFile:
    """A file that is being written beside the one it will replace.

    A crash in the middle leaves the earlier file as it was.

    Args:
        path: where the file shall end up; its folder must exist.

    Raises:
        OSError: the folder is missing or cannot be written to; names `path`.
    """

    def __init__(self, path: str | os.PathLike):
        self.target = Path(path)
        # Through a link the file behind it is replaced, as plain writing would do.
        self._home = Path(os.path.realpath(self.target))
        if self._home.is_dir():
            raise IsADirectoryError(errno.EISDIR, "is a folder", str(self.target))
        if self._home.exists() and not os.access(self._home, os.W_OK):
            raise PermissionError(errno.EACCES, "may not be overwritten", str(self.target))
        token = f"{os.getpid()}-{secrets.token_hex(3)}"
        self.path = self._home.with_name(f".{self._home.name}.{token}.part")
        try:
            self.path.touch(exist_ok=False)
        except OSError as error:
            raise self.renamed(error) from None

    def renamed(self, error: OSError) -> OSError:
        """The same error about the file that the user asked for."""
        return type(error)(error.errno, error.strerror, str(self.target))

    def write(self, data: bytes) -> None:
        """Write all of the file."""
        try:
            self.path.write_bytes(data)
        except OSError as error:
            raise self.renamed(error) from None

    def keep(self) -> None:
        """Move the file to its place."""
        try:
            os.replace(self.path, self._home)
        except OSError as error:
            raise self.renamed(error) from None

    def discard(self) -> None:
        """Remove the file; what was at its place stays."""
        self.path.unlink(missing_ok=True)
