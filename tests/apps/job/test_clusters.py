"""Runs without a target: numbers, mixed columns, one group, what is written, what is refused."""

from __future__ import annotations

import csv
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from novum import run as run_in_python
from novum.apps.job.clusters import ASSIGNMENTS, run_clusters
from novum.apps.job.request import Request
from novum.apps.report.groups import groups_page, write_groups_report
from novum.core import load
from novum.core.errors import InputError

QUICK = {"task": "clusters", "preset": "quick"}


def written(folder: Path, seed: int = 0, mixed: bool = False) -> str:
    """A table of three groups with a name for each row, some cells missing."""
    rng = np.random.default_rng(seed)
    path = folder / "rows.csv"
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["name", "a", "b", *(["color"] if mixed else [])])
        for i in range(90):
            place = i % 3
            a, b = rng.normal(size=2) + 9.0 * np.array([place == 1, place == 2])
            color = ["red", "green", "blue"][place]
            cells = ["" if i == 4 else f"{a:.3f}", f"{b:.3f}", *([color] if mixed else [])]
            writer.writerow([f"row {i}", *cells])
    return str(path)


@pytest.mark.parametrize("mixed", [False, True])
def test_groups_are_found_described_and_written(tmp_path: Path, mixed: bool) -> None:
    request = Request(written(tmp_path, mixed=mixed), id="name", **QUICK)
    folder = tmp_path / "out"
    found = run_clusters(request, folder)
    assert found.choice.n_clusters == 3
    assert found.verdict[0].startswith("3 groups: ")
    assert len(found.descriptions) == 3
    with (folder / ASSIGNMENTS).open() as file:
        lines = list(csv.DictReader(file))
    assert lines[0] == {"row": "1", "id": "row 0", "group": str(found.labels[0])}
    groups = np.array([int(line["group"]) for line in lines])
    assert all(len(set(groups[i::3])) == 1 for i in range(3))
    model = load(folder / "model.novum")
    columns: dict[str, Any] = {"a": [0.0, 9.0], "b": [0.0, 0.0]}
    if mixed:
        columns["color"] = ["red", "green"]
    assert model.predict(pa.table(columns)).tolist() == [groups[0], groups[1]]
    record = json.loads((folder / "run.json").read_text())
    assert record["n_groups"] == 3
    assert [kind[0] for kind in record["kinds"]][:2] == ["name", "a"]
    page = groups_page(found)
    assert "3 groups" in page
    assert page.count("<svg") >= (3 if mixed else 4) - 1
    write_groups_report(found, folder / "report.html")
    with pytest.raises(InputError, match="holds a finished run"):
        run_clusters(request, folder)


def test_a_known_target_takes_no_part_and_is_compared_with(tmp_path: Path) -> None:
    found = run_clusters(Request("iris", **QUICK), tmp_path / "out")
    assert found.target == "species"
    assert 0.4 < found.agreement["adjusted_rand"].estimate < 0.8
    assert all("species" not in group.rule for group in found.descriptions)
    assert any("'species', which took no part" in said for said in found.verdict)


def test_one_group_has_no_model(tmp_path: Path) -> None:
    X = np.random.default_rng(0).normal(size=(120, 3))
    path = tmp_path / "cloud.csv"
    np.savetxt(path, X, delimiter=",", header="a,b,c", comments="")
    found = run_clusters(Request(str(path), **QUICK), tmp_path / "out")
    assert found.choice.n_clusters == 1
    assert not (tmp_path / "out" / "model.novum").exists()
    assert "no model" in found.not_done[-1]
    assert "One group" in groups_page(found)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"metric": "accuracy"}, "--metric does not go with --task clusters"),
        ({"targets": ("a", "b")}, "several targets does not go with"),
        ({"kind": (("a", "drop"), ("b", "drop"))}, "no column left"),
    ],
)
def test_what_is_refused(tmp_path: Path, changes: dict[str, Any], message: str) -> None:
    request = Request(written(tmp_path), id="name", **QUICK)
    with pytest.raises(InputError, match=message):
        run_clusters(replace(request, **changes), tmp_path / "out")


def test_python_names_the_function_for_groups() -> None:
    with pytest.raises(InputError, match="choose_clusters"):
        run_in_python("iris", task="clusters")
