"""Prediction of linear models: effects added up by hand, names, state of loaded models."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.exceptions import NotFittedError
from sklearn.utils import get_tags

from novum.core.errors import ModelFileError, UnseenLevelWarning
from novum.linear import LinearRegression, Ridge, RidgeCV
from novum.linear.least_squares.model import LinearPredictor
from tests.linear.tables import normal_table

MODELS = [LinearRegression(), Ridge(), RidgeCV()]


def mixed_table(n: int = 30) -> tuple[pd.DataFrame, Any]:
    rng = np.random.default_rng(4)
    frame = pd.DataFrame({"age": rng.normal(size=n), "color": rng.choice(["blue", "red"], n)})
    return frame, frame["age"] + 3.0 * (frame["color"] == "red") + rng.normal(size=n)


@pytest.mark.parametrize("model", MODELS, ids=lambda model: type(model).__name__)
def test_a_prediction_is_the_sum_of_its_effects(model: LinearPredictor) -> None:
    frame, y = mixed_table()
    model.fit(frame, y)  # type: ignore[attr-defined]
    assert model.coef_names_ == ("age", "color=red")
    by_hand = [
        model.intercept_ + age * model.coef_[0] + (color == "red") * model.coef_[1]
        for age, color in frame.itertuples(index=False)
    ]
    np.testing.assert_allclose(model.predict(frame), by_hand, rtol=1e-13)
    with pytest.warns(UnseenLevelWarning, match="count as the reference level 'blue'"):
        unseen = model.predict(pd.DataFrame({"age": [0.0], "color": ["green"]}))
    assert unseen[0] == model.intercept_


@pytest.mark.parametrize("model", MODELS, ids=lambda model: type(model).__name__)
def test_sparse_rows_and_several_targets(model: LinearPredictor) -> None:
    X, y = normal_table(20, 3)
    model.fit(X, np.column_stack([y, 2 * y]))  # type: ignore[attr-defined]
    found = model.predict(sparse.csr_array(X))
    assert found.shape == (20, 2)
    np.testing.assert_allclose(found, X @ model.coef_.T + model.intercept_, rtol=1e-12)


@pytest.mark.parametrize("model", [LinearRegression(), Ridge(), RidgeCV()])
def test_a_model_that_is_not_fitted_says_so(model: LinearPredictor) -> None:
    for ask in (lambda: model.predict([[1.0]]), lambda: model.coef_names_):
        with pytest.raises(NotFittedError, match="not fitted yet"):
            ask()


def test_tags_follow_the_choice_of_categorical_columns() -> None:
    cases = (("auto", (True, False)), ("all", (True, True)), (None, (False, False)))
    for chosen, expected in cases:
        tags = get_tags(RidgeCV(categorical_features=chosen))
        assert (tags.input_tags.string, tags.input_tags.categorical) == expected
        assert tags.input_tags.sparse
        assert tags.target_tags.multi_output


@pytest.mark.parametrize("model", MODELS, ids=lambda model: type(model).__name__)
def test_a_model_whose_parts_do_not_fit_is_refused(model: LinearPredictor) -> None:
    X, y = normal_table(20, 3)
    model.fit(X, y)  # type: ignore[attr-defined]
    model._check_state()
    coef = model.coef_
    model.coef_ = coef[:2]
    with pytest.raises(ModelFileError, match=r"coefficients of shape \(2,\) for 3 columns"):
        model._check_state()
    model.coef_ = np.where(np.arange(3) == 1, np.nan, coef)
    with pytest.raises(ModelFileError, match="not finite"):
        model._check_state()
