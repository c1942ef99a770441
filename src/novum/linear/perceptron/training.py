"""Training of one binary perceptron: visits, passes, the pocket, and what the run proves.

Rows carry a cell of 1 for the intercept; a row is a *mistake* if `t <w, x> <= 0` for its side `t`.

    stochastic   visit the rows; a mistake moves the weights,  w <- w + rate t x
    averaged     the same, and the answer is the mean of `w` over all visits
    batch        all mistakes of a pass at once,  w <- w + rate sum t x

Novikoff (1962): if some unit vector `u` has `t <u, x> >= margin` for all rows, and no row is longer
than `R`, the stochastic rule makes at most `(R / margin)^2` mistakes, in any order. Read backwards,
`w / (rate M)` after `M` mistakes is a mean of the `t x`, so its length bounds every such margin:

    margin <= |w| / (rate M).

Of weights that do not separate, the *pocket* keeps the best seen (Gallant 1990): candidates are the
weights after every pass, and those with a run of visits without a mistake half as long again as
any before.

A stochastic rule depends on the order of its visits, and a row that stands twice in a table is
visited twice. Both would make a fit depend on how the table happens to be stored. Here rows are
first put into an order that depends on their cells alone (by a digest of 64 bits), and rows that
are equal become one row with the sum of their weights. Then, with shuffling,

    the order of the table does not matter, and weight 2 is the row twice, to the last bit.

A row of weight `c` is visited `c` times in a row, the last time for the part of a visit that is
left. Without shuffling the rows keep the order of the table.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from novum.core.runtime import Pacer, stream, time_sliced
from novum.numerics import Array, Floats, Integers, as_argument, distinct_rows

# Cells beyond 2^400 or all below 2^-400 are scaled, so that scores and squares stay in range.
_LARGEST_EXPONENT = 400


class SparseRows(NamedTuple):
    """Compressed rows as the kernels take them."""

    data: Floats
    indices: Integers
    starts: Integers


class Visits(NamedTuple):
    """What a binary perceptron learns from.

    Attributes
    ----------
    X : array of shape (n, d) or CSR matrix
        Times `scale`.
    rows : array of shape (g,)
        The row of `X` that stands for each group of equal rows.
    sign, weight : arrays of shape (g,)
        Side (-1 or +1) and total weight of each group.
    constant : float
        The cell that the intercept multiplies: `scale`, or 0 without one.
    scale : float
        A power of two.
    """

    X: Any
    rows: Integers
    sign: Floats
    weight: Floats
    constant: float
    scale: float

    @property
    def n_columns(self) -> int:
        return int(self.X.shape[1])

    @property
    def total(self) -> float:
        """Weight of all rows."""
        return float(self.weight.sum())

    def scores(self, weights: Floats) -> Floats:
        """`<w, x>` of every group, shape (g,), with the intercept."""
        products = np.asarray(self.X @ weights[:-1])
        return products[self.rows] + self.constant * weights[-1]

    def error(self, weights: Floats) -> float:
        """Weight of the rows that are not strictly on their side."""
        return float(self.weight[~(self.sign * self.scores(weights) > 0)].sum())

    def norms(self) -> Floats:
        """Length of every group's row, with the cell of the intercept."""
        squares = self.X.multiply(self.X).sum(axis=1) if sparse.issparse(self.X) else None
        if squares is None:
            squares = np.einsum("ij,ij->i", self.X, self.X)
        return np.sqrt(np.asarray(squares, float).ravel()[self.rows] + self.constant**2)

    def sparse_rows(self) -> SparseRows:
        return SparseRows(
            as_argument(self.X.data),
            as_argument(self.X.indices, np.int64),
            as_argument(self.X.indptr, np.int64),
        )


def visits_of(
    X: Any, positive: Array, weight: Floats | None, fit_intercept: bool, canonical: bool
) -> Visits:
    """The visits of a table; `canonical` forgets its order and unites equal rows.

    Examples
    --------
    >>> found = visits_of(np.array([[2.0], [1.0], [2.0]]), np.array([1, 0, 1]), None, True, True)
    >>> sorted(found.weight.tolist()), found.total
    ([1.0, 2.0], 3.0)
    """
    scale = _scale(X, fit_intercept)
    cells = X if scale == 1.0 else X * scale
    if sparse.issparse(cells):
        # A copy of the outer object only; what is summed and sorted was the caller's otherwise.
        cells = sparse.csr_matrix(cells, copy=not cells.has_canonical_format)
        cells.sum_duplicates()
    sign = np.where(np.asarray(positive) > 0, 1.0, -1.0)
    weights = np.ones(len(sign)) if weight is None else np.asarray(weight, float)
    rows = np.arange(len(sign))
    if canonical:
        rows, kinds = distinct_rows(cells, sign)
        sign, weights = sign[rows], np.bincount(kinds, weights)
    constant = scale if fit_intercept else 0.0
    return Visits(cells, rows.astype(np.int64), sign, weights, constant, scale)


def _scale(X: Any, fit_intercept: bool) -> float:
    cells = X.data if sparse.issparse(X) else X
    # The cell of the intercept is 1 and has to stay in range as well.
    largest = float(np.abs(cells).max(initial=1.0 if fit_intercept else 0.0))
    if largest == 0.0:
        return 1.0
    exponent = int(np.frexp(largest)[1])
    return 1.0 if abs(exponent) <= _LARGEST_EXPONENT else float(np.ldexp(1.0, -exponent))


# Up to so many cells and visits in all, rows are visited without compiled code. This looks at sizes
# only, so that the same call gives the same bits.
PLAIN_CELLS = 2048
PLAIN_VISITS = 2**14
_BLOCK_ROWS = 64


@dataclass(frozen=True)
class Training:
    """How long to train, and by which rule.

    Attributes
    ----------
    rule : {"stochastic", "averaged", "batch"}
    rate : float
    max_passes : int
    tol : float or None
        A pass is a gain if it lowers the pocket's error by more than this share of all weight.
    patience : int
        Passes in a row without a gain that end the training; without a `tol` none do.
    shuffle : bool
    pocket : bool
        Whether the best weights seen are the answer, or the last ones.
    """

    rule: str
    rate: float
    max_passes: int
    tol: float | None
    patience: int
    shuffle: bool = True
    pocket: bool = True


Pass = Callable[["Visits", float, Integers, "State", Pacer], None]


class Start(NamedTuple):
    """Weights to go on from: the last ones, their mean so far, and the weight visited."""

    last: Floats
    mean: Floats
    visited: float

    @classmethod
    def zero(cls, n_columns: int) -> Start:
        return cls(np.zeros(n_columns + 1), np.zeros(n_columns + 1), 0.0)


@dataclass(frozen=True, eq=False)
class Run:
    """What a training gave. All weights have the intercept last, and belong to rows as they came.

    Attributes
    ----------
    weights, last, mean : arrays of shape (d + 1,)
        The answer, the weights after the last visit, and their mean over the visits.
    visited, mistakes, error : float
        Weights: visited, of mistakes (each as often as it moved the weights), and of the rows that
        `weights` has on the wrong side.
    separating : array of shape (d + 1,), or None
        Weights without a mistake, if any were met.
    trace : tuple of float
        Error of the pocket after each pass, as a share.
    stopped_by : {"separated", "no_gain", "max_iter"}
    """

    weights: Floats
    last: Floats
    mean: Floats
    visited: float
    mistakes: float
    error: float
    separating: Floats | None
    trace: tuple[float, ...]
    stopped_by: str


class State:
    """Weights under way; the arrays are what the kernels write to."""

    def __init__(self, visits: Visits, start: Start) -> None:
        self.w = np.array(start.last, float) / visits.scale
        # The mean over t visits is w - lag / t, so that a visit without a mistake costs nothing.
        self.lag = (self.w - np.array(start.mean, float) / visits.scale) * start.visited
        self.pocket = self.w.copy()
        self.numbers = np.array([0.0, start.visited, 0.0, 0.0, visits.error(self.w)])

    @property
    def mistakes(self) -> float:
        return float(self.numbers[0])

    @property
    def visited(self) -> float:
        return float(self.numbers[1])

    @property
    def pocket_error(self) -> float:
        return float(self.numbers[4])

    def mean(self) -> Floats:
        return self.w - self.lag / self.visited if self.visited > 0 else self.w.copy()

    def offer(self, error: float) -> None:
        """Puts the present weights into the pocket if they are better."""
        if error < self.numbers[4]:
            self.numbers[4] = error
            self.pocket[:] = self.w


# --- The training ---------------------------------------------------------------------------------


def train(visits: Visits, training: Training, root: Any, start: Start | None = None) -> Run:
    """Passes until the rows are separated, nothing is gained, or the limit is reached.

    Examples
    --------
    >>> from novum.linear.perceptron.training import visits_of
    >>> rows = visits_of(np.array([[-1.0], [2.0]]), np.array([0, 1]), None, True, True)
    >>> run = train(rows, Training("stochastic", 1.0, 100, None, 5), 0)
    >>> run.stopped_by, run.error
    ('separated', 0.0)
    """
    state = State(visits, start or Start.zero(visits.n_columns))
    advance = _pass_of(visits, training)
    trace, best, idle, stopped_by, pacer = [], np.inf, 0, "max_iter", Pacer()
    for number in range(training.max_passes):
        before = state.mistakes
        order = _order(visits, training, root, number)
        advance(visits, training.rate, order, state, pacer)
        error = visits.error(state.w)
        state.offer(error)
        trace.append(state.pocket_error / visits.total)
        if error == 0 or state.mistakes == before:
            stopped_by = "separated"
            break
        idle = 0 if _is_gain(best, trace[-1], training.tol) else idle + 1
        best = trace[-1] if idle == 0 else best
        if training.tol is not None and idle >= training.patience:
            stopped_by = "no_gain"
            break
    if training.rule == "averaged" and stopped_by == "separated":
        _average_on(visits, state, training.max_passes - len(trace))
    return _finished(visits, training, state, tuple(trace), stopped_by)


def _average_on(visits: Visits, state: State, passes: int) -> None:
    """Passes without a mistake change nothing but the mean: twice as many until it separates."""
    done = 0
    while done < passes and visits.error(state.mean()) > 0:
        more = min(max(1, done), passes - done)
        state.numbers[1] += more * visits.total
        done += more


def _is_gain(best: float, error: float, tol: float | None) -> bool:
    return not np.isfinite(best) or best - error > (tol or 0.0)


def _order(visits: Visits, training: Training, root: Any, number: int) -> Integers:
    if training.shuffle and training.rule != "batch":
        return stream(root, "pass", number).permutation(len(visits.rows)).astype(np.int64)
    return np.arange(len(visits.rows))


def _finished(
    visits: Visits, training: Training, state: State, trace: tuple[float, ...], stopped_by: str
) -> Run:
    mean = state.mean()
    kept = state.pocket if training.pocket else state.w
    answer = mean if training.rule == "averaged" else kept
    error = visits.error(answer)
    separating = answer if error == 0 else state.pocket if state.pocket_error == 0 else None
    # The same scores for rows as they came; a common factor of the weights is of no account.
    unit = visits.scale
    return Run(
        answer * unit,
        state.w * unit,
        mean * unit,
        state.visited,
        state.mistakes,
        error,
        None if separating is None else separating * unit,
        trace,
        stopped_by,
    )


# --- Passes ---------------------------------------------------------------------------------------


def _batch_pass(visits: Visits, rate: float, order: Integers, state: State, _: Pacer) -> None:
    """All mistakes of the present weights at once; `order` is of no account."""
    wrong = ~(visits.sign * visits.scores(state.w) > 0)
    amount = np.zeros(visits.X.shape[0])
    amount[visits.rows] = np.where(wrong, rate * visits.weight * visits.sign, 0.0)
    change = np.append(np.asarray(visits.X.T @ amount).ravel(), visits.constant * amount.sum())
    state.w += change
    state.lag += state.visited * change
    state.numbers[0] += visits.weight[wrong].sum()
    state.numbers[1] += visits.weight[order].sum()


def _pass_of(visits: Visits, training: Training) -> Pass:
    if training.rule == "batch":
        return _batch_pass
    n, d = visits.X.shape
    few = n * (d + 1) <= PLAIN_CELLS and n * training.max_passes <= PLAIN_VISITS
    return plain_visits if few else compiled_visits(visits)


def plain_visits(visits: Visits, rate: float, order: Integers, state: State, _: Pacer) -> None:
    """The visits row by row, as told at the top: what the kernels compute, readable."""
    rows = visits.X.toarray() if hasattr(visits.X, "toarray") else visits.X
    table = np.column_stack([rows[visits.rows], np.full(len(visits.rows), visits.constant)])
    numbers = state.numbers
    for g in order.tolist():
        x, sign, weight = table[g], visits.sign[g], visits.weight[g]
        margin = sign * float(state.w @ x)
        if margin > 0:
            numbers[2] += weight
        else:
            if numbers[2] > 1.5 * numbers[3]:
                numbers[3] = numbers[2]
                state.offer(visits.error(state.w))
            step = _repeated_step(margin, rate * float(x @ x), weight)
            change = rate * step * sign * x
            state.w += change
            state.lag += numbers[1] * change
            numbers[0] += step
            numbers[2] = 0.0
        numbers[1] += weight


def _repeated_step(margin: float, square: float, weight: float) -> float:
    """How often a mistake of this weight moves the weights: until it is right, or used up."""
    whole = np.floor(weight)
    needed = np.floor(-margin / square) + 1 if square > 0 else whole
    return float(needed if needed <= whole else weight)


def compiled_visits(visits: Visits) -> Pass:
    """The same by compiled code, in slices that Ctrl-C can end."""
    from novum.linear.perceptron import kernels

    groups = (
        as_argument(visits.rows, np.int64),
        as_argument(visits.sign),
        as_argument(visits.weight),
    )
    is_sparse = hasattr(visits.X, "indptr")
    cells = tuple(visits.sparse_rows()) if is_sparse else (as_argument(visits.X),)
    visit = kernels.sparse_visits if is_sparse else kernels.dense_visits

    def advance(_: Visits, rate: float, order: Integers, state: State, pacer: Pacer) -> None:
        out = (state.w, state.lag, state.pocket, state.numbers)
        if len(order) * visits.n_columns <= PLAIN_CELLS:
            visit(*cells, *groups, order, rate, visits.constant, *out)
            return
        for start, stop in time_sliced(len(order), block=_BLOCK_ROWS, pacer=pacer):
            part = np.ascontiguousarray(order[start:stop])
            visit(*cells, *groups, part, rate, visits.constant, *out)

    return advance
