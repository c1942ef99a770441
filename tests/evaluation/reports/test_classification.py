"""ClassificationReport: numbers by another way, forms of input, text, HTML, picture, errors."""

import io
import json
import re
from typing import Any

import numpy as np
import pytest
from sklearn import metrics

from novum.core.decisions import WorkingPoint
from novum.core.errors import InputError
from novum.evaluation.decisions.detection_cost import detection_cost, minimum_detection_cost
from novum.evaluation.decisions.risk import empirical_bayes_risk
from novum.evaluation.measures.catalog import measure
from novum.evaluation.reports.classification import ClassificationReport

HOSTILE = ["<script>alert(1)</script>", '"><img src=x onerror=alert(1)>', "a\x1b[2J"]


def _binary(n: int = 300, seed: int = 0) -> Any:
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, n)
    return y, rng.normal(size=n) + 2 * y - 1, rng.random(n) + 0.1


def _classes(n: int = 240, seed: int = 0) -> Any:
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 3, n)
    P = rng.dirichlet(np.ones(3), n)
    P[np.arange(n), y] += 0.4
    return y, P / P.sum(axis=1, keepdims=True), rng.random(n) + 0.1


@pytest.mark.parametrize("weighted", [False, True])
def test_numbers_of_two_classes_are_the_measures(weighted: Any) -> None:
    y, s, w = _binary()
    w = w if weighted else None
    p = 1 / (1 + np.exp(-s))
    report = ClassificationReport(y, p, sample_weight=w, n_resamples=20)
    labels = (p > 0.5).astype(int)
    assert report.read_as == "probabilities of 1"
    for name in ("accuracy", "balanced_accuracy", "matthews", "kappa"):
        expected = measure(name)(y, labels, sample_weight=w)
        assert report[name].estimate == pytest.approx(expected, rel=1e-9)
    for name in ("log_loss", "brier_score", "calibration_error"):
        expected = measure(name)(y, p, sample_weight=w)
        assert report[name].estimate == pytest.approx(expected, rel=1e-9)
    for name in ("roc_auc", "average_precision", "equal_error_rate"):
        expected = measure(name)(y, p, sample_weight=w)
        assert report[name].estimate == pytest.approx(expected, rel=1e-9)
    for label in (0, 1):
        for name in ("precision", "recall", "f1", "false_positive_rate", "false_negative_rate"):
            expected = measure(name, positive=label)(y, labels, sample_weight=w)
            assert report.per_class[label][name].estimate == pytest.approx(expected, rel=1e-9)
    shares = np.average(y, weights=w)
    ratios = s - np.log(shares / (1 - shares))
    expected = measure("cllr")(y, ratios, sample_weight=w)
    assert report["cllr"].estimate == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("weighted", [False, True])
def test_numbers_of_three_classes_are_the_measures(weighted: Any) -> None:
    y, P, w = _classes()
    w = w if weighted else None
    report = ClassificationReport(y, P, sample_weight=w, n_resamples=20, beta=2.0)
    labels = P.argmax(axis=1)
    for average in ("micro", "macro", "weighted"):
        for name in ("precision", "recall", "false_positive_rate", "false_negative_rate"):
            expected = measure(f"{name}_{average}")(y, labels, sample_weight=w)
            assert report.averages[average][name].estimate == pytest.approx(expected, rel=1e-9)
        expected = metrics.fbeta_score(y, labels, beta=2, average=average, sample_weight=w)
        assert report.averages[average]["f2"].estimate == pytest.approx(expected, rel=1e-9)
    expected = measure("roc_auc")(y, P, sample_weight=w)
    assert report["roc_auc"].estimate == pytest.approx(expected, rel=1e-9)
    assert list(report.curves) == [0, 1, 2]
    assert report.positive is None
    assert report.threshold_curve is None


def test_every_number_lies_in_its_interval() -> None:
    y, P, _ = _classes()
    report = ClassificationReport(y, P, n_resamples=200)
    for group, name, value in report.rows():
        # The calibration error is biased upwards; its interval is not.
        if name != "calibration_error":
            assert value.low <= value.estimate <= value.high, (group, name)
        assert value.method
        assert value.level == 0.95


def test_wilson_intervals_of_weighted_rows_have_the_effective_size() -> None:
    y, s, _ = _binary(100)
    labels = (s > 0).astype(int)
    plain = ClassificationReport(y, predictions=labels, n_resamples=5)
    doubled = ClassificationReport(
        y, predictions=labels, sample_weight=np.full(100, 2.0), n_resamples=5
    )
    assert [*doubled["accuracy"]] == pytest.approx([*plain["accuracy"]], rel=1e-12)
    absent = ClassificationReport(
        np.r_[y, 0, 1],
        predictions=np.r_[labels, 1, 0],
        sample_weight=np.r_[np.ones(100), 0, 0],
        n_resamples=5,
    )
    assert [*absent["accuracy"]] == pytest.approx([*plain["accuracy"]], rel=1e-12)


def test_costs_are_those_of_the_decisions() -> None:
    y, s, w = _binary()
    point = WorkingPoint.binary(prior=0.1, cost_fn=8, cost_fp=1)
    report = ClassificationReport(y, scores=s, working_point=point, sample_weight=w, n_resamples=50)
    actual = detection_cost(y, s, point, sample_weight=w)
    assert report["normalized_bayes_risk"].estimate == pytest.approx(actual, rel=1e-9)
    least = minimum_detection_cost(y, s, point, sample_weight=w)
    assert report.minimum_cost.best.estimate == pytest.approx(least.value, rel=1e-9)
    assert report.minimum_cost.best_threshold == pytest.approx(least.threshold)
    labels = (s > point.threshold).astype(int)
    assert report["accuracy"].estimate == pytest.approx(np.average(y == labels, weights=w))
    expected = measure("rebalanced_accuracy", priors=point.priors)(y, labels, sample_weight=w)
    assert report["rebalanced_accuracy"].estimate == pytest.approx(expected, rel=1e-9)


def test_rejecting_has_its_cost_and_posteriors_are_moved() -> None:
    y, P, _ = _classes()
    point = WorkingPoint(
        [2, 0, 1], [0.2, 0.5, 0.3], [[0, 3, 1], [1, 0, 1], [2, 1, 0]], reject_cost=0.3
    )
    trained = [1 / 3] * 3
    report = ClassificationReport(
        y, P, working_point=point, training_priors=trained, n_resamples=20
    )
    ordered = point.ordered([0, 1, 2])
    expected = empirical_bayes_risk(y, P, ordered, training_priors=trained)
    assert report["bayes_risk"].estimate == pytest.approx(expected, rel=1e-9)
    expected = empirical_bayes_risk(y, P, ordered, training_priors=trained, normalized=True)
    assert report["normalized_bayes_risk"].estimate == pytest.approx(expected, rel=1e-9)


def test_labels_and_scores_can_be_judged_together() -> None:
    y, s, _ = _binary()
    own = (s > 1).astype(int)
    report = ClassificationReport(y, predictions=own, scores=s, n_resamples=20)
    assert report["accuracy"].estimate == metrics.accuracy_score(y, own)
    assert report["roc_auc"].estimate == pytest.approx(metrics.roc_auc_score(y, s))


def test_the_same_seed_gives_the_same_report_and_curves_do_not_depend_on_the_order_asked() -> None:
    y, s, _ = _binary()
    first, second = (ClassificationReport(y, s, n_resamples=30, random_state=3) for _ in range(2))
    assert second.threshold_curve.best == first.threshold_curve.best
    assert repr(first) == repr(second)
    assert repr(first) != repr(ClassificationReport(y, s, n_resamples=30, random_state=4))


def test_plain_data_and_frames_hold_all_numbers() -> None:
    y, s, _ = _binary()
    report = ClassificationReport(np.where(y == 1, "yes", "no"), s, n_resamples=20)
    plain = report.to_dict()
    assert plain["overall"]["accuracy"]["estimate"] == report["accuracy"].estimate
    assert json.loads(json.dumps(plain))["classes"] == ["no", "yes"]
    table = report.to_frame()
    assert table.num_rows == len(list(report.rows()))
    assert report.to_frame("pandas").shape == report.to_frame("polars").shape == table.shape
    with pytest.raises(InputError, match="frame is 'arrow', 'pandas' or 'polars'"):
        report.to_frame("excel")


def test_text_says_what_was_read_and_what_it_is_worth() -> None:
    y, s, _ = _binary()
    text = repr(ClassificationReport(np.where(y == 1, "yes", "no"), s, n_resamples=20))
    for part in ("Read as scores for 'yes'", "Confusion matrix", "ROC area", "Wilson", "95 %"):
        assert part in text
    assert str(ClassificationReport([0, 1], [0, 1], n_resamples=5)).count("\n") > 5


def test_html_is_escaped_accessible_and_self_contained(tmp_path: Any) -> None:
    y = np.repeat(HOSTILE, 4)
    report = ClassificationReport(y, np.roll(y, 1), n_resamples=10)
    page = report._repr_html_()
    assert not re.search(r"<(script|img)", page)
    assert "\x1b" not in page
    assert page.count("<caption>") == page.count("<table>") >= 3
    assert 'scope="row"' in page
    assert 'scope="col"' in page
    assert "\x1b" not in repr(report)
    target = tmp_path / "report.html"
    report.save(target)
    saved = target.read_text("utf-8")
    assert saved.startswith("<!DOCTYPE html>")
    assert "default-src 'none'" in saved
    assert not re.search(r'(src|href)="(?!data:)', saved)
    assert "http://" not in saved
    assert "https://" not in saved
    assert "aria-labelledby=" in saved


def test_pictures_show_what_there_is() -> None:
    y, s, _ = _binary()
    p = 1 / (1 + np.exp(-s))
    titles = [ax.get_title() for ax in ClassificationReport(y, p, n_resamples=20).plot().axes]
    assert len(titles) == 6
    assert [title.split()[0] for title in titles] == [
        "Confusion",
        "ROC",
        "Precision-recall",
        "DET",
        "Calibration",
        "Best",
    ]
    labels = ClassificationReport(["$a", "b$"], ["$a", "b$"], n_resamples=5).plot()
    labels.savefig(io.BytesIO(), format="png")
    assert len(labels.axes) == 1


def test_many_classes_are_listed_by_their_confusions() -> None:
    y = np.arange(60) % 20
    report = ClassificationReport(y, (y + (np.arange(60) < 5)) % 20, n_resamples=5)
    assert "Most frequent confusions" in repr(report)


def test_notes_say_what_must_be_known() -> None:
    report = ClassificationReport(["a", "a", "b"], ["a", "a", "a"], classes="abc", n_resamples=10)
    told = " ".join(report.notes)
    assert "Class 'b' is never predicted" in told
    assert "Class 'c' has no rows" in told
    assert np.isnan(report.per_class["b"]["precision"].estimate)
    perfect = ClassificationReport([0, 1, 1], [0, 1, 1], n_resamples=10)
    assert perfect["accuracy"].low < 0.5
    assert perfect["balanced_accuracy"].low < 0.8 < perfect["balanced_accuracy"].high == 1
    certain = ClassificationReport([0, 1, 1], probabilities=[1.0, 1.0, 0.0], n_resamples=10)
    assert certain["log_loss"].estimate < 25
    assert any("2 rows are of a class that got probability 0" in note for note in certain.notes)
    constant = ClassificationReport([0, 1, 1], scores=[2.0, 2.0, 2.0], n_resamples=10)
    assert any("All scores are equal" in note for note in constant.notes)
    assert constant["roc_auc"].estimate == 0.5


def test_one_class_is_reported_without_curves() -> None:
    report = ClassificationReport([1, 1, 1], probabilities=[0.9, 0.8, 0.4], classes=[0, 1])
    assert report["accuracy"].estimate == pytest.approx(2 / 3)
    assert report.curves == {}
    assert "ROC" not in repr(report)


@pytest.mark.parametrize(
    ("arguments", "options", "message"),
    [
        (([0, 1],), {}, "There is nothing to judge"),
        (([0, 1], [0, 1]), {"predictions": [0, 1]}, "predictions were given by name as well"),
        (([0, 1],), {"scores": [1, 2], "probabilities": [0.5, 0.5]}, "both order the rows"),
        (([0, 1], [0.5, np.nan]), {}, "scores has NaN at row 1"),
        (([0, 1], ["a", "b"]), {}, "y holds labels such as 0, the predictions such as 'a'"),
        (([0, 1], [0, 2]), {"classes": [0, 1]}, "predictions holds 2 at row 1"),
        (([0, 1],), {"probabilities": [[0.4, 0.4], [1, 0]]}, "those of row 0 sum to 0.8"),
        (([0, 1, 2],), {"scores": [1, 2, 3]}, "scores has 1 columns for the 3 classes"),
        (([0, 1, 2],), {"scores": [1, 2, 3], "positive": 2}, "A report is about all classes"),
        (([0, 1], [0, 1]), {"level": 95}, "level is the confidence"),
        (([0, 1], [0, 1]), {"n_resamples": 0}, "n_resamples is at least 1"),
        (([1, 1],), {"scores": [0.1, 3.0], "classes": [0, 1]}, "All 2 rows of y are positive"),
        (
            ([0, 1], [0, 1]),
            {"working_point": WorkingPoint.uniform("ab"), "classes": [0, 1]},
            "The point is for the classes",
        ),
        (
            ([0, 1], [0.2, 0.7]),
            {"training_priors": [0.0, 1.0]},
            "training_priors of 0, 1 lie between 0 and 1",
        ),
    ],
)
def test_bad_input_is_named(arguments: Any, options: Any, message: Any) -> None:
    with pytest.raises(InputError, match=message):
        ClassificationReport(*arguments, **options)


def test_unknown_numbers_are_named() -> None:
    with pytest.raises(InputError, match="The report has no 'roc_auc'; it has accuracy"):
        ClassificationReport([0, 1], [0, 1], n_resamples=5)["roc_auc"]


@pytest.mark.slow
def test_intervals_of_the_calibration_error_cover_what_is_there() -> None:
    """Probabilities 0.1 too high in all bins: the true error is 0.1."""
    rng = np.random.default_rng(5)
    covered, trials = 0, 100
    for _ in range(trials):
        p = rng.uniform(0.2, 0.9, 300)
        y = (rng.random(300) < p - 0.1).astype(int)
        report = ClassificationReport(y, probabilities=p, n_resamples=100, random_state=rng)
        covered += report["calibration_error"].covers(0.1)
    # Four standard errors are 0.09, and 100 resamples give wide scatter of the limits.
    assert covered / trials > 0.85
