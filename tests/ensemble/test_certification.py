"""What an ensemble may claim: the weakest of its members, and means of what they share."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from novum.core.learners import Certificate, Verdict
from novum.ensemble.certification import certify_members, certify_stack, weakest


def member(verdict: str = "proved", objective: str = "loss", **more: Any) -> Any:
    return SimpleNamespace(
        certificate_=Certificate(objective=objective, verdict=Verdict(verdict), **more)
    )


def test_the_weakest_verdict_counts() -> None:
    assert weakest(Verdict) is Verdict.INFEASIBLE
    found = certify_members([member(), member("stopped early"), member("local")], "vote")
    assert found.verdict is Verdict.STOPPED_EARLY
    assert not found.converged
    assert found.details["verdicts"] == ("1 local", "1 proved", "1 stopped early")


def test_values_and_gaps_are_weighted_means() -> None:
    parts = [member(value=3.0, lower_bound=2.0), member("local", value=7.0, lower_bound=4.0)]
    found = certify_members(parts, "mean of 2 members", weights=[3, 1], names=["a", "b"])
    assert found.objective == "mean of 2 members: mean of loss"
    assert (found.value, found.gap) == (4.0, 1.5)
    assert found.details["verdicts"] == ("a: proved", "b: local")


@pytest.mark.parametrize(
    "other", [member(objective="another loss", value=1.0), member(), SimpleNamespace()]
)
def test_unlike_objectives_have_no_mean(other: Any) -> None:
    found = certify_members([member(value=1.0), other], "vote")
    assert found.value is None
    assert found.gap is None


def test_members_without_certificate_are_named_and_claim_little() -> None:
    found = certify_members([member(), SimpleNamespace()], "vote", names=["ours", "theirs"])
    assert found.verdict is Verdict.LOCAL
    assert found.details["verdicts"] == ("ours: proved", "theirs: without certificate")


def test_a_stack_shows_the_problem_of_its_final_learner() -> None:
    final = member(value=2.0, lower_bound=1.5)
    found = certify_stack([member("local", value=9.0)], final, names=["m"])
    assert found.objective == "loss, on cross-fitted predictions"
    assert (found.value, found.gap, found.verdict) == (2.0, 0.5, Verdict.LOCAL)
    foreign = certify_stack([member()], SimpleNamespace(), names=["m"])
    assert foreign.objective == "that of SimpleNamespace, on cross-fitted predictions"
    assert foreign.verdict is Verdict.LOCAL
