"""Tables of a classification report: what is there is shown, and only that."""

import numpy as np

from novum.core.decisions import WorkingPoint
from novum.evaluation.measures.interval import Interval
from novum.evaluation.reports.classification import ClassificationReport
from novum.evaluation.reports.classification_tables import classification_tables, shown


def _captions(report: ClassificationReport) -> list[str]:
    return [table.caption.split(" (")[0] for table in classification_tables(report)]


def test_labels_alone_have_three_tables() -> None:
    report = ClassificationReport([0, 1, 1], [0, 1, 0], n_resamples=5)
    assert _captions(report) == ["All rows", "Confusion matrix", "Each class against the rest"]


def test_scores_at_a_point_have_curves_costs_and_a_threshold() -> None:
    y = np.arange(20) % 2
    point = WorkingPoint.binary(prior=0.3, cost_fn=1, cost_fp=1)
    scores = y + np.random.default_rng(0).normal(size=20)
    report = ClassificationReport(y, scores=scores, working_point=point, n_resamples=20)
    assert _captions(report)[3:] == [
        "Separation by scores",
        "Probabilities and ratios",
        "Decisions at the working point",
        "Best threshold",
    ]


def test_three_classes_have_averages() -> None:
    report = ClassificationReport([0, 1, 2], [0, 1, 1], n_resamples=5)
    tables = {table.caption: table for table in classification_tables(report)}
    assert [row[0] for row in tables["Averages over classes"].rows] == [
        "micro",
        "macro",
        "weighted",
    ]
    assert tables["Confusion matrix"].rows[2] == ("2", "0", "1", "0", "1")


def test_undefined_numbers_are_shown_as_nan() -> None:
    assert shown(Interval(np.nan, np.nan, np.nan)) == "nan"
    assert shown(Interval(0.5, 0.4, 0.6)) == "0.5 [0.4, 0.6]"
