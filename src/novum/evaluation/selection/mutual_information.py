"""Mutual information of a column and the target, for every pair of kinds, missing cells counted.

    I(column; y) = I(M; y) + P(known) I(value; y | known)          M: whether the cell is missing

is the information that the column *as recorded* carries: whether a cell is there may itself say
something about `y`, and values say it only where they are there. Under `missing="known"` the second
factor alone is taken. By kinds, with `n` known rows:

    codes, classes    H(X) + H(Y) - H(X, Y), each entropy corrected for its bias (Miller-Madow)
    numbers, classes  psi(n) + mean_i [psi(k) - psi(n_c(i)) - psi(m_i)]                       (Ross)
    numbers, numbers  psi(n) + psi(k) - mean_i [psi(a_i + 1) + psi(b_i + 1)]               (Kraskov)

Ross: `m_i` rows of any class are as near to row `i` as the k-th neighbor of its own class. Both are
averaged over the orders in which ties at that distance can be broken
(`novum.distributions.information_estimates`), because numbers of real tables are rounded: counting
the ties on one side only finds information in noise. Broken at random, shuffled classes have
information 0 on average whatever the ties are, and numbers that are codes have that of codes.
Nothing is drawn at random. Estimates may fall below zero by chance, and are not cut off.

References
----------
Ross (2014) eq. 5-6; Kraskov, Stoegbauer & Grassberger (2004) eq. 8; Gao et al. (2017) algorithm 1.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar, Literal

import numpy as np
from scipy import special

from novum.core.errors import InputError
from novum.core.tables import Sample
from novum.distributions import (
    digamma_of_position,
    estimate_mutual_information,
    neighbor_mutual_information,
    others_within,
)
from novum.evaluation.selection.column_scores import (
    ColumnReader,
    ColumnScore,
    ColumnScores,
    OneColumn,
    TargetKind,
    read_columns,
)
from novum.evaluation.selection.group_tests import GroupTest
from novum.numerics import ROUNDING, Array, Floats, Mask


@dataclass(frozen=True)
class MutualInformation(ColumnScore):
    """Mutual information of each column with the target, in nats.

    Parameters
    ----------
    target : {"auto", "classes", "numbers"}
        Auto takes fractional numbers for numbers, all else for classes.
    n_neighbors : int
        For numeric columns or targets; more give less variance and more bias.
    missing : {"recorded", "known"}
        Information of the column as it is recorded, missing cells included, or of its values in the
        rows where they are known.
    estimator : {"miller_madow", "jackknife", "plug_in"}
        For two columns of codes; "plug_in" favors columns of many levels.

    Examples
    --------
    >>> color = [["red"], ["red"], ["blue"], ["blue"], [None], [None]]
    >>> score = MutualInformation(estimator="plug_in")
    >>> score(color, [0, 0, 1, 1, 0, 1]).round(4).tolist()  # 4/6 of log 2
    [0.4621]
    """

    target: TargetKind = "auto"
    n_neighbors: int = 3
    missing: Literal["recorded", "known"] = "recorded"
    estimator: str = "miller_madow"
    tests: ClassVar[bool] = False

    def __post_init__(self) -> None:
        if self.target not in ("auto", "classes", "numbers"):
            raise InputError(f"target is 'auto', 'classes' or 'numbers', got {self.target!r}.")
        if self.missing not in ("recorded", "known"):
            raise InputError(f"missing is 'recorded' or 'known', got {self.missing!r}.")
        if self.n_neighbors < 1:
            raise InputError(f"n_neighbors is at least 1, got {self.n_neighbors!r}.")

    def __call__(
        self,
        X: Any,
        y: Any,
        *,
        discrete_features: Any = "auto",
        n_neighbors: int | None = None,
        random_state: Any = None,
    ) -> Any:
        """Scores of the columns of `X`, with scikit-learn's arguments.

        `discrete_features` says which columns of numbers are codes; nothing is random here, so
        `random_state` changes nothing.
        """
        del random_state
        score = self if n_neighbors is None else replace(self, n_neighbors=n_neighbors)
        if isinstance(discrete_features, str) and discrete_features == "auto":
            return super(MutualInformation, score).__call__(X, y)
        chosen: Any = discrete_features
        if isinstance(chosen, (bool, np.bool_)):
            chosen = "all" if chosen else None
        return score.of(score._read(X, y, chosen)).scores

    def of(self, sample: Sample) -> ColumnScores:
        column_scores = super().of(sample)
        if self.missing == "known" or (column_scores.n_known == sample.n_rows).all():
            return column_scores
        scores = column_scores.scores * column_scores.n_known / sample.n_rows
        for j in np.flatnonzero(column_scores.n_known < sample.n_rows):
            scores[j] += self._of_absence(sample, int(j))
        return replace(column_scores, scores=scores)

    def _read(self, X: Any, y: Any, categorical: Any) -> Sample:
        return read_columns(ColumnReader(categorical), X, y, self.target)

    def _of_absence(self, sample: Sample, j: int) -> float:
        """Information in whether the cells of a column are known."""
        known = known_cells(sample, j)
        if known.all() or not known.any():
            return 0.0
        if sample.classes is not None:
            return information_of_codes(known.astype(np.int64), sample.target, self.estimator)
        return information_of_groups(sample.target, known.astype(np.int64), self.n_neighbors)

    def _one(self, column: OneColumn, classes: bool) -> GroupTest:
        if column.is_numeric and not classes:
            information = information_of_numbers(column.values, column.target, self.n_neighbors)
        elif column.is_numeric:
            information = information_of_groups(column.values, column.target, self.n_neighbors)
        elif classes:
            information = information_of_codes(column.values, column.target, self.estimator)
        else:
            information = information_of_groups(column.target, column.values, self.n_neighbors)
        return GroupTest(information, 0.0)


mutual_info_classif = MutualInformation("classes", estimator="plug_in")
mutual_info_regression = MutualInformation("numbers", estimator="plug_in")


# --- Pairs of kinds -------------------------------------------------------------------------------


def information_of_codes(a: Array, b: Array, estimator: str = "miller_madow") -> float:
    """Between two columns of codes, in nats."""
    return estimate_mutual_information(a.tolist(), b.tolist(), estimator)


def information_of_groups(values: Floats, groups: Array, n_neighbors: int = 3) -> float:
    """Between numbers and groups, in nats; a group of one row has no neighbor and is left out.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> groups = rng.integers(0, 2, 2000)
    >>> round(information_of_groups(rng.normal(size=2000) + 100 * groups, groups), 2)  # log 2
    0.69
    """
    met, codes, counts = np.unique(groups, return_inverse=True, return_counts=True)
    kept = counts[codes] > 1
    if not kept.any():
        return 0.0
    x, codes = values[kept], codes[kept]
    terms = np.empty(x.size)
    everything = np.sort(x)
    for group in range(met.size):
        rows = np.flatnonzero(codes == group)
        if rows.size == 0:
            continue
        ordered, k = np.sort(x[rows]), min(n_neighbors, rows.size - 1)
        distance = _neighbor_distance(ordered, k)
        tolerance = np.maximum(ROUNDING * (np.abs(ordered) + distance), 5e-324)
        nearer, within = distance - tolerance, distance + tolerance
        own, own_within = (others_within(ordered, ordered, radius) for radius in (nearer, within))
        inside, reached = (
            others_within(everything, ordered, radius) for radius in (nearer, within)
        )
        place = digamma_of_position(inside, reached - inside, own_within - own, k - own)
        terms[rows] = special.digamma(k) - special.digamma(rows.size) - place
    return float(special.digamma(x.size) + terms.mean())


def information_of_numbers(x: Floats, y: Floats, n_neighbors: int = 3) -> float:
    """Between two columns of numbers, in nats; too few rows to have neighbors give 0."""
    if x.size <= n_neighbors or np.ptp(x) == 0 or np.ptp(y) == 0:
        return 0.0
    return neighbor_mutual_information(x, y, n_neighbors)


def _neighbor_distance(ordered: Floats, k: int) -> Floats:
    """Distance of each of some sorted numbers to the k-th nearest other one.

    The k nearest of a number and itself are k + 1 neighbors in order, so the distance is the least,
    over the k + 1 windows of that width which hold it, of the larger reach to the ends.
    """
    n = ordered.size
    best = np.full(n, np.inf)
    for left in range(k + 1):
        first, last = np.arange(n) - left, np.arange(n) - left + k
        inside = (first >= 0) & (last < n)
        here = ordered[inside]
        reach = np.maximum(here - ordered[first[inside]], ordered[last[inside]] - here)
        best[inside] = np.minimum(best[inside], reach)
    return best


def known_cells(sample: Sample, j: int) -> Mask:
    """In which rows a column is known."""
    place = np.flatnonzero(sample.schema.numeric == j)
    if place.size == 0:
        coded = int(np.flatnonzero(sample.schema.categorical == j)[0])
        return np.asarray(sample.codes[:, coded] >= 0)
    part = sample.numeric[:, [int(place[0])]]
    return ~np.isnan((part.toarray() if sample.is_sparse else part).ravel())
