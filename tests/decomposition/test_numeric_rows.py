"""The entrance of projections: which tables pass, and what is said to the others."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from scipy import sparse

from novum.core.errors import InputError, MissingValuesError
from novum.core.tables import Column, Kind, Schema
from novum.decomposition.numeric_rows import numeric_rows, numeric_sample
from novum.decomposition.pca import PCA


def test_columns_of_text_are_refused_with_advice() -> None:
    frame = pd.DataFrame({"age": [1.0, 2.0, 3.0], "color": ["red", "green", "red"]})
    tables = [frame, pl.from_pandas(frame), pa.Table.from_pandas(frame)]
    tables.append(frame.astype({"color": "category"}))
    for table in tables:
        with pytest.raises(
            InputError, match=r"PCA projects numbers, but column 'color' .* Leave the column out"
        ):
            numeric_sample(PCA(), table, None, None)


def test_nominal_columns_of_a_schema_are_refused() -> None:
    schema = Schema((Column("a"), Column("b", Kind.NOMINAL, (0, 1))))
    with pytest.raises(InputError, match="column 'b' holds categories"):
        numeric_sample(PCA(), np.array([[1.0, 0.0], [2.0, 1.0]]), None, schema)


def test_truth_values_are_numbers() -> None:
    flags = pd.DataFrame({"a": [True, False, True], "b": [0.5, 1.0, 2.0]})
    expected = [[1.0, 0.5], [0.0, 1.0], [1.0, 2.0]]
    assert numeric_sample(PCA(), flags, None, None).numeric.tolist() == expected


def test_arrays_share_a_schema() -> None:
    a = numeric_sample(PCA(), np.zeros((2, 7)), None, None)
    b = numeric_sample(PCA(), sparse.csr_matrix((3, 7)), None, None)
    assert a.schema is b.schema
    assert a.schema == Schema.of_array(7)


def test_missing_cells_are_allowed_only_where_asked() -> None:
    X = np.array([[1.0, np.nan]])
    assert np.isnan(numeric_sample(PCA(), X, None, None, allow_missing=True).numeric[0, 1])
    for table in (X, sparse.csr_matrix(X)):
        with pytest.raises(
            MissingValuesError,
            match=r"'x1' \(1, first at row 0\)\. PCA needs every cell\. Use novum\.decomp",
        ):
            numeric_sample(PCA(), table, None, None)


def test_rows_to_project_are_complete() -> None:
    model = PCA().fit([[1.0, 2.0], [3.0, 5.0]])
    assert numeric_rows(model, [[1, 2]]).tolist() == [[1.0, 2.0]]
    with pytest.raises(MissingValuesError, match=r"'x0' .*ProbabilisticPCA"):
        numeric_rows(model, [[1.0, 2.0], [np.nan, 1.0]])
    # Sums that overflow are no missing cells.
    assert numeric_rows(model, [[1e308, 1e308], [1e308, -1e308]]).shape == (2, 2)


@pytest.mark.parametrize("scale", [1e200, 1e-200])
@pytest.mark.parametrize("svd_solver", ["auto", "full", "covariance_eigh", "arpack", "randomized"])
@pytest.mark.parametrize("shape", [(30, 4), (6, 20)])
def test_squares_out_of_range_are_refused(
    shape: tuple[int, int], svd_solver: str, scale: float
) -> None:
    X = np.random.default_rng(0).normal(size=shape) * scale
    wrong = "(overflow|underflow|range of double precision).* (Divide|Multiply)"
    with pytest.raises(InputError, match=wrong):
        PCA(2, svd_solver=svd_solver, random_state=0).fit(X)
