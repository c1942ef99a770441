"""A budget: what is stopped, goes on, is made smaller and left out, and what never is."""

from __future__ import annotations

import math
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from novum.apps.job import trials as trials_module
from novum.apps.job.clock import END_OF_TRIALS, LEAST_SECONDS, Clock, Silent
from novum.apps.job.planning import PLANNED
from novum.apps.job.record_model import Estimate
from novum.apps.job.trials import run_trials
from novum.core.runtime import OutOfTime, seconds_left
from tests.apps.job.runs import labeled, plan_of, rows_of, run_on


def status(plan: Any, family: str) -> str:
    return str(next(trial.status for trial in plan.trials if trial.family == family))


def test_shares_of_the_budget() -> None:
    clock = Clock(100.0)
    assert 49.0 < clock.until(0.5) <= 50.0
    assert clock.until(0.0) < 0
    assert Clock(None).until(0.01) == math.inf
    assert not Clock(None).is_limited


def test_a_block_ends_with_its_share() -> None:
    with Clock(1000.0).within(0.5):
        assert 499 < seconds_left() <= 500
    with Clock(1e-3).within(0.5):
        assert seconds_left() <= LEAST_SECONDS


def test_a_budget_that_is_used_up_leaves_the_constant_answer(tmp_path: Path) -> None:
    rows, metric = rows_of(**labeled(60))
    plan = plan_of("constant", "tree", "naive_bayes")
    found = run_trials(plan, rows, metric, tmp_path, clock=Clock(1e-9))
    assert list(found.runs) == ["constant"]
    done = found.done(plan)
    assert status(done, "constant") == PLANNED
    for name in ("tree", "naive_bayes"):
        assert "raise --budget" in status(done, name)


class Impatient:
    """In place of `deadline`: families are stopped, so many of them."""

    def __init__(self, times: int) -> None:
        self.left = times

    @contextmanager
    def __call__(self, seconds: float) -> Any:
        assert seconds > 0
        if self.left > 0:
            self.left -= 1
            raise OutOfTime
        yield


def test_a_family_that_was_stopped_goes_on_where_others_leave_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows, metric = rows_of(**labeled(60))
    plan = plan_of("tree", "naive_bayes")
    monkeypatch.setattr(trials_module, "deadline", Impatient(1))
    told: list[str] = []

    class Told(Silent):
        def step(self, title: str, *_: int) -> None:
            told.append(title)

    found = run_trials(plan, rows, metric, tmp_path, clock=Clock(1000.0, Told()))
    assert told == ["tree", "naive_bayes", "tree", ""]
    assert set(found.runs) == {"tree", "naive_bayes"}
    assert found.stopped == {}


def test_a_family_that_is_stopped_twice_is_left_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows, metric = rows_of(**labeled(60))
    plan = plan_of("tree")
    monkeypatch.setattr(trials_module, "deadline", Impatient(2))
    found = run_trials(plan, rows, metric, tmp_path, clock=Clock(1000.0))
    assert "was stopped" in found.stopped["tree"]
    assert "tree" not in found.runs


def test_without_a_budget_nothing_is_limited(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    limits: list[float] = []

    @contextmanager
    def heard(seconds: float) -> Any:
        limits.append(seconds)
        yield

    rows, metric = rows_of(**labeled(60))
    monkeypatch.setattr(trials_module, "deadline", heard)
    run_trials(plan_of("constant", "tree"), rows, metric, tmp_path)
    assert limits == [math.inf, math.inf]


def test_what_is_left_of_the_trials_is_shared_by_forecast() -> None:
    plan = plan_of("tree", "forest")
    cheap, dear = (
        trials_module.replace(trial, forecast_seconds=seconds)
        for trial, seconds in zip(plan.trials, (1.0, 9.0), strict=True)
    )
    clock = Clock(100.0)
    left = clock.until(END_OF_TRIALS)
    # A tenth of the work may take twice that, and never less than a fixed share.
    assert trials_module._allowed(cheap, [dear], clock) == pytest.approx(0.2 * left, rel=0.01)
    tiny = trials_module.replace(cheap, forecast_seconds=1e-6)
    assert trials_module._allowed(tiny, [dear], clock) == pytest.approx(0.15 * left, rel=0.01)
    assert trials_module._allowed(dear, [], clock) == pytest.approx(left, rel=0.01)


def test_a_run_with_hardly_any_time_ends_with_model_and_record(tmp_path: Path) -> None:
    record = run_on(tmp_path, labeled(400), budget_seconds=0.5, models=("tree", "forest"))
    assert {"model.novum", "predictions.csv", "leaderboard.csv", "run.json"} <= {
        path.name for path in (tmp_path / "out").iterdir()
    }
    assert record.holdout is not None
    assert record.plan.budget_seconds == 0.5
    assert isinstance(record.leaderboard[0].score, Estimate)
    for trial in record.plan.trials:
        tried = trial.family in {row.family for row in record.leaderboard}
        assert tried == (trial.status == PLANNED)
