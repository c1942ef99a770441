"""Verdict: who sets the bar, what equal quality means, held, missed and why."""

import math
from typing import Any

import pytest

from benchmarks.measuring import Outcome
from benchmarks.peers import Peer
from benchmarks.recipes import Data, Recipe
from benchmarks.registry import Quality, Workload
from benchmarks.verdict import bar_of, equal_quality, judge


def outcome(seconds: float, score: float = 1.0, **options: Any) -> Outcome:
    return Outcome(
        cpu={"fit": seconds},
        wall={"fit": seconds},
        memory={"fit": options.pop("megabytes", 10.0)},
        quality={"score": score},
        repetitions=3,
        **options,
    )


def workload(**options: Any) -> Workload:
    rivals = [Peer(name, lambda _: None) for name in ("quick", "slow", "worse")]
    ours = Peer("novum", lambda _: None, ours=True)
    options = {"quality": Quality("score", tolerance=0.01), "target": 2.0, **options}
    return Workload("toys.verdict", Recipe(Data), lambda *_: {}, rivals, novum=ours, **options)


def rivals() -> dict[str, Outcome]:
    return {"quick": outcome(2.0), "slow": outcome(8.0), "worse": outcome(0.1, 0.5)}


def test_the_bar_is_the_fastest_of_equal_quality() -> None:
    found = rivals() | {"novum": outcome(0.5, ours=True)}
    assert bar_of(workload(), found, "cpu") == "quick"
    verdict = judge(workload(), found)
    assert (verdict.status, verdict.bar, verdict.ratio) == ("held", "quick", 4.0)
    assert verdict.phases == (("fit", 4.0),)


def test_a_named_rival_sets_the_bar_instead() -> None:
    found = rivals() | {"novum": outcome(0.5, ours=True)}
    assert judge(workload(against="slow"), found).ratio == 16.0


def test_a_ratio_below_the_target_is_missed() -> None:
    verdict = judge(workload(), rivals() | {"novum": outcome(1.25, ours=True)})
    assert (verdict.status, verdict.reason) == ("missed", "1.60 of 2")


def test_faster_by_being_worse_is_no_win() -> None:
    verdict = judge(workload(), rivals() | {"novum": outcome(0.01, 0.98, ours=True)})
    assert verdict.status == "worse quality"
    assert verdict.reason == "score 0.98, the best rival has 1"


def test_being_better_than_all_rivals_leaves_the_bar_where_it_is() -> None:
    verdict = judge(workload(), rivals() | {"novum": outcome(0.5, 3.0, ours=True)})
    assert (verdict.status, verdict.bar) == ("held", "quick")


def test_low_is_better_where_the_workload_says_so() -> None:
    found = {"a": outcome(1, 1.0), "b": outcome(1, 1.005), "c": outcome(1, 1.2)}
    assert equal_quality(Quality("score", "low", 0.01), found) == {"a", "b"}


def test_negative_figures_have_a_tolerance_too() -> None:
    found = {"a": outcome(1, -100.0), "b": outcome(1, -100.5), "c": outcome(1, -102.0)}
    assert equal_quality(Quality("score", "high", 0.01), found) == {"a", "b"}


def test_a_requirement_counts_in_place_of_the_best() -> None:
    quality = Quality("score", "low", required=1e-9)
    found = {"a": outcome(1, 1e-16), "b": outcome(1, 1e-10), "c": outcome(1, 1e-8)}
    assert equal_quality(quality, found) == {"a", "b"}
    verdict = judge(workload(quality=quality), found | {"novum": outcome(1, 1e-7, ours=True)})
    assert (verdict.status, verdict.reason) == ("worse quality", "score 1e-07, required 1e-09")


def test_a_figure_that_is_not_a_number_is_never_equal() -> None:
    found = {"a": outcome(1, 1.0), "b": outcome(1, math.nan)}
    assert equal_quality(Quality("score"), found) == {"a"}


def test_another_method_sets_no_bar() -> None:
    found = {"quick": outcome(0.1, 9.0, other_method=True), "slow": outcome(8.0)}
    assert bar_of(workload(), found, "cpu") == "slow"


def test_memory_over_the_limit_is_missed_whatever_the_time() -> None:
    found = rivals() | {"novum": outcome(0.1, ours=True, megabytes=500.0)}
    verdict = judge(workload(memory=400.0), found)
    assert (verdict.status, verdict.reason) == ("missed", "memory grew by 500 MB of 400 MB")
    alone = {"novum": outcome(0.1, ours=True, megabytes=500.0)}
    assert judge(workload(memory=400.0), alone).status == "missed"


@pytest.mark.parametrize(
    ("ours", "status"),
    [
        ({}, "no Novum entry"),
        ({"novum": Outcome("not yet", "Novum has no x", ours=True)}, "not yet"),
        ({"novum": Outcome("error", "ValueError", ours=True)}, "error"),
    ],
)
def test_without_a_run_there_is_no_ratio(ours: dict[str, Outcome], status: str) -> None:
    verdict = judge(workload(), rivals() | ours)
    assert (verdict.status, verdict.ratio) == (status, None)


def test_no_rival_and_no_target_are_said() -> None:
    ours = {"novum": outcome(1.0, ours=True)}
    assert judge(workload(), ours).status == "no rival ran"
    assert judge(workload(target=None), rivals() | ours).status == "no target"
