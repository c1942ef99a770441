"""Replacing a file so that a reader or a crash sees the old one or the new one, never a part.

The new content goes to a temporary file in the same folder (a rename is atomic only inside one
file system), is forced to the disk, takes the old name in one step, and then the folder itself is
forced to the disk, since the name lives there:

    write temporary -> flush -> fsync -> rename over the target -> fsync the folder
"""

from __future__ import annotations

import contextlib
import errno
import os
import secrets
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

# Some file systems cannot fsync a folder; they promise nothing, and nothing more can be done.
_NO_FOLDER_SYNC = {errno.EINVAL, errno.ENOTSUP, errno.ENOSYS, errno.EACCES, errno.EPERM}


@contextmanager
def replacing(path: str | os.PathLike[str]) -> Iterator[BinaryIO]:
    """A binary file to write to, which becomes `path` when the block ends without an error.

    A new file gets the permissions the process's umask gives; an existing one keeps its own. A
    symbolic link stays and the file it points to is replaced. After an error, including Ctrl-C,
    the old file is untouched and no temporary file is left.

    Examples
    --------
    >>> import tempfile
    >>> target = Path(tempfile.mkdtemp()) / "table.bin"
    >>> with replacing(target) as file:
    ...     _ = file.write(b"new")
    >>> target.read_bytes()
    b'new'
    """
    target = Path(os.path.realpath(path))
    _check_place(target)
    temporary = target.with_name(f".novum-{secrets.token_hex(8)}.tmp")
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
    descriptor = os.open(temporary, flags, 0o666)
    try:
        with os.fdopen(descriptor, "wb") as file:
            _keep_permissions(target, file.fileno())
            yield file
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, target)
    except BaseException:
        with contextlib.suppress(OSError):
            temporary.unlink()
        raise
    _sync_folder(target.parent)


def _check_place(target: Path) -> None:
    if target.is_dir():
        raise IsADirectoryError(f"{target} is a folder; give the name of a file in it.")
    if not target.parent.is_dir():
        raise FileNotFoundError(f"The folder {target.parent} does not exist; create it first.")


def _keep_permissions(target: Path, descriptor: int) -> None:
    if os.name != "posix":
        return
    with contextlib.suppress(FileNotFoundError):
        os.fchmod(descriptor, stat.S_IMODE(target.stat().st_mode) & 0o777)


def _sync_folder(folder: Path) -> None:
    if os.name != "posix":
        return
    try:
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
    except OSError as error:
        if error.errno not in _NO_FOLDER_SYNC:
            raise
