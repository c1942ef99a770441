"""Which columns a model learned from, and how truth is read for it."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from novum.apps.cli.model_rows import (
    features_for,
    is_classifier,
    model_of,
    rows_for,
    schema_of,
    unseen_levels,
)
from novum.apps.job.request import Request
from novum.core import WorkingPoint, save
from novum.core.errors import InputError
from novum.core.learners import Pipeline
from novum.core.tables import Column, Kind, Schema
from novum.data.scaling import StandardScaler
from novum.ensemble import StackingClassifier
from novum.linear import LinearRegression, LogisticRegression
from novum.trees import DecisionTreeClassifier

X = {"a": [1.0, 2.0, 3.0, 4.0, 5.0, 6.0], "b": ["u", "v", "u", "v", "u", "v"]}
Y = ["n", "n", "y", "n", "y", "y"]


def models() -> list[object]:
    table = pa.table(X)
    pipeline = Pipeline([("scale", StandardScaler()), ("learner", LogisticRegression())])
    tree = DecisionTreeClassifier()
    stack = StackingClassifier([("p", pipeline), ("t", tree)], cv=2)
    point = WorkingPoint.binary(prior=0.5, cost_fn=2, cost_fp=1, classes=("n", "y"))
    fitted = [model.fit(table, Y) for model in (tree, pipeline, stack)]
    return [*fitted, tree.at(point), pipeline.at(point)]


def test_every_form_of_a_model_says_its_columns() -> None:
    for model in models():
        assert schema_of(model).names == ("a", "b")
        assert is_classifier(model)
    with pytest.raises(InputError, match="does not say which columns it learned from"):
        schema_of(DecisionTreeClassifier())


def test_rows_have_the_labels_of_the_model(tmp_path: Path) -> None:
    tree = models()[0]
    (tmp_path / "t.csv").write_text("y,b,a\nn,u,1\n,v,2\ny,u,?\n")
    rows = rows_for(tree, Request(str(tmp_path / "t.csv"), "y"))
    # The second row has no truth.
    assert (rows.y.tolist(), rows.positions.tolist()) == (["n", "y"], [0, 2])
    assert features_for(tree, Request(str(tmp_path / "t.csv")))[0].column_names == ["a", "b"]
    (tmp_path / "t.csv").write_text("y,b,a\nmaybe,u,1\n")
    with pytest.raises(InputError, match="has the class 'maybe' of 'y'"):
        rows_for(tree, Request(str(tmp_path / "t.csv"), "y"))
    with pytest.raises(InputError, match="Which column holds the truth"):
        rows_for(tree, Request(str(tmp_path / "t.csv")))


@pytest.mark.parametrize("labels", [[0, 1, 2], [False, True, True], ["0.5", "1.5", "2.5"]])
def test_labels_that_are_no_words(labels: list[object], tmp_path: Path) -> None:
    model = DecisionTreeClassifier().fit(pa.table({"a": [1.0, 2.0, 3.0]}), labels)
    lines = "".join(f"{a},{label}\n" for a, label in zip("123", labels, strict=True))
    (tmp_path / "t.csv").write_text(f"a,y\n{lines}")
    assert rows_for(model, Request(str(tmp_path / "t.csv"), "y")).y.tolist() == labels


def test_numbers_and_weights(tmp_path: Path) -> None:
    model = LinearRegression().fit(pa.table({"a": [1.0, 2.0, 3.0]}), [1.0, 2.0, 4.0])
    (tmp_path / "t.csv").write_text("a,y,w\n1,1.5,2\n2,,1\n3,3.5,0.5\n")
    rows = rows_for(model, Request(str(tmp_path / "t.csv"), "y", weight="w"))
    np.testing.assert_array_equal(rows.y, [1.5, 3.5])
    np.testing.assert_array_equal(rows.weight, [2.0, 0.5])


def test_a_file_that_holds_no_model(tmp_path: Path) -> None:
    save(WorkingPoint.binary(prior=0.5, cost_fn=1, cost_fp=1), tmp_path / "p.novum")
    with pytest.raises(InputError, match="holds a WorkingPoint, which predicts nothing"):
        model_of(tmp_path / "p.novum")


def test_levels_that_training_never_met_are_said() -> None:
    schema = Schema((Column("u"), Column("color", Kind.NOMINAL, ("blue", "red"))))
    table = pa.table({"u": [1.0, 2.0, 3.0], "color": ["red", None, "pink"]})
    (sentence,) = unseen_levels(table, schema)
    assert sentence == (
        "'color' has 1 of its cells at levels that the model never met, the first in row 3: 'pink'."
    )
    assert unseen_levels(table.slice(0, 2), schema) == ()
