"""Rows measured with noise: the true features integrated out.

A row is seen as `x = t + e` with `e ~ N(0, N_i)` of known covariance, and the true row t of class k
as `N(m_k, C_k)`. Then

    p(x | k) = integral N(t; m_k, C_k) N(x; t, N_i) dt = N(x; m_k, C_k + N_i),

so noise of another size in every row costs a factorization per row and class, and noise that all
rows share costs one per class. A missing cell is noise without bound: its row and column of
`C_k + N_i` are replaced by those of the identity and its difference by zero, which leaves the
density of the present cells exactly.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from novum.core.errors import InputError
from novum.distributions import MatrixDensities
from novum.numerics import Floats, Mask

_LOG_2PI = float(np.log(2 * np.pi))

# Cells of the stack of matrices that is factored at once: 16 MB.
_STACK_CELLS = 2**21


def checked_noise(noise: ArrayLike, X: Floats) -> Floats:
    """Noise as variances (1, d) or (n, d), or as covariances (1, d, d) or (n, d, d).

    Parameters
    ----------
    noise : float, array (d,), (n, d), (1, d, d) or (n, d, d)
        A table is always variances, one row of them for each row of X.

    Raises
    ------
    InputError
        If the shape fits none of these, a variance is negative, or a covariance is not symmetric
        and positive semidefinite. Cells of missing features are not looked at.
    """
    n, d = X.shape
    values = np.asarray(noise, float)
    if values.ndim == 0:
        values = np.full((1, d), float(values))
    elif values.shape == (d,):
        values = values[None]
    if values.shape not in ((1, d), (n, d), (1, d, d), (n, d, d)):
        raise InputError(
            f"noise of shape {values.shape} fits neither variances ({d},) or ({n}, {d}) nor "
            f"covariances (1, {d}, {d}) or ({n}, {d}, {d}) of {n} rows and {d} columns."
        )
    missing = np.isnan(X) if len(values) == n else np.zeros((1, d), bool)
    if values.ndim == 2:
        good = (np.isfinite(values) & (values >= 0)) | missing
        if not good.all():
            row, column = np.argwhere(~good)[0]
            raise InputError(
                f"Noise variances are finite and at least 0; that of row {row}, column {column} is "
                f"{values[row, column]}."
            )
        return np.where(missing, 0.0, values)
    return _checked_covariances(np.where(_crossed(missing), 0.0, values))


def noisy_log_density(
    X: Floats, location: Floats, matrices: Floats, present: Mask, noise: Floats
) -> Floats:
    """`log N(x; m_k, C_k + N_i)` of every row and class (n, K).

    Parameters
    ----------
    X : array (n, d)
        NaN where missing.
    location : array (K, d)
    matrices : array (K, d, d)
    present : Boolean array (K,)
    noise : array
        As `checked_noise` returns it.
    """
    if len(noise) == 1:
        added = np.diag(noise[0]) if noise.ndim == 2 else noise[0]
        return MatrixDensities.normal(location, matrices + added, present).log_density(X)
    out = np.full((len(X), len(location)), -np.inf)
    height = max(1, _STACK_CELLS // X.shape[1] ** 2)
    for start in range(0, len(X), height):
        rows = slice(start, start + height)
        for k in np.flatnonzero(present):
            out[rows, k] = _one_class(X[rows], location[k], matrices[k], noise[rows])
    return out


def _one_class(X: Floats, mean: Floats, matrix: Floats, noise: Floats) -> Floats:
    missing = np.isnan(X)
    d = X.shape[1]
    stack = np.repeat(matrix[None], len(X), axis=0)
    if noise.ndim == 2:
        stack[:, np.arange(d), np.arange(d)] += noise
    else:
        stack += noise
    stack[_crossed(missing)] = 0.0
    stack[:, np.arange(d), np.arange(d)] += missing
    away = np.where(missing, 0.0, X - mean)
    unit = np.sqrt(np.einsum("ijj->ij", stack))
    root = np.linalg.cholesky(stack / unit[:, :, None] / unit[:, None, :])
    log_det = 2 * np.log(np.einsum("ijj->ij", root)).sum(axis=1) + 2 * np.log(unit).sum(axis=1)
    z = np.linalg.solve(root, (away / unit)[:, :, None])[:, :, 0]
    square = np.einsum("ij,ij->i", z, z)
    return -0.5 * ((d - missing.sum(axis=1)) * _LOG_2PI + log_det + square)


def _crossed(missing: Mask) -> Mask:
    """Cells of matrices (n, d, d) that lie in the row or column of a missing cell."""
    return missing[:, :, None] | missing[:, None, :]


def _checked_covariances(values: Floats) -> Floats:
    size = np.abs(values).max(axis=(1, 2), initial=0.0)
    odd = np.abs(values - values.transpose(0, 2, 1)).max(axis=(1, 2), initial=0.0)
    wrong = np.flatnonzero(~(np.isfinite(size) & (odd <= 1e-10 * size)))
    if wrong.size:
        raise InputError(
            f"Noise covariances are finite and symmetric; that of row {wrong[0]} is not. Give "
            "variances as a table (n, d) if columns are independent."
        )
    least = np.linalg.eigvalsh(values)[:, 0]
    negative = np.flatnonzero(least < -1e-10 * size)
    if negative.size:
        raise InputError(
            f"Noise covariances are positive semidefinite; that of row {negative[0]} has the "
            f"eigenvalue {least[negative[0]]:.6g}."
        )
    return (values + values.transpose(0, 2, 1)) / 2
