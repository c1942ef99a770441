"""The folder that the studio was opened in: its tables, and the files that are dropped into it.

A browser names things, never paths. A name is one of those that the folder lists, or it is refused;
it is never put together to a path before. Links are not listed, so nothing leads outside, and none
is followed where something is written (`core.files.refuse_links_below`). Names that are not UTF-8
are not listed either.
"""

from __future__ import annotations

import contextlib
import os
import re
import secrets
import unicodedata
from collections.abc import AsyncIterator
from pathlib import Path

from novum.core.errors import InputError
from novum.core.files import open_descriptor, refuse_links_below
from novum.core.text import printable

# What `novum.data.read` takes, also packed; folders of Parquet files are opened by the command.
TABLES = (".csv", ".tsv", ".txt", ".arff", ".json", ".jsonl", ".parquet", ".xlsx", ".duckdb",
          ".db", ".sqlite", ".sqlite3")  # fmt: skip
NETWORKS = (".network", ".bif", ".xmlbif", ".bifxml", ".xml", ".uai", ".net")
PACKED = ".gz"
# For what the studio itself notes, such as the progress of a run.
NOTES = ".novum-studio"
# Bytes of a name that is made here.
_LONGEST = 120
# Names of devices on Windows, where the folder may be shared.
_DEVICES = re.compile(r"(con|prn|aux|nul|com\d|lpt\d)(\..*)?", re.IGNORECASE)
_SUFFIXES = re.compile(r"(\.[a-z0-9]{1,8}){0,2}$", re.IGNORECASE | re.ASCII)


class OpenedFolder:
    """A folder of tables and runs.

    Parameters
    ----------
    path : path
        Exists.

    Attributes
    ----------
    path : path
        Resolved.
    """

    def __init__(self, path: Path) -> None:
        self.path = path.resolve()
        if not self.path.is_dir():
            raise InputError(f"There is no folder {str(path)!r} to open. Name one that exists.")
        refuse_links_below(self.path)

    def files(self, suffixes: tuple[str, ...] = TABLES) -> dict[str, os.stat_result]:
        """Plain files of these kinds by their names, in order."""
        status = {}
        with os.scandir(self.path) as entries:
            for entry in entries:
                if is_shown(entry.name) and entry.is_file(follow_symlinks=False):
                    stem = entry.name.lower().removesuffix(PACKED)
                    if stem.endswith(suffixes):
                        status[entry.name] = entry.stat(follow_symlinks=False)
        return dict(sorted(status.items(), key=lambda one: one[0].lower()))

    def unnamed(self) -> int:
        """How many entries are not listed because their names are not UTF-8."""
        return sum(not is_utf8(name) for name in os.listdir(self.path))

    def folders(self) -> list[str]:
        """Names of the folders inside, in order."""
        with os.scandir(self.path) as entries:
            names = [
                entry.name
                for entry in entries
                if is_shown(entry.name) and entry.is_dir(follow_symlinks=False)
            ]
        return sorted(names, key=str.lower)

    def file(self, name: str, suffixes: tuple[str, ...] = TABLES) -> Path:
        """The path of a file that the folder lists."""
        if name not in self.files(suffixes):
            raise InputError(
                f"The opened folder has no file {printable(name, 80)!r} of this kind. Drop it into "
                "the window, or copy it into the folder."
            )
        return self.path / name

    def notes(self) -> Path:
        """Where the studio keeps what it notes; nobody else reads it."""
        return self.own(self.path / NOTES)

    @staticmethod
    def own(path: Path) -> Path:
        """A folder of the studio's own, made if it is not there; never a link to elsewhere."""
        if path.is_symlink():
            raise InputError(f"{path.name} in the opened folder is a link to elsewhere. Remove it.")
        path.mkdir(mode=0o700, exist_ok=True)
        return path

    async def receive(
        self, name: str, pieces: AsyncIterator[bytes], suffixes: tuple[str, ...] = TABLES
    ) -> str:
        """Writes a file piece by piece and returns the name that it got.

        Nobody else may read it, and no other file is overwritten: one that exists keeps its name,
        and the new one gets a number.
        """
        clean = clean_name(name)
        if not clean.lower().removesuffix(PACKED).endswith(suffixes):
            raise InputError(
                f"{clean!r} is no file of a kind that is read here. The kinds are "
                f"{', '.join(suffixes)}."
            )
        partial = self.notes() / f"upload-{secrets.token_hex(8)}"
        descriptor = open_descriptor(partial, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        try:
            with os.fdopen(descriptor, "wb") as file:
                async for piece in pieces:
                    file.write(piece)
            return self._settle(partial, clean)
        finally:
            with contextlib.suppress(FileNotFoundError):
                partial.unlink()

    def _settle(self, partial: Path, clean: str) -> str:
        """Gives a received file the first free name; `link` never overwrites."""
        stem, dot, rest = clean.partition(".")
        for number in range(1, 10_000):
            name = clean if number == 1 else f"{stem}-{number}{dot}{rest}"
            try:
                os.link(partial, self.path / name)
            except FileExistsError:
                continue
            return name
        raise InputError(f"There are too many files named like {clean!r}. Remove some.")


def is_shown(name: str) -> bool:
    """Whether a browser can name an entry: hidden ones it may not, others than UTF-8 it cannot."""
    return name[:1] not in ("", ".") and is_utf8(name)


def is_utf8(name: str) -> bool:
    """Whether a name of the file system is text."""
    return not any("\ud800" <= character <= "\udfff" for character in name)


def keep_private(path: Path) -> None:
    """Lets nobody else read a file that was written."""
    descriptor = open_descriptor(path, os.O_RDONLY)
    os.fchmod(descriptor, 0o600)
    os.close(descriptor)


def clean_name(name: str) -> str:
    """A name of a file that is a name on every system, as near to the given one as possible.

    Examples
    --------
    >>> clean_name("../../etc/passwd.csv"), clean_name("a\\\\b\\\\next year.csv")
    ('passwd.csv', 'next year.csv')
    >>> clean_name("nul.csv"), clean_name("<b>x</b>.csv"), clean_name("\\u202efdp.csv")
    ('_nul.csv', 'b_.csv', 'fdp.csv')
    """
    last = re.split(r"[/\\]", unicodedata.normalize("NFC", name))[-1]
    shown = "".join(c for c in last if unicodedata.category(c)[0] != "C")
    safe = re.sub(r'[<>:"|?*]+', "_", shown).strip(" ._-") or "table.csv"
    if _DEVICES.fullmatch(safe):
        safe = f"_{safe}"
    # File systems count bytes, not characters; what tells the kind stays.
    suffixes = _SUFFIXES.search(safe)[0]  # type: ignore[index]
    stem = safe.removesuffix(suffixes).encode()[: _LONGEST - len(suffixes)]
    return f"{stem.decode(errors='ignore')}{suffixes}"
