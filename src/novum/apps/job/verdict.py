"""What a run comes to in words: three sentences, and what was not done."""

from __future__ import annotations

import math
from collections.abc import Iterator

from novum.apps.job.choosing import CLEAR, Choice, is_told_apart
from novum.apps.job.ending import Ending
from novum.apps.job.families import family
from novum.apps.job.planning import CONSTANT, PLANNED, STACK
from novum.apps.job.record import PlanRecord, Standing
from novum.apps.job.record_model import Estimate, SavingRecord
from novum.apps.job.table.partition import Parts
from novum.apps.job.table.task import Task
from novum.apps.job.unlabelled import UnlabelledUse
from novum.core.text import printable
from novum.display import about, counted, interval_texts
from novum.evaluation import measure


def verdict(task: Task, choice: Choice, ending: Ending, plan: PlanRecord) -> tuple[str, ...]:
    """Which model, how good, how sure."""
    chosen = next(row for row in choice.leaderboard if row.is_chosen)
    first = (
        f"Of {counted(len(choice.leaderboard), 'model')}, {chosen.title} is chosen to predict "
        f"{printable(task.target, 80)}."
    )
    sentences = first, _how_good(task, chosen, ending, plan), _how_sure(choice, chosen, ending)
    use = ending.unlabelled
    if use is None or not use.helps:
        return sentences
    return (
        *sentences,
        f"It has also learned from {counted(use.X.num_rows, 'row')} without a target, because that "
        f"makes its {measure(task.metric).label} better by {_gain(use)} on folds of rows with one.",
    )


def _how_good(task: Task, chosen: Standing, ending: Ending, plan: PlanRecord) -> str:
    """In the measure that was asked for, and on the rows set aside if there are any."""
    label = measure(task.metric).label
    holdout = ending.holdout
    if holdout is None:
        return (
            f"Its {label} is {_shown(chosen.score)} over {plan.repeats} x {plan.folds} folds; no "
            "rows were set aside to judge it once more."
        )
    saving = None if chosen.family == CONSTANT else holdout.saving
    if saving is None or task.metric in ("accuracy", "rmse", "mean_level_error"):
        costs = (one for one in holdout.sentences if one.startswith("A decision costs"))
        return next(costs, holdout.sentences[0])
    rows, own, same = counted(holdout.n_rows, "row"), saving.model.value, saving.constant.value
    if task.metric == "bayes_risk":
        return (
            f"A decision costs {about(own)} on average on {rows} set aside; the best single "
            f"action for all would cost {about(same)}, so that {_shown(saving.saved)} is saved "
            "each time."
        )
    return (
        f"Its {label} on {rows} set aside is {about(own)}; the same answer for every row has "
        f"{about(same)}."
    )


def _how_sure(choice: Choice, chosen: Standing, ending: Ending) -> str:
    if len(choice.leaderboard) == 1:
        return "It is the only model that was tried, so nothing is known of how others would do."
    if chosen.family == CONSTANT:
        return (
            "No model was better than the same answer for every row: these rows do not show that "
            "the columns say anything about it."
        )
    if choice.comparison is None and choice.planned is None:
        return "Whether it is better than the others was not tested."
    start = _against_constant(choice, ending.holdout.saving if ending.holdout else None)
    rivals = [row for row in choice.leaderboard if row.family not in (CONSTANT, chosen.family)]
    if not rivals:
        return f"{start}."
    near = [row for row in rivals if not is_told_apart(row)]
    if not near:
        return f"{start}, and than every other model that was tried."
    if len(near) == len(rivals):
        shown = "the only other model" if len(near) == 1 else f"none of the {len(near)} others"
        return (
            f"{start}; {shown} can{'not' if len(near) == 1 else ''} be told apart from it on "
            "the folds."
        )
    return f"{start}; {len(near)} of the {len(rivals)} other models cannot be told apart from it."


def _against_constant(choice: Choice, saving: SavingRecord | None) -> str:
    """One planned comparison, on the folds and on the rows set aside."""
    planned = choice.planned
    if planned is None:
        return "Whether it is better than the same answer for every row was not tested"
    constant = next(row for row in choice.leaderboard if row.family == CONSTANT)
    p_value, difference = planned.corrected.p_value, float(planned.difference.estimate)
    is_ahead = planned.is_first_ahead == (planned.second == constant.title) and difference != 0
    # Differences that are the same on every fold have no spread to test by.
    on_folds = is_ahead and (math.isnan(p_value) or p_value < CLEAR)
    on_aside = saving is not None and saving.saved.low is not None and saving.saved.low > 0
    same = "the same answer for every row"
    if on_folds and (saving is None or on_aside):
        where = "on the folds" if saving is None else "on the folds and on the rows set aside"
        return f"It is clearly better than {same}, {where}"
    if on_folds:
        return (
            f"It is clearly better than {same} on the folds; the rows set aside are too few to "
            "show it"
        )
    if on_aside:
        return f"It is better than {same} on the rows set aside; the folds alone do not prove it"
    return f"These rows do not prove that it is better than {same}"


def not_done(plan: PlanRecord, task: Task, parts: Parts, ending: Ending) -> tuple[str, ...]:
    """What a reader might expect and did not get, with the reason."""
    return tuple(_omissions(plan, task, parts, ending))


def _omissions(plan: PlanRecord, task: Task, parts: Parts, ending: Ending) -> Iterator[str]:
    for trial in plan.trials:
        has_role = trial.family == STACK or family(trial.family).role(task.kind) is not None
        if trial.status != PLANNED and has_role:
            title = trial.title[0].upper() + trial.title[1:]
            tried = "finished" if trial.status.startswith("was stopped") else "tried"
            yield f"{title} was not {tried}: it {_clause(trial.status)}."
    n_train, n_tried = len(parts.train), ending.rows.X.num_rows
    if n_tried < n_train:
        way = "drawn at random" if task.order is None else "the latest ones"
        yield (
            f"Models were compared on {n_tried:,} of the {n_train:,} training rows, {way}, so that "
            "the budget holds; raise --budget to use more."
        )
    if ending.n_judged_fit < n_train:
        yield (
            f"The judged model has learned from {ending.n_judged_fit:,} of the {n_train:,} "
            "training rows, for the same reason."
        )
    if 0 < ending.n_last_fit < len(task.labeled):
        yield f"The model for use has learned from {ending.n_last_fit:,} rows."
    if task.groups is not None or task.order is not None:
        yield ("No learning curve was drawn: its folds know neither groups nor time.")
    if len(parts.unlabeled):
        yield _about_unlabelled(len(parts.unlabeled), task, ending)
    if ending.holdout is None:
        yield "No rows were set aside, so the numbers are those of the cross-validation alone."


def _about_unlabelled(n: int, task: Task, ending: Ending) -> str:
    rows, use = f"{n:,} row{'' if n == 1 else 's'} without a target", ending.unlabelled
    if use is not None and use.helps:
        return (
            f"{rows} could not be judged on; {use.X.num_rows:,} of them were learned from, and "
            "predictions.csv has the predictions of all."
        )
    why = ""
    if use is not None:
        label = measure(task.metric).label
        why = (
            f": with {use.X.num_rows:,} of them the {label} would be better by {_gain(use)} on the "
            "folds, which is no clear gain"
        )
    return f"{rows} took no part in learning{why}; predictions.csv has the predictions."


def _gain(use: UnlabelledUse) -> str:
    value, ends = interval_texts(use.gain.estimate, use.gain.low, use.gain.high)
    return f"{value} {ends}" if ends else value


def _clause(status: str) -> str:
    return status if not status.startswith("its ") else f"was left out because {status}"


def _shown(score: Estimate) -> str:
    value, ends = interval_texts(score.value, score.low, score.high)
    return f"{value} {ends}" if ends else value
