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

References
----------
Paninski, "Estimation of entropy and mutual information", 2003, eq. 4-6; Kraskov, Stoegbauer and
Grassberger, "Estimating mutual information", 2004, eq. 8 and 20.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import special

from novum.core.errors import InputError
from novum.distributions.information import unit_of
from novum.distributions.joint_table import JointTable

Floats = NDArray[np.float64]


# --- Discrete samples -----------------------------------------------------------------------------


def estimate_entropy(sample: Any, estimator: str = "miller_madow", base: float = 2.0) -> float:
    """Entropy of the law behind a sample of discrete values.

    Parameters
    ----------
    sample : sequence of labels, or JointTable with a `sample_size`
        For a table the joint entropy of all its variables.
    estimator : {"miller_madow", "jackknife", "plug_in"}
    base : float

    Examples
    --------
    >>> estimate_entropy(["a", "b", "a", "b"], "plug_in")
    1.0
    >>> round(estimate_entropy(["a", "b", "a", "b"]), 4)
    1.1803
    """
    return _estimator(estimator)(_counts(sample).ravel()) / unit_of(base)


def estimate_mutual_information(
    x: Any, y: Any, estimator: str = "miller_madow", base: float = 2.0
) -> float:
    """Mutual information of the law behind two columns of discrete values.

    The estimator is applied to each of the three entropies of `H(X) + H(Y) - H(X, Y)`.

    Examples
    --------
    >>> estimate_mutual_information([0, 0, 1, 1], ["a", "a", "b", "b"], "plug_in")
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


def neighbor_entropy(x: ArrayLike, n_neighbors: int = 3, base: float = 2.0) -> float:
    """Differential entropy of the continuous law behind a sample, by distances to neighbors.

    Parameters
    ----------
    x : array (n,) or (n, d)
        Repeated rows are refused: their law is not continuous.
    n_neighbors : int
        More neighbors give less variance and more bias.

    Examples
    --------
    >>> x = np.random.default_rng(0).uniform(0, 4, 4000)
    >>> round(neighbor_entropy(x), 1)
    2.0
    """
    from scipy.spatial import cKDTree

    rows = _rows(x, n_neighbors)
    distance = cKDTree(rows).query(rows, k=[n_neighbors + 1], p=np.inf)[0][:, 0]
    _refuse_repeated(distance, n_neighbors)
    n, d = rows.shape
    nats = special.digamma(n) - special.digamma(n_neighbors) + d * np.log(2 * distance).mean()
    return float(nats) / unit_of(base)


def neighbor_mutual_information(
    x: ArrayLike, y: ArrayLike, n_neighbors: int = 3, base: float = 2.0
) -> float:
    """Mutual information of the continuous law behind two samples (Kraskov's first estimator).

    Columns are brought to unit variance first, so units do not matter.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> x, noise = rng.normal(size=(2, 2000))
    >>> round(neighbor_mutual_information(x, 0.6 * x + 0.8 * noise), 1)  # exactly 0.32
    0.3
    """
    from scipy.spatial import cKDTree

    left, right = _standardized(x, n_neighbors), _standardized(y, n_neighbors)
    if len(left) != len(right):
        raise InputError(f"x has {len(left)} rows and y {len(right)}. Give both the same rows.")
    joint = np.hstack([left, right])
    distance = cKDTree(joint).query(joint, k=[n_neighbors + 1], p=np.inf)[0][:, 0]
    _refuse_repeated(distance, n_neighbors)
    # Strictly nearer: the neighbor that sets the distance is not counted.
    radius = np.nextafter(distance, 0)
    near = [
        # The row itself is among those counted, which makes the "+ 1" of the formula.
        cKDTree(part).query_ball_point(part, radius, p=np.inf, return_length=True)
        for part in (left, right)
    ]
    mean = (special.digamma(near[0]) + special.digamma(near[1])).mean()
    nats = special.digamma(n_neighbors) + special.digamma(len(joint)) - mean
    return float(nats) / unit_of(base)


def _standardized(x: ArrayLike, n_neighbors: int) -> Floats:
    rows = _rows(x, n_neighbors)
    centered = rows - rows.mean(axis=0)
    spread = np.sqrt((centered**2).mean(axis=0))
    if not np.all(spread > 0):
        column = int(np.argmin(spread))
        raise InputError(f"Column {column} is constant, so it has no continuous law. Leave it out.")
    return np.asarray(centered / spread)


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


def _refuse_repeated(distance: Floats, n_neighbors: int) -> None:
    repeated = np.flatnonzero(distance == 0)
    if repeated.size:
        raise InputError(
            f"{repeated.size} rows have {n_neighbors} neighbors at distance 0, the first is row "
            f"{repeated[0]}; their law is not continuous. Take `estimate_entropy` for discrete "
            "values, or add the noise of the rounding."
        )
