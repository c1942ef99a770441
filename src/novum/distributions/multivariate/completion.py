"""Moments of rows whose missing cells are completed by a normal law.

With mean m and covariance C, a row with present columns o and missing columns u has

    E[x_u | x_o] = m_u + C_uo C_oo^-1 (x_o - m_o),      Cov[x_u | x_o] = C_uu - C_uo C_oo^-1 C_ou.

Mean and scatter of rows completed by these means, with the sum of these covariances, are the
expected moments of the complete rows: the E-step of every law that is estimated from moments. Rows
of one pattern of missing cells share one factorization.

Reference: Little and Rubin, Statistical Analysis with Missing Data, 3rd ed., 2019, section 11.2.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike

from novum.core.errors import InputError
from novum.distributions.multivariate.coordinates import checked_table, rows_by_pattern
from novum.distributions.multivariate.positive_definite import DefiniteRoot, definite_root
from novum.numerics import Floats, Moments, Positions, column_moments_of, moments_of

# What else is asked of the present cells of rows: squared distances, for example.
Present = Callable[[Positions, DefiniteRoot, Floats], None]


def completed(
    X: Floats, weights: Floats, mean: Floats, covariance: Floats, on_present: Present | None = None
) -> tuple[Floats, Floats]:
    """Rows with missing cells at their conditional means, and the sum of conditional covariances.

    Parameters
    ----------
    X : array (n, d)
    weights : array (n,)
        Of the covariances.
    mean, covariance : arrays (d,), (d, d)
    on_present : callable, optional
        Told of every pattern its rows, the root of the covariance of the present columns, and the
        present cells less their means.

    Examples
    --------
    >>> X = np.array([[1.0, np.nan], [3.0, 0.0]])
    >>> filled, rest = completed(X, np.ones(2), np.zeros(2), np.array([[4.0, 2.0], [2.0, 3.0]]))
    >>> filled.tolist(), rest.tolist()
    ([[1.0, 0.5], [3.0, 0.0]], [[0.0, 0.0], [0.0, 2.0]])
    """
    filled, rest = X.copy(), np.zeros_like(covariance)
    for rows, present in rows_by_pattern(np.isnan(X)):
        missing = np.setdiff1d(np.arange(X.shape[1]), present)
        away = X[np.ix_(rows, present)] - mean[present]
        inner = covariance[np.ix_(missing, missing)]
        if present.size:
            root = definite_root(covariance[np.ix_(present, present)], "The covariance of a law")
            if on_present is not None:
                on_present(rows, root, away)
            cross = root.whitened(covariance[np.ix_(missing, present)])
            filled[np.ix_(rows, missing)] = mean[missing] + root.whitened(away) @ cross.T
            inner = inner - cross @ cross.T
        else:
            filled[np.ix_(rows, missing)] = mean[missing]
        rest[np.ix_(missing, missing)] += weights[rows].sum() * inner
    return filled, rest


def completed_moments(
    x: ArrayLike, weight: ArrayLike | None, mean: Floats, covariance: Floats, name: str
) -> Moments:
    """Expected moments of complete rows."""
    rows, weights = checked_table(x, weight, name)
    filled, rest = completed(rows, weights, mean, covariance)
    return moments_with(filled, weights, rest)


def moments_with(rows: Floats, weights: Floats, rest: Floats) -> Moments:
    """Moments of rows, with more scatter."""
    try:
        moments = moments_of(rows, weights)
    except ValueError as error:
        raise InputError(str(error)) from None
    return replace(moments, scatter=moments.scatter + rest)


def independent_columns(x: ArrayLike, weight: ArrayLike | None, name: str) -> tuple[Floats, Floats]:
    """Mean and diagonal covariance of the present cells: where completions start from."""
    rows, weights = checked_table(x, weight, name)
    try:
        columns = column_moments_of(rows, weights)
    except ValueError as error:
        raise InputError(str(error)) from None
    empty = np.flatnonzero(~(columns.weight > 0))
    if empty.size:
        raise InputError(f"{name} has no present cell in column {empty[0]} to be estimated from.")
    variance = columns.scatter / columns.weight
    # A constant column is completed by its constant, with hardly a spread.
    floor = np.where(variance > 0, variance, np.finfo(float).eps * np.maximum(columns.mean**2, 1.0))
    return columns.mean, np.diag(floor)
