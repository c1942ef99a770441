"""Blocks of records: the same records for any block size, and every bound with its line."""

from pathlib import Path

import pytest

from novum.core.errors import FileFormatError
from novum.core.sources import LIMITS, Dialect, Limits
from novum.core.sources import delimited as module
from novum.core.sources.delimited import NotUtf8Error, RecordBlocks

USUAL = Dialect(separator=",", quote='"', header=True, decimal=".", encoding="utf-8")


def opened(path: Path, data: bytes, limits: Limits = LIMITS) -> RecordBlocks:
    path.write_bytes(data)
    return RecordBlocks(path, USUAL, limits)


@pytest.mark.parametrize("size", [8, 64, 1 << 20])
def test_block_size_changes_neither_rows_nor_lines(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, size: int
) -> None:
    monkeypatch.setattr(module, "BLOCK_BYTES", size)
    monkeypatch.setattr(module, "_MOST_BYTES", size)
    rows = [b'1,"a\nb"\n', b"2,c\n", b"\n", b"3,d\r\n", b'4,"e,""f"\n'] * 20
    raw = opened(tmp_path / "a.csv", b"x,y\n" + b"".join(rows) + b"\n\n")
    found, lines = [], []
    for piece in raw.blocks(skip_first=True):
        ends = [*piece.starts[1:].tolist(), len(piece.data)]
        found += [piece.data[a:b].strip() for a, b in zip(piece.starts.tolist(), ends, strict=True)]
        lines += [piece.line_of(i) for i in range(piece.block.rows)]
    assert found == [row.strip() for row in rows if row.strip()]
    # Six lines per group of rows, after the header: 2, 4, (blank), 6, 7.
    assert lines == [2 + 6 * k + step for k in range(20) for step in (0, 2, 4, 5)]
    assert raw.blank_lines == 20


@pytest.mark.parametrize(
    ("data", "line", "message"),
    [
        (b"a,b\n1,2\n3\n", 3, "has 1 cell, the first one in line 1 has 2 cells"),
        (b"a,b\n1,2,3\n", 2, "has 3 cells"),
        (b"a,b\n1,\0\n", 2, "zero byte"),
        (b'a,b\n1,"2\n', 2, "never closed"),
        (b"\n\n", 1, "nothing but blank lines"),
        (b"a,b\n1,2\n\xef\xbb\xbfa,b\n", 3, "byte order mark"),
    ],
)
def test_broken_structure_is_named_by_line(
    tmp_path: Path, data: bytes, line: int, message: str
) -> None:
    with pytest.raises(FileFormatError, match=message) as caught:
        list(opened(tmp_path / "a.csv", data).blocks(skip_first=True))
    assert caught.value.line == line


def test_bytes_that_are_not_utf8_tell_what_came_before(tmp_path: Path) -> None:
    for before, plain in ((b"ab", True), ("ä".encode(), False)):
        with pytest.raises(NotUtf8Error, match="line 2: byte 0xe9 is not utf-8") as caught:
            list(opened(tmp_path / "a.csv", b"x\n" + before + b"\xe9\n").blocks(skip_first=True))
        assert caught.value.plain_before is plain


def test_bounds(tmp_path: Path) -> None:
    with pytest.raises(FileFormatError, match="12 columns are more than the 10"):
        opened(tmp_path / "a.csv", b"x," * 11 + b"x\n", Limits(columns=10))
    long = b"a,b\n1," + b"x" * 2_000_000 + b"\n"
    with pytest.raises(FileFormatError, match="line 2: a cell is longer than 1 MB"):
        list(opened(tmp_path / "a.csv", long).blocks(skip_first=True))
    # An open quote swallows the rest: it is refused by the cell's length, not after gigabytes.
    with pytest.raises(FileFormatError, match="line 2: a cell is longer than 1 MB"):
        list(opened(tmp_path / "a.csv", b'a,b\n1,"' + b"x,\n" * 900_000).blocks(skip_first=True))
    with pytest.raises(FileFormatError, match="one record is longer than 1 MB"):
        opened(tmp_path / "a.csv", b"abcdefg," * 400_000, Limits(record_bytes=1 << 20))
