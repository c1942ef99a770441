"""Trials against nested cross-validation written out by hand with scikit-learn's folds."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import accuracy_score, root_mean_squared_error
from sklearn.model_selection import (
    GroupKFold,
    RepeatedKFold,
    RepeatedStratifiedKFold,
    TimeSeriesSplit,
)

from novum.apps.job.clock import Clock, Silent
from novum.apps.job.job import metric_of
from novum.apps.job.planning import STACK, STACK_MEMBERS
from novum.apps.job.trials import (
    LearningRows,
    Trials,
    best_members,
    outer_splits,
    run_trials,
    stack_of,
    tuned,
)
from novum.evaluation.search.grid import GridSearchCV
from novum.numerics import best_of
from novum.trees import DecisionTreeClassifier, DecisionTreeRegressor
from tests.apps.job.runs import (
    StopError,
    labeled,
    numbered,
    plan_of,
    rows_of,
    task_and_parts,
    write_csv,
)
from tests.apps.job.table.tables import task_of

LEAVES = (5, 2, 10, 25)


def scores(trials: Trials, name: str) -> list[float]:
    return [run.scores["metric"] for run in trials.runs[name]]


@pytest.fixture
def fits(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Rows of every fit of a classification tree."""
    seen: list[int] = []
    fit = DecisionTreeClassifier.fit

    def counted(self: Any, X: Any, y: Any, *more: Any, **named: Any) -> Any:
        seen.append(len(y))
        return fit(self, X, y, *more, **named)

    monkeypatch.setattr(DecisionTreeClassifier, "fit", counted)
    return seen


# --- The same scores as by hand -------------------------------------------------------------------


def by_hand(X: pa.Table, y: Any, outer: Any, inner: Any, learner: Any, score: Any) -> list[Any]:
    """(score, candidate, inner score, predictions) on each outer fold, by plain loops."""
    found = []
    for train, test in outer.split(np.zeros(len(y)), y):
        X_train, y_train = X.take(pa.array(train)), y[train]
        means = []
        for leaf in LEAVES[:2]:
            on_folds = []
            for fit, judge in inner.split(np.zeros(len(train)), y_train):
                model = learner(min_samples_leaf=leaf, random_state=5)
                model.fit(X_train.take(pa.array(fit)), y_train[fit])
                on_folds.append(score(y_train[judge], model.predict(X_train.take(pa.array(judge)))))
            means.append(np.mean(on_folds))
        best = best_of(means)  # equal but for rounding is equal
        model = learner(min_samples_leaf=LEAVES[best], random_state=5).fit(X_train, y_train)
        answer = model.predict(X.take(pa.array(test)))
        found.append((score(y[test], answer), best, means[best], answer))
    return found


def test_nested_cross_validation_of_classes(tmp_path: Path) -> None:
    rows, metric = rows_of(**labeled(120, "abc", seed=1))
    plan = plan_of("tree", n_candidates=2, repeats=2, folds=4, inner_folds=3, seed=5)
    trials = run_trials(plan, rows, metric, tmp_path)
    outer = RepeatedStratifiedKFold(n_splits=4, n_repeats=2, random_state=5)
    inner = RepeatedStratifiedKFold(n_splits=3, n_repeats=1, random_state=0)
    expected = by_hand(rows.X, rows.y, outer, inner, DecisionTreeClassifier, accuracy_score)
    assert scores(trials, "tree") == pytest.approx([one[0] for one in expected], rel=1e-12)
    facts = [run.facts for run in trials.runs["tree"]]
    assert [fact["candidate"] for fact in facts] == [one[1] for one in expected]
    assert {fact["candidate"] for fact in facts} == {0, 1}
    inner_scores = [one[2] for one in expected]
    assert [fact["inner_score"] for fact in facts] == pytest.approx(inner_scores, rel=1e-12)
    labels = np.unique(rows.y)
    for run, one in zip(trials.runs["tree"], expected, strict=True):
        assert run.output is not None
        assert labels[run.output.argmax(axis=1)].tolist() == one[3].tolist()


def test_nested_cross_validation_of_numbers(tmp_path: Path) -> None:
    rows, metric = rows_of(**numbered(100, seed=2))
    plan = plan_of("tree", n_candidates=2, repeats=1, folds=5, inner_folds=3, seed=5)
    trials = run_trials(plan, rows, metric, tmp_path)
    outer = RepeatedKFold(n_splits=5, n_repeats=1, random_state=5)
    inner = RepeatedKFold(n_splits=3, n_repeats=1, random_state=0)

    def score(y: Any, predicted: Any) -> float:
        return -float(root_mean_squared_error(y, predicted))

    expected = by_hand(rows.X, rows.y, outer, inner, DecisionTreeRegressor, score)
    assert scores(trials, "tree") == pytest.approx([one[0] for one in expected], rel=1e-10)
    for run, one in zip(trials.runs["tree"], expected, strict=True):
        assert run.output is not None
        np.testing.assert_allclose(run.output, one[3], rtol=1e-12)


def test_weights_count_in_fits_and_in_scores(tmp_path: Path) -> None:
    columns = labeled(80, seed=3)
    weight = np.where(np.arange(80) % 4 == 0, 3.0, 0.5)
    rows, metric = rows_of(**columns)
    rows = replace(rows, weight=weight)
    trials = run_trials(plan_of("tree", folds=4), rows, metric, tmp_path)
    outer = RepeatedStratifiedKFold(n_splits=4, n_repeats=1, random_state=0)
    for run, (train, test) in zip(
        trials.runs["tree"], outer.split(np.zeros(80), rows.y), strict=True
    ):
        model = DecisionTreeClassifier(min_samples_leaf=5, random_state=0)
        model.fit(rows.X.take(pa.array(train)), rows.y[train], sample_weight=weight[train])
        answer = model.predict(rows.X.take(pa.array(test)))
        expected = accuracy_score(rows.y[test], answer, sample_weight=weight[test])
        assert run.scores["metric"] == pytest.approx(expected, rel=1e-12)


def test_the_stack_of_a_fold_is_made_of_what_its_inner_folds_chose(tmp_path: Path) -> None:
    rows, metric = rows_of(**labeled(90, seed=4))
    plan = plan_of("constant", "tree", "linear", STACK, n_candidates=2, folds=3)
    trials = run_trials(plan, rows, metric, tmp_path)
    assert list(trials.runs) == ["constant", "tree", "linear", STACK]
    for number, (train, test) in enumerate(trials.splits.folds):
        facts = {name: trials.runs[name][number].facts for name in ("tree", "linear")}
        order = sorted(facts, key=lambda name: -facts[name]["inner_score"])
        assert list(trials.stacked[number]) == order
        stack = stack_of({n: facts[n]["candidate"] for n in order}, plan, rows)
        stack.fit(rows.X.take(pa.array(train)), rows.y[train])
        expected = accuracy_score(rows.y[test], stack.predict(rows.X.take(pa.array(test))))
        assert trials.runs[STACK][number].scores["metric"] == expected


# --- Folds ----------------------------------------------------------------------------------------


def test_all_families_share_the_folds_of_scikit_learn(tmp_path: Path) -> None:
    rows, metric = rows_of(**labeled(60))
    plan = plan_of("constant", "tree", "naive_bayes", repeats=2, folds=3, seed=8)
    found = outer_splits(plan, rows)
    expected = RepeatedStratifiedKFold(n_splits=3, n_repeats=2, random_state=8)
    pairs = list(expected.split(np.zeros(60), rows.y))
    for (train, test), (wanted_train, wanted_test) in zip(found.folds, pairs, strict=True):
        assert train.tolist() == wanted_train.tolist()
        assert test.tolist() == wanted_test.tolist()
    trials = run_trials(plan, rows, metric, tmp_path)
    assert trials.splits.fingerprint == found.fingerprint
    for runs in trials.runs.values():
        assert [run.n_test for run in runs] == [len(test) for _, test in found.folds]


def test_no_group_is_on_both_sides() -> None:
    columns = {**labeled(90), "g": [f"g{i % 11}" for i in range(90)]}
    rows, metric = grouped_rows(columns, group="g")
    splits = outer_splits(plan_of("tree", folds=5), rows)
    for train, test in splits.folds:
        assert not set(rows.groups[train]) & set(rows.groups[test])
    wanted = GroupKFold(5).split(np.zeros(90), rows.y, rows.groups)
    assert [test.tolist() for _, test in splits.folds] == [test.tolist() for _, test in wanted]
    search = tuned(plan_of("tree", n_candidates=2), "tree", rows, metric)
    assert isinstance(search, GridSearchCV)
    assert isinstance(search.cv, GroupKFold)


def test_inner_folds_keep_groups_together_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    columns = {**labeled(90), "g": [f"g{i % 11}" for i in range(90)]}
    rows, metric = grouped_rows(columns, group="g")
    group_of = dict(zip(rows.X.column("u").to_pylist(), rows.groups, strict=True))
    seen: list[set[int]] = []
    fit = DecisionTreeClassifier.fit

    def spied(self: Any, X: Any, y: Any, *more: Any, **named: Any) -> Any:
        seen.append({group_of[value] for value in X.column("u").to_pylist()})
        assert len(y) == sum(np.isin(rows.groups, list(seen[-1])))
        return fit(self, X, y, *more, **named)

    monkeypatch.setattr(DecisionTreeClassifier, "fit", spied)
    plan = plan_of("tree", n_candidates=2, folds=3, inner_folds=2)
    run_trials(plan, rows, metric, tmp_path)
    assert len(seen) == 3 * (2 * 2 + 1)


def test_time_is_never_turned_back() -> None:
    columns = {**labeled(60), "t": np.random.default_rng(0).permutation(60) + 0.5}
    rows, _ = grouped_rows(columns, time="t")
    splits = outer_splits(plan_of("tree", folds=4), rows)
    for train, test in splits.folds:
        assert train.max() < test.min()
    wanted = TimeSeriesSplit(4).split(np.zeros(60))
    assert [test.tolist() for _, test in splits.folds] == [test.tolist() for _, test in wanted]


def test_no_group_is_on_both_sides_where_there_is_a_time_too() -> None:
    columns = {
        **labeled(90),
        "g": [f"g{i % 9}" for i in range(90)],
        "t": np.arange(90) + 0.5,
    }
    rows, _ = grouped_rows(columns, group="g", time="t")
    for train, test in outer_splits(plan_of("tree", folds=3), rows).folds:
        assert not set(rows.groups[train]) & set(rows.groups[test])


def grouped_rows(columns: Any, **roles: str) -> tuple[LearningRows, Any]:
    from novum.apps.job.request import Request
    from novum.apps.job.table.partition import set_aside

    request = Request("t.csv", "y", holdout=0.0, **roles)  # type: ignore[arg-type]
    task = task_of(request=request, **columns)
    parts = set_aside(task, request)
    return LearningRows.of(task, task.rows(parts.train)), metric_of(task)


# --- Going on -------------------------------------------------------------------------------------


def test_finished_folds_are_not_repeated(tmp_path: Path, fits: list[int]) -> None:
    rows, metric = rows_of(**labeled(60))
    plan = plan_of("tree", n_candidates=2, folds=3)
    first = run_trials(plan, rows, metric, tmp_path)
    assert len(fits) == 3 * (2 * 3 + 1)
    fits.clear()
    again = run_trials(plan, rows, metric, tmp_path)
    assert fits == []
    assert scores(again, "tree") == scores(first, "tree")
    for before, after in zip(first.runs["tree"], again.runs["tree"], strict=True):
        np.testing.assert_array_equal(before.output, after.output)
        assert before.facts == after.facts


def test_a_family_that_was_finished_is_kept_when_the_next_is_stopped(
    tmp_path: Path, fits: list[int]
) -> None:
    rows, metric = rows_of(**labeled(60))
    plan = plan_of("tree", "naive_bayes", STACK, folds=3)

    class Stop(Silent):
        def step(self, title: str, done: int, total: int) -> None:
            assert total == 3
            if done == 1:
                raise StopError(title)

    with pytest.raises(StopError, match="naive_bayes"):
        run_trials(plan, rows, metric, tmp_path, clock=Clock(None, Stop()))
    assert len(fits) == 3
    fits.clear()
    run_trials(plan, rows, metric, tmp_path)
    # Only those inside the stack, which fits its members on inner folds and on all rows.
    assert len(fits) == 3 * (3 + 1)


def test_the_number_of_jobs_changes_nothing(tmp_path: Path) -> None:
    rows, metric = rows_of(**labeled(60))
    plan = plan_of("tree", "forest", STACK, n_candidates=1, folds=3)
    found = []
    for n_jobs in (1, 3):
        (tmp_path / str(n_jobs)).mkdir()
        found.append(run_trials(plan, rows, metric, tmp_path / str(n_jobs), n_jobs=n_jobs))
    for name in found[0].runs:
        for one, other in zip(found[0].runs[name], found[1].runs[name], strict=True):
            assert one.scores == other.scores
            np.testing.assert_array_equal(one.output, other.output)


def test_progress_is_told_family_by_family(tmp_path: Path) -> None:
    rows, metric = rows_of(**labeled(60))
    told: list[tuple[str, int, int]] = []
    shares: list[float] = []

    class Told(Silent):
        def step(self, title: str, done: int, total: int) -> None:
            told.append((title, done, total))

        def advance(self, share: float) -> None:
            shares.append(share)

    run_trials(
        plan_of("constant", "tree", "naive_bayes", STACK),
        rows,
        metric,
        tmp_path,
        clock=Clock(None, Told()),
    )
    assert told == [
        ("constant", 0, 4),
        ("tree", 1, 4),
        ("naive_bayes", 2, 4),
        (STACK, 3, 4),
        ("", 4, 4),
    ]


def test_left_out_families_are_not_run(tmp_path: Path) -> None:
    rows, metric = rows_of(**labeled(60))
    plan = plan_of("constant", "tree", "forest")
    out = replace(plan.trials[2], status="too dear")
    plan = replace(plan, trials=(*plan.trials[:2], out))
    assert list(run_trials(plan, rows, metric, tmp_path).runs) == ["constant", "tree"]


def test_any_two_families_make_a_stack(tmp_path: Path) -> None:
    rows, metric = rows_of(**numbered(60))
    plan = plan_of("constant", "model_tree", "extra_trees", STACK, folds=2)
    trials = run_trials(plan, rows, metric, tmp_path)
    assert {len(members) for members in trials.stacked} == {2}


# --- Members of a stack ---------------------------------------------------------------------------

facts = st.fixed_dictionaries(
    {"candidate": st.integers(0, 4), "inner_score": st.none() | st.floats(-5, 5)}
)
families = st.sampled_from(["linear", "tree", "forest", "boosting", "naive_bayes", "extra_trees"])


@given(known=st.dictionaries(families, facts, min_size=2))
def test_members_are_the_best_by_the_inner_folds(known: dict[str, Any]) -> None:
    found = best_members(known)
    assert len(found) <= STACK_MEMBERS
    assert set(found) <= set(known)
    for name, number in found.items():
        assert number == known[name]["candidate"]
    judged = [name for name in known if known[name]["inner_score"] is not None]
    if len(judged) > 1:
        assert len(found) == min(STACK_MEMBERS, len(judged))
        worst = min(known[name]["inner_score"] for name in found)
        others = [known[name]["inner_score"] for name in judged if name not in found]
        assert all(score <= worst for score in others)


@given(known=st.dictionaries(families, facts, min_size=2))
def test_a_stack_has_two_members_at_least(known: dict[str, Any]) -> None:
    assert len(best_members(known)) >= 2


def test_rows_of_a_task(tmp_path: Path) -> None:
    from tests.apps.job.runs import quick

    columns = {**labeled(60), "w": [0.5, 2.0] * 30}
    columns["u"][0] = None
    request = quick(write_csv(tmp_path / "t.csv", columns), weight="w")
    task, parts = task_and_parts(request)
    rows = LearningRows.of(task, task.rows(parts.train))
    assert rows.is_classification
    assert rows.weight.tolist() == [columns["w"][i] for i in parts.train]
    assert (rows.groups, rows.in_time) == (None, False)
    assert rows.X.column_names == ["u", "v", "noise", "c"]
