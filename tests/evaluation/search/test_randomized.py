"""Randomized search: scikit-learn's draws and table."""

import numpy as np
import pytest
import sklearn.model_selection as theirs
from scipy.stats import loguniform

from novum.core.errors import InputError
from novum.evaluation.search.randomized import RandomizedSearchCV
from novum.linear import Ridge
from tests.evaluation.validation.counting_learner import small_table

X, _ = small_table()
NUMBERS = X @ [1.0, 0.5, 0.0] + np.sin(np.arange(80))
SPACE = {"alpha": loguniform(1e-3, 1e3), "fit_intercept": [True, False]}


def test_draws_and_scores_are_scikit_learn_s() -> None:
    ours = RandomizedSearchCV(Ridge(), SPACE, n_iter=6, random_state=4).fit(X, NUMBERS)
    reference = theirs.RandomizedSearchCV(Ridge(), SPACE, n_iter=6, random_state=4).fit(X, NUMBERS)
    assert ours.cv_results_["params"] == reference.cv_results_["params"]
    assert ours.best_params_ == reference.best_params_
    np.testing.assert_allclose(
        ours.cv_results_["mean_test_score"], reference.cv_results_["mean_test_score"], rtol=1e-9
    )


def test_a_journal_needs_a_seed(tmp_path: object) -> None:
    search = RandomizedSearchCV(Ridge(), SPACE, journal=f"{tmp_path}/run")
    with pytest.raises(InputError, match="give RandomizedSearchCV an integer random_state"):
        search.fit(X, NUMBERS)


def test_a_journal_with_a_seed_is_resumed(tmp_path: object) -> None:
    def search(n: int) -> RandomizedSearchCV:
        made = RandomizedSearchCV(
            Ridge(), SPACE, n_iter=n, random_state=0, journal=f"{tmp_path}/run"
        )
        return made.fit(X, NUMBERS)

    few, more = search(3), search(5)
    # The first draws are the same, and their times show that they come from the journal.
    np.testing.assert_array_equal(
        few.cv_results_["mean_fit_time"], more.cv_results_["mean_fit_time"][:3]
    )
