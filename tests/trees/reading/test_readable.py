"""Readings of a fitted model: each is that of its tree, and leaves the model as it was."""

from __future__ import annotations

import copy
from typing import Any
from xml.etree import ElementTree

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest
from sklearn.exceptions import NotFittedError

from novum.core.errors import InputError
from novum.trees import DecisionTreeClassifier, DecisionTreeRegressor, c45
from novum.trees.reading.text import tree_text
from tests.trees.mixed_tables import mixed_table

mpl.use("Agg")

FRAME = pd.DataFrame({"c": ["a", "a", "b", "b"], "x": [1.0, 2.0, 3.0, 4.0]})
LABELS = np.array(["n", "y", "y", "y"])


def fitted(**parameters: Any) -> DecisionTreeClassifier:
    return DecisionTreeClassifier(**parameters).fit(FRAME, LABELS)


def test_text_and_rules_by_hand() -> None:
    model = fitted()
    assert model.text() == tree_text(model.tree_)
    assert "x <= 1.5" in model.text()
    assert "x <= 1.5" not in model.text(max_depth=0)
    found = model.rules()
    assert len(found) == 2
    assert "x > 1.5" in str(found)
    assert "coverage 0.750, confidence 1.000" in str(found)
    assert len(model.rules(min_coverage=0.5)) == 1


def test_rules_give_the_predictions_of_the_tree() -> None:
    X, y = mixed_table(holes=0.0)
    model = DecisionTreeClassifier(max_depth=4).fit(X, y)
    text = str(model.rules())
    assert text.count("confidence") == len(model.rules())
    regression = DecisionTreeRegressor(max_depth=2).fit(X, (y == "yes") * 1.0)
    assert len(regression.rules(simplify=False)) == regression.get_n_leaves()


def test_svg_is_a_picture_with_every_question() -> None:
    picture = fitted().svg()
    root = ElementTree.fromstring(str(picture))
    assert root.tag.endswith("svg")
    assert "1.5" in "".join(root.itertext())
    assert picture._repr_svg_() == str(picture)


def test_a_plot_goes_into_the_given_axes() -> None:
    from matplotlib import pyplot as plt

    _, ax = plt.subplots()
    model = fitted()
    assert model.plot(ax) is ax
    assert any("1.5" in text.get_text() for text in ax.texts)
    plt.close("all")
    assert model.plot(max_depth=1) is not ax
    plt.close("all")


def test_reasons_for_one_row() -> None:
    model = fitted()
    reason = str(model.explain(FRAME[:1]))
    assert "prediction: n" in reason
    assert "x is 1, so <= 1.5" in reason
    missing = str(model.explain(pd.DataFrame({"c": ["a"], "x": [np.nan]})))
    assert "prediction: y" in missing
    for rows in (FRAME, FRAME[:0]):
        with pytest.raises(ValueError, match=r"one row|0 sample"):
            model.explain(rows)


# --- Trace ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "missing", ["fractional", "direction", "auto", "most_common", "most_common_of_class"]
)
def test_the_split_of_every_node_is_among_its_candidates(missing: str) -> None:
    """Also where missing cells were replaced: the trace is of the rows that the tree saw."""
    X, y = mixed_table()
    model = DecisionTreeClassifier(missing=missing, max_depth=3).fit(X, y)
    trace = model.trace(X, y)
    inner = np.flatnonzero(model.tree_.question)
    text = str(trace)
    assert text.count("splits by") == inner.size
    if missing not in ("direction", "auto"):
        # With a direction the gain is that of all rows; the trace lists gains of the known ones.
        assert text.count(", the best of ") == inner.size


def test_a_trace_of_other_criteria() -> None:
    X, y = mixed_table(holes=0.0)
    model = c45(pruning=None).fit(X, y)
    assert str(model.trace(X, y, limit=2)).count("node ") >= 2
    numbers = DecisionTreeRegressor(max_depth=2).fit(X, (y == "yes") * 1.0)
    assert ", the best of " in str(numbers.trace(X, (y == "yes") * 1.0))


def test_a_trace_changes_nothing_and_wants_the_training_rows() -> None:
    X, y = mixed_table(holes=0.0)
    model = DecisionTreeClassifier(max_depth=3).fit(X, y)
    before = copy.deepcopy(vars(model))
    model.trace(X, y)
    for rows, labels in (
        (X[["x", "z"]], y),
        (X[X["color"] == "red"], y[X["color"] == "red"]),
        (X, np.where(y == "yes", "maybe", y)),
        (X[y == "no"], y[y == "no"]),
    ):
        with pytest.raises(InputError, match="other columns, levels or classes"):
            model.trace(rows, labels)
    after = vars(model)
    assert set(after) == set(before)
    assert after["n_features_in_"] == before["n_features_in_"]
    np.testing.assert_array_equal(after["feature_names_in_"], before["feature_names_in_"])
    np.testing.assert_array_equal(after["classes_"], before["classes_"])


def test_nothing_is_read_before_a_fit() -> None:
    model = DecisionTreeClassifier()
    for call in (
        model.rules,
        model.text,
        model.svg,
        model.plot,
        lambda: model.explain(FRAME[:1]),
        lambda: model.trace(FRAME, LABELS),
    ):
        with pytest.raises(NotFittedError):
            call()
