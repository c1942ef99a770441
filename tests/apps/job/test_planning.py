"""Plans by hand, and what every plan must keep: it fits the budget or cannot be made smaller."""

from __future__ import annotations

import itertools
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from novum.apps.job import planning
from novum.apps.job.families import FAMILIES, Price, family
from novum.apps.job.planning import (
    ENOUGH_ROWS,
    FEWEST_ROWS,
    PLANNED,
    PRESETS,
    SHARE_OF_TRIALS,
    STACK,
    STACK_MEMBERS,
    TableSize,
    Wish,
    plan_trials,
    price,
    speed_probe,
)
from novum.apps.job.record import PlannedTrial, PlanRecord
from novum.core.errors import InputError

SIZE = TableSize(1000, 10, 12, 2, 400, False, False)
NO_LIMIT = 1e9


def wish(**more: object) -> Wish:
    given: dict[str, object] = {
        "kind": "binary",
        "preset": "standard",
        "budget_seconds": NO_LIMIT,
        "seed": 0,
        **more,
    }
    return Wish(**given)  # type: ignore[arg-type]


def trial(plan: PlanRecord, name: str) -> PlannedTrial:
    return next(one for one in plan.trials if one.family == name)


def tried(plan: PlanRecord) -> list[str]:
    return [one.family for one in plan.trials if one.status == PLANNED]


def seconds(plan: PlanRecord) -> float:
    return sum(one.forecast_seconds for one in plan.trials)


# --- Prices ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        # 0.5 + 1000 (0.001 + 0.0001 * 10)
        ({}, 2.5),
        # The work twice for two classes more, not the fixed part.
        ({"n_classes": 4}, 0.5 + 2.0 * 4**1.0 / 2**1.0),
        ({"has_missing": True}, 0.5 + 3 * 2.0),
        ({"has_nominal": True}, 0.5 + 4 * 2.0),
        ({"has_missing": True, "has_nominal": True}, 0.5 + 12 * 2.0),
        ({"n_rows": 2000}, 0.5 + 4.0),
        ({"n_columns": 20}, 0.5 + 3.0),
    ],
)
def test_prices_by_hand(changes: dict[str, Any], expected: float) -> None:
    given = Price(0.5, 0.0005, 0.00005, class_power=1.0, missing_factor=3.0, nominal_factor=4.0)
    assert price(given, replace(SIZE, **changes)) == pytest.approx(expected, rel=1e-12)


def test_pairs_of_rows_can_have_a_price() -> None:
    given = Price(0.5, 0.0, 0.0, per_pair=1e-6)
    assert price(given, SIZE) == pytest.approx(0.5 + SIZE.n_rows**2 * 1e-6, rel=1e-12)


@given(
    rows=st.integers(1, 10**6),
    columns=st.integers(1, 5000),
    classes=st.integers(1, 100),
    more=st.integers(0, 10**6),
)
def test_a_larger_table_never_costs_less(rows: int, columns: int, classes: int, more: int) -> None:
    small = TableSize(rows, columns, columns, classes, 1, False, False)
    for row in FAMILIES:
        for role in (row.classification, row.regression):
            if role is None:
                continue
            cost = price(role.price, small)
            assert cost > 0
            assert price(role.price, replace(small, n_rows=rows + more)) >= cost
            assert price(role.price, replace(small, n_columns=columns + more)) >= cost
            assert price(role.price, replace(small, n_classes=classes + more)) >= cost
            assert price(role.price, replace(small, has_missing=True)) >= cost


# --- Plans by hand --------------------------------------------------------------------------------


def test_with_time_enough_the_preset_is_planned() -> None:
    plan = plan_trials(SIZE, wish(), 1.0)
    assert (plan.repeats, plan.folds, plan.inner_folds) == (2, 5, 3)
    # 2 x 5 outer folds, in each 4 candidates on 3 inner folds and one fit to all.
    assert trial(plan, "tree").n_fits == 10 * (4 * 3 + 1)
    assert trial(plan, "gaussian").n_fits == 10 * (3 * 3 + 1)
    # One candidate needs no inner folds.
    assert trial(plan, "naive_bayes").n_fits == 10
    one = 0.0013 + 1000 * (4.5e-8 + 8.6e-8 * 10) * 2**0.3
    # The settings of forests matter little: half as many.
    assert trial(plan, "forest").n_fits == 10 * (2 * 3 + 1)
    assert trial(plan, "tree").forecast_seconds == pytest.approx(130 * one, rel=1e-12)
    able = [row.name for row in FAMILIES if row.classification is not None]
    assert tried(plan) == [*able, STACK]
    assert {one.n_rows for one in plan.trials if one.status == PLANNED} == {1000}


@pytest.mark.parametrize(
    ("preset", "expected"),
    [("quick", (1, 5, 3, 1)), ("standard", (2, 5, 3, 4)), ("thorough", (5, 10, 5, 4))],
)
def test_presets(preset: str, expected: tuple[int, ...]) -> None:
    plan = plan_trials(SIZE, wish(preset=preset), 1.0)
    found = (plan.repeats, plan.folds, plan.inner_folds, trial(plan, "tree").n_candidates)
    assert found == expected


def test_a_slower_machine_has_larger_forecasts_of_the_same_plan() -> None:
    plan, slow = plan_trials(SIZE, wish(), 1.0), plan_trials(SIZE, wish(), 8.0)
    assert seconds(slow) == pytest.approx(8 * seconds(plan), rel=1e-12)
    assert [one.n_fits for one in slow.trials] == [one.n_fits for one in plan.trials]
    assert slow.machine_factor == 8.0
    # With a budget that binds, twice as slow is as good as half the budget.
    half = plan_trials(SIZE, wish(budget_seconds=10.0), 1.0)
    same = plan_trials(SIZE, wish(budget_seconds=20.0), 2.0)
    assert [(t.n_fits, t.n_rows, t.status) for t in half.trials] == [
        (t.n_fits, t.n_rows, t.status) for t in same.trials
    ]


def test_what_is_given_up_and_in_which_order() -> None:
    """With a budget a little below the need of each plan, the next one is found."""
    seen = [plan_trials(SIZE, wish(preset="thorough"), 1.0)]
    for _ in range(40):
        need = seconds(seen[-1]) / SHARE_OF_TRIALS
        plan = plan_trials(SIZE, wish(preset="thorough", budget_seconds=0.999 * need), 1.0)
        if tried(plan) == tried(seen[-1]) and seconds(plan) == seconds(seen[-1]):
            break
        seen.append(plan)
    efforts = [
        (p.repeats, p.inner_folds, max(t.n_candidates for t in p.trials), p.folds) for p in seen
    ]
    assert efforts[:4] == [(5, 5, 5, 10), (4, 5, 5, 10), (3, 5, 5, 10), (2, 5, 5, 10)]
    assert efforts[4:9] == [(2, 3, 5, 10), (2, 3, 3, 10), (1, 3, 3, 10), (1, 3, 3, 5), (1, 3, 2, 5)]
    # Then near relatives and the stack, then all settings but the preferred, then the dearest.
    near = {row.name for row in FAMILIES if row.has_near_relative} & set(tried(seen[0]))
    assert {*near, STACK} <= set(tried(seen[8]))
    spared = next(i for i, p in enumerate(seen) if not {*near, STACK} & set(tried(p)))
    assert set(efforts[8 : spared + 1]) == {(1, 3, 2, 5)}
    assert efforts[spared + 1] == (1, 3, 1, 5)
    for before, after in itertools.pairwise(seen[spared + 1 :]):
        dearest = max(before.trials, key=lambda one: one.forecast_seconds)
        assert set(tried(before)) - set(tried(after)) == {dearest.family}
    assert len(tried(seen[-1])) == 2
    assert "constant" in tried(seen[-1])


def test_many_rows_are_cut_before_families_and_never_below_the_floor() -> None:
    size = replace(SIZE, n_rows=1_000_000, smallest_class=400_000)
    plan = plan_trials(size, wish(budget_seconds=60.0), 1.0)
    rows = {one.n_rows for one in plan.trials if one.status == PLANNED}
    assert len(rows) == 1
    assert FEWEST_ROWS <= rows.pop() < 1_000_000
    least = plan_trials(size, wish(budget_seconds=1e-6), 1.0)
    assert {one.n_rows for one in least.trials if one.status == PLANNED} == {FEWEST_ROWS}
    assert len(tried(least)) == 2
    middle = plan_trials(replace(size, n_rows=30_000), wish(budget_seconds=1000.0), 8.0)
    assert {one.n_rows for one in middle.trials if one.status == PLANNED} <= {30_000, ENOUGH_ROWS}


def test_a_family_priced_by_pairs_is_given_up_before_the_rows_of_all() -> None:
    size = replace(SIZE, n_rows=100_000, smallest_class=40_000)
    plan = plan_trials(size, wish(budget_seconds=1000.0), 1.0)
    assert trial(plan, "svm").status.startswith("its fits do not fit the budget")
    pairs = ("svm", "neighbors", "constant")
    others = tuple(row.name for row in FAMILIES if row.name not in pairs)
    without = plan_trials(size, wish(budget_seconds=1000.0, models=others), 1.0)
    assert trial(plan, "tree") == trial(without, "tree")
    # Who names it gets it, on fewer rows.
    named = plan_trials(size, wish(budget_seconds=1000.0, models=("svm", "tree")), 1.0)
    assert trial(named, "svm").status == PLANNED
    assert trial(named, "svm").n_rows < 100_000
    assert trial(plan_trials(SIZE, wish(), 1.0), "svm").status == PLANNED


def test_what_the_user_said_is_not_given_up() -> None:
    plan = plan_trials(SIZE, wish(budget_seconds=1e-6, repeats=7, folds=9), 1.0)
    assert (plan.repeats, plan.folds) == (7, 9)
    assert trial(plan, "constant").n_fits == 63


def test_families_that_do_not_fit_say_why() -> None:
    plan = plan_trials(replace(SIZE, has_nominal=True, n_coded=3001), wish(), 1.0)
    assert trial(plan, "model_tree").status == "has no learner for binary"
    assert trial(plan, "gaussian").status.startswith("takes numbers alone")
    assert trial(plan, "linear").status == "would need 3001 columns, more than its 3000"
    left = [one for one in plan.trials if one.status != PLANNED]
    assert {(one.n_candidates, one.n_fits, one.forecast_seconds) for one in left} == {(0, 0, 0.0)}
    numbers = plan_trials(SIZE, wish(kind="regression"), 1.0)
    assert trial(numbers, "naive_bayes").status == "has no learner for regression"
    assert trial(numbers, "linear").title == "ridge regression"


def test_chosen_families_come_with_the_constant_answer() -> None:
    plan = plan_trials(SIZE, wish(models=("tree", "linear")), 1.0)
    assert [one.family for one in plan.trials] == ["constant", "linear", "tree", STACK]


def test_a_stack_is_priced_as_if_its_members_were_of_the_dearer_half() -> None:
    plan = plan_trials(SIZE, wish(models=("tree", "linear", "forest", "boosting")), 1.0)
    dearest = sorted(
        price(family(name).classification.price, SIZE)  # type: ignore[union-attr]
        for name in ("tree", "linear", "forest", "boosting")
    )[-STACK_MEMBERS:]
    # Each on three inner folds and on all rows, in every outer fold.
    expected = plan.repeats * plan.folds * (3 + 1) * sum(dearest)
    assert trial(plan, STACK).forecast_seconds == pytest.approx(expected, rel=1e-9)
    all_of_them = plan_trials(SIZE, wish(), 1.0)
    stacked = [one for one in all_of_them.trials if one.status == PLANNED and one.family != STACK]
    each = sorted(
        one.forecast_seconds / one.n_fits for one in stacked if family(one.family).can_be_stacked
    )
    half = each[-(len(each) // 2) :]
    found = trial(all_of_them, STACK)
    assert found.forecast_seconds / found.n_fits == pytest.approx(np.mean(half), rel=1e-9)
    alone = plan_trials(SIZE, wish(models=("tree",)), 1.0)
    assert trial(alone, STACK).status == "needs two families"
    together = plan_trials(replace(SIZE, n_groups=20), wish(), 1.0)
    assert "groups" in trial(together, STACK).status


def test_a_family_that_is_none_is_named_with_all_there_are() -> None:
    with pytest.raises(InputError, match=r"no family 'svn'.*constant, linear, .*boosting"):
        plan_trials(SIZE, wish(models=("tree", "svn")), 1.0)


@pytest.mark.parametrize(
    ("smallest", "folds", "inner"), [(1, 2, 2), (2, 2, 2), (4, 4, 3), (9, 5, 3)]
)
def test_small_classes_have_fewer_folds(smallest: int, folds: int, inner: int) -> None:
    plan = plan_trials(replace(SIZE, smallest_class=smallest), wish(), 1.0)
    assert (plan.folds, plan.inner_folds) == (folds, inner)


def test_many_rows_need_no_repeats() -> None:
    assert plan_trials(replace(SIZE, n_rows=5000), wish(), 1.0).repeats == 2
    assert plan_trials(replace(SIZE, n_rows=5001), wish(), 1.0).repeats == 1


# --- Properties -----------------------------------------------------------------------------------

sizes = st.builds(
    TableSize,
    n_rows=st.integers(10, 2 * 10**6),
    n_columns=st.integers(1, 5000),
    n_coded=st.integers(1, 8000),
    n_classes=st.integers(2, 100),
    smallest_class=st.integers(1, 1000),
    has_missing=st.booleans(),
    has_nominal=st.booleans(),
)
wishes = st.builds(
    wish,
    kind=st.sampled_from(["binary", "multiclass", "regression"]),
    preset=st.sampled_from(sorted(PRESETS)),
    budget_seconds=st.floats(0.01, 1e5),
    repeats=st.none() | st.integers(1, 10),
    folds=st.none() | st.integers(2, 10),
)
factors = st.floats(0.1, 30)


@settings(max_examples=100)
@given(size=sizes, asked=wishes, factor=factors)
def test_a_plan_fits_or_nothing_is_left_to_give_up(
    size: TableSize, asked: Wish, factor: float
) -> None:
    plan = plan_trials(size, asked, factor)
    names = tried(plan)
    assert names
    assert [one.family for one in plan.trials] == [*(row.name for row in FAMILIES), STACK]
    # Rounding of the sum, which is compared before it is multiplied by the factor.
    if seconds(plan) > SHARE_OF_TRIALS * asked.budget_seconds * (1 + 1e-9):
        assert len(names) <= 2
        assert {one.n_candidates for one in plan.trials if one.status == PLANNED} == {1}
        assert {one.n_rows for one in plan.trials if one.status == PLANNED} <= {
            min(size.n_rows, FEWEST_ROWS),
            size.n_rows if size.n_rows <= FEWEST_ROWS else FEWEST_ROWS,
        }
    for one in plan.trials:
        if one.family == STACK and one.status == PLANNED:
            assert one.n_fits == plan.repeats * plan.folds * (plan.inner_folds + 1) * min(
                STACK_MEMBERS, len(names) - 2
            )
        elif one.status == PLANNED:
            role = family(one.family).role(asked.kind)
            assert role is not None
            each = price(role.price, replace(size, n_rows=one.n_rows))
            assert one.forecast_seconds == pytest.approx(factor * one.n_fits * each, rel=1e-9)
            searched = plan.inner_folds * one.n_candidates if one.n_candidates > 1 else 0
            assert one.n_fits == plan.repeats * plan.folds * (searched + 1)
            assert one.n_rows <= size.n_rows
        else:
            assert one.n_fits == 0


@given(size=sizes, asked=wishes, factor=factors)
def test_plans_are_functions_of_their_arguments(
    size: TableSize, asked: Wish, factor: float
) -> None:
    assert plan_trials(size, asked, factor) == plan_trials(size, asked, factor)


@given(size=sizes, asked=wishes, more=st.floats(1.0, 100.0))
def test_a_larger_budget_never_plans_less(size: TableSize, asked: Wish, more: float) -> None:
    small = plan_trials(size, asked, 1.0)
    large = plan_trials(size, replace(asked, budget_seconds=more * asked.budget_seconds), 1.0)
    assert set(tried(small)) <= set(tried(large))
    assert seconds(small) <= seconds(large) * (1 + 1e-9)
    assert large.repeats >= small.repeats
    assert trial(large, "constant").n_rows >= trial(small, "constant").n_rows


# --- The probe ------------------------------------------------------------------------------------


def test_the_probe_gives_powers_of_the_root_of_two() -> None:
    found = speed_probe()
    power = 2 * np.log2(found)
    assert power == pytest.approx(round(power), abs=1e-9)


@pytest.mark.parametrize(("taken", "expected"), [(0.011, 1.0), (0.022, 2.0), (0.0156, 2**0.5)])
def test_the_probe_compares_with_the_machine_of_the_prices(
    monkeypatch: pytest.MonkeyPatch, taken: float, expected: float
) -> None:
    ticks = iter([t for k in range(5) for t in (10.0 * k, 10.0 * k + taken * (1 + (k != 2)))])
    monkeypatch.setattr(planning.time, "process_time", lambda: next(ticks))
    assert speed_probe() == pytest.approx(expected, rel=1e-12)


def test_neighbors_need_a_cell_in_every_row() -> None:
    size = TableSize(100, 5, 5, 2, 40, True, False, n_empty=1)
    trials = {trial.family: trial for trial in plan_trials(size, wish(), 1.0).trials}
    assert trials["neighbors"].status.endswith("without any known cell, of which there are 1")
    assert trials["tree"].n_fits
