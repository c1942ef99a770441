"""Where a file is written when there are links on the way.

Who writes a file of their own follows symbolic links: the link stays, and the file that it points
to is replaced. Below a folder that may come from a stranger a link leads to the reader's own files,
so there none is followed, neither as the file nor as a folder on the way to it. Every folder is
opened from the one above (`O_NOFOLLOW`), and on Linux the file is then named by that open folder,
so that a link that is put there a moment later leads nowhere either.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from novum.core.errors import InputError
from novum.core.text import printable

# Resolved; the policy of a process, such as its umask.
_folders: set[Path] = set()


def refuse_links_below(folder: str | os.PathLike[str]) -> None:
    """From now on this process follows no links when it writes below the folder."""
    _folders.add(Path(folder).resolve())


@contextmanager
def destination(path: str | os.PathLike[str]) -> Iterator[Path]:
    """Where a file of that name is written, for the duration of the block.

    Examples
    --------
    >>> with destination("/tmp/../tmp/table.csv") as target:
    ...     target.name
    'table.csv'
    """
    given = Path(os.path.abspath(path))
    root = next((one for one in _folders if given.is_relative_to(one) and given != one), None)
    if root is None:
        yield Path(os.path.realpath(path))
        return
    try:
        descriptor = _folder_without_links(root, given.parent)
        try:
            _check_no_link(given, root, descriptor)
            handle = Path(f"/proc/self/fd/{descriptor}")
            yield handle / given.name if handle.is_dir() else given
        finally:
            os.close(descriptor)
    except OSError as error:
        # The user knows the name that was given, not that of an open folder.
        if error.filename is not None:
            error.filename = str(given)
        raise


def open_descriptor(path: str | os.PathLike[str], flags: int, mode: int = 0o666) -> int:
    """`os.open` for writing, at the destination of the path."""
    flags |= getattr(os, "O_BINARY", 0)
    with destination(path) as target:
        # The destination itself is no link any more.
        return os.open(target, flags | getattr(os, "O_NOFOLLOW", 0), mode)


def _folder_without_links(root: Path, folder: Path) -> int:
    flags = os.O_RDONLY | os.O_DIRECTORY
    descriptor, at = os.open(root, flags), root
    for name in folder.relative_to(root).parts:
        at = at / name
        try:
            _check_no_link(at, root, descriptor)
            below = os.open(name, flags | os.O_NOFOLLOW, dir_fd=descriptor)
        finally:
            os.close(descriptor)
        descriptor = below
    return descriptor


def _check_no_link(path: Path, root: Path, folder: int) -> None:
    try:
        status = os.stat(path.name, dir_fd=folder, follow_symlinks=False)
    except FileNotFoundError:
        return
    if stat.S_ISLNK(status.st_mode):
        name = printable(str(path.relative_to(root)), 120)
        raise InputError(f"{name} is a link to elsewhere, which is not followed here. Remove it.")
