"""Mutual information: scikit-learn's estimates, the definitions, closed forms, missing cells."""

from __future__ import annotations

from functools import partial
from itertools import permutations
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import special, stats
from sklearn import feature_selection as theirs

from novum.core.errors import InputError
from novum.evaluation.selection.filters import SelectKBest
from novum.evaluation.selection.mutual_information import (
    MutualInformation,
    information_of_codes,
    information_of_groups,
    information_of_numbers,
    mutual_info_classif,
    mutual_info_regression,
)
from tests.evaluation.selection import definitions
from tests.evaluation.selection.selection_tables import two_classes

rng = np.random.default_rng(0)


@pytest.mark.parametrize("k", [1, 3, 5])
def test_numbers_are_scikit_learns(k: int) -> None:
    X, y = two_classes(150, 4)
    z = X[:, 0] + 0.5 * rng.normal(size=150)
    # Theirs are cut off at zero, and add noise of 1e-10 to break ties.
    np.testing.assert_allclose(
        np.maximum(mutual_info_classif(X, y, n_neighbors=k), 0),
        theirs.mutual_info_classif(X, y, n_neighbors=k, random_state=0),
        atol=1e-9,
    )
    np.testing.assert_allclose(
        np.maximum(mutual_info_regression(X, z, n_neighbors=k), 0),
        theirs.mutual_info_regression(X, z, n_neighbors=k, random_state=0),
        atol=1e-9,
    )


def test_codes_are_scikit_learns() -> None:
    C = rng.integers(0, 4, (120, 3)).astype(float)
    y = (C[:, 0] + rng.integers(0, 2, 120)).astype(int)
    z = C[:, 1] + rng.normal(size=120)
    for ours, other, target in (
        (mutual_info_classif, theirs.mutual_info_classif, y),
        (mutual_info_regression, theirs.mutual_info_regression, z),
    ):
        np.testing.assert_allclose(
            np.maximum(ours(C, target, discrete_features=True), 0),
            other(C, target, discrete_features=True, random_state=0),
            atol=1e-9,
        )


def test_they_serve_as_score_functions_with_arguments() -> None:
    X, y = two_classes(100, 4)
    model = SelectKBest(partial(mutual_info_classif, n_neighbors=5, random_state=0), k=1)
    assert model.fit(X, y).get_support().tolist() == [True, False, False, False]


def test_estimates_are_the_definitions() -> None:
    a, b = rng.integers(0, 3, 40).tolist(), rng.integers(0, 2, 40).tolist()
    assert information_of_codes(np.array(a), np.array(b), "plug_in") == pytest.approx(
        definitions.mutual_information(a, b), abs=1e-12
    )
    x = rng.normal(size=40)
    groups = rng.integers(0, 3, 40)
    assert information_of_groups(x, groups, 3) == pytest.approx(
        definitions.information_of_groups(x.tolist(), groups.tolist(), 3), abs=1e-12
    )


def test_closed_forms_are_recovered() -> None:
    n = 4000
    x, noise = rng.normal(size=(2, n))
    # Normal pairs of correlation 0.8: -log(1 - 0.64) / 2 = 0.511, with an error of about 0.02.
    exact = -0.5 * np.log(1 - 0.64)
    assert information_of_numbers(x, 0.8 * x + 0.6 * noise) == pytest.approx(exact, abs=0.08)
    # A grid of steps far below the spread changes little, though most pairs repeat.
    coarse = np.round(4 * x), np.round(4 * (0.8 * x + 0.6 * noise))
    assert information_of_numbers(*coarse) == pytest.approx(exact, abs=0.1)
    assert information_of_numbers(np.round(2 * x), np.round(2 * noise)) == pytest.approx(
        0, abs=0.05
    )
    # Two groups two deviations apart: H(Y) - H(Y | X) = 0.336 nats by quadrature.
    groups = np.arange(n) % 2
    assert information_of_groups(noise + 2 * groups, groups) == pytest.approx(0.3363, abs=0.05)
    # Numbers that are codes have the information of codes.
    levels = rng.integers(0, 4, n)
    assert information_of_groups(levels.astype(float), levels) == pytest.approx(np.log(4), abs=0.01)
    assert information_of_numbers(levels * 1.0, levels * 1.0) == pytest.approx(np.log(4), abs=0.01)


def test_ties_and_units_do_not_matter() -> None:
    x = np.round(rng.normal(size=200), 1)
    groups = rng.integers(0, 2, 200)
    # Powers of two change no rounding, so the neighbors are the same.
    assert information_of_groups(x * 1024, groups) == information_of_groups(x, groups)


@pytest.mark.slow
@given(
    st.lists(st.sampled_from([0.1, 0.2, 0.3, 0.7]), min_size=4, max_size=6),
    st.integers(1, 3),
    st.data(),
)
def test_shuffled_classes_have_no_information(x: list[float], k: int, data: st.DataObject) -> None:
    """Over all orders of the classes the mean is exactly 0, whatever the ties are."""
    labels = data.draw(st.sampled_from([[0, 1], [0, 0, 1]]))
    groups = (labels * 6)[: len(x)]
    shuffled = [information_of_groups(np.array(x), np.array(g), k) for g in permutations(groups)]
    assert np.mean(shuffled) == pytest.approx(0, abs=1e-12)


@pytest.mark.parametrize("decimals", [0, 1, 2, 6])
def test_rounded_noise_has_no_information(decimals: int) -> None:
    draws = np.random.default_rng(1)
    X = draws.normal(size=(600, 20)).round(decimals)
    y, z = draws.integers(0, 3, 600), draws.normal(size=600).round(decimals)
    # 20 estimates of standard error 0.02 (classes) and 0.04 (numbers).
    assert abs(mutual_info_classif(X, y).mean()) < 4 * 0.02 / np.sqrt(20)
    assert abs(mutual_info_regression(X, z).mean()) < 4 * 0.04 / np.sqrt(20)


def test_the_informative_column_is_chosen_among_rounded_noise() -> None:
    draws = np.random.default_rng(2)
    y = draws.integers(0, 3, 600)
    X = np.column_stack([draws.normal(size=600).round(2), draws.normal(size=600) + 0.7 * y])
    model = SelectKBest(MutualInformation(), k=1).fit(X, y)
    assert model.get_support().tolist() == [False, True]


def test_rounded_numbers_have_the_information_of_the_rounded_law() -> None:
    draws = np.random.default_rng(3)
    y = draws.integers(0, 2, 5000)
    x = (draws.normal(size=5000) + 1.5 * y).round(0)
    edges = np.arange(-40.5, 41)
    cells = np.array([np.diff(stats.norm.cdf(edges, mean)) / 2 for mean in (0, 1.5)])
    exact = np.sum(special.xlogy(cells, cells / (cells.sum(axis=0) / 2 + 1e-300)))
    assert information_of_groups(x, y) == pytest.approx(exact, abs=0.03)
    # The same numbers in decimal units, where differences of equal steps differ by rounding.
    assert information_of_groups(x / 10, y) == pytest.approx(information_of_groups(x, y), abs=1e-12)


# --- Missing cells --------------------------------------------------------------------------------


def test_missing_cells_count_by_the_chain_rule() -> None:
    y = np.arange(200) % 2
    color = np.where(y == 1, "a", "b").astype(object)
    color[:100] = None
    X = pd.DataFrame({"color": color})
    plug = {"estimator": "plug_in"}
    # Half of the cells say all: half of log 2. Which are missing says nothing.
    assert MutualInformation(**plug)(X, y)[0] == pytest.approx(np.log(2) / 2, abs=1e-12)
    assert MutualInformation(missing="known", **plug)(X, y)[0] == pytest.approx(np.log(2))


@pytest.mark.parametrize("kind", ["codes", "numbers"])
def test_absence_itself_may_tell(kind: str) -> None:
    y = np.arange(100) % 2
    cells: Any = (
        rng.choice(["a", "b"], 100).astype(object)
        if kind == "codes"
        else rng.normal(size=100).astype(object)
    )
    cells[y == 1] = None
    X = pd.DataFrame({"x": cells if kind == "codes" else cells.astype(float)})
    found = MutualInformation(estimator="plug_in")(X, y)[0]
    # Known cells belong to one class only, so all information is in whether they are known.
    assert found == pytest.approx(np.log(2), abs=1e-9)


def test_absence_against_numbers() -> None:
    y = rng.normal(size=300)
    x = np.where(y > 0, rng.normal(size=300), np.nan)
    assert MutualInformation()(pd.DataFrame({"x": x}), y)[0] == pytest.approx(np.log(2), abs=0.1)


def test_a_group_of_one_row_is_left_out() -> None:
    x = rng.normal(size=41)
    groups = np.r_[np.arange(40) % 2, 7]
    assert information_of_groups(x, groups) == information_of_groups(x[:40], groups[:40])
    assert information_of_groups(x[:2], np.array([0, 1])) == 0


@pytest.mark.parametrize(
    ("more", "message"),
    [
        ({"target": "labels"}, "target is 'auto'"),
        ({"missing": "drop"}, "missing is 'recorded'"),
        ({"n_neighbors": 0}, "at least 1"),
    ],
)
def test_odd_parameters(more: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        MutualInformation(**more)
