"""Bounds of the certificate: they hold against optima of forty digits, wherever a fit stops."""

from __future__ import annotations

import math
from dataclasses import replace
from decimal import Decimal

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from novum.core.learners import Verdict
from novum.linear.logistic.certificate import Table, certify, gap_and_reach, proved_bounds
from novum.linear.logistic.newton import Minimum, newton
from novum.linear.logistic.objective import Factor, PenalizedLoss
from novum.linear.logistic.regression import LogisticRegression
from novum.numerics import Floats
from tests.linear.logistic_tables import SMALL_X, SMALL_Y, SMALL_Y3, logistic_table, loss_of
from tests.oracles.plain_logistic import exact_logistic


def in_user_columns(loss: PenalizedLoss, vector: Floats) -> Floats:
    W = loss.shape.coefficients(vector)
    W[:, -1] -= W[:, :-1] @ loss.rows.center
    return W


CASES = [(2, 0.0), (2, 0.5), (3, 0.0), (3, 2.0)]


@pytest.mark.parametrize(("K", "penalty"), CASES)
def test_bounds_hold_at_every_step(K: int, penalty: float) -> None:
    y = SMALL_Y if K == 2 else SMALL_Y3
    exact, least = exact_logistic(SMALL_X.tolist(), y.tolist(), n_classes=K, penalty=penalty)
    optimum, proved = np.array(exact, float), 0
    for steps in range(8):
        loss = loss_of(SMALL_X, y, penalty=penalty)
        found = newton(loss, loss.start(), tol=1e-6, max_iter=steps)
        for factor in (found.factor, None):
            known = replace_factor(found, factor)
            bounds = proved_bounds(known, loss.shape, Table.of(loss.rows))
            if bounds is None or (factor is None and found.last_step.any()):
                continue
            proved += 1
            away = float(np.linalg.norm(in_user_columns(loss, found.vector) - optimum))
            assert away <= bounds.distance * (1 + 1e-12) + 1e-14
            gap = found.evaluation.value - float(least)
            assert gap <= bounds.gap * (1 + 1e-9) + 1e-14 * float(least)
    assert proved >= 2


def replace_factor(found: Minimum, factor: Factor | None) -> Minimum:
    return Minimum(
        found.vector, found.evaluation, found.stopped_by, found.trace, found.decrement,
        found.last_step, factor, found.hessian, found.moved,
    )  # fmt: skip


@pytest.mark.parametrize(("K", "penalty"), CASES)
def test_a_hessian_from_elsewhere_proves_less_but_nothing_wrong(K: int, penalty: float) -> None:
    y = SMALL_Y if K == 2 else SMALL_Y3
    loss = loss_of(SMALL_X, y, penalty=penalty)
    best = newton(loss, loss.start(), tol=1e-6, max_iter=50)
    assert best.factor is not None
    rng = np.random.default_rng(0)
    for size in (1e-6, 1e-3, 0.05):
        away = size * rng.normal(size=best.vector.size)
        here = best.vector + away
        # The factor belongs to the optimum, the evaluation to a point nearby.
        moved = float(np.sqrt(away @ np.linalg.solve(best.factor.inverse, away)))
        found = Minimum(
            here, loss.evaluate(here), "tol", [0.0], 0.0, np.zeros(0), best.factor, None, moved
        )
        bounds = proved_bounds(found, loss.shape, Table.of(loss.rows))
        if bounds is None:
            assert size == 0.05
            continue
        distance = np.linalg.norm(in_user_columns(loss, here) - in_user_columns(loss, best.vector))
        assert distance <= bounds.distance + 1e-12
        assert found.evaluation.value - best.evaluation.value <= bounds.gap + 1e-13


@given(st.integers(0, 10**6), st.sampled_from([2, 3]), st.floats(1e-2, 1e2), st.booleans())
def test_fits_know_their_distance(seed: int, K: int, C: float, intercept: bool) -> None:
    X, y = logistic_table(12, 2, K, seed=seed)
    X = np.round(4 * X) * 10.0 ** np.random.default_rng(seed).integers(-2, 3, 2)
    model = LogisticRegression(C=C, fit_intercept=intercept, tol=1e-3).fit(X, y)
    exact, least = exact_logistic(
        X.tolist(), y.tolist(), n_classes=K, penalty=1 / C, intercept=intercept, digits=30
    )
    optimum = np.array(exact, float)
    found = np.column_stack([model.coef_, model.intercept_]) if intercept else model.coef_
    certificate = model.certificate_
    if certificate.distance_bound is not None:
        assert np.linalg.norm(found - optimum) <= certificate.distance_bound + 1e-13
    # A loose tolerance may end a fit where nothing is proved yet; then the verdict says so.
    if certificate.lower_bound is None:
        assert certificate.verdict is Verdict.WITHIN_TOLERANCE
    else:
        assert Decimal(certificate.lower_bound) <= least


@pytest.mark.parametrize("seed", range(6))
def test_the_lower_bound_allows_for_rounding(seed: int) -> None:
    # Without an intercept scores are sums of terms a hundred times their size.
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(20, 4))
    y = (0.5 * X[:, 0] + rng.logistic(size=20) > 0).astype(int)
    X = X + 100
    certificate = LogisticRegression(C=1e5, fit_intercept=False).fit(X, y).certificate_
    _, least = exact_logistic(X.tolist(), y.tolist(), penalty=1e-5, intercept=False, digits=30)
    assert certificate.verdict is Verdict.PROVED
    assert certificate.lower_bound is not None
    assert Decimal(certificate.lower_bound) <= least
    assert certificate.relative_gap is not None
    assert certificate.relative_gap < 1e-11


def test_the_series_near_zero_joins_the_formula() -> None:
    for rate in (1e-3, 1.0, 1e3):
        below, above = gap_and_reach(0.9999e-3 / rate, rate), gap_and_reach(1.0001e-3 / rate, rate)
        assert below is not None
        assert above is not None
        assert below[0] == pytest.approx(above[0], rel=2e-3)
        assert below[1] == pytest.approx(above[1], rel=2e-3)
        a = 0.5
        found = gap_and_reach(a / rate, rate)
        assert found is not None
        assert found[1] == pytest.approx(math.log(2) / rate)
        assert found[0] >= 0.5 * (a / rate) ** 2
    assert gap_and_reach(1.0, 1.0) is None
    assert gap_and_reach(math.nan, 1.0) is None


def test_the_formula_is_attained_by_the_loss_it_is_made_for() -> None:
    # F(t) = exp(-t) + t has F'' = -F''' everywhere: R = 1 at the point t = 0 in its own norm.
    for t in (0.3, 1.0, 2.0):
        gradient, hessian = 1 - math.exp(-t), math.exp(-t)
        nu, rate = gradient / math.sqrt(hessian), 1 / math.sqrt(hessian)
        known = gap_and_reach(nu, rate)
        if known is None:
            continue
        assert known[0] >= math.exp(-t) + t - 1
        assert known[1] >= t * math.sqrt(hessian)


def test_verdicts_say_what_is_known() -> None:
    X, y = logistic_table(200, 3)
    loss = loss_of(X, y)
    table = Table.of(loss.rows)
    done = newton(loss, loss.start(), tol=1e-6, max_iter=50)
    proof = certify(done, loss.shape, table, tol=1e-6)
    assert proof.verdict is Verdict.PROVED
    assert proof.details["relative_tol"] == 1e-12
    cut = newton(loss, loss.start(), tol=1e-6, max_iter=1)
    early = certify(cut, loss.shape, table, tol=1e-6)
    assert early.verdict is Verdict.STOPPED_EARLY
    assert early.gap is not None
    assert early.gap > 1.0 > proof.gap
    unsure = replace(table, largest_norm=lambda _scale: math.inf)
    vague = certify(done, loss.shape, unsure, tol=1e-6)
    assert vague.verdict is Verdict.WITHIN_TOLERANCE
    assert vague.distance_bound is None
