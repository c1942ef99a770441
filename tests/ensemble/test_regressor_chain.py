"""RegressorChain: scikit-learn's answers, and a case where the chain pays."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import sparse
from sklearn.linear_model import LinearRegression as OtherRegression
from sklearn.multioutput import RegressorChain as OtherChain

from novum.ensemble.chains import RegressorChain
from novum.linear import LinearRegression, Ridge

RNG = np.random.default_rng(5)
X = RNG.normal(size=(70, 4))
Y = np.column_stack((X[:, 0], X[:, 0] * X[:, 1], X[:, 2])) + RNG.normal(size=(70, 3))


@pytest.mark.parametrize("base", [Ridge(), LinearRegression(), OtherRegression()])
@pytest.mark.parametrize("cv", [None, 3])
@pytest.mark.parametrize("order", [None, [2, 0, 1]])
def test_agreement_with_scikit_learn(base: Any, cv: Any, order: Any) -> None:
    ours = RegressorChain(base, cv=cv, order=order).fit(X, Y)
    theirs = OtherChain(base, cv=cv, order=order).fit(X, Y)
    np.testing.assert_allclose(ours.predict(X), theirs.predict(X), rtol=1e-8, atol=1e-10)
    assert ours.score(X, Y) == pytest.approx(theirs.score(X, Y), rel=1e-9)
    np.testing.assert_array_equal(ours.order_, theirs.order_)


@pytest.mark.parametrize("cv", [None, 3])
def test_sparse_tables(cv: Any) -> None:
    dense = RegressorChain(Ridge(), cv=cv).fit(X, Y).predict(X)
    thin = RegressorChain(Ridge(), cv=cv).fit(sparse.csr_matrix(X), Y).predict(sparse.csr_matrix(X))
    np.testing.assert_allclose(thin, dense, rtol=1e-7, atol=1e-9)


def test_one_target_is_the_learner_itself() -> None:
    chain = RegressorChain(Ridge()).fit(X, Y[:, :1])
    np.testing.assert_array_equal(chain.predict(X)[:, 0], Ridge().fit(X, Y[:, 0]).predict(X))
