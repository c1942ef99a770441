"""CategoricalNB: scikit-learn on codes; text, unseen and missing categories beyond it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.naive_bayes import CategoricalNB as OtherNB

from novum.bayes import CategoricalNB
from novum.core.errors import InputError, UnseenLevelWarning
from tests.bayes.definitions import log_category
from tests.bayes.naive_bayes_tables import codes


@pytest.mark.parametrize("alpha", [1.0, 0.3])
@pytest.mark.parametrize("least", [None, 7, [4, 5, 9]])
def test_agreement_with_scikit_learn(alpha: float, least: Any) -> None:
    X, y = codes()
    X = np.where(X == 2, 5, X)  # codes 2 to 4 exist, though no row has them
    weight = np.random.default_rng(0).random(len(y))
    ours = CategoricalNB(alpha=alpha, min_categories=least).fit(X, y, weight)
    theirs = OtherNB(alpha=alpha, min_categories=least).fit(X, y, weight)
    assert ours.n_categories_.tolist() == theirs.n_categories_.tolist()
    for name in ("category_count_", "feature_log_prob_"):
        for a, b in zip(getattr(ours, name), getattr(theirs, name), strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-12)
    np.testing.assert_allclose(ours.class_log_prior_, theirs.class_log_prior_, rtol=1e-13)
    queries = np.array([[3, 0, 1], [4, 4, 4], [5, 1, 0]])
    np.testing.assert_allclose(
        ours.predict_log_proba(queries), theirs.predict_log_proba(queries), rtol=1e-11
    )


def test_partial_fits_agree_with_scikit_learn() -> None:
    X, y = codes()
    ours, theirs = CategoricalNB(), OtherNB(min_categories=4)
    for rows in np.array_split(np.arange(len(y)), 3):
        ours.partial_fit(X[rows], y[rows], classes=[0, 1, 2])
        theirs.partial_fit(X[rows], y[rows], classes=[0, 1, 2])
    np.testing.assert_allclose(ours.predict_proba(X), theirs.predict_proba(X), rtol=1e-11)


def test_unseen_and_missing_categories() -> None:
    frame = pd.DataFrame({"a": ["x", "y", "x", None], "b": ["u", "u", "v", "v"]})
    model = CategoricalNB().fit(frame, [0, 0, 1, 1])
    queries = pd.DataFrame({"a": ["new", None], "b": ["u", "u"]})
    with pytest.warns(UnseenLevelWarning, match="'a' has 1 cells"):
        found = model.log_likelihood(queries)
    both = dict.fromkeys(("x", "y", "new"), 1.0)
    for k, (cells, others) in enumerate([(["x", "y"], ["u", "u"]), (["x", None], ["v", "v"])]):
        known = log_category("u", others, {"u": 1.0, "v": 1.0})
        assert found[0, k] == pytest.approx(log_category("new", cells, both) + known, rel=1e-13)
        assert found[1, k] == pytest.approx(known, rel=1e-13)


def test_categories_of_every_container() -> None:
    X, y = codes()
    expected = CategoricalNB().fit(X, y).predict_proba(X)
    letters = np.array(["a", "b", "c", "d"])[X]
    for table in (pd.DataFrame(X, columns=list("pqr")), letters, X.astype(float), X.tolist()):
        model = CategoricalNB().fit(table, y)
        np.testing.assert_allclose(model.predict_proba(table), expected, rtol=1e-12)


def test_negative_codes_are_categories_too() -> None:
    model = CategoricalNB().fit([[-1], [5], [-1]], [0, 1, 0])
    assert model.n_categories_.tolist() == [2]
    assert model.predict([[-1], [5]]).tolist() == [0, 1]


def test_min_categories_are_checked() -> None:
    X, y = codes()
    with pytest.raises(InputError, match="should have integral type"):
        CategoricalNB(min_categories=[1.5, 2.0, 3.0]).fit(X, y)
    with pytest.raises(InputError, match=r"should have shape \(3,\)"):
        CategoricalNB(min_categories=[4, 4]).fit(X, y)


def test_the_schema_of_a_file_may_call_codes_numbers() -> None:
    from novum.core import Schema

    X, y = codes()
    sums = CategoricalNB().statistics(X, y, schema=Schema.of_array(3))
    assert sums.isclose(CategoricalNB().statistics(X, y))
    holes = X.astype(float)
    holes[0, 0] = np.nan
    sums = CategoricalNB().statistics(holes, y, schema=Schema.of_array(3))
    assert sums.levels.sum() == X.size - 1
