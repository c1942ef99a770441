"""The fast route: the same fit as by QR where it is taken, and refused where it would harm."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from novum.linear import LinearRegression, Ridge
from novum.linear.least_squares import statistics
from novum.linear.least_squares.statistics import LeastSquaresStatistics, gram_statistics
from tests.linear.tables import certified_table, normal_table, sample_of


@pytest.fixture(autouse=True)
def _small_tables_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(statistics, "SMALLEST_CELLS", 0)
    monkeypatch.setattr(statistics, "_BLOCK_ROWS", 64)


@pytest.mark.parametrize("offset", [0.0, 1e4], ids=["plain", "centered"])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("targets", [1, 3])
def test_both_routes_agree(offset: float, weighted: bool, targets: int) -> None:
    X, y = normal_table(200, 4)
    X, Y = X + offset, np.column_stack([y, y**2, np.sin(y)])[:, :targets]
    weight = np.random.default_rng(0).uniform(0.5, 2, 200) if weighted else None
    sample = sample_of(X, Y, weight)
    fast, slow = gram_statistics(sample), LeastSquaresStatistics.of(sample)
    assert fast is not None
    assert fast.isclose(slow, rtol=1e-11)
    assert (fast.rows, fast.n_targets, fast.vector_target) == (200.0, targets, False)
    assert fast.weight == pytest.approx(slow.weight, rel=1e-14)


@pytest.mark.parametrize("model", [LinearRegression(), Ridge(alpha=3.0)], ids=["least", "ridge"])
def test_fits_agree_to_thirteen_digits(
    model: LinearRegression, monkeypatch: pytest.MonkeyPatch
) -> None:
    X, y = normal_table(300, 5)
    X = np.column_stack([X, X[:, 0] + 0.1 * X[:, 1] + 0.05 * np.cos(y)]) * [1, 1e6, 1e-6, 1, 1, 9]
    fast = model.fit(X, y)
    coef, intercept = fast.coef_, fast.intercept_
    errors = LinearRegression().fit(X, y).inference().standard_errors
    monkeypatch.setattr(statistics, "SMALLEST_CELLS", 2**60)
    assert gram_statistics(sample_of(X, y)) is None
    slow = model.fit(X, y)
    np.testing.assert_allclose(coef, slow.coef_, rtol=1e-13)
    assert intercept == pytest.approx(slow.intercept_, rel=1e-13)
    np.testing.assert_allclose(errors, LinearRegression().fit(X, y).inference().standard_errors,
                               rtol=1e-10)  # fmt: skip


def test_memory_order_does_not_matter() -> None:
    X, y = normal_table(300, 4)
    plain = gram_statistics(sample_of(X, y))
    other = gram_statistics(sample_of(np.asfortranarray(X), y))
    assert plain is not None
    assert other is not None
    assert plain.isclose(other, rtol=1e-14)


def test_ill_conditioned_tables_are_refused() -> None:
    X, y = normal_table(300, 3)
    for size in (1e-2, 1e-4, 1e-9, 0.0):
        close = np.column_stack([X, X[:, 0] + size * np.cos(y)])
        assert gram_statistics(sample_of(close, y)) is None
    # An offset that stays in the sums counts as ill conditioned too.
    drift = X + np.linspace(0, 1e6, 300)[:, np.newaxis]
    assert gram_statistics(sample_of(drift, y)) is None
    assert gram_statistics(sample_of(*certified_table("Longley"))) is None


@pytest.mark.parametrize("size", [1e160, 1e-170])
def test_squares_that_leave_the_doubles_are_refused(size: float) -> None:
    X, y = normal_table(300, 2)
    assert gram_statistics(sample_of(X * [1.0, size], y)) is None
    found = LinearRegression().fit(X * [1.0, size], y).coef_
    np.testing.assert_allclose(found * [1.0, size], LinearRegression().fit(X, y).coef_, rtol=1e-12)


def test_constant_columns_short_sparse_and_nominal_tables_go_by_qr() -> None:
    X, y = normal_table(300, 3)
    assert gram_statistics(sample_of(X, y)) is not None
    assert gram_statistics(sample_of(np.column_stack([X, np.ones(300)]), y)) is None
    assert gram_statistics(sample_of(X, np.full(300, 2.5))) is None
    assert gram_statistics(sample_of(X[:15], y[:15])) is None
    assert gram_statistics(sample_of(sparse.csr_array(X), y)) is None
    colors = pd.DataFrame({"x": X[:, 0], "color": np.where(X[:, 1] > 0, "red", "blue")})
    assert gram_statistics(sample_of(colors, y)) is None


def test_small_tables_are_left_to_extended_precision(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.undo()
    assert gram_statistics(sample_of(*normal_table(1000, 10))) is None
    assert gram_statistics(sample_of(*normal_table(30_000, 9))) is not None


def test_a_fast_fit_can_be_added_to_and_forgotten_from() -> None:
    X, y = normal_table(400, 3)
    model = LinearRegression().fit(X[:300], y[:300]).partial_fit(X[300:], y[300:])
    model.forget(X[:100], y[:100])
    np.testing.assert_allclose(
        model.coef_, LinearRegression().fit(X[100:], y[100:]).coef_, rtol=1e-10
    )
