"""Densities of K classes with full or shared matrices: normal, or Student t where variances are
not known exactly.

    log N(x)   = -1/2 (p log 2 pi + log|C| + q),                  q = (x - m)' C^-1 (x - m)
    log t_v(x) = log G((v+p)/2) - log G(v/2) - 1/2 (p log(v pi) + log|C|) - (v+p)/2 log(1 + q/v)

with p present columns. `C = R R'` in units of the columns' own deviations gives `q = |z|^2` with
`z = (x - m) A`, `A = R^-T`: one matrix product per class, and one for all classes together when
they share the matrix. A missing cell is integrated out exactly: what is left of the law is the same
law on the present columns, so rows are grouped by their pattern of missing cells.

The likeliest class needs fewer products. The part of `z` in any subspace bounds `|z|^2` from below,
and the subspace of the other classes' means tells most; a class whose bound already loses against
the full score of the best candidate is never finished.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import special

from novum.core.errors import InputError
from novum.distributions.classwise.numeric import BLOCK_ROWS
from novum.distributions.multivariate.coordinates import rows_by_pattern
from novum.numerics import Array, Floats, Mask, Positions, cached_property

Roots = tuple[Floats, Floats]

# Rows of one block and directions per class when classes are ruled out early.
_PRUNED_ROWS = 4096
_RANK = 3

# Linear scores lose the digits by which class means outdistance the spread; beyond this squared
# distance differences are taken directly.
_LINEAR_UP_TO = 1e5

_LOG_2PI = float(np.log(2 * np.pi))


@dataclass(frozen=True, eq=False)
class MatrixDensities:
    """Laws of K classes over d correlated columns.

    Attributes
    ----------
    location : array (K, d)
    matrices : array (K, d, d), or (1, d, d) if all classes share one
    roots : arrays (M, d, d) and (M,)
        `A` with `A A' = C^-1`, and `log|C|`, of each of the matrices.
    factor : array (K,)
        Multiplies the matrix of each class.
    degrees : array (K,)
        Degrees of freedom; infinite for normal laws.
    present : Boolean array (K,)
        Classes without rows have no density; theirs is zero everywhere.
    """

    location: Floats
    matrices: Floats
    roots: Roots
    factor: Floats
    degrees: Floats
    present: Mask

    @classmethod
    def normal(
        cls,
        location: Floats,
        matrices: Floats,
        present: Mask,
        roots: Roots | None = None,
    ) -> MatrixDensities:
        """Normal laws; a single matrix (d, d) is shared."""
        n_classes, d = location.shape
        square = matrices.reshape(-1, d, d)
        known = whiteners(square) if roots is None else roots
        limits = np.full(n_classes, np.inf)
        return cls(location, square, known, np.ones(n_classes), limits, present)

    @property
    def is_normal(self) -> bool:
        return bool(np.isinf(self.degrees).all())

    @property
    def is_shared(self) -> bool:
        return len(self.matrices) == 1 and len(self.location) > 1

    # Densities

    def log_density(self, X: Floats) -> Floats:
        """`log p(x | k)` of every row and class (n, K); missing cells are integrated out."""
        out = np.empty((len(X), len(self.location)))
        for rows, columns in missing_patterns(X):
            if columns is None:
                self._complete(X, rows, out)
            elif not columns.size:
                out[rows] = np.where(self.present, 0.0, -np.inf)
            else:
                part = X[rows][:, columns]
                out[rows] = self.marginal(columns).log_density(part)
        return out

    def marginal(self, columns: Array) -> MatrixDensities:
        """The law of some of the columns."""
        square = self.matrices[:, columns][:, :, columns]
        return MatrixDensities(
            self.location[:, columns],
            square,
            whiteners(square),
            self.factor,
            self.degrees,
            self.present,
        )

    def _complete(self, X: Floats, rows: Any, out: Floats) -> None:
        data = X if isinstance(rows, slice) else X[rows]
        block = out if isinstance(rows, slice) else np.empty((len(data), out.shape[1]))
        scratch = np.empty((2, min(BLOCK_ROWS, len(data)), data.shape[1]))
        with np.errstate(over="ignore"):
            for start, stop in _blocks(len(data)):
                self._squares(data[start:stop], block[start:stop], scratch[:, : stop - start])
        self._from_squares(block)
        if block is not out:
            out[rows] = block

    def _squares(self, X: Floats, out: Floats, scratch: Floats) -> None:
        """`q` of every row and class, before the factor."""
        A, _ = self.roots
        away, z = scratch
        if self.is_shared:
            places = (self.location - self._center) @ A[0]
            np.matmul(np.subtract(X, self._center, out=away), A[0], out=z)
            for k, place in enumerate(places):
                np.subtract(z, place, out=away)
                np.einsum("ij,ij->i", away, away, out=out[:, k])
            return
        for k, a in enumerate(A):
            np.matmul(np.subtract(X, self.location[k], out=away), a, out=z)
            np.einsum("ij,ij->i", z, z, out=out[:, k])

    def _from_squares(self, q: Floats) -> None:
        """Log densities in place of squares."""
        p = self.location.shape[1]
        _, log_det = self.roots
        constant = -0.5 * (log_det + p * np.log(self.factor))
        q /= self.factor
        if self.is_normal:
            q *= -0.5
            q += constant - 0.5 * p * _LOG_2PI
        else:
            v = self.degrees
            constant = constant + student_constant(v, p)
            np.log1p(np.divide(q, v, out=q), out=q)
            q *= -0.5 * (v + p)
            q += constant
        q[:, ~self.present] = -np.inf

    # The likeliest class

    def best(self, X: Floats, log_prior: Floats) -> Positions:
        """Class of largest `log p(x | k) + log_prior`; ties to the lowest."""
        if self.is_normal and not np.isnan(np.sum(X)):
            if self.is_shared and self.linear_scores_are_safe:
                return likeliest(self.linear_scores(X, log_prior))
            if not self.is_shared and 2 < len(self.location) <= 2**16 and len(X) >= 64:
                return self._pruned(X, log_prior)
        return likeliest(self.log_density(X) + log_prior)

    @cached_property
    def _center(self) -> Floats:
        return self.location[self.present].mean(axis=0)

    @cached_property
    def _linear(self) -> tuple[Floats, Floats]:
        """Coefficients (d, K) about the center, and half squared lengths (K,)."""
        A, _ = self.roots
        places = (self.location - self._center) @ A[0]
        return A[0] @ places.T, 0.5 * np.einsum("ij,ij->i", places, places)

    @property
    def linear_scores_are_safe(self) -> bool:
        return bool(self._linear[1][self.present].max() <= _LINEAR_UP_TO)

    def linear_scores(self, X: Floats, log_prior: Floats) -> Floats:
        """`log p(x | k) + log_prior` up to a term that all classes share."""
        coefficients, half_squares = self._linear
        offset = np.where(self.present, log_prior - half_squares, -np.inf)
        out = np.empty((len(X), len(offset)))
        scratch = np.empty((min(BLOCK_ROWS, len(X)), X.shape[1]))
        for start, stop in _blocks(len(X)):
            centered = np.subtract(X[start:stop], self._center, out=scratch[: stop - start])
            np.matmul(centered, coefficients, out=out[start:stop])
            out[start:stop] += offset
        return out

    @cached_property
    def _subspaces(self) -> tuple[Floats, Floats]:
        """Directions (d, r K) whose part of `z` bounds `|z|^2` best, and the means there (r K,).

        Column `i K + k` belongs to class k.
        """
        A, _ = self.roots
        n_classes, d = self.location.shape
        rank = min(_RANK, n_classes - 1, d)
        directions = np.empty((d, rank, n_classes))
        for k in range(n_classes):
            # Nearest classes count most: they are the ones to be told apart.
            away = np.delete((self.location - self.location[k]) @ A[k], k, axis=0)
            length = np.einsum("ij,ij->i", away, away)
            away /= np.maximum(length, 1e-300)[:, None]
            directions[:, :, k] = A[k] @ np.linalg.svd(away, full_matrices=True)[2][:rank].T
        places = np.einsum("kd,drk->rk", self.location - self._center, directions)
        return directions.reshape(d, -1), places.ravel()

    def _pruned(self, X: Floats, log_prior: Floats) -> Positions:
        _, log_det = self.roots
        constant = np.where(self.present, log_prior - 0.5 * log_det, -np.inf)
        best = np.empty(len(X), np.intp)
        # Memory that is used again: fresh pages would cost as much as the products.
        height = min(_PRUNED_ROWS, len(X))
        wide = np.empty((height, self._subspaces[0].shape[1]))
        scratch = np.empty((2, height, X.shape[1]))
        with np.errstate(over="ignore", invalid="ignore"):
            for start in range(0, len(X), height):
                rows = slice(start, start + height)
                best[rows] = self._pruned_block(X[rows], constant, wide, scratch)
        return best

    def _pruned_block(
        self, X: Floats, constant: Floats, wide: Floats, scratch: Floats
    ) -> Positions:
        directions, places = self._subspaces
        n, n_classes = len(X), len(constant)
        centered = np.subtract(X, self._center, out=scratch[0, :n])
        parts = np.matmul(centered, directions, out=wide[:n])
        parts -= places
        np.square(parts, out=parts)
        bound = parts[:, :n_classes]
        for first in range(n_classes, parts.shape[1], n_classes):
            bound += parts[:, first : first + n_classes]
        bound *= -0.5
        bound += constant
        best = bound.argmax(axis=1)
        top = self._full_scores(X, best, constant, scratch)
        refuse_overflow(top)
        # What rounding can do to a square is left to the exact comparison.
        candidates = bound >= (top - (1e-9 * np.abs(top) + 1e-9))[:, None]
        candidates[np.arange(n), best] = False
        for k in np.flatnonzero(candidates.any(axis=0)):
            rows = np.flatnonzero(candidates[:, k])
            scores = self._scores(X, rows, int(k), constant, scratch)
            better = (scores > top[rows]) | ((scores == top[rows]) & (k < best[rows]))
            best[rows[better]], top[rows[better]] = k, scores[better]
        return best

    def _full_scores(
        self, X: Floats, classes: Positions, constant: Floats, scratch: Floats
    ) -> Floats:
        """Score of each row under the class that is named for it."""
        out = np.empty(len(X))
        order = np.argsort(classes.astype(np.uint16), kind="stable")
        ends = np.cumsum(np.bincount(classes, minlength=len(constant)))
        for k, (start, end) in enumerate(zip([0, *ends[:-1]], ends, strict=True)):
            if end > start:
                rows = order[start:end]
                out[rows] = self._scores(X, rows, k, constant, scratch)
        return out

    def _scores(
        self, X: Floats, rows: Positions, k: int, constant: Floats, scratch: Floats
    ) -> Floats:
        """Full scores of some rows under one class."""
        away, z = scratch[:, : len(rows)]
        np.take(X, rows, axis=0, out=away, mode="clip")
        away -= self.location[k]
        np.matmul(away, self.roots[0][k], out=z)
        return constant[k] - 0.5 * np.einsum("ij,ij->i", z, z)

    def check(self) -> None:
        """Raises `ValueError` or `LinAlgError` if the arrays are no laws."""
        K, d = self.location.shape
        if self.matrices.shape not in ((K, d, d), (1, d, d)):
            raise ValueError(f"matrices of shape {self.matrices.shape} for {K} laws of {d} columns")
        shapes = {part.shape for part in (self.factor, self.degrees, self.present)}
        if shapes != {(K,)} or not (self.factor > 0).all() or not (self.degrees > 0).all():
            raise ValueError("factors and degrees of freedom must be one positive number per class")
        A, log_det = self.roots
        if A.shape != self.matrices.shape or log_det.shape != (len(A),):
            raise ValueError(f"roots of shape {A.shape} for matrices of {self.matrices.shape}")
        parts = (self.location, self.matrices, A, log_det)
        if not all(np.isrealobj(part) and np.isfinite(part).all() for part in parts):
            raise ValueError("locations and matrices must be finite numbers")

    # Sampling

    def sample(self, code: int, size: int, rng: np.random.Generator) -> Floats:
        """Rows of one class."""
        matrix = self.matrices[0 if len(self.matrices) == 1 else code] * self.factor[code]
        unit = np.sqrt(np.diagonal(matrix))
        root = np.linalg.cholesky(matrix / unit[:, None] / unit[None, :])
        draws = (rng.standard_normal((size, len(unit))) @ root.T) * unit
        v = self.degrees[code]
        if np.isfinite(v):
            draws /= np.sqrt(rng.chisquare(v, size) / v)[:, None]
        return draws + self.location[code]


# --- Parts ----------------------------------------------------------------------------------------


def whiteners(matrices: Floats) -> Roots:
    """`whitener` of each of several matrices."""
    roots = [whitener(matrix) for matrix in matrices]
    return np.array([a for a, _ in roots]), np.array([log_det for _, log_det in roots])


def whitener(matrix: Floats) -> tuple[Floats, float]:
    """Upper triangular `A` with `A A' = C^-1`, and `log|C|`; units of columns do not matter."""
    from scipy.linalg import lapack

    unit = np.sqrt(np.diagonal(matrix))
    scaled = matrix / unit[:, None] / unit[None, :]
    root, failed = lapack.dpotrf(scaled, lower=1, clean=1)
    if failed:
        raise np.linalg.LinAlgError(
            f"A covariance of {len(matrix)} columns is not positive definite: pivot {failed - 1} "
            "is not positive."
        )
    inverse, _ = lapack.dtrtri(root, lower=1)
    log_det = 2.0 * float(np.log(np.diagonal(root)).sum() + np.log(unit).sum())
    return np.ascontiguousarray((inverse / unit[None, :]).T), log_det


def student_constant(degrees: float | Floats, p: int | Floats) -> Floats:
    """What a Student t law of p columns has in front, without the determinant."""
    return (
        special.gammaln((degrees + p) / 2)
        - special.gammaln(degrees / 2)
        - 0.5 * p * np.log(degrees * np.pi)
    )


def likeliest(scores: Floats) -> Positions:
    """Position of the largest score of each row; ties to the lowest."""
    best = scores.argmax(axis=1)
    refuse_overflow(scores[np.arange(len(scores)), best])
    return best


def refuse_overflow(top: Floats) -> None:
    """Refuses rows so far away that no class has a density a double can hold."""
    lost = np.flatnonzero(~np.isfinite(top))
    if lost.size:
        raise InputError(
            f"Row {lost[0]} lies so far from all classes that its squared distance overflows "
            f"({lost.size} such rows). Check the units of its cells."
        )


def missing_patterns(X: Floats) -> Iterator[tuple[Any, Positions | None]]:
    """Rows and present columns of each pattern; None for the columns of complete rows."""
    # A sum is finite only if no cell is missing; infinite cells never come here.
    with np.errstate(over="ignore", invalid="ignore"):
        if not np.isnan(np.sum(X)):
            yield slice(None), None
            return
    for rows, present in rows_by_pattern(np.isnan(X)):
        yield rows, None if present.size == X.shape[1] else present


def _blocks(n_rows: int) -> Iterator[tuple[int, int]]:
    for start in range(0, n_rows, BLOCK_ROWS):
        yield start, min(start + BLOCK_ROWS, n_rows)
