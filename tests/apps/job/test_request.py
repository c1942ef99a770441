"""A request is a value that survives its file: what `--resume` reads is what was asked."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from novum.apps.job.record_json import from_json, read_record, to_json, write_record
from novum.apps.job.request import Request
from novum.core.errors import FileFormatError, InputError

text = st.text(max_size=12)
shares = st.floats(0.0, 0.9)
requests = st.builds(
    Request,
    table=text,
    target=st.none() | text,
    task=st.sampled_from(["auto", "binary", "multiclass", "regression"]),
    prior=st.none() | shares,
    preset=st.sampled_from(["quick", "standard", "thorough"]),
    models=st.lists(text, max_size=3).map(tuple),
    budget_seconds=st.none() | st.floats(0.0, 1e9),
    repeats=st.none() | st.integers(1, 9999),
    holdout=shares,
    group=st.none() | text,
    seed=st.integers(0),
    refit=st.booleans(),
)


@given(request=requests)
def test_a_request_survives_its_file(request: Request) -> None:
    assert from_json(to_json(request), Request) == request


@pytest.mark.parametrize(
    ("what", "value"),
    [("prior", 1.5), ("holdout", 0.95), ("holdout", -1.0), ("holdout", float("nan")), ("folds", 1),
     ("repeats", 0), ("seed", -1), ("budget_seconds", -3.0), ("n_jobs", 0), ("coverage", 7.0)],
)  # fmt: skip
def test_what_no_run_can_have_is_refused(what: str, value: float) -> None:
    with pytest.raises(InputError, match=rf"^{what} is {value}, and is "):
        Request("t.csv", **{what: value})  # type: ignore[arg-type]


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
