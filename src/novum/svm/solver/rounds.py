"""Rounds of the decomposition: optimize a block of variables, bring the products up to date.

    WholeRounds    all variables are the block, double precision: small problems
    BlockRounds    a working set, kernel rows from the cache in single precision

A block works with single-precision kernel values and gradients. With `g - r`, the gradient relative
to the multiplier, single precision has seven digits of the violation itself; coefficients and
products are kept in double precision, and after `Descent.recompute` only changes since then carry
single-precision errors. So rounds correct each other, as in iterative refinement.

Without prescribed sums a slack variable is added, unbounded, with a kernel of zero: a pair with it
is a step of one variable.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from novum.numerics import Floats, Integers, Positions, as_argument
from novum.svm.solver.descent import Descent
from novum.svm.solver.feasibility import shifted
from novum.svm.solver.optimality import Terms
from novum.svm.solver.row_cache import RowCache
from novum.svm.solver.small import Programs, take_steps

BLOCK = 1024
# A block is solved to this share of the violation at its beginning.
_SHARE = 0.1
# Steps of a round, so that Ctrl-C and time limits act between rounds.
_MOST_STEPS = 20_000
_WHOLE_STEPS = 2_000
# Curvatures below this share of the diagonal are rounding errors of single precision.
_TAU = 1e-6


class WholeRounds:
    """All variables, on the whole Gram matrix in double precision."""

    def __init__(self, descent: Descent) -> None:
        gram, fixed = descent.kernel.gram(), descent.reduction.fixed_by_object
        slack = 0 if descent.terms.is_grouped else 1
        terms = with_slack(descent.terms) if slack else descent.terms
        # The slack variable is the coefficient of an object without similarities.
        self._K = np.pad(gram, (0, slack)) if slack else np.ascontiguousarray(gram)
        linear = terms.linear.copy()
        linear[: len(descent.b)] += (gram @ fixed)[descent.rows]
        self._program = Programs(
            np.append(descent.rows, [len(gram)] * slack).astype(np.int64),
            np.array([linear, terms.lower, terms.upper]),
            np.zeros((2, len(linear))),
            terms.starts.astype(np.int64),
            len(terms.totals),
            terms.totals,
        )

    def advance(self, descent: Descent, g: Floats, ends: Extremes, most: int) -> int:
        del g
        n = len(descent.b)
        self._program.point[0, :n] = descent.b
        self._program.point[0, n:] = 0.0
        tol = np.array([max(_SHARE * ends.violation, 0.0)])
        [taken] = take_steps(self._K, self._program, tol, min(most, _WHOLE_STEPS))
        descent.b = self._program.point[0, :n].copy()
        descent.recompute()
        return int(taken)


class BlockRounds:
    """A working set, kernel rows in single precision."""

    def __init__(self, descent: Descent, cache_bytes: int) -> None:
        self._cache = RowCache(descent.kernel.prepared, cache_bytes, BLOCK, descent.kernel.check)
        # Units in which the largest kernel value is about 1 keep single precision from overflowing.
        self._scale = power_of_two(descent.largest())
        self._extrapolation = Extrapolation()
        self._last: Positions = np.zeros(0, np.intp)
        self._place = np.full(len(descent.b), -1, np.int64)
        size = min(BLOCK, len(descent.b)) + (0 if descent.terms.is_grouped else 1)
        self._blocks = [_zeros(size) for _ in range(2)]

    def advance(self, descent: Descent, g: Floats, ends: Extremes, most: int) -> int:
        chosen = select(descent.terms, descent.b, g, ends, BLOCK, self._last)
        slots = self._cache.slots(descent.rows[chosen])
        K = self._block(descent, chosen, slots)
        b, taken = block_optimum(descent, chosen, K, self._scale, g, ends, most)
        d = b - descent.b[chosen]
        moved = np.flatnonzero(d)
        descent.b[chosen] = b
        if descent.is_fresh:
            self._extrapolation.forget()
            descent.is_fresh = False
        self._cache.add_product(slots[moved], d[moved], descent.F)

        def add_product(variables: Positions, amounts: Floats, out: Floats) -> None:
            for piece in range(0, variables.size, BLOCK):
                part = slice(piece, piece + BLOCK)
                places = self._cache.slots(descent.rows[variables[part]])
                self._cache.add_product(places, amounts[part], out)

        self._extrapolation.after_round(descent, chosen, add_product)
        return taken

    def _block(self, descent: Descent, chosen: Positions, slots: Integers) -> NDArray[np.float32]:
        """Kernel values of the block, with the zeros of a slack variable."""
        from novum.svm.solver.smo_kernels import gather_block

        before, block = self._blocks
        size = chosen.size + (0 if descent.terms.is_grouped else 1)
        if size != len(block):
            block = _zeros(size)
        columns = as_argument(descent.rows[chosen], np.int64)
        factor = np.float32(1 / self._scale)
        places = self._place[chosen]
        gather_block(self._cache.rows, slots, columns, factor, before, places, block)
        self._place[self._last] = -1
        self._place[chosen] = np.arange(chosen.size)
        self._blocks = [block, before if len(before) == size else _zeros(size)]
        self._last = chosen
        return block


# --- A block --------------------------------------------------------------------------------------


def block_optimum(
    descent: Descent,
    chosen: Positions,
    K: NDArray[np.float32],
    scale: float,
    g: Floats,
    ends: Extremes,
    most: int,
) -> tuple[Floats, int]:
    """The coefficients of a block after compiled steps, and how many steps there were.

    `K` has the kernel values over `scale`, with those of the slack variable where there is one.
    Gradients are taken in units of the violation and coefficients in those that fit both. All
    units are powers of two, so that bounds stay exact.
    """
    from novum.svm.solver.smo_kernels import block_steps

    terms = descent.terms
    starts = np.searchsorted(chosen, terms.starts).astype(np.int64)
    centers = np.zeros(len(starts) - 1)
    if terms.is_grouped:
        middle = (ends.least + ends.largest) / 2
        centers = np.where(np.isfinite(middle), middle, 0.0)
    n = chosen.size
    slope = power_of_two(ends.violation)
    unit = slope / scale
    bounds = np.zeros((3, len(K)))
    bounds[:, :n] = descent.b[chosen], terms.lower[chosen], terms.upper[chosen]
    bounds /= unit
    bounds[:, n:] = [[0.0], [-np.inf], [np.inf]]
    work = np.zeros((5, len(K)), np.float32)
    work[0, :n] = (g[chosen] - np.repeat(centers, np.diff(starts))) / slope
    work[1] = np.where(bounds[0] < bounds[2], 0.0, np.inf)
    work[2] = np.where(bounds[0] > bounds[1], 0.0, -np.inf)
    work[3] = K.diagonal()
    starts[-1] = len(K)
    tol = _SHARE * ends.violation / slope
    taken = block_steps(K, work, bounds, starts, _TAU, tol, min(most, _MOST_STEPS))
    return bounds[0, :n] * unit, int(taken)


def power_of_two(size: float) -> float:
    """The power of two at or below a positive number, and 1 for what is none.

    >>> power_of_two(0.3), power_of_two(8.0), power_of_two(0.0)
    (0.25, 8.0, 1.0)
    """
    if not 0 < size < np.inf:
        return 1.0
    return float(2.0 ** np.floor(np.log2(size)))


def _zeros(size: int) -> NDArray[np.float32]:
    """A square block, padded: columns at strides of a power of two would share cache lines."""
    return np.zeros((size, size + 16), np.float32)


def with_slack(terms: Terms) -> Terms:
    """The program with the slack variable at the end of its only segment."""
    return terms._replace(
        linear=np.append(terms.linear, 0.0),
        lower=np.append(terms.lower, -np.inf),
        upper=np.append(terms.upper, np.inf),
        starts=terms.starts + np.array([0, 1]),
    )


# --- Working sets ---------------------------------------------------------------------------------
#
# In a group whose multiplier must lie between `M = max g over what can fall` and `m = min g over
# what can rise`, every variable that can rise with `g < M`, or can fall with `g > m`, is part of a
# violating pair. Half of the working set are the worst of these, as many that rise as that fall.
# The other half stays from the round before, unbound variables first: they are the ones whose
# coefficients the new ones disturb (Joachims 1999; Zanni, Serafini and Zanghirati 2006).


class Extremes(NamedTuple):
    """For each group the least gradient of what can rise, the largest of what can fall."""

    least: Floats
    largest: Floats

    @property
    def violations(self) -> Floats:
        return self.largest - self.least

    @property
    def violation(self) -> float:
        return float(np.max(self.violations, initial=-np.inf))


def extremes(terms: Terms, b: Floats, g: Floats) -> Extremes:
    """Where the multipliers would have to lie; without groups they are zero."""
    rises, falls = b < terms.upper, b > terms.lower
    walls = (np.inf, -np.inf) if terms.is_grouped else (0.0, 0.0)
    parts = terms.segments
    least = np.array([g[part].min(where=rises[part], initial=walls[0]) for part in parts])
    largest = np.array([g[part].max(where=falls[part], initial=walls[1]) for part in parts])
    return Extremes(least, largest)


def select(
    terms: Terms, b: Floats, g: Floats, ends: Extremes, size: int, last: Positions
) -> Positions:
    """Up to `size` variables, in ascending order.

    Parameters
    ----------
    terms : Terms
    b, g : arrays of shape (n_variables,)
        Coefficients and gradient.
    ends : Extremes
    size : int
    last : int array
        The working set of the round before, or empty.
    """
    if size >= len(b):
        return np.arange(len(b))
    chosen = np.zeros(len(b), bool)
    violating = np.flatnonzero(ends.violations > 0)
    share = max(1, size // (4 * max(1, violating.size)))
    for group in violating:
        part = terms.segments[group]
        inside = np.arange(part.start, part.stop)
        value = g[part]
        rises = (b[part] < terms.upper[part]) & (value < ends.largest[group])
        falls = (b[part] > terms.lower[part]) & (value > ends.least[group])
        chosen[_least(inside[rises], value[rises], share)] = True
        chosen[_least(inside[falls], -value[falls], share)] = True
    room = size - int(chosen.sum())
    kept = last[~chosen[last]]
    unbound = (b[kept] > terms.lower[kept]) & (b[kept] < terms.upper[kept])
    order = np.argsort(~unbound, kind="stable")
    chosen[kept[order[:room]]] = True
    return np.flatnonzero(chosen)


def _least(members: Positions, values: Floats, count: int) -> Positions:
    """The `count` members of least value; of equal ones, any, but always the same."""
    if members.size <= count:
        return members
    return members[np.argpartition(values, count - 1)[:count]]


# --- Extrapolation --------------------------------------------------------------------------------
#
# Rounds on blocks approach the optimum of many unbound variables as block coordinate descent does:
# along a path that turns slowly. Between snapshots of a descent some rounds apart, the
# displacements `D_k = b_{k+1} - b_k` have known products `K D_k = F_{k+1} - F_k`, so the minimum
# over all their combinations costs a system of a few unknowns and no kernel value (Zibulevsky and
# Elad 2010 call it sequential subspace optimization):
#
#     min over theta   g' D theta + theta' D'KD theta / 2.
#
# What leaves the box is put on its bound and the sums are restored by the variables of the last
# working set. Only these corrections need kernel rows. The result is a feasible direction, and the
# step along it minimizes the objective.


# Adds `sum_v amounts_v K_v` over variables `v` to the products it is given.
AddProduct = Callable[[Positions, Floats, Floats], None]

# Rounds between snapshots, and how many displacements are kept.
SPACING = 8
_KEPT = 5


class Extrapolation:
    """Snapshots of a descent, and the steps they suggest."""

    def __init__(self) -> None:
        self._points: list[tuple[Floats, Floats]] = []
        self._rounds = 0

    def forget(self) -> None:
        """Start anew: products were recomputed, so differences to older ones are not `K D`."""
        self._points = []

    def after_round(self, descent: Descent, last: Positions, add_product: AddProduct) -> None:
        """Note the point; every so many rounds move to the minimum over the displacements."""
        self._rounds += 1
        if self._rounds % SPACING:
            return
        self._note(descent)
        if len(self._points) > 1 and self._extrapolate(descent, last, add_product):
            self._note(descent)

    def _note(self, descent: Descent) -> None:
        self._points.append((descent.b.copy(), descent.F.copy()))
        del self._points[: -_KEPT - 1]

    def _extrapolate(self, descent: Descent, last: Positions, add_product: AddProduct) -> bool:
        pairs = list(zip(self._points[:-1], self._points[1:], strict=True))
        D = np.array([later[0] - earlier[0] for earlier, later in pairs])
        KD = np.array([later[1] - earlier[1] for earlier, later in pairs])
        g, terms = descent.gradient(), descent.terms
        H, slopes = D @ descent.to_variables(KD).T, D @ g
        if not (np.isfinite(H).all() and np.isfinite(slopes).all()):
            return False
        theta = _minimum(H, slopes)
        wanted = theta @ D
        target = _feasible(descent, descent.b + wanted, last)
        d = target - descent.b
        slope = float(g @ d)
        if not slope < 0:
            return False
        correction = d - wanted
        corrected = np.flatnonzero(np.abs(correction) > 1e-14 * np.abs(wanted).max())
        change = theta @ KD
        add_product(corrected, correction[corrected], change)
        curvature = float(descent.to_variables(change) @ d)
        share = min(1.0, -slope / curvature) if curvature > 0 else 1.0
        moved = target if share == 1.0 else descent.b + share * d
        descent.b = np.clip(moved, terms.lower, terms.upper)
        descent.F = descent.F + share * change
        return True


def _minimum(H: Floats, slopes: Floats) -> Floats:
    """`theta` of least `slopes' theta + theta' H theta / 2`, tame where directions are alike."""
    H = (H + H.T) / 2
    curvatures = np.diag(H)
    # Displacements without curvature are rounding errors, or lead to infinity.
    real = curvatures > 1e-12 * max(curvatures.max(), 1e-250)
    scale = np.where(real, 1 / np.sqrt(np.where(real, curvatures, 1.0)), 0.0)
    solved = np.linalg.lstsq(H * np.outer(scale, scale), -slopes * scale, rcond=1e-6)[0]
    return np.asarray(solved * scale)


def _feasible(descent: Descent, x: Floats, last: Positions) -> Floats:
    """`x` on the bounds where it left the box, the sums restored within the last working set."""
    terms = descent.terms
    target = np.clip(x, terms.lower, terms.upper)
    if not terms.is_grouped:
        return target
    for part in terms.segments:
        inside = last[(last >= part.start) & (last < part.stop)]
        missing = float(descent.b[part].sum() - target[part].sum())
        low, high = terms.lower[inside], terms.upper[inside]
        total = float(target[inside].sum()) + missing
        if missing == 0.0:
            continue
        if not low.sum() <= total <= high.sum():
            # No room in the working set: this group stays where it is.
            target[part] = descent.b[part]
        elif inside.size:
            target[inside] = shifted(x[inside], low, high, total)
    return target
