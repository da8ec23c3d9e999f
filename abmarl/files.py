"""Files that are complete or absent: written beside their place, then moved there.

An exception, a crash or a full disk leaves an earlier file of the same name intact.
"""

import contextlib
import errno
import os
import secrets
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any


@contextlib.contextmanager
def replacing(
    path: str | os.PathLike, mode: str = "wb", *, note: str = "", **options: Any
) -> Iterator[IO]:
    """Open a new file that takes the place of ``path`` at the end of the ``with`` block.

    When the block raises, the new file is removed and what was at ``path`` stays.

    Args:
        path: Where the file is to be; its folder must exist. A symbolic link is followed.
        mode: ``"wb"`` or ``"w"``.
        note: What to add to the message when the disk is full, such as the size.
        **options: Further arguments of ``open``.

    Yields:
        The open file.

    Raises:
        OSError: When it cannot be written; names ``path``, and says so when the disk is full.
    """
    try:
        with PartialFile(path) as partial, open(partial.path, mode, **options) as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
    except OSError as error:
        name = os.fspath(path)
        if disk_is_full(error):
            more = f" ({note})" if note else ""
            text = (
                f"no room left on the disk for {name}{more}; nothing was written, free some "
                f"space or choose another place"
            )
        elif error.filename in (None, str(Path(path))):
            text = f"cannot write {name}: {error.strerror or error}"
        else:
            raise
        raise OSError(error.errno, text) from error


class PartialFile:
    """A file beside the one that it will replace, for writers that take a path.

    Use `replacing` where the file is written in one place. In a ``with`` statement the file is
    kept at the end, and discarded when the block raises.

    Args:
        path: Where the file is to end up; its folder must exist.

    Attributes:
        target: That path.
        path: Where to write until then.

    Raises:
        OSError: When the folder is missing or cannot be written to; names ``path``.
    """

    def __init__(self, path: str | os.PathLike) -> None:
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
            raise self._about_target(error) from None

    def __enter__(self) -> "PartialFile":
        return self

    def __exit__(self, kind: type[BaseException] | None, *error: object) -> None:
        try:
            if kind is None:
                self.keep()
        finally:
            self.discard()

    def write(self, data: bytes) -> None:
        """Write all of the file.

        Raises:
            OSError: When that fails; names the target.
        """
        try:
            self.path.write_bytes(data)
        except OSError as error:
            raise self._about_target(error) from None

    def keep(self) -> None:
        """Move the file to its place.

        Raises:
            OSError: When that fails; names the target.
        """
        try:
            os.replace(self.path, self._home)
        except OSError as error:
            raise self._about_target(error) from None

    def discard(self) -> None:
        """Remove the file; what was at its place stays."""
        with contextlib.suppress(OSError):
            self.path.unlink(missing_ok=True)

    def _about_target(self, error: OSError) -> OSError:
        return type(error)(error.errno, error.strerror, str(self.target))


def disk_is_full(error: BaseException) -> bool:
    """Return whether an error means that the disk, or the quota on it, is full."""
    # Some libraries keep the text of the error only. Windows has no EDQUOT.
    full = (errno.ENOSPC, getattr(errno, "EDQUOT", errno.ENOSPC))
    return getattr(error, "errno", None) in full or "No space left" in str(error)
