"""Curves over the number of labels: what rows without a label are worth.

    labelled only    score of the model fitted to m labelled rows
    both             score of the model fitted to the same m labels and all other rows without

Both are judged by the same labelled rows, which neither has seen. Labels beyond m are hidden, so
that a table with all its labels can tell how few would have done. The difference is of pairs of
scores on the same folds, and its interval is that of `curve_values`. Every fold draws its labels by
itself, so that two folds share at most what their training parts share, and the correction is that
of the whole parts.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import clone

from novum.core.errors import InputError
from novum.core.runtime import fitted_model, run_tasks
from novum.core.tables import check_partial_classes, rows_of
from novum.display import GRAY, Axis, Band, Chart, Line, Table
from novum.evaluation.inspection.curve_values import fold_interval, intervals_of, natural
from novum.evaluation.measures.interval import Interval
from novum.evaluation.measures.scorers import natural_form, score_limits
from novum.evaluation.validation.certainty import UNLIMITED
from novum.evaluation.validation.fold_fits import plain_table
from novum.evaluation.validation.labelled_folds import LabelledFolds
from novum.evaluation.validation.routing import named_scorers
from novum.numerics import Array, Floats, Integers, Positions

DEFAULT_SIZES = (0.05, 0.1, 0.25, 0.5, 1.0)


@dataclass(frozen=True, eq=False)
class LabelCurve:
    """Scores by the number of labels, with and without unlabelled rows.

    Attributes
    ----------
    label_sizes : int array (n_sizes,)
    n_unlabelled : int array (n_sizes,)
        Rows without a label, hidden ones included, of a training part.
    labelled_scores, both_scores : arrays (n_sizes, n_folds)
    test_train_ratios : array (n_sizes,)
        Rows tested over labelled rows of a training part, which the intervals need.
    name : str
        Of what is measured.
    sign : float
        -1 where less is better: the scores are turned round, texts and pictures are not.
    limits : pair of float
        Between which scores lie; no interval of a score leaves them.
    """

    label_sizes: Positions
    n_unlabelled: Positions
    labelled_scores: Floats
    both_scores: Floats
    test_train_ratios: Floats
    name: str = "score"
    sign: float = 1.0
    limits: tuple[float, float] = UNLIMITED

    def intervals(self, level: float = 0.95) -> tuple[tuple[Interval, ...], tuple[Interval, ...]]:
        """Of the scores with labelled rows only, and with both."""
        ratios = self.test_train_ratios
        return (
            intervals_of(self.labelled_scores, ratios, level, self.limits),
            intervals_of(self.both_scores, ratios, level, self.limits),
        )

    def gains(self, level: float = 0.95) -> tuple[Interval, ...]:
        """What unlabelled rows add to the score at each number of labels, on the same folds."""
        differences = self.both_scores - self.labelled_scores
        pairs = zip(differences, self.test_train_ratios, strict=True)
        return tuple(fold_interval(row, float(ratio), level) for row, ratio in pairs)

    def verdict(self, level: float = 0.95) -> str:
        """In words: where unlabelled rows help, and where they do harm."""
        gains = self.gains(level)
        helped = [m for m, g in zip(self.label_sizes, gains, strict=True) if g.low > 0]
        harmed = [m for m, g in zip(self.label_sizes, gains, strict=True) if g.high < 0]
        parts = []
        for sizes, what in ((helped, "help"), (harmed, "do harm")):
            if sizes:
                listed = ", ".join(str(m) for m in sizes)
                parts.append(f"rows without a label {what} with {listed} labels")
        if not parts:
            return "No clear effect of rows without a label on any number of labels."
        sentence = "; ".join(parts)
        return sentence[0].upper() + sentence[1:] + "."

    def chart(self, level: float = 0.95) -> Chart:
        """Both curves with their bands, for `display`."""
        few, both = self.intervals(level)
        marks: list[Any] = []
        pairs = ((few, GRAY, "labelled rows only"), (both, 0, "with unlabelled rows"))
        for intervals, color, label in pairs:
            shown = natural(intervals, self.sign)
            limits = np.array([tuple(one) for one in shown]).reshape(-1, 2)
            middle = [one.estimate for one in shown]
            marks.append(Band(self.label_sizes, limits[:, 0], limits[:, 1], color=color))
            marks.append(Line(self.label_sizes, middle, label, color, dots=True))
        return Chart(Axis("labels to train on"), Axis(self.name), marks)

    def plot(self, ax: Any = None, *, level: float = 0.95) -> Any:
        """Draws both curves with their bands into matplotlib axes, which are returned."""
        return self.chart(level).plot(ax)

    def _repr_html_(self) -> str:
        return self.chart().as_svg()

    def __repr__(self) -> str:
        few, both = (natural(of, self.sign) for of in self.intervals())
        gains = natural(self.gains(), self.sign)
        rows = [
            [str(m), str(n), repr(a), repr(b), repr(gain)]
            for m, n, a, b, gain in zip(
                self.label_sizes, self.n_unlabelled, few, both, gains, strict=True
            )
        ]
        head = ["labels", "unlabelled", f"{self.name}, labelled only", "with both", "difference"]
        return f"{Table.of_numbers('', head, rows).as_text()}\n{self.verdict()}"


def label_curve(
    estimator: Any,
    X: Any,
    y: Any,
    *,
    labelled_only: Any = None,
    label_sizes: ArrayLike = DEFAULT_SIZES,
    cv: Any = 5,
    scoring: Any = None,
    n_jobs: int | None = None,
    random_state: int | None = 0,
) -> LabelCurve:
    """Scores of a learner of few labels, with and without the rows that have none.

    Parameters
    ----------
    estimator : classifier
        Takes missing labels, such as `NaiveBayes(unlabelled="em")` or `SelfTraining(...)`.
    X, y
        The table and its labels, of which some may be missing; labels beyond those of a size are
        hidden.
    labelled_only : classifier, optional
        What is fitted to the labelled rows alone; the same learner by default.
    label_sizes : array-like
        Numbers of labels, or shares of those of a training part. Every class has one at least.
    cv : int or LabelledFolds
        Folds of the labelled rows; unlabelled rows only train.
    scoring
        As for `cross_validate`; one score.
    n_jobs : int, optional
        Fits at once; the numbers do not depend on it.
    random_state : int, optional
        Of the folds and of the order in which rows get their labels.

    Returns
    -------
    LabelCurve
        Prints as a table with its verdict; `intervals()`, `gains()`, `plot()`.

    Examples
    --------
    >>> from novum.bayes import GaussianClassifier
    >>> rng = np.random.default_rng(0)
    >>> y = np.arange(400) % 2
    >>> X = rng.normal(size=(400, 6)) + np.outer(y, [2.0, 2, 0, 0, 0, 0])
    >>> learner = GaussianClassifier("tied", unlabelled="em")
    >>> curve = label_curve(learner, X, y, label_sizes=[10, 160], cv=4)
    >>> curve.label_sizes.tolist(), curve.n_unlabelled.tolist()
    ([10, 160], [290, 140])
    >>> bool(curve.gains()[0].estimate > curve.gains()[1].estimate)
    True
    """
    scorers, several = named_scorers(estimator, scoring)
    if several:
        raise InputError("A label curve is of one score; pass one name or scorer as `scoring`.")
    scorer = next(iter(scorers.values()))
    plan = cv if isinstance(cv, LabelledFolds) else LabelledFolds(int(cv), 1, random_state)
    table = plain_table(X)
    classes, codes = check_partial_classes(y, type(estimator).__name__)
    folds = list(plan.split(table, np.where(codes >= 0, codes.astype(float), np.nan)))
    orders = [
        _labelling_order(
            train[codes[train] >= 0], codes, np.random.default_rng([random_state or 0, k])
        )
        for k, (train, _) in enumerate(folds)
    ]
    sizes = _checked_sizes(label_sizes, min(len(order) for order in orders), len(classes))
    few = estimator if labelled_only is None else labelled_only
    labels = classes[np.maximum(codes, 0)]

    def judge(task: tuple[int, int]) -> tuple[float, float]:
        k, size = task
        train, test = folds[k]
        given = orders[k][:size]
        partial = _with_gaps(labels[train], np.isin(train, given))
        alone = fitted_model(clone(few), rows_of(table, np.sort(given)), labels[np.sort(given)])
        both = fitted_model(clone(estimator), rows_of(table, train), partial)
        held = rows_of(table, test)
        return float(scorer(alone, held, labels[test])), float(scorer(both, held, labels[test]))

    tasks = [(k, int(size)) for k in range(len(folds)) for size in sizes]
    scores = np.array(run_tasks(judge, tasks, n_jobs)).reshape(len(folds), len(sizes), 2)
    tested = np.mean([len(test) for _, test in folds])
    trained = np.mean([len(train) for train, _ in folds])
    pool = np.mean([len(order) for order in orders])
    name, sign = natural_form(scorer)
    return LabelCurve(
        sizes,
        (round(float(trained)) - sizes).astype(np.intp),
        scores[:, :, 0].T,
        scores[:, :, 1].T,
        np.full(len(sizes), tested / pool),
        name,
        sign,
        score_limits(scorer),
    )


def _labelling_order(rows: Positions, codes: Integers, rng: np.random.Generator) -> Positions:
    """Rows in the order in which they get their labels: one of every class, then as they come."""
    shuffled = rng.permutation(rows)
    _, first = np.unique(codes[shuffled], return_index=True)
    rest = np.delete(np.arange(len(shuffled)), first)
    return np.concatenate([shuffled[first], shuffled[rest]])


def _with_gaps(labels: Array, known: Array) -> Array:
    """Labels of which only the known are told; the others are missing."""
    if labels.dtype.kind in "iuf" and (np.abs(labels) < 2**53).all():
        return np.where(known, labels.astype(np.float64), np.nan)
    partial = labels.astype(object)
    partial[~known] = None
    return partial


def _checked_sizes(label_sizes: ArrayLike, largest: int, n_classes: int) -> Positions:
    given = np.asarray(label_sizes)
    if given.ndim != 1 or given.size == 0 or given.dtype.kind not in "iuf":
        raise InputError(f"label_sizes is a list of numbers or shares, got {label_sizes!r}.")
    sizes = given.astype(np.intp)
    if given.dtype.kind == "f":
        if not ((given > 0).all() and (given <= 1).all()):
            raise InputError(f"Shares in label_sizes lie in (0, 1], got {label_sizes!r}.")
        sizes = np.maximum((given * largest).astype(np.intp), n_classes)
    if sizes.min() < n_classes or sizes.max() > largest:
        raise InputError(
            f"label_sizes lie between the {n_classes} classes and the {largest} labels of a "
            f"training part, got {sizes.min()} to {sizes.max()}."
        )
    return np.unique(sizes)
