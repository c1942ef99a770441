"""The bytes of a text file, plain or gzip, as one stream whose positions can be returned to.

Separators, quotes and line ends are single ASCII bytes in UTF-8 and in the single-byte encodings,
so those files are scanned as they are and only whole records are decoded. UTF-16 is turned into
UTF-8 on the way. Positions count bytes of the scanned stream after the byte order mark.
"""

from __future__ import annotations

import codecs
import gzip
import os
import zlib
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import IO

from novum.core.errors import FileFormatError, InputError

Stamp = tuple[int, int]

_MARKS: tuple[tuple[bytes, str | None], ...] = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_TRANSCODED = ("utf-16-le", "utf-16-be")


@dataclass(frozen=True)
class Limits:
    """What a reader accepts at most: far more than honest tables need, so that a hostile file ends
    in a message that names the bound and the way around it, and not in a hang.

    Parameters
    ----------
    field_bytes : int
        Length of one cell.
    record_bytes : int
        Length of one record.
    columns : int
    levels : int
        Different values of one nominal column. A column with more is an identifier or free text.
    expansion : int
        Unpacked bytes per packed byte of a gzip or Excel file, checked beyond `expansion_floor`
        bytes.
    expansion_floor : int
    blank_cells : int
        Cells of a sheet that hold nothing.
    answer_seconds : float
        Time that a database computes an answer.
    """

    field_bytes: int = 1 << 20
    record_bytes: int = 1 << 26
    columns: int = 50_000
    levels: int = 1_000_000
    expansion: int = 250
    expansion_floor: int = 1 << 26
    blank_cells: int = 50_000_000
    answer_seconds: float = 120.0


LIMITS = Limits()


class TextStream:
    """Bytes of one file from a given position on.

    Parameters
    ----------
    path : Path
    encoding : str
        `utf-8`, a single-byte encoding, `utf-16-le` or `utf-16-be`.
    limits : Limits

    Notes
    -----
    Skipping costs a seek in plain files and one pass of unpacking or transcoding in the others.
    """

    def __init__(self, path: Path, encoding: str = "utf-8", limits: Limits = LIMITS) -> None:
        self.path = path
        self.limits = limits
        self.packed = path.suffix.lower() == ".gz"
        self._raw: IO[bytes] = open(path, "rb")  # noqa: SIM115 - closed by __exit__
        self._bytes: IO[bytes] = gzip.GzipFile(fileobj=self._raw) if self.packed else self._raw  # type: ignore[assignment]
        self._unpacked = 0
        self._decoder = (
            codecs.getincrementaldecoder(encoding)() if encoding in _TRANSCODED else None
        )
        self._left = b""
        try:
            head = self._take(3)
        except FileFormatError:
            self._raw.close()
            raise
        mark, self.marked_encoding = next(
            ((mark, name) for mark, name in _MARKS if head.startswith(mark)), (b"", None)
        )
        self._mark = len(mark)
        self._pending = head[self._mark :]

    def __enter__(self) -> TextStream:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        value: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._bytes.close()
        self._raw.close()

    def read(self, size: int) -> bytes:
        """The next bytes, at least one unless the file has ended, about `size` of them."""
        if self._decoder is None:
            return self._next(size)
        if self._left:
            data, self._left = self._left[:size], self._left[size:]
            return data
        while True:
            data = self._next(size)
            try:
                text = self._decoder.decode(data, final=not data)
            except UnicodeDecodeError as error:
                raise FileFormatError(
                    f"{self.path.name}: broken UTF-16 text ({error.reason}). "
                    "Save the file as UTF-8."
                ) from None
            if text or not data:
                return text.encode("utf-8", "replace")

    def skip(self, position: int) -> None:
        """Move from the start to `position`."""
        if self._decoder is None and not self.packed:
            self._pending = b""
            self._raw.seek(self._mark + position)
            return
        while position > 0:
            data = self.read(min(position, 1 << 20))
            if not data:
                return
            if len(data) > position:
                # Only transcoding returns more bytes than were asked for.
                self._left = data[position:] + self._left
            position -= len(data)

    def _next(self, size: int) -> bytes:
        if self._pending:
            data, self._pending = self._pending[:size], self._pending[size:]
            return data
        return self._take(size)

    def _take(self, size: int) -> bytes:
        if not self.packed:
            return self._bytes.read(size)
        try:
            data = self._bytes.read(size)
        except (EOFError, OSError, zlib.error) as error:
            raise FileFormatError(
                f"{self.path.name} is not a whole gzip file ({error}). "
                "Download or pack it again, or drop the suffix .gz if it is not packed."
            ) from None
        self._unpacked += len(data)
        if self._unpacked > self.limits.expansion_floor:
            ratio = self._unpacked / max(1, self._raw.tell())
            if ratio > self.limits.expansion:
                raise FileFormatError(
                    f"{self.path.name} unpacks to more than {self.limits.expansion} times its "
                    f"size ({self._unpacked / 1e6:,.0f} MB so far), as hostile files do. "
                    "If you trust it, unpack it and read the plain file."
                )
        return data


def checked_path(path: str | os.PathLike[str], folders: bool = False) -> Path:
    """`path` as a file that exists, or a folder where a format has such."""
    source = Path(path)
    if source.is_dir() and not folders:
        raise InputError(f"{str(source)!r} is a folder. Name one file.")
    if not source.exists():
        raise FileNotFoundError(f"There is no file {str(source)!r}. Check the name and the folder.")
    return source


def stamp(path: Path) -> Stamp:
    """Size and time of change: equal stamps mean the same file for a reader that returns to it."""
    status = path.stat()
    return status.st_size, status.st_mtime_ns


def check_stamp(path: Path, known: Stamp) -> None:
    if stamp(path) != known:
        raise InputError(
            f"{path.name} has changed since its columns were found. Open it again with open_source."
        )


def read_sample(path: Path, encoding: str, size: int) -> bytes:
    """The first `size` bytes, fewer only if the file has fewer."""
    parts: list[bytes] = []
    with TextStream(path, encoding) as stream:
        while size > 0:
            data = stream.read(size)
            if not data:
                break
            parts.append(data)
            size -= len(data)
    return b"".join(parts)


def sniffed_encoding(path: Path) -> tuple[str, str]:
    """Encoding of the file's start and a note on how it was found."""
    with TextStream(path) as stream:
        marked = stream.marked_encoding
    if marked is not None:
        return marked, f"encoding {marked}, by its byte order mark"
    sample = read_sample(path, "utf-8", 1 << 16)
    if sample[1::2].count(0) > len(sample) // 5:
        return "utf-16-le", "encoding utf-16-le, guessed from its zero bytes"
    if sample[0::2].count(0) > len(sample) // 5:
        return "utf-16-be", "encoding utf-16-be, guessed from its zero bytes"
    return "utf-8", "encoding utf-8"


def to_utf8(data: bytes, encoding: str) -> bytes:
    """A piece of the scanned stream as UTF-8."""
    if encoding in ("utf-8", *_TRANSCODED):
        return data
    return data.decode(encoding).encode("utf-8")


def line_of(data: bytes, position: int) -> int:
    """Number of the line of `data` that holds `position`, counted from 1."""
    before = data[:position]
    lone_returns = before.count(b"\r") - before.count(b"\r\n")
    # A return just before `position` that belongs to a pair has not ended its line yet.
    if before.endswith(b"\r") and data[position : position + 1] == b"\n":
        lone_returns -= 1
    return 1 + before.count(b"\n") + lone_returns
