"""Weak learners of AdaBoost: the two kinds beside each other, seeds, and refusals."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier as SklearnTree

from novum.core.errors import InputError
from novum.core.runtime import seed_sequence
from novum.core.tables import Sample, Schema, TrainingRows
from novum.ensemble.adaboost_learners import (
    FittedLearning,
    StumpLearning,
    Votes,
    refuse_unweighted,
    seeded,
)
from novum.numerics import Floats, Integers, Positions
from novum.trees.stumps.stump_growing import StumpRules

NONE = np.empty(0, np.intp)


def rows_and_labels(n: int = 80) -> tuple[Floats, Integers]:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, 3))
    return X, np.digitize(X[:, 0] + X[:, 1] ** 2 + 0.3 * rng.normal(size=n), [0.3, 1.5])


def both(others: Positions = NONE) -> tuple[StumpLearning, FittedLearning]:
    """Stumps on codes, and stumps of scikit-learn, on the same rows."""
    X, y = rows_and_labels()
    classes, weight = np.arange(3), np.linspace(0.5, 2.0, len(y))
    rows = np.setdiff1d(np.arange(len(y)), others)
    sample = Sample(Schema.of_array(3), X, np.empty((len(y), 0), np.int32), y, classes, weight)
    training = TrainingRows(X, y, classes, weight, None, (X, y), classes)
    stumps = StumpLearning(sample, rows, others, StumpRules())
    root = seed_sequence(0)
    return stumps, FittedLearning(SklearnTree(max_depth=1), training, rows, others, root)


def test_both_kinds_teach_the_same() -> None:
    held_out = np.arange(0, 80, 4)
    pair = both(held_out)
    for step in (0.7, 1.3, -0.4, 2.0, 0.1):
        first, second = (weak.learn() for weak in pair)
        assert first == pytest.approx(second, rel=1e-9)
        for weak in pair:
            weak.keep(step)
        assert pair[0].score() == pytest.approx(pair[1].score())
        for weak in pair:
            weak.reweigh(step)
    for count in (2, 5):
        (stumps, wrong), (trees, also_wrong) = (weak.committee(count) for weak in pair)
        assert len(stumps) == len(trees) == count
        assert wrong == pytest.approx(also_wrong)


def test_weights_never_vanish_and_never_overflow() -> None:
    pair = both()
    for _ in range(300):
        for weak in pair:
            assert 0.0 < weak.learn() < 1.0
            weak.keep(1.0)
            weak.reweigh(300.0)
    assert pair[1].learn() > 0


def test_votes_by_hand() -> None:
    votes = Votes(np.array([0, 1, 1]), np.array([1.0, 1.0, 2.0]), 2)
    votes.add(np.array([0, 0, 1]), 1.0)
    assert votes.score() == 0.75
    votes.add(np.array([1, 1, 1]), 1.5)
    assert votes.score() == 0.75
    votes.add(np.array([0, 1, 1]), 1.0)
    assert votes.score() == 1.0


def test_random_states_of_steps_differ_by_round_and_repeat() -> None:
    base = make_pipeline(StandardScaler(), RandomForestClassifier())
    root = seed_sequence(7)
    name = "randomforestclassifier__random_state"
    states = [seeded(base, root, number).get_params()[name] for number in (0, 1, 0)]
    assert states[0] == states[2] != states[1]
    assert base.get_params()[name] is None


@pytest.mark.parametrize(
    "base", [KNeighborsClassifier(), make_pipeline(StandardScaler(), LogisticRegression())]
)
def test_learners_without_weights_are_named(base: Any) -> None:
    with pytest.raises(InputError, match=f"{type(base).__name__} doesn't support sample_weight"):
        refuse_unweighted(base)
    refuse_unweighted(LogisticRegression())


def test_a_failing_round_says_which_it_was() -> None:
    class Second(SklearnTree):
        fits = 0

        def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Any:
            Second.fits += 1
            if Second.fits == 2:
                raise ValueError("no")
            return super().fit(X, y, sample_weight)

    X, y = rows_and_labels()
    training = TrainingRows(X, y, np.arange(3), None, None, (X, y), np.arange(3))
    weak = FittedLearning(Second(max_depth=1), training, np.arange(len(y)), NONE, seed_sequence(0))
    weak.learn()
    weak.keep(1.0)
    with pytest.raises(ValueError, match="no") as caught:
        weak.learn()
    assert "round 2" in caught.value.__notes__[0]
