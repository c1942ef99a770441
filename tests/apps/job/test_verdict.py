"""The words: which model, how good, how sure, and what was not done; each for made-up numbers."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from novum.apps.job.choosing import Choice, choose
from novum.apps.job.families import FAMILIES
from novum.apps.job.planning import STACK, TableSize, Wish, plan_trials
from novum.apps.job.record_model import Estimate, SavingRecord
from novum.apps.job.request import Request
from novum.apps.job.table.partition import Parts
from novum.apps.job.verdict import not_done, verdict
from novum.evaluation.measures.catalog import measure
from tests.apps.job.runs import labeled, numbered, plan_of, trials_of
from tests.apps.job.table.tables import task_of

TASK = task_of(**labeled(60))
CONSTANT = (0.50, 0.51, 0.49, 0.50, 0.50)
GOOD = (0.90, 0.91, 0.89, 0.90, 0.92)
WEAK = (0.9, 0.2, 0.8, 0.3, 0.6)


def choice_of(**scores: Any) -> Choice:
    return choose(trials_of(scores), measure("accuracy"), "binary")


def ending_of(**more: Any) -> Any:
    """What the words take from the end of a run."""
    given: dict[str, Any] = {
        "holdout": SimpleNamespace(
            sentences=("Of 12 rows set aside, all are right.", "More."), saving=None, n_rows=12
        ),
        "rows": SimpleNamespace(X=SimpleNamespace(num_rows=48)),
        "n_judged_fit": 48,
        "n_last_fit": 60,
        "unlabelled": None,
        **more,
    }
    return SimpleNamespace(**given)


def parts_of(n_train: int = 48, unlabeled: int = 0) -> Parts:
    return Parts(np.arange(n_train), np.arange(12), np.arange(unlabeled), None, "drawn")


def sure(choice: Choice, saving: SavingRecord | None = None) -> str:
    ending = ending_of()
    ending.holdout.saving = saving
    return verdict(TASK, choice, ending, plan_of("tree"))[2]


def saving_of(low: float, high: float, metric: str = "accuracy") -> SavingRecord:
    saved = Estimate((low + high) / 2, low, high)
    model = Estimate(0.5 + (low + high) / 2, None, None)
    return SavingRecord(metric, "a", model, Estimate(0.5, None, None), saved)


# --- Three sentences ------------------------------------------------------------------------------


def test_which_model_and_how_good() -> None:
    found = verdict(TASK, choice_of(constant=CONSTANT, tree=GOOD), ending_of(), plan_of("tree"))
    assert len(found) == 3
    assert "predict y" in found[0]
    assert "decision tree" in found[0]
    assert "2 models" in found[0]
    assert found[1] == "Of 12 rows set aside, all are right."
    assert found[2] == "It is clearly better than the same answer for every row, on the folds."


def test_without_rows_set_aside_the_folds_speak() -> None:
    plan = plan_of("tree", repeats=2, folds=5)
    found = verdict(TASK, choice_of(constant=CONSTANT, tree=GOOD), ending_of(holdout=None), plan)[1]
    assert "accuracy is 0.904 [0.8" in found
    assert "2 x 5 folds" in found
    assert "no rows were set aside" in found


def test_how_sure() -> None:
    worse = tuple(np.array(GOOD) - 0.2 - 0.01 * np.arange(len(GOOD)))
    clear = choice_of(constant=CONSTANT, tree=GOOD, linear=worse)
    assert sure(clear).endswith("better than the same answer for every row, on the folds, and than "
                                "every other model that was tried.")  # fmt: skip
    near = tuple(np.array(GOOD) - [0.01, -0.01, 0.02, -0.01, 0.01])
    assert "1 of the 2 other models cannot be told apart" in sure(
        choice_of(constant=CONSTANT, tree=GOOD, linear=near, forest=worse)
    )
    assert sure(choice_of(constant=CONSTANT, tree=WEAK)).startswith("These rows do not prove")
    assert sure(choice_of(constant=GOOD, tree=CONSTANT)).startswith("No model was better")


def test_the_planned_comparison_is_made_on_the_folds_and_on_the_rows_set_aside() -> None:
    clear, weak = choice_of(constant=CONSTANT, tree=GOOD), choice_of(constant=CONSTANT, tree=WEAK)
    ahead, unsure = saving_of(0.1, 0.5), saving_of(-0.1, 0.5)
    assert "on the folds and on the rows set aside" in sure(clear, ahead)
    assert "the rows set aside are too few to show it" in sure(clear, unsure)
    assert "the folds alone do not prove it" in sure(weak, ahead)
    assert sure(weak, unsure).startswith("These rows do not prove")


def test_other_models_do_not_weaken_the_planned_comparison() -> None:
    """No correction for pairs that nobody asked about."""
    alone = choice_of(constant=CONSTANT, tree=(0.58, 0.52, 0.57, 0.56, 0.60))
    crowd = {name: tuple(np.array(WEAK) - 0.1) for name in ("linear", "forest", "svm", "boosting")}
    among = choice_of(constant=CONSTANT, tree=(0.58, 0.52, 0.57, 0.56, 0.60), **crowd)
    constant = next(row for row in alone.leaderboard if row.family == "constant")
    same = next(row for row in among.leaderboard if row.family == "constant")
    assert (same.p_value, same.difference) == (constant.p_value, constant.difference)


def test_a_win_by_the_same_amount_on_every_fold_is_a_win() -> None:
    even = choice_of(constant=(0.5,) * 5, tree=(1.0,) * 5)
    assert sure(even).startswith("It is clearly better")


def test_a_measure_that_was_asked_for_leads() -> None:
    cost = task_of(request=Request("t.csv", "y", cost_fn=5.0, cost_fp=1.0), **labeled(60))
    ending = ending_of()
    model, constant = Estimate(0.3125, None, None), Estimate(0.7, None, None)
    saved = Estimate(0.3875, 0.25, 0.52)
    ending.holdout.saving = SavingRecord("bayes_risk", "a", model, constant, saved)
    choice = choice_of(constant=CONSTANT, tree=GOOD)
    assert verdict(cost, choice, ending, plan_of("tree"))[1] == (
        "A decision costs 0.312 on average on 12 rows set aside; the best single action for all "
        "would cost 0.7, so that 0.39 [0.25, 0.52] is saved each time."
    )
    f1 = task_of(request=Request("t.csv", "y", metric="f1"), **labeled(60))
    found = verdict(f1, choice, ending, plan_of("tree"))[1]
    assert found.startswith("Its f1 on 12 rows set aside is 0.312; the same answer")


def test_the_sentence_is_about_the_chosen_model_and_not_about_the_stack_before_it() -> None:
    """A stack that is ahead by too little is not taken; its own test says nothing of the taken."""
    stack = (0.610, 0.611, 0.609, 0.610, 0.610)
    single = (0.95, 0.30, 0.90, 0.25, 0.645)
    assert np.mean(stack) > np.mean(single)
    choice = choice_of(constant=CONSTANT, tree=single, stack=stack)
    assert choice.family == "tree"
    assert choice.leaderboard[0].family == STACK
    # Five scores between 0.25 and 0.95 do not prove anything against 0.5.
    assert sure(choice).startswith("These rows do not prove")


# --- What was not done ----------------------------------------------------------------------------


def omitted(plan: Any = None, task: Any = TASK, parts: Any = None, **more: Any) -> tuple[str, ...]:
    return not_done(plan or plan_of("tree"), task, parts or parts_of(), ending_of(**more))


def test_a_whole_run_has_nothing_to_say() -> None:
    assert omitted() == ()


@pytest.mark.parametrize("kind", ["binary", "regression"])
def test_every_family_left_out_is_named_with_its_reason(kind: str) -> None:
    size = TableSize(10**6, 40, 4000, 2, 400, True, True)
    plan = plan_trials(size, Wish(kind, "standard", 1e-6, 0), 1.0)
    found = omitted(plan, TASK if kind == "binary" else task_of(**numbered(60)))
    # Whoever has no learner of the kind at all is not missed.
    able = {STACK, *(row.name for row in FAMILIES if row.role(kind) is not None)}
    left = [one for one in plan.trials if one.status != "planned" and one.family in able]
    assert len(found) == len(left) == len(able) - 2
    for one, sentence in zip(left, found, strict=True):
        title = one.title[0].upper() + one.title[1:]
        assert sentence.startswith(f"{title} was not tried: it "), "a name keeps its capitals"
        assert sentence.endswith(".")
        assert "it its" not in sentence
    assert sum("raise --budget" in sentence for sentence in found) > 0


def test_samples_are_said_with_their_numbers() -> None:
    parts = parts_of(100_000)
    rows = SimpleNamespace(X=SimpleNamespace(num_rows=20_000))
    found = omitted(parts=parts, rows=rows, n_judged_fit=50_000, n_last_fit=40)
    assert "20,000 of the 100,000 training rows" in found[0]
    assert "drawn at random" in found[0]
    assert "50,000 of the 100,000" in found[1]
    assert "from 40 rows" in found[2]
    assert len(found) == 3


def test_the_latest_rows_are_not_called_drawn_at_random() -> None:
    parts = parts_of(100_000)
    rows = SimpleNamespace(X=SimpleNamespace(num_rows=20_000))
    timed = replace_order(TASK)
    found = omitted(task=timed, parts=parts, rows=rows, n_judged_fit=100_000)
    assert "20,000" in found[0]
    assert "at random" not in found[0]


def replace_order(task: Any) -> Any:
    import copy

    timed = copy.copy(task)
    object.__setattr__(timed, "order", np.arange(task.n_rows))
    return timed


def test_groups_and_time_have_no_learning_curve() -> None:
    (found,) = omitted(task=replace_order(TASK))
    assert "earning curve" in found
    assert "time" in found


def test_rows_without_target_and_without_a_hold_out() -> None:
    found = omitted(parts=parts_of(unlabeled=3), holdout=None)
    assert found[0].startswith("3 rows without a target took no part in learning")
    assert found[1].startswith("No rows were set aside")


def test_one_row_is_not_rows() -> None:
    assert omitted(parts=parts_of(unlabeled=1))[0].startswith("1 row without")


def test_titles_come_from_the_plan() -> None:
    plan = plan_of("tree")
    plan = replace(plan, trials=(replace(plan.trials[0], title="yew", status="is too green"),))
    assert omitted(plan) == ("Yew was not tried: it is too green.",)
    plan = replace(plan, trials=(replace(plan.trials[0], status="was stopped"),))
    assert omitted(plan) == ("Yew was not finished: it was stopped.",)
