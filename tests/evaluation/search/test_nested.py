"""Nested cross-validation: a plain double loop, honest scores, untouched test rows, resuming."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.model_selection import GroupKFold

from novum.core.errors import InputError
from novum.evaluation.search.choice import OneStandardError
from novum.evaluation.search.grid import GridSearchCV
from novum.evaluation.search.nested import nested_cross_validate
from novum.evaluation.validation.splits import nested, plan_splits
from novum.linear import Ridge
from tests.evaluation.validation.counting_learner import CountingClassifier, n_fits, small_table

X, Y = small_table()
NUMBERS = X @ [1.0, 0.5, 0.0] + np.sin(np.arange(80))
SEARCH = GridSearchCV(Ridge(), {"alpha": [0.1, 10.0, 1000.0]}, cv=3)


def test_scores_are_those_of_a_double_loop() -> None:
    result = nested_cross_validate(SEARCH, X, NUMBERS, cv=4)
    for number, (train, test) in enumerate(plan_splits(X, NUMBERS, 4).folds):
        search = clone(SEARCH).fit(X[train], NUMBERS[train])
        assert result["test_score"][number] == search.score(X[test], NUMBERS[test])
        assert result.best_params[number] == search.best_params_
        assert result.inner_scores[number] == search.best_score_
    assert result.splits.n_folds == 4
    assert result.interval().estimate == result.mean()
    assert sum(count for _, count in result.choices()) == 4


def test_test_rows_are_untouched() -> None:
    seen: list[set[float]] = []

    class Watching(CountingClassifier):
        def fit(self, X: Any, y: Any) -> Any:
            seen.append(set(X[:, 0]))
            return super().fit(X, y)

    search = GridSearchCV(Watching(), {"shrink": [0.0, 0.5]}, cv=3)
    nested_cross_validate(search, X, Y, cv=[(np.arange(40), np.arange(40, 80))])
    assert len(seen) == 7
    assert not set.union(*seen) & set(X[40:, 0])


def test_the_search_s_own_score_is_too_good_where_there_is_nothing_to_learn() -> None:
    # Labels are coins: every honest accuracy is 1/2, and the best of 40 guesses is above it.
    rng = np.random.default_rng(0)
    noise, coins = rng.normal(size=(60, 40)), rng.integers(0, 2, 60)

    class OneColumn(CountingClassifier):
        def __init__(self, column: int = 0) -> None:
            super().__init__()
            self.column = column

        def fit(self, X: Any, y: Any) -> Any:
            return super().fit(X[:, [self.column]], y)

        def predict(self, X: Any) -> Any:
            return super().predict(X[:, [self.column]])

    search = GridSearchCV(OneColumn(), {"column": list(range(40))}, cv=3)
    result = nested_cross_validate(search, noise, coins, cv=3)
    assert result.optimism > 0.05
    # 60 coins: 4 standard errors are 0.26.
    assert abs(result.mean() - 0.5) < 0.26


def test_inner_folds_may_be_given_and_groups_reach_them() -> None:
    groups = np.arange(80) % 8
    search = GridSearchCV(Ridge(), {"alpha": [0.1, 1.0]})
    cv = nested(GroupKFold(4), GroupKFold(3))
    result = nested_cross_validate(search, X, NUMBERS, cv=cv, groups=groups)
    assert len(result["test_score"]) == 4
    assert search.cv is None


def test_a_rule_and_another_score_outside() -> None:
    search = GridSearchCV(
        Ridge(), {"alpha": [0.1, 10.0]}, refit=OneStandardError({"alpha": "largest"})
    )
    result = nested_cross_validate(search, X, NUMBERS, cv=3, scoring=["r2", "max_error"])
    assert result.mean("r2") > 0
    assert result.mean("max_error") < 0


def test_finished_outer_folds_are_not_computed_again(tmp_path: Path) -> None:
    trace = tmp_path / "trace"
    model = CountingClassifier(str(trace))
    search = GridSearchCV(model, {"shrink": [0.0, 0.5]}, cv=2, journal=tmp_path / "unused")
    first = nested_cross_validate(search, X, Y, cv=3, journal=tmp_path / "outer")
    fits = n_fits(trace)
    assert fits == 3 * 5
    again = nested_cross_validate(search, X, Y, cv=3, journal=tmp_path / "outer")
    assert n_fits(trace) == fits
    assert first.best_params == again.best_params
    np.testing.assert_array_equal(first["test_score"], again["test_score"])
    assert not (tmp_path / "unused").exists()


def test_what_is_no_search_is_refused() -> None:
    with pytest.raises(InputError, match="Ridge is no search"):
        nested_cross_validate(Ridge(), X, NUMBERS)
    with pytest.raises(InputError, match="give the search refit=True"):
        nested_cross_validate(GridSearchCV(Ridge(), {"alpha": [1.0]}, refit=False), X, NUMBERS)
