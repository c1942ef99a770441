"""The room of understanding: its numbers are those of the library."""

from __future__ import annotations

from collections.abc import Iterator

import pyarrow.csv
import pytest

from novum.core import load
from tests.apps.studio.conftest import Served, serving
from tests.apps.studio.finished_runs import make_run, two_classes


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    folder = tmp_path_factory.mktemp("understand")
    two_classes(folder / "ward.csv")
    make_run(folder, "ward.csv", "tree", target="state", models=("tree",))
    make_run(folder, "ward.csv", "line", target="z", models=("linear",))
    yield from serving(folder)


def test_a_tree_that_was_chosen_is_shown_itself(served: Served) -> None:
    found = served.get("/api/understand/tree")
    model = load(served.folder / "tree" / "model.novum")
    tree = getattr(model, "tree_", None) or model.steps[-1][1].tree_
    assert found["tree"]["fidelity"] is None
    assert len(found["tree"]["entries"]) == tree.n_nodes
    assert found["tree"]["labels"] == ["sick", "well"]
    assert [one["node"] for one in found["tree"]["entries"]] == list(range(tree.n_nodes))


def test_rows_of_nodes_are_split_among_their_children(served: Served) -> None:
    entries = served.get("/api/understand/tree")["tree"]["entries"]
    root = served.get("/api/understand/tree/node", node=0)
    assert root["n_rows"] == 120
    children = entries[0]["children"]
    counts = [served.get("/api/understand/tree/node", node=k)["n_rows"] for k in children]
    assert sum(counts) >= 120
    assert all(count < 120 for count in counts)
    answer = served.ask("GET", "/api/understand/tree/node?node=9999")
    assert "The tree has the nodes 0 to" in answer.json["error"]


def test_other_models_are_imitated_and_it_is_said_how_well(served: Served) -> None:
    tree = served.get("/api/understand/line")["tree"]
    assert tree["fidelity"]["measure"] == "r2"
    assert 0.0 < tree["fidelity"]["value"] <= 1.0
    assert len([one for one in tree["entries"] if not one["children"]]) <= 16


def test_a_changed_row_is_answered_by_the_model(served: Served) -> None:
    model = load(served.folder / "tree" / "model.novum")
    table = pyarrow.csv.read_csv(served.folder / "ward.csv").select(["x", "z", "level"])
    for cells in ({}, {"x": "2.5"}, {"x": -2.5, "level": "low"}, {"z": None}):
        row = table.slice(4, 1).to_pylist()[0]
        row |= {k: float(v) if k in "xz" and v is not None else v for k, v in cells.items()}
        rows = pyarrow.table({k: [v] for k, v in row.items()}, schema=table.schema)
        found = served.post("/api/understand/tree/whatif", {"row": 5, "cells": cells})
        expected = model.predict_proba(rows)[0]
        assert found["probabilities"] == pytest.approx(expected.tolist(), abs=1e-12)
        credit = found["credit"]
        total = sum(one["value"] for _, _, one in credit["terms"]) + credit["rest"]
        assert credit["start"] + total == pytest.approx(credit["prediction"], abs=1e-9)


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ({"row": 0}, "Rows have the numbers 1 to 120"),
        ({"row": 121}, "Rows have the numbers 1 to 120"),
        ({"row": 1, "cells": {"nothing": 1}}, "no column 'nothing'"),
        ({"row": 1, "cells": {"x": "much"}}, "'much' is no value of 'x'"),
    ],
)
def test_changes_are_checked(served: Served, body: object, said: str) -> None:
    answer = served.ask("POST", "/api/understand/tree/whatif", body)
    assert answer.status == 400
    assert said in answer.json["error"]


def test_columns_are_followed(served: Served) -> None:
    found = served.get("/api/understand/tree/dependence", column="x")
    assert found["column"] == "x"
    assert len(found["means"][0]) == len(found["values"])
    assert found["means"][0][0] != found["means"][0][-1]
    levels = served.get("/api/understand/tree/dependence", column="level")
    assert sorted(levels["levels"]) == ["high", "low"]
    assert served.ask("GET", "/api/understand/tree/dependence?column=state").status == 400


def test_unusual_rows_have_reasons(served: Served) -> None:
    rows = served.get("/api/understand/tree/unusual")["rows"]
    scores = [one["score"] for one in rows]
    assert scores == sorted(scores, reverse=True)
    assert rows[0]["reasons"]


def test_a_table_that_is_gone_is_said(served: Served) -> None:
    path = served.folder / "ward.csv"
    path.rename(served.folder / "ward.away")
    try:
        # A model that was not opened yet needs its table.
        (served.folder / "tree" / "run.json").touch()
        answer = served.ask("GET", "/api/understand/tree")
        assert answer.status == 400
        assert "ward.csv" in answer.json["error"]
    finally:
        (served.folder / "ward.away").rename(path)
