"""Posterior predictive laws of classes, and the evidence of covariance structures.

Before any row the mean and covariance of a class have a normal-Wishart law: the precision is
`Wishart(v0, A0^-1)` and the mean given it `N(m0, C / k0)`. After W rows of mean m and scatter S,

    k = k0 + W,   v = v0 + W,   m_n = (k0 m0 + W m) / k,   A = A0 + S + (k0 W / k)(m - m0)(m - m0)',

and a new row has the Student t law of `v - d + 1` degrees of freedom, location `m_n` and shape
`A (k + 1) / (k (v - d + 1))`. The rows themselves have the evidence

    log p = -(W d / 2) log pi + log G_d(v/2) - log G_d(v0/2)
            + (v0/2) log|A0| - (v/2) log|A| + (d/2) log(k0 / k).

Classes that share a covariance add their S and their W into one A and one v. Uncorrelated columns
have normal-gamma laws, the same formulas with d = 1: one for each column, or one variance for all.

References
----------
Murphy, "Conjugate Bayesian analysis of the Gaussian distribution", 2007, eq. 250-266.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import special

from novum.bayes.gaussian_covariance import BY_COLUMN, STRUCTURES, reference_variances
from novum.bayes.gaussian_statistics import GaussianStatistics
from novum.core.errors import InputError
from novum.distributions import ColumnDensities, MatrixDensities, mean_after, whitener, whiteners
from novum.numerics import Floats

# --- The prior ------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class WeakPrior:
    """What is believed about each class before its rows, in rows that the belief counts for.

    Parameters
    ----------
    mean_rows : float
        Weight `k0` of the prior mean.
    covariance_rows : float
        Weight of the prior covariance: `A0 = covariance_rows * covariance`, and
        `v0 = covariance_rows + d + 1`, so that `covariance` is the prior mean of the covariance.
    mean : array (d,), optional
        By default the mean of all rows.
    covariance : array (d, d) or variances (d,), optional
        By default the variances of the columns within the classes, without correlations.

    Notes
    -----
    The defaults make the prior follow the units and offsets of the columns: it is a unit of
    information, at the price of a second look at the data for its scale. Give `mean` and
    `covariance` for a prior that has not seen them.

    Examples
    --------
    >>> WeakPrior(covariance_rows=2.0)
    WeakPrior(mean_rows=0.01, covariance_rows=2.0)
    """

    mean_rows: float = 0.01
    covariance_rows: float = 1.0
    mean: Floats | None = None
    covariance: Floats | None = None

    def __post_init__(self) -> None:
        for name in ("mean_rows", "covariance_rows"):
            value = getattr(self, name)
            if not (np.isfinite(value) and value > 0):
                raise InputError(f"{name} is a number of rows above 0, got {value!r}.")
        for name in ("mean", "covariance"):
            if getattr(self, name) is not None:
                value = np.array(getattr(self, name), float)
                if not np.isfinite(value).all():
                    raise InputError(f"The {name} of a prior is finite, got {value.tolist()}.")
                value.flags.writeable = False
                object.__setattr__(self, name, value)

    def __repr__(self) -> str:
        known = [f"mean_rows={self.mean_rows!r}", f"covariance_rows={self.covariance_rows!r}"]
        known += [
            f"{name}={getattr(self, name).tolist()!r}"
            for name in ("mean", "covariance")
            if getattr(self, name) is not None
        ]
        return f"WeakPrior({', '.join(known)})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, WeakPrior) and repr(self) == repr(other)

    def __hash__(self) -> int:
        return hash(repr(self))

    def resolved(self, statistics: GaussianStatistics) -> tuple[Floats, Floats]:
        """Prior mean (d,) and covariance (d, d) for these rows."""
        d = statistics.schema.n_columns
        mean = statistics.column_moments.mean if self.mean is None else self.mean
        spread: Floats = (
            reference_variances(statistics) if self.covariance is None else self.covariance
        )
        matrix = np.diag(spread) if spread.ndim == 1 else spread
        if mean.shape != (d,) or matrix.shape != (d, d):
            raise InputError(
                f"A prior for {d} columns needs a mean of shape ({d},) and a covariance of shape "
                f"({d}, {d}) or ({d},), got {mean.shape} and {spread.shape}."
            )
        return mean, matrix


# --- Posteriors -----------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class _Posterior:
    """Posterior of all classes under one structure.

    `weight` and `location` are (K, d): weight of the mean and its place, column by column.
    `squares` holds the A of each class, of all, of each column or of each class's variance;
    `degrees` the matching v, `prior_squares` and `prior_degrees` those before any row.
    """

    structure: str
    weight: Floats
    location: Floats
    squares: Floats
    degrees: Floats
    prior_squares: Floats
    prior_degrees: float


def _posterior(statistics: GaussianStatistics, structure: str, prior: WeakPrior) -> _Posterior:
    mean, matrix = prior.resolved(statistics)
    cells = np.asarray(statistics.cell_weights)
    # Written from the class mean, so that an offset of the columns cancels at once.
    away = np.where(cells > 0, statistics.means - mean, 0.0)
    weight, location, between = mean_after(mean, prior.mean_rows, cells, away)
    rows, d = prior.covariance_rows, len(mean)
    if structure in BY_COLUMN:
        squares = statistics.column_scatters + between
        before = rows * np.diagonal(matrix)
        degrees = cells
        if structure == "spherical":
            squares, degrees = squares.sum(axis=1), cells.sum(axis=1)
            before = np.asarray(before.mean())
        v0 = rows + 2.0
    else:
        pull = (prior.mean_rows * cells / weight)[:, :1, None]
        squares = statistics.scatters + pull * away[:, :, None] * away[:, None, :]
        degrees = statistics.weight
        if structure == "tied":
            squares, degrees = squares.sum(axis=0), degrees.sum()
        before, v0 = rows * matrix, rows + d + 1.0
    return _Posterior(
        structure, weight, location, before + squares, np.asarray(v0 + degrees), before, v0
    )


def predictive_densities(
    statistics: GaussianStatistics, structure: str, prior: WeakPrior
) -> MatrixDensities | ColumnDensities:
    """Student t law of a new row of each class; a class without rows has the prior's."""
    posterior = _posterior(statistics, structure, prior)
    present = np.ones(len(statistics.classes), bool)
    inflation = (posterior.weight + 1) / posterior.weight
    K, d = posterior.location.shape
    if structure in BY_COLUMN:
        squares, degrees = posterior.squares, posterior.degrees
        if structure == "spherical":
            squares, degrees = squares[:, None], degrees[:, None]
        variances = squares * inflation / degrees
        full = np.broadcast_to(degrees, (K, d))
        return ColumnDensities(
            posterior.location, variances, full, structure == "spherical", present
        )
    degrees = np.broadcast_to(posterior.degrees - d + 1, (K,))
    factor = inflation[:, 0] / degrees
    matrices = posterior.squares.reshape(-1, d, d)
    return MatrixDensities(
        posterior.location, matrices, whiteners(matrices), factor, degrees, present
    )


# --- Evidence -------------------------------------------------------------------------------------


def log_evidence(statistics: GaussianStatistics, structure: str, prior: WeakPrior) -> float:
    """`log p(rows | labels, structure)`, means and covariances integrated out."""
    posterior = _posterior(statistics, structure, prior)
    cells = np.asarray(statistics.cell_weights)
    # Every class and column has one mean; its weight grew from k0 to k.
    total = (
        -0.5 * np.log(np.pi) * cells.sum() + 0.5 * np.log(prior.mean_rows / posterior.weight).sum()
    )
    v0, v = posterior.prior_degrees, posterior.degrees
    if structure in BY_COLUMN:
        gammas = special.gammaln(v / 2) - special.gammaln(v0 / 2)
        logs = 0.5 * (v0 * np.log(posterior.prior_squares) - v * np.log(posterior.squares))
        return float(total + (gammas + logs).sum())
    d = len(posterior.prior_squares)
    before = whitener(posterior.prior_squares)[1]
    after = [whitener(matrix)[1] for matrix in posterior.squares.reshape(-1, d, d)]
    for degrees, log_det in zip(np.atleast_1d(v), after, strict=True):
        total += _log_gamma(degrees / 2, d) - _log_gamma(v0 / 2, d)
        total += 0.5 * (v0 * before - degrees * log_det)
    return float(total)


def _log_gamma(a: float, d: int) -> float:
    """Multivariate log gamma function without its constant, which cancels."""
    return float(special.gammaln(a - 0.5 * np.arange(d)).sum())


@dataclass(frozen=True, eq=False)
class CovarianceChoice:
    """Evidence of the covariance structures.

    Attributes
    ----------
    structures : tuple of str
    log_evidence : array
    probability : array
        Posterior probability of each structure when all are equally likely before.
    """

    structures: tuple[str, ...]
    log_evidence: Floats
    probability: Floats

    @property
    def best(self) -> str:
        """The structure of largest evidence; of equals the one listed first."""
        return self.structures[int(np.argmax(self.log_evidence))]


def compare_structures(
    statistics: GaussianStatistics,
    prior: WeakPrior | None = None,
    structures: tuple[str, ...] = STRUCTURES,
) -> CovarianceChoice:
    """Evidence of each structure from the same statistics."""
    known = prior or WeakPrior()
    logs = np.array([log_evidence(statistics, name, known) for name in structures])
    shares = np.exp(logs - logs.max())
    return CovarianceChoice(tuple(structures), logs, shares / shares.sum())
