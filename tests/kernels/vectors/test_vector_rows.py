"""Rows of numbers: what is read and what is refused, products in every form, kept conversions."""

from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from scipy import sparse

from novum.core.errors import InputError, MissingValuesError, SchemaError
from novum.core.tables import check_sample
from novum.kernels.protocol import Kernel
from novum.kernels.strings.spectrum import Spectrum
from novum.kernels.vectors.gaussian import Gaussian
from novum.kernels.vectors.linear import Linear
from novum.kernels.vectors.polynomial import Polynomial
from novum.kernels.vectors.vector_rows import (
    mirrored,
    products,
    read_vectors,
    squared_lengths,
)
from novum.linear import LinearRegression
from tests.strategies.vector_kernels import assert_prepared_rows_agree, matrices

ROWS = np.array([[1.0, 0.0], [0.5, -2.0]])


# --- Reading --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "given_rows",
    [
        ROWS,
        ROWS.astype(np.float32),
        np.asfortranarray(ROWS),
        ROWS.tolist(),
        pd.DataFrame(ROWS, columns=["a", "b"]),
        pl.DataFrame(ROWS, schema=["a", "b"]),
        ROWS.astype(object),
    ],
)
def test_every_container_gives_the_same_rows(given_rows: Any) -> None:
    rows = read_vectors(given_rows, "Linear")
    np.testing.assert_array_equal(rows, ROWS)
    assert rows.dtype == np.float64
    assert rows.flags.c_contiguous


@pytest.mark.parametrize("form", [sparse.csr_matrix, sparse.csc_array, sparse.coo_array])
def test_sparse_rows_stay_sparse(form: Any) -> None:
    rows = read_vectors(form(ROWS), "Linear")
    assert sparse.issparse(rows)
    assert rows.format == "csr"
    np.testing.assert_array_equal(rows.toarray(), ROWS)


def test_entries_that_a_sparse_matrix_repeats_are_summed() -> None:
    twice = sparse.csr_array((np.array([1.0, 2.0]), np.array([0, 0]), np.array([0, 2])))
    rows = read_vectors(twice, "Linear")
    assert squared_lengths(rows).tolist() == [9.0]


def test_new_rows_take_the_form_of_the_training() -> None:
    assert sparse.issparse(read_vectors(ROWS, "Linear", sparse.csr_array(ROWS)))
    assert isinstance(read_vectors(sparse.csr_array(ROWS), "Linear", ROWS), np.ndarray)


def test_nominal_columns_of_a_checked_sample_are_coded() -> None:
    learner = LinearRegression()
    sample = check_sample(learner, [[1.5, "a"], [2.5, "b"]], target="none")
    np.testing.assert_array_equal(read_vectors(sample, "Linear"), [[1.5, 0.0], [2.5, 1.0]])


@pytest.mark.parametrize(
    ("bad", "error", "message"),
    [
        ([[1.0, np.nan]], MissingValuesError, r"'x1' \(1, first at row 0\).*Linear needs every"),
        ([[1.0], [np.inf]], InputError, "infinity: column 'x0' has inf at row 1"),
        ([[-np.inf]], InputError, "has -inf at row 0"),
        (sparse.csr_array([[np.inf, 0.0]]), InputError, "infinity: column 'x0'"),
        (sparse.csr_array([[0.0, np.nan]]), MissingValuesError, "'x1'"),
        (np.empty((0, 2)), ValueError, "0 sample"),
        (np.empty((2, 0)), ValueError, "0 feature"),
        ([1.0, 2.0], ValueError, "Expected 2D array"),
        ([["a"]], SchemaError, "holds text here, .*'a'.* at row 0"),
        (pd.DataFrame({"c": ["u"]}), SchemaError, "Column 'c' is numeric, but holds"),
        ("text", InputError, "Expected 2D array, got X of type str"),
        ([[1.0], [1.0, 2.0]], InputError, "row 0 has 1 cells, row 1 has 2"),
    ],
)
def test_rows_that_are_none_are_refused(bad: Any, error: type, message: str) -> None:
    with pytest.raises(error, match=message):
        Linear().prepare(bad)


def test_other_columns_than_in_training_are_refused() -> None:
    with pytest.raises(InputError, match="X has 3 features, but the training rows have 2 features"):
        Linear().cross(ROWS, np.ones((1, 3)))
    with pytest.raises(InputError, match="rows of 2 numbers to compare with rows of 1"):
        Linear().prepare(ROWS).cross(Linear().prepare([[1.0]]))


# --- Products -------------------------------------------------------------------------------------


@given(matrices(), matrices())
def test_products_of_all_forms_are_the_sums(A: Any, B: Any) -> None:
    expected = np.array([[sum(a * b for a, b in zip(x, z, strict=True)) for z in B] for x in A])
    for left in (A, sparse.csr_array(A)):
        for right in (B, sparse.csr_array(B)):
            K = products(left, right)
            # Multiples of a quarter: every sum is exact.
            np.testing.assert_array_equal(K, expected)
            assert K.flags.c_contiguous


@given(matrices(), matrices())
def test_rows_agree_in_every_form(A: Any, B: Any) -> None:
    for form in (np.asarray, sparse.csr_array):
        assert_prepared_rows_agree(Linear(), form(A), form(B))


def test_mirroring_copies_the_lower_triangle() -> None:
    K = np.random.default_rng(0).normal(size=(700, 700))
    expected = np.tril(K) + np.tril(K, -1).T
    np.testing.assert_array_equal(mirrored(K), expected)


@pytest.mark.parametrize("kernel", [Linear(), Gaussian(3.0)], ids=str)
def test_conversions_to_single_precision_are_made_once(kernel: Kernel) -> None:
    rows = kernel.prepare(np.random.default_rng(0).normal(size=(20, 3)))
    rows.cross(rows, np.float32)
    converted = rows.single
    part = rows.take(np.array([3, 1]))
    part.cross(rows, np.float32)
    assert rows.single is converted
    np.testing.assert_array_equal(vars(part)["single"], converted[[3, 1]])


def test_results_may_be_overwritten() -> None:
    rows = Linear().prepare(ROWS)
    for compute in (lambda: rows.cross(rows), rows.gram, rows.diagonal):
        compute()[...] = -1.0
    np.testing.assert_allclose(rows.gram(), ROWS @ ROWS.T)
    np.testing.assert_allclose(rows.diagonal(), [1.0, 4.25])


# --- Size -----------------------------------------------------------------------------------------


def test_rows_too_long_for_a_number_are_named() -> None:
    with pytest.raises(InputError, match=r"squared length of row 1 is inf.*Scale the columns"):
        Linear().prepare([[1.0], [1e200]])
    with pytest.raises(InputError, match=r"Polynomial\(degree=9.*row 0 is 1e\+40"):
        Polynomial(9).prepare([[1e20]])


def test_what_single_precision_cannot_hold_goes_through_double() -> None:
    rows = Linear().prepare([[3e18], [1e18]])
    np.testing.assert_allclose(rows.cross(rows, np.float32), rows.gram(), rtol=1e-6)
    with pytest.raises(InputError, match=r"up to 1e\+40, too large for single precision"):
        (far := Linear().prepare([[1e20]])).cross(far, np.float32)
    with pytest.raises(InputError, match="too large for single precision"):
        Linear().prepare([[1.0]]).cross(Linear().prepare([[1e39]]), np.float32)


def test_objects_that_are_no_rows_are_refused_in_plain_words() -> None:
    with pytest.raises(InputError, match=r"Gaussian compares rows of numbers.*: 'ab'"):
        (Spectrum(2) + Gaussian(1.0)).gram(["ab", "b"])
