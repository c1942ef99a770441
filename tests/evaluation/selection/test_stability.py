"""Stability: the definition, chance level, coverage, selectors of any kind."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.model_selection import ShuffleSplit
from sklearn.pipeline import make_pipeline

from novum.bayes import GaussianNB
from novum.core.errors import InputError
from novum.data.scaling import StandardScaler
from novum.evaluation.selection.column_tests import AssociationTest
from novum.evaluation.selection.filters import SelectKBest
from novum.evaluation.selection.stability import selection_stability, stability_index
from tests.evaluation.selection import definitions
from tests.evaluation.selection.selection_tables import mixed_frame, two_classes

choices = st.integers(2, 8).flatmap(
    lambda d: st.lists(st.lists(st.integers(0, 1), min_size=d, max_size=d), min_size=2, max_size=10)
)


@given(choices)
def test_index_is_the_definition(chosen: list[list[int]]) -> None:
    found = stability_index(chosen).estimate
    if len({x for row in chosen for x in row}) == 1:
        assert np.isnan(found)
        return
    assert found == pytest.approx(definitions.stability(chosen), abs=1e-12)
    assert found <= 1


def test_chance_has_index_zero_whatever_the_number_chosen() -> None:
    rng = np.random.default_rng(0)
    for k in (2, 10, 18):
        found = []
        for _ in range(100):
            Z = np.zeros((20, 20), int)
            for row in Z:
                row[rng.permutation(20)[:k]] = 1
            found.append(stability_index(Z).estimate)
        # The mean of 100 indices, each with an error of about 0.05.
        assert abs(np.mean(found)) < 0.02


def test_interval_covers_the_population_index() -> None:
    """Columns chosen independently with known shares: coverage of 95 % within four errors."""
    rng = np.random.default_rng(1)
    share = np.array([0.95, 0.9, 0.8, 0.3, 0.2, 0.1, 0.05, 0.05])
    q = share.mean()
    exact = 1 - (share * (1 - share)).mean() / (q * (1 - q))
    hits = [stability_index(rng.random((60, 8)) < share).covers(exact) for _ in range(400)]
    assert abs(np.mean(hits) - 0.95) < 4 * np.sqrt(0.95 * 0.05 / 400)


def test_counts_and_verdicts() -> None:
    X, y = two_classes(100, 6, signal=3.0)
    stable = selection_stability(SelectKBest(k=1), X, y, cv="2x5")
    assert stable.counts == {"x0": 10, **{f"x{j}": 0 for j in range(1, 6)}}
    assert stable.index == 1
    assert stable.verdict.startswith("Stable")
    noise = np.random.default_rng(0).normal(size=(60, 40))
    shaky = selection_stability(
        SelectKBest(k=3),
        noise,
        np.arange(60) % 2,
        cv=ShuffleSplit(20, train_size=0.5, random_state=0),
    )
    assert shaky.index < 0.4
    assert shaky.verdict.startswith("Poor")
    assert shaky.frequency.sum() == pytest.approx(3)
    assert "stability" in repr(shaky)
    everything = selection_stability(SelectKBest(k="all"), X, y)
    assert np.isnan(everything.index)
    assert "nothing to compare" in everything.verdict


def test_frames_and_pipelines() -> None:
    frame, y = mixed_frame()
    found = selection_stability(SelectKBest(AssociationTest(), k=2), frame, y, cv=5)
    assert found.counts["color"] == 5
    X, labels = two_classes()
    chain = make_pipeline(StandardScaler(), SelectKBest(k=1), GaussianNB())
    assert selection_stability(chain, X, labels).counts["x0"] == 5
    with pytest.raises(InputError, match="0 steps that choose columns"):
        selection_stability(make_pipeline(StandardScaler(), GaussianNB()), X, labels)


def test_any_number_of_jobs_gives_the_same() -> None:
    X, y = two_classes()
    a, b = (selection_stability(SelectKBest(k=2), X, y, n_jobs=n) for n in (1, 3))
    np.testing.assert_array_equal(a.chosen, b.chosen)


def test_pictures() -> None:
    pytest.importorskip("matplotlib").use("Agg")
    import matplotlib.pyplot as plt

    X, y = two_classes()
    ax = selection_stability(SelectKBest(k=2), X, y).plot(most=3)
    assert len(ax.patches) == 3
    plt.close(ax.figure)


def test_one_choice_cannot_be_compared() -> None:
    with pytest.raises(InputError, match="at least two choices"):
        stability_index([[1, 0, 1]])
