"""The last fits: the settings of a search by hand, how many rows they may have, and which."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import accuracy_score
from sklearn.model_selection import RepeatedStratifiedKFold

from novum.apps.job.families import family
from novum.apps.job.job import metric_of
from novum.apps.job.last_fits import (
    FEWEST_FITTED,
    SHARE_OF_A_FIT,
    fitted,
    most_rows,
    sampled,
    settled,
)
from novum.apps.job.planning import STACK, TableSize, price
from novum.apps.job.trials import LearningRows, Trials
from novum.evaluation.validation.fold_fits import FoldRun
from novum.evaluation.validation.splits import plan_splits
from novum.trees import DecisionTreeClassifier
from tests.apps.job.runs import labeled, plan_of
from tests.apps.job.table.tables import task_of

SIZE = TableSize(1000, 10, 10, 2, 400, False, False)
NO_TRIALS = Trials(plan_splits(np.zeros((4, 1)), None, 2), {}, ())


def rows_of(n: int = 90, **more: Any) -> tuple[LearningRows, Any]:
    task = task_of(**labeled(n, **more))
    return LearningRows.of(task, task.rows()), metric_of(task)


# --- Settings -------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(4))
def test_the_candidate_is_that_of_the_inner_folds_on_all_rows(seed: int) -> None:
    rows, metric = rows_of(seed=seed)
    plan = plan_of("tree", n_candidates=4)
    model, chosen = settled("tree", plan, NO_TRIALS, rows, metric)
    folds = RepeatedStratifiedKFold(n_splits=3, n_repeats=1, random_state=0)
    means = []
    for leaf in (5, 2, 10, 25):
        scores = []
        for train, test in folds.split(np.zeros(90), rows.y):
            tree = DecisionTreeClassifier(min_samples_leaf=leaf, random_state=0)
            tree.fit(rows.X.take(pa.array(train)), rows.y[train])
            scores.append(accuracy_score(rows.y[test], tree.predict(rows.X.take(pa.array(test)))))
        means.append(np.mean(scores))
    # Sums of thirds differ in the last bit; equal means go to the preferred one.
    best = int(np.argmax(np.round(means, 12)))
    assert chosen == {"tree": best}
    assert model.get_params()["min_samples_leaf"] == (5, 2, 10, 25)[best]
    assert not hasattr(model, "tree_")


def test_one_candidate_needs_no_search() -> None:
    rows, metric = rows_of()
    model, chosen = settled("linear", plan_of("linear"), NO_TRIALS, rows, metric)
    assert chosen == {"linear": 0}
    assert model.get_params()["learner__C"] == 1.0


def test_a_stack_has_the_members_and_settings_of_most_folds() -> None:
    rows, metric = rows_of()

    def runs(*numbers: int) -> tuple[FoldRun, ...]:
        return tuple(FoldRun({}, facts={"candidate": number}) for number in numbers)

    trials = Trials(
        plan_splits(np.zeros((9, 1)), None, 3),
        {
            "linear": runs(2, 2, 1),
            "tree": runs(3, 1, 3),
            "forest": runs(0, 0, 0),
            "naive_bayes": runs(0, 0, 0),
        },
        (("linear", "tree", "forest"), ("tree", "naive_bayes"), ("linear", "tree", "naive_bayes")),
    )
    model, chosen = settled(STACK, plan_of("tree"), trials, rows, metric)
    # The tree three times, linear and naive Bayes twice, of equals the one tried first.
    assert chosen == {"tree": 3, "linear": 2, "naive_bayes": 0}
    members = dict(model.estimators)
    assert members["tree"].get_params()["min_samples_leaf"] == 25
    assert members["linear"].get_params()["learner__C"] == 10.0


def test_weights_reach_the_last_search_and_the_last_fit() -> None:
    rows, metric = rows_of(120, seed=6)
    weighted = replace(rows, weight=np.where(np.arange(120) < 60, 1.0, 0.0))
    half = LearningRows(rows.kind, rows.X.slice(0, 60), rows.y[:60])
    plain = fitted(DecisionTreeClassifier(), half)
    with_zeros = fitted(DecisionTreeClassifier(), weighted)
    np.testing.assert_allclose(
        with_zeros.predict_proba(rows.X), plain.predict_proba(rows.X), rtol=1e-12
    )
    every = fitted(DecisionTreeClassifier(), rows)
    assert not np.array_equal(every.predict_proba(rows.X), plain.predict_proba(rows.X))
    settled("tree", plan_of("tree", n_candidates=2), NO_TRIALS, weighted, metric)


# --- How many rows --------------------------------------------------------------------------------


def test_what_fits_the_budget_is_not_cut() -> None:
    assert most_rows({"tree": 0}, plan_of("tree"), SIZE, "binary") == 1000


@pytest.mark.parametrize("factor", [1.0, 4.0])
@pytest.mark.parametrize("name", ["forest", "tree", "linear"])
def test_rows_are_halved_until_a_fit_fits(name: str, factor: float) -> None:
    plan = plan_of(name, budget_seconds=60.0, machine_factor=factor)
    size = replace(SIZE, n_rows=40_000_000)
    role = family(name).classification
    assert role is not None
    allowed = SHARE_OF_A_FIT * 60.0 / factor
    expected = 40_000_000
    while price(role.price, replace(size, n_rows=expected)) > allowed:
        expected //= 2
    assert expected < 40_000_000
    assert most_rows({name: 0}, plan, size, "binary") == expected


def test_a_stack_pays_for_its_members_on_inner_folds_too() -> None:
    plan = plan_of("tree", budget_seconds=60.0, inner_folds=3)
    size = replace(SIZE, n_rows=4_000_000)
    chosen = {"forest": 0, "linear": 1}
    allowed = SHARE_OF_A_FIT * 60.0
    expected = 4_000_000
    prices = [family(name).classification.price for name in chosen]  # type: ignore[union-attr]
    while 4 * sum(price(one, replace(size, n_rows=expected)) for one in prices) > allowed:
        expected //= 2
    assert most_rows(chosen, plan, size, "binary") == max(expected, FEWEST_FITTED)


def test_a_floor_holds_however_small_the_budget_is() -> None:
    plan = plan_of("forest", budget_seconds=1e-9)
    large = replace(SIZE, n_rows=10**6)
    assert most_rows({"forest": 0}, plan, large, "binary") == FEWEST_FITTED
    assert most_rows({"forest": 0}, plan, SIZE, "binary") == SIZE.n_rows


# --- Which rows -----------------------------------------------------------------------------------


@given(
    n_rows=st.integers(1, 300),
    wanted=st.integers(1, 400),
    seed=st.integers(0, 5),
    in_time=st.booleans(),
)
def test_samples_are_different_rows_in_their_order(
    n_rows: int, wanted: int, seed: int, in_time: bool
) -> None:
    found = sampled(n_rows, wanted, seed, in_time, "trials")
    assert len(found) == min(n_rows, wanted)
    assert (np.diff(found) > 0).all()
    assert set(found.tolist()) <= set(range(n_rows))
    np.testing.assert_array_equal(found, sampled(n_rows, wanted, seed, in_time, "trials"))
    if in_time and wanted < n_rows:
        assert found.tolist() == list(range(n_rows - wanted, n_rows))


def test_uses_and_seeds_draw_other_rows() -> None:
    first = sampled(1000, 100, 0, False, "trials").tolist()
    assert first != sampled(1000, 100, 1, False, "trials").tolist()
    assert first != sampled(1000, 100, 0, False, "last fit").tolist()


def test_every_row_is_drawn_equally_often() -> None:
    """2000 draws of 5 of 20: each row 500 times, within five standard deviations (19.4 each)."""
    counts = np.zeros(20)
    for seed in range(2000):
        counts[sampled(20, 5, seed, False, "trials")] += 1
    assert np.abs(counts - 500).max() < 5 * np.sqrt(2000 * 0.25 * 0.75)
