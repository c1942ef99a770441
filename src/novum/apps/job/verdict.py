"""What a run comes to in words: three sentences, and what was not done."""

from __future__ import annotations

from collections.abc import Iterator

from novum.apps.job.choosing import Choice
from novum.apps.job.ending import Ending
from novum.apps.job.families import family
from novum.apps.job.planning import CONSTANT, PLANNED, STACK
from novum.apps.job.record import Estimate, PlanRecord, Standing
from novum.apps.job.table.partition import Parts
from novum.apps.job.table.task import Task
from novum.core.text import printable
from novum.evaluation import measure

_CLEAR = 0.05


def verdict(task: Task, choice: Choice, ending: Ending, plan: PlanRecord) -> tuple[str, ...]:
    """Which model, how good, how sure."""
    chosen = next(row for row in choice.leaderboard if row.is_chosen)
    label = measure(task.metric).label
    count = len(choice.leaderboard)
    first = (
        f"Of {count} model{'' if count == 1 else 's'}, {chosen.title} is chosen to predict "
        f"{printable(task.target, 80)}."
    )
    if ending.holdout is None:
        second = (
            f"Its {label} is {_shown(chosen.score)} over {plan.repeats} x {plan.folds} folds; no "
            "rows were set aside to judge it once more."
        )
    else:
        second = ending.holdout.sentences[0]
    return first, second, _how_sure(choice, chosen)


def _how_sure(choice: Choice, chosen: Standing) -> str:
    if len(choice.leaderboard) == 1:
        return "It is the only model that was tried, so nothing is known of how others would do."
    if chosen.family == CONSTANT:
        return (
            "No model was better than the same answer for every row: these rows do not show that "
            "the columns say anything about it."
        )
    if choice.comparison is None:
        return "Whether it is better than the others was not tested."
    others = [row for row in choice.leaderboard if row.family != chosen.family]
    beaten = any(row.family == CONSTANT and _is_beaten(row, chosen, choice) for row in others)
    rivals = [row for row in others if row.family != CONSTANT]
    near = [row for row in rivals if not _is_told_apart(row, chosen, choice)]
    start = (
        "It is clearly better than the same answer for every row"
        if beaten
        else "These rows do not prove that it is better than the same answer for every row"
    )
    if not rivals:
        return f"{start}."
    if not near:
        return f"{start}, and than every other model that was tried."
    return f"{start}; {len(near)} of the {len(rivals)} other models cannot be told apart from it."


def _is_told_apart(row: Standing, chosen: Standing, choice: Choice) -> bool:
    """Whether the corrected test tells a model from the chosen one."""
    if choice.comparison is None:
        return False
    pair = choice.comparison.pair(chosen.title, row.title)
    return bool(pair.adjusted_p_value < _CLEAR)


def _is_beaten(row: Standing, chosen: Standing, choice: Choice) -> bool:
    assert choice.comparison is not None
    pair = choice.comparison.pair(chosen.title, row.title)
    is_ahead = pair.is_first_ahead if pair.first == chosen.title else not pair.is_first_ahead
    return _is_told_apart(row, chosen, choice) and is_ahead


def not_done(plan: PlanRecord, task: Task, parts: Parts, ending: Ending) -> tuple[str, ...]:
    """What a reader might expect and did not get, with the reason."""
    return tuple(_omissions(plan, task, parts, ending))


def _omissions(plan: PlanRecord, task: Task, parts: Parts, ending: Ending) -> Iterator[str]:
    for trial in plan.trials:
        has_role = trial.family == STACK or family(trial.family).role(task.kind) is not None
        if trial.status != PLANNED and has_role:
            title = trial.title[0].upper() + trial.title[1:]
            yield f"{title} was not tried: it {_clause(trial.status)}."
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
        n = len(parts.unlabeled)
        yield (
            f"{n:,} row{'' if n == 1 else 's'} without a target took no part in learning; "
            "predictions.csv has the predictions."
        )
    if ending.holdout is None:
        yield "No rows were set aside, so the numbers are those of the cross-validation alone."


def _clause(status: str) -> str:
    return status if not status.startswith("its ") else f"was left out because {status}"


def _shown(score: Estimate) -> str:
    if score.low is None or score.high is None:
        return f"{score.value:.4g}"
    return f"{score.value:.4g} (between {score.low:.4g} and {score.high:.4g})"
