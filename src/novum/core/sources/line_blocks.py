"""A text file cut into blocks of whole lines, for formats in which a line is a record."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from novum.core.errors import FileFormatError
from novum.core.sources.limits import Limits
from novum.core.sources.records import line_of
from novum.core.sources.streams import TextStream, to_utf8

_BLOCK = 1 << 20


@dataclass(frozen=True)
class LineBlock:
    """Whole lines from byte `offset` on, the first of them number `line`."""

    data: bytes
    offset: int
    line: int

    def lines(self, encoding: str) -> Iterator[tuple[int, int, str]]:
        """Number, position after it within the block, and stripped text of each line."""
        position = 0
        for number, line in enumerate(self.data.splitlines(keepends=True), self.line):
            position += len(line)
            yield number, position, to_utf8(line, encoding).decode("utf-8").strip()


def line_blocks(
    path: Path, encoding: str, limits: Limits, offset: int, line: int
) -> Iterator[LineBlock]:
    """Blocks of about a megabyte from `offset` on, where line number `line` begins."""
    with TextStream(path, encoding, limits) as stream:
        stream.skip(offset)
        held, final, want = b"", False, _BLOCK
        while not final:
            while len(held) < want and not final:
                data = stream.read(want - len(held))
                held, final = held + data, not data
            stop = len(held) if final else _last_end(held)
            if stop == 0 and not final:
                if len(held) > limits.record_bytes:
                    raise FileFormatError(
                        f"{path.name}, line {line}: a line is longer than "
                        f"{limits.record_bytes >> 20} MB. The file is no table of lines.",
                        line=line,
                    )
                want = 2 * len(held)
                continue
            piece, held, want = held[:stop], held[stop:], _BLOCK
            if not piece:
                return
            _check_zero_bytes(path, piece, line)
            yield LineBlock(piece, offset, line)
            offset, line = offset + stop, line + line_of(piece, stop) - 1


def _last_end(held: bytes) -> int:
    """Position after the last line end; a return at the very end may be half of one."""
    return max(held.rfind(b"\n"), held.rfind(b"\r", 0, len(held) - 1)) + 1


def _check_zero_bytes(path: Path, piece: bytes, line: int) -> None:
    zero = piece.find(b"\0")
    if zero >= 0:
        at = line + line_of(piece, zero) - 1
        raise FileFormatError(
            f"{path.name}, line {at}: there is a zero byte, which text does not have. "
            "The file is damaged or not text.",
            line=at,
        )
