"""Directions of largest between- over within-class scatter, also where the latter is singular.

With class means m_k, shares p_k, the mean m of all, and

    B = sum_k p_k (m_k - m)(m_k - m)' = M'M,    row k of M: sqrt(p_k) (m_k - m)'

and the covariance W within classes, one basis makes both diagonal (the generalized singular value
decomposition). It is found in three steps, after the columns are scaled to spreads near one:

1. W = V diag(l) V'. A direction whose l is no more than rounding has no spread within classes; V0
   are those, V1 the others, and A = V1 diag(l1)^(-1/2) whitens them.
2. Where means differ along V0, `M V0 = U0 s Q'`, the ratio is infinite: such directions,
   `V0 Q / s`, come first. Any classes that they tell apart are told apart without error.
3. The rest of the means, `(I - U0 U0') M A = U r Q'`, gives the finite ratios `r^2` with
   directions `A q`, plus the part along V0 that keeps them apart from the first kind.

Altogether there are rank(B) <= K - 1 directions w, with `w'Ww = 1` and `w'Bw = r^2`, or `w'Ww = 0`
and `w'Bw = 1` for the first kind.

References
----------
Howland, Jeon and Park, "Structure preserving dimension reduction for clustered text data based on
the generalized singular value decomposition", 2003.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from novum.core.learners import Certificate, Verdict
from novum.numerics import EPSILON, Floats, Mask, power_of_two

# How many times their usual size rounding errors are given before something counts as spread.
_MARGIN = 16.0

# Eigenpairs whose residual is below this share of the largest ratio are eigenpairs.
_TOLERANCE = 1e-8


@dataclass(frozen=True, eq=False)
class Directions:
    """Discriminant directions, best first.

    Attributes
    ----------
    scalings : array (d, m)
        Directions as columns; each has its largest entry, in spreads of the columns, positive.
    ratios : array (m,)
        Between- over within-class variance, infinite where nothing spreads within classes.
    between : array (m,)
        Variance between classes along each direction.
    reconstruction : array (m, d)
        `x = m + z' reconstruction` is the point of smallest Mahalanobis distance from the mean that
        is projected to z.
    rank_within : int
        Number of directions with spread within classes.
    residual : float
        Largest `|B w - ratio W w|` in whitened coordinates: some eigenvalue is within this of each
        finite ratio.
    """

    scalings: Floats
    ratios: Floats
    between: Floats
    reconstruction: Floats
    rank_within: int
    residual: float

    @property
    def n_infinite(self) -> int:
        return int(np.isinf(self.ratios).sum())


def directions_of(within: Floats, means: Floats, shares: Floats) -> Directions:
    """All discriminant directions of classes with these means and a covariance within them.

    Parameters
    ----------
    within : array (d, d)
        Covariance within classes.
    means : array (K, d)
    shares : array (K,)
        Of the classes; they sum to one.

    Examples
    --------
    >>> found = directions_of(np.eye(2), np.array([[0.0, 0.0], [4.0, 0.0]]), np.array([0.5, 0.5]))
    >>> found.scalings.round(12).tolist(), found.ratios.round(12).tolist()
    ([[1.0], [0.0]], [4.0])
    """
    present = shares > 0
    # Differences to one mean first: a common offset takes no digits from what differs.
    apart = means[present] - means[present][0]
    about = apart - shares[present] @ apart
    size = np.abs(means[present]).max(axis=0)
    # A power of two changes no digit.
    unit = np.asarray(power_of_two(_deviations(within, about)))
    noise = EPSILON * size / unit
    M = np.sqrt(shares[present])[:, None] * about / unit
    W = within / unit[:, None] / unit
    values, vectors = np.linalg.eigh(W)
    spread = _has_spread(values, vectors, noise)
    V0, V1 = vectors[:, ~spread], vectors[:, spread]
    A = V1 / np.sqrt(values[spread])
    # Rounding of W turns V0 towards an eigenvector of V1 by its size over that one's eigenvalue.
    turn = len(W) * EPSILON * np.linalg.norm(M @ (V1 * (values[-1] / values[spread])))
    first, U0, along = _without_spread(M, V0, noise, float(turn))
    r, Q = _finite(M, U0, A, noise)
    # z solves M (A q + V0 z) = (I - U0 U0') M A q, so the means seen along w are those kept apart.
    rest = A @ Q - first @ (U0.T @ (M @ (A @ Q)))
    scaled = np.hstack([first, rest])
    ratios = np.concatenate([np.full(len(along), np.inf), r**2])
    between = np.concatenate([np.ones(len(along)), r**2])
    scaled *= _signs(scaled * (_deviations(within, about) / unit)[:, None])
    residual = _residual(W, M, A, scaled[:, len(along) :], r**2)
    total = W @ scaled + M.T @ (M @ scaled)
    # w'(W + B)w is ratio + 1 for finite ratios and 1 for infinite ones.
    square = np.where(np.isinf(ratios), 1.0, 1.0 + between)
    return Directions(
        scaled / unit[:, None],
        ratios,
        between,
        (total / square).T * unit,
        int(spread.sum()),
        residual,
    )


def certify(directions: Directions, kept: int, seconds: float) -> Certificate:
    """What the eigen-residuals prove about the first `kept` directions."""
    finite = directions.ratios[:kept][np.isfinite(directions.ratios[:kept])]
    size = float(directions.ratios[np.isfinite(directions.ratios)].max(initial=0.0))
    proved = directions.residual <= _TOLERANCE * size or size == 0
    return Certificate(
        objective="between- over within-class scatter",
        verdict=Verdict.PROVED if proved else Verdict.STOPPED_EARLY,
        value=float(finite.sum()) if finite.size else None,
        residual=directions.residual,
        iterations=1,
        details={
            "ratios": finite.tolist(),
            "infinite_ratios": min(directions.n_infinite, kept),
            "rank_within": directions.rank_within,
            "columns": directions.scalings.shape[0],
        },
        seconds=seconds,
    )


# --- Steps ----------------------------------------------------------------------------------------


def _deviations(within: Floats, about: Floats) -> Floats:
    """Spreads of the columns within classes; between classes where there is none within, or 1."""
    inner = np.sqrt(np.maximum(np.diagonal(within), 0.0))
    outer = np.abs(about).max(axis=0)
    return np.where(inner > 0, inner, np.where(outer > 0, outer, 1.0))


def _has_spread(values: Floats, vectors: Floats, noise: Floats) -> Mask:
    """Which eigenvalues exceed what rounding of the matrix and of the cells gives them."""
    rounding = len(values) * EPSILON * max(float(values[-1]), 0.0)
    cells = np.square(vectors * noise[:, None]).sum(axis=0)
    return np.asarray(values > _MARGIN * (rounding + _MARGIN * cells))


def _without_spread(
    M: Floats, V0: Floats, noise: Floats, turn: float
) -> tuple[Floats, Floats, Floats]:
    """Directions `V0 Q / s` of infinite ratio, the U0 of the means they tell apart, and s.

    `turn` is how far means may seem apart along V0 only because V0 is known up to rounding.
    """
    if V0.shape[1] == 0:
        return np.empty((len(V0), 0)), np.empty((len(M), 0)), np.empty(0)
    U, s, Q = np.linalg.svd(M @ V0, full_matrices=False)
    rows = V0 @ Q.T
    cells = np.sqrt(np.square(rows * noise[:, None]).sum(axis=0))
    limit = _MARGIN * (max(M.shape) * EPSILON * np.linalg.norm(M) + turn + cells)
    kept = s > limit
    return rows[:, kept] / s[kept], U[:, kept], s[kept]


def _finite(M: Floats, U0: Floats, A: Floats, noise: Floats) -> tuple[Floats, Floats]:
    """The r and Q of `(I - U0 U0') M A = U r Q'`, without what is rounding."""
    seen = M @ A
    deflated = seen - U0 @ (U0.T @ seen)
    # Means about their mean span one dimension less than there are classes.
    most = len(M) - 1 - U0.shape[1]
    _, r, Q = np.linalg.svd(deflated, full_matrices=False)
    cells = np.linalg.norm(noise[:, None] * (A @ Q.T), axis=0)
    kept = r > _MARGIN * (max(M.shape) * EPSILON * np.linalg.norm(seen) + cells)
    kept[max(most, 0) :] = False
    return r[kept], Q[kept].T


def _signs(scaled: Floats) -> Floats:
    """Signs that make the largest entry of every column positive; the first of equals decides."""
    if scaled.shape[1] == 0:
        return np.empty(0)
    size = np.abs(scaled)
    first = (size >= (1 - 1e-8) * size.max(axis=0)).argmax(axis=0)
    return np.where(scaled[first, np.arange(scaled.shape[1])] < 0, -1.0, 1.0)


def _residual(W: Floats, M: Floats, A: Floats, w: Floats, ratios: Floats) -> float:
    if w.shape[1] == 0:
        return 0.0
    off = M.T @ (M @ w) - (W @ w) * ratios
    return float(np.linalg.norm(A.T @ off, axis=0).max())


def ratio_shares(directions: Directions) -> Floats:
    """Shares of the directions in the sum of their ratios; infinite ones share 1 equally."""
    infinite = np.isinf(directions.ratios)
    if infinite.any():
        return infinite / infinite.sum()
    return (
        directions.ratios / directions.ratios.sum() if directions.ratios.size else directions.ratios
    )
