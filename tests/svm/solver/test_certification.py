"""Certificates of the family: sums over problems, reasons, budgets."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from novum.core.learners import Stopwatch, Verdict
from novum.svm.classifier import SVC
from novum.svm.solver.certification import cache_bytes_of, certify, stopping_of
from novum.svm.solver.problem import Solution
from novum.svm.solver.vanishing import VANISHING


def solution(
    value: float, gap: float, reason: str | None = None, violation: float = 0.0
) -> Solution:
    nothing = np.zeros(1)
    return Solution(nothing, nothing, nothing, value, gap, violation, 3, reason, (value,))


def test_one_problem() -> None:
    found = certify("loss", [solution(-2.0, 0.5, violation=0.1)], 0.3, 0.0)
    assert (found.primal, found.dual, found.gap, found.residual) == (2.5, 2.0, 0.5, 0.1)
    assert found.verdict is Verdict.WITHIN_TOLERANCE
    assert found.trace == (-2.0,)


def test_several_problems_are_their_sum_and_keep_their_parts() -> None:
    parts = [solution(-2.0, 0.5, violation=0.1), solution(-4.0, 0.0, violation=0.3)]
    found = certify("loss", parts, 0.3, 0.0)
    assert (found.primal, found.dual, found.residual, found.iterations) == (6.5, 6.0, 0.3, 6)
    assert found.details["worst_relative_gap"] == pytest.approx(0.2)
    assert found.details["duals"] == (2.0, 4.0)
    assert found.details["gaps"] == (0.5, 0.0)


def test_one_problem_that_stopped_early_is_enough() -> None:
    found = certify("loss", [solution(-2.0, 0.0), solution(-1.0, 9.0, "max_iter")], 0.3, 0.0)
    assert found.verdict is Verdict.STOPPED_EARLY
    assert found.details["stopped_by"] == "max_iter"


def test_vanishing_margins_are_counted_and_no_relative_tolerance_is_claimed() -> None:
    found = certify("loss", [solution(0.0, 1e-12, VANISHING), solution(-1.0, 0.0)], 0.3, 0.0)
    assert found.converged
    assert found.details["vanishing_margins"] == 1
    assert "relative_tol" not in found.details


def test_the_scale_is_that_of_the_objective() -> None:
    found = certify("radius", [solution(-2.0, 0.5)], 0.3, 0.0, scale=2.0)
    assert (found.primal, found.dual) == (5.0, 4.0)


def test_budget_is_what_is_left() -> None:
    model = SimpleNamespace(tol=1e-3, max_iter=-1, max_seconds=100.0, cache_size=2)
    found = stopping_of(model, Stopwatch())
    assert found.max_iter is None
    assert found.max_seconds is not None
    assert 0 <= found.max_seconds <= 100
    assert stopping_of(
        SimpleNamespace(tol=1e-3, max_iter=7, max_seconds=None), Stopwatch(), 1e-5
    ) == stopping_of(SimpleNamespace(tol=1e-5, max_iter=7, max_seconds=None), Stopwatch())
    assert cache_bytes_of(model) == 2 * 2**20


def test_the_estimated_part_of_a_gap_is_named() -> None:
    proved = Solution(np.zeros(1), np.zeros(1), np.zeros(1), -2.0, 0.001, 0.01, 5)
    assert "estimated_part_of_gap" not in certify("hinge loss", [proved], 1e-3, 0.1).details
    partly = replace(proved, allowance=0.0004)
    details = certify("hinge loss", [partly, partly], 1e-3, 0.1, scale=2.0).details
    assert details["estimated_part_of_gap"] == pytest.approx(0.0016)


def test_large_fits_say_what_is_estimated_and_tight_ones_prove_it() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(1500, 4))
    y = X[:, 0] * X[:, 1] + rng.normal(size=1500) > 0
    quick = SVC().fit(X, y).certificate_
    estimated = quick.details["estimated_part_of_gap"]
    assert isinstance(estimated, float)
    assert 0 < estimated < quick.gap
    assert "estimated_part_of_gap" not in SVC(tol=1e-7).fit(X, y).certificate_.details
