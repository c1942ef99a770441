"""One bench for detectors of novelty: the same rows, left out in the same way.

Every detector is fitted to the rows of the other folds and scores the rows of its own, so that no
row helps to find itself ordinary. Scores of a fold are taken from their median in units of their
quartile range, so that folds are comparable, and the share of all rows that are less novel is the
rank of a row, from 0 to 1. Over two repeats of the folds, of a detector

    agreement    rank correlation with the mean of the others' ranks
    stability    rank correlation of its ranks in one repeat with those in the other
    area         where it is known which rows are novel: the chance that it ranks a novel row above
                 an ordinary one (ROC area). Rows that are known to be novel are not learned from.
    cost         and what its alarms cost at a working point, over the better of always and never
                 giving alarm; whether there is one is decided by the threshold that costs least on
                 the other folds, so that no row chooses its own.

Without labels no detector can be called right; what they agree on is the best there is, and the
mean of their ranks, the consensus, is what most unusual rows are listed by.
"""

from __future__ import annotations

import math
import time
import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import clone

from novum.core.decisions import WorkingPoint
from novum.core.errors import InputError
from novum.core.learners import FewRowsWarning
from novum.core.runtime import RandomSource, check_cancelled, seed_sequence, stream
from novum.core.tables import as_table, rows_of
from novum.display import Axis, Chart, Cloud, Line, Table
from novum.evaluation.decisions.detection_cost import minimum_detection_cost
from novum.evaluation.measures.interval import Interval
from novum.evaluation.measures.intervals import proportion_interval
from novum.evaluation.measures.reading import read_scored
from novum.evaluation.measures.separation import rank_scores
from novum.evaluation.measures.separation_intervals import area_interval
from novum.numerics import Floats

_REPEATS = 2
_EVEN = WorkingPoint.binary(prior=0.5, cost_fn=1, cost_fp=1)


@dataclass(frozen=True, eq=False)
class DetectorResult:
    """What one detector did.

    Attributes
    ----------
    name : str
    ranks : array (n_rows,)
        Share of the rows that are less novel, mean over repeats.
    agreement, stability : Interval
    area, cost : Interval or None
    seconds : float
        Of one fit with the scores of the rows left out, on average.
    """

    name: str
    ranks: Floats
    agreement: Interval
    stability: Interval
    area: Interval | None
    seconds: float
    cost: Interval | None = None


@dataclass(frozen=True, eq=False)
class DetectorComparison:
    """Detectors side by side; the best one first.

    Attributes
    ----------
    results : tuple of DetectorResult
        By area where it is known what is novel, else by agreement.
    consensus : array (n_rows,)
        Mean rank of every row over the detectors.
    not_done : dict from names to reasons
    """

    results: tuple[DetectorResult, ...]
    consensus: Floats
    not_done: dict[str, str]

    @property
    def best(self) -> str:
        return self.results[0].name

    @property
    def most_unusual(self) -> Any:
        """Row numbers, the most unusual first."""
        return np.argsort(-self.consensus, kind="stable")

    @property
    def omissions(self) -> tuple[str, ...]:
        """Which detectors were not compared, and why: a sentence for each reason."""
        names: dict[str, list[str]] = {}
        for name, why in self.not_done.items():
            names.setdefault(why, []).append(name)
        return tuple(
            f"{', '.join(own)} {'was' if len(own) == 1 else 'were'} not compared: {_ended(why)}"
            for why, own in names.items()
        )

    @property
    def sentence(self) -> str:
        """The comparison in one sentence."""
        first = self.results[0]
        if first.area is not None:
            return (
                f"{first.name} tells novel rows best, with an area of {first.area!r} on rows that "
                "it had not seen."
            )
        if len(self.results) == 1:
            return f"{first.name} is the only detector; nothing is there to compare it with."
        return (
            f"{first.name} agrees most with the others ({first.agreement!r}); which rows are truly "
            "novel is not known, so no detector is proved right."
        )

    def table(self) -> Table:
        labelled = self.results[0].area is not None
        judged = ["area", "cost"] if labelled else []
        head = ["detector", *judged, "agreement", "stability", "seconds"]
        rows = [
            [
                r.name,
                *([repr(r.area), repr(r.cost)] if labelled else []),
                repr(r.agreement),
                repr(r.stability),
                f"{r.seconds:.2g}",
            ]
            for r in self.results
        ]
        return Table.of_numbers("Detectors", head, rows)

    def chart(self) -> Chart:
        """Areas, or agreements, with their intervals."""
        shown = self.results[::-1]
        areas = [r.agreement if r.area is None else r.area for r in shown]
        what = "agreement" if shown[0].area is None else "area"
        places = np.arange(len(areas), dtype=float)
        marks: list[Any] = [
            Line([i.low, i.high], [place, place], color="muted")
            for i, place in zip(areas, places, strict=True)
            if math.isfinite(i.low)
        ]
        marks.append(Cloud([i.estimate for i in areas], places))
        return Chart(Axis(what, grid=True), Axis(names=[r.name for r in shown]), marks, "Detectors")

    def __repr__(self) -> str:
        return "\n".join([self.table().as_text(), self.sentence, *self.omissions])


def _ended(sentence: str) -> str:
    return sentence if sentence.endswith(".") else f"{sentence}."


def compare_detectors(
    X: Any,
    known: Any = None,
    *,
    detectors: Mapping[str, Any] | None = None,
    n_folds: int = 5,
    point: WorkingPoint | None = None,
    random_state: RandomSource = 0,
    level: float = 0.95,
) -> DetectorComparison:
    """Fits detectors to the same folds and compares how they rank the rows left out.

    Parameters
    ----------
    X : table of n_rows
    known : array (n_rows,), optional
        Which rows are novel: true or 1, or -1 as a detector's `predict` says it; the others are
        false or 0, or 1.
    detectors : mapping from names to estimators with `score_samples`, optional
        Lower scores are more novel, as everywhere in scikit-learn. By default those of
        `default_detectors`: forest, neighbors, densities, support vectors, networks.
    n_folds : int, default=5
    point : WorkingPoint, optional
        What a missed novel row and a false alarm cost, and how often rows are novel; the novel
        class is the second. By default both errors weigh the same.
    random_state : None, int, Generator, RandomState or SeedSequence
    level : float, default=0.95
        Of the intervals.

    Examples
    --------
    >>> from novum.neighbors import NeighborDistance
    >>> from novum.trees import IsolationForest
    >>> rng = np.random.default_rng(0)
    >>> X = np.vstack([rng.normal(size=(95, 2)), rng.normal(size=(5, 2)) + 6])
    >>> detectors = {"forest": IsolationForest(random_state=0), "neighbors": NeighborDistance()}
    >>> comparison = compare_detectors(X, detectors=detectors)
    >>> sorted(comparison.most_unusual[:5].tolist())
    [95, 96, 97, 98, 99]
    """
    if isinstance(X, Mapping) and any(hasattr(value, "fit") for value in X.values()):
        raise InputError(
            "The table comes first: compare_detectors(X, known, detectors={name: detector})."
        )
    table, root = as_table(X), seed_sequence(random_state)
    n = table.shape[0]
    novel = np.zeros(n, bool) if known is None else _novel_rows(known, n)
    if n < 2 * n_folds or n_folds < 2:
        raise InputError(
            f"{n_folds} folds of at least two rows need {2 * max(n_folds, 2)} rows, got {n}. Ask "
            "for fewer folds (at least 2), or pass more rows."
        )
    not_done: dict[str, str] = {}
    if detectors is None:
        # All families are imported by it.
        from novum.evaluation.detector_bench import default_detectors

        ordinary = rows_of(table, np.flatnonzero(~novel))
        detectors, not_done = default_detectors(ordinary, random_state=root)
    if not detectors:
        raise InputError("Name at least one detector to compare.")
    folds = [_folds(n, n_folds, stream(root, r)) for r in range(_REPEATS)]
    ranks, seconds = {}, {}
    for name, detector in detectors.items():
        check_cancelled()
        began = time.process_time()
        try:
            ranks[name] = np.stack([_ranked(detector, table, novel, parts) for parts in folds])
        except (ValueError, ArithmeticError) as error:
            not_done[name] = str(error)
        seconds[name] = (time.process_time() - began) / (_REPEATS * n_folds)
    if not ranks:
        name, why = next(iter(not_done.items()))
        raise InputError(f"No detector could be fitted; {name}: {why}")
    mean = {name: both.mean(axis=0) for name, both in ranks.items()}
    consensus = np.mean(list(mean.values()), axis=0)
    results = []
    for name, own in mean.items():
        others = [other for key, other in mean.items() if key != name]
        rest = np.mean(others, axis=0) if others else own
        area = cost = None
        if known is not None:
            area = area_interval(rank_scores(read_scored(novel.astype(int), own)), level)
            cost = _cost(novel, own, folds[0], point or _EVEN, level)
        results.append(
            DetectorResult(
                name,
                own,
                _correlation(own, rest, level),
                _correlation(ranks[name][0], ranks[name][1], level),
                area,
                seconds[name],
                cost,
            )
        )
    results.sort(key=_worth, reverse=True)
    return DetectorComparison(tuple(results), consensus, not_done)


def _worth(result: DetectorResult) -> float:
    """Area, or agreement; nothing of a detector that ranks all rows alike."""
    value = (result.agreement if result.area is None else result.area).estimate
    return -math.inf if math.isnan(value) else value


def _novel_rows(known: Any, n: int) -> Any:
    """Labels of novelties as truth values: of 0 and 1, or of the -1 and 1 of `predict`."""
    labels = np.asarray(known)
    if labels.shape != (n,):
        raise InputError(f"known says of {labels.shape} rows whether they are novel, X has {n}.")
    kinds = set(labels.tolist())
    if not kinds <= {0, 1} and not kinds <= {-1, 1}:
        odd = sorted(map(repr, kinds - {-1, 0, 1})) or ["-1 beside 0"]
        raise InputError(
            "known has true (or 1) for novel rows and false (or 0) for others, or -1 and 1 as "
            f"predict has them, got {', '.join(odd[:3])}."
        )
    novel = labels == (-1 if -1 in kinds else 1)
    if novel.all() or not novel.any():
        raise InputError("known must have novel rows and others; leave it out if nothing is known.")
    return novel


def _folds(n: int, n_folds: int, rng: np.random.Generator) -> Any:
    """The number of the fold of every row."""
    return rng.permutation(np.arange(n) % n_folds)


def _ranked(detector: Any, table: Any, novel: Any, folds: Any) -> Floats:
    """Ranks of all rows, each by a model that has not seen it."""
    from scipy.stats import rankdata

    novelty = np.empty(len(folds))
    for fold in np.unique(folds):
        train = np.flatnonzero((folds != fold) & ~novel)
        test = np.flatnonzero(folds == fold)
        with warnings.catch_warnings():
            # Ranks are compared, and no line that few rows draw.
            warnings.simplefilter("ignore", FewRowsWarning)
            model = clone(detector).fit(rows_of(table, train))
        scores = -np.asarray(model.score_samples(rows_of(table, test)), np.float64)
        low, middle, high = np.quantile(scores, [0.25, 0.5, 0.75])
        novelty[test] = (scores - middle) / (high - low or np.ptp(scores) or 1.0)
    return np.asarray((rankdata(novelty) - 1.0) / (len(novelty) - 1))


def _cost(novel: Any, ranks: Floats, folds: Any, point: WorkingPoint, level: float) -> Interval:
    """Normalized detection cost, by thresholds from other folds.

    Its interval is made of Wilson's for misses and for false alarms, as that of a weighted sum of
    two shares (Zou and Donner 2008).
    """
    alarm = np.zeros(len(novel), bool)
    labels = np.array(point.classes, object)[novel.astype(int)]
    for fold in np.unique(folds):
        rest, own = folds != fold, folds == fold
        if novel[rest].all() or not novel[rest].any():
            return Interval(math.nan, math.nan, math.nan, level, "too few novel rows in the folds")
        threshold = minimum_detection_cost(labels[rest], ranks[rest], point).threshold
        alarm[own] = ranks[own] > threshold
    prior = point.effective_prior
    weights = np.array([prior, 1.0 - prior]) / min(prior, 1.0 - prior)
    misses = proportion_interval(float((novel & ~alarm).sum()), float(novel.sum()), level)
    alarms = proportion_interval(float((~novel & alarm).sum()), float((~novel).sum()), level)
    both = (misses, alarms)
    value = float(sum(w * i.estimate for w, i in zip(weights, both, strict=True)))
    down, up = (
        math.hypot(
            *(w * (i.estimate - getattr(i, end)) for w, i in zip(weights, both, strict=True))
        )
        for end in ("low", "high")
    )
    return Interval(value, max(value - down, 0.0), value + up, level, "Wilson, Zou and Donner")


def _correlation(a: Floats, b: Floats, level: float) -> Interval:
    """Spearman's correlation with Fisher's interval, in which the spread is that of ranks."""
    from scipy import special, stats

    value = float(stats.spearmanr(a, b).statistic) if np.ptp(a) > 0 and np.ptp(b) > 0 else math.nan
    if math.isnan(value) or len(a) < 5:
        return Interval(value, math.nan, math.nan, level, "too few rows, or all alike")
    bounded = min(max(value, -1 + 1e-12), 1 - 1e-12)
    reach = special.ndtri((1 + level) / 2) * math.sqrt((1 + bounded**2 / 2) / (len(a) - 3))
    low, high = (math.tanh(math.atanh(bounded) + sign * reach) for sign in (-1, 1))
    return Interval(value, low, high, level, "Fisher, Bonett and Wright")
