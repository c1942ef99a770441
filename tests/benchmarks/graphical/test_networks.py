"""Network files: found in the shipped folder or a given one, readable by every rival."""

import gzip
import re
from pathlib import Path

import pytest

from benchmarks.graphical.networks import HERE, plain_file


@pytest.mark.parametrize("name", sorted(path.name[:-7] for path in HERE.glob("*.bif.gz")))
def test_a_shipped_network_has_plain_labels(name: str, tmp_path: Path) -> None:
    text = plain_file(name, tmp_path).read_text()
    lists = re.findall(r"discrete \[ *\d+ *\] *\{([^}]*)\}", text)
    labels = {label.strip() for part in lists for label in part.split(",")}
    assert labels
    if name == "child":
        assert all(re.fullmatch(r"[\w.]+", label) for label in labels)
        assert {"L_lt5", "L_5_12", "L_Asy_Patch"} <= labels


def test_a_given_folder_comes_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with gzip.open(tmp_path / "asia.bif.gz", "wt") as file:
        file.write("network mine {}")
    monkeypatch.setenv("NOVUM_BENCH_NETWORKS", str(tmp_path))
    assert plain_file("asia", tmp_path).read_text() == "network mine {}"


def test_a_missing_network_is_told_with_what_to_do(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match=r"no network atlantis\.bif\.gz.*--networks"):
        plain_file("atlantis", tmp_path)
