"""What selectors share: containers in and out, ways back, names."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.exceptions import NotFittedError

from novum.core.errors import InputError, ModelFileError
from novum.evaluation.selection.filters import SelectKBest
from novum.evaluation.selection.selector import checked_columns
from tests.evaluation.selection.selection_tables import two_classes

X, Y = two_classes(40, 3)


def test_ways_back_fill_with_zeros() -> None:
    model = SelectKBest(k=2).fit(X, Y)
    kept = model.transform(X)
    back = model.inverse_transform(kept)
    np.testing.assert_array_equal(back[:, model.get_support()], kept)
    assert (back[:, ~model.get_support()] == 0).all()
    np.testing.assert_array_equal(model.inverse_transform(pd.DataFrame(kept)), back)


def test_names_and_places() -> None:
    frame = pd.DataFrame(X, columns=["a", "b", "c"])
    model = SelectKBest(k=1).fit(frame, Y)
    assert model.get_feature_names_out().tolist() == ["a"]
    assert model.get_support(indices=True).tolist() == [0]
    assert SelectKBest(k=1).fit(X, Y).get_feature_names_out(["p", "q", "r"]).tolist() == ["p"]


def test_other_columns_are_refused() -> None:
    model = SelectKBest(k=1).fit(pd.DataFrame(X, columns=["a", "b", "c"]), Y)
    with pytest.raises(ValueError, match="feature names"):
        model.transform(pd.DataFrame(X, columns=["a", "b", "d"]))
    with pytest.raises(ValueError, match="2 features"):
        SelectKBest(k=1).fit(X, Y).transform(X[:, :2])
    with pytest.raises(NotFittedError):
        SelectKBest(k=1).transform(X)


def test_tables_that_are_none() -> None:
    with pytest.raises(InputError, match="2D"):
        checked_columns(SelectKBest(), ["a", "b"], reset=True)


def test_state_is_checked() -> None:
    model = SelectKBest(k=1).fit(X, Y)
    model.n_features_in_ = 7
    with pytest.raises(ModelFileError, match="as many columns"):
        model._check_state()
