"""Newton steps on the unbound variables: what sequential steps of two variables approach slowly.

Once it is known which coefficients are at their bounds, the others solve a linear system,

    K_SS d - r = -g_S,      sum of d over each group = 0.

Here `S` are the unbound variables and those at a bound that want to leave it. The program over `S`
is solved by the primal-dual active-set method (Hintermueller, Ito and Kunisch 2003): solve for the
variables held to be free, put those that left their box on the bound, free those whose multiplier
has the wrong sign, until nothing changes. Whatever comes out is brought back into the feasible set
and only gives a direction: the step along it minimizes the objective, so no step makes it worse.
"""

from __future__ import annotations

import numpy as np

from novum.numerics import Floats, Mask, Positions, factorize
from novum.svm.solver.descent import Descent
from novum.svm.solver.feasibility import shifted
from novum.svm.solver.optimality import Terms, middle_multipliers
from novum.svm.solver.row_cache import Check, go_on

# Largest system that is factorized: its matrix has 200 MB.
MOST_VARIABLES = 5000
_CHANGES = 12
# Up to so many variables bounds may join and leave one by one.
_FEW = 400
# Added to the diagonal, relative to its mean, when a factorization fails.
_RIDGES = (1e-12, 1e-10, 1e-8)


def polish(descent: Descent, most: int = MOST_VARIABLES) -> bool:
    """One Newton step, of up to `most` variables; whether it lowered the objective."""
    terms, b, g = descent.terms, descent.b, descent.gradient()
    chosen = candidates(terms, b, g)
    if not 0 < chosen.size <= most:
        return False
    part = _restricted(terms, chosen)
    K = descent.kernel.block(descent.rows[chosen])
    target = _block_optimum(K, part, b[chosen], g[chosen], descent.kernel.check)
    if target is None:
        return False
    if not terms.is_grouped:
        target = np.clip(target, part.lower, part.upper)
    for segment in part.segments if terms.is_grouped else []:
        low, high = part.lower[segment], part.upper[segment]
        target[segment] = shifted(target[segment], low, high, float(b[chosen][segment].sum()))
    return _move(descent, chosen, target, g)


def candidates(terms: Terms, b: Floats, g: Floats) -> Positions:
    """Unbound variables, and those at a bound with a multiplier of the wrong sign."""
    excess = g - np.repeat(middle_multipliers(terms, b, g), np.diff(terms.starts))
    rises, falls = b < terms.upper, b > terms.lower
    return np.flatnonzero((rises & falls) | (rises & (excess < 0)) | (falls & (excess > 0)))


def _move(descent: Descent, chosen: Positions, target: Floats, g: Floats) -> bool:
    """Go towards the target as far as the objective falls."""
    d = target - descent.b[chosen]
    moved = np.flatnonzero(d)
    slope = float(g[chosen] @ d)
    if not slope < 0:
        return False
    change = descent.kernel.product(descent.rows[chosen[moved]], d[moved])
    curvature = float(change[descent.rows[chosen]] @ d)
    share = min(1.0, -slope / curvature) if curvature > 0 else 1.0
    descent.b[chosen] = target if share == 1.0 else descent.b[chosen] + share * d
    np.clip(descent.b, descent.terms.lower, descent.terms.upper, out=descent.b)
    descent.F += share * change
    return True


def _restricted(terms: Terms, chosen: Positions) -> Terms:
    starts = np.searchsorted(chosen, terms.starts)
    return terms._replace(
        linear=terms.linear[chosen],
        lower=terms.lower[chosen],
        upper=terms.upper[chosen],
        starts=starts.astype(np.intp),
    )


# --- The program of a block -----------------------------------------------------------------------


def _block_optimum(K: Floats, part: Terms, b: Floats, g: Floats, check: Check) -> Floats | None:
    """Where active sets settle, or the last point tried; None if no system could be solved."""
    side = np.zeros(len(b), np.int8)
    target: Floats | None = None
    for _ in range(_CHANGES):
        check()
        free = side == 0
        bound = np.where(side < 0, part.lower, np.where(side > 0, part.upper, b))
        fixed = np.where(free, 0.0, bound - b)
        step = _newton_step(K, part, g + K @ fixed, fixed, free)
        if step is None:
            break
        d, r = step
        target = b + d
        excess = g + K @ d - r
        left = free & ((target < part.lower) | (target > part.upper))
        new = np.where(left, np.where(target < part.lower, -1, 1), side)
        wrong = ((side < 0) & (excess < 0)) | ((side > 0) & (excess > 0))
        new = np.where(wrong, 0, new).astype(np.int8)
        if np.array_equal(new, side):
            return target
        side = new
    return one_at_a_time(K, part, b, g, check) if len(b) <= _FEW else target


def one_at_a_time(K: Floats, part: Terms, b: Floats, g: Floats, check: Check = go_on) -> Floats:
    """The classical active-set method: bounds join and leave one by one, the objective falls.

    Slower than changing whole sets, and not misled by systems that are nearly singular.
    """
    x, free = b.copy(), np.ones(len(b), bool)
    nothing = np.zeros(len(b))
    for _ in range(4 * len(b)):
        check()
        now = g + K @ (x - b)
        step = _newton_step(K, part, now, nothing, free)
        if step is None:
            break
        d, r = step
        room = np.where(d > 0, part.upper - x, x - part.lower)
        moving = free & (d != 0)
        shares = np.full(len(b), np.inf)
        shares[moving] = room[moving] / np.abs(d[moving])
        first = int(np.argmin(shares))
        if shares[first] < 1:
            x = np.clip(x + max(shares[first], 0.0) * d, part.lower, part.upper)
            x[first] = part.upper[first] if d[first] > 0 else part.lower[first]
            free[first] = False
            continue
        x = x + d
        excess = now + K @ d - r
        wrong = np.where(x <= part.lower, -excess, excess) * ~free
        worst = int(np.argmax(wrong))
        if not wrong[worst] > 1e-12 * np.abs(now).max():
            break
        free[worst] = True
    return x


def _newton_step(
    K: Floats, part: Terms, g: Floats, fixed: Floats, free: Mask
) -> tuple[Floats, Floats] | None:
    """Changes of all variables, and the multiplier of each, for a choice of the free ones."""
    places = np.flatnonzero(free)
    if not places.size:
        return None
    n_groups = len(part.totals) if part.is_grouped else 0
    group = np.repeat(np.arange(len(part.totals)), np.diff(part.starts))
    member = (group[places, None] == np.arange(n_groups)).astype(float)
    missing = -np.bincount(group, weights=fixed, minlength=len(part.totals))[:n_groups]
    if n_groups and not member.any(axis=0).all():
        return None
    solved = _solved(
        K if free.all() else K[np.ix_(places, places)], np.column_stack([-g[places], member])
    )
    if solved is None:
        return None
    r = np.zeros(len(part.totals))
    d = fixed.copy()
    d[places] = solved[:, 0]
    if n_groups:
        r = np.linalg.lstsq(
            member.T @ solved[:, 1:], missing - member.T @ solved[:, 0], rcond=None
        )[0]
        d[places] += solved[:, 1:] @ r
    return d, r[group]


def _solved(K: Floats, right: Floats) -> Floats | None:
    """`K` inverse times `right`, with the least ridge that makes `K` positive definite."""
    from scipy import linalg

    scale = float(np.diag(K).mean())
    if not scale > 0:
        return None
    for ridge in _RIDGES:
        ridged = np.array(K, order="F")
        ridged.ravel("K")[:: len(K) + 1] += ridge * scale
        if factorize(ridged):
            return np.asarray(linalg.cho_solve((ridged, True), right, check_finite=False))
    return None
