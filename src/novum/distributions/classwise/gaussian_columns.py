"""Densities of K classes whose columns are uncorrelated: normal or Student t.

    normal       log p(x) = sum_j -1/2 (log 2 pi v_j + (x_j - m_j)^2 / v_j)
    one t each   log p(x) = sum_j log t_j(x_j)            every column has its own unknown variance
    one joint t  log p(x) = log t(x; q), q = sum_j (x_j - m_j)^2 / v_j     one unknown variance

A missing cell simply drops out of the sums (and out of the dimension of the joint t): that is
integrating it out.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from novum.distributions.classwise.gaussian_matrices import likeliest, student_constant
from novum.distributions.classwise.numeric import BLOCK_ROWS, normal_scores, student_t_scores
from novum.numerics import Array, Floats, Mask, Positions


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
    present: Mask

    @classmethod
    def normal(cls, location: Floats, variances: Floats, present: Mask) -> ColumnDensities:
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
        if self.is_normal:
            out = normal_scores(X, self.location, self.variances)
        elif not self.joint:
            out = student_t_scores(X, self.degrees, self.location, np.sqrt(self.variances))
        else:
            out = self._joint_density(X)
        out[:, ~self.present] = -np.inf
        return out

    def _joint_density(self, X: Floats) -> Floats:
        """`log t(x; q)` of the present cells."""
        present = ~np.isnan(X)
        p = present.sum(axis=1).astype(float)
        complete = bool(present.all())
        out = np.empty((len(X), len(self.location)))
        for k, (location, variances) in enumerate(zip(self.location, self.variances, strict=True)):
            v = self.degrees[k, 0]
            log_variances = np.log(variances)
            front = student_constant(v, len(variances) if complete else p)
            front = front - 0.5 * (log_variances.sum() if complete else present @ log_variances)
            with np.errstate(over="ignore"):
                for start in range(0, len(X), BLOCK_ROWS):
                    rows = slice(start, start + BLOCK_ROWS)
                    away = (X[rows] - location) / np.sqrt(variances)
                    away[~present[rows]] = 0.0
                    out[rows, k] = np.einsum("ij,ij->i", away, away)
            out[:, k] = front - 0.5 * (v + p) * np.log1p(out[:, k] / v)
        return out

    def best(self, X: Floats, log_prior: Floats) -> Positions:
        """Class of largest `log p(x | k) + log_prior`; ties to the lowest."""
        return likeliest(self.log_density(X) + log_prior)

    def marginal(self, columns: Array) -> ColumnDensities:
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
