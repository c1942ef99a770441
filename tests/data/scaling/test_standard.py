"""StandardScaler: another implementation, rational arithmetic, groups, offsets and constants."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from scipy import sparse
from sklearn.base import clone
from sklearn.preprocessing import StandardScaler as OtherScaler

from novum.core.errors import InputError
from novum.data.scaling import CenterThenUnitLength, MinMaxScaler, StandardScaler
from novum.numerics import Floats
from tests.data.scaling.tables import normal_table, small_tables


@pytest.mark.parametrize("with_mean", [True, False])
@pytest.mark.parametrize("with_std", [True, False])
def test_another_implementation_agrees(with_mean: bool, with_std: bool) -> None:
    X, _ = normal_table()
    X[::7, 1] = np.nan
    weight = np.random.default_rng(0).uniform(0.5, 2.0, len(X))
    ours = StandardScaler(with_mean=with_mean, with_std=with_std).fit(X, sample_weight=weight)
    theirs = OtherScaler(with_mean=with_mean, with_std=with_std).fit(X, sample_weight=weight)
    np.testing.assert_allclose(ours.transform(X), theirs.transform(X), rtol=1e-12, atol=1e-12)
    for name in ("mean_", "var_", "scale_"):
        a, b = getattr(ours, name), getattr(theirs, name)
        assert (a is None) == (b is None)
        if a is not None:
            np.testing.assert_allclose(a, b, rtol=1e-12, atol=1e-12)
    if with_mean or with_std:
        np.testing.assert_allclose(ours.n_samples_seen_, theirs.n_samples_seen_, rtol=1e-12)
    back = ours.inverse_transform(ours.transform(X))
    np.testing.assert_allclose(back, X, rtol=1e-12)


@given(small_tables())
def test_it_is_its_definition(X: Floats) -> None:
    model = StandardScaler().fit(X)
    for j, column in enumerate(X.T):
        cells = [Fraction(cell) for cell in column[~np.isnan(column)].tolist()]
        if not cells:
            assert np.isnan(model.mean_[j])
            continue
        mean = sum(cells, Fraction(0)) / len(cells)
        variance = sum(((cell - mean) ** 2 for cell in cells), Fraction(0)) / len(cells)
        assert model.mean_[j] == pytest.approx(float(mean), rel=1e-14, abs=1e-15)
        assert model.var_[j] == pytest.approx(float(variance), rel=1e-13, abs=1e-15)


@given(small_tables(columns=3))
def test_a_group_has_the_moments_of_all_its_cells(X: Floats) -> None:
    model = StandardScaler(groups=[[0, 2]]).fit(X)
    cells = X[:, [0, 2]][~np.isnan(X[:, [0, 2]])]
    if cells.size:
        for j in (0, 2):
            assert model.mean_[j] == pytest.approx(cells.mean(), abs=1e-14)
            assert model.var_[j] == pytest.approx(cells.var(), abs=1e-13)
    alone = StandardScaler().fit(X[:, [1]])
    np.testing.assert_allclose(model.mean_[1], alone.mean_[0], atol=1e-15)


def test_a_column_without_cells_takes_the_scale_of_its_group() -> None:
    model = StandardScaler(groups="all").fit([[1.0, np.nan], [3.0, np.nan]])
    assert model.transform([[2.0, 3.0]]).tolist() == [[0.0, 1.0]]


def test_rounding_is_no_spread() -> None:
    X = np.full((10, 1), 0.1) + 1e8
    X[::2] = np.nextafter(X[::2], np.inf)
    model = StandardScaler().fit(X)
    assert model.certificate_.details["constant_columns"] == 1
    assert model.scale_.tolist() == [1.0]
    spread = StandardScaler().fit(np.array([[1e8], [1e8 + 1e-4]]))
    np.testing.assert_allclose(np.abs(spread.transform([[1e8]])), 1.0, rtol=1e-3)


def test_squares_that_no_number_holds_are_refused_by_column() -> None:
    with pytest.raises(InputError, match=r"squares of column 0 overflow.*power of two"):
        StandardScaler().fit([[1e200], [-1e200]])


def test_parameters_are_checked() -> None:
    with pytest.raises(ValueError, match="with_mean"):
        StandardScaler(with_mean="yes").fit([[1.0]])  # type: ignore[arg-type]
    with pytest.raises(InputError, match="no such column"):
        StandardScaler(groups=[[5]]).fit([[1.0]])


# --- Sparse rows and float32 ----------------------------------------------------------------------


def few_cells() -> np.ndarray:
    rng = np.random.default_rng(3)
    cells = np.where(rng.random((60, 5)) < 0.3, 1e3 + 10 * rng.normal(size=(60, 5)), 0.0)
    cells[4, 1] = np.nan
    cells[:, 4] = 0.0
    return cells


@pytest.mark.parametrize("form", [sparse.csr_matrix, sparse.csc_matrix, sparse.csr_array])
@pytest.mark.parametrize("weighted", [False, True])
def test_sparse_rows_stay_sparse_without_centering(form: Any, weighted: bool) -> None:
    cells = few_cells()
    weight = np.random.default_rng(0).integers(0, 3, 60).astype(float) if weighted else None
    X = form(cells)
    model = StandardScaler(with_mean=False).fit(X, sample_weight=weight)
    dense = StandardScaler(with_mean=False).fit(cells, sample_weight=weight)
    theirs = OtherScaler(with_mean=False).fit(X, sample_weight=weight)
    for other in (dense, theirs):
        np.testing.assert_allclose(model.scale_, other.scale_, rtol=1e-12)
        np.testing.assert_allclose(model.mean_, other.mean_, rtol=1e-12)
    found = model.transform(X)
    assert sparse.issparse(found)
    assert found.nnz == X.nnz
    np.testing.assert_allclose(found.toarray(), dense.transform(cells), rtol=1e-12)
    np.testing.assert_allclose(model.inverse_transform(found).toarray(), cells, rtol=1e-12)
    assert X.toarray()[0, 0] == cells[0, 0]


def test_sparse_parts_add_and_come_off() -> None:
    X = sparse.csr_matrix(few_cells())
    whole = StandardScaler(with_mean=False).fit(X)
    parts = StandardScaler(with_mean=False).partial_fit(X[:20]).partial_fit(X[20:])
    np.testing.assert_allclose(parts.scale_, whole.scale_, rtol=1e-12)
    rest = parts.forget(X[20:])
    expected = StandardScaler(with_mean=False).fit(X[:20])
    np.testing.assert_allclose(rest.scale_, expected.scale_, rtol=1e-9)


@pytest.mark.parametrize("scaler", [StandardScaler(), MinMaxScaler(), CenterThenUnitLength()])
def test_centering_of_sparse_rows_is_refused_with_the_remedy(scaler: Any) -> None:
    X = sparse.csr_matrix(few_cells())
    with pytest.raises(InputError, match=r"Cannot center sparse.*with_mean=False"):
        scaler.fit(X)
    dense = clone(scaler).fit(few_cells())
    with pytest.raises(InputError, match="Cannot center sparse"):
        dense.transform(X)


@pytest.mark.parametrize("scaler", [StandardScaler(), MinMaxScaler(), CenterThenUnitLength()])
def test_float32_gives_float32(scaler: Any) -> None:
    X = np.random.default_rng(0).normal(size=(20, 3))
    single = X.astype(np.float32)
    model = scaler.fit(single)
    assert model.transform(single).dtype == np.float32
    assert model.transform(X).dtype == np.float64
    np.testing.assert_allclose(
        model.transform(single), model.transform(single.astype(float)), rtol=1e-6, atol=1e-7
    )
    sparse_scaler = StandardScaler(with_mean=False)
    assert sparse_scaler.fit_transform(sparse.csr_matrix(single)).dtype == np.float32


def test_a_sparse_column_without_zeros_is_constant_under_any_weights() -> None:
    X = sparse.csr_matrix(np.full((30, 2), 100.0))
    weight = np.random.default_rng(0).uniform(0.1, 2.0, 30)
    model = StandardScaler(with_mean=False).fit(X, sample_weight=weight)
    assert model.scale_.tolist() == [1.0, 1.0]
    assert model.transform(X, copy=True).toarray().max() == 100.0
