"""How many groups there are: six criteria, one table, one sentence, and "one group" among answers.

For every k of a range the learner groups the rows, and

    elbow          within sum W_k; the bend is where it lies farthest below the line of its ends
    silhouette     the largest mean
    gap            the least k with Gap_k >= Gap_(k+1) - s_(k+1), where Gap_k is the mean over
                   reference tables without groups of log W*_k, less log W_k
    Calinski-Harabasz (largest) and Davies-Bouldin (least)
    stability      the largest mean agreement (adjusted Rand) of groupings of subsamples with that
                   of all rows

Reference tables have numbers whose columns keep their shape but have one mode each: the law with
one mode that is nearest to the column's, so that skew and long tails stay and valleys between
groups are filled. Columns are tied by a normal copula with the correlations of their normal scores.
Columns of levels are shuffled, each for itself; the same cells are missing. These tables also tell
whether there are groups at all: where the largest silhouette is no larger than what tables without
groups have in one of 20 cases (by Student's t over the reference tables), the answer is one group.
Otherwise it is the k that most criteria name, of equals the one of larger silhouette.

References
----------
Tibshirani, Walther and Hastie, Estimating the number of clusters in a data set via the gap
statistic, JRSS B 63, 2001. Rousseeuw, Silhouettes, 1987. Ben-Hur, Elisseeff and Guyon, A stability
based method for discovering structure in clustered data, 2002. Hartigan and Hartigan, The dip test
of unimodality, Annals of Statistics 13, 1985.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from scipy import stats
from scipy.optimize import isotonic_regression
from scipy.special import ndtr, ndtri
from sklearn.base import clone
from sklearn.metrics import adjusted_rand_score, calinski_harabasz_score, davies_bouldin_score

from novum.clustering.agglomerative import TreeOfMerges
from novum.clustering.cluster_choice import NAMES, ClusterChoice, CountRow
from novum.clustering.comparing import prepared_rows
from novum.clustering.k_means import KMeans
from novum.clustering.merging import cut_tree, reader_of
from novum.clustering.separation import distance_sums, silhouette_samples
from novum.core.errors import InputError
from novum.core.runtime import RandomSource, check_cancelled, seed_sequence, stream
from novum.core.tables import (
    as_table,
    cells_of,
    check_sample,
    n_rows_of,
    rows_of,
    set_columns,
)
from novum.display import probability
from novum.numerics import SMALLEST_NORMAL, Floats, Integers, Mask

# Rows whose pairs are compared; of larger tables as many are drawn.
_MOST_ROWS = 3000
_LEVEL = 0.05
# Places that a mode is looked for at.
_MODES = 41


def choose_clusters(
    X: Any,
    learner: Any = None,
    range: Iterable[int] = range(1, 11),
    *,
    n_references: int = 20,
    n_subsamples: int = 20,
    random_state: RandomSource = 0,
) -> ClusterChoice:
    """Groups the rows for every number of a range, and says how many groups there are.

    Parameters
    ----------
    X : table
    learner : estimator with a parameter `n_clusters`, optional
        `KMeans` by default. Of trees of merges one is made for all numbers.
    range : iterable of int
        Numbers of groups to compare, from 1 to fewer than rows.
    n_references : int
        Tables without groups that the rows are compared with.
    n_subsamples : int
        Subsamples of 80 % of the rows, for stability.
    random_state : None, int, Generator, RandomState or SeedSequence

    Notes
    -----
    Tables of more than 3,000 rows are judged by as many of them, drawn at random.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> X = np.concatenate([rng.normal(size=(40, 2)) + 9 * place for place in (0, 1, 2)])
    >>> choice = choose_clusters(X, range=[1, 2, 3, 4, 5], n_references=10, n_subsamples=5)
    >>> choice.n_clusters, choice.votes["silhouette"]
    (3, 3)
    """
    root, X = seed_sequence(random_state), as_table(X)
    sample = check_sample(reader_of("choose_clusters"), X, target="none", allow_missing=True)
    n = sample.n_rows
    learner = KMeans(n_init=3) if learner is None else learner
    ks = _checked_range(range, n, learner)
    judged = np.arange(n)
    if n > _MOST_ROWS:
        judged = np.sort(stream(root, "rows").permutation(n)[:_MOST_ROWS])
    part = rows_of(X, judged)
    job = _Job(learner, ks, sample.schema.is_numeric and not np.isnan(np.sum(sample.numeric)))
    labels = job.groupings(part, stream(root, "fit"))
    within = {k: job.within(part, labels[k]) for k in ks}
    silhouettes = {k: job.silhouettes(part, labels[k]) for k in ks}
    gaps, null = _against_references(job, part, within, root, n_references)
    stability = _stability(job, part, labels, root, n_subsamples)
    rows = tuple(
        CountRow(
            k,
            within[k],
            _mean_limits(silhouettes[k]),
            *gaps[k],
            job.index(calinski_harabasz_score, part, labels[k]),
            job.index(davies_bouldin_score, part, labels[k]),
            _mean_limits(stability[k]),
            tuple(np.bincount(labels[k]).tolist()),
        )
        for k in ks
    )
    votes = _votes(rows)
    largest = max((r.silhouette[0] for r in rows if r.silhouette), default=-1.0)
    p_value = _chance(largest, np.array(null))
    k = _decided(rows, votes, p_value)
    model, grouped = None, np.zeros(n, np.int64)
    if k > 1:
        model = job.model(k, stream(root, "last")).fit(X)
        grouped = np.asarray(model.labels_)
    return ClusterChoice(k, _reason(k, rows, votes, p_value), rows, votes, p_value, model, grouped)


def _checked_range(given: Iterable[int], n: int, learner: Any) -> list[int]:
    ks = sorted({int(k) for k in given})
    if not hasattr(learner, "get_params") or "n_clusters" not in learner.get_params():
        raise InputError(
            f"{type(learner).__name__} has no parameter n_clusters, so there is nothing to choose. "
            "Pass KMeans(), KMedoids() or AgglomerativeClustering()."
        )
    if not ks or ks[0] < 1:
        raise InputError("The range holds numbers of groups of at least 1, such as range(1, 11).")
    kept = [k for k in ks if k < n]
    if len(kept) < 2 or kept[-1] < 2:
        raise InputError(
            f"{n} rows leave no two numbers of groups to compare in {ks[:10]}. Add rows, or give a "
            "range such as [1, 2, 3]."
        )
    return kept


@dataclass(frozen=True, eq=False)
class _Job:
    """A learner for several numbers of groups, and how its groupings are judged."""

    learner: Any
    ks: list[int]
    has_means: bool

    @property
    def metric(self) -> Any:
        return getattr(self.learner, "metric", "euclidean")

    def model(self, k: int, rng: np.random.Generator) -> Any:
        settings: dict[str, Any] = {"n_clusters": k}
        if "random_state" in self.learner.get_params():
            settings["random_state"] = int(rng.integers(2**31))
        return clone(self.learner).set_params(**settings)

    def groupings(self, X: Any, rng: np.random.Generator) -> dict[int, Integers]:
        """Labels from 0 on, for every number."""
        check_cancelled()
        one = {1: np.zeros(n_rows_of(X), np.int64)} if 1 in self.ks else {}
        more = [k for k in self.ks if k > 1]
        if isinstance(self.learner, TreeOfMerges):
            tree = self.model(more[-1], rng).fit(X).linkage_matrix_
            return one | {k: cut_tree(tree, k) for k in more}
        groupings = {}
        for k in more:
            labels = self.model(k, rng).fit(X).labels_
            groupings[k] = np.unique(labels, return_inverse=True)[1]
        return one | groupings

    def within(self, X: Any, labels: Integers) -> float:
        if self.has_means:
            rows = np.asarray(X, np.float64)
            sizes = np.bincount(labels)
            sums = np.zeros((len(sizes), rows.shape[1]))
            np.add.at(sums, labels, rows)
            return float(((rows - (sums / sizes[:, np.newaxis])[labels]) ** 2).sum())
        sample = check_sample(reader_of("choose_clusters"), X, target="none", allow_missing=True)
        sums = distance_sums(prepared_rows(sample, self.metric), labels)
        inside = sums[np.arange(len(labels)), labels] / np.bincount(labels)[labels]
        if np.isinf(inside).any():
            raise InputError(
                "Some rows are infinitely far apart, so they are never in one group, and there is "
                "no number of groups to choose. Take a distance that knows all pairs."
            )
        return float(inside.sum() / 2)

    def silhouettes(self, X: Any, labels: Integers) -> Floats | None:
        if not 2 <= labels.max() + 1 < len(labels):
            return None
        return silhouette_samples(X, labels, metric=self.metric)

    def index(self, function: Any, X: Any, labels: Integers) -> float | None:
        if not self.has_means or not 2 <= labels.max() + 1 < len(labels):
            return None
        return float(function(X, labels))

    def references(self, X: Any) -> Callable[[np.random.Generator], Any]:
        """What draws tables of the same size without groups, with the same cells missing."""
        if self.has_means:
            return OneModeLaw.of(np.asarray(X, np.float64)).draw
        sample = check_sample(reader_of("choose_clusters"), X, target="none", allow_missing=True)
        law = OneModeLaw.of(np.asarray(sample.numeric, np.float64))

        def draw(rng: np.random.Generator) -> Any:
            numbers = law.draw(rng)
            columns = {int(place): numbers[:, j] for j, place in enumerate(sample.schema.numeric)}
            for place in map(int, sample.schema.categorical):
                columns[place] = cells_of(X, place, rng.permutation(n_rows_of(X)))
            return set_columns(X, columns)

        return draw


@dataclass(frozen=True, eq=False)
class OneModeLaw:
    """Columns of numbers as those of a table, but with one mode each.

    Attributes
    ----------
    missing : mask (n, p)
    quantiles : tuple of pairs of arrays
        The values of each column, and the chance to be below them.
    axes : array (r, p)
        Rows of normal numbers times these have the correlations of the normal scores.
    """

    missing: Mask
    quantiles: tuple[tuple[Floats, Floats], ...]
    axes: Floats

    @classmethod
    def of(cls, rows: Floats) -> OneModeLaw:
        missing, scores = np.isnan(rows), np.zeros(rows.shape)
        for score, column, gone in zip(scores.T, rows.T, missing.T, strict=True):
            n = int((~gone).sum())
            score[~gone] = ndtri((stats.rankdata(column[~gone]) - 0.5) / max(n, 1))
        lengths = np.sqrt((scores**2).sum(axis=0))
        scores /= np.where(lengths > 0, lengths, 1.0)
        _, sizes, turn = np.linalg.svd(scores, full_matrices=False)
        quantiles = tuple(
            one_mode(column[~gone]) for column, gone in zip(rows.T, missing.T, strict=True)
        )
        return cls(missing, quantiles, sizes[:, np.newaxis] * turn)

    def draw(self, rng: np.random.Generator) -> Floats:
        """As many rows as the table has."""
        chances = ndtr(rng.normal(size=(len(self.missing), len(self.axes))) @ self.axes)
        drawn = np.empty(self.missing.shape)
        for j, (values, below) in enumerate(self.quantiles):
            drawn[:, j] = np.interp(chances[:, j], below, values) if len(values) else np.nan
        drawn[self.missing] = np.nan
        return drawn


def one_mode(cells: Floats) -> tuple[Floats, Floats]:
    """Values and the chance to be below them, under the law with one mode nearest to that of cells.

    Left of a mode the distribution function is the isotonic fit of rising densities, right of it
    of falling ones. Of 41 places for the mode that of the least distance (Kolmogorov's) is taken.

    Examples
    --------
    >>> one_mode(np.array([0.0, 1.0, 2.0, 8.0, 9.0]))[1].round(3)
    array([0.   , 0.25 , 0.5  , 0.929, 1.   ])
    """
    values, counts = np.unique(cells, return_counts=True)
    if len(values) < 3:
        return values, np.linspace(0.0, 1.0, len(values))
    # Narrower gaps have densities that are no numbers.
    widths, shares = np.maximum(np.diff(values), SMALLEST_NORMAL), counts[1:] + counts[:-1]
    shares = shares / shares.sum()
    below = np.concatenate([[0.0], np.cumsum(shares)])
    nearest, least = below, np.inf
    for mode in np.unique(np.linspace(0, len(widths), _MODES).astype(int)):
        densities = shares / widths
        for part, is_rising in ((slice(0, mode), True), (slice(mode, None), False)):
            if len(densities[part]):
                densities[part] = isotonic_regression(
                    densities[part], weights=widths[part], increasing=is_rising
                ).x
        fitted = np.concatenate([[0.0], np.cumsum(densities * widths)])
        distance = float(np.abs(fitted - below).max())
        if distance < least:
            nearest, least = fitted, distance
    return values, nearest


def _against_references(
    job: _Job, X: Any, within: dict[int, float], root: Any, count: int
) -> tuple[dict[int, tuple[float, float]], list[float]]:
    """Gaps with their errors, and the largest silhouette of every reference table."""
    logs: dict[int, list[float]] = {k: [] for k in job.ks}
    largest: list[float] = []
    tiny, draw = np.finfo(float).tiny, job.references(X)
    for i in range(count):
        rng = stream(root, "reference", i)
        table = draw(rng)
        labels = job.groupings(table, rng)
        means = [-1.0]
        for k in job.ks:
            logs[k].append(float(np.log(max(job.within(table, labels[k]), tiny))))
            samples = job.silhouettes(table, labels[k])
            if samples is not None:
                means.append(float(samples.mean()))
        largest.append(max(means))
    factor = np.sqrt(1.0 + 1.0 / max(count, 1))
    gaps = {
        k: (
            float(np.mean(values) - np.log(max(within[k], tiny))) if values else 0.0,
            float(np.std(values) * factor) if values else 0.0,
        )
        for k, values in logs.items()
    }
    return gaps, largest


def _stability(
    job: _Job, X: Any, labels: dict[int, Integers], root: Any, count: int
) -> dict[int, Floats | None]:
    """Agreement of groupings of subsamples with those of all rows."""
    n = len(labels[job.ks[-1]])
    agreements: dict[int, list[float]] = {k: [] for k in job.ks if k > 1}
    for i in range(count):
        rng = stream(root, "subsample", i)
        chosen = np.sort(rng.permutation(n)[: max(int(0.8 * n), job.ks[-1] + 1)])
        for k, grouped in job.groupings(rows_of(X, chosen), rng).items():
            if k > 1:
                agreements[k].append(adjusted_rand_score(labels[k][chosen], grouped))
    return {k: np.array(agreements[k]) if agreements.get(k) else None for k in job.ks}


# --- The decision ---------------------------------------------------------------------------------


def bend(ks: Any, values: Any) -> int | None:
    """Where a falling curve lies farthest below the line of its ends; None where nowhere.

    Examples
    --------
    >>> bend([1, 2, 3, 4], [100.0, 20.0, 15.0, 12.0])
    2
    """
    x, y = np.asarray(ks, float), np.asarray(values, float)
    if len(x) < 3 or not y[0] > y[-1]:
        return None
    below = y[0] + (y[-1] - y[0]) * (x - x[0]) / (x[-1] - x[0]) - y
    best = int(np.argmax(below))
    return int(x[best]) if below[best] > 0 else None


def _votes(rows: tuple[CountRow, ...]) -> dict[str, int]:
    votes: dict[str, int] = {}
    corner = bend([row.k for row in rows], [row.within for row in rows])
    if corner is not None:
        votes["elbow"] = corner
    # Of equally clear numbers the smaller, of equally stable ones the larger says more.
    for name, order in (("silhouette", -1), ("stability", 1)):
        known = {r.k: round(getattr(r, name)[0], 9) for r in rows if getattr(r, name)}
        if known:
            votes[name] = max(known, key=lambda k: (known[k], order * k))
    for name, sign in (("calinski_harabasz", 1.0), ("davies_bouldin", -1.0)):
        known = {r.k: sign * getattr(r, name) for r in rows if getattr(r, name) is not None}
        if known:
            votes[name] = max(known, key=lambda k: (known[k], -k))
    enough = [a.k for a, b in pairwise(rows) if a.gap >= b.gap - b.gap_error]
    votes["gap"] = enough[0] if enough else rows[-1].k
    return {name: votes[name] for name in NAMES if name in votes}


def _chance(value: float, null: Floats) -> float:
    """The chance of a value at least as large, from few values without groups (Student's t)."""
    if len(null) < 2:
        raise InputError("At least 2 reference tables are needed to tell whether there are groups.")
    spread = max(float(null.std(ddof=1)), 1e-12) * np.sqrt(1.0 + 1.0 / len(null))
    return float(stats.t.sf((value - float(null.mean())) / spread, len(null) - 1))


def _decided(rows: tuple[CountRow, ...], votes: dict[str, int], p_value: float) -> int:
    if p_value > _LEVEL:
        return 1
    counts = Counter(k for k in votes.values() if k > 1)
    heights = {row.k: row.silhouette[0] if row.silhouette else -1.0 for row in rows}
    return max(counts, key=lambda k: (counts[k], heights.get(k, -1.0)))


def _reason(k: int, rows: tuple[CountRow, ...], votes: dict[str, int], p_value: float) -> str:
    if k == 1:
        largest = max((r.silhouette[0] for r in rows if r.silhouette), default=-1.0)
        return (
            f"One group: the largest silhouette, {largest:.2f}, is no larger than what tables "
            f"without groups have ({_p_text(p_value)})."
        )
    row = next(r for r in rows if r.k == k)
    agreeing = [NAMES[name] for name, named in votes.items() if named == k]
    others = [f"{NAMES[name]} {named}" for name, named in votes.items() if named != k]
    assert row.silhouette is not None
    text = (
        f"{k} groups: {_listed(agreeing)} {'names' if len(agreeing) == 1 else 'name'} this number"
    )
    text += f" ({', '.join(others)})" if others else ""
    text += f"; the mean silhouette is {row.silhouette[0]:.2f}"
    if row.stability:
        text += f", and groupings of subsamples agree to {row.stability[0]:.2f}"
    more = " More groups were not tried." if k == rows[-1].k else ""
    return f"{text} ({_p_text(p_value)} in tables without groups).{more}"


def _p_text(p_value: float) -> str:
    shown = probability(p_value)
    return f"p {shown}" if shown[0] in "<>" else f"p = {shown}"


def _listed(words: list[str]) -> str:
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}"


def _mean_limits(values: Floats | None) -> tuple[float, float, float] | None:
    """Mean and Student's limits."""
    if values is None or len(values) == 0:
        return None
    mean = float(values.mean())
    if len(values) == 1:
        return mean, mean, mean
    half = float(stats.t.ppf(0.975, len(values) - 1) * values.std(ddof=1) / np.sqrt(len(values)))
    return mean, mean - half, mean + half
