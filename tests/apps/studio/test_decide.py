"""The room of decisions: its numbers are those of the library."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from novum.apps.studio import decide
from novum.core import WorkingPoint, load
from novum.core.decisions import RetargetedClassifier
from novum.evaluation import risk_of_actions
from tests.apps.studio.conftest import Served, serving
from tests.apps.studio.finished_runs import HOSTILE, make_run, two_classes

AT = "/api/decide/run"


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    folder = tmp_path_factory.mktemp("decide")
    two_classes(folder / "ward.csv", hostile=True)
    settings: dict[str, Any] = {"target": "state", "id": "=name", "positive": "=sick"}
    make_run(folder, "ward.csv", "run", cost_fn=4.0, cost_fp=1.0, **settings)
    make_run(folder, "ward.csv", "numbers", target="z", models=("linear",))
    yield from serving(folder)


def answers(served: Served) -> tuple[list[str], Any, Any]:
    """Classes, truth and posteriors from the file of the run, read by hand."""
    with (served.folder / "run" / "predictions.csv").open(newline="") as file:
        head, *lines = list(csv.reader(file))
    at = [i for i, name in enumerate(head) if name.startswith("probability ")]
    classes = [head[i].removeprefix("probability ") for i in at]
    truth = np.array([line[3].removeprefix("'") for line in lines])
    return classes, truth, np.array([[float(line[i]) for i in at] for line in lines])


def test_decisions_are_those_of_a_working_point(served: Served) -> None:
    opened = served.get(AT)
    classes, truth, posteriors = answers(served)
    assert opened["classes"] == classes == ["=sick", f"well{HOSTILE}"]
    assert opened["positive"] == "=sick"
    assert opened["n_rows"] == len(truth)
    asked = {"priors": [0.1, 0.9], "cost": [[0.0, 7.0], [2.0, 0.0]], "reject": 0.3}
    found = served.post(f"{AT}/at", asked)
    point = WorkingPoint(classes, [0.1, 0.9], asked["cost"], reject_cost=0.3)  # type: ignore[arg-type]
    moved = point.retarget(posteriors / posteriors.sum(1, keepdims=True), opened["point"]["priors"])
    actions = point.decide(moved)
    assert found["actions"] == [*classes, "reject"]
    expected = [
        [int(((truth == c) & (actions == a)).sum()) for a in found["actions"]] for c in classes
    ]
    assert found["confusion"] == expected
    assert found["cost"] == pytest.approx(risk_of_actions(truth, actions, point), rel=1e-12)
    assert found["rejected"] == int((actions == "reject").sum())


def test_the_point_of_the_run_changes_nothing(served: Served) -> None:
    point = served.get(AT)["point"]
    found = served.post(f"{AT}/at", point)
    assert found["changed"] == {"n_rows": 0, "rows": []}
    _, _, posteriors = answers(served)
    assert found["threshold"]["value"] == pytest.approx(0.2)
    assert sum(row[0] for row in found["confusion"]) == int((posteriors[:, 0] > 0.2).sum())


def test_the_curve_is_the_cost_of_every_threshold(
    served: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    classes, truth, _ = answers(served)
    run = served.folder / "run"
    asked = decide.Point(priors=[0.4, 0.6], cost=[[0.0, 5.0], [2.0, 0.0]])
    for most in (decide.MOST_CUTS, 13):
        monkeypatch.setattr(decide, "MOST_CUTS", most)
        found = decide.read_answers(run / "run.json", run / "predictions.csv")
        point = found.point(asked)
        curve = decide.decided(found, point)["threshold"]
        scores = point.retarget(found.posteriors, found.priors)[:, 0]
        for x, y in zip(curve["x"], curve["y"], strict=True):
            called = scores >= x - 1e-12
            misses = 1 - called[truth == classes[0]].mean()
            alarms = called[truth == classes[1]].mean()
            assert y == pytest.approx(0.4 * 5 * misses + 0.6 * 2 * alarms, abs=1e-9)
        assert len(curve["x"]) <= most


def test_rows_that_change_are_told_with_their_cells(served: Served) -> None:
    point = served.get(AT)["point"]
    found = served.post(f"{AT}/at", {**point, "cost": [[0.0, 1.0], [9.0, 0.0]]})
    assert found["changed"]["n_rows"] > 0
    row = found["changed"]["rows"][0]
    assert row["before"] == "=sick"
    assert row["now"] == f"well{HOSTILE}"
    assert row["name"].startswith("'=p")
    assert row["cells"]


def test_rows_set_aside_alone(served: Served) -> None:
    opened = served.get(AT)
    found = served.post(f"{AT}/at", {**opened["point"], "part": "aside"})
    assert found["n_rows"] == opened["n_aside"] < opened["n_rows"]


def test_a_point_is_saved_as_a_model(served: Served) -> None:
    before = (served.folder / "run" / "model.novum").read_bytes()
    asked = {"priors": [0.3, 0.7], "cost": [[0.0, 7.0], [2.0, 0.0]], "reject": 0.3}
    done = served.post(f"{AT}/save", asked)
    path = served.folder / "run" / done["file"]
    model = load(path)
    assert isinstance(model, RetargetedClassifier)
    assert model.point.reject_cost == 0.3
    assert model.point.priors.tolist() == [0.3, 0.7]
    assert model.point.cost.tolist() == asked["cost"]
    assert path.stat().st_mode & 0o777 == 0o600
    assert (served.folder / "run" / "model.novum").read_bytes() == before
    assert served.ask("GET", f"{AT}/files/{done['file']}").status == 200
    assert served.ask("GET", f"{AT}/files/model.novum").status == 400


def test_exports_are_inert_in_a_spreadsheet(served: Served) -> None:
    asked = {"priors": [0.3, 0.7], "cost": [[0.0, 7.0], [2.0, 0.0]]}
    done = served.post(f"{AT}/export", asked)
    text = served.ask("GET", f"{AT}/files/{done['file']}").text
    head, *lines = list(csv.reader(text.splitlines()))
    assert len(lines) == done["n_rows"] == served.get(AT)["n_rows"]
    for line in (head, *lines):
        for cell in line:
            assert not cell.startswith(("=", "+", "@", "\t", "\r"))
            assert not cell.startswith("-") or float(cell) < 0
    assert "decision" in head
    # The name of a row stands beside its own number.
    assert all(line[0] == f"'=p{int(line[1]) - 1}" for line in lines)


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ({"priors": [0, 0], "cost": [[0, 1], [1, 0]]}, "prior above 0"),
        ({"priors": [1], "cost": [[0, 1], [1, 0]]}, "2 classes"),
        ({"priors": [1, 1], "cost": [[0, 1]]}, "one row for each of the 2 classes"),
        ({"priors": [1, 1], "cost": [[0, 1], [1, 0]], "part": "x"}, "'unseen' or 'aside'"),
    ],
)
def test_points_are_checked(served: Served, asked: dict[str, Any], said: str) -> None:
    answer = served.ask("POST", f"{AT}/at", asked)
    assert answer.status == 400
    assert said in answer.json["error"]


def test_runs_of_numbers_have_nothing_to_decide(served: Served) -> None:
    assert [one["name"] for one in served.get("/api/decide/list")["runs"]] == ["run"]
    answer = served.ask("GET", "/api/decide/numbers")
    assert "predicts numbers" in answer.json["error"]
