"""Regression tables: the reference is right to more digits than any peer, the file is the table."""

from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import pytest

from benchmarks.linear.tables import ROW_GROUP, refined, regression_file, regression_table


def exact(X: np.ndarray, y: np.ndarray, penalty: int) -> list[Fraction]:
    """The normal equations in rational arithmetic, by Gauss-Jordan elimination."""
    p = X.shape[1]
    design = [[Fraction(1), *map(Fraction, map(float, row))] for row in X]
    target = [Fraction(float(value)) for value in y]
    rows: list[list[Any]] = [
        [sum(r[i] * r[j] for r in design) + (penalty if i == j > 0 else 0) for j in range(p + 1)]
        + [sum(r[i] * t for r, t in zip(design, target, strict=True))]
        for i in range(p + 1)
    ]
    for i in range(p + 1):
        pivot = rows[i][i]
        rows[i] = [value / pivot for value in rows[i]]
        for j in range(p + 1):
            if j != i:
                rows[j] = [a - rows[j][i] * b for a, b in zip(rows[j], rows[i], strict=True)]
    return [row[-1] for row in rows[1:]]


@pytest.mark.parametrize("penalty", [0, 3])
def test_the_reference_equals_rational_arithmetic(penalty: int) -> None:
    rng = np.random.default_rng(1)
    X = rng.standard_normal((40, 4)) * [1, 10, 0.1, 1] + [1e3, 0, 0, 5]
    y = X @ [1.0, 2.0, 3.0, 4.0] + rng.standard_normal(40)
    expected = [float(value) for value in exact(X, y, penalty)]
    # Two roundings to double at most.
    np.testing.assert_allclose(refined(X, y, float(penalty)), expected, rtol=4e-16)


def test_both_references_of_a_table_hold() -> None:
    data = regression_table(500, 6, seed=2, penalty=7.0)
    Z, t = data.X - data.X.mean(0), data.y - data.y.mean()
    ridge = np.linalg.solve(Z.T @ Z + 7.0 * np.eye(6), Z.T @ t)
    np.testing.assert_allclose(data.coefficients, np.linalg.lstsq(Z, t)[0], rtol=1e-11)
    np.testing.assert_allclose(data.ridge_coefficients, ridge, rtol=1e-11)


def test_the_file_holds_the_table_in_small_row_groups() -> None:
    data = regression_file(ROW_GROUP + 1_000, 3)
    file = pq.ParquetFile(data.path)
    groups = [file.metadata.row_group(i).num_rows for i in range(file.num_row_groups)]
    assert groups == [ROW_GROUP, 1_000]
    table = file.read()
    X = np.column_stack([table[name].to_numpy() for name in data.names])
    np.testing.assert_allclose(refined(X, table["y"].to_numpy()), data.coefficients, rtol=1e-11)


def test_the_file_goes_with_the_data() -> None:
    data = regression_file(10, 2)
    path = Path(data.path)
    assert path.exists()
    del data
    assert not path.parent.exists()
