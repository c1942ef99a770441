"""Blocks of lines: nothing lost, lines numbered, endless lines refused."""

from pathlib import Path

import pytest

from novum.core.errors import FileFormatError
from novum.core.sources import LIMITS, Limits, line_blocks
from novum.core.sources import blocks as module


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_blocks_join_to_the_file_and_count_its_lines(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, end: str
) -> None:
    monkeypatch.setattr(module, "BLOCK_BYTES", 16)
    path = tmp_path / "a.txt"
    text = end.join(f"line {i}" for i in range(1, 41)).encode()
    path.write_bytes(text)
    blocks = list(line_blocks(path, "utf-8", LIMITS, 0, 1))
    assert len(blocks) > 5
    assert b"".join(block.data for block in blocks) == text
    numbered = [(n, line) for block in blocks for n, _, line in block.lines("utf-8")]
    assert numbered == [(i, f"line {i}") for i in range(1, 41)]
    # Reading again from any block's place gives the rest.
    middle = blocks[3]
    again = list(line_blocks(path, "utf-8", LIMITS, middle.offset, middle.line))
    assert b"".join(block.data for block in again) == text[middle.offset :]
    assert again[0].line == middle.line


def test_an_endless_line_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_bytes(b"x" * 3_000_000)
    with pytest.raises(FileFormatError, match=r"a line is longer than 1 MB"):
        list(line_blocks(path, "utf-8", Limits(record_bytes=1 << 20), 0, 1))


def test_zero_bytes_are_named_by_line(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_bytes(b"a\nb\nc\0\n")
    with pytest.raises(FileFormatError, match="line 3: there is a zero byte") as caught:
        list(line_blocks(path, "utf-8", LIMITS, 0, 1))
    assert caught.value.line == 3
