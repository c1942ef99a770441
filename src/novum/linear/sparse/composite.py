"""Penalized fits of any loss of scores: Newton's method on working sets, with a certified gap.

    primal   sum_i phi_i(b0 + x_i'b) + penalty(b)
    dual     sum_i -phi_i*(-u_i) - penalty*(X'u),        sum_i u_i = 0 for an intercept

A step minimizes the penalty and the quadratic function that agrees with the loss in value, gradient
and curvature, over the columns of a working set and one score; the intercept is eliminated from it,
as are the thresholds of ordered classes. That is a lasso on cross-products under the weights
`phi''`, solved as any other (`descent_kernels`, `group_kernels`), or on the stored cells of many
sparse columns, by passes and conjugate gradients; the step is halved until it keeps what it
promises. From the residuals `r` the multiples `u = s r` give lower bounds (`losses`),
the gap screens columns as for least squares (`objective`), with the largest curvature of the loss,
where it has one, in the lengths of columns. Because every coefficient is penalized there is always
an optimum, also where classes can be separated.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from novum.core.learners import Certificate, Stopwatch, Verdict
from novum.core.runtime import SILENT, Progress
from novum.core.tables import Sample
from novum.linear.sparse.columns import PlainColumns, plain_columns
from novum.linear.sparse.losses import OrderedRows, RowLoss, centered, intercept_curvature
from novum.linear.sparse.objective import Duality, Penalty
from novum.linear.sparse.penalties import AdaptiveL1, SparsePenalty
from novum.linear.sparse.solver import WIDEST_GRAM, Part
from novum.numerics import EPSILON, Floats, Mask, Positions, as_argument

_FIRST_SET = 64
_HALVINGS = 40
_ARMIJO = 0.01
# Newton steps on one working set, and rounds of passes of one step.
_STEPS = 8
_ROUNDS = 20
_STUCK = 12
# Steps of a single pass over stored cells, and passes of the others.
_FIRST_STEPS = 3
_PASSES = 20


@dataclass(frozen=True, eq=False)
class CompositeSolution:
    """A penalized fit.

    Attributes
    ----------
    coef : array (m, p)
    intercept : array (m,)
    known : Duality
    steps : int
        Newton steps.
    stopped_by : str or None
    trace : tuple of float
        The relative gap of every look at all columns.
    screened : int
    loss : float
        Without the penalty.
    thresholds : array (t,)
        Of ordered classes.
    """

    coef: Floats
    intercept: Floats
    known: Duality
    steps: int
    stopped_by: str | None
    trace: tuple[float, ...]
    screened: int
    loss: float
    thresholds: Floats


def minimize(
    columns: PlainColumns,
    loss: RowLoss,
    penalty: Penalty,
    *,
    fit_intercept: bool,
    tol: float,
    max_iter: int,
    start: tuple[Floats, Floats] | None = None,
    progress: Progress = SILENT,
) -> CompositeSolution:
    """Minimizes the primal of the module; see `CompositeSolution`.

    Parameters
    ----------
    columns : PlainColumns
    loss : RowLoss
    penalty : Penalty
        Of the coefficients of every score.
    fit_intercept : bool
    tol : float
        Largest gap, as a share of the objective.
    max_iter : int
        Newton steps.
    start : pair of arrays (m, p) and (m,), optional
    """
    return _Newton(columns, loss, penalty, fit_intercept, tol, max_iter, start, progress).run()


class _Newton:
    def __init__(
        self,
        columns: PlainColumns,
        loss: RowLoss,
        penalty: Penalty,
        fit_intercept: bool,
        tol: float,
        max_iter: int,
        start: tuple[Floats, Floats] | None,
        progress: Progress,
    ) -> None:
        self.columns, self.loss, self.penalty = columns, loss, penalty
        self.fit_intercept, self.tol, self.max_iter = fit_intercept, tol, max_iter
        self.progress = progress
        n, p = columns.shape
        m = loss.n_scores
        self.B, self.b0 = (np.zeros((m, p)), np.zeros(m)) if start is None else start
        self.F = np.zeros((n, m))
        # Without a bound of the curvature nothing is screened, and sizes only compare columns.
        self.bounded = bool(np.isfinite(loss.steepest))
        self.squares = columns.weighted_squares(loss.weight)
        if self.bounded:
            self.squares *= loss.steepest
        self.live: Mask = np.tile(self.squares > 0, (m, 1))
        self.B = np.where(self.live, self.B, 0.0)
        self.steps, self.trace = 0, list[float]()
        self._score_anew()

    def run(self) -> CompositeSolution:
        stopped_by, best, lowest, stuck, size = None, np.inf, np.inf, 0, _FIRST_SET
        while True:
            self._center()
            self.Q = self._products([None] * len(self.B))
            known = self._gap([np.arange(self.B.shape[1])] * len(self.B))
            self.trace.append(known.relative)
            if known.gap <= max(self.tol, 4 * EPSILON) * known.primal:
                break
            falls = known.gap < 0.9 * best or known.primal < (1.0 - 0.01 * self.tol) * lowest
            stuck = 0 if falls else stuck + 1
            best, lowest = min(best, known.gap), min(lowest, known.primal)
            if self.steps >= self.max_iter or stuck >= _STUCK:
                stopped_by = "max_iter" if self.steps >= self.max_iter else "precision"
                break
            if self.bounded:
                self._screen(known)
            chosen = [self._working_set(k, known, size) for k in range(len(self.B))]
            size = 2 * max(size, *(2 * int(np.count_nonzero(b)) for b in self.B))
            self._descend(chosen, known)
            if self.progress.advance(note=f"gap {known.relative:.2g}"):
                stopped_by = "interrupt"
                break
        return CompositeSolution(
            self.B,
            self.b0,
            known,
            self.steps,
            stopped_by,
            tuple(self.trace),
            int(np.count_nonzero(~self.live)),
            self.loss.value(self.F),
            self.loss.thresholds if isinstance(self.loss, OrderedRows) else np.empty(0),
        )

    # Looks

    def _score_anew(self) -> None:
        """Scores from the coefficients, so that errors of many steps do not add up."""
        for k, b in enumerate(self.B):
            self.F[:, k] = self.b0[k] + self.columns.scores(b, np.flatnonzero(b))

    def _center(self) -> None:
        if self.fit_intercept:
            shift = centered(self.loss, self.F)
            self.b0 = self.b0 + shift
            self.F += shift
        if isinstance(self.loss, OrderedRows):
            self.loss = self.loss.settled(self.F)
        self.R = self.loss.residuals(self.F)

    def _products(self, chosen: list[Positions | None]) -> list[Floats]:
        return [
            self.columns.products(as_argument(self.R[:, k]), each) for k, each in enumerate(chosen)
        ]

    def _gap(self, chosen: list[Positions]) -> Duality:
        """The gap of the problem of some columns, from their `Q`."""
        parts = [self.penalty.part(each) for each in chosen]
        pairs = list(zip(self.B, chosen, self.Q, parts, strict=True))
        value = self.loss.value(self.F)
        primal = value + sum(part.value(b[each]) for b, each, _, part in pairs)
        limit = min(part.limit(q) for *_, q, part in pairs)
        curved = bool((self.penalty.l2 > 0).all())
        gaps = {}
        for scale in {min(1.0, limit), *([1.0] if curved else [])}:
            # Penalty and conjugate, with `s b'q` on both sides.
            rest = sum(
                part.surplus(b[each], q, scale) + scale * float(b[each] @ q)
                for b, each, q, part in pairs
            )
            gaps[scale] = value - self.loss.bound(self.F, scale) + rest
        scale = min(gaps, key=lambda s: gaps[s])
        return Duality(primal, max(gaps[scale], 0.0), scale)

    def _screen(self, known: Duality) -> None:
        reach = np.sqrt(2.0 * known.gap) * self.penalty.sizes(self.squares)
        for k, q in enumerate(self.Q):
            kept = known.scale * self.penalty.pull(q) + reach >= self.penalty.l1 * (1 - 1e-10)
            self.live[k] &= kept | (self.B[k] != 0)

    def _working_set(self, k: int, known: Duality, size: int) -> Positions:
        """Active columns and those nearest to becoming so; groups are taken whole."""
        penalty, pull = self.penalty, self.penalty.pull(self.Q[k])
        active = self.live[k] & (penalty.pull(self.B[k]) != 0)
        if penalty.positive:
            active = self.live[k] & (self.B[k] != 0)
        others = np.flatnonzero(self.live[k] & ~active)
        room = max(size - int(np.count_nonzero(active)), _FIRST_SET // 2)
        if len(self.B) == 1 and self.columns.cells_of(others) is not None:
            # Passes over stored cells are cheap: all that are pulled away from zero are taken.
            room = max(room, int(np.count_nonzero(pull[others] > penalty.l1[others])))
        if others.size > room and penalty.l1.any():
            away = known.scale * pull[others] - penalty.l1[others]
            away /= penalty.sizes(self.squares)[others]
            others = others[np.argpartition(-away, room - 1)[:room]]
        chosen = active.copy()
        chosen[others] = True
        if penalty.groups is not None:
            whole = np.bincount(penalty.groups, chosen) > 0
            chosen = whole[penalty.groups] & self.live[k]
        return np.flatnonzero(chosen)

    # Steps

    def _descend(self, chosen: list[Positions], known: Duality) -> None:
        target = max(0.1 * known.gap, 0.5 * self.tol * known.primal)
        every = [k for k, each in enumerate(chosen) if each.size]
        joint = sum(each.size for each in chosen) <= WIDEST_GRAM
        self.Q = [q[each] for q, each in zip(self.Q, chosen, strict=True)]
        if len(chosen) == 1 and self._is_stored(chosen[0]):
            # A look at all columns costs no more than one at these.
            self._step_on_columns(0, chosen[0])
            self.steps += 1
            return
        for _ in range(_STEPS):
            for place, scores in enumerate([every] if joint else [[k] for k in every]):
                if place:
                    self.Q = self._products(list(chosen))
                self._step(scores, chosen, target)
                self._center()
            self.steps += 1
            self.Q = self._products(list(chosen))
            if self._gap(chosen).gap <= target or self.steps >= self.max_iter:
                break
        self._score_anew()

    def _is_stored(self, chosen: Positions) -> bool:
        """Whether a pass over the cells of these columns costs less than their cross-products."""
        cells = self.columns.cells_of(chosen)
        return (
            cells is not None
            and self.penalty.groups is None
            and not isinstance(self.loss, OrderedRows)
            and chosen.size**2 > cells / 4
        )

    def _step(self, scores: list[int], chosen: list[Positions], target: float) -> None:
        """Newton's step over the columns of the working sets of some scores."""
        if not scores:
            return
        sets = [chosen[k] for k in scores]
        if len(scores) == 1 and self._is_stored(sets[0]):
            self._step_on_columns(scores[0], sets[0])
            return
        H, means = self._curvature(scores, sets)
        inverse: Floats = np.zeros((len(scores),) * 2)
        if self.fit_intercept:
            inverse = np.asarray(
                np.linalg.pinv(intercept_curvature(self.loss, self.F, scores)), np.float64
            )
        elif isinstance(self.loss, OrderedRows):
            cross, inner = self.loss.mixed(self.F)
            means = np.column_stack(
                [self.columns.products(as_argument(c), sets[0]) for c in cross.T]
            )
            inverse = np.asarray(np.linalg.pinv(inner, hermitian=True), np.float64)
        if inverse.any():
            H -= means @ inverse @ means.T
        b = np.concatenate([self.B[k, each] for k, each in zip(scores, sets, strict=True)])
        q = np.concatenate([self.Q[k] for k in scores])
        penalty = _joined([self.penalty.part(each) for each in sets])
        part = Part.of_model(H, q.copy(), b.copy(), penalty, self.loss.square(self.F))
        part.settle(0.1 * target, _ROUNDS)
        move = part.b - b
        if not move.any():
            return
        along, ends = np.zeros_like(self.F), np.cumsum([0, *(each.size for each in sets)])
        offset = -inverse @ (means.T @ move)
        for place, (k, each) in enumerate(zip(scores, sets, strict=True)):
            full = np.zeros(self.B.shape[1])
            full[each] = move[ends[place] : ends[place + 1]]
            along[:, k] = self.columns.scores(full, each)
            if self.fit_intercept:
                along[:, k] += offset[place]
        self._search(scores, sets, b, part.b, q, penalty, along, offset)

    def _step_on_columns(self, k: int, chosen: Positions) -> None:
        """The same for one score on the stored cells; not solved to its end."""
        d = self.loss.curvature(self.F, k, k)
        penalty, b = self.penalty.part(chosen), self.B[k, chosen]
        end, r = b.copy(), as_argument(self.R[:, k].copy())
        # The first quadratic functions say little about where the fit ends.
        passes = 1 if self.steps < _FIRST_STEPS else _PASSES
        offset = self.columns.settle(
            d, self.fit_intercept, chosen, penalty, 0.5 * self.tol, passes, end, r
        )
        coef, along = np.zeros(self.B.shape[1]), np.zeros_like(self.F)
        coef[chosen] = end
        # From the coefficients, so that errors of many steps do not add up.
        along[:, k] = self.b0[k] + offset + self.columns.scores(coef, chosen) - self.F[:, k]
        self._search([k], [chosen], b, end, self.Q[k], penalty, along, np.array([offset]))

    def _search(
        self,
        scores: list[int],
        sets: list[Positions],
        b: Floats,
        end: Floats,
        q: Floats,
        penalty: Penalty,
        along: Floats,
        offset: Floats,
    ) -> None:
        """Goes to the end of a step, or as far as it keeps a part of what it promises."""
        move, ends = end - b, np.cumsum([0, *(each.size for each in sets)])
        before, kept = self.loss.value(self.F), penalty.value(b)
        promise = penalty.value(end) - kept - float(q @ move)
        length = 1.0
        for _ in range(_HALVINGS):
            F, loss = self.F + length * along, self.loss
            if isinstance(loss, OrderedRows):
                loss = loss.moved(length * offset)
            change = loss.value(F) - before + penalty.value(b + length * move) - kept
            if change <= _ARMIJO * length * promise + 4 * EPSILON * before:
                break
            length *= 0.5
        else:
            return
        self.F, self.loss = F, loss
        # The end of the whole step has exact zeros.
        moved = end if length == 1.0 else b + length * move
        for place, (k, each) in enumerate(zip(scores, sets, strict=True)):
            self.B[k, each] = moved[ends[place] : ends[place + 1]]
            if self.fit_intercept:
                self.b0[k] += length * offset[place]

    def _curvature(self, scores: list[int], sets: list[Positions]) -> tuple[Floats, Floats]:
        """Second derivatives by coefficients, and by coefficients and intercepts."""
        rows, means = [], []
        for k, left in zip(scores, sets, strict=True):
            weights = [self.loss.curvature(self.F, k, other) for other in scores]
            rows.append([
                self.columns.curvature(d, left, right)
                for d, right in zip(weights, sets, strict=True)
            ])  # fmt: skip
            means.append(np.column_stack([self.columns.products(d, left) for d in weights]))
        return np.ascontiguousarray(np.block(rows)), np.vstack(means)


def _joined(parts: list[Penalty]) -> Penalty:
    """The penalty of the coefficients of several scores."""
    if len(parts) == 1:
        return parts[0]
    l1, l2 = (np.concatenate([getattr(p, name) for p in parts]) for name in ("l1", "l2"))
    return Penalty(l1, l2, parts[0].positive)


# --- Fits of samples ------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class SparseFit:
    """A fit in the user's columns.

    Attributes
    ----------
    coef : array (m, d)
    intercept : array (m,)
    thresholds : array (t,)
        Of ordered classes.
    solution : CompositeSolution
    """

    coef: Floats
    intercept: Floats
    thresholds: Floats
    solution: CompositeSolution

    @property
    def steps(self) -> int:
        return self.solution.steps

    @property
    def loss(self) -> float:
        return self.solution.loss

    def certified(self, objective: str, tol: float, watch: Stopwatch) -> Certificate:
        """Primal and dual value, and what they prove."""
        solution, known = self.solution, self.solution.known
        verdict = Verdict.WITHIN_TOLERANCE
        if solution.stopped_by is not None and known.relative > tol:
            verdict = Verdict.STOPPED_EARLY
        details: dict[str, Any] = {
            "solver": "newton on working sets",
            "relative_tol": tol,
            "active": int(np.count_nonzero(solution.coef)),
            "screened": solution.screened,
            "looks": len(solution.trace),
        }
        if solution.stopped_by is not None:
            details["stopped_by"] = solution.stopped_by
        return Certificate(
            objective=objective,
            verdict=verdict,
            value=known.primal,
            primal=known.primal,
            dual=known.dual,
            iterations=solution.steps,
            trace=solution.trace,
            details=details,
            seconds=watch.seconds,
        )


def fit_sparse(
    sample: Sample,
    loss: RowLoss,
    value: SparsePenalty,
    *,
    fit_intercept: bool,
    tol: float,
    max_iter: int,
    start: Floats | None = None,
    progress: Progress = SILENT,
) -> SparseFit:
    """Fits rows in memory under the weights of the loss; `start` is (m, d + 1)."""
    ordered = isinstance(loss, OrderedRows)
    columns = plain_columns(sample, loss.weight, centered=fit_intercept or ordered)
    first = None
    if start is not None and start.shape == (loss.n_scores, columns.shape[1] + 1):
        coef = start[:, :-1].astype(np.float64)
        first = (coef, start[:, -1] + coef @ columns.mean)
    options: dict[str, Any] = {
        "fit_intercept": fit_intercept and not ordered,
        "tol": tol,
        "max_iter": max_iter,
        "progress": progress,
    }
    if isinstance(value, AdaptiveL1):
        ridge = minimize(columns, loss, value.first(sample.schema), **options)
        penalty = value.after(np.abs(ridge.coef).max(axis=0))
    else:
        penalty = value.of(sample.schema)
    solution = minimize(columns, loss, penalty, start=first, **options)
    shift = solution.coef @ columns.mean
    intercept = solution.intercept - shift if options["fit_intercept"] else np.zeros(loss.n_scores)
    return SparseFit(solution.coef, intercept, solution.thresholds + shift[0], solution)
