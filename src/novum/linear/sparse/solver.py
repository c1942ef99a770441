"""Working sets: the lasso on the few columns that matter, proved on all of them.

    look      q = A'r over the columns that may be active; gap; leave out what it proves to be zero
    choose    the active columns and those nearest to becoming so
    descend   coordinate descent on the cross-products of these columns (`descent_kernels`)

until the gap is at most `tol` times the objective. Cross-products are computed once for every pair
of columns that meet in a working set, or for all columns where that costs less than the looks;
then no row is touched but for the last look, whose residual is summed anew. Where passes gain
little, Newton's step on the active columns takes their place, cut where a coefficient changes its
sign: there the objective is quadratic. The last look always takes in all columns, so that the
certificate does not rest on screening. Working sets too wide for cross-products are descended on
the columns themselves.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import numpy as np
from scipy import linalg

from novum.core.runtime import check_memory, is_late, long_call, stops_at_deadline
from novum.linear.logistic.objective import Factor
from novum.linear.sparse.columns import Columns
from novum.linear.sparse.objective import Duality, Penalty, duality, may_be_active
from novum.numerics import EPSILON, Floats, Mask, Positions, as_argument

# Columns of a working set up to which cross-products are kept, and Newton's step is solved.
WIDEST_GRAM = 3000
# Looks at all columns that cost as much as the cross-products of p = LOOKS * looks of them.
LOOKS = 12
# Moves of one call of a kernel, about a tenth of a second.
_CALL_CELLS = 5e7
_FIRST_SET = 64
_ROUNDS = 10
_STUCK = 20
# Residuals of a look are right to this share of the target's square.
ROUNDING = 64 * EPSILON


@dataclass(frozen=True, eq=False)
class SparseSolution:
    """A solution of one problem.

    Attributes
    ----------
    coef : array (p,)
    known : Duality
    passes : int
        Over the working sets.
    looks : int
        At all columns.
    screened : int
        Columns that were proved to be zero.
    stopped_by : str or None
        Why the gap was not reached.
    trace : tuple of float
        The relative gap of every look.
    products : array (p,)
        `A'r`.
    """

    coef: Floats
    known: Duality
    passes: int
    looks: int
    screened: int
    stopped_by: str | None
    trace: tuple[float, ...]
    products: Floats


@dataclass(eq=False)
class Products:
    """Cross-products of columns that have met, or of all of them."""

    columns: Columns
    whole: Floats | None = None
    _place: dict[int, int] = field(default_factory=dict)
    _block: Floats = field(default_factory=lambda: np.empty((0, 0)))

    @classmethod
    def over(cls, columns: Columns, looks: int, wanted: bool | None = None) -> Products:
        """All cross-products at once, if that is wanted or costs less than so many looks."""
        n, p = columns.shape
        cheap = p <= min(n, WIDEST_GRAM) and p <= LOOKS * looks
        if wanted is False or (wanted is None and not cheap):
            return cls(columns)
        check_memory(8 * p * p, f"The cross-products of {p} columns", "Use precompute=False.")
        every = np.arange(p)
        whole = long_call(lambda: columns.gram(every, every), 1.0 * n * p * p, "cross-products")
        return cls(columns, whole)

    def of(self, chosen: Positions) -> Floats:
        """`A_i'A_j` over the chosen columns, a new array."""
        if self.whole is not None:
            return np.ascontiguousarray(self.whole[np.ix_(chosen, chosen)])
        new = np.array([j for j in chosen.tolist() if j not in self._place], np.intp)
        if new.size:
            self._add(new)
        places = np.array([self._place[j] for j in chosen.tolist()], np.intp)
        return np.ascontiguousarray(self._block[np.ix_(places, places)])

    def _add(self, new: Positions) -> None:
        if len(self._place) + new.size > WIDEST_GRAM:
            # What met long ago may never meet again.
            self._place.clear()
        old = np.fromiter(self._place, np.intp, len(self._place))
        size = old.size + new.size
        if size > len(self._block):
            room = np.empty((min(2 * size, max(size, WIDEST_GRAM)),) * 2)
            room[: old.size, : old.size] = self._block[: old.size, : old.size]
            self._block = room
        self._block[old.size : size, old.size : size] = self.columns.gram(new, new)
        if old.size:
            across = self.columns.gram(old, new)
            self._block[: old.size, old.size : size] = across
            self._block[old.size : size, : old.size] = across.T
        self._place |= {int(j): old.size + k for k, j in enumerate(new)}


class Problem:
    """One target over columns whose cross-products are shared with other targets and penalties."""

    def __init__(self, products: Products, t: Floats) -> None:
        self.products, self.columns, self.t = products, products.columns, t
        self.total = float(t @ t)
        self.fits = self.columns.products(t)

    def solve(
        self,
        penalty: Penalty,
        *,
        tol: float,
        max_iter: int,
        start: Floats | None = None,
        near: float | None = None,
        screening: bool = True,
        finish: bool = False,
        order: np.random.Generator | None = None,
    ) -> SparseSolution:
        """Minimizes `P`; see `objective`.

        Parameters
        ----------
        penalty : Penalty
        tol : float
            Largest gap, as a share of the objective.
        max_iter : int
            Passes over working sets.
        start : array (p,), optional
        near : float, optional
            Columns whose pull is at least this share of their `l1` are taken at once; known on
            paths.
        screening : bool
            Leave out what is proved to be zero.
        finish : bool
            Ends with Newton's step, so that all digits of the coefficients are right, whatever
            `tol`.
        order : Generator, optional
            Visits the columns of a working set in random order.
        """
        return _Descent(self, penalty, tol, max_iter, start, screening, finish, order).run(near)


class _Descent:
    def __init__(
        self,
        problem: Problem,
        penalty: Penalty,
        tol: float,
        max_iter: int,
        start: Floats | None,
        screening: bool,
        finish: bool,
        order: np.random.Generator | None,
    ) -> None:
        self.problem, self.columns, self.penalty = problem, problem.columns, penalty
        self.tol, self.max_iter, self.screening, self.finish = tol, max_iter, screening, finish
        self.order = order
        p = self.columns.shape[1]
        self.b = np.zeros(p) if start is None else np.where(self.columns.squares > 0, start, 0.0)
        if penalty.positive:
            self.b = np.maximum(self.b, 0.0)
        self.q = problem.fits.copy()
        self.live: Mask = np.asarray(self.columns.squares > 0)
        self.passes, self.looks = 0, 0
        self.trace: list[float] = []

    def run(self, near: float | None) -> SparseSolution:
        stopped_by, best, stuck, size = None, np.inf, 0, _FIRST_SET
        known, fresh = self._look(), False
        while True:
            done = self._is_done(known)
            if done and self._is_complete:
                if fresh or not self.finish:
                    break
                # One exact solution on the active columns, then the last look at the rows.
                known, fresh = self._finished(known), True
                continue
            if done:
                self.live = np.asarray(self.columns.squares > 0)
                known = self._look(complete=True)
                continue
            stuck = 0 if known.gap < 0.99 * best else stuck + 1
            best = min(best, known.gap)
            if self.passes >= self.max_iter or stuck >= _STUCK or stops_at_deadline():
                stopped_by = "max_iter" if self.passes >= self.max_iter else "precision"
                stopped_by = "deadline" if is_late() else stopped_by
                known = self._look(complete=True)
                break
            if self.screening:
                self._screen(known)
            chosen = self._working_set(known, size, near)
            size, near = max(size, 2 * int(np.count_nonzero(self.b))) * 2, None
            self._descend(chosen, known)
            known, fresh = self._look(), False
        return SparseSolution(
            self.b,
            known,
            self.passes,
            self.looks,
            int(np.count_nonzero(~self.live)),
            stopped_by,
            tuple(self.trace),
            self.q,
        )

    # Looks

    def _look(self, *, complete: bool = False) -> Duality:
        """Residual and products of the present coefficients, and the gap."""
        self.looks += 1
        active = np.flatnonzero(self.b)
        whole = self.problem.products.whole
        if whole is not None and not complete and not self.finish:
            self.q = self.problem.fits - self.b[active] @ whole[active]
            square = self.problem.total - float(
                self.b[active] @ (self.problem.fits + self.q)[active]
            )
            self._is_complete = True
            known = duality(self.b, self.q, max(square, 0.0), self.penalty)
        else:
            known = self._look_at_rows(active, complete)
        self.trace.append(known.relative)
        return known

    def _look_at_rows(self, active: Positions, complete: bool) -> Duality:
        self.r = self.problem.t - self.columns.scores(self.b, active)
        if self.columns.mean.any():
            # Rounding leaves a little along `v`, which the dual must not have.
            self.r -= float(self.columns.root @ self.r) * self.columns.root
        live = np.flatnonzero(self.live)
        self._is_complete = complete or 2 * live.size > self.live.size
        square = float(self.r @ self.r)
        if self._is_complete:
            self.q = self.columns.products(self.r)
            self.q[self.columns.squares == 0] = 0.0
            return duality(self.b, self.q, square, self.penalty)
        self.q[live] = self.columns.products(self.r, live)
        return duality(self.b[live], self.q[live], square, self.penalty.part(live))

    def _is_done(self, known: Duality) -> bool:
        return known.gap <= max(self.tol * known.primal, ROUNDING * self.problem.total)

    def _screen(self, known: Duality) -> None:
        kept = may_be_active(self.q, self.columns.squares, known, self.penalty)
        self.live &= kept | (self.b != 0)

    def _working_set(self, known: Duality, size: int, near: float | None) -> Positions:
        """Active columns, and those that come next: sorted by how far they are from it."""
        penalty = self.penalty
        pull = penalty.pull(self.q)
        active = self.live & (self.b != 0)
        if not penalty.l1.any():
            return self._ordered(np.flatnonzero(self.live))
        if near is not None:
            chosen = np.flatnonzero(active | (self.live & (pull >= near * penalty.l1)))
            if chosen.size <= max(size, 4 * int(np.count_nonzero(active)) + _FIRST_SET):
                return self._ordered(chosen)
        others = np.flatnonzero(self.live & ~active)
        room = max(size - int(np.count_nonzero(active)), _FIRST_SET // 2)
        if others.size > room:
            away = known.scale * pull[others] - penalty.l1[others]
            away /= np.sqrt(self.columns.squares[others])
            others = others[np.argpartition(-away, room - 1)[:room]]
        return self._ordered(np.sort(np.concatenate([np.flatnonzero(active), others])))

    def _ordered(self, chosen: Positions) -> Positions:
        return chosen if self.order is None else self.order.permutation(chosen)

    # Descent

    def _descend(self, chosen: Positions, known: Duality) -> None:
        if not chosen.size:
            return
        target = max(0.3 * self.tol * known.primal, 0.02 * known.gap, ROUNDING * self.problem.total)
        if self.problem.products.whole is None and chosen.size > WIDEST_GRAM:
            self._descend_columns(chosen, target)
            return
        part = Part.of(self, chosen)
        self.passes += part.settle(target, _ROUNDS * _ROUNDS)
        self.b[chosen] = part.b

    def _finished(self, known: Duality) -> Duality:
        """Newton's step on the active columns, if the gap is the better for it."""
        chosen = np.flatnonzero(self.b)
        if not 0 < chosen.size <= WIDEST_GRAM:
            return known
        before, q = self.b.copy(), self.q
        part = Part.of(self, chosen)
        part.newton()
        self.b[chosen] = part.b
        after = self._look(complete=True)
        if after.gap <= max(known.gap, ROUNDING * self.problem.total):
            return after
        self.b, self.q = before, q
        self.trace.append(known.relative)
        return known

    def _descend_columns(self, chosen: Positions, target: float) -> None:
        """Passes over the columns themselves, extrapolated as those on cross-products."""
        l1, l2 = as_argument(self.penalty.l1), as_argument(self.penalty.l2)
        r = self.problem.t - self.columns.scores(self.b, np.flatnonzero(self.b))
        part = self.penalty.part(chosen)
        for _ in range(_ROUNDS):
            steps, residuals = [self.b[chosen]], [r.copy()]
            for _ in range(5):
                self.columns.pass_over(chosen, l1, l2, self.penalty.positive, self.b, r)
                steps.append(self.b[chosen])
                residuals.append(r.copy())
            self.passes += 5
            self._extrapolate(chosen, np.array(steps), np.array(residuals), r, part)
            square = float(r @ r)
            q = self.columns.products(r, chosen)
            if duality(self.b[chosen], q, square, part).gap <= target:
                return

    def _extrapolate(
        self, chosen: Positions, steps: Floats, residuals: Floats, r: Floats, part: Penalty
    ) -> None:
        moves = np.diff(steps, axis=0)
        system = moves @ moves.T
        trace = float(np.trace(system))
        if not trace > 0:
            return
        system[np.diag_indices_from(system)] += 1e-12 * trace
        factors = linalg.solve(system, np.ones(len(system)), assume_a="pos")
        factors /= factors.sum()
        b, trial = factors @ steps[1:], factors @ residuals[1:]
        if part.positive and (b < 0).any():
            return
        value = 0.5 * float(trial @ trial) + part.value(b)
        if value < 0.5 * float(r @ r) + part.value(self.b[chosen]):
            self.b[chosen] = b
            r[:] = trial


@dataclass(eq=False)
class Part:
    """The problem of a working set, on its cross-products `G` (k, k)."""

    G: Floats
    c: Floats
    penalty: Penalty
    total: float
    b: Floats
    q: Floats

    @classmethod
    def of(cls, descent: _Descent, chosen: Positions) -> Part:
        G, b = descent.problem.products.of(chosen), descent.b[chosen]
        q = as_argument(descent.q[chosen])
        # From the latest look, so that errors of the cross-products do not add up.
        return cls(G, q + G @ b, descent.penalty.part(chosen), descent.problem.total, b, q)

    @classmethod
    def of_model(cls, G: Floats, q: Floats, b: Floats, penalty: Penalty, square: float) -> Part:
        """From the present residual: its square, and its products with the columns."""
        c = q + G @ b
        return cls(G, c, penalty, square + float(b @ (c + q)), b, q)

    def settle(self, target: float, rounds: int) -> int:
        """Descent until the gap of the working set is at most `target`; returns the passes."""
        if self.penalty.groups is not None:
            return self._descend_groups(target, rounds)
        k, passed = len(self.b), 0
        at_once = max(1, min(rounds, int(_CALL_CELLS / max(1, k) ** 2)))
        for _ in range(-(-rounds // at_once)):
            passes = self.descend(target, at_once)
            passed += abs(passes)
            if passes > 0 or is_late():
                break
            if k <= WIDEST_GRAM:
                self.newton()
        return passed

    def descend(self, target: float, rounds: int) -> int:
        """Rounds of passes; negative if the gap was not reached."""
        from novum.linear.sparse.descent_kernels import MEMORY, gram_descent

        k = len(self.b)
        steps, products = np.empty((2, MEMORY + 1, k))
        work = np.empty(MEMORY * MEMORY + MEMORY + 2 * k)
        arrays: list[Any] = [steps, products, work, self.b, self.q]
        l1, l2 = as_argument(self.penalty.l1), as_argument(self.penalty.l2)
        positive = self.penalty.positive
        return int(
            gram_descent(self.G, self.c, l1, l2, positive, self.total, target, rounds, *arrays)
        )

    def newton(self) -> None:
        """Newton's step on the active coefficients, cut where the first changes its sign."""
        active = np.flatnonzero(self.b)
        if not active.size:
            return
        b, sign = self.b[active], np.sign(self.b[active])
        l1, l2 = self.penalty.l1[active], self.penalty.l2[active]
        H = self.G[np.ix_(active, active)] + np.diag(l2)
        step = Factor(H).solve(self.q[active] - l2 * b - l1 * sign)
        crossing = step * sign < 0
        ratios = np.full(len(b), np.inf)
        ratios[crossing] = -b[crossing] / step[crossing]
        length = min(1.0, float(ratios.min()))
        if not np.isfinite(step).all() or length == 0.0:
            return
        moved = b + length * step
        if length < 1.0:
            moved[ratios <= length] = 0.0
        self.b[active] = moved
        self.q -= (moved - b) @ self.G[active]

    def _descend_groups(self, target: float, rounds: int) -> int:
        """Descent over groups, which are sorted for it and put back."""
        from novum.linear.sparse.group_kernels import group_descent

        groups = self.penalty.groups
        assert groups is not None
        order = np.argsort(groups, kind="stable")
        starts = np.concatenate([[0], np.cumsum(np.bincount(groups))])
        G = np.ascontiguousarray(self.G[np.ix_(order, order)])
        widest = int(np.diff(starts).max(initial=1))
        vectors, values = np.zeros((len(order), widest)), np.zeros(len(order))
        for first, last in pairwise(starts.tolist()):
            e, Q = np.linalg.eigh(G[first:last, first:last])
            values[first:last] = np.maximum(e, 0.0)
            vectors[first:last, : last - first] = Q
        b, q = self.b[order], self.q[order]
        l1, l2 = self.penalty.l1[order], self.penalty.l2[order]
        passes, done = 5, 0
        while done < rounds:
            done += 1
            move = group_descent(
                G, as_argument(starts, np.int64), vectors, values, l1, l2, passes,
                1e-3 * target, np.empty(widest), b, q,
            )  # fmt: skip
            if move <= 1e-3 * target or is_late():
                break
        self.b[order], self.q[order] = b, q
        return done * passes
