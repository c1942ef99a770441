"""Rounds of the decomposition: optimize a block of variables, bring the products up to date.

    WholeRounds    all variables are the block, plain code, double precision: small problems
    BlockRounds    a working set, kernel rows from the cache in single precision

A block works with single-precision kernel values and gradients. With `g - r`, the gradient relative
to the multiplier, single precision has seven digits of the violation itself; coefficients and
products are kept in double precision, and after `Descent.recompute` only changes since then carry
single-precision errors. So rounds correct each other, as in iterative refinement.

Without prescribed sums a slack variable is added, unbounded, with a kernel of zero: a pair with it
is a step of one variable.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from novum.numerics.jit import as_argument
from novum.svm.solver.descent import Descent
from novum.svm.solver.extrapolation import Extrapolation
from novum.svm.solver.optimality import Terms
from novum.svm.solver.plain_steps import plain_steps
from novum.svm.solver.row_cache import RowCache
from novum.svm.solver.working_set import Extremes, select

Floats = NDArray[np.float64]
Positions = NDArray[np.intp]

BLOCK = 1024
# A block is solved to this share of the violation at its beginning.
_SHARE = 0.1
# Steps of a round, so that Ctrl-C and time limits act between rounds.
_MOST_STEPS = 20_000
_PLAIN_STEPS = 2_000
# Curvatures below this share of the diagonal are rounding errors of single precision.
_TAU = 1e-6


class WholeRounds:
    """All variables, plain code."""

    def __init__(self, descent: Descent) -> None:
        gram = descent.kernel.gram()
        Q = gram[np.ix_(descent.rows, descent.rows)]
        self._slack = 0 if descent.terms.is_grouped else 1
        self._Q = np.pad(Q, (0, self._slack))
        self._terms = with_slack(descent.terms) if self._slack else descent.terms

    def advance(self, descent: Descent, g: Floats, ends: Extremes, most: int) -> int:
        b = np.append(descent.b, np.zeros(self._slack))
        local = np.append(g, np.zeros(self._slack))
        tol = _SHARE * ends.violation
        taken = plain_steps(self._Q, self._terms, b, local, tol, min(most, _PLAIN_STEPS))
        descent.b = b[: len(descent.b)]
        descent.recompute()
        return taken


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

    def _block(
        self, descent: Descent, chosen: Positions, slots: NDArray[np.int64]
    ) -> NDArray[np.float32]:
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
