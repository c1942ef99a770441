"""Numeric columns within classes: normal, or Student's t where the parameters are integrated out.

    normal      log p(x | k) = -log(2 pi v_kj) / 2 - (x - m_kj)^2 / (2 v_kj)
    Student's t log p(x | k) = c_kj - (df_k + 1) / 2 log(1 + (x - m_kj)^2 / (df_k s_kj^2))

A missing cell is integrated out: its factor is one. A class that has no cell of a column takes the
law of all classes together, and a column without any cell says nothing about any class.

Without a row of weight w its class has, of a column of weight W, mean m and scatter S,

    W' = W - w,    m' = m - w (x - m) / W',    S' = S - w (x - m)^2 W / W'.

References
----------
Murphy, "Conjugate Bayesian analysis of the Gaussian distribution", 2007, sections 3 and 6.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from novum.core.errors import ModelFileError
from novum.core.tables import Sample, Schema
from novum.distributions.classwise.class_moments import pooled
from novum.distributions.classwise.protocol import ClassSums, check_shapes, numeric_cells
from novum.distributions.univariate.normal import mean_after
from novum.distributions.univariate.student_t import student_t_log_density
from novum.numerics import ColumnMoments, Floats, Integers, Positions, as_argument

# Below this many terms (rows x columns x classes) NumPy takes less time than loading a kernel.
COMPILED_FROM_TERMS = 2**20

# Rows of one block: two blocks of 50 columns stay in a second-level cache.
BLOCK_ROWS = 2048

# Rows that stand on their side at a time, and terms of one call of the kernel.
_TURNED_ROWS = 256
_CALL_TERMS = 2**26

# Variances closer than this to the least variance of their column are fitted again.
_NEAR_FLOOR = 1e-6


# --- Normal ---------------------------------------------------------------------------------------


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

    @classmethod
    def estimate(cls, columns: Positions, sums: ClassSums, floors: Floats) -> GaussianBlock:
        """Maximum likelihood above a floor, a part (d,) of the column's variance over all rows."""
        moments = sums.moments_of(columns)
        whole = pooled(moments, sums.n_classes)
        variance_of_all = whole.variance()
        weight, mean, scatter = by_class(moments, sums.n_classes)
        present = weight > 0
        variance = np.where(present, scatter / np.where(present, weight, 1.0), variance_of_all)
        least = np.maximum(floors * variance_of_all, _unit(whole, floors))
        variance = np.maximum(variance, least)
        return cls(
            columns,
            np.where(present, mean, whole.mean),
            np.where(whole.weight == 0, np.inf, variance),
        )

    def log_prior(self) -> float:
        """Zero: the laws are those of largest likelihood."""
        return 0.0

    def log_likelihood(self, sample: Sample) -> Floats:
        """Sum over the columns, of shape (n, K)."""
        return normal_scores(numeric_cells(sample, self.columns), self.mean, self.variance)

    def contributions(self, sample: Sample) -> Floats:
        """Of each column, of shape (n, K, d)."""
        X = numeric_cells(sample, self.columns)
        return _normal_terms(X[:, np.newaxis], self.mean, *_halves(self.variance))

    def draw(self, labels: Positions, rng: np.random.Generator) -> Floats:
        """One row of cells for each class code; a column that says nothing is missing."""
        spread = np.sqrt(self.variance)[labels]
        drawn = self.mean[labels] + spread * rng.standard_normal(spread.shape)
        return np.where(np.isfinite(spread), drawn, np.nan)

    def check(self, schema: Schema, n_classes: int) -> None:
        """Refuses a block of a file that does not fit the model."""
        check_shapes(self.columns, schema, n_classes, self.mean, self.variance)
        if not (np.isfinite(self.mean).all() and (self.variance > 0).all()):
            raise ModelFileError("The model has means that are not finite, or no variances.")

    def leave_one_out(
        self, sample: Sample, sums: ClassSums, weight: Floats
    ) -> tuple[Floats, Floats]:
        """Scores of the rows by their own classes without them, and what is left of those."""
        moments = sums.moments_of(self.columns)
        of_all = pooled(moments, sums.n_classes).variance()
        limit = _NEAR_FLOOR * np.where(np.isnan(of_all), 0.0, of_all)
        parts = by_class(moments, sums.n_classes)
        # A least variance, or the law of all classes in place of an empty one, changes with every
        # row.
        known = (self.variance > limit) & (parts[0] > 0) & np.isfinite(self.variance)
        if not known.all():
            return np.zeros(sample.n_rows), np.zeros(sample.n_rows)
        X = numeric_cells(sample, self.columns)
        left = normals_without(X, sample.target, weight, *parts)
        present = ~np.isnan(X)
        share = np.where(present, np.minimum(left.scatter, left.weight), 1.0)
        share = np.where(present & ~(left.variance > limit), 0.0, share)
        return np.where(present, left.log_density, 0.0).sum(axis=1), share.min(axis=1)


def normal_scores(X: Floats, mean: Floats, variance: Floats) -> Floats:
    """Log-densities (n, K) of the present cells, summed over independent normal columns.

    Means and variances are (K, d); a column of infinite variance says nothing.
    """
    half, constant = _halves(variance)
    out = np.zeros((len(X), len(mean)))
    if X.size * len(mean) < COMPILED_FROM_TERMS:
        for k in range(len(mean)):
            out[:, k] = _normal_terms(X, mean[k], half[k], constant[k]).sum(axis=1)
        return out
    from novum.distributions.classwise.classwise_kernels import add_normal_scores

    means, halves, constants = map(as_argument, (mean, half, constant))
    # Eight cells more than a power of two: rows of the scratch do not share a cache set.
    scratch = np.empty((X.shape[1] + 1, _TURNED_ROWS + 8))[:, : _TURNED_ROWS + 8]
    height = max(_TURNED_ROWS, _CALL_TERMS // max(1, half.size))
    for start in range(0, len(X), height):
        rows = slice(start, start + height)
        add_normal_scores(as_argument(X[rows]), means, halves, constants, scratch, out[rows])
    return out


class NormalsWithout(NamedTuple):
    """Normal laws of the rows' own classes without the rows, cell by cell (n, d).

    `log_density` is that of the row, `weight` and `scatter` are the shares that are left.
    """

    log_density: Floats
    variance: Floats
    weight: Floats
    scatter: Floats


def normals_without(
    X: Floats, own: Integers, w: Floats, weight: Floats, mean: Floats, scatter: Floats
) -> NormalsWithout:
    """Every row of weight `w` taken out of its `own` class; sums of the classes are (K, d)."""
    before, squares = weight[own], scatter[own]
    left = before - w[:, np.newaxis]
    delta = X - mean[own]
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        rest = squares - w[:, np.newaxis] * delta**2 * before / left
        variance = rest / left
        density = -0.5 * np.log(2 * np.pi * variance)
        density = density - 0.5 * (delta * before / left) ** 2 / variance
        return NormalsWithout(density, variance, left / before, rest / squares)


def by_class(moments: ColumnMoments, n_classes: int) -> tuple[Floats, Floats, Floats]:
    """Weight, mean and scatter, each of shape (K, d)."""
    arrays = (moments.weight, moments.mean, moments.scatter)
    weight, mean, scatter = (array.reshape(n_classes, -1) for array in arrays)
    return weight, mean, scatter


def _halves(variance: Floats) -> tuple[Floats, Floats]:
    """`1 / (2 v)` and `-log(2 pi v) / 2`; zeros where a column says nothing."""
    known = np.isfinite(variance)
    finite = np.where(known, variance, 1.0)
    half = np.where(known, 0.5 / finite, 0.0)
    return half, np.where(known, -0.5 * np.log(2 * np.pi * finite), 0.0)


def _normal_terms(X: Floats, mean: Floats, half: Floats, constant: Floats) -> Floats:
    with np.errstate(over="ignore"):
        terms = constant - half * (X - mean) ** 2
    return np.where(np.isnan(X), 0.0, terms)


def _unit(whole: ColumnMoments, floors: Floats) -> Floats:
    """A variance for constant columns, in which all classes agree anyway; zero for others."""
    size = np.where(whole.mean == 0, 1.0, floors * whole.mean**2)
    return np.where(whole.scatter == 0, np.maximum(size, np.finfo(float).tiny), 0.0)


# --- Student's t ----------------------------------------------------------------------------------


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

    @classmethod
    def estimate(
        cls,
        columns: Positions,
        sums: ClassSums,
        strength: Floats,
        degrees_of_freedom: Floats,
        mean: Floats,
        variance: Floats,
    ) -> StudentTBlock:
        """The posterior predictive of a normal-gamma prior for each column, given its cells.

        The prior (d,) says what `strength` cells say about the mean and `degrees_of_freedom` cells
        about the variance; where its mean or variance is NaN, that of all rows stands in.
        """
        moments = sums.moments_of(columns)
        whole = pooled(moments, sums.n_classes)
        weight, means, scatter = by_class(moments, sums.n_classes)
        empty = whole.weight == 0
        spread = np.where(empty, 1.0, whole.variance())
        spread = np.where(spread > 0, spread, _unit(whole, np.full(spread.shape, 1e-9)))
        center = np.where(np.isnan(mean), whole.mean, mean)
        before = np.where(np.isnan(variance), spread, variance)
        away = np.where(weight > 0, means - center, 0.0)
        total, location, between = mean_after(center, strength, weight, away)
        df = degrees_of_freedom + weight
        squares = degrees_of_freedom * before + scatter + between
        scale = np.sqrt(squares / df * (1 + 1 / total))
        return cls(columns, df, location, np.where(empty & np.isnan(variance), np.inf, scale))

    def log_likelihood(self, sample: Sample) -> Floats:
        """Sum over the columns, of shape (n, K)."""
        X = numeric_cells(sample, self.columns)
        return student_t_scores(X, self.degrees_of_freedom, self.location, self.scale)

    def contributions(self, sample: Sample) -> Floats:
        """Of each column, of shape (n, K, d)."""
        X = numeric_cells(sample, self.columns)[:, np.newaxis]
        return _student_t_terms(X, self.degrees_of_freedom, self.location, self.scale)

    def draw(self, labels: Positions, rng: np.random.Generator) -> Floats:
        """One row of cells for each class code; a column that says nothing is missing."""
        scale = self.scale[labels]
        drawn = self.location[labels] + scale * rng.standard_t(self.degrees_of_freedom[labels])
        return np.where(np.isfinite(scale), drawn, np.nan)

    def check(self, schema: Schema, n_classes: int) -> None:
        """Refuses a block of a file that does not fit the model."""
        arrays = (self.degrees_of_freedom, self.location, self.scale)
        check_shapes(self.columns, schema, n_classes, *arrays)
        if not ((self.scale > 0).all() and (self.degrees_of_freedom > 0).all()):
            raise ModelFileError("The model has scales or degrees of freedom of zero or less.")


def student_t_scores(X: Floats, degrees: Floats, location: Floats, scale: Floats) -> Floats:
    """Log-densities (n, K) of the present cells, summed over independent Student t columns."""
    out = np.empty((len(X), len(location)))
    for start in range(0, len(X), BLOCK_ROWS):
        rows = slice(start, start + BLOCK_ROWS)
        for k in range(len(location)):
            terms = _student_t_terms(X[rows], degrees[k], location[k], scale[k])
            out[rows, k] = terms.sum(axis=1)
    return out


def _student_t_terms(X: Floats, degrees: Floats, location: Floats, scale: Floats) -> Floats:
    known = np.isfinite(scale)
    density = student_t_log_density(X, degrees, location, np.where(known, scale, 1.0))
    # A sum is NaN where a cell is missing.
    if known.all() and not np.isnan(np.sum(density)):
        return density
    return np.where(known & ~np.isnan(X), density, 0.0)
