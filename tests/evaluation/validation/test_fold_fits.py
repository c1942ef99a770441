"""One fold: containers, arguments, similarities, classes that a fold lacks."""

from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.dummy import DummyClassifier
from sklearn.metrics import get_scorer, make_scorer
from sklearn.svm import SVC

from novum.core.errors import InputError
from novum.evaluation.validation.fold_fits import (
    FoldRun,
    FoldWork,
    plain_table,
    plain_y,
    run_fold,
    takes_weight,
)
from novum.evaluation.validation.journal import decoded, encoded
from novum.evaluation.validation.splits import plan_splits
from novum.linear import LinearRegression

rng = np.random.default_rng(1)
X = rng.normal(size=(30, 2))
NUMBERS = X[:, 0] + 0.1 * rng.normal(size=30)
LABELS = np.where(X[:, 0] > 0, "yes", "no")
R2 = {"r2": get_scorer("r2")}


def work(table: Any, y: Any, **more: Any) -> FoldWork:
    given = {"scoring": R2, "fit_params": {}, "score_params": {}, **more}
    return FoldWork(table, plain_y(y), plan_splits(table, None, 3), **given)


@pytest.mark.parametrize(
    "table",
    [X.tolist(), sparse.csr_matrix(X), sparse.coo_matrix(X), pd.DataFrame(X, columns=["a", "b"])],
)
def test_any_container_gives_the_same_score(table: Any) -> None:
    expected = run_fold(LinearRegression(), work(X, NUMBERS), 1).scores["r2"]
    found = run_fold(LinearRegression(), work(table, NUMBERS), 1)
    assert found.scores["r2"] == pytest.approx(expected, rel=1e-9)


def test_arguments_with_an_entry_for_each_row_are_cut() -> None:
    seen = {}

    class Learner(DummyClassifier):
        def fit(self, X: Any, y: Any, mark: Any = None, constant: Any = None) -> Any:
            seen.update(mark=mark, constant=constant, rows=len(X))
            return super().fit(X, y)

    scoring = {"accuracy": get_scorer("accuracy")}
    fold = work(X, LABELS, scoring=scoring, fit_params={"mark": np.arange(30), "constant": [7, 8]})
    run_fold(Learner(), fold, 0)
    assert seen["rows"] == 20
    assert seen["mark"].tolist() == list(range(10, 30))
    assert seen["constant"] == [7, 8]


def test_similarities_are_cut_on_both_sides() -> None:
    kernel = X @ X.T
    fold = work(kernel, LABELS, scoring={"accuracy": get_scorer("accuracy")}, keep="predict")
    found = run_fold(SVC(kernel="precomputed"), fold, 0)
    train, test = fold.splits.train(0), fold.splits.test(0)
    fitted = SVC(kernel="linear").fit(X[train], LABELS[train])
    assert found.output is not None
    assert found.output.tolist() == fitted.predict(X[test]).tolist()
    with pytest.raises(InputError, match=r"square matrix, got shape \(30, 2\)"):
        work(X, LABELS).table(SVC(kernel="precomputed"), train, 0)


def test_kept_probabilities_have_a_column_for_every_class() -> None:
    y = np.array(["a"] * 10 + ["b"] * 10 + ["c"] * 10)
    fold = work(X, y, scoring={}, keep="predict_proba")
    found = run_fold(DummyClassifier(strategy="prior"), fold, 0)
    assert found.output is not None
    assert found.output.shape == (10, 3)
    np.testing.assert_allclose(found.output[0], [0.0, 0.5, 0.5])


def test_rows_of_weight_zero_do_not_train() -> None:
    weight = np.ones(30)
    weight[LABELS == "no"] = 0
    fold = work(X, LABELS, scoring={}, fit_params={"sample_weight": weight}, keep="predict")
    found = run_fold(DummyClassifier(), fold, 0)
    assert found.output is not None
    assert set(found.output) == {"yes"}


def weighed(model: Any, X: Any, y: Any, sample_weight: Any = None) -> float:
    del model, X, y, sample_weight
    return 0.0


def unweighed(model: Any, X: Any, y: Any) -> float:
    del model, X, y
    return 0.0


def own(y: Any, predicted: Any) -> float:
    del y, predicted
    return 0.0


@pytest.mark.parametrize(
    ("scorer", "expected"),
    [
        (get_scorer("r2"), True),
        (make_scorer(own), False),
        (weighed, True),
        (unweighed, False),
    ],
)
def test_who_takes_weights(scorer: Any, expected: bool) -> None:
    assert takes_weight(scorer) is expected


def test_what_only_numpy_can_read_becomes_an_array() -> None:
    class Opaque:
        def __array__(self, dtype: Any = None, copy: Any = None) -> np.ndarray:
            del dtype, copy
            return X

    assert plain_table(Opaque()) is X
    assert plain_table(X) is X
    assert plain_y(None) is None
    assert sparse.issparse(plain_y(sparse.csr_matrix(X > 0)))


def test_a_record_is_the_outcome_without_the_model() -> None:
    run = FoldRun(
        {"score": 0.1},
        {"score": 0.2},
        fit_seconds=0.5,
        score_seconds=0.25,
        n_train=8,
        n_test=2,
        output=np.array(["a", "b"]),
        facts={"best": 1},
        estimator=object(),
        exact=True,
    )
    again = FoldRun.of(decoded(encoded(run.record())))
    assert again.scores == run.scores
    assert again.train_scores == run.train_scores
    assert (again.fit_seconds, again.score_seconds) == (0.5, 0.25)
    assert (again.n_train, again.n_test, again.exact) == (8, 2, True)
    assert again.output is not None
    assert again.output.tolist() == ["a", "b"]
    assert again.facts == {"best": 1}
    assert again.estimator is None
    assert again.error is None
