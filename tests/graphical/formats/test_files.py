"""Which format a path has, and what is refused before a reader sees it."""

from __future__ import annotations

import gzip
from pathlib import Path
from typing import Any

import pytest

from novum.core.errors import FileFormatError, InputError
from novum.graphical.formats import files
from novum.graphical.formats.files import file_text, naming_file, read_network, write_network
from novum.graphical.models.bayesian_network import BayesianNetwork
from novum.graphical.models.factor_graph import FactorGraph
from novum.graphical.structure.dag import CyclicGraphError

NETWORK = (
    BayesianNetwork()
    .add("rain", table=[1 / 3, 2 / 3])
    .add("wet", ["rain"], [[0.9, 0.1], [0.2, 0.8]])
)


@pytest.mark.parametrize(
    "suffix", [".bif", ".xmlbif", ".bifxml", ".xml", ".net", ".network", ".BIF"]
)
@pytest.mark.parametrize("packed", ["", ".gz"])
def test_every_suffix_keeps_the_network(suffix: str, packed: str, tmp_path: Path) -> None:
    path = tmp_path / f"my.rain{suffix}{packed}"
    write_network(NETWORK, path)
    assert BayesianNetwork(read_network(path)) == NETWORK
    assert (path.read_bytes()[:2] == b"\x1f\x8b") == bool(packed)


def test_equal_networks_give_equal_bytes(tmp_path: Path) -> None:
    for name in ("a.bif.gz", "b.bif.gz"):
        NETWORK.write(tmp_path / name)
    assert (tmp_path / "a.bif.gz").read_bytes() == (tmp_path / "b.bif.gz").read_bytes()


@pytest.mark.parametrize("name", ["rain", "rain.txt", "rain.gz", ".bif.txt"])
def test_unknown_suffixes_are_refused_with_those_there_are(name: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"Use .bif, .xmlbif, .*\.network, each also with .gz"):
        NETWORK.write(tmp_path / name)
    with pytest.raises(InputError, match="no suffix of a network file"):
        BayesianNetwork.read(tmp_path / name)


def test_files_that_are_absent_or_folders(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        BayesianNetwork.read(tmp_path / "absent.bif")
    (tmp_path / "folder.bif").mkdir()
    with pytest.raises(InputError, match="is a folder"):
        BayesianNetwork.read(tmp_path / "folder.bif")


def test_what_is_not_gzip_says_so(tmp_path: Path) -> None:
    (tmp_path / "x.bif.gz").write_text("network x { }")
    with pytest.raises(FileFormatError, match="not a whole gzip file"):
        BayesianNetwork.read(tmp_path / "x.bif.gz")
    whole = gzip.compress(b"network x { }" * 100)
    (tmp_path / "x.bif.gz").write_bytes(whole[:-9])
    with pytest.raises(FileFormatError, match="not a whole gzip file"):
        BayesianNetwork.read(tmp_path / "x.bif.gz")


def test_files_that_unpack_without_end_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(files, "MAX_BYTES", 10_000)
    (tmp_path / "x.bif.gz").write_bytes(gzip.compress(b" " * 10_001))
    with pytest.raises(FileFormatError, match=r"x.bif.gz has more than 10.0 kB"):
        BayesianNetwork.read(tmp_path / "x.bif.gz")


def test_text_is_utf_8_without_nul() -> None:
    assert file_text("aß".encode(), "x") == "aß"
    with pytest.raises(FileFormatError, match="x, line 2: byte 0xdf is not text in UTF-8"):
        file_text(b"a\n\xdf", "x")
    with pytest.raises(FileFormatError, match="x, line 1: byte 0x00 is not text in UTF-8"):
        file_text(b"a\0b", "x")


def test_a_byte_order_mark_is_skipped(tmp_path: Path) -> None:
    NETWORK.write(tmp_path / "x.bif")
    path = tmp_path / "x.bif"
    path.write_bytes(b"\xef\xbb\xbf" + path.read_bytes())
    assert BayesianNetwork.read(path) == NETWORK


def test_an_old_file_survives_a_refusal(tmp_path: Path) -> None:
    path = tmp_path / "x.bif"
    path.write_text("old")
    with pytest.raises(InputError, match="half a surrogate pair"):
        NETWORK.rename({"rain": "\ud800"}).write(path)
    assert path.read_text() == "old"


def test_a_cycle_is_reported_with_the_file() -> None:
    with (
        pytest.raises(CyclicGraphError, match=r"^x.bif: The edges form a cycle: 'a' -> 'a'\.") as c,
        naming_file(Path("folder") / "x.bif"),
    ):
        raise CyclicGraphError(["a"])
    assert c.value.variables == ("a",)


@pytest.mark.parametrize("path", [None, 3, b"x.bif"])
def test_a_path_is_text_or_a_path(path: Any) -> None:
    for use in (
        BayesianNetwork.read,
        NETWORK.write,
        FactorGraph.read,
        FactorGraph.of(NETWORK).write,
    ):
        with pytest.raises(InputError, match="A file is named by its path, as text or Path; got"):
            use(path)
