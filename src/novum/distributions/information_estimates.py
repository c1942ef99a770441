"""Entropy and mutual information estimated from samples.

Discrete values, with counts `n_k` of the `K` states that occur among `n` rows:

    plug-in       H = log n - (1/n) sum n_k log n_k           too small by about (K - 1) / (2n)
    Miller-Madow  H + (K - 1) / (2n)
    jackknife     n H - (n - 1) mean_i H(without row i)       removes the whole 1/n term

Continuous values, with the distance `e_i` from row `i` to its k-th neighbor in the maximum norm:

    Kozachenko-Leonenko  H = psi(n) - psi(k) + (d/n) sum log(2 e_i)
    Kraskov              I = psi(k) + psi(n) - mean_i [psi(a_i + 1) + psi(b_i + 1)]

where `a_i` and `b_i` count the rows nearer than `e_i` in x alone and in y alone. Estimates may fall
below zero by chance; they are not cut off, since that would bias their mean.

Numbers of real tables are rounded or repeat. Kraskov's formula holds for samples without ties; what
is computed is its mean over the ways to break them. Of `S` rows that tie with the k-th neighbor, in
random order, `s` may be that neighbor; the r-th of those comes at place `J`:

    E psi(w + J),   P(J = j) = C(j - 1, r - 1) C(S - j, s - r) / C(S, s)

is put for `psi(a_i + 1)`, where `w` rows are strictly nearer. One column is broken by far finer
steps than the other, and both choices are averaged. Where all the neighbors are at distance 0 this
is `psi(n_xy) + psi(n) - psi(n_x) - psi(n_y)` in the numbers of equal rows, the estimate for codes;
where x repeats and y does not, it is Ross's. Distances tie when they differ by rounding.

References
----------
Paninski, "Estimation of entropy and mutual information", 2003, eq. 4-6; Kraskov, Stoegbauer and
Grassberger, "Estimating mutual information", 2004, eq. 8 and 20; Gao, Kannan, Oh and Viswanath,
"Estimating mutual information for discrete-continuous mixtures", 2017, for mixtures.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy import special

from novum.core.errors import InputError
from novum.distributions.information import unit_of
from novum.distributions.joint_table import JointTable
from novum.numerics import ROUNDING, Floats, Integers, kernel

# --- Discrete samples -----------------------------------------------------------------------------


def estimate_entropy(sample: Any, estimator: str = "miller_madow", base: float = math.e) -> float:
    """Entropy of the law behind a sample of discrete values, in nats.

    Parameters
    ----------
    sample : sequence of labels, or JointTable with a `sample_size`
        For a table the joint entropy of all its variables.
    estimator : {"miller_madow", "jackknife", "plug_in"}
    base : float
        Of the logarithm: `math.e` for nats, 2 for bits.

    Examples
    --------
    >>> estimate_entropy(["a", "b", "a", "b"], "plug_in", base=2)
    1.0
    >>> round(estimate_entropy(["a", "b", "a", "b"], base=2), 4)
    1.1803
    """
    return _estimator(estimator)(_counts(sample).ravel()) / unit_of(base)


def estimate_mutual_information(
    x: Any, y: Any, estimator: str = "miller_madow", base: float = math.e
) -> float:
    """Mutual information of the law behind two columns of discrete values, in nats.

    The estimator is applied to each of the three entropies of `H(X) + H(Y) - H(X, Y)`.

    Examples
    --------
    >>> estimate_mutual_information([0, 0, 1, 1], ["a", "a", "b", "b"], "plug_in", base=2)
    1.0
    """
    counts = _counts(JointTable.from_frame({"x": x, "y": y}))
    one = _estimator(estimator)
    total = one(counts.sum(axis=1)) + one(counts.sum(axis=0)) - one(counts.ravel())
    return total / unit_of(base)


def _plug_in(counts: Floats) -> float:
    n = float(counts.sum())
    return math.log(n) - math.fsum(special.xlogy(counts, counts)) / n


def _miller_madow(counts: Floats) -> float:
    return _plug_in(counts) + (int(np.count_nonzero(counts)) - 1) / (2 * float(counts.sum()))


def _jackknife(counts: Floats) -> float:
    """All rows of one state leave the same counts behind, so there is one term for each state."""
    seen = counts[counts > 0]
    if not np.all(seen >= 1):
        raise InputError("The jackknife leaves out whole rows; the weights here are below 1.")
    n = float(seen.sum())
    if n < 2:
        return 0.0
    total = math.fsum(special.xlogy(seen, seen))
    left = total - special.xlogy(seen, seen) + special.xlogy(seen - 1, seen - 1)
    without = math.log(n - 1) - left / (n - 1)
    return n * _plug_in(seen) - (n - 1) / n * math.fsum(seen * without)


_ESTIMATORS: Mapping[str, Callable[[Floats], float]] = {
    "plug_in": _plug_in,
    "miller_madow": _miller_madow,
    "jackknife": _jackknife,
}


def _estimator(name: str) -> Callable[[Floats], float]:
    if name not in _ESTIMATORS:
        raise InputError(f"The estimator is one of {', '.join(_ESTIMATORS)}; got {name!r}.")
    return _ESTIMATORS[name]


def _counts(sample: Any) -> Floats:
    table = sample if isinstance(sample, JointTable) else JointTable.from_frame({"x": sample})
    if table.sample_size is None:
        raise InputError(
            "This table was not counted from a sample, so there is nothing to correct. Use "
            "`entropy` or `mutual_information`."
        )
    counts = table.probabilities * table.sample_size
    whole = np.rint(counts)
    close = np.abs(counts - whole) <= 1e-12 * table.sample_size
    return whole if close.all() else counts


# --- Continuous samples ---------------------------------------------------------------------------


def neighbor_entropy(x: ArrayLike, n_neighbors: int = 3, base: float = math.e) -> float:
    """Differential entropy of the continuous law behind a sample, by distances, in nats.

    Parameters
    ----------
    x : array (n,) or (n, d)
        Repeated rows are refused: their law is not continuous.
    n_neighbors : int
        More neighbors give less variance and more bias.

    Examples
    --------
    >>> x = np.random.default_rng(0).uniform(0, 4, 4000)
    >>> round(neighbor_entropy(x, base=2), 1)
    2.0
    """
    from scipy.spatial import cKDTree

    rows = _rows(x, n_neighbors)
    distance = cKDTree(rows).query(rows, k=[n_neighbors + 1], p=np.inf)[0][:, 0]
    repeated = np.flatnonzero(distance == 0)
    if repeated.size:
        raise InputError(
            f"{repeated.size} rows have {n_neighbors} neighbors at distance 0, the first is row "
            f"{repeated[0]}; their law is not continuous. Take `estimate_entropy` for discrete "
            "values, or add the noise of the rounding."
        )
    n, d = rows.shape
    nats = special.digamma(n) - special.digamma(n_neighbors) + d * np.log(2 * distance).mean()
    return float(nats) / unit_of(base)


def neighbor_mutual_information(
    x: ArrayLike, y: ArrayLike, n_neighbors: int = 3, base: float = math.e
) -> float:
    """Mutual information of two samples of numbers, continuous, discrete or mixed, in nats.

    Kraskov's first estimator, averaged over all orders in which ties can be broken (see the
    module's notes), so that numbers may be rounded or repeat. Columns are brought to unit variance
    first, so units do not matter.

    Parameters
    ----------
    x, y : array (n,) or (n, d)
    n_neighbors : int
        More neighbors give less variance and more bias.
    base : float

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> x, noise = rng.normal(size=(2, 2000))
    >>> round(neighbor_mutual_information(x, 0.6 * x + 0.8 * noise), 1)  # exactly 0.22
    0.2
    >>> x = [0, 0, 0, 0, 1, 1, 1, 1]
    >>> neighbor_mutual_information(x, [5, 5, 5, 5, 7, 7, 7, 7]) > 0.6  # log 2 in the law
    True
    """
    left, right = _rows(x, n_neighbors), _rows(y, n_neighbors)
    if len(left) != len(right):
        raise InputError(f"x has {len(left)} rows and y {len(right)}. Give both the same rows.")
    left, left_size = _standardized(left)
    right, right_size = _standardized(right)
    # Rows that repeat are asked once.
    _, first, times = np.unique(
        np.hstack([left, right]), axis=0, return_index=True, return_counts=True
    )
    parts = left[first], right[first]
    size = np.maximum(left_size, right_size)[first]
    shell = _neighbor_shells(*parts, size, times, n_neighbors)
    inside, within = (
        [_others(whole, part, radius) for whole, part in zip((left, right), parts, strict=True)]
        for radius in (shell.nearer, shell.within)
    )
    ties = [w - i for w, i in zip(within, inside, strict=True)]
    terms = sum(
        _order_first(
            shell.wanted, inside[one], ties[one], inside[1 - one], ties[1 - one], shell.size, fine
        )
        for one, fine in ((0, shell.by_right), (1, shell.by_left))
    )
    mean = float(np.dot(times, terms)) / len(left) / 2
    nats = special.digamma(n_neighbors) + special.digamma(len(left)) - mean
    return float(nats) / unit_of(base)


class _Shells(NamedTuple):
    """Rows at the distance of the k-th neighbor of each row, up to rounding."""

    nearer: Floats  # what lies strictly nearer lies within this,
    within: Floats  # and what lies in the shell or inside within this
    wanted: Integers  # which of the shell, in order, is the k-th neighbor
    size: Integers
    by_left: Integers  # of the shell, those at that distance in x alone,
    by_right: Integers  # and in y alone


def _neighbor_shells(
    left: Floats, right: Floats, size: Floats, times: Integers, n_neighbors: int
) -> _Shells:
    from scipy.spatial import cKDTree

    points = np.hstack([left, right])
    tree = cKDTree(points)
    near, which = tree.query(points, k=range(1, min(n_neighbors + 1, len(points)) + 1), p=np.inf)
    reached = np.cumsum(times[which], axis=1) > n_neighbors
    distance = np.take_along_axis(near, reached.argmax(axis=1)[:, None], axis=1)[:, 0]
    tolerance = np.maximum(ROUNDING * (size + distance), 5e-324)
    nearer, within = distance - tolerance, distance + tolerance
    inside, shell, by_left, by_right = (np.zeros(len(points)) for _ in range(4))
    # A few thousand rows at a time, so that the lists of neighbors stay short.
    for start in range(0, len(points), 4096):
        stop = min(start + 4096, len(points))
        lists = tree.query_ball_point(points[start:stop], within[start:stop], p=np.inf)
        there = np.concatenate(lists).astype(np.int64)
        here = np.repeat(np.arange(start, stop), [len(each) for each in lists])
        far_left, far_right = (
            np.abs(part[there] - part[here]).max(axis=1) > nearer[here] for part in (left, right)
        )
        for counts, chosen in (
            (inside, ~(far_left | far_right)),
            (shell, far_left | far_right),
            (by_left, far_left & ~far_right),
            (by_right, far_right & ~far_left),
        ):
            rows = here[chosen] - start
            counts[start:stop] = np.bincount(rows, times[there[chosen]], minlength=stop - start)
    # The row itself is strictly inside, or in the shell if that is at distance 0.
    own = nearer >= 0
    return _Shells(
        nearer,
        within,
        np.asarray(n_neighbors - inside + own, np.int64),
        np.asarray(shell - ~own, np.int64),
        by_left.astype(np.int64),
        by_right.astype(np.int64),
    )


def _others(rows: Floats, points: Floats, radius: Floats) -> Integers:
    if rows.shape[1] == 1:
        return others_within(np.sort(rows[:, 0]), points[:, 0], radius)
    from scipy.spatial import cKDTree

    reach = np.maximum(radius, 0)
    counts = cKDTree(rows).query_ball_point(points, reach, p=np.inf, return_length=True)
    return np.where(radius < 0, 0, np.asarray(counts, np.int64) - 1)


def others_within(ordered: Floats, points: Floats, radius: Floats) -> Integers:
    """How many of some sorted numbers lie within a distance of points, which are among them.

    The point itself is not counted; a distance below zero holds nothing.
    """
    last = np.searchsorted(ordered, points + radius, side="right")
    first = np.searchsorted(ordered, points - radius, side="left")
    return np.where(radius < 0, 0, last - first - 1)


def _order_first(
    wanted: Integers,
    inside: Integers,
    shell: Integers,
    inside_fine: Integers,
    shell_fine: Integers,
    joint_shell: Integers,
    by_fine: Integers,
) -> Floats:
    """`psi(a + 1) + psi(b + 1)` where ties of one column are broken by far finer steps.

    The shell of the k-th distance is then entered by the `by_fine` rows at that distance in the
    fine column alone, and after them, together with all its ties, by the others.
    """
    early = wanted <= by_fine
    return np.asarray(
        np.where(
            early,
            special.digamma(inside + 1)
            + digamma_of_position(inside_fine, shell_fine, by_fine, wanted),
            special.digamma(inside_fine + shell_fine + 1)
            + digamma_of_position(inside, shell, joint_shell - by_fine, wanted - by_fine),
        )
    )


def digamma_of_position(
    offset: Integers, size: Integers, marked: Integers, which: Integers
) -> Floats:
    """Means of `psi(offset + J)`, `J` the place of a marked one among some in random order.

    Of `size` things in random order `marked` are marked; `J` is the place of the marked one number
    `which`. Without ties `size = marked = which = 1` and the answer is `psi(offset + 1)`. Where
    `which` is not from 1 to `marked` there is no such place and the answer is NaN.

    Examples
    --------
    >>> one = digamma_of_position(*(np.array([v]) for v in (0, 5, 2, 1)))
    >>> float(one[0].round(12)) == float(np.round(special.digamma(1) + 1 / 3 + 1 / 4 + 1 / 5, 12))
    True
    """
    cases, inverse = np.unique(
        np.column_stack([offset, size, marked, which]), axis=0, return_inverse=True
    )
    start = special.digamma(np.maximum(cases[:, 0] + cases[:, 3], 1).astype(float))
    return np.asarray(_mean_digammas(np.ascontiguousarray(cases), start)[inverse.ravel()])


@kernel("f8[::1](i8[:,::1], f8[::1])")
def _mean_digammas(cases: Integers, start: Floats) -> Floats:
    """`P(J = j)` is proportional to `C(j - 1, r - 1) C(S - j, s - r)`: each from the one before."""
    out = np.empty(len(cases))
    for i in range(len(cases)):
        offset, size, marked, which = cases[i, 0], cases[i, 1], cases[i, 2], cases[i, 3]
        if which < 1 or which > marked or marked > size:
            out[i] = np.nan
            continue
        weight = total = 1.0
        digamma = start[i]
        mean = digamma
        for j in range(which, size - marked + which):
            weight *= j * (size - j - marked + which) / ((j - which + 1.0) * (size - j))
            digamma += 1.0 / (offset + j)
            total += weight
            mean += (digamma - mean) * (weight / total)
            if total > 1e200:
                weight, total = weight * 1e-200, total * 1e-200
        out[i] = mean
    return out


def _standardized(rows: Floats) -> tuple[Floats, Floats]:
    """Centered columns in units of their deviations, and the sizes that rounding is relative to."""
    centered = rows - rows.mean(axis=0)
    spread = np.sqrt((centered**2).mean(axis=0))
    if not np.all(spread > 0):
        column = int(np.argmin(spread))
        raise InputError(f"Column {column} is constant, so it has no information. Leave it out.")
    size = np.maximum(np.abs(rows), np.abs(centered)) / spread
    return np.asarray(centered / spread), np.asarray(size.max(axis=1))


def _rows(x: ArrayLike, n_neighbors: int) -> Floats:
    rows = np.asarray(x, float)
    rows = rows.reshape(len(rows), -1) if rows.ndim else rows.reshape(1, 1)
    if not np.isfinite(rows).all():
        row = int(np.flatnonzero(~np.isfinite(rows).all(axis=1))[0])
        raise InputError(f"Row {row} has a missing or infinite cell. Drop such rows first.")
    if not 1 <= n_neighbors < len(rows):
        raise InputError(
            f"{len(rows)} rows have from 1 to {len(rows) - 1} neighbors, got {n_neighbors}."
        )
    return rows
