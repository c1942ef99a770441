"""A report on a classifier's answers: numbers with intervals, curves, text, HTML and a picture.

Reading (`predictions`), computing (`classification_summary`, `measures.curves`) and showing
(`classification_tables`, `charts`) are apart; the report only holds them together.
Curves are computed when they are first asked for.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from typing import Any

import numpy as np
from scipy import special

from novum.core.decisions import WorkingPoint
from novum.core.errors import InputError
from novum.core.runtime import RandomSource, seed_sequence, stream
from novum.core.tables import Frame
from novum.display import Chart, Summary
from novum.evaluation.measures.catalog import Measure
from novum.evaluation.measures.curves import Curves, several_curves
from novum.evaluation.measures.interval import Interval
from novum.evaluation.measures.reading import ScoredRows, listed
from novum.evaluation.measures.thresholds import (
    ThresholdCurve,
    counts_measure,
    threshold_curve_of,
)
from novum.evaluation.reports.classification_summary import Settings, summarize
from novum.evaluation.reports.classification_tables import classification_tables
from novum.evaluation.reports.pages import frame_of_rows, save_page
from novum.evaluation.reports.predictions import Given, Judged, read_given, sort_out
from novum.numerics import Floats, cached_property


class ClassificationReport:
    """What a classifier's answers for rows of known class are worth.

    Parameters
    ----------
    y : array of n labels
    given : array, optional
        Predicted labels, scores or probabilities; which of them is told by their values and said
        in `read_as`: labels of the classes, numbers between 0 and 1 that sum to 1, other numbers.
    predictions, scores, probabilities : arrays, optional
        In place of `given`, and together: labels judged, and curves of the scores. Scores of two
        classes have shape (n,) and are log-likelihood ratios for the positive class, accepted
        above 0 or above the point's threshold; of K classes shape (n, K).
    classes : sequence of K labels, optional
        In the order of the columns. Default: those that occur, sorted.
    ordered : bool
        Whether the classes are levels in their order: labels are then the medians of the
        probabilities, and the mean error in levels and the weighted kappa are reported.
    positive : label, optional
        Of two classes. Default: the last one of the point's, or else of `classes`.
    working_point : WorkingPoint, optional
        Labels are then those of least expected cost, and costs are reported.
    training_priors : array of shape (K,), optional
        Priors that the probabilities belong to; they are moved to those of the point.
    threshold_measure : name, Measure or callable
        Drawn against the threshold. Default: F1, or the detection cost at the point.
    sample_weight : array of shape (n,), optional
        How much a row counts. Rows are the sampling units of the intervals.
    level : float
        Confidence of all intervals.
    n_resamples : int
        Of the bootstrap.
    beta : float
        Of the F score: how many times recall counts more than precision.
    n_bins : int
        Of the calibration error and curve.
    random_state : None, int, Generator, RandomState or SeedSequence

    Attributes
    ----------
    confusion : ConfusionMatrix
    overall : dict of Interval
        Accuracy, balanced and rebalanced accuracy (under the point's priors), Matthews, kappa;
        of levels with an order also the mean error in levels and the weighted kappa.
    per_class : dict from classes to dicts of Interval
    averages : dict from "micro", "macro", "weighted" to dicts of Interval
    probability : dict of Interval
        Log loss, Brier score, calibration error, Cllr, as far as they exist.
    costs : dict of Interval
        Risk of the decisions at the working point, and divided by that of the best blind one.
    calibration : CalibrationCurve or None
    curves : dict from classes to Curves
        ROC, precision-recall and DET; of two classes only for the positive one.
    separation : dict of Interval
        ROC area, average precision and equal error rate, of K classes their means.
    threshold_curve : ThresholdCurve or None
    minimum_cost : ThresholdCurve or None
        Normalized detection cost against the threshold, at the working point.
    read_as : str
    notes : tuple of str

    Examples
    --------
    >>> report = ClassificationReport(["a", "a", "b", "b", "b"], ["a", "b", "b", "b", "b"])
    >>> report["accuracy"]
    0.8 [0.4, 1.0]
    >>> report.per_class["a"]["recall"].estimate, report.confusion.counts.tolist()
    (0.5, [[1.0, 1.0], [0.0, 3.0]])
    """

    def __init__(
        self,
        y: Any,
        given: Any = None,
        *,
        predictions: Any = None,
        scores: Any = None,
        probabilities: Any = None,
        classes: Sequence[Any] | None = None,
        ordered: bool = False,
        positive: Any = None,
        working_point: WorkingPoint | None = None,
        training_priors: Any = None,
        threshold_measure: str | Measure | Any = None,
        sample_weight: Any = None,
        level: float = 0.95,
        n_resamples: int = 1000,
        beta: float = 1.0,
        n_bins: int = 10,
        random_state: RandomSource = 0,
    ) -> None:
        forms = _forms(y, given, classes, predictions, scores, probabilities)
        self._given = Given(
            y,
            classes=classes,
            positive=positive,
            point=working_point,
            training_priors=training_priors,
            sample_weight=sample_weight,
            ordered=ordered,
            **forms,
        )
        self._judged: Judged = read_given(self._given)
        self._threshold_measure = threshold_measure
        self._root = seed_sequence(random_state)
        self.classes: tuple[Any, ...] = self._judged.pair.classes
        self.positive = self._judged.positive
        self.read_as = self._judged.read_as
        self.working_point = None if working_point is None else working_point.ordered(self.classes)
        priors = None if self.working_point is None else tuple(self.working_point.priors.tolist())
        self._settings = Settings(level, n_resamples, beta, n_bins, priors, ordered)
        self._ratios, note = _ratios(self._judged, training_priors)
        self._summary = summarize(
            self._judged, self._settings, self.working_point, self._ratios, self._root
        )
        self.confusion = self._summary.confusion
        self.overall = self._summary.overall
        self.per_class = self._summary.per_class
        self.averages = self._summary.averages
        self.probability = self._summary.probability
        self.costs = self._summary.costs
        self.calibration = self._summary.calibration
        self.n_rows = self._summary.n_rows
        self.level = level
        self.beta = beta
        self.notes = (*self._summary.notes, *note)

    # Curves, when asked for

    @cached_property
    def _drawn(self) -> tuple[tuple[Curves, ...], dict[str, Interval]]:
        if not self._judged.scored:
            return (), {}
        rng = stream(self._root, "curves")
        settings = self._settings
        return several_curves(
            self._judged.scored, self._judged.pair.true, settings.level, settings.n_resamples, rng
        )

    @property
    def curves(self) -> dict[Any, Curves]:
        """ROC, precision-recall and DET curves by class; of two classes of the positive one."""
        names = self.classes if len(self._judged.scored) > 1 else (self.positive,)
        drawn = self._drawn[0]
        return dict(zip(names, drawn, strict=True)) if drawn else {}

    @property
    def separation(self) -> dict[str, Interval]:
        """ROC area, average precision and equal error rate; of K classes their means."""
        bootstrap, means = self._drawn
        if len(bootstrap) != 1:
            return means
        return {
            "roc_auc": bootstrap[0].roc.area,
            "average_precision": bootstrap[0].precision_recall.area,
            "equal_error_rate": bootstrap[0].det.equal_error_rate,
        }

    @cached_property
    def threshold_curve(self) -> ThresholdCurve | None:
        """The chosen measure against the threshold; None unless two classes have scores."""
        if len(self._judged.scored) != 1:
            return None
        wanted = self._threshold_measure
        if wanted is None and self.minimum_cost is not None:
            return self.minimum_cost
        return self._against_threshold(self._judged.scored[0], wanted or "f1", "threshold")

    @cached_property
    def minimum_cost(self) -> ThresholdCurve | None:
        """Detection cost at the working point against the threshold of the ratios."""
        point = self._given.point
        if point is None or self._ratios is None or not point.has_threshold:
            return None
        if not 0 < point.effective_prior < 1:
            return None
        scored = self._judged.scored[0]
        rows = ScoredRows(scored.classes, scored.positive, self._ratios, scored.weight)
        return self._against_threshold(rows, point, "cost")

    def _against_threshold(self, rows: ScoredRows, wanted: Any, key: str) -> ThresholdCurve:
        name, of_counts, better = counts_measure(wanted, {})
        settings, rng = self._settings, stream(self._root, key)
        return threshold_curve_of(
            rows, name, of_counts, better, settings.level, settings.n_resamples, rng
        )

    # Looking up

    def __getitem__(self, name: str) -> Interval:
        """A number of the whole by name, such as `report["accuracy"]`."""
        for part in (self.overall, self.probability, self.costs):
            if name in part:
                return part[name]
        separation = self.separation
        if name in separation:
            return separation[name]
        known = [*self.overall, *self.probability, *self.costs, *separation]
        raise InputError(
            f"The report has no {name!r}; it has {', '.join(known)}, and more `per_class` and in "
            "`averages`."
        )

    def rows(self) -> Iterator[tuple[str, str, Interval]]:
        """All numbers as (group, measure, interval)."""
        for name, value in {**self.overall, **self.separation}.items():
            yield "all", name, value
        for name, value in {**self.probability, **self.costs}.items():
            yield "all", name, value
        for average, values in self.averages.items():
            for name, value in values.items():
                yield average, name, value
        for label, values in self.per_class.items():
            for name, value in values.items():
                yield f"class {label}", name, value

    def to_frame(self, frame: Frame = "arrow") -> Any:
        """All numbers as a table with columns group, measure, estimate, low, high, level, method.

        Parameters
        ----------
        frame : "arrow", "pandas" or "polars"
        """
        return frame_of_rows(self.rows(), frame)

    def to_dict(self) -> dict[str, Any]:
        """All numbers as nested dicts of plain values, ready for JSON but for NaN."""
        return {
            "n_rows": self.n_rows,
            "classes": list(self.classes),
            "positive": self.positive,
            "read_as": self.read_as,
            "confusion": self.confusion.counts.tolist(),
            "overall": _plain(self.overall),
            "separation": _plain(self.separation),
            "probability": _plain(self.probability),
            "costs": _plain(self.costs),
            "averages": {name: _plain(values) for name, values in self.averages.items()},
            "per_class": {label: _plain(values) for label, values in self.per_class.items()},
            "notes": list(self.notes),
        }

    # Showing

    def __repr__(self) -> str:
        return self._page.as_text()

    __str__ = __repr__

    def _repr_html_(self) -> str:
        return self._page.as_html()

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the report and its picture as one HTML page that loads nothing from elsewhere."""
        save_page(path, self._page, self.charts())

    def plot(self, figure: Any = None) -> Any:
        """Confusion matrix and, with scores, the curves, as a matplotlib figure."""
        from novum.evaluation.reports.charts import draw

        return draw(self.charts(), figure)

    def charts(self) -> list[Chart]:
        """The pictures of `plot` as data, with `as_svg()` and `plot(ax)` each."""
        from novum.evaluation.reports.charts import classification_charts

        return classification_charts(self)

    @property
    def _page(self) -> Summary:
        title = f"Classification of {self.n_rows} rows, {len(self.classes)} classes"
        positive = "" if self.positive is None else f"; positive class {self.positive!r}"
        share = f"{100 * self.level:g} %"
        lead = f"Read as {self.read_as}{positive}. Brackets are {share} confidence intervals."
        return Summary(title, lead, classification_tables(self), self.notes)


# --- Parts of the above ---------------------------------------------------------------------------


def _forms(
    y: Any, given: Any, classes: Any, predictions: Any, scores: Any, probabilities: Any
) -> dict[str, Any]:
    """What was given, by what it is."""
    forms = {"predictions": predictions, "scores": scores, "probabilities": probabilities}
    if given is not None:
        kind = sort_out(y, given, classes)
        if forms[kind] is not None:
            raise InputError(
                f"The second argument holds {kind}, and {kind} were given by name as well. Leave "
                "one of them out."
            )
        forms[kind] = given
    if all(form is None for form in forms.values()):
        raise InputError("There is nothing to judge. Pass predictions, scores or probabilities.")
    if forms["scores"] is not None and forms["probabilities"] is not None:
        raise InputError(
            "Scores and probabilities both order the rows. Pass one of them; make a second report "
            "for the other."
        )
    return forms


def _ratios(judged: Judged, training_priors: Any) -> tuple[Floats | None, tuple[str, ...]]:
    """Log-likelihood ratios of the positive class, and how they were had."""
    if len(judged.scored) != 1:
        return None, ()
    scored = judged.scored[0]
    if judged.probabilities is None:
        told = "Cllr and costs read the scores as log-likelihood ratios."
        return scored.values, (told,)
    place = judged.pair.classes.index(judged.positive)
    if training_priors is None:
        prior = float(np.average(scored.positive, weights=scored.weight))
        told = (
            "Cllr takes the classes' shares among these rows as the model's training priors; pass "
            "training_priors if they differ."
        )
    else:
        prior, told = float(np.asarray(training_priors, float)[place]), ""
        if not 0 < prior < 1:
            raise InputError(
                f"training_priors of {listed(judged.pair.classes)} lie between 0 and 1, got "
                f"{np.asarray(training_priors).tolist()}."
            )
    ratios = special.logit(np.clip(scored.values, 0, 1)) - special.logit(prior)
    return ratios, (told,) if told else ()


def _plain(values: dict[str, Interval]) -> dict[str, dict[str, Any]]:
    return {name: asdict(value) for name, value in values.items()}
