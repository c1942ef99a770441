"""Definiteness: exact pivots, inertia by construction, witnesses, units, stationary points."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from novum.numerics import (
    Floats,
    PointKind,
    Verdict,
    checked_symmetric,
    definiteness_of,
    stationary_point,
)
from tests.oracles.exact_numerics import pivots, quadratic_form

integers = st.integers(1, 4).flatmap(
    lambda n: hnp.arrays(np.float64, (n, n), elements=st.integers(-5, 5).map(float))
)


@given(integers)
def test_positive_definite_is_what_exact_pivots_say(B: Floats) -> None:
    A = B + B.T
    exact = pivots(A.tolist())
    is_positive = len(exact) == len(A) and all(pivot > 0 for pivot in exact)
    # Integer matrices of this size are never closer to singular than 1e-6.
    assert (definiteness_of(A).verdict is Verdict.POSITIVE_DEFINITE) == is_positive
    assert (definiteness_of(-A).verdict is Verdict.NEGATIVE_DEFINITE) == is_positive


@given(integers)
def test_the_witness_proves_the_verdict(B: Floats) -> None:
    A = B + B.T
    found = definiteness_of(A)
    if found.verdict is Verdict.ZERO:
        assert not A.any()
        return
    assert found.witness is not None
    assert found.value is not None
    exact = float(quadratic_form(A.tolist(), found.witness.tolist()))
    assert exact == pytest.approx(found.value, abs=1e-12)
    if found.verdict is Verdict.INDEFINITE:
        assert exact < 0
    elif "semi" in found.verdict.value:
        assert abs(exact) <= 2 * found.tolerance
    else:
        assert (exact > 0) == (found.verdict is Verdict.POSITIVE_DEFINITE)


@pytest.mark.parametrize(
    ("signs", "verdict"),
    [
        ([1, 2, 3], Verdict.POSITIVE_DEFINITE),
        ([0, 2, 3], Verdict.POSITIVE_SEMIDEFINITE),
        ([-1, -2, -3], Verdict.NEGATIVE_DEFINITE),
        ([0, 0, -3], Verdict.NEGATIVE_SEMIDEFINITE),
        ([-1, 0, 3], Verdict.INDEFINITE),
        ([0, 0, 0], Verdict.ZERO),
    ],
)
def test_inertia_is_recovered_after_a_rotation_in_any_units(
    signs: list[float], verdict: Verdict
) -> None:
    rng = np.random.default_rng(0)
    Q = np.linalg.qr(rng.normal(size=(3, 3)))[0]
    A = Q @ np.diag(signs) @ Q.T
    assert definiteness_of(A).verdict is verdict
    # Sylvester: the verdict survives other units of the variables and of the form.
    units = np.diag([1e-9, 1.0, 1e12])
    assert definiteness_of(units @ A @ units).verdict is verdict
    for factor in (2.0**-1000, 2.0**900):
        assert definiteness_of(factor * A).verdict is verdict


def test_a_zero_on_the_diagonal_with_anything_beside_it_is_indefinite() -> None:
    assert definiteness_of([[0, 1e-20], [1e-20, 1]]).verdict is Verdict.INDEFINITE
    assert definiteness_of([[0, 1], [1, 0]]).verdict is Verdict.INDEFINITE
    assert definiteness_of([[0, 0], [0, 1]]).verdict is Verdict.POSITIVE_SEMIDEFINITE


def test_the_smallest_numbers_are_not_lost() -> None:
    """Half of 5e-324 is zero, and the power of two that would bring it to 1 is infinite."""
    tiny = 5e-324
    assert definiteness_of([[0.0, tiny], [tiny, 0.0]]).verdict is Verdict.INDEFINITE
    assert definiteness_of([[tiny, 0.0], [0.0, 1.0]]).verdict is Verdict.POSITIVE_DEFINITE


def test_the_tolerance_decides_as_stated() -> None:
    A = [[1, 1 - 1e-6], [1 - 1e-6, 1]]
    assert definiteness_of(A).verdict is Verdict.POSITIVE_DEFINITE
    loose = definiteness_of(A, rtol=1e-5)
    assert loose.verdict is Verdict.POSITIVE_SEMIDEFINITE
    assert loose.eigenvalues == pytest.approx((1e-6, 2 - 1e-6))
    assert "within the tolerance 2e-05 counts as zero" in loose.reason


def test_reasons_say_what_was_seen() -> None:
    positive = definiteness_of([[2, 1], [1, 2]])
    assert "eigenvalues from 1 to 3, all further from zero" in positive.reason
    assert "on both sides of zero: x'Ax = -1" in definiteness_of([[1, 2], [2, 1]]).reason
    assert definiteness_of([[0.0]]).reason == "The matrix is zero."


@pytest.mark.parametrize(
    ("gradient", "hessian", "kind"),
    [
        ([0, 0], [[2, 0], [0, 1]], PointKind.MINIMUM),
        ([0, 1e-9], [[-2, 0], [0, -1]], PointKind.MAXIMUM),
        ([0, 0], [[2, 0], [0, -1]], PointKind.SADDLE),
        ([0, 0], [[2, 0], [0, 0]], PointKind.UNDECIDED),
        ([0, 0], [[0, 0], [0, 0]], PointKind.UNDECIDED),
        ([0, 1e-3], [[2, 0], [0, 1]], PointKind.NOT_STATIONARY),
    ],
)
def test_stationary_points(
    gradient: list[float], hessian: list[list[float]], kind: PointKind
) -> None:
    found = stationary_point(gradient, hessian)
    assert found.kind is kind
    assert found.gradient_norm == pytest.approx(np.linalg.norm(gradient))


def test_the_six_hump_camel_function() -> None:
    # f = (4 - 2.1 x^2 + x^4 / 3) x^2 + x y + 4 (y^2 - 1) y^2: the origin is a saddle, and the
    # global minimum lies at (0.0898420131, -0.7126564032) (Dixon and Szegoe, 1978).
    def derivatives(x: float, y: float) -> tuple[list[float], list[list[float]]]:
        gradient = [8 * x - 8.4 * x**3 + 2 * x**5 + y, x - 8 * y + 16 * y**3]
        return gradient, [[8 - 25.2 * x**2 + 10 * x**4, 1], [1, -8 + 48 * y**2]]

    assert stationary_point(*derivatives(0, 0)).kind is PointKind.SADDLE
    best = stationary_point(*derivatives(0.0898420131, -0.7126564032))
    assert best.kind is PointKind.MINIMUM
    assert "eigenvalues" in best.reason
    elsewhere = stationary_point(*derivatives(0.1, -0.7))
    assert elsewhere.kind is PointKind.NOT_STATIONARY
    assert "still falls" in elsewhere.reason


@pytest.mark.parametrize(
    ("A", "message"),
    [
        ([[1, 2], [3, 1]], r"entry \(0, 1\) is 2, entry \(1, 0\) is 3.*\(A \+ A\.T\) / 2"),
        ([[1, 2, 3]], r"square matrix, got shape \(1, 3\)"),
        (np.zeros((0, 0)), "square matrix"),
        ([[1, np.nan], [np.nan, 1]], "row 0, column 1 holds nan"),
    ],
)
def test_bad_matrices_are_named(A: list[list[float]], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        definiteness_of(A)


def test_a_gradient_of_another_length_is_refused() -> None:
    with pytest.raises(ValueError, match="2 finite numbers"):
        stationary_point([0, 0, 0], np.eye(2))


def test_rounding_between_the_triangles_is_averaged() -> None:
    symmetric = checked_symmetric([[1.0, 0.1 + 1e-14], [0.1, 1.0]])
    assert symmetric[0, 1] == symmetric[1, 0] == pytest.approx(0.1)
    assert np.isfinite(checked_symmetric([[1.7e308, 1.7e308], [1.7e308, 1.7e308]])).all()
