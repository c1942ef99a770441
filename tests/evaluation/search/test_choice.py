"""The one-standard-error rule: by hand, in our searches and in scikit-learn's."""

from typing import Any

import numpy as np
import pytest
import sklearn.model_selection as theirs

from novum.core.errors import InputError
from novum.evaluation.search.choice import OneStandardError
from novum.evaluation.search.grid import GridSearchCV
from novum.linear import Ridge


def results(means: list[float], deviations: float = 0.02, **more: Any) -> dict[str, Any]:
    center = np.array(means)
    return {
        "params": [{"alpha": 10.0**i, "depth": 5 - i} for i in range(len(means))],
        "mean_test_score": center,
        "split0_test_score": center - deviations,
        "split1_test_score": center + deviations,
        **more,
    }


def test_the_simplest_within_one_error_of_the_best() -> None:
    # Two folds at +-0.02: deviation 0.0283, standard error 0.02.
    table = results([0.80, 0.81, 0.795, 0.788, 0.5])
    assert OneStandardError({"alpha": "largest"})(table) == 2
    assert OneStandardError({"depth": "smallest"})(table) == 2
    assert OneStandardError({"alpha": "smallest"})(table) == 0
    assert OneStandardError({"alpha": "largest"}, factor=0)(table) == 1
    assert OneStandardError({"alpha": "largest"}, factor=2)(table) == 3
    assert OneStandardError(lambda params: -params["alpha"])(table) == 2


def test_the_corrected_error_allows_more() -> None:
    table = results([0.80, 0.81, 0.795, 0.788], standard_error_test_score=np.full(4, 0.025))
    assert OneStandardError({"alpha": "largest"}, error="corrected")(table) == 3


def test_equally_simple_candidates_are_chosen_by_score_then_by_place() -> None:
    table = results([0.80, 0.81, 0.81])
    table["params"] = [{"alpha": 1.0}] * 3
    assert OneStandardError({"alpha": "largest"})(table) == 1


def test_of_halving_only_the_last_round_counts() -> None:
    table = results([0.9, 0.80, 0.81], iter=np.array([0, 1, 1]))
    assert OneStandardError({"alpha": "smallest"})(table) == 1


@pytest.mark.parametrize("kind", [GridSearchCV, theirs.GridSearchCV])
def test_it_serves_as_refit_here_and_there(kind: Any) -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 5))
    y = X[:, 0] + rng.normal(size=60)
    grid = {"alpha": [0.01, 1.0, 10.0, 1e6]}
    search = kind(Ridge(), grid, refit=OneStandardError({"alpha": "largest"})).fit(X, y)
    means = search.cv_results_["mean_test_score"]
    best = kind(Ridge(), grid).fit(X, y)
    assert search.best_params_["alpha"] >= best.best_params_["alpha"]
    assert search.best_params_["alpha"] < 1e6
    assert search.best_index_ == grid["alpha"].index(search.best_params_["alpha"])
    assert means[search.best_index_] <= means.max()


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: OneStandardError({}), "simplest maps parameters"),
        (lambda: OneStandardError({"alpha": "big"}), "'smallest' or 'largest' value, got 'big'"),  # type: ignore[dict-item]
        (lambda: OneStandardError({"a": "largest"}, factor=-1), "at least 0, got -1"),
        (lambda: OneStandardError({"a": "largest"}, error="other"), "got 'other'"),  # type: ignore[arg-type]
        (lambda: OneStandardError({"a": "largest"})(results([0.1, 0.2])), "no parameter 'a'"),
        (
            lambda: OneStandardError({"alpha": "largest"}, "f1")(results([0.1, 0.2])),
            "no score 'f1'; it has 'score'",
        ),
        (
            lambda: OneStandardError({"alpha": "largest"})(results([np.nan, np.nan])),
            "No candidate has a mean 'score'",
        ),
    ],
)
def test_choices_that_cannot_be_made(make: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        make()


def test_values_without_order_need_a_function() -> None:
    table = results([0.1, 0.2])
    table["params"] = [{"alpha": "a"}, {"alpha": "b"}]
    with pytest.raises(InputError, match="alpha='b' is no number"):
        OneStandardError({"alpha": "largest"})(table)


def test_a_mean_at_the_limit_is_within_it() -> None:
    results = {
        "params": [{"alpha": 0.1}, {"alpha": 1.0}],
        "mean_test_score": np.array([0.3 + 0.02, 0.3]),
        "split0_test_score": np.array([0.30, 0.3]),
        "split1_test_score": np.array([0.34, 0.3]),
    }
    # The standard error is 0.02, and 0.32 - 0.02 is just above 0.3.
    assert OneStandardError({"alpha": "largest"})(results) == 1
