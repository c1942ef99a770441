"""Totals of count columns within every class, dense or sparse, and the scores of count models.

    N_kj = sum_i w_i x_ij [y_i = k]         scores_ik = sum_j x_ij b_jk

A column of occurrences counts `1[x_ij > threshold]` in place of `x_ij`. Cells of dense tables may
be missing: they add nothing to a total, and their weight is counted apart. A sparse table has no
place for a missing cell (absent means zero), so NaN in one is refused. So are negative counts.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from novum.core.errors import InputError, MissingValuesError
from novum.numerics import Floats, Integers, as_argument

# Below this many stored cells SciPy's product takes less time than loading a kernel.
COMPILED_FROM_CELLS = 2**18

# Stored cells of one call of the kernel: some milliseconds, so that Ctrl-C is never far.
_CALL_CELLS = 2**22


def class_totals(
    X: Any, classes: Integers, n_classes: int, weight: Floats | None, threshold: float | None = None
) -> tuple[Floats, Floats | None]:
    """Totals (n_classes, m), and the weight of missing cells likewise, None where there is none.

    Parameters
    ----------
    X : array or CSR matrix (n, m)
    classes, n_classes, weight
        As in `class_moments`.
    threshold : float, optional
        Counts the cells above it; without it cells are counts themselves.

    Examples
    --------
    >>> totals, missing = class_totals(np.array([[2.0, 0], [1, np.nan]]), np.array([0, 0]), 1, None)
    >>> totals.tolist(), missing.tolist()
    ([[3.0, 0.0]], [[0.0, 1.0]])
    """
    weights = np.ones(len(classes)) if weight is None else weight
    if sparse.issparse(X):
        return _sparse_totals(X, classes, n_classes, weights, threshold), None
    absent = np.isnan(X)
    cells = occurrences(X, threshold)
    members = np.zeros((n_classes, len(classes)))
    members[classes, np.arange(len(classes))] = weights
    if not absent.any():
        return members @ cells, None
    return members @ np.where(absent, 0.0, cells), members @ absent


def occurrences(X: Any, threshold: float | None) -> Any:
    """The cells to add up: counts, or ones where a cell exceeds the threshold; NaN stays."""
    if sparse.issparse(X):
        return _sparse_occurrences(X, threshold)
    if threshold is None:
        refuse_negative(X)
        return X
    return np.where(np.isnan(X), np.nan, threshold < X)


def scores(X: Any, weights: Floats, threshold: float | None = None) -> Floats:
    """`X @ weights` for counts or occurrences; `-inf` where an impossible event occurred.

    `weights` (m, K) may hold `-inf`, which counts only where the cell is not zero. Dense cells must
    be present.
    """
    impossible = np.isneginf(weights)
    if not impossible.any():
        return _product(X, weights, threshold)
    scores = _product(X, np.where(impossible, 0.0, weights), threshold)
    struck = _product(X, impossible.astype(float), threshold) > 0
    return np.where(struck, -np.inf, scores)


def refuse_negative(X: Any) -> None:
    """Refuses negative counts, and names the first."""
    cells = X.data if sparse.issparse(X) else X
    if cells.size == 0 or not np.nanmin(cells, initial=0.0) < 0:
        return
    table = X.tocoo() if sparse.issparse(X) else X
    negative = np.argwhere((table.data if sparse.issparse(X) else table) < 0)
    row, column = (
        (table.row[negative[0, 0]], table.col[negative[0, 0]])
        if sparse.issparse(X)
        else negative[0]
    )
    value = cells[tuple(negative[0])]
    raise InputError(
        f"Negative values in data: counts are at least 0, but row {row}, column {column} holds "
        f"{value} ({len(negative)} such cells in all). Pass counts, or use GaussianNB for numbers "
        "of either sign."
    )


# --- Sparse rows ----------------------------------------------------------------------------------


def _sparse_totals(
    X: Any, classes: Integers, n_classes: int, weights: Floats, threshold: float | None
) -> Floats:
    _check_threshold(threshold)
    X = _canonical(X, threshold)
    if X.nnz < COMPILED_FROM_CELLS:
        cells = occurrences(X, threshold)
        members = sparse.csr_matrix(
            (weights, (classes, np.arange(len(classes)))), (n_classes, len(classes))
        )
        return np.asarray((members @ cells).toarray())
    from novum.distributions.classwise.classwise_kernels import add_class_totals

    out = np.zeros((n_classes, X.shape[1]))
    for rows, data, columns, starts in _calls(X):
        bad = add_class_totals(
            data,
            columns,
            starts,
            as_argument(classes[rows], np.int64),
            as_argument(weights[rows]),
            0.0 if threshold is None else threshold,
            threshold is not None,
            out,
        )
        if bad >= 0:
            _refuse_cells(X, threshold)
    return out


def _sparse_scores(X: Any, weights: Floats, threshold: float | None) -> Floats:
    _check_threshold(threshold)
    X = _canonical(X, threshold)
    if X.nnz < COMPILED_FROM_CELLS:
        return np.asarray(occurrences(X, threshold) @ weights)
    from novum.distributions.classwise.classwise_kernels import add_sparse_scores

    out = np.zeros((X.shape[0], weights.shape[1]))
    table = as_argument(weights)
    for rows, data, columns, starts in _calls(X):
        limit = 0.0 if threshold is None else threshold
        binary = threshold is not None
        if add_sparse_scores(data, columns, starts, limit, binary, table, out[rows]) >= 0:
            _refuse_cells(X, threshold)
    return out


def _product(X: Any, weights: Floats, threshold: float | None) -> Floats:
    if sparse.issparse(X):
        return _sparse_scores(X, weights, threshold)
    return np.asarray(occurrences(X, threshold) @ weights)


def _calls(X: Any) -> Any:
    """Rows in calls of about `_CALL_CELLS` stored cells, with the arrays the kernels take."""
    columns = as_argument(X.indices, np.int32)
    data = as_argument(X.data)
    starts = as_argument(X.indptr, np.int64)
    height = max(1, int(_CALL_CELLS * X.shape[0] / max(1, X.nnz)))
    for first in range(0, X.shape[0], height):
        rows = slice(first, min(first + height, X.shape[0]))
        yield rows, data, columns, starts[rows.start : rows.stop + 1]


def _sparse_occurrences(X: Any, threshold: float | None) -> Any:
    if threshold is None or np.isnan(X.data).any():
        _refuse_cells(X, threshold)
    if threshold is None:
        return X
    _check_threshold(threshold)
    cells = (_canonical(X, threshold)).copy()
    cells.data = (cells.data > threshold).astype(float)
    return cells


def _canonical(X: Any, threshold: float | None) -> Any:
    """Counts of a cell that is stored in parts add up by themselves; comparisons need the sum."""
    if threshold is None or X.has_canonical_format:
        return X
    whole = X.copy()
    whole.sum_duplicates()
    return whole


def _check_threshold(threshold: float | None) -> None:
    if threshold is not None and threshold < 0:
        raise InputError(
            f"Cannot binarize a sparse matrix with threshold {threshold} < 0: every absent cell "
            "would become a one. Pass a dense array or a threshold of at least 0."
        )


def _refuse_cells(X: Any, threshold: float | None) -> None:
    missing = np.flatnonzero(np.isnan(X.data))
    if missing.size:
        row = int(np.searchsorted(X.indptr, missing[0], side="right")) - 1
        raise MissingValuesError(
            f"Input X contains NaN in a sparse matrix, {missing.size} in all, the first at row "
            f"{row}, column {X.indices[missing[0]]}. An absent cell of a sparse matrix is zero, "
            "not missing; pass a dense array if cells are missing."
        )
    if threshold is None:
        refuse_negative(X)
