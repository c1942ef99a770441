"""Learners as functions of weights: values by a generic solver and closed forms, slopes by gaps."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from novum.kernels.vectors.gaussian import Gaussian
from novum.kernels.vectors.linear import Linear
from novum.numerics import Floats
from novum.svm.combination.multiple_kernel import (
    MachineProblem,
    RidgeProblem,
    WeightedRows,
    kept_parts,
    square_of,
)
from novum.svm.solver import problems
from novum.svm.solver.problem import Stopping
from tests.oracles.svm_definitions import interior_point

KERNELS = (Linear(), Gaussian(1.0), Gaussian(0.3))


def parts_of(X: Floats) -> tuple[Any, ...]:
    return tuple(kernel.prepare(X) for kernel in KERNELS)


def table(n: int = 24) -> tuple[Floats, Floats]:
    X = np.random.default_rng(0).normal(size=(n, 2))
    return X, np.where((X**2).sum(axis=1) > 1.4, 1.0, -1.0)


def combined(X: Floats, d: Floats) -> Floats:
    return sum(w * kernel.gram(X) for w, kernel in zip(d, KERNELS, strict=True))


def test_weighted_rows_are_the_weighted_sum() -> None:
    X, _ = table()
    d = np.array([0.5, 0.0, 2.0])
    rows = WeightedRows(parts_of(X), tuple(d))
    K = combined(X, d)
    np.testing.assert_allclose(rows.gram(), K, atol=1e-12)
    np.testing.assert_allclose(rows.diagonal(), np.diagonal(K), atol=1e-12)
    np.testing.assert_allclose(rows.take([3, 1]).cross(rows), K[[3, 1]], atol=1e-12)
    assert rows.cross(rows, np.float32).dtype == np.float32
    assert len(rows) == len(X)


def test_matrices_are_kept_only_where_they_fit(monkeypatch: pytest.MonkeyPatch) -> None:
    X, _ = table()
    parts = parts_of(X)
    kept = kept_parts(parts)
    for one, other in zip(kept, parts, strict=True):
        np.testing.assert_allclose(one.gram(), other.gram())
        assert type(one) is not type(other)
    monkeypatch.setenv("NOVUM_MEMORY_LIMIT", "1kB")
    assert kept_parts(parts) == parts


def test_squares_in_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    X, _ = table()
    b = np.random.default_rng(1).normal(size=24) * (np.arange(24) % 3 > 0)
    expected = float(b @ Gaussian(1.0).gram(X) @ b)
    assert square_of(Gaussian(1.0).prepare(X), b) == pytest.approx(expected)
    monkeypatch.setattr("novum.svm.solver.row_cache._PIECE_ENTRIES", 20)
    assert square_of(Gaussian(1.0).prepare(X), b) == pytest.approx(expected)
    assert square_of(Gaussian(1.0).prepare(X), np.zeros(24)) == 0.0


@pytest.mark.parametrize("scales", [np.ones(3), np.array([0.5, 1.0, 3.0])])
def test_machines_have_the_value_of_a_generic_solver(scales: Floats) -> None:
    X, sign = table()
    program = problems.classification(sign, np.full(24, 2.0))
    evaluate = MachineProblem(
        parts_of(X), scales, [(np.arange(24), program)], Stopping(1e-9), 10**7
    )
    d = np.array([0.2, 0.5, 0.3])
    value = -interior_point(combined(X, d * scales), program).value
    found = evaluate(d)
    assert found.upper == pytest.approx(value, rel=1e-6)
    # The cut touches the value where it was made, and lies below it elsewhere.
    assert found.linear - found.squares @ d == pytest.approx(value, rel=1e-6)
    for other in (np.array([1.0, 0.0, 0.0]), np.array([0.0, 0.4, 0.6])):
        there = -interior_point(combined(X, other * scales), program).value
        assert found.linear - found.squares @ other <= there * (1 + 1e-9)


def test_several_programs_add_up() -> None:
    X, sign = table()
    whole = problems.classification(sign, np.ones(24))
    rows = np.arange(0, 24, 2)
    part = problems.classification(sign[rows], np.ones(12))
    d, ones = np.array([0.3, 0.3, 0.4]), np.ones(3)

    def of(programs: list[Any]) -> Any:
        return MachineProblem(parts_of(X), ones, programs, Stopping(1e-9), 10**7)(d)

    first, second = of([(np.arange(24), whole)]), of([(rows, part)])
    both = of([(np.arange(24), whole), (rows, part)])
    assert both.upper == pytest.approx(first.upper + second.upper, rel=1e-7)
    np.testing.assert_allclose(both.squares, first.squares + second.squares, rtol=1e-4)


def test_regression_has_two_variables_an_object() -> None:
    X, y = table()
    program = problems.regression(y, np.full(24, 2.0), 0.1)
    evaluate = MachineProblem(
        parts_of(X), np.ones(3), [(np.arange(24), program)], Stopping(1e-9), 10**7
    )
    d = np.array([0.2, 0.5, 0.3])
    found = evaluate(d)
    assert found.upper == pytest.approx(-interior_point(combined(X, d), program).value, rel=1e-6)
    assert found.linear - found.squares @ d == pytest.approx(found.upper, rel=1e-6)


def test_ridge_has_its_closed_form() -> None:
    X, _ = table()
    rng = np.random.default_rng(2)
    y, weight, alpha = rng.normal(size=(24, 2)), rng.uniform(0.5, 2.0, 24), 0.3
    evaluate = RidgeProblem(parts_of(X), np.array([1.0, 2.0, 0.5]), weight, y, alpha)

    def value(d: Floats) -> float:
        system = combined(X, d * [1.0, 2.0, 0.5]) + alpha * np.diag(1 / weight)
        return alpha * float((y * np.linalg.solve(system, y)).sum())

    d = np.array([0.6, 0.1, 0.3])
    found = evaluate(d)
    assert found.upper == pytest.approx(value(d), rel=1e-10)
    assert found.linear - found.squares @ d == pytest.approx(value(d), rel=1e-10)
    for other in np.eye(3):
        assert found.linear - found.squares @ other <= value(other) + 1e-9
    # The slope is that of the value: J is smooth here.
    step = np.array([1e-5, -1e-5, 0.0])
    slope = (value(d + step) - value(d - step)) / 2
    assert -found.squares @ step == pytest.approx(slope, rel=1e-5)
