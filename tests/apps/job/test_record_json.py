"""Records survive the file exactly, and a file that was changed is refused with the place."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from novum.apps.job.record import Finding, PlanRecord, RunRecord, Standing, TaskRecord
from novum.apps.job.record_json import from_json, read_record, to_json, write_record
from novum.apps.job.record_model import Curve, Estimate
from novum.apps.job.request import Request
from novum.apps.report import render
from novum.core.errors import FileFormatError, InputError
from tests.apps.report import sample_records

ESTIMATE = Estimate(0.1, None, 0.3)
finite = st.floats(allow_nan=False, allow_infinity=False)
st.register_type_strategy(float, finite)

RECORDS = (TaskRecord, Finding, PlanRecord, Standing, Curve)


@pytest.mark.parametrize("kind", RECORDS)
@settings(max_examples=25, suppress_health_check=[HealthCheck.too_slow])
@given(data=st.data())
def test_every_record_survives(kind: type, data: st.DataObject) -> None:
    record = data.draw(st.from_type(kind))
    text = to_json(record)
    assert from_json(text, kind) == record
    assert to_json(from_json(text, kind)) == text


def test_files(tmp_path: Path) -> None:
    path = tmp_path / "run.json"
    write_record(ESTIMATE, path)
    assert read_record(path, Estimate) == ESTIMATE
    path.write_bytes(b"\xff\xfe")
    with pytest.raises(FileFormatError, match="not UTF-8"):
        read_record(path, Estimate)
    path.write_text("{")
    with pytest.raises(FileFormatError, match="not JSON") as caught:
        read_record(path, Estimate)
    assert str(path) in caught.value.__notes__[0]


def test_numbers_of_numpy_are_written_as_numbers() -> None:
    text = to_json(Estimate(np.float64(0.5), None, np.int64(2)))  # type: ignore[arg-type]
    assert from_json(text, Estimate) == Estimate(0.5, None, 2.0)


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_what_does_not_exist_is_none(bad: float) -> None:
    with pytest.raises(ValueError, match=r"record\.low is .*None in a record"):
        to_json(Estimate(0.0, bad, None))
    with pytest.raises(TypeError, match=r"record\.low is a set"):
        to_json(Estimate(0.0, set(), None))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"value": "much"}, r"record\.value is 'much', but a run has float"),
        ({"value": True}, r"record\.value is 'True'"),
        ({"other": 1}, r"does not have the fields of a run: other"),
    ],
)
def test_changed_files_are_refused(change: dict[str, object], message: str) -> None:
    content = json.loads(to_json(ESTIMATE))
    content["record"].update(change)
    with pytest.raises(FileFormatError, match=message):
        from_json(json.dumps(content), Estimate)


def test_other_formats_are_refused() -> None:
    with pytest.raises(FileFormatError, match="another version"):
        from_json('{"format": 0}', Estimate)
    with pytest.raises(FileFormatError, match="another version"):
        from_json("[]", Estimate)
    curve = json.loads(to_json(Curve((1.0,), (2.0,), (), (), ((1.0, 2.0, "here"),))))
    curve["record"]["marks"][0].pop()
    with pytest.raises(FileFormatError, match=r"record\.marks\[0\]"):
        from_json(json.dumps(curve), Curve)
    curve["record"]["marks"] = 3
    with pytest.raises(FileFormatError, match=r"record\.marks is '3'"):
        from_json(json.dumps(curve), Curve)
    task = json.loads(to_json(Finding("leak", "danger", (), "a", "b")))
    task["record"]["severity"] = "mild"
    with pytest.raises(FileFormatError, match=r"record\.severity is 'mild'"):
        from_json(json.dumps(task), Finding)


def test_fields_that_came_later_may_be_absent() -> None:
    """`run.json` of the last version has no picture of single rows and no saving."""
    record = sample_records.binary_record()
    content = json.loads(to_json(record))
    del content["record"]["date"]
    for name in ("dependences", "contributions"):
        del content["record"]["chosen"][name]
    for name in ("saving", "mistakes"):
        del content["record"]["holdout"][name]
    older = from_json(json.dumps(content), RunRecord)
    assert (older.date, older.chosen.dependences, older.chosen.contributions) == ("", (), ())
    assert older.holdout is not None
    assert (older.holdout.saving, older.holdout.mistakes) == (None, None)
    assert "<h1>Predicting claim from insurance.csv</h1>" in render(older)
    del content["record"]["verdict"]
    with pytest.raises(FileFormatError, match="fields of a run: verdict"):
        from_json(json.dumps(content), RunRecord)


def test_a_path_that_is_not_utf8_survives(tmp_path: Path) -> None:
    asked = Request("caf\udce9.csv", target="größe")
    write_record(asked, tmp_path / "request.json")
    assert read_record(tmp_path / "request.json", Request) == asked
    (tmp_path / "request.json").read_bytes().decode("utf-8")


@pytest.mark.parametrize(
    "settings",
    [{"coverage": 0.0}, {"coverage": float("nan")}, {"folds": 1}, {"repeats": 0}, {"holdout": 0.95},
     {"seed": -1}, {"n_jobs": -2}, {"prior": 1.5}, {"budget_seconds": -1.0}],
)  # fmt: skip
def test_a_request_refuses_what_no_run_can_have(settings: dict[str, float]) -> None:
    (name,) = settings
    with pytest.raises(InputError, match=rf"^{name} is .*, and is "):
        Request("t.csv", **settings)
