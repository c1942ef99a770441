"""Streams: byte order marks, encodings, gzip, skipping, and files that lie."""

import codecs
import gzip
import os
import zlib
from pathlib import Path

import pytest

from novum.core.errors import FileFormatError, InputError
from novum.core.sources import Limits, TextStream, checked_path, sniffed_encoding, to_utf8
from novum.core.sources.streams import check_stamp, read_sample, stamp

TEXT = "näme,größe\nÅsa,1\n€,2\n" * 50


def drained(path: Path, encoding: str, skip: int = 0, size: int = 7) -> bytes:
    with TextStream(path, encoding) as stream:
        stream.skip(skip)
        return b"".join(iter(lambda: stream.read(size), b""))


@pytest.mark.parametrize("suffix", ["", ".gz"])
@pytest.mark.parametrize(
    ("mark", "encoding"),
    [
        (b"", "utf-8"),
        (codecs.BOM_UTF8, "utf-8"),
        (codecs.BOM_UTF16_LE, "utf-16-le"),
        (codecs.BOM_UTF16_BE, "utf-16-be"),
    ],
)
def test_encodings_are_found_and_every_position_can_be_reached(
    tmp_path: Path, mark: bytes, encoding: str, suffix: str
) -> None:
    path = tmp_path / f"t.csv{suffix}"
    data = mark + TEXT.encode(encoding)
    path.write_bytes(gzip.compress(data) if suffix else data)
    assert sniffed_encoding(path)[0] == encoding
    whole = TEXT.encode()
    assert drained(path, encoding) == whole
    for skip in (0, 1, 10, 333, len(whole)):
        assert drained(path, encoding, skip) == whole[skip:]
    assert read_sample(path, encoding, 10).startswith(whole[:10])


def test_utf16_without_a_mark_is_guessed_and_said(tmp_path: Path) -> None:
    for encoding in ("utf-16-le", "utf-16-be"):
        path = tmp_path / "t.csv"
        path.write_bytes("abc,def\n".encode(encoding) * 20)
        found, note = sniffed_encoding(path)
        assert found == encoding
        assert "guessed" in note


def test_single_byte_text_becomes_utf8() -> None:
    assert to_utf8("é€".encode("cp1252"), "cp1252") == "é€".encode()
    assert to_utf8(b"\x81", "latin-1") == "\x81".encode()


@pytest.mark.parametrize("damage", ["cut", "text", "middle"])
def test_damaged_gzip_is_one_error(tmp_path: Path, damage: str) -> None:
    path = tmp_path / "t.csv.gz"
    packed = bytearray(gzip.compress(os.urandom(5000)))
    if damage == "cut":
        packed = packed[:-2000]
    elif damage == "text":
        packed = bytearray(b"a,b\n1,2\n")
    else:
        packed[100:200] = bytes(100)
    path.write_bytes(packed)
    with pytest.raises(FileFormatError, match="not a whole gzip file"):
        drained(path, "utf-8", size=1 << 16)


def test_a_gzip_bomb_is_refused_before_it_unfolds(tmp_path: Path) -> None:
    path = tmp_path / "bomb.csv.gz"
    path.write_bytes(gzip.compress(b"1,2\n" * 1_000_000))
    limits = Limits(expansion=250, expansion_floor=1 << 20)
    with (
        TextStream(path, "utf-8", limits) as stream,
        pytest.raises(FileFormatError, match=r"more than 250 times.*unpack it"),
    ):
        list(iter(lambda: stream.read(1 << 16), b""))
    # The same bytes pass when they stay below the floor.
    assert len(drained(path, "utf-8", size=1 << 20)) == 4_000_000


def test_broken_utf16_is_one_error(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_bytes(codecs.BOM_UTF16_LE + b"a\0\0\xd8b\0")
    with pytest.raises(FileFormatError, match="broken UTF-16"):
        drained(path, "utf-16-le")


def test_paths_are_checked(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="There is no file"):
        checked_path(tmp_path / "none.csv")
    with pytest.raises(InputError, match="is a folder"):
        checked_path(tmp_path)


def test_a_changed_file_is_noticed(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("a")
    known = stamp(path)
    check_stamp(path, known)
    path.write_text("ab")
    with pytest.raises(InputError, match="has changed"):
        check_stamp(path, known)


def test_compression_of_the_test_is_real() -> None:
    # The attack file above must exceed the ratio it is refused for.
    assert 4_000_000 / len(zlib.compress(b"1,2\n" * 1_000_000)) > 250
