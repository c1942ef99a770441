"""The judgment against scikit-learn's measures and against the reports of `novum.evaluation`."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn import metrics

from novum.apps.job.judging import (
    MOST_CLASSES,
    MOST_DOTS,
    MOST_POINTS,
    estimate_of,
    judge_classes,
    judge_numbers,
)
from novum.apps.job.record_json import from_json, to_json
from novum.apps.job.record_model import Estimate, HoldoutRecord
from novum.core.decisions import WorkingPoint
from novum.evaluation.measures.interval import Interval
from novum.evaluation.reports.classification import ClassificationReport
from novum.evaluation.reports.regression import RegressionReport

RNG = np.random.default_rng(0)
Y = RNG.choice(["no", "yes"], 300, p=[0.7, 0.3])
_SCORE = 1.5 * (Y == "yes") + RNG.normal(size=300) - 1
P = np.column_stack([1 / (1 + np.exp(_SCORE)), 1 / (1 + np.exp(-_SCORE))])
PRIORS = np.array([0.7, 0.3])


def judged(**more: Any) -> HoldoutRecord:
    given: dict[str, Any] = {
        "positive": "yes",
        "point": None,
        "training_priors": PRIORS,
        **more,
    }
    return judge_classes(Y, P, ["no", "yes"], **given)


def value(record: HoldoutRecord, name: str) -> float:
    found = dict(record.measures)[name].value
    assert found is not None
    return found


# --- Two classes ----------------------------------------------------------------------------------


def test_measures_are_those_of_scikit_learn() -> None:
    record = judged()
    predicted = np.where(P[:, 1] > 0.5, "yes", "no")
    is_yes = Y == "yes"
    expected = {
        "accuracy": metrics.accuracy_score(Y, predicted),
        "balanced accuracy": metrics.balanced_accuracy_score(Y, predicted),
        "area under the ROC curve": metrics.roc_auc_score(is_yes, P[:, 1]),
        "log loss": metrics.log_loss(is_yes, P[:, 1]),
        "brier score": metrics.brier_score_loss(is_yes, P[:, 1]),
    }
    for name, wanted in expected.items():
        # Two columns of probabilities may count the Brier score twice.
        assert value(record, name) == pytest.approx(wanted, rel=1e-9), name
    assert record.n_rows == 300
    matrix = metrics.confusion_matrix(Y, predicted, labels=["no", "yes"])
    assert record.confusion == tuple(tuple(map(float, row)) for row in matrix)
    assert record.confusion_columns == ("no", "yes")
    per_class = dict(record.class_measures)
    precision, recall, f1, _ = metrics.precision_recall_fscore_support(
        Y, predicted, labels=["no", "yes"]
    )
    for place, label in enumerate(("no", "yes")):
        found = dict(per_class[label])
        assert found["precision"].value == pytest.approx(precision[place], rel=1e-12)
        assert found["recall"].value == pytest.approx(recall[place], rel=1e-12)
        assert found["F1"].value == pytest.approx(f1[place], rel=1e-12)


def test_intervals_are_those_of_the_evaluation_and_hold_the_estimate() -> None:
    record = judged()
    report = ClassificationReport(Y, probabilities=P, classes=["no", "yes"], positive="yes")
    direct = {**report.overall, **report.separation}
    for name, title in (("accuracy", "accuracy"), ("roc_auc", "area under the ROC curve")):
        found = dict(record.measures)[title]
        assert (found.low, found.high) == (direct[name].low, direct[name].high)
        assert found.low is not None
        assert found.value is not None
        assert found.high is not None
        assert found.low < found.value < found.high


def test_weights_count() -> None:
    weight = np.where(Y == "yes", 3.0, 1.0)
    record = judged(weight=weight)
    predicted = np.where(P[:, 1] > 0.5, "yes", "no")
    expected = metrics.accuracy_score(Y, predicted, sample_weight=weight)
    assert value(record, "accuracy") == pytest.approx(expected, rel=1e-12)
    assert value(record, "accuracy") != value(judged(), "accuracy")
    matrix = metrics.confusion_matrix(Y, predicted, labels=["no", "yes"], sample_weight=weight)
    np.testing.assert_allclose(record.confusion, matrix, rtol=1e-12)


def test_the_working_point_moves_decisions_and_has_a_cost() -> None:
    point = WorkingPoint.binary(prior=0.3, cost_fn=10, cost_fp=1, classes=("no", "yes"))
    record = judged(point=point)
    # With the training priors those of the point: accept where 10 p > 1 - p.
    accepted = np.where(10 * P[:, 1] > P[:, 0], "yes", "no")
    matrix = metrics.confusion_matrix(Y, accepted, labels=["no", "yes"])
    assert record.confusion == tuple(tuple(map(float, row)) for row in matrix)
    rates = matrix / matrix.sum(axis=1, keepdims=True)
    risk = 0.3 * 10 * rates[1, 0] + 0.7 * rates[0, 1]
    assert value(record, "bayes risk") == pytest.approx(risk, rel=1e-9)
    assert any("working point" in sentence for sentence in record.sentences)
    assert not any("working point" in sentence for sentence in judged().sentences)
    (mark,) = record.curves["bayes_error"][0].marks
    assert mark[0] == pytest.approx(np.log(0.3 * 10 / 0.7))


def test_actions_that_are_no_classes_are_the_columns_of_the_confusion() -> None:
    """`confusion[true][action]`, as the record says."""
    point = WorkingPoint(
        ("no", "yes"),
        PRIORS,
        np.array([[0.0, 5.0, 1.0], [9.0, 0.0, 1.0]]),
        actions=("leave", "treat", "test"),
    )
    record = judged(point=point)
    assert record.confusion_columns == ("leave", "treat", "test")
    decided = point.decide(P)
    counts = [[float(np.sum((c == Y) & (decided == a))) for a in point.action_names]
              for c in ("no", "yes")]  # fmt: skip
    assert [list(row) for row in record.confusion] == counts


def test_the_positive_class_may_be_the_first() -> None:
    record = judge_classes(Y, P, ["no", "yes"], positive="no", point=None, training_priors=PRIORS)
    assert record.curves["roc"][0].label == "no"
    assert value(record, "average precision") == pytest.approx(
        metrics.average_precision_score(Y == "no", P[:, 0]), rel=1e-9
    )


def test_curves_have_their_shapes() -> None:
    curves = judged().curves
    assert set(curves) == {
        "roc", "precision_recall", "det", "calibration", "threshold", "bayes_error"
    }  # fmt: skip
    (roc,) = curves["roc"]
    assert (roc.x[0], roc.y[0], roc.x[-1], roc.y[-1]) == (0.0, 0.0, 1.0, 1.0)
    assert list(roc.x) == sorted(roc.x)
    assert list(roc.y) == sorted(roc.y)
    actual, minimum = curves["bayes_error"]
    assert actual.x == minimum.x
    assert all(m <= a + 1e-12 for m, a in zip(minimum.y, actual.y, strict=True))
    for group in curves.values():
        for curve in group:
            assert len(curve.x) == len(curve.y) <= MOST_POINTS
            if curve.low:
                assert len(curve.low) == len(curve.high) == len(curve.x)
                assert all(a <= b for a, b in zip(curve.low, curve.high, strict=True))


def test_points_of_a_curve_are_points_of_the_whole_one() -> None:
    false, true, _ = metrics.roc_curve(Y == "yes", P[:, 1], drop_intermediate=False)
    whole = set(zip(false.round(12), true.round(12), strict=True))
    (roc,) = judged().curves["roc"]
    found = set(zip(np.round(roc.x, 12), np.round(roc.y, 12), strict=True))
    assert found <= whole


def test_the_sentence_says_the_accuracy() -> None:
    accuracy = dict(judged().measures)["accuracy"]
    assert accuracy.value is not None
    assert f"Of 300 rows set aside, {100 * accuracy.value:.1f} %" in judged().sentences[0]


# --- More classes ---------------------------------------------------------------------------------


def test_many_classes_have_a_bounded_record() -> None:
    rng = np.random.default_rng(1)
    labels = [f"c{k:02d}" for k in range(40)]
    y = np.array(labels * 5)
    probabilities = rng.dirichlet(np.ones(40), 200)
    record = judge_classes(
        y, probabilities, labels, positive=None, point=None, training_priors=np.full(40, 1 / 40)
    )
    assert len(record.class_measures) == len(record.curves["roc"]) == MOST_CLASSES
    assert len(record.confusion) == 40
    assert "bayes_error" not in record.curves
    predicted = np.array(labels)[probabilities.argmax(axis=1)]
    assert value(record, "accuracy") == pytest.approx(metrics.accuracy_score(y, predicted))


def test_one_row_and_one_class_can_be_judged() -> None:
    for n in (1, 2):
        record = judge_classes(
            np.array(["no"] * n),
            np.array([[0.8, 0.2]] * n),
            ["no", "yes"],
            positive="yes",
            point=None,
            training_priors=PRIORS,
        )
        assert record.n_rows == n
        assert value(record, "accuracy") == 1.0
        assert from_json(to_json(record), HoldoutRecord) == record


def test_the_same_answer_for_every_row_can_be_judged() -> None:
    """The constant answer may be the chosen one; its curves are two corners."""
    record = judge_classes(
        Y,
        np.tile(PRIORS, (300, 1)),
        ["no", "yes"],
        positive="yes",
        point=None,
        training_priors=PRIORS,
    )
    assert value(record, "accuracy") == pytest.approx(np.mean(Y == "no"))
    assert value(record, "area under the ROC curve") == 0.5
    assert from_json(to_json(record), HoldoutRecord) == record


# --- Numbers --------------------------------------------------------------------------------------


def test_numbers_are_judged_as_by_scikit_learn() -> None:
    rng = np.random.default_rng(2)
    y = rng.normal(size=150)
    predicted = y + 0.5 * rng.normal(size=150)
    weight = rng.random(150) + 0.5
    for w in (None, weight):
        record = judge_numbers(y, predicted, weight=w)
        expected = {
            "root mean squared error": metrics.root_mean_squared_error(
                y, predicted, sample_weight=w
            ),
            "mean absolute error": metrics.mean_absolute_error(y, predicted, sample_weight=w),
            "R2": metrics.r2_score(y, predicted, sample_weight=w),
        }
        for name, wanted in expected.items():
            assert value(record, name) == pytest.approx(wanted, rel=1e-9)
        direct = RegressionReport(y, predicted, sample_weight=w)["rmse"]
        found = dict(record.measures)["root mean squared error"]
        assert (found.low, found.high) == (direct.low, direct.high)
    assert record.confusion == ()
    assert record.class_measures == ()


def test_dots_are_rows_and_few() -> None:
    rng = np.random.default_rng(3)
    y = rng.normal(size=3000)
    predicted = y + rng.normal(size=3000)
    curves = judge_numbers(y, predicted).curves
    pairs = set(zip(predicted, y, strict=True))
    (dots,) = curves["predicted"]
    assert len(dots.x) == MOST_DOTS
    assert set(zip(dots.x, dots.y, strict=True)) <= pairs
    (quantiles,) = curves["quantiles"]
    assert list(quantiles.x) == sorted(quantiles.x)
    assert list(quantiles.y) == sorted(quantiles.y)
    (residuals,) = curves["residuals"]
    # Observed minus predicted, at the predicted value.
    np.testing.assert_allclose(residuals.y, np.array(dots.y) - np.array(dots.x), atol=1e-12)


def test_few_rows_of_numbers() -> None:
    for n in (1, 2, 3):
        record = judge_numbers(np.arange(n, dtype=float), np.zeros(n))
        assert from_json(to_json(record), HoldoutRecord) == record


# --- Estimates ------------------------------------------------------------------------------------


def test_what_is_no_number_is_none() -> None:
    found = estimate_of(Interval(0.5, float("-inf"), float("nan")))
    assert found == Estimate(0.5, None, None)
