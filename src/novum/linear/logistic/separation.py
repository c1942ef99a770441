"""Perfect separation: when the likelihood has no maximum, and which direction shows it.

Without a penalty the log loss has a minimum exactly if no direction separates the classes (Albert
and Anderson 1984): no `V`, not constant on all rows, with

    (V_y - V_k)'z >= 0   for every row (z, y) and every other class k.

Along such a direction the loss falls for ever and the coefficients grow without bound. Separation
is *complete* if all of these are above zero, else *quasi-complete*. The direction solves

    maximize  sum over rows and k of (V_y - V_k)'z   subject to these constraints and |V| <= 1,

a linear program with a constraint for every row. It is solved by cutting planes: a few rows, then
those rows that the solution violates most, until none does. A relaxed program with optimum zero
proves that there is no separation; a solution that violates no row proves that there is. It may
touch rows that another direction separates, so the least margin is then maximized in the same way:
above zero separation is complete.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from novum.core.learners import ConvergenceWarning
from novum.linear.logistic.objective import Shape
from novum.numerics import Floats, Integers

# A margin, relative to the sizes of its row and direction, that counts as above or below zero.
POSITIVE = 1e-6
NEGATIVE = 1e-8
# Parameters up to which the linear program is solved.
WIDEST = 1000
_CUTS = 400
_ROUNDS = 100


@dataclass(frozen=True, eq=False)
class Separation:
    """A direction along which the likelihood grows for ever.

    Attributes
    ----------
    kind : {"complete", "quasi-complete"}
    coef : array (1, n_coef) or (n_classes, n_coef)
    intercept : array (1,) or (n_classes,)
        Adding any multiple of the two to the coefficients makes the rows no less likely.
    separated : int
        Rows whose label it makes ever more likely; no row's label becomes less likely.
    rows : int
        Rows in all.
    """

    kind: str
    coef: Floats
    intercept: Floats
    separated: int
    rows: int

    def warn(self, learner: str) -> None:
        """Says that there is no optimum, and what to do."""
        what = "completely" if self.kind == "complete" else "quasi-completely"
        warnings.warn(
            f"{learner}: the classes are {what} separated: a direction makes the labels of "
            f"{self.separated} of {self.rows} rows ever more likely and no other less. The "
            "likelihood has no maximum, and the coefficients are those where the fit stopped; "
            "`separation_` has the direction in which they grow. Add a penalty (a finite C), or "
            "leave out the columns that separate.",
            ConvergenceWarning,
            stacklevel=5,
        )


@dataclass(frozen=True, eq=False)
class Margins:
    """What one pass says about a direction `V` of shape (q, p), in scaled coordinates.

    Attributes
    ----------
    total : array (q p,)
        Sum of all constraint vectors `(q_y - q_k) (x) z`, each divided by the size of `z`.
    cuts, depths : arrays (c, q p), (c,)
        The constraints furthest below the level asked for, and their margins.
    strict, touched, rows : int
        Rows with all margins above zero, with one above zero, and rows in all.
    """

    total: Floats
    cuts: Floats
    depths: Floats
    strict: int
    touched: int
    rows: int

    def __add__(self, other: Margins) -> Margins:
        cuts = np.concatenate([self.cuts, other.cuts])
        depths = np.concatenate([self.depths, other.depths])
        deepest = np.argsort(depths, kind="stable")[:_CUTS]
        return Margins(
            self.total + other.total,
            cuts[deepest],
            depths[deepest],
            self.strict + other.strict,
            self.touched + other.touched,
            self.rows + other.rows,
        )


Look = Callable[[Floats, float], Margins]


def margins(
    Z: Floats, codes: Integers, direction: Floats, shape: Shape, level: float = 0.0
) -> Margins:
    """The margins of rows `Z` (n, p), scaled and with the constant last, along a direction.

    Constraints below `level` are violated.
    """
    size = np.maximum(np.abs(Z).max(axis=1, keepdims=True), 1e-300)
    rows, basis = Z / size, _score_basis(shape)
    scores = rows @ (basis @ direction.reshape(-1, shape.width)).T
    n, K = scores.shape
    own = scores[np.arange(n), codes][:, np.newaxis] - scores
    own[np.arange(n), codes] = np.inf
    length = max(float(np.abs(direction).max()), 1e-300)
    least, most = own.min(axis=1) / length, np.where(np.isinf(own), -np.inf, own).max(axis=1)
    # sum over k != y of (q_y - q_k) is K q_y, because the q sum to zero.
    pull = K * basis[codes] - basis.sum(axis=0)
    flat = (own / length).ravel()
    deepest = np.flatnonzero(flat < level - NEGATIVE)
    if len(deepest) > _CUTS:
        deepest = deepest[np.argsort(flat[deepest], kind="stable")[:_CUTS]]
    at, k = np.divmod(deepest, K)
    cuts = (basis[codes[at]] - basis[k])[:, :, np.newaxis] * rows[at][:, np.newaxis, :]
    return Margins(
        (pull.T @ rows).ravel(),
        cuts.reshape(len(at), direction.size),
        flat[deepest],
        int(np.count_nonzero(least > POSITIVE)),
        int(np.count_nonzero(most / length > POSITIVE)),
        n,
    )


def find_direction(look: Look, size: int, start: Floats) -> tuple[Floats, Margins] | None:
    """A separating direction in scaled coordinates with its margins, or None if there is none.

    Parameters
    ----------
    look : callable
        Margins of all rows along a direction (P,), with the constraints below a level.
    size : int
        Number of parameters.
    start : array (P,)
        A first guess, such as the coefficients where a fit stopped.
    """
    direction, cuts = start, np.empty((0, size))
    for _ in range(_ROUNDS):
        if np.abs(direction).max(initial=0.0) > 0:
            seen = look(direction, 0.0)
            cuts = np.concatenate([cuts, seen.cuts])
            if not seen.depths.size and seen.touched:
                return _widest(look, cuts, direction, seen)
        else:
            seen = look(np.ones(size), 0.0)
        optimum = _program(
            -seen.total / max(float(np.abs(seen.total).max()), 1e-300), -cuts, bounds=(-1.0, 1.0)
        )
        if optimum.x is None or -optimum.fun <= 1e-9:
            return None
        direction = optimum.x
    return None


def _widest(look: Look, cuts: Floats, direction: Floats, seen: Margins) -> tuple[Floats, Margins]:
    """The direction if all its margins are above zero, else one with a larger least margin.

    Solves `maximize t subject to margins >= t, |V| <= 1`, again by cutting planes; without a
    solution above zero separation is quasi-complete, and the direction stays.
    """
    known, now = (direction, seen), direction
    below = seen if seen.strict == seen.rows else look(now, 1.0)
    for _ in range(_ROUNDS):
        if below.strict == below.rows:
            return now, below
        cuts = np.concatenate([cuts, below.cuts])
        optimum = _program(
            np.append(np.zeros(now.size), -1.0),
            np.column_stack([-cuts, np.ones(len(cuts))]),
            bounds=[(-1.0, 1.0)] * now.size + [(0.0, 1.0)],
        )
        if optimum.x is None or optimum.x[-1] <= POSITIVE:
            return known
        now = optimum.x[:-1]
        below = look(now, float(optimum.x[-1]))
    return known


def _program(cost: Floats, limits: Floats, bounds: Any) -> Any:
    """`minimize cost'x` subject to `limits x <= 0` and bounds."""
    from scipy.optimize import linprog

    return linprog(
        cost,
        A_ub=limits,
        b_ub=np.zeros(len(limits)),
        bounds=bounds,
        method="highs",
        options={"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10},
    )


def _score_basis(shape: Shape) -> Floats:
    """Scores of both of two classes, or of all, by the parameters."""
    if shape.n_classes == 2:
        return np.array([[-0.5], [0.5]])
    return shape.basis


def as_separation(
    direction: Floats, seen: Margins, scale: Floats, center: Floats, shape: Shape
) -> Separation:
    """The direction in the user's columns; `scale` (p,) made the coordinates of the search."""
    V = direction.reshape(-1, shape.width) * scale
    W = shape.coefficients(V.ravel())
    W = W / max(float(np.abs(W).max()), 1e-300)
    intercept = W[:, -1] - W[:, :-1] @ center if shape.fit_intercept else W[:, -1]
    kind = "complete" if seen.strict == seen.rows else "quasi-complete"
    return Separation(kind, W[:, :-1], intercept, seen.touched, seen.rows)
