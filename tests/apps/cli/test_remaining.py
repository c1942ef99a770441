"""The remaining time: arithmetic that can be checked by hand."""

from __future__ import annotations

import pytest

from novum.apps.cli.progress import Remaining
from novum.apps.job.job import DRAWING, JUDGING, forecasts
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
    assert work.share(60.0) == pytest.approx(60 / (60 + 70 / 40 * 70))


def test_work_beyond_its_forecast_takes_as_long_again_by_half() -> None:
    work = Remaining({"a": 10.0, "b": 10.0})
    work.begin("a", now=0.0)
    assert work.seconds(5.0) == pytest.approx(5.0 + 10.0)
    # From two thirds of the forecast on, without a jump; never does it stand still.
    assert work.seconds(20 / 3) == pytest.approx(10 / 3 + 10.0)
    assert work.seconds(1000.0) == pytest.approx(500.0 + 10.0)


def test_finished_parts_of_the_work_under_way_speak_for_the_rest() -> None:
    work = Remaining({"a": 10.0, "b": 10.0})
    work.begin("a", now=0.0)
    work.advance(0.25)
    assert work.seconds(30.0) == pytest.approx(90.0 + 10.0)
    work.begin("b", now=120.0)
    assert work.seconds(120.0) == pytest.approx((120 + 2) / (10 + 2) * 10)


def test_a_budget_ends_it_all() -> None:
    work = Remaining({"a": 100.0}, end=50.0)
    work.begin("a", now=0.0)
    assert work.seconds(20.0) == pytest.approx(30.0)
    # Beyond its end the budget says nothing any more.
    assert work.seconds(60.0) == pytest.approx(40.0)


def test_unknown_work_changes_nothing_and_no_work_is_done() -> None:
    work = Remaining({"a": 10.0})
    work.begin("a", now=0.0)
    work.begin("other", now=5.0)
    work.begin("a", now=7.0)
    assert work.seconds(6.0) == pytest.approx(4.0)
    assert (Remaining({}).seconds(3.0), Remaining({}).share(3.0)) == (0.0, 1.0)


def test_the_forecasts_of_a_plan_name_all_that_follows_the_cheapest_first() -> None:
    trials = (
        PlannedTrial("forest", "random forest", 2, 100, 10, 50.0, "planned"),
        PlannedTrial("tree", "decision tree", 2, 100, 10, 20.0, "planned"),
        PlannedTrial("gaussian", "Gaussian classifier", 0, 0, 0, 0.0, "takes numbers alone"),
        PlannedTrial("stack", "stack of the best", 1, 100, 40, 30.0, "planned"),
    )
    plan = PlanRecord("quick", 100.0, 1.0, 1, 5, 3, 0, trials)
    found = forecasts(plan)
    titles = ["decision tree", "random forest", "stack of the best", JUDGING, DRAWING]
    assert list(found) == titles
    assert found["stack of the best"] == 30.0
    assert found[JUDGING] > 12 * 5.0
