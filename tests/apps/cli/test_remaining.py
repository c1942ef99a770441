"""The remaining time: arithmetic that can be checked by hand."""

from __future__ import annotations

import pytest

from novum.apps.cli.progress import Remaining, forecasts_of
from novum.apps.job.record import PlannedTrial, PlanRecord


def test_without_news_the_forecast_counts_down() -> None:
    work = Remaining({"a": 30.0, "b": 70.0})
    assert (work.seconds(0.0), work.share(0.0)) == (100.0, 0.0)
    work.begin("a", now=10.0)
    assert (work.seconds(20.0), work.share(20.0)) == (90.0, pytest.approx(0.1))


def test_work_that_took_twice_as_long_slows_down_what_follows() -> None:
    work = Remaining({"a": 30.0, "b": 70.0})
    work.begin("a", now=0.0)
    work.begin("b", now=60.0)
    # A tenth of the whole counts as seen at pace 1: (60 + 10) / (30 + 10) times 70.
    assert work.seconds(60.0) == pytest.approx(70 / 40 * 70)
    assert work.share(60.0) == pytest.approx(0.3)


def test_work_beyond_its_forecast_is_never_quite_done() -> None:
    work = Remaining({"a": 10.0, "b": 10.0})
    work.begin("a", now=0.0)
    assert work.seconds(1000.0) == pytest.approx(0.5 + 10.0)
    work.begin("b", now=1000.0)
    assert work.seconds(1e6) > 0
    assert 0.9 < work.share(1e6) < 1


def test_unknown_work_changes_nothing_and_no_work_is_done() -> None:
    work = Remaining({"a": 10.0})
    work.begin("a", now=0.0)
    work.begin("other", now=5.0)
    work.begin("a", now=7.0)
    assert work.seconds(5.0) == pytest.approx(5.0)
    assert (Remaining({}).seconds(3.0), Remaining({}).share(3.0)) == (0.0, 1.0)


def test_the_forecasts_of_a_plan_name_all_that_follows() -> None:
    trials = (
        PlannedTrial("tree", "decision tree", 2, 100, 10, 20.0, "planned"),
        PlannedTrial("forest", "random forest", 2, 100, 10, 50.0, "planned"),
        PlannedTrial("gaussian", "Gaussian classifier", 0, 0, 0, 0.0, "takes numbers alone"),
    )
    plan = PlanRecord("quick", 100.0, 1.0, 1, 5, 3, 0, trials)
    found = forecasts_of(plan, "stack", "judging", "drawing")
    assert list(found) == ["decision tree", "random forest", "stack", "judging", "drawing"]
    # Five stacks, each with both members fitted on three inner folds and once more.
    assert found["stack"] == pytest.approx(5 * 4 * (2.0 + 5.0))
    assert found["judging"] > 12 * 5.0
