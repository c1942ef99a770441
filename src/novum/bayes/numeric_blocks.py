"""Numeric columns within classes: normal, or Student's t where the parameters are integrated out.

    normal      log p(x | k) = -log(2 pi v_kj) / 2 - (x - m_kj)^2 / (2 v_kj)
    Student's t log p(x | k) = c_kj - (df_k + 1) / 2 log(1 + (x - m_kj)^2 / (df_k s_kj^2))

A missing cell is integrated out: its factor is one. A class that has no cell of a column takes the
law of all classes together, and a column without any cell says nothing about any class.

References
----------
Murphy, "Conjugate Bayesian analysis of the Gaussian distribution", 2007, sections 3 and 6.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import special

from novum.bayes.class_moments import pooled
from novum.bayes.column_models import StudentTColumn
from novum.core.errors import ModelFileError
from novum.core.schema import Schema
from novum.core.validation import Sample
from novum.numerics.column_moments import ColumnMoments
from novum.numerics.jit import as_argument

Floats = NDArray[np.float64]
Positions = NDArray[np.intp]

# Below this many terms (rows x columns x classes) NumPy takes less time than loading a kernel.
COMPILED_FROM_TERMS = 2**20

# Rows of a block that stand on their side at a time, and of one call of the kernel.
_BLOCK_ROWS = 256
_CALL_TERMS = 2**26


# --- Blocks ---------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class GaussianBlock:
    """Normal columns.

    Attributes
    ----------
    columns : array of shape (d,)
        Positions among the numeric columns.
    mean, variance : arrays of shape (K, d)
        An infinite variance marks a column that says nothing.
    """

    columns: Positions
    mean: Floats
    variance: Floats

    def log_likelihood(self, sample: Sample) -> Floats:
        """Sum over the columns, of shape (n, K)."""
        X = _cells(sample, self.columns)
        half, constant = self._terms()
        out = np.zeros((len(X), len(self.mean)))
        if X.size * len(self.mean) < COMPILED_FROM_TERMS:
            for k in range(len(self.mean)):
                out[:, k] = _normal_terms(X, self.mean[k], half[k], constant[k]).sum(axis=1)
            return out
        from novum.bayes.numeric_blocks_kernels import add_normal_scores

        means, halves, constants = map(as_argument, (self.mean, half, constant))
        # Eight cells more than a power of two: rows of the scratch do not share a cache set.
        scratch = np.empty((X.shape[1] + 1, _BLOCK_ROWS + 8))[:, : _BLOCK_ROWS + 8]
        height = max(_BLOCK_ROWS, _CALL_TERMS // max(1, half.size))
        for start in range(0, len(X), height):
            rows = slice(start, start + height)
            add_normal_scores(as_argument(X[rows]), means, halves, constants, scratch, out[rows])
        return out

    def contributions(self, sample: Sample) -> Floats:
        """Of each column, of shape (n, K, d)."""
        X = _cells(sample, self.columns)
        half, constant = self._terms()
        return _normal_terms(X[:, np.newaxis], self.mean, half, constant)

    def draw(self, labels: NDArray[np.intp], rng: np.random.Generator) -> Floats:
        """One row of cells for each class code; a column that says nothing is missing."""
        spread = np.sqrt(self.variance)[labels]
        drawn = self.mean[labels] + spread * rng.standard_normal(spread.shape)
        return np.where(np.isfinite(spread), drawn, np.nan)

    def check(self, schema: Schema, n_classes: int) -> None:
        """Refuses a block of a file that does not fit the model."""
        check_shapes(self.columns, schema, n_classes, self.mean, self.variance)
        if not (np.isfinite(self.mean).all() and (self.variance > 0).all()):
            raise ModelFileError("The model has means that are not finite, or no variances.")

    def _terms(self) -> tuple[Floats, Floats]:
        known = np.isfinite(self.variance)
        variance = np.where(known, self.variance, 1.0)
        half = np.where(known, 0.5 / variance, 0.0)
        return half, np.where(known, -0.5 * np.log(2 * np.pi * variance), 0.0)


@dataclass(frozen=True, eq=False)
class StudentTBlock:
    """Columns under Student's t.

    Attributes
    ----------
    columns : array of shape (d,)
        Positions among the numeric columns.
    degrees_of_freedom, location, scale : arrays of shape (K, d)
        An infinite scale marks a column that says nothing.
    """

    columns: Positions
    degrees_of_freedom: Floats
    location: Floats
    scale: Floats

    def log_likelihood(self, sample: Sample) -> Floats:
        """Sum over the columns, of shape (n, K)."""
        X = _cells(sample, self.columns)
        out = np.empty((len(X), len(self.location)))
        for k in range(len(self.location)):
            out[:, k] = self._log_density(X, k).sum(axis=1)
        return out

    def contributions(self, sample: Sample) -> Floats:
        """Of each column, of shape (n, K, d)."""
        X = _cells(sample, self.columns)
        return np.stack([self._log_density(X, k) for k in range(len(self.location))], axis=1)

    def draw(self, labels: NDArray[np.intp], rng: np.random.Generator) -> Floats:
        """One row of cells for each class code; a column that says nothing is missing."""
        scale = self.scale[labels]
        drawn = self.location[labels] + scale * rng.standard_t(self.degrees_of_freedom[labels])
        return np.where(np.isfinite(scale), drawn, np.nan)

    def check(self, schema: Schema, n_classes: int) -> None:
        """Refuses a block of a file that does not fit the model."""
        parts = (self.degrees_of_freedom, self.location, self.scale)
        check_shapes(self.columns, schema, n_classes, *parts)
        if not ((self.scale > 0).all() and (self.degrees_of_freedom > 0).all()):
            raise ModelFileError("The model has scales or degrees of freedom of zero or less.")

    def _log_density(self, X: Floats, k: int) -> Floats:
        df, location = self.degrees_of_freedom[k], self.location[k]
        known = np.isfinite(self.scale[k])
        scale = np.where(known, self.scale[k], 1.0)
        constant = special.gammaln((df + 1) / 2) - special.gammaln(df / 2)
        constant = constant - 0.5 * np.log(df * np.pi) - np.log(scale)
        ratio = (X - location) / scale
        # Beyond 1e150 the square overflows, and the one in 1 + r^2 / df is lost anyway.
        large = np.abs(ratio) > 1e150
        square = np.where(large, 0.0, ratio) ** 2 / df
        with np.errstate(divide="ignore"):
            tail = np.where(large, 2 * np.log(np.abs(ratio)) - np.log(df), np.log1p(square))
        density = constant - (df + 1) / 2 * tail
        return np.where(known & ~np.isnan(X), density, 0.0)


# --- Estimates ------------------------------------------------------------------------------------


def gaussian_block(
    columns: Positions, moments: ColumnMoments, n_classes: int, floors: Floats
) -> GaussianBlock:
    """Maximum likelihood above a floor, which is a part of the column's variance over all rows.

    Parameters
    ----------
    columns : array (d,)
    moments : ColumnMoments
        Of the `n_classes * d` pairs, class by class.
    floors : array (d,)
        Least variance of each column relative to its variance over all classes.
    """
    whole = pooled(moments, n_classes)
    variance_of_all = whole.variance()
    weight, mean, scatter = by_class(moments, n_classes)
    present = weight > 0
    variance = np.where(present, scatter / np.where(present, weight, 1.0), variance_of_all)
    least = np.maximum(floors * variance_of_all, _unit(whole, floors))
    variance = np.maximum(variance, least)
    empty = whole.weight == 0
    return GaussianBlock(
        columns,
        np.where(present, mean, whole.mean),
        np.where(empty, np.inf, variance),
    )


def student_block(
    columns: Positions,
    moments: ColumnMoments,
    n_classes: int,
    models: tuple[StudentTColumn, ...],
) -> StudentTBlock:
    """The posterior predictive of a normal-gamma prior for each column, given its cells."""
    whole = pooled(moments, n_classes)
    weight, mean, scatter = by_class(moments, n_classes)
    empty = whole.weight == 0
    spread = np.where(empty, 1.0, whole.variance())
    spread = np.where(spread > 0, spread, _unit(whole, np.full(spread.shape, 1e-9)))
    strength = np.array([model.strength for model in models])
    prior_df = np.array([model.degrees_of_freedom for model in models])
    pairs = [(model.mean, model.variance) for model in models]
    prior_mean = np.where(
        [m is not None for m, _ in pairs], [m or 0.0 for m, _ in pairs], whole.mean
    )
    given = [v is not None for _, v in pairs]
    prior_variance = np.where(given, [v or 1.0 for _, v in pairs], spread)
    total, df = strength + weight, prior_df + weight
    offset = np.where(weight > 0, mean - prior_mean, 0.0)
    squares = prior_df * prior_variance + scatter + strength * weight / total * offset**2
    scale = np.sqrt(squares / df * (1 + 1 / total))
    nothing_known = empty & ~np.array(given)
    return StudentTBlock(
        columns,
        df,
        prior_mean + weight / total * offset,
        np.where(nothing_known, np.inf, scale),
    )


def by_class(moments: ColumnMoments, n_classes: int) -> tuple[Floats, Floats, Floats]:
    """Weight, mean and scatter, each of shape (K, d)."""
    parts = (moments.weight, moments.mean, moments.scatter)
    weight, mean, scatter = (part.reshape(n_classes, -1) for part in parts)
    return weight, mean, scatter


def _unit(whole: ColumnMoments, floors: Floats) -> Floats:
    """A variance for constant columns, in which all classes agree anyway; zero for others."""
    size = np.where(whole.mean == 0, 1.0, floors * whole.mean**2)
    return np.where(whole.scatter == 0, np.maximum(size, np.finfo(float).tiny), 0.0)


def check_shapes(columns: Positions, schema: Schema, n_classes: int, *parts: Floats) -> None:
    """Refuses parts that are not (n_classes, number of columns), or columns out of range."""
    n_numeric = schema.numeric.size
    if columns.ndim != 1 or ((columns < 0) | (columns >= n_numeric)).any():
        raise ModelFileError(f"The model names columns out of range: it has {n_numeric} numeric.")
    for part in parts:
        if part.shape != (n_classes, columns.size) or np.isnan(part).any():
            raise ModelFileError(
                f"The model has a table of shape {part.shape} for {n_classes} classes and "
                f"{columns.size} columns, or one with NaN."
            )


def _normal_terms(X: Floats, mean: Floats, half: Floats, constant: Floats) -> Floats:
    with np.errstate(over="ignore"):
        terms = constant - half * (X - mean) ** 2
    return np.where(np.isnan(X), 0.0, terms)


def _cells(sample: Sample, columns: Positions) -> Floats:
    X: Floats = sample.numeric
    return X if columns.size == X.shape[1] else X[:, columns]
