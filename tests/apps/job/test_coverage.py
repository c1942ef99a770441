"""Intervals and sets of a run: by hand from the errors of the folds, measured on rows set aside."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from novum.apps.job.coverage import Calibration, bounded, calibration_beside, measured
from novum.apps.job.outputs import COVERAGE, Predictions, write_predictions
from novum.apps.job.record import RunRecord
from novum.apps.job.record_json import from_json, read_record, to_json
from novum.apps.job.record_model import CoverageRecord
from novum.apps.job.request import Request
from novum.apps.report import write_report
from novum.core.errors import InputError
from novum.evaluation import proportion_interval
from tests.apps.job.runs import held_out, labeled, numbered, read_csv, run_on
from tests.apps.job.table.tables import task_of


@pytest.fixture(scope="module")
def numbers(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, RunRecord]:
    folder = tmp_path_factory.mktemp("numbers")
    columns = numbered(120)
    columns["y"][:3] = [None] * 3
    return folder / "out", run_on(folder, columns, models=("tree",), coverage=0.8)


@pytest.fixture(scope="module")
def classes(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, RunRecord]:
    folder = tmp_path_factory.mktemp("classes")
    return folder / "out", run_on(folder, labeled(150, "abc"), models=("naive_bayes",))


def rank(n: int, coverage: float) -> int:
    return math.ceil((n + 1) * coverage - 1e-9) - 1


def test_every_number_has_the_interval_of_the_folds(numbers: tuple[Path, RunRecord]) -> None:
    folder, _ = numbers
    lines = read_csv(folder / "predictions.csv")
    assert list(lines[0]) == ["row", "answered", "target", "prediction", "lower", "upper"]
    left_out = [line for line in lines if line["answered"] == "out of fold"]
    errors = sorted(abs(float(line["target"]) - float(line["prediction"])) for line in left_out)
    reach = errors[rank(len(errors), 0.8)]
    assert {line["answered"] for line in lines} == {"out of fold", "hold-out", "no target"}
    for line in lines:
        middle, low, high = (float(line[name]) for name in ("prediction", "lower", "upper"))
        assert (low, high) == pytest.approx((middle - reach, middle + reach))


def test_measured_coverage_of_numbers(numbers: tuple[Path, RunRecord]) -> None:
    folder, record = numbers
    assert record.holdout is not None
    found = record.holdout.coverage
    assert found is not None
    lines = held_out(folder)
    hits = sum(float(x["lower"]) <= float(x["target"]) <= float(x["upper"]) for x in lines)
    (part,) = found.parts
    expected = proportion_interval(hits, len(lines), method="Clopper-Pearson")
    assert (part.coverage.value, part.coverage.low) == (expected.estimate, expected.low)
    assert found.promised == 0.8
    assert part.size == pytest.approx(float(lines[0]["upper"]) - float(lines[0]["lower"]))


def test_every_class_has_the_set_of_the_folds(classes: tuple[Path, RunRecord]) -> None:
    folder, record = classes
    lines = read_csv(folder / "predictions.csv")
    assert list(lines[0])[:5] == ["row", "answered", "target", "prediction", "set"]
    left_out = [line for line in lines if line["answered"] == "out of fold"]
    errors = sorted(1 - float(line[f"probability {line['target']}"]) for line in left_out)
    reach = errors[rank(len(errors), 0.9)]
    for line in lines:
        # Six digits are written.
        inside = [c for c in "abc" if 1 - float(line[f"probability {c}"]) <= reach + 1e-5]
        assert line["set"] == "; ".join(inside)
    assert record.holdout is not None
    found = record.holdout.coverage
    assert found is not None
    assert [part.rows for part in found.parts] == ["all", "a", "b", "c"]
    assert sum(part.n_rows for part in found.parts[1:]) == found.parts[0].n_rows
    hits = [line["target"] in line["set"].split("; ") for line in held_out(folder)]
    assert found.parts[0].coverage.value == pytest.approx(np.mean(hits))


def test_the_report_shows_measured_and_promised(
    numbers: tuple[Path, RunRecord], classes: tuple[Path, RunRecord], tmp_path: Path
) -> None:
    for (_, record), what in ((numbers, "intervals"), (classes, "sets of classes")):
        write_report(record, tmp_path / "report.html")
        text = (tmp_path / "report.html").read_text()
        assert f"How often the {what} around the answers held the truth" in text


def test_labels_have_no_sets_of_their_own(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    u = rng.normal(size=60).round(4)
    tags = ["|".join(t for t, on in (("p", x > 0), ("q", x < 0.5)) if on) for x in u.tolist()]
    run_on(tmp_path, {"u": u.tolist(), "y": tags}, task="labels", models=("tree",))
    assert not list((tmp_path / "out").rglob(COVERAGE))


# --- The parts ------------------------------------------------------------------------------------


def test_few_errors_give_no_limits(tmp_path: Path) -> None:
    part = Predictions(np.arange(2), "model", None, np.array([1.0, 2.0]))
    few = Calibration(0.9, False, (0.5, 1.0))
    found = bounded(part, few, None)
    assert np.isnan(found.limits).all()
    write_predictions(tmp_path / "p.csv", [found], None)
    assert [line["lower"] for line in read_csv(tmp_path / "p.csv")] == ["", ""]
    assert bounded(part, few, None, coverage=0.5).limits.tolist() == [[0.0, 2.0], [1.0, 3.0]]
    report = measured(_with_truth(part), few, task_of(u=[1.0, 2.0], y=[1.0, 2.5]))
    assert (report.parts[0].coverage.value, report.parts[0].size) == (1.0, None)
    assert from_json(to_json(report), CoverageRecord) == report


def _with_truth(part: Predictions) -> Predictions:
    return Predictions(part.rows, part.source, np.array([1.0, 2.5]), part.predicted)


def test_weights_count_errors() -> None:
    once = Calibration(0.5, False, (1.0, 2.0, 2.0, 3.0))
    twice = Calibration(0.5, False, (1.0, 2.0, 3.0), (1.0, 2.0, 1.0))
    assert once.reach() == twice.reach() == 2.0


def test_the_file_beside_a_model(numbers: tuple[Path, RunRecord], tmp_path: Path) -> None:
    folder, _ = numbers
    known = calibration_beside(folder, None)
    assert known == read_record(folder / COVERAGE, Calibration)
    assert known is not None
    assert known.coverage == 0.8
    other: Any = calibration_beside(folder, 0.5)
    assert (other.coverage, other.reach() <= known.reach()) == (0.5, True)
    assert calibration_beside(tmp_path, None) is None
    with pytest.raises(InputError, match=r"there is no .*coverage\.json"):
        calibration_beside(tmp_path, 0.9)


def test_requests_of_earlier_versions_still_load() -> None:
    text = to_json(Request("t.csv", "y")).replace(',\n  "coverage": 0.9', "")
    assert "coverage" not in text
    assert from_json(text, Request) == Request("t.csv", "y")
