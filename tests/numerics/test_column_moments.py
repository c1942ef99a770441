"""Column moments: each column against its own present cells, both paths, sums and removals."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from novum.numerics import ColumnMoments, Floats, column_moments_of, moments_of
from novum.numerics import column_moments as module
from tests.oracles.exact_numerics import exact_moments

cells = st.one_of(st.just(np.nan), st.floats(-1e6, 1e6).map(lambda x: round(x, 6)))
tables = st.integers(1, 10).flatmap(lambda n: hnp.arrays(np.float64, (n, 3), elements=cells))


@pytest.fixture(params=["numpy", "compiled"])
def path(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    limit = 10**18 if request.param == "numpy" else 0
    monkeypatch.setattr(module, "COMPILED_FROM_CELLS", limit)
    return request.param


def assert_exact(statistics: ColumnMoments, X: Floats, weights: Floats) -> None:
    for j, column in enumerate(X.T):
        present = ~np.isnan(column)
        if not present.any():
            assert statistics.weight[j] == statistics.mean[j] == statistics.scatter[j] == 0
            continue
        weight, [mean], [[scatter]] = exact_moments(
            column[present, None].tolist(), weights[present].tolist()
        )
        spread, size = float(scatter) ** 0.5, np.abs(column[present]).max()
        assert statistics.weight[j] == pytest.approx(float(weight), rel=1e-14)
        assert abs(statistics.mean[j] - float(mean)) <= 1e-12 * spread + 3e-16 * size
        assert abs(statistics.scatter[j] - float(scatter)) <= 1e-12 * (spread + 1e-14 * size) ** 2


def test_each_column_is_the_sample_of_its_present_cells(path: str) -> None:
    @given(tables, st.data())
    def check(X: Floats, data: st.DataObject) -> None:
        weights = data.draw(hnp.arrays(np.float64, len(X), elements=st.floats(0.01, 100.0)))
        assert_exact(column_moments_of(X, weights), X, weights)
        assert_exact(column_moments_of(X), X, np.ones(len(X)))

    assert path
    check()


def test_large_tables_agree_with_numpy(path: str) -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(30_000, 10)) * np.arange(1, 11) + 1e5
    X[rng.random(X.shape) < 0.1] = np.nan
    statistics = column_moments_of(X)
    assert path
    np.testing.assert_array_equal(statistics.weight, (~np.isnan(X)).sum(axis=0))
    # NumPy's own sums along the rows are right to about 1e-13 here.
    np.testing.assert_allclose(statistics.mean, np.nanmean(X, axis=0), rtol=1e-12)
    np.testing.assert_allclose(statistics.variance(), np.nanvar(X, axis=0), rtol=1e-11)


def test_both_paths_agree() -> None:
    rng = np.random.default_rng(1)
    X = rng.normal(size=(500, 8))
    X[rng.random(X.shape) < 0.2] = np.nan
    X[:, 3] = np.nan
    X[:, 4] = 0.1
    weights = rng.random(500)
    for plain, compiled in zip(
        module._numpy_block(X, weights), module._compiled_block(X, weights), strict=True
    ):
        np.testing.assert_allclose(plain, compiled, rtol=1e-12, atol=1e-15)


@given(tables, tables)
def test_sums_and_removals(A: Floats, B: Floats) -> None:
    a, b = column_moments_of(A), column_moments_of(B)
    both = a + b
    assert_exact(both, np.vstack([A, B]), np.ones(len(A) + len(B)))
    left = both - b
    np.testing.assert_array_equal(left.weight, a.weight)
    size = np.nanmax(np.abs(np.vstack([A, B])), initial=1.0)
    np.testing.assert_allclose(left.mean, a.mean, rtol=5e-16, atol=1e-28 * size)
    np.testing.assert_allclose(left.scatter, a.scatter, rtol=5e-16, atol=1e-27 * size**2)


@given(tables)
def test_weights_are_repetitions(X: Floats) -> None:
    twice = column_moments_of(np.vstack([X, X]))
    assert column_moments_of(X, np.full(len(X), 2.0)).isclose(twice, rtol=1e-12)
    assert (2 * column_moments_of(X)).isclose(twice, rtol=1e-12)
    extended = np.vstack([X, np.full(3, np.inf)])
    weights = [1.0] * len(X) + [0.0]
    assert column_moments_of(extended, weights).isclose(column_moments_of(X), rtol=1e-12)


@given(tables)
def test_zero_is_neutral(X: Floats) -> None:
    statistics, nothing = column_moments_of(X), ColumnMoments.zero(3)
    for same in (statistics + nothing, nothing + statistics, statistics - nothing):
        assert same.isclose(statistics, rtol=0)
    assert (statistics - statistics).isclose(nothing, rtol=0)
    assert (0 * statistics).isclose(nothing, rtol=0)


def test_without_missing_cells_it_is_the_diagonal() -> None:
    X = np.random.default_rng(0).normal(size=(100, 4)) + 1e8
    full, columns = moments_of(X), column_moments_of(X)
    np.testing.assert_allclose(columns.scatter, np.diagonal(full.scatter), rtol=1e-13)
    np.testing.assert_array_equal(columns.mean, full.mean)


def test_isclose_notices_a_difference() -> None:
    a = column_moments_of([[1.0, 2.0], [3.0, 5.0]])
    assert not a.isclose(column_moments_of([[1.0, 2.0], [3.0, 5.001]]))
    assert not a.isclose(ColumnMoments.zero(3))


def test_a_constant_column_is_exactly_constant(path: str) -> None:
    statistics = column_moments_of(np.full((999, 1), 0.1), np.linspace(0.1, 1, 999))
    assert path
    assert statistics.mean[0] == 0.1
    assert statistics.scatter[0] == 0.0


def test_variance_of_too_little_is_nan_and_no_warning() -> None:
    statistics = column_moments_of([[1.0, np.nan], [3.0, 1.0]])
    np.testing.assert_array_equal(statistics.variance(ddof=1), [2.0, np.nan])


@pytest.mark.parametrize(
    ("X", "message"),
    [
        ([[1.0, np.nan], [np.inf, np.nan]], "1 are infinite, the first at row 1, column 0"),
        ([[np.nan, 1e160], [0.0, -1e160]], "column 1 overflow"),
        ([[np.nan, 1e-170], [0.0, 2e-170]], "column 1 underflow"),
    ],
)
def test_what_cannot_be_represented_is_refused(
    X: list[list[float]], message: str, path: str
) -> None:
    assert path
    with pytest.raises(ValueError, match=message):
        column_moments_of(X)


def test_bad_arguments_are_named() -> None:
    a = column_moments_of([[1.0], [2.0]])
    with pytest.raises(ValueError, match="weight of 2 would become -1"):
        a - column_moments_of([[1.0]] * 3)
    with pytest.raises(ValueError, match="not among the rows"):
        column_moments_of([[1.0], [2.0], [3.0]]) - column_moments_of([[50.0], [-50.0]])
    with pytest.raises(ValueError, match="of 1 and of 2 columns"):
        a + column_moments_of([[1.0, 2.0]])
    with pytest.raises(ValueError, match="three arrays of shape"):
        ColumnMoments(np.zeros(2), np.zeros(1), np.zeros(1))
    with pytest.raises(ValueError, match="not negative"):
        ColumnMoments(np.array([-1.0]), np.zeros(1), np.zeros(1))
    with pytest.raises(ValueError, match="at least 0, got nan"):
        np.nan * a
