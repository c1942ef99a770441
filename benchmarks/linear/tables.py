"""Regression tables with a reference solution that is more accurate than any peer's.

The reference solves `min |y - a - (X - c) b|^2 + penalty |b|^2` by iterative refinement: residuals
and gradients are summed in extended precision, the correction comes from a Cholesky factor in
double precision. Each step gains about `16 - log10(condition)` digits, so three steps are enough
for these tables (condition of the Gram matrix below 1e3).
"""

from __future__ import annotations

import numpy as np
from scipy.linalg import cho_factor, cho_solve

from benchmarks.recipes import Data, scratch_folder

BLOCK = 8192
STEPS = 4
# Parquet's row groups of at most 64k rows are what the memory promise speaks of.
ROW_GROUP = 65_536


def regression_table(n: int, p: int, seed: int = 0, penalty: float = 1.0) -> Data:
    """Correlated columns of unequal scale and offset, a linear target with noise.

    `coefficients` and `ridge_coefficients` (at `penalty`) are the references.
    """
    X, y = _rows(np.random.default_rng(seed), n, _teacher(p, seed))
    return Data(
        X=X,
        y=y,
        coefficients=refined(X, y),
        ridge_coefficients=refined(X, y, penalty),
    )


def regression_file(n: int, p: int, seed: int = 0) -> Data:
    """The same kind of table as a Parquet file with columns `x0`, `x1`, ... and `y`.

    The file is deleted with the data. Block sums added in extended precision give the reference;
    the columns are well conditioned, so it holds to about 1e-12.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    data = Data(names=[f"x{j}" for j in range(p)])
    data.path = str(scratch_folder(data, "bench-parquet-") / "table.parquet")
    schema = pa.schema([(name, pa.float64()) for name in (*data.names, "y")])
    rng, teacher = np.random.default_rng(seed), _teacher(p, seed)
    gram = np.zeros((p + 2, p + 2), np.longdouble)
    with pq.ParquetWriter(data.path, schema, compression="none") as writer:
        for start in range(0, n, ROW_GROUP):
            X, y = _rows(rng, min(ROW_GROUP, n - start), teacher)
            columns = [pa.array(X[:, j]) for j in range(p)] + [pa.array(y)]
            writer.write_table(pa.table(columns, schema=schema), row_group_size=ROW_GROUP)
            Z = np.column_stack([np.ones(len(y)), X - teacher["offset"], y])
            gram += Z.T @ Z
    solved = np.linalg.solve(gram[:-1, :-1].astype(float), gram[:-1, -1].astype(float))
    data.coefficients = solved[1:]
    return data


def refined(X: np.ndarray, y: np.ndarray, penalty: float = 0.0) -> np.ndarray:
    """Coefficients of least squares with a free intercept, refined in extended precision.

    Examples
    --------
    >>> X = np.array([[0.0], [1.0], [2.0], [3.0]])
    >>> refined(X, 2 * X[:, 0] + 1).round(12)
    array([2.])
    """
    center = X.mean(0)
    ridge = np.r_[0.0, np.full(X.shape[1], penalty)]
    gram = np.diag(ridge)
    for start in range(0, len(X), BLOCK):
        Z = _design(X[start : start + BLOCK], center)
        gram += Z.T @ Z
    factor = cho_factor(gram)
    b = np.zeros(X.shape[1] + 1, np.longdouble)
    for _ in range(STEPS):
        gradient = -ridge * b
        for start in range(0, len(X), BLOCK):
            Z = _design(X[start : start + BLOCK].astype(np.longdouble), center)
            gradient += Z.T @ (y[start : start + BLOCK] - Z @ b)
        b += cho_solve(factor, gradient.astype(float))
    return b[1:].astype(float)


def _design(X: np.ndarray, center: np.ndarray) -> np.ndarray:
    return np.column_stack([np.ones(len(X), X.dtype), X - center])


def _teacher(p: int, seed: int) -> dict[str, np.ndarray]:
    rng = np.random.default_rng(seed + 1)
    return {
        "mixing": np.eye(p) + 0.5 * rng.standard_normal((p, p)) / np.sqrt(p),
        "offset": rng.uniform(-3, 3, p),
        # Away from zero, so that an error relative to each coefficient means something.
        "slope": rng.uniform(0.5, 2.0, p) * rng.choice([-1.0, 1.0], p),
    }


def _rows(
    rng: np.random.Generator, n: int, teacher: dict[str, np.ndarray]
) -> tuple[np.ndarray, np.ndarray]:
    X = rng.standard_normal((n, len(teacher["slope"]))) @ teacher["mixing"]
    X += teacher["offset"]
    y = X @ teacher["slope"] + 2.0 + rng.standard_normal(n)
    return X, y
