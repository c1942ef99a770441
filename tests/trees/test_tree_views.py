"""A tree under scikit-learn's names: its own walks agree with ours, on tables of numbers."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import sparse
from sklearn import tree as peers
from sklearn.datasets import load_diabetes, load_iris

from novum.core.errors import InputError
from novum.trees import DecisionTreeClassifier, DecisionTreeRegressor
from novum.trees.tree import Tree
from tests.trees.mixed_tables import mixed_table

X, Y = load_iris(return_X_y=True)


def walked(tree: Any, row: Any) -> int:
    """The leaf of a row, as tools for scikit-learn's trees find it."""
    node = 0
    while tree.children_left[node] != -1:
        below = row[tree.feature[node]] <= tree.threshold[node]
        node = tree.children_left[node] if below else tree.children_right[node]
    return int(node)


@pytest.mark.parametrize("kind", [DecisionTreeClassifier, DecisionTreeRegressor])
def test_tools_for_scikit_learn_trees_walk_ours(kind: Any) -> None:
    model = kind(max_depth=4).fit(X, Y)
    tree = model.tree_
    leaves = np.array([walked(tree, row) for row in X])
    np.testing.assert_array_equal(leaves, model.apply(X))
    np.testing.assert_array_equal(leaves, tree.apply(X))
    np.testing.assert_array_equal(leaves, tree.apply(sparse.csr_matrix(X)))
    path = tree.decision_path(X)
    np.testing.assert_array_equal(path.toarray(), model.decision_path(X).toarray())
    np.testing.assert_array_equal(path.sum(axis=0).A1, tree.n_node_samples)
    assert (path[np.arange(len(X)), leaves] == 1).all()
    share = tree.value / tree.weighted_n_node_samples[:, np.newaxis]
    expected = share[leaves] if kind is DecisionTreeClassifier else tree.value[leaves]
    np.testing.assert_allclose(tree.predict(X), expected)


def test_counts_are_those_of_scikit_learn() -> None:
    """On a table where both grow the same tree, whatever the order of the nodes."""
    X, y = load_diabetes(return_X_y=True)
    ours = DecisionTreeRegressor(max_depth=3, max_bins=None).fit(X, y).tree_
    theirs = peers.DecisionTreeRegressor(max_depth=3, random_state=0).fit(X, y).tree_
    for name in ("node_count", "max_depth", "n_leaves", "n_features", "n_outputs", "max_n_classes"):
        assert getattr(ours, name) == getattr(theirs, name), name
    np.testing.assert_array_equal(ours.n_classes, theirs.n_classes)
    for name in ("n_node_samples", "weighted_n_node_samples", "impurity", "feature"):
        expected = np.sort(getattr(theirs, name))
        np.testing.assert_allclose(np.sort(getattr(ours, name)), expected, rtol=1e-9, err_msg=name)
    for normalize in (False, True):
        np.testing.assert_allclose(
            ours.compute_feature_importances(normalize),
            theirs.compute_feature_importances(normalize),
            rtol=1e-9,
        )


def test_views_cannot_be_written_to() -> None:
    tree = DecisionTreeClassifier().fit(X, Y).tree_
    names = ("children_left", "children_right", "feature", "n_node_samples")
    for name in (*names, "weighted_n_node_samples"):
        with pytest.raises(ValueError, match="read-only"):
            getattr(tree, name)[0] = 7
    with pytest.raises(AttributeError):
        tree.children_left = np.zeros(3)


def test_missing_cells_that_go_left_are_told() -> None:
    cells = np.array([[1.0], [np.nan], [3.0], [4.0]])
    tree = DecisionTreeClassifier(missing="direction").fit(cells, [0, 0, 1, 1]).tree_
    assert tree.missing_go_to_left.tolist() == [True, False, False]


def test_a_branch_for_each_level_has_no_left_and_right() -> None:
    table, y = mixed_table()
    model = DecisionTreeClassifier(nominal="multiway", max_depth=3).fit(table, y)
    assert model.tree_.node_count == model.tree_.n_nodes
    with pytest.raises(InputError, match=r"one for each level of .*first_child"):
        _ = model.tree_.children_left
    sets = DecisionTreeClassifier(nominal="subset", max_depth=3).fit(table, y).tree_
    inner = sets.children_left >= 0
    np.testing.assert_array_equal(sets.children_right[inner], sets.children_left[inner] + 1)
    # Questions about levels have no threshold.
    assert np.isnan(sets.threshold[sets.question == 2]).all()


def test_rows_of_other_columns_are_refused() -> None:
    tree: Tree = DecisionTreeClassifier().fit(X, Y).tree_
    with pytest.raises(InputError, match="knows 4 columns"):
        tree.apply(X[:, :2])
