"""Full conformal prediction of ridge regression, exactly.

A candidate `z` for the target of a new row `x` is kept if the model fitted to all rows *and* to
`(x, z)` leaves the new row a residual no larger than those of enough others. Fits of ridge
regression are linear in the targets, so that all candidates are solved at once. With the fit to the
`n` known rows, its residuals `e_j` and its prediction `m` of the new row, and the covariance

    C(x, x') = phi(x)' (Phi' W Phi + alpha)^-1 phi(x')     (phi of the kernel, or columns and one)

the model with `(x, m + t)` has

    residuals  e_j - g_j t,     g_j = C(x_j, x) / (1 + C(x, x))
    of the new row   u t,         u = 1 / (1 + C(x, x)).

Row `j` is at least as strange as the new one where `|e_j - g_j t| >= u |t|`, which changes at
`e_j / (g_j + u)` and `e_j / (g_j - u)` only; between these points the count is constant. The set of
candidates is closed and contains `m`. It is an interval for almost all rows; where a new row lies
so far out that it would turn the fit (`|C(x_j, x)| > 1`) it can be a union of intervals.

References
----------
Nouretdinov, Melluish and Vovk 2001, "Ridge regression confidence machine", ICML; Burnaev and Vovk
2014, "Efficiency of conformalized ridge regression", COLT.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from novum.core.runtime import check_cancelled
from novum.core.tables import rows_of
from novum.evaluation.conformal.quantiles import is_reachable, reach
from novum.numerics import Floats, Positions

# Numbers of one block of new rows against all calibration rows.
_BLOCK = 2**21


@dataclass(frozen=True, eq=False)
class RidgeUpdates:
    """What a further row would do to a fit.

    Attributes
    ----------
    model : fitted Ridge, LinearRegression or KernelRidge
    smoothers : list of the same learner, fitted to the columns of the identity
        Their predictions are the weights of the n rows in the predictions of `model`.
    residuals : array of shape (n,)
    weight : array of shape (n,)
        Of the rows in the fit.
    """

    model: Any
    smoothers: list[Any]
    residuals: Floats
    weight: Floats

    def limits(self, table: Any, coverage: float, weight: Floats) -> Floats:
        """Hulls of the sets of candidates, of shape (m, 2)."""
        unions = self.unions(table, coverage, weight)
        return np.array([[union[0, 0], union[-1, 1]] for union in unions]).reshape(-1, 2)

    def unions(self, table: Any, coverage: float, weight: Floats) -> list[Floats]:
        """For every row of a table its intervals, of shape (k, 2) in rising order."""
        middle = np.asarray(self.model.predict(table), np.float64)
        if not is_reachable(weight, coverage):
            return [np.array([[-np.inf, np.inf]]) for _ in middle]
        counted, limit = weight > 0, reach(weight, coverage)
        unions = []
        for block in blocks(len(middle), len(weight)):
            covariances, spread = self._covariances(rows_of(table, block))
            for center, c, v in zip(middle[block], covariances[:, counted], spread, strict=True):
                check_cancelled()
                u = 1 / (1 + float(v))
                starts, ends, rows = less_strange(self.residuals[counted], c * u, u)
                unions.append(center + where_below(starts, ends, weight[counted][rows], limit))
        return unions

    def _covariances(self, table: Any) -> tuple[Floats, Floats]:
        """`C(x_j, x)`, of shape (m, n), and `C(x, x)`, of shape (m,)."""
        parts = [smoother._influence(table) for smoother in self.smoothers]
        return np.hstack([shares for shares, _ in parts]) / self.weight, parts[0][1]


def blocks(n_rows: int, n_columns: int) -> Iterator[Positions]:
    """New rows in parts whose table against all calibration rows has room."""
    size = max(1, _BLOCK // n_columns)
    for start in range(0, n_rows, size):
        yield np.arange(start, min(start + size, n_rows))


def less_strange(e: Floats, g: Floats, u: float) -> tuple[Floats, Floats, Any]:
    """Where `|e_j - g_j t| < u |t|`: starts and ends of open intervals, and their rows.

    Examples
    --------
    >>> starts, ends, rows = less_strange(np.array([1.0]), np.array([0.0]), 0.5)
    >>> starts.tolist(), ends.tolist()
    ([-inf, 2.0], [-2.0, inf])
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        roots = np.sort(np.stack([e / (g + u), e / (g - u)]), axis=0)
    rows = np.arange(len(e))
    # A row that is fitted exactly is less strange than any other candidate, or than none.
    roots[:, e == 0] = 0.0
    around = np.abs(g) < u
    low, high = roots
    starts = np.concatenate([np.full(around.sum(), -np.inf), high[around], low[~around]])
    ends = np.concatenate([low[around], np.full(around.sum(), np.inf), high[~around]])
    rows = np.concatenate([rows[around], rows[around], rows[~around]])
    some = starts < ends
    return starts[some], ends[some], rows[some]


def where_below(starts: Floats, ends: Floats, weight: Floats, limit: float) -> Floats:
    """The closed intervals where open intervals of less than `limit` weight meet, shape (k, 2).

    Examples
    --------
    >>> where_below(np.array([-np.inf, 2.0]), np.array([-1.0, np.inf]), np.ones(2), 0.5).tolist()
    [[-1.0, 2.0]]
    """
    points = np.unique(np.concatenate([starts, ends]))
    points = points[np.isfinite(points)]
    if not points.size:
        return np.array([[-np.inf, np.inf]])
    begun, over = _running(starts, weight, points), _running(ends, weight, points)
    # Weight on the points themselves, where neither what starts nor what ends there counts, and
    # in the gaps before, between and after them.
    on_points = begun[0] - over[1] < limit
    gaps = np.concatenate([[begun[0][0] - over[0][0]], begun[1] - over[1]]) < limit
    inside = np.empty(2 * len(points) + 1, bool)
    inside[0::2], inside[1::2] = gaps, on_points
    change = np.flatnonzero(np.diff(np.concatenate([[False], inside, [False]]).astype(int)))
    # Where each gap or point begins; the next entry is where it ends.
    edges = np.concatenate([[-np.inf], np.repeat(points, 2), [np.inf]])
    return np.stack([edges[change[0::2]], edges[change[1::2]]], axis=1)


def _running(places: Floats, weight: Floats, points: Floats) -> tuple[Floats, Floats]:
    """Weight of the places before each point, and up to it."""
    order = np.argsort(places, kind="stable")
    sums = np.concatenate([[0.0], np.cumsum(weight[order])])
    ordered = places[order]
    left = np.searchsorted(ordered, points, "left")
    return sums[left], sums[np.searchsorted(ordered, points, "right")]
