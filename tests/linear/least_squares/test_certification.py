"""Certificates: bounds that hold against rational solutions, and words that tell the truth."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from novum.core.learners import Certificate, Verdict
from novum.linear import LinearRegression, Ridge
from novum.linear.least_squares.certification import (
    certify,
    certify_non_negative,
    half_gradient,
    objective,
)
from novum.linear.least_squares.solution import Design, solve
from novum.numerics import Floats
from tests.linear.tables import LINEAR, certified_table, integer_tables, normal_table
from tests.oracles.rational_least_squares import exact_least_squares, exact_residual_squares


def assert_bounds_hold(
    certificate: Certificate,
    coef: Floats,
    X: Floats,
    y: Floats,
    weight: Floats | None = None,
    *,
    intercept: bool = True,
    alpha: float = 0.0,
) -> None:
    """The rational optimum lies within what the certificate says."""
    w = None if weight is None else weight.tolist()
    rows, targets = X.tolist(), y.tolist()
    constant, exact = exact_least_squares(rows, targets, w, intercept=intercept, alpha=alpha)
    best = exact_residual_squares(rows, targets, constant, exact, w)
    best += Fraction(alpha) * sum((value * value for value in exact), Fraction(0))
    assert certificate.gap is not None
    assert certificate.gap >= 0
    assert Fraction(certificate.lower_bound) <= best
    # The value was computed from the same rounded factor; its own error is part of the gap.
    assert best <= Fraction(certificate.value) + Fraction(certificate.gap)
    if certificate.distance_bound is not None:
        away = sum(((Fraction(a) - b) ** 2 for a, b in zip(coef, exact, strict=True)), Fraction(0))
        assert float(away) ** 0.5 <= certificate.distance_bound


@given(integer_tables(), st.booleans(), st.sampled_from([0.0, 0.25, 16.0]))
def test_rational_optimum_is_within_the_bounds(
    table: tuple[Floats, Floats, Floats], intercept: bool, alpha: float
) -> None:
    X, y, weight = table
    model = Ridge(alpha=alpha, fit_intercept=intercept).fit(X, y, weight)
    assert_bounds_hold(
        model.certificate_, model.coef_, X, y, weight, intercept=intercept, alpha=alpha
    )
    merged = Ridge(alpha=alpha, fit_intercept=intercept).fit_stream(
        [(X[i : i + 1], y[i : i + 1], weight[i : i + 1]) for i in range(len(X))]
    )
    assert_bounds_hold(
        merged.certificate_, merged.coef_, X, y, weight, intercept=intercept, alpha=alpha
    )


@pytest.mark.parametrize("name", sorted(LINEAR))
@pytest.mark.parametrize("merged", [False, True], ids=["fit", "merged"])
def test_bounds_hold_on_certified_tables(name: str, merged: bool) -> None:
    X, y = certified_table(name)
    intercept = LINEAR[name]["intercept"]
    model = LinearRegression(fit_intercept=intercept)
    if merged:
        model.fit_stream([(X[::2], y[::2]), (X[1::2], y[1::2])])
    else:
        model.fit(X, y)
    assert_bounds_hold(model.certificate_, model.coef_, X, y, intercept=intercept)
    assert model.certificate_.verdict is Verdict.PROVED
    # A bound that says nothing would hold too: three digits remain even for Filip.
    bound = model.certificate_.distance_bound
    assert bound is not None
    assert bound < 1e-3 * np.linalg.norm(model.coef_)


@pytest.mark.parametrize("scale", [1.0, 2.0**27, 2.0**-27])
@pytest.mark.parametrize("shift", [0.0, 1e8])
def test_bounds_hold_in_any_units(scale: float, shift: float) -> None:
    X, y = normal_table(12, 2)
    X = (X + shift) * [scale, 1.0]
    model = LinearRegression().fit(X, y)
    assert_bounds_hold(model.certificate_, model.coef_, X, y)


def test_a_perfect_fit_is_proved() -> None:
    X, _ = normal_table(20, 3)
    certificate = LinearRegression().fit(X, X @ [1.0, -2.0, 3.0] + 4).certificate_
    assert certificate.verdict is Verdict.PROVED
    assert certificate.value == pytest.approx(0.0, abs=1e-26)
    assert certificate.lower_bound == 0.0


def test_wrong_coefficients_are_not_proved_and_the_gap_is_their_excess() -> None:
    X, y = normal_table(30, 3)
    design = Design.of(LinearRegression().statistics(X, y), True)
    solution = solve(design, np.zeros(1))
    best = objective(design, solution.coef, solution.alpha)
    solution.coef[0, 0] += 0.01
    certificate = certify(design, solution, 0.0)
    assert certificate.verdict is Verdict.WITHIN_TOLERANCE
    excess = objective(design, solution.coef, solution.alpha) - best
    # The gap also holds the rounding of a value of 30: about 1e-12.
    assert certificate.gap == pytest.approx(excess, rel=1e-8)
    assert certificate.distance_bound == pytest.approx(0.01, rel=1e-9)
    assert certificate.residual == pytest.approx(
        np.linalg.norm(half_gradient(design, solution.coef, solution.alpha))
    )


def test_missing_rank_is_said() -> None:
    X, y = normal_table(20, 2)
    certificate = LinearRegression().fit(np.column_stack([X, X[:, 0], np.ones(20)]), y).certificate_
    assert certificate.details["rank"] == 2
    assert certificate.details["columns"] == 4
    assert "minimum norm: 2 of 4 directions" in str(certificate.details["solution"])
    assert "minimum norm" in repr(certificate)
    # Data that differ by rounding alone may have any solution: no distance is promised.
    assert certificate.distance_bound is None
    penalized = Ridge().fit(np.column_stack([X, X[:, 0]]), y).certificate_
    assert "solution" not in penalized.details
    assert penalized.distance_bound is not None
    assert "solution" not in LinearRegression().fit(X, y).certificate_.details


@given(integer_tables(max_columns=4), st.booleans())
def test_non_negative_fits_satisfy_their_conditions(
    table: tuple[Floats, Floats, Floats], intercept: bool
) -> None:
    """Karush, Kuhn and Tucker on the rows: no step along a column helps, none back either."""
    X, y, _ = table
    model = LinearRegression(positive=True, fit_intercept=intercept).fit(X, y)
    gradient = X.T @ (y - model.predict(X))
    size = np.linalg.norm(X) * np.linalg.norm(y) + 1e-300
    assert (model.coef_ >= 0).all()
    assert (gradient <= 1e-9 * size).all()
    assert np.abs(gradient[model.coef_ > 0]).max(initial=0.0) <= 1e-9 * size
    assert model.certificate_.verdict is Verdict.PROVED
    assert model.certificate_.objective.endswith("with coef >= 0")


def test_wrong_non_negative_coefficients_are_not_proved() -> None:
    X, y = normal_table(20, 2)
    design = Design.of(LinearRegression().statistics(X, y), True)
    solution = solve(design, np.zeros(1), positive=True)
    assert certify_non_negative(design, solution, 0.0).verdict is Verdict.PROVED
    solution.coef[1, 0] = 0.0
    certificate = certify_non_negative(design, solution, 0.0)
    assert certificate.verdict is Verdict.WITHIN_TOLERANCE
    assert certificate.residual is not None
    assert certificate.residual > 1.0


def test_a_coefficient_kept_at_zero_for_no_reason_is_not_proved() -> None:
    design = Design.of(LinearRegression().statistics([[0.0], [1.0], [2.0]], [0.0, 1.0, 2.0]), True)
    solution = solve(design, np.zeros(1), positive=True)
    solution.coef[0, 0] = 0.0
    assert certify_non_negative(design, solution, 0.0).verdict is Verdict.WITHIN_TOLERANCE


def test_objectives_have_names() -> None:
    X, y = normal_table(20, 2)
    assert LinearRegression().fit(X, y).certificate_.objective == "residual sum of squares"
    assert "alpha |coef|^2" in Ridge().fit(X, y).certificate_.objective
    assert Ridge(alpha=0.0).fit(X, y).certificate_.objective == "residual sum of squares"


def test_no_column_after_coding() -> None:
    X = pd.DataFrame({"color": ["red"] * 5})
    certificate = LinearRegression().fit(X, [1.0, 2.0, 3.0, 4.0, 5.0]).certificate_
    assert certificate.value == pytest.approx(10.0)
    assert certificate.verdict is Verdict.PROVED
    assert certificate.details["columns"] == 0
