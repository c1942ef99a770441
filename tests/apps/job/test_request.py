"""A request is a value that survives its file: what `--resume` reads is what was asked."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from novum.apps.job.record_json import from_json, read_record, to_json, write_record
from novum.apps.job.request import Request
from novum.core.errors import FileFormatError

text = st.text(max_size=12)
numbers = st.floats(allow_nan=False, allow_infinity=False)
requests = st.builds(
    Request,
    table=text,
    target=st.none() | text,
    task=st.sampled_from(["auto", "binary", "multiclass", "regression"]),
    prior=st.none() | numbers,
    preset=st.sampled_from(["quick", "standard", "thorough"]),
    models=st.lists(text, max_size=3).map(tuple),
    budget_seconds=numbers,
    repeats=st.none() | st.integers(),
    holdout=numbers,
    group=st.none() | text,
    seed=st.integers(),
    refit=st.booleans(),
)


@given(request=requests)
def test_a_request_survives_its_file(request: Request) -> None:
    assert from_json(to_json(request), Request) == request


def test_it_cannot_be_changed() -> None:
    with pytest.raises(dataclasses.FrozenInstanceError):
        Request("t.csv").seed = 1  # type: ignore[misc]


def test_defaults_set_a_fifth_aside_and_refit() -> None:
    request = Request("t.csv")
    assert (request.holdout, request.refit, request.seed, request.n_jobs) == (0.2, True, 0, 1)
    assert (request.preset, request.budget_seconds, request.models) == ("standard", None, ())


def test_presets_and_tasks_that_are_none_are_refused(tmp_path: Path) -> None:
    write_record(Request("t.csv", preset="slow"), tmp_path / "r.json")  # type: ignore[arg-type]
    with pytest.raises(FileFormatError, match=r"record\.preset is 'slow'"):
        read_record(tmp_path / "r.json", Request)
