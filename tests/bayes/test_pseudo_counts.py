"""Smoothing and priors that the count models share: refusals, warnings, and scikit-learn."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn import naive_bayes

from novum.bayes import BernoulliNB, CategoricalNB, ComplementNB, MultinomialNB
from novum.core.errors import InputError

MODELS = [BernoulliNB, CategoricalNB, ComplementNB, MultinomialNB]
X, Y = [[1, 0], [1, 0], [0, 1]], [0, 0, 1]


@pytest.mark.parametrize("model", MODELS)
def test_alpha_is_checked(model: Any) -> None:
    with pytest.raises(InputError, match="Got 3 elements instead of 2"):
        model(alpha=[1, 1, 1]).fit(X, Y)
    with pytest.raises(InputError, match="alpha must be greater"):
        model(alpha=[1, -1]).fit(X, Y)
    with pytest.raises(InputError, match="alpha must be greater"):
        model(alpha=[1, np.inf]).fit(X, Y)


@pytest.mark.parametrize("model", MODELS)
def test_alpha_is_raised_only_where_it_may_be(model: Any) -> None:
    with pytest.warns(UserWarning, match="setting alpha = 1.0e-10"):
        raised = model(alpha=0.0, force_alpha=False).fit(X, Y)
    least = model(alpha=1e-10).fit(X, Y)
    np.testing.assert_array_equal(raised.feature_log_prob_, least.feature_log_prob_)
    kept = model(alpha=0.3, force_alpha=False).fit(X, Y)
    forced = model(alpha=0.3).fit(X, Y)
    np.testing.assert_array_equal(kept.feature_log_prob_, forced.feature_log_prob_)


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize(
    "options", [{}, {"fit_prior": False}, {"class_prior": [0.9, 0.1]}], ids=str
)
def test_priors_are_those_of_scikit_learn(model: Any, options: dict[str, Any]) -> None:
    theirs = getattr(naive_bayes, model.__name__)(**options).fit(X, Y)
    found = model(**options).fit(X, Y).class_log_prior_
    np.testing.assert_allclose(found, theirs.class_log_prior_, rtol=1e-15)


def test_a_class_without_rows_has_no_prior() -> None:
    model = MultinomialNB().partial_fit(X, Y, classes=[0, 1, 2])
    assert model.class_log_prior_[2] == -np.inf
    assert model.feature_count_.tolist() == [[2, 0], [0, 1], [0, 0]]
    np.testing.assert_allclose(np.exp(model.coef_).sum(axis=1), 1.0, rtol=1e-14)
