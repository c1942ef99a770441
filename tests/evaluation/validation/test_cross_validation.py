"""Cross-validation: scikit-learn's numbers and keys, intervals, resuming, sets of classes."""

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import sklearn
import sklearn.model_selection as theirs
from sklearn.cluster import KMeans
from sklearn.decomposition import FactorAnalysis
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import get_scorer, make_scorer
from sklearn.multioutput import MultiOutputClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from novum.bayes import GaussianClassifier, GaussianNB
from novum.core.errors import InputError
from novum.core.learners import AbsentClassWarning
from novum.decomposition import PCA
from novum.evaluation.validation.cross_validation import (
    cross_val_predict,
    cross_val_score,
    cross_validate,
    variance_of_mean,
)
from novum.evaluation.validation.splits import leave_one_out, repeated
from novum.linear import Ridge
from tests.evaluation.validation.counting_learner import (
    CountingClassifier,
    killed_in_the_middle,
    n_fits,
    small_table,
)

X, Y = small_table()
NUMBERS = X @ [1.0, 0.5, 0.0]
LOGISTIC = make_pipeline(StandardScaler(), LogisticRegression())


@pytest.mark.parametrize(
    ("model", "y", "scoring"),
    [
        (LOGISTIC, Y, None),
        (LOGISTIC, Y, "roc_auc"),
        (LOGISTIC, Y, ["accuracy", "neg_log_loss", "balanced_accuracy"]),
        (LOGISTIC, Y, {"mine": "f1_macro", "other": get_scorer("accuracy")}),
        (GaussianNB(), Y, "neg_log_loss"),
        (Ridge(), NUMBERS, None),
        (Ridge(), NUMBERS, ("r2", "neg_mean_absolute_error")),
    ],
)
@pytest.mark.parametrize("cv", [None, 4, theirs.KFold(3, shuffle=True, random_state=1)])
def test_numbers_and_keys_are_scikit_learn_s(model: Any, y: Any, scoring: Any, cv: Any) -> None:
    wanted = {"scoring": scoring, "cv": cv, "return_train_score": True, "return_indices": True}
    ours = cross_validate(model, X, y, **wanted)
    reference = theirs.cross_validate(model, X, y, **wanted)
    assert set(ours) == set(reference)
    for key in reference:
        if key.startswith(("test", "train")):
            np.testing.assert_allclose(ours[key], reference[key], rtol=1e-10, atol=1e-12)
    for side in ("train", "test"):
        for one, other in zip(ours["indices"][side], reference["indices"][side], strict=True):
            assert sorted(one) == sorted(other)


def test_a_scorer_may_give_several_scores() -> None:
    def both(model: Any, X: Any, y: Any) -> dict[str, float]:
        return {"hits": float((model.predict(X) == y).mean()), "rows": float(len(y))}

    ours = cross_validate(LOGISTIC, X, Y, scoring=both)
    reference = theirs.cross_validate(LOGISTIC, X, Y, scoring=both)
    assert set(ours) == set(reference)
    np.testing.assert_allclose(ours["test_hits"], reference["test_hits"])


def test_means_variances_and_intervals() -> None:
    result = cross_validate(GaussianNB(), X, Y, cv=repeated(4, 5))
    scores = result["test_score"]
    assert len(scores) == 20
    assert result.mean() == pytest.approx(scores.mean())
    assert result.variance_of_mean() == pytest.approx(variance_of_mean(scores, 1 / 3))
    interval = result.interval(level=0.9)
    assert interval.low < result.mean() < interval.high
    assert interval.method == "corrected t"
    assert result.splits.n_repeats == 5
    assert result.exact
    with pytest.raises(InputError, match="no score 'f1'; there is 'score'"):
        result.mean("f1")


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame, lambda t: pa.table(dict(t))])
def test_frames_of_any_library(make: Any) -> None:
    table = {"a": X[:, 0], "b": np.where(X[:, 1] > 0, "up", "down"), "c": X[:, 2]}
    reference = cross_val_score(Ridge(), pd.DataFrame(table), NUMBERS)
    np.testing.assert_allclose(cross_val_score(Ridge(), make(table), NUMBERS), reference)


def test_weights_in_params_count_in_training_and_scores() -> None:
    weight = np.where(np.arange(80) % 3 == 0, 0.0, 1.0)
    kept = weight > 0
    folds = [(np.arange(40), np.arange(40, 80)), (np.arange(40, 80), np.arange(40))]
    position = np.cumsum(kept) - 1
    fewer = [tuple(position[rows[kept[rows]]] for rows in fold) for fold in folds]
    found = cross_val_score(LOGISTIC[-1], X, Y, cv=folds, params={"sample_weight": weight})
    np.testing.assert_allclose(found, cross_val_score(LOGISTIC[-1], X[kept], Y[kept], cv=fewer))


def test_metadata_routing() -> None:
    weight = np.arange(1.0, 81.0)
    with sklearn.config_context(enable_metadata_routing=True):
        model = Ridge().set_fit_request(sample_weight=True)
        scorer = get_scorer("r2").set_score_request(sample_weight=True)
        wanted = {"params": {"sample_weight": weight}, "scoring": scorer, "cv": 3}
        ours = cross_validate(model, X, NUMBERS, **wanted)
        reference = theirs.cross_validate(model, X, NUMBERS, **wanted)
    np.testing.assert_allclose(ours["test_score"], reference["test_score"], rtol=1e-9)


# --- Predictions ----------------------------------------------------------------------------------


@pytest.mark.parametrize("method", ["predict", "predict_proba", "predict_log_proba"])
@pytest.mark.parametrize("model", [LOGISTIC, GaussianNB(), GaussianClassifier("tied")], ids=str)
def test_predictions_are_scikit_learn_s(model: Any, method: str) -> None:
    ours = cross_val_predict(model, X, Y, method=method, cv=4)
    reference = theirs.cross_val_predict(model, X, Y, method=method, cv=4)
    if method == "predict":
        assert ours.tolist() == reference.tolist()
    else:
        np.testing.assert_allclose(ours, reference, rtol=1e-9, atol=1e-12)


def test_leaving_one_out_of_least_squares_is_the_leverage_formula() -> None:
    design = np.column_stack([np.ones(80), X])
    y = NUMBERS + np.sin(np.arange(80))
    hat = design @ np.linalg.inv(design.T @ design) @ design.T
    residual = y - hat @ y
    expected = y - residual / (1 - np.diag(hat))
    found = cross_val_predict(Ridge(alpha=0.0), X, y, cv=leave_one_out())
    np.testing.assert_allclose(found, expected, rtol=1e-9)


def test_labels_of_later_folds_may_be_longer() -> None:
    y = np.array(["no"] * 40 + ["certainly"] * 40)
    order = np.random.default_rng(0).permutation(80)
    found = cross_val_predict(CountingClassifier(), X, y[order], cv=5)
    assert set(found) <= {"no", "certainly"}


def test_several_labels_give_a_list() -> None:
    y = np.column_stack([X[:, 0] > 0, X[:, 1] > 0]).astype(int)
    model = MultiOutputClassifier(LogisticRegression())
    ours = cross_val_predict(model, X, y, method="predict_proba", cv=3)
    reference = theirs.cross_val_predict(model, X, y, method="predict_proba", cv=3)
    for one, other in zip(ours, reference, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-9)
    with pytest.raises(InputError, match="cannot be stored in a journal"):
        cross_val_predict(model, X, y, method="predict_proba", cv=3, journal="x")


def test_a_class_that_folds_lack_has_probability_zero() -> None:
    y = np.array(["a"] * 40 + ["b"] * 39 + ["rare"])
    with pytest.warns(AbsentClassWarning, match="class 'rare'"):
        found = cross_val_predict(GaussianNB(), X, y, method="predict_proba", cv=4)
    assert found.shape == (80, 3)
    assert found[79, 2] == 0.0


def test_predictions_need_folds_that_test_every_row_once() -> None:
    with pytest.raises(InputError, match="share no row and cover all 80"):
        cross_val_predict(GaussianNB(), X, Y, cv="2x3")


# --- Resuming -------------------------------------------------------------------------------------


def test_a_journal_resumes_scores_and_predictions(tmp_path: Path) -> None:
    trace = tmp_path / "trace"
    model = CountingClassifier(str(trace))
    first = cross_validate(model, X, Y, cv="3x4", journal=tmp_path / "scores")
    again = cross_validate(model, X, Y, cv="3x4", journal=tmp_path / "scores", n_jobs=2)
    assert n_fits(trace) == 12
    for key in first:
        np.testing.assert_array_equal(first[key], again[key])
    labels = cross_val_predict(model, X, Y, cv=4, journal=tmp_path / "labels")
    assert (
        cross_val_predict(model, X, Y, cv=4, journal=tmp_path / "labels").tolist()
        == labels.tolist()
    )
    assert n_fits(trace) == 16


def test_a_killed_run_goes_on(tmp_path: Path) -> None:
    trace, journal = tmp_path / "trace", tmp_path / "journal"
    code = (
        "from novum.evaluation.validation.cross_validation import cross_validate\n"
        "from tests.evaluation.validation.counting_learner import CountingClassifier, small_table\n"
        f"model = CountingClassifier({str(trace)!r})\n"
        f"cross_validate(model, *small_table(), cv='2x4', journal={str(journal)!r})\n"
    )
    assert killed_in_the_middle(code, trace, journal, 5) == 5
    result = cross_validate(CountingClassifier(str(trace)), X, Y, cv="2x4", journal=journal)
    assert n_fits(trace) == 8
    fresh = cross_validate(CountingClassifier(), X, Y, cv="2x4")
    np.testing.assert_array_equal(result["test_score"], fresh["test_score"])


def test_several_scores_are_too_many_for_cross_val_score() -> None:
    with pytest.raises(InputError, match="takes a single scoring"):
        cross_val_score(GaussianNB(), X, Y, scoring=["accuracy"])


@pytest.mark.parametrize("model", [PCA(2), FactorAnalysis(2), KMeans(2, random_state=0)])
def test_without_targets_the_learner_judges_itself(model: Any) -> None:
    rows = np.random.default_rng(3).normal(size=(60, 4))
    ours = cross_validate(model, rows, cv=3, return_train_score=True)
    others = theirs.cross_validate(model, rows, cv=3, return_train_score=True)
    for key in ("test_score", "train_score"):
        np.testing.assert_allclose(ours[key], others[key], rtol=1e-9)
    np.testing.assert_array_equal(cross_val_score(model, rows, cv=3), ours["test_score"])
    scores = cross_val_score(model, rows, cv=3, scoring=lambda fitted, part: fitted.score(part))
    np.testing.assert_array_equal(scores, ours["test_score"])


def test_scorers_get_the_metadata_that_they_ask_for() -> None:
    rows = np.random.default_rng(3).normal(size=(60, 2))
    labels, prices = (rows[:, 0] > 0).astype(int), np.arange(60.0)
    seen: list[Any] = []

    def profit(y: Any, predictions: Any, price: Any) -> float:
        seen.append(price.tolist())
        return float(price @ (y == predictions))

    score = make_scorer(profit)
    with sklearn.config_context(enable_metadata_routing=True):
        score.set_score_request(price=True)
        more = {"scoring": {"profit": score, "accuracy": "accuracy"}, "cv": 3}
        result = cross_validate(GaussianNB(), rows, labels, params={"price": prices}, **more)
        other = theirs.cross_validate(GaussianNB(), rows, labels, params={"price": prices}, **more)
    np.testing.assert_array_equal(result["test_profit"], other["test_profit"])
    assert sorted(price for fold in seen[:3] for price in fold) == prices.tolist()
