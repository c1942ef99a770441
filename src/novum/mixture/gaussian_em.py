"""Expectation and maximization of a Gaussian mixture, also with missing cells.

    p(x) = sum_k w_k N(x; m_k, C_k),      r_ik = w_k N(x_i; m_k, C_k) / p(x_i)

The E-step sums, about the old means, `N_k = sum_i r_ik`, `r_ik (x_i - m_k)` and its products, with
missing cells at their conditional means plus their conditional covariances. The M-step is

    w_k = N_k / N,    m_k = sum_i r_ik x_i / N_k,    C_k = the likeliest of its family given W_k,

where W_k is the expected scatter (`covariance_families`). Both steps never lower the likelihood of
the present cells. Columns are centered and, as the family allows, brought to variance 1, so that
units and offsets do not matter and a floor of variances is a share of the column's own.

References
----------
Dempster, Laird and Rubin (1977). Maximum likelihood from incomplete data via the EM algorithm.
Ghahramani and Jordan (1994). Supervised learning from incomplete data via an EM approach.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from novum.core.errors import InputError
from novum.core.sums import Additive, SumProblem
from novum.core.tables import Sample
from novum.distributions import missing_patterns, whiteners
from novum.mixture.covariance_families import Family
from novum.mixture.row_blocks import calls, in_blocks
from novum.numerics import Bytes, Floats, Integers, as_argument

LOG_TWO_PI = float(np.log(2 * np.pi))

# Work of one call of a kernel, in products: a tenth of a second.
_CALL_PRODUCTS = 2e8

# A component with a smaller share of all rows than this has died: nothing is left to learn from.
DEAD = 1e-12

# Variances of this size, as shares of those of the columns, are what rounding leaves of none.
_ROUNDING = 1e-15

_COLLAPSED = (
    "A component has no spread in some direction, so its density is infinite there. Raise "
    "reg_covar, ask for fewer components, or choose a simpler covariance_type."
)


# --- Values ---------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class GaussianParameters:
    """Weights (K,), means (K, d), covariances (K, d, d), shared (1, d, d) or variances (K, d)."""

    weights: Floats
    means: Floats
    covariances: Floats


@dataclass(frozen=True, eq=False)
class GaussianSums(Additive):
    """Expected sums of one pass, about the means of the parameters.

    Attributes
    ----------
    weight : array (K,)
    linear : array (K, d)
    scatter : array (K, d, d), (K, d) or, summed over components, (1, d, d)
    log_likelihood : float
        Of the present cells.
    """

    weight: Floats
    linear: Floats
    scatter: Floats
    log_likelihood: float


@dataclass(frozen=True, eq=False)
class PatternRows:
    """Rows sorted by their pattern of missing cells.

    Attributes
    ----------
    blocks : array (B, d, ROWS)
        Their cells, column by column (`row_blocks`).
    weights : array (n,)
    starts : array (G + 1,)
        First rows of the groups.
    missing : uint8 array (G, d)
    order : array (n,)
        Which rows of the table these are.
    """

    blocks: Floats
    weights: Floats
    starts: Integers
    missing: Bytes
    order: Any

    @classmethod
    def of(cls, X: Floats, weights: Floats) -> PatternRows:
        d = X.shape[1]
        groups = list(missing_patterns(X))
        if len(groups) == 1 and groups[0][1] is None:
            starts, missing = np.array([0, len(X)]), np.zeros((1, d), np.uint8)
            return cls(in_blocks(X), as_argument(weights), starts, missing, slice(None))
        order = np.concatenate([np.asarray(rows) for rows, _ in groups])
        missing = np.ones((len(groups), d), np.uint8)
        for number, (_, present) in enumerate(groups):
            missing[number, slice(None) if present is None else present] = 0
        starts = np.cumsum([0, *(len(rows) for rows, _ in groups)])
        return cls(in_blocks(X[order]), weights[order], starts, missing, order)

    @property
    def is_complete(self) -> bool:
        return not self.missing.any()

    def parts(self, K: int) -> Iterator[tuple[slice, tuple[Any, ...]]]:
        """Rows of one call; their blocks, weights, and starts and patterns of their groups."""
        d = self.blocks.shape[1]
        for rows, blocks in calls(len(self.weights), _CALL_PRODUCTS / (K * d * (d + 8))):
            g = int(np.searchsorted(self.starts, rows.start, side="right")) - 1
            h = int(np.searchsorted(self.starts, rows.stop, side="left"))
            starts = np.clip(self.starts[g : h + 1], rows.start, rows.stop) - rows.start
            groups = as_argument(starts, np.int64), self.missing[g:h]
            yield rows, (self.blocks[blocks], self.weights[rows], *groups)


# --- One pass -------------------------------------------------------------------------------------


def expected_sums(params: GaussianParameters, rows: PatternRows) -> GaussianSums:
    """The E-step."""
    K, d = params.means.shape
    shape = params.covariances.shape
    weight, linear = np.zeros(K), np.zeros((K, d))
    is_shared = shape == (1, d, d) and rows.is_complete
    scatter = np.zeros((K, d) if len(shape) == 2 else (K, d, d))
    value = 0.0
    run = _pass_of(params, rows.is_complete)
    for _, arguments in rows.parts(K):
        value += run(*arguments, np.empty((0, K)), weight, linear, scatter)
    if is_shared:
        # Squares about the old means, from those about the center and the linear sums.
        weighted = rows.blocks * in_blocks(rows.weights[:, None])
        m, moved = params.means, params.means.T @ linear
        products = (weighted @ rows.blocks.transpose(0, 2, 1)).sum(axis=0)
        total = products - moved - moved.T - (m.T * weight) @ m
        return GaussianSums(weight, linear, total[None], value)
    if len(shape) == 3:
        lower = np.tril(scatter, -1)
        scatter = scatter - np.triu(scatter, 1) + lower.transpose(0, 2, 1)
        if shape[0] == 1:
            scatter = scatter.sum(axis=0)[None]
    return GaussianSums(weight, linear, scatter, value)


def log_joint(params: GaussianParameters, X: Floats) -> Floats:
    """`log w_k + log N(x_o; m_k, C_k)` of the present cells of every row, (n, K)."""
    K, d = params.means.shape
    rows = PatternRows.of(X, np.ones(len(X)))
    sorted_joint = np.empty((len(X), K))
    run = _pass_of(params, rows.is_complete)
    none = np.empty(0), np.empty((0, d))
    empty = np.empty((0, d) if params.covariances.ndim == 2 else (0, d, d))
    for chosen, arguments in rows.parts(K):
        run(*arguments, sorted_joint[chosen], *none, empty)
    joint = np.empty_like(sorted_joint)
    joint[rows.order] = sorted_joint
    return joint


def _pass_of(params: GaussianParameters, is_complete: bool) -> Callable[..., float]:
    """The kernel for these parameters, with all that does not depend on rows."""
    from novum.mixture.diagonal_kernels import diagonal_step
    from novum.mixture.gaussian_kernels import matrix_step, shared_matrix_step

    means = as_argument(params.means)
    K, d = means.shape
    with np.errstate(divide="ignore"):
        logs = np.log(params.weights)
    if params.covariances.ndim == 2:
        variances = as_argument(params.covariances)

        def by_column(
            X: Floats, w: Floats, starts: Any, missing: Any, joint: Floats, *out: Floats
        ) -> float:
            del starts, missing
            return float(diagonal_step(X, w, logs, means, variances, joint, *out))

        return by_column
    roots, log_dets = _roots(params.covariances)
    constants = logs - 0.5 * (log_dets + d * LOG_TWO_PI)
    if len(roots) == 1 and is_complete:
        root, places = as_argument(roots[0]), as_argument(means @ roots[0])

        def shared(
            X: Floats, w: Floats, starts: Any, missing: Any, joint: Floats, *out: Floats
        ) -> float:
            del starts, missing
            return float(shared_matrix_step(X, w, constants, means, root, places, joint, *out[:2]))

        return shared
    precisions = roots @ roots.transpose(0, 2, 1)
    filled_up = np.zeros((K, -(-d // 4) * 4, -(-d // 4) * 4))
    filled_up[:, :d, :d] = roots
    roots, precisions = filled_up, np.broadcast_to(precisions, (K, d, d)).copy()

    def by_matrix(
        X: Floats, w: Floats, starts: Any, missing: Any, joint: Floats, *out: Floats
    ) -> float:
        arrays = constants, means, roots, precisions
        return float(matrix_step(X, w, starts, missing, *arrays, joint, *out))

    return by_matrix


def _roots(matrices: Floats) -> tuple[Floats, Floats]:
    try:
        return whiteners(matrices)
    except np.linalg.LinAlgError:
        raise InputError(_COLLAPSED) from None


# --- The problem of the driver --------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Units:
    """Centers and units (d,) of columns: a fit sees `(x - center) / unit`."""

    center: Floats
    unit: Floats

    def rows(self, X: Floats) -> Floats:
        return np.asarray((X - self.center) / self.unit)

    def log_units(self, sample: Sample) -> float:
        """Sum of the logarithms of the units of all present cells."""
        there = sample.weights @ ~np.isnan(np.asarray(sample.numeric))
        return float(there @ np.log(self.unit))

    def log_units_of_rows(self, X: Floats) -> Floats:
        """The same of each row, (n,)."""
        return np.asarray(~np.isnan(X) @ np.log(self.unit))

    def outward(self, params: GaussianParameters) -> GaussianParameters:
        """The parameters in the units of the table."""
        return self._turned(params, self.center + params.means * self.unit, self.unit)

    def inward(self, params: GaussianParameters) -> GaussianParameters:
        return self._turned(params, self.rows(params.means), 1.0 / self.unit)

    def _turned(self, params: GaussianParameters, means: Floats, unit: Floats) -> Any:
        squares = unit**2 if params.covariances.ndim == 2 else unit[:, None] * unit
        return replace(params, means=means, covariances=params.covariances * squares)


class GaussianEM(SumProblem[GaussianParameters, GaussianSums]):
    """EM of a Gaussian mixture in standard units.

    Parameters
    ----------
    family : Family
    units : Units
    begin : callable
        Parameters of a restart from its random numbers.
    offset : float
        What the log-likelihood has more in standard units than in those of the table.
    """

    objective_name = "log-likelihood of the present cells"
    direction = "maximize"

    def __init__(
        self,
        family: Family,
        units: Units,
        begin: Callable[[np.random.Generator], GaussianParameters] | None,
        offset: float,
    ) -> None:
        self.family, self.units, self.begin, self.offset = family, units, begin, offset
        self.is_extrapolated = family.is_extrapolated
        self.like: GaussianParameters

    def __getstate__(self) -> dict[str, Any]:
        """Without what starts are made of, which workers of a cluster do not need."""
        return {name: value for name, value in vars(self).items() if name != "begin"}

    def start(self, rng: np.random.Generator, /) -> GaussianParameters:
        assert self.begin is not None
        self.like = self.begin(rng)
        return self.like

    def log_units(self, sample: Sample) -> float:
        """What the log-likelihood of rows has more in standard units."""
        return self.units.log_units(sample)

    def prepared(self, sample: Sample) -> PatternRows:
        """Rows in standard units; those without any cell say nothing and are left out."""
        X, weights = self.units.rows(sample.numeric), sample.weights
        empty = np.isnan(X).all(axis=1) if np.isnan(np.sum(X)) else np.zeros(len(X), bool)
        if empty.any():
            X, weights = X[~empty], weights[~empty]
        return PatternRows.of(X, weights)

    def step(self, params: GaussianParameters, chunk: Sample | PatternRows, /) -> GaussianSums:
        rows = self.prepared(chunk) if isinstance(chunk, Sample) else chunk
        return expected_sums(params, rows)

    def log_joint(self, params: GaussianParameters, sample: Sample) -> Floats:
        """`log w_k + log p_k(x)` of the present cells in the units of the table, (n, K)."""
        X = self.units.rows(sample.numeric)
        return log_joint(params, as_argument(X)) - self.units.log_units_of_rows(X)[:, None]

    def log_prior(self, params: GaussianParameters) -> float:
        """There is none: the floor of variances is a constraint."""
        del params
        return 0.0

    def anchored(self, sample: Sample) -> GaussianEM:
        """The same problem: no prior depends on the rows."""
        del sample
        return self

    def objective(self, params: GaussianParameters, statistics: GaussianSums, /) -> float:
        del params
        return statistics.log_likelihood - self.offset

    def scale(self, params: GaussianParameters, statistics: GaussianSums, /) -> float:
        del params
        return float(statistics.weight.sum())

    def update(self, params: GaussianParameters, statistics: GaussianSums, /) -> GaussianParameters:
        after = maximized(self.family, params, statistics)
        if self.family.floor < _ROUNDING and self.family.name != "fixed":
            spread = after.covariances
            if len(spread) == len(after.weights):
                spread = spread[after.weights > 0]
            least = spread if spread.ndim == 2 else np.linalg.eigvalsh(spread)
            if not (least > _ROUNDING).all():
                raise InputError(_COLLAPSED)
        return after

    def n_collapsed(self, params: GaussianParameters) -> int:
        """Components at the floor of variances."""
        return self.family.n_collapsed(params.weights, params.covariances)

    def residual(self, params: GaussianParameters, statistics: GaussianSums, /) -> float:
        """Largest change of a weight, a mean or a covariance by a further step."""
        after = self.update(params, statistics)
        pairs = (
            (after.weights, params.weights),
            (after.means, params.means),
            (after.covariances, params.covariances),
        )
        return float(max(np.abs(a - b).max() for a, b in pairs))

    def to_vector(self, params: GaussianParameters, /) -> Floats:
        """Logarithms of weights, means, and roots of covariances with logarithms of pivots."""
        logs = np.log(np.maximum(params.weights, 1e-300))
        if params.covariances.ndim == 2:
            spread = np.log(params.covariances).ravel()
        else:
            try:
                L = np.linalg.cholesky(params.covariances)
            except np.linalg.LinAlgError:
                raise InputError(_COLLAPSED) from None
            i = np.arange(L.shape[1])
            L[:, i, i] = np.log(L[:, i, i])
            spread = L[:, *np.tril_indices(L.shape[1])].ravel()
        return np.concatenate([logs, params.means.ravel(), spread])

    def from_vector(self, vector: Floats, /) -> GaussianParameters | None:
        K, d = self.like.means.shape
        logs, means, spread = np.split(vector, [K, K + K * d])
        if np.abs(spread).max() > 300 or logs.max() > 300:
            return None
        weights = np.exp(logs - logs.max())
        if self.like.covariances.ndim == 2:
            covariances = np.exp(spread).reshape(K, d)
        else:
            L = np.zeros(self.like.covariances.shape)
            L[:, *np.tril_indices(d)] = spread.reshape(len(L), -1)
            i = np.arange(d)
            L[:, i, i] = np.exp(L[:, i, i])
            covariances = L @ L.transpose(0, 2, 1)
        covariances = self.family.raised(covariances)
        return GaussianParameters(weights / weights.sum(), means.reshape(K, d), covariances)


def maximized(family: Family, params: GaussianParameters, sums: GaussianSums) -> GaussianParameters:
    """The M-step; a component that has died keeps what it was, with weight zero."""
    total = float(sums.weight.sum())
    alive = sums.weight > DEAD * total
    counts = np.where(alive, sums.weight, 1.0)
    away = np.where(alive[:, None], sums.linear / counts[:, None], 0.0)
    weights = np.where(alive, sums.weight, 0.0)
    if sums.scatter.ndim == 2:
        scatter = sums.scatter - counts[:, None] * away**2
    elif len(sums.scatter) == 1:
        scatter = sums.scatter - ((away.T * counts) @ away)[None]
    else:
        scatter = sums.scatter - counts[:, None, None] * away[:, :, None] * away[:, None, :]
    covariances = family.likeliest(weights, scatter, params.covariances)
    return GaussianParameters(weights / weights.sum(), params.means + away, covariances)
