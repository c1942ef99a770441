"""Class moments: exact against fractions, merged and removed by label, and dealt by the kernel."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from novum.bayes import (
    LinearDiscriminantAnalysis,
    QuadraticDiscriminantAnalysis,
    gaussian_statistics,
)
from novum.bayes.gaussian import GaussianClassifier
from novum.bayes.gaussian_statistics import (
    GaussianStatistics,
    MissingCellsError,
    as_columns,
    class_rows,
    dealt_moments,
)
from novum.core.errors import InputError, MemoryLimitError, NotAdditiveError, SchemaError
from novum.core.tables import Sample
from novum.numerics import Array, Floats, moments_of
from tests.bayes.normal_classes import normal_classes, with_holes


def sums(X: Any, y: Any, weight: Any = None, covariance: str = "full") -> GaussianStatistics:
    found: GaussianStatistics = GaussianClassifier(covariance).statistics(X, y, weight)
    return found


def sample_of(X: Floats, y: Array, weight: Floats | None = None) -> Sample:
    return GaussianClassifier()._read(X, y, weight, None)


@st.composite
def tables(draw: st.DrawFn) -> tuple[Floats, Array, Floats]:
    n, d = draw(st.integers(1, 12)), draw(st.integers(1, 3))
    whole = st.integers(-20, 20).map(float)
    X = draw(hnp.arrays(np.float64, (n, d), elements=whole))
    y = draw(hnp.arrays(np.int64, (n,), elements=st.integers(0, 2)))
    weight = draw(hnp.arrays(np.float64, (n,), elements=st.integers(1, 3).map(float)))
    return X, y, weight


# --- The definition -------------------------------------------------------------------------------


@given(tables())
def test_moments_are_those_of_rational_arithmetic(table: tuple[Floats, Array, Floats]) -> None:
    X, y, weight = table
    found = sums(X, y, weight)
    by_column = sums(X, y, weight, "diagonal")
    for k, label in enumerate(found.classes):
        rows = [[Fraction(cell) for cell in row] for row in X[y == label]]
        w = [Fraction(amount) for amount in weight[y == label]]
        total = sum(w)
        mean = [
            sum(a * row[j] for a, row in zip(w, rows, strict=True)) / total
            for j in range(len(rows[0]))
        ]
        scatter = [
            [
                sum(
                    a * (row[i] - mean[i]) * (row[j] - mean[j])
                    for a, row in zip(w, rows, strict=True)
                )
                for j in range(len(mean))
            ]
            for i in range(len(mean))
        ]
        assert found.weight[k] == float(total)
        np.testing.assert_allclose(found.means[k], np.array(mean, float), rtol=1e-14, atol=1e-13)
        exact = np.array(scatter, float)
        np.testing.assert_allclose(found.scatters[k], exact, rtol=1e-12, atol=1e-11)
        np.testing.assert_allclose(
            by_column.scatters[k], np.diagonal(exact), rtol=1e-12, atol=1e-11
        )


@given(tables(), tables())
def test_sums_of_parts_come_off_again_by_label(
    a: tuple[Floats, Array, Floats], b: tuple[Floats, Array, Floats]
) -> None:
    d = min(a[0].shape[1], b[0].shape[1])
    first, second = sums(a[0][:, :d], a[1], a[2]), sums(b[0][:, :d], b[1], b[2])
    both = sums(
        np.vstack([a[0][:, :d], b[0][:, :d]]),
        np.concatenate([a[1], b[1]]),
        np.concatenate([a[2], b[2]]),
    )
    assert both.isclose(first + second)
    rest = both - second
    assert rest.classes.tolist() == first.classes.tolist()
    # Scatters have 16 digits, so what is left is known to that share of what was there.
    size = 1e-13 * np.abs(both.scatters).max()
    np.testing.assert_allclose(rest.means, first.means, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(rest.scatters, first.scatters, rtol=1e-12, atol=size)
    assert (both - both).rows == 0


def test_text_and_longer_text_unite() -> None:
    total = sums([[1.0], [2.0]], ["a", "b"]) + sums([[5.0]], ["longer"])
    assert total.classes.tolist() == ["a", "b", "longer"]
    assert total.weight.tolist() == [1, 1, 1]


# --- The kernel -----------------------------------------------------------------------------------


@pytest.mark.parametrize("weighted", [False, True])
def test_dealt_moments_are_the_moments(weighted: bool) -> None:
    X, y = normal_classes(5, 4, 700)
    weight = np.random.default_rng(0).integers(1, 4, len(y)).astype(float) if weighted else None
    found = dealt_moments(sample_of(X, y, weight))
    assert sorted(found) == [0, 1, 2, 3, 4]
    for k, part in found.items():
        w = None if weight is None else weight[y == k]
        assert part.isclose(moments_of(X[y == k], w), rtol=1e-12)


def test_the_kernel_is_what_large_tables_use(monkeypatch: pytest.MonkeyPatch) -> None:
    X, y = normal_classes(3, 3, 300)
    small = sums(X, y)
    monkeypatch.setattr(gaussian_statistics, "_DEALT_FROM_CELLS", 1)
    dealt = sums(X, y)
    assert dealt.isclose(small, rtol=1e-12)
    assert sums(np.asfortranarray(X), y).scatters.tobytes() == dealt.scatters.tobytes()
    with pytest.raises(MissingCellsError):
        sums(with_holes(X, 0.01), y)


def test_a_center_far_off_is_noticed_and_the_class_summed_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    rng = np.random.default_rng(0)
    # The head of the table is no guide to the rest of class 1, nor is there any of class 2.
    X = np.vstack([rng.normal(size=(1200, 2)), 1e6 + rng.normal(size=(9000, 2))])
    y = np.concatenate([np.arange(1200) % 2, 1 + np.arange(9000) % 2])
    found = dealt_moments(sample_of(X, y))
    assert sorted(found) == [0, 2]
    monkeypatch.setattr(gaussian_statistics, "_DEALT_FROM_CELLS", 1)
    for k, part in enumerate(sums(X, y).moments):
        assert part.isclose(moments_of(X[y == k]), rtol=1e-12)  # type: ignore[arg-type]


def test_rows_of_classes_come_in_order() -> None:
    X, y = normal_classes(3, 1, 4)
    sample = sample_of(X, y, np.arange(1.0, 13.0))
    for code, rows, weight in class_rows(sample):
        assert (y[rows] == code).all()
        assert (np.diff(rows) > 0).all()
        np.testing.assert_array_equal(weight, rows + 1.0)


# --- Missing cells, classes and refusals ----------------------------------------------------------


def test_columns_keep_their_own_weights() -> None:
    X = np.array([[1.0, np.nan], [3.0, np.nan], [np.nan, np.nan]])
    found = sums(X, [0, 0, 0], covariance="diagonal")
    assert found.weight.tolist() == [3.0]
    assert found.cell_weights.tolist() == [[2.0, 0.0]]
    assert found.means.tolist() == [[2.0, 0.0]]


def test_products_of_columns_with_missing_cells_are_no_sums() -> None:
    with pytest.raises(
        MissingCellsError, match="2 cells are missing, the first in column 1 at row 2"
    ):
        sums([[1.0, 2.0], [3.0, 4.0], [5.0, np.nan], [7.0, np.nan]], [0, 0, 1, 1])
    assert issubclass(MissingCellsError, NotAdditiveError)


def test_columns_of_products_are_their_diagonal() -> None:
    X, y = normal_classes(2, 3, 20)
    assert sums(X, y).columns_only().isclose(sums(X, y, covariance="diagonal"), rtol=1e-12)
    part = as_columns(sums(X, y).moments[0])
    assert as_columns(part) is part


def test_declared_classes_stay_and_undeclared_ones_are_named() -> None:
    found = sums([[1.0], [2.0]], ["a", "b"])
    more = found.with_classes(["c", "b", "a"])
    assert more.weight.tolist() == [1, 1, 0]
    assert more.isclose(found)
    assert (more - sums([[1.0]], ["a"])).classes.tolist() == ["b", "c"]
    with pytest.raises(InputError, match="the rows have 'b' too"):
        found.with_classes(["a"])
    with pytest.raises(InputError, match="different types"):
        found.with_classes([1, 2])


def test_what_does_not_fit_is_refused() -> None:
    one = sums([[1.0]], [0])
    with pytest.raises(InputError, match="never added: class 1"):
        one - sums([[1.0]], [1])
    with pytest.raises(InputError, match="never added"):
        one - sums([[1.0], [2.0]], [0, 0])
    with pytest.raises(InputError, match="different `covariance`"):
        one + sums([[1.0]], [0], covariance="diagonal")
    with pytest.raises(InputError, match="different types"):
        one + sums([[1.0]], ["a"])
    with pytest.raises(InputError, match="do not combine with a int"):
        one + 1  # type: ignore[operator]
    with pytest.raises(SchemaError):
        one + sums([[1.0, 2.0]], [0])
    with pytest.raises(InputError, match="need as many weights"):
        GaussianStatistics(one.schema, one.classes, np.zeros(2), one.moments, 1.0)


def test_squares_that_overflow_name_the_column() -> None:
    with pytest.raises(InputError, match="squares of column 0 overflow"):
        sums([[1e200], [-1e200]], [0, 0])


@pytest.mark.parametrize(
    "learner", [LinearDiscriminantAnalysis, QuadraticDiscriminantAnalysis, GaussianClassifier]
)
def test_wide_tables_are_refused_with_their_price(learner: type) -> None:
    """30 x 60,000 would need products of 29 GB a class; said before the first is made."""
    X = np.zeros((30, 60_000))
    with pytest.raises(MemoryLimitError, match=r"Products of 60000 columns.* needs .*PCA"):
        learner().fit(X, np.arange(30) % 2)
