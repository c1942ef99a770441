"""The record of a whole run: plain values that survive their file and agree with each other."""

from __future__ import annotations

import dataclasses
import json
import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from novum.apps.job import record as records
from novum.apps.job.record import RunRecord
from novum.apps.job.record_json import from_json, read_record, to_json
from tests.apps.job.runs import labeled, numbered, run_on

KINDS = [
    records.ColumnRecord,
    records.ComparisonRecord,
    records.ChosenRecord,
    records.DataRecord,
    records.HoldoutRecord,
    records.ProfileRecord,
]
finite = st.floats(allow_nan=False, allow_infinity=False)


@pytest.fixture(scope="module", params=["classes", "numbers"])
def finished(request: Any, tmp_path_factory: pytest.TempPathFactory) -> tuple[RunRecord, Path]:
    folder = tmp_path_factory.mktemp(request.param)
    columns = labeled(90) if request.param == "classes" else numbered(90)
    models = ("tree", "linear") if request.param == "numbers" else ("tree", "naive_bayes")
    return run_on(folder, columns, models=models), folder / "out"


def plain_values(value: Any) -> Iterator[Any]:
    if dataclasses.is_dataclass(value):
        for field in dataclasses.fields(value):
            yield from plain_values(getattr(value, field.name))
    elif isinstance(value, dict):
        for part in value.values():
            yield from plain_values(part)
    elif isinstance(value, (tuple, list)):
        for part in value:
            yield from plain_values(part)
    else:
        yield value


def test_a_run_is_read_as_it_was_written(finished: tuple[RunRecord, Path]) -> None:
    record, folder = finished
    found = read_record(folder / "run.json", RunRecord)
    # A request holds tuples, which a dict of plain values has as lists.
    settings_ = {k: list(v) if isinstance(v, tuple) else v for k, v in record.settings.items()}
    assert found == dataclasses.replace(record, settings=settings_)
    assert to_json(found) == (folder / "run.json").read_text(encoding="utf-8")


def test_values_are_plain_and_numbers_finite(finished: tuple[RunRecord, Path]) -> None:
    record, folder = finished
    for value in plain_values(record):
        assert type(value) in (str, int, float, bool, type(None))
        assert not isinstance(value, float) or math.isfinite(value)
    json.loads((folder / "run.json").read_text(), parse_constant=pytest.fail)


def test_counts_agree(finished: tuple[RunRecord, Path]) -> None:
    record, _ = finished
    data = record.data
    assert data.n_train + data.n_holdout + data.n_without_target == data.n_rows == 90
    assert record.holdout is not None
    assert record.holdout.n_rows == data.n_holdout == 18
    assert len(data.features) + len(data.left_out) == data.n_columns
    assert record.profile.n_rows == data.n_rows
    planned = [trial for trial in record.plan.trials if trial.status == "planned"]
    assert {trial.n_rows for trial in planned} == {data.n_train}
    assert {row.family for row in record.leaderboard} == {trial.family for trial in planned}
    for row in record.leaderboard:
        assert len(row.fold_scores) == record.plan.repeats * record.plan.folds
    assert [row.family for row in record.leaderboard if row.is_chosen] == [record.chosen.family]
    assert record.comparison is not None
    assert set(record.comparison.names) == {row.title for row in record.leaderboard}
    n_models = len(record.leaderboard)
    assert len(record.comparison.pairs) == n_models - 1


def test_texts_are_sentences(finished: tuple[RunRecord, Path]) -> None:
    record, _ = finished
    assert len(record.verdict) == 3
    for text in (*record.verdict, *record.task.sentences, *record.not_done, record.chosen.reason):
        assert text[0].isupper() or text[0].isdigit() or text[0] == "'", text
        assert text.endswith("."), text
        assert "np." not in text, text
        assert "  " not in text, text


def test_versions_and_settings(finished: tuple[RunRecord, Path]) -> None:
    record, _ = finished
    import numpy
    import sklearn

    import novum

    assert record.versions["novum"] == novum.__version__
    assert record.versions["numpy"] == numpy.__version__
    assert record.versions["scikit-learn"] == sklearn.__version__
    assert record.settings["preset"] == "quick"
    assert record.settings["holdout"] == 0.2
    assert all(seconds >= 0 for _, seconds in record.stage_seconds)


@pytest.mark.parametrize("kind", KINDS)
@settings(max_examples=6, suppress_health_check=[HealthCheck.too_slow])
@given(data=st.data())
def test_every_part_survives_its_file(kind: type, data: st.DataObject) -> None:
    st.register_type_strategy(float, finite)
    record = data.draw(st.from_type(kind))
    assert from_json(to_json(record), kind) == record


@pytest.mark.parametrize("kind", [*KINDS, RunRecord, records.Estimate, records.PlanRecord])
def test_records_cannot_be_changed(kind: Any) -> None:
    name = dataclasses.fields(kind)[0].name
    found = object.__new__(kind)
    with pytest.raises(dataclasses.FrozenInstanceError):
        setattr(found, name, None)
