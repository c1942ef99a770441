"""Densities of K classes whose columns are uncorrelated: normal or Student t.

    normal       log p(x) = sum_j -1/2 (log 2 pi v_j + (x_j - m_j)^2 / v_j)
    one t each   log p(x) = sum_j log t_j(x_j)            every column has its own unknown variance
    one joint t  log p(x) = log t(x; q), q = sum_j (x_j - m_j)^2 / v_j     one unknown variance

A missing cell simply drops out of the sums (and out of the dimension of the joint t): that is
integrating it out.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from novum.bayes.gaussian_densities import BLOCK_ROWS, likeliest, student_constant

Floats = NDArray[np.float64]

_LOG_2PI = float(np.log(2 * np.pi))


@dataclass(frozen=True, eq=False)
class ColumnDensities:
    """Laws of K classes over d uncorrelated columns.

    Attributes
    ----------
    location, variances : arrays (K, d)
        Of Student laws the variances are squared scales.
    degrees : array (K, d)
        Degrees of freedom of each column; infinite for normal laws.
    joint : bool
        Whether the columns of a class share one unknown variance: a joint Student t.
    present : Boolean array (K,)
        Classes without rows have no density; theirs is zero everywhere.
    """

    location: Floats
    variances: Floats
    degrees: Floats
    joint: bool
    present: NDArray[np.bool_]

    @classmethod
    def normal(
        cls, location: Floats, variances: Floats, present: NDArray[np.bool_]
    ) -> ColumnDensities:
        """Normal laws; variances (K,) hold for all columns of a class."""
        full = np.broadcast_to(variances.reshape(len(location), -1), location.shape)
        return cls(location, full, np.full(location.shape, np.inf), False, present)

    @property
    def is_normal(self) -> bool:
        return bool(np.isinf(self.degrees).all())

    @property
    def is_shared(self) -> bool:
        return False

    def log_density(self, X: Floats) -> Floats:
        """`log p(x | k)` of every row and class (n, K); missing cells are integrated out."""
        out = np.empty((len(X), len(self.location)))
        with np.errstate(over="ignore"):
            for start in range(0, len(X), BLOCK_ROWS):
                block = X[start : start + BLOCK_ROWS]
                missing = np.isnan(block)
                known = missing if missing.any() else None
                for k in range(len(self.location)):
                    out[start : start + BLOCK_ROWS, k] = self._one_class(block, k, known)
        out[:, ~self.present] = -np.inf
        return out

    def _one_class(self, X: Floats, k: int, missing: NDArray[np.bool_] | None) -> Floats:
        terms = X - self.location[k]
        terms *= 1.0 / np.sqrt(self.variances[k])
        np.square(terms, out=terms)
        log_variance, v = np.log(self.variances[k]), self.degrees[k]
        if self.is_normal:
            terms += log_variance + _LOG_2PI
            return -0.5 * _row_sums(terms, missing)
        if not self.joint:
            np.log1p(np.divide(terms, v, out=terms), out=terms)
            terms *= -0.5 * (v + 1)
            terms += student_constant(v, 1) - 0.5 * log_variance
            return _row_sums(terms, missing)
        square = _row_sums(terms, missing)
        determinant = _row_sums(np.broadcast_to(log_variance, terms.shape).copy(), missing)
        p = X.shape[1] - (0 if missing is None else missing.sum(axis=1))
        front = student_constant(v[:1], np.asarray(p, float)) - 0.5 * determinant
        return front - 0.5 * (v[0] + p) * np.log1p(square / v[0])

    def best(self, X: Floats, log_prior: Floats) -> NDArray[np.intp]:
        """Class of largest `log p(x | k) + log_prior`; ties to the lowest."""
        return likeliest(self.log_density(X) + log_prior)

    def marginal(self, columns: NDArray[Any]) -> ColumnDensities:
        """The law of some of the columns."""
        return ColumnDensities(
            self.location[:, columns],
            self.variances[:, columns],
            self.degrees[:, columns],
            self.joint,
            self.present,
        )

    def check(self) -> None:
        """Raises `ValueError` if the arrays are no laws."""
        shape = self.location.shape
        if not shape == self.variances.shape == self.degrees.shape:
            raise ValueError(f"variances of shape {self.variances.shape} for locations {shape}")
        if self.present.shape != shape[:1] or not np.isfinite(self.location).all():
            raise ValueError("locations must be finite, one row per class")
        if not (np.isfinite(self.variances) & (self.variances > 0) & (self.degrees > 0)).all():
            raise ValueError("variances and degrees of freedom must be positive")

    def sample(self, code: int, size: int, rng: np.random.Generator) -> Floats:
        """Rows of one class."""
        draws = rng.standard_normal((size, self.location.shape[1]))
        v = self.degrees[code]
        if np.isfinite(v).all():
            # One unknown variance for all columns is one draw for all of them.
            shape = (size, 1) if self.joint else draws.shape
            draws /= np.sqrt(rng.chisquare(v[:1] if self.joint else v, shape) / v)
        return draws * np.sqrt(self.variances[code]) + self.location[code]


def _row_sums(terms: Floats, missing: NDArray[np.bool_] | None) -> Floats:
    if missing is not None:
        terms[missing] = 0.0
    return terms.sum(axis=1)
