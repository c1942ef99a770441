"""Replacing a file so that a reader or a crash sees the old one or the new one, never a part.

The new content goes to a temporary file in the same folder (a rename is atomic only inside one
file system), is forced to the disk, takes the old name in one step, and then the folder itself is
forced to the disk, since the name lives there:

    write temporary -> flush -> fsync -> name it -> rename over the target -> fsync the folder

Where the system has files without a name (`O_TMPFILE` of Linux), the temporary file gets one only
when it is whole, so a process that is killed while it writes leaves nothing behind. Elsewhere, and
in the moment between the two names, it leaves a file that the next write to the folder removes:
its lock died with the process.
"""

from __future__ import annotations

import contextlib
import errno
import os
import secrets
import stat
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any, BinaryIO

from novum.core.files.links import destination

try:
    import fcntl as _fcntl
except ImportError:  # Windows
    _fcntl = None  # type: ignore[assignment]

fcntl: Any = _fcntl
_PREFIX, _SUFFIX = ".novum-", ".tmp"
_YOUNG_SECONDS = 60.0

# Some file systems cannot fsync a folder; they promise nothing, and nothing more can be done.
_NO_FOLDER_SYNC = {errno.EINVAL, errno.ENOTSUP, errno.ENOSYS, errno.EACCES, errno.EPERM}


@contextmanager
def replacing(path: str | os.PathLike[str]) -> Iterator[BinaryIO]:
    """A binary file to write to, which becomes `path` when the block ends without an error.

    A new file gets the permissions the process's umask gives; an existing one keeps its own. A
    symbolic link stays and the file it points to is replaced, except below a folder of strangers
    (`links.py`). After an error, including Ctrl-C,
    and after a kill, the old file is untouched; what a kill between two names leaves behind, or
    one at any time where files cannot be nameless, a later write to the folder removes.
    A device, a pipe and a descriptor such as `/dev/stdout` are written into as they are.

    Examples
    --------
    >>> import tempfile
    >>> target = Path(tempfile.mkdtemp()) / "table.bin"
    >>> with replacing(target) as file:
    ...     _ = file.write(b"new")
    >>> target.read_bytes()
    b'new'
    """
    with destination(path) as target, _replacing(target, _stream(path, target)) as file:
        yield file


def _stream(path: str | os.PathLike[str], target: Path) -> int | None:
    """What is written into as it is: a descriptor of this process, a device, a pipe; else None."""
    names = [os.path.abspath(path)]
    with contextlib.suppress(OSError):
        # /dev/stdout is a link to /proc/self/fd/1.
        names.append(os.readlink(names[0]))
    for name in names:
        if os.path.realpath(os.path.dirname(name)) == f"/proc/{os.getpid()}/fd":
            return os.dup(int(os.path.basename(name)))
    with contextlib.suppress(FileNotFoundError):
        mode = target.stat().st_mode
        if not stat.S_ISREG(mode) and not stat.S_ISDIR(mode):
            return os.open(target, os.O_WRONLY)
    return None


@contextmanager
def _replacing(target: Path, stream: int | None) -> Iterator[BinaryIO]:
    if stream is not None:
        with os.fdopen(stream, "wb") as file:
            yield file
        return
    _check_place(target)
    _remove_abandoned(target.parent)
    temporary = target.with_name(f"{_PREFIX}{secrets.token_hex(8)}{_SUFFIX}")
    descriptor = _nameless(target.parent)
    named = descriptor is None
    if descriptor is None:
        flags = os.O_RDWR | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
        descriptor = os.open(temporary, flags, 0o666)
    try:
        with os.fdopen(descriptor, "wb") as file:
            _lock(descriptor)
            _keep_permissions(target, descriptor)
            yield file
            file.flush()
            os.fsync(descriptor)
            if not named:
                _name(descriptor, temporary)
                named = True
            if os.name == "posix":
                # Still open, so that its lock holds until it has its name.
                os.replace(temporary, target)
        if os.name != "posix":
            os.replace(temporary, target)
    except BaseException:
        if named:
            with contextlib.suppress(OSError):
                temporary.unlink()
        raise
    _sync_folder(target.parent)


def _nameless(folder: Path) -> int | None:
    """A file without a name in the folder, or None where there are none or they get no name."""
    if not hasattr(os, "O_TMPFILE") or not _names_descriptors():
        return None
    try:
        return os.open(folder, os.O_RDWR | os.O_TMPFILE, 0o666)
    except OSError:
        # The file system knows none, or the folder refuses: then a named one says why.
        return None


@cache
def _names_descriptors() -> bool:
    """Whether an open file can be given a name, which sandboxes may forbid."""
    with tempfile.TemporaryDirectory() as folder:
        try:
            descriptor = os.open(folder, os.O_RDWR | os.O_TMPFILE, 0o600)
        except OSError:
            return False
        try:
            _name(descriptor, Path(folder) / "named")
        except OSError:
            return False
        finally:
            os.close(descriptor)
    return True


def _name(descriptor: int, path: Path) -> None:
    """Gives an open file a name; Python follows the link in /proc only beside a folder."""
    folder = os.open(path.parent, os.O_RDONLY)
    try:
        os.link(f"/proc/self/fd/{descriptor}", path, src_dir_fd=folder, follow_symlinks=True)
    finally:
        os.close(folder)


def _lock(descriptor: int) -> None:
    if fcntl is not None:
        # File systems without locks keep what a killed process leaves.
        with contextlib.suppress(OSError):
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)


def _remove_abandoned(folder: Path) -> None:
    """Removes temporary files whose process is gone: nobody holds their lock."""
    if fcntl is None:
        return
    with contextlib.suppress(OSError):
        for entry in os.scandir(folder):
            if entry.name.startswith(_PREFIX) and entry.name.endswith(_SUFFIX):
                _remove_if_abandoned(Path(entry.path))


def _remove_if_abandoned(temporary: Path) -> None:
    with contextlib.suppress(OSError):
        # A file that was made just now may not have its lock yet.
        if time.time() - temporary.stat().st_mtime < _YOUNG_SECONDS:
            return
        descriptor = os.open(temporary, os.O_RDONLY | os.O_NOFOLLOW)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            temporary.unlink()
        finally:
            os.close(descriptor)


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
