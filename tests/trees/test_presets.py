"""Presets by name: their settings, the textbook's trees, and scikit-learn's checks."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.utils.estimator_checks import parametrize_with_checks

from novum.data import load
from novum.trees.classifier import DecisionTreeClassifier
from novum.trees.general.gain_ratio import GainRatio
from novum.trees.presets import c45, cart, id3
from novum.trees.pruning.cost_complexity import CostComplexity
from novum.trees.pruning.pessimistic import Pessimistic


def bundled(name: str) -> tuple[Any, Any]:
    table, target = load(name, frame="pandas")
    return table.drop(columns=target), np.asarray(table[target])


# The validation of the price of a leaf draws rows: weight 2 is not the row twice in a fold.
DRAWN = {
    f"check_sample_weight_equivalence_on_{kind}_data": "rows are drawn into folds"
    for kind in ("dense", "sparse")
}


@parametrize_with_checks(
    [id3(), c45(), cart()],
    legacy=True,
    expected_failed_checks=lambda m: DRAWN if isinstance(m.pruning, CostComplexity) else {},
)
def test_scikit_learn_checks(estimator: Any, check: Callable[[Any], None]) -> None:
    check(estimator)


# --- Settings -------------------------------------------------------------------------------------


def test_settings() -> None:
    first, second, third = id3(), c45(0.1, 5), cart()
    assert (first.criterion, first.nominal, first.pruning) == ("entropy", "multiway", None)
    assert second.criterion == GainRatio(resolution=1e-5)
    assert (second.nominal, second.min_samples_leaf) == ("multiway", 5)
    assert second.pruning == Pessimistic(0.1)
    assert (third.criterion, third.nominal) == ("gini", "subset")
    assert third.pruning == CostComplexity("cross_validation")
    assert all(model.max_bins is None for model in (first, second, third))
    assert all(model.missing == "fractional" for model in (first, second, third))


@pytest.mark.parametrize("preset", [id3, c45, cart])
def test_parameters_take_the_place_of_the_settings(preset: Callable[..., Any]) -> None:
    model = preset(max_depth=2, criterion="gini", min_samples_leaf=4)
    assert isinstance(model, DecisionTreeClassifier)
    assert (model.max_depth, model.criterion, model.min_samples_leaf) == (2, "gini", 4)
    assert clone(model).get_params() == model.get_params()
    with pytest.raises(TypeError, match="unexpected"):
        preset(depth=2)


# --- The textbook's trees -------------------------------------------------------------------------


def test_id3_on_the_weather() -> None:
    """Mitchell 1997, figure 3.1; Quinlan 1986: gains at the root 0.247, 0.152, 0.048, 0.029."""
    X, y = bundled("weather_nominal")
    model = id3().fit(X, y)
    tree = model.tree_
    names = X.columns
    assert names[tree.column[0]] == "outlook"
    by_level = dict(zip(tree.schema.columns[tree.column[0]].levels, tree.branches(0), strict=True))
    overcast, rainy, sunny = (
        tree.first_child[0] + by_level[level] for level in ("overcast", "rainy", "sunny")
    )
    assert tree.is_leaf(overcast)
    assert names[tree.column[rainy]] == "windy"
    assert names[tree.column[sunny]] == "humidity"
    assert (tree.n_leaves, tree.depth) == (5, 2)
    assert tree.gain[0] / 14 == pytest.approx(0.247, abs=5e-4)
    assert tree.impurity[0] == pytest.approx(0.940, abs=5e-4)
    assert model.score(X, y) == 1.0


def test_c45_on_the_nominal_weather() -> None:
    """J48's tree: outlook, then humidity under sunny and windy under rainy, 5 leaves."""
    X, y = bundled("weather_nominal")
    tree = c45().fit(X, y).tree_
    asked = [X.columns[column] for column in tree.column[tree.column >= 0]]
    assert asked[0] == "outlook"
    assert sorted(asked) == ["humidity", "outlook", "windy"]
    assert tree.n_leaves == 5


def test_c45_on_the_numeric_weather() -> None:
    """J48's tree: outlook; sunny: humidity; rainy: windy.

    It prints the largest value of the table at most at the cut, 75; ours is halfway from 70 to 85.
    """
    X, y = bundled("weather_numeric")
    model = c45().fit(X, y)
    tree = model.tree_
    numeric = np.flatnonzero(tree.question == 1)
    assert [X.columns[tree.column[node]] for node in numeric] == ["humidity"]
    assert tree.threshold[numeric].tolist() == [77.5]
    assert tree.n_leaves == 5
    assert model.score(X, y) == 1.0


def test_c45_on_the_contact_lenses() -> None:
    """J48's pruned tree: tear rate, then astigmatism, then prescription; 4 leaves."""
    X, y = bundled("contact_lenses")
    tree = c45().fit(X, y).tree_
    asked = [X.columns[column] for column in tree.column[tree.column >= 0]]
    assert [name.split("_")[0].split("-")[0] for name in asked[:2]] == ["tear", "astigmatism"]
    assert tree.n_leaves == 4


def test_cart_prunes_to_few_leaves() -> None:
    """Breiman's rule of one standard error on iris: petals alone, three or four leaves."""
    X, y = bundled("iris")
    model = cart(random_state=0).fit(X, y)
    assert 3 <= model.get_n_leaves() <= 5
    used = [X.columns[c] for c in np.unique(model.tree_.column[model.tree_.column >= 0])]
    assert all("petal" in name for name in used)
    assert (model.tree_.n_children[model.tree_.question > 0] == 2).all()
    again = cart(random_state=0).fit(X, y)
    assert again.text() == model.text()
