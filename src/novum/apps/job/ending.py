"""The end of a run: the chosen model is fitted and written for use, then judged and explained.

What was fitted is on the disk before anything is said about it, and everything that is said is an
attempt: if it fails, or if there is no time for it, one sentence stands in its place. Where a
budget is short, the parts are made smaller by what fits and predictions took so far, and
`LastSteps` keeps what was decided.
"""

from __future__ import annotations

import json
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cache, partial
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from sklearn.base import clone

from novum.apps.job.answers import all_answers, answers_of, of_all, out_of_fold
from novum.apps.job.attempts import Attempts, failed
from novum.apps.job.building import candidate, settings_text
from novum.apps.job.choosing import Choice, title_of
from novum.apps.job.clock import END_OF_FITS, END_OF_JUDGMENT, Clock
from novum.apps.job.coverage import Calibration, measured, with_coverage
from novum.apps.job.effects import contributions, dependences, spread
from novum.apps.job.explaining import (
    PERMUTATIONS,
    Terms,
    certificate_lines,
    column_importances,
    explain,
)
from novum.apps.job.families import family
from novum.apps.job.judging import judge_classes, judge_numbers
from novum.apps.job.last_fits import (
    curve_in_time,
    fitted,
    most_rows,
    price_of_fit,
    settled,
    some_rows,
    with_last,
)
from novum.apps.job.mistakes import find_mistakes, find_saving, telling_rows
from novum.apps.job.outputs import (
    COVERAGE,
    MODEL,
    PREDICTIONS,
    SCRIPT,
    Made,
    Predictions,
    model_script,
    names_of,
    write_predictions,
    write_seen_rows,
)
from novum.apps.job.planning import CONSTANT, STACK, TableSize
from novum.apps.job.record import PlanRecord, ProfileRecord
from novum.apps.job.record_model import (
    ChosenRecord,
    ContributionRecord,
    CoverageRecord,
    Curve,
    ExplanationRecord,
    HoldoutRecord,
    SavingRecord,
)
from novum.apps.job.request import Request
from novum.apps.job.table.partition import Parts
from novum.apps.job.table.reading import reading_options
from novum.apps.job.table.task import Rows, Task
from novum.apps.job.trials import LearningRows, Trials, built
from novum.apps.job.unlabelled import UnlabelledUse, considered, learner_of_both
from novum.core import save
from novum.core.files import replacing
from novum.core.runtime import OutOfTime, check_cancelled

LEARNED, SEEN = "learned_rows.json", "seen_rows.bin"
# Rows that a last fit has at least, whatever the budget.
_FEWEST_FITTED = 500
# Rows and columns that importances are cut down to before they are given up.
_FEWEST_PERMUTED = 100
Result = TypeVar("Result")


@dataclass
class Ending:
    """What the end of a run starts from, and what it finds."""

    request: Request
    task: Task
    parts: Parts
    plan: PlanRecord
    size: TableSize
    profile: ProfileRecord
    rows: LearningRows
    metric: Any
    trials: Trials
    choice: Choice
    folder: Path
    attempts: Attempts
    clock: Clock
    fit_seconds: float = field(init=False, default=0.0)
    price: float = field(init=False, default=0.0)
    chosen: ChosenRecord = field(init=False)
    holdout: HoldoutRecord | None = field(init=False, default=None)
    learning_curve: Curve | None = field(init=False, default=None)
    n_judged_fit: int = field(init=False, default=0)
    n_last_fit: int = field(init=False, default=0)
    calibration: Calibration | None = field(init=False, default=None)
    unlabelled: UnlabelledUse | None = field(init=False, default=None)


def end(ending: Ending) -> Ending:
    """Fits, writes model, program and predictions, and then judges and explains."""
    task, parts, attempts = ending.task, ending.parts, ending.attempts
    judged, learned, members, limit = _judged_fit(ending)
    judged = _with_unlabelled(judged, learned, members, ending)
    model, used = clone(judged), judged
    ending.n_judged_fit = learned.X.num_rows
    _write_model(used, learned, ending)
    if ending.request.refit and len(parts.holdout):
        last = _some(ending, task.labeled, limit, "last fit")
        used = _in_time(
            ending,
            END_OF_FITS,
            "A fit to all rows, in place of the judged model in model.novum,",
            lambda: _fitted(model, last, ending),
            lambda _: judged,
            is_recorded=False,
        )
        if used is not judged:
            ending.n_last_fit = last.X.num_rows
            _write_model(used, last, ending)
    aside = parts.judging(task)
    _write_predictions(judged, used, aside, ending)
    if aside is not None:
        ending.holdout = attempts(
            "The judgment on the rows set aside",
            lambda: _judged(judged, aside, learned, ending),
            lambda said: HoldoutRecord(aside.n_rows, (), (), (), (), {}, (said,)),
        )
    ending.chosen = _chosen(members, judged, aside, ending)
    if aside is not None and ending.holdout is not None:
        _look_closer(judged, aside, ending)
    ending.learning_curve = _in_time(
        ending,
        END_OF_JUDGMENT,
        "The learning curve",
        lambda: curve_in_time(clone(model), ending),
        lambda _: None,
    )
    return ending


def _in_time(
    ending: Ending,
    share: float,
    what: str,
    step: Callable[[], Result],
    otherwise: Callable[[str], Result],
    *,
    is_recorded: bool = True,
) -> Result:
    """An attempt that is over when this share of the budget is used."""

    def limited() -> Result:
        with ending.clock.within(share):
            return step()

    return ending.attempts(what, limited, otherwise, is_recorded=is_recorded)


# --- Fits -----------------------------------------------------------------------------------------


def _judged_fit(ending: Ending) -> tuple[Any, LearningRows, dict[str, int], int]:
    """The chosen model fitted to the training rows; if it cannot be, the next that can.

    Besides the rows that it has learned from, its candidates, and how many rows a fit may have.
    """
    task = ending.task
    if ending.clock.is_limited:
        ending.plan = _affordable(ending)
    while True:
        name = ending.choice.family
        try:
            with ending.clock.within(END_OF_FITS):
                fit = _fit_once(name, ending)
                check_cancelled()  # A model that the deadline has cut was not judged.
                return fit
        except OutOfTime:
            reason = f"The last fit of {title_of(name, task.kind)} did not fit the budget."
            choice = ending.choice.cheapest(reason)
            ending.plan = with_last(ending.plan, searches_again=False)
            if choice is None:
                n_rows = (ending.plan.last.n_fitted or len(ending.parts.train)) // 4
                ending.plan = with_last(ending.plan, n_fitted=max(n_rows, _FEWEST_FITTED))
                if n_rows <= _FEWEST_FITTED:
                    # So few rows have been fitted many times on the folds.
                    return _fit_once(name, ending)
                continue
        except (OSError, MemoryError):
            raise
        except Exception as error:
            sentence = failed(
                f"The last fit of {title_of(name, task.kind)}, the best model left,", error
            )
            choice = ending.choice.after(f"{sentence} The next model is taken.")
            if choice is None:
                raise
        ending.choice = choice
        ending.attempts.sentences.append(choice.reason)


def _fit_once(name: str, ending: Ending) -> tuple[Any, LearningRows, dict[str, int], int]:
    model, members = settled(name, ending.plan, ending.trials, ending.rows, ending.metric)
    size = replace(ending.size, n_rows=len(ending.task.labeled))
    limit = most_rows(members, ending.plan, size, ending.task.kind)
    ending.price = price_of_fit(members, replace(size, n_rows=limit), ending.task.kind)
    learned = _some(ending, ending.parts.train, limit, "judged fit")
    began = time.perf_counter()
    final = fitted(model, learned)
    ending.fit_seconds = time.perf_counter() - began
    return final, learned, members, limit


def _with_unlabelled(
    judged: Any, learned: LearningRows, members: dict[str, int], ending: Ending
) -> Any:
    """The judged model, which has learned from rows without a target too where that helps."""
    if ending.choice.family in (CONSTANT, STACK):
        return judged
    in_time = partial(_in_time, ending, END_OF_FITS, is_recorded=False)
    ending.unlabelled = considered(judged, members, ending, in_time)
    if ending.unlabelled is None or not ending.unlabelled.helps:
        return judged
    what = "A fit to rows without a target too"
    both = in_time(what, lambda: _fitted(clone(judged), learned, ending), lambda _: None)
    if both is None:
        ending.unlabelled = None
    return judged if both is None else both


def _fitted(model: Any, rows: LearningRows, ending: Ending) -> Any:
    """The model fitted to rows, and to those without a target where they help."""
    use = ending.unlabelled
    return fitted(model, rows) if use is None or not use.helps else use.fitted(model, rows)


def _affordable(ending: Ending) -> PlanRecord:
    """The plan without a further choice of settings where there is no time for it."""
    runs = ending.trials.runs[ending.choice.family]
    searched = float(np.median([run.fit_seconds for run in runs]))
    more_rows = ending.rows.X.num_rows / max(min(run.n_train for run in runs), 1)
    fits = ending.clock.until(END_OF_FITS)
    return with_last(ending.plan, searches_again=searched * more_rows < 0.4 * fits)


def _some(ending: Ending, positions: Any, limit: int, use: str) -> LearningRows:
    task = ending.task
    at = some_rows(task, positions, limit, ending.plan.seed, use)
    return LearningRows.of(task, task.rows(at))


# --- Judgment -------------------------------------------------------------------------------------


def _judged(model: Any, aside: Rows, learned: LearningRows, ending: Ending) -> HoldoutRecord:
    """The judgment, and what the model saves against the same answer for every row."""

    def saving() -> SavingRecord:
        seed = ending.plan.seed
        same = built(CONSTANT, learned, seed)
        same.fit(learned.X, learned.y, sample_weight=learned.weight)
        return find_saving(model, same, aside, ending.metric, seed=seed)

    saved = ending.attempts("What the model saves", saving, lambda _: None)
    judged = _judged_alone(model, aside, ending)
    sentences = judged.sentences
    if ending.task.groups is not None:
        sentences += (
            "Intervals take the rows for independent; rows of one group are alike, so that the "
            "truth may lie outside more often.",
        )
    covered = _covered(model, aside, ending)
    return replace(judged, sentences=sentences, saving=saved, coverage=covered)


def _covered(model: Any, aside: Rows, ending: Ending) -> CoverageRecord | None:
    task, calibration = ending.task, ending.calibration
    if calibration is None:
        return None
    return ending.attempts(
        "The measured coverage",
        lambda: measured(
            answers_of(model, aside.X, aside.positions, "", aside.y, task), calibration, task
        ),
        lambda _: None,
    )


def _judged_alone(model: Any, aside: Rows, ending: Ending) -> HoldoutRecord:
    task = ending.task
    if not task.is_classification:
        return judge_numbers(aside.y, model.predict(aside.X), weight=aside.weight)
    assert task.classes is not None
    return judge_classes(
        aside.y,
        of_all(model.predict_proba(aside.X), model.classes_, task.classes),
        task.classes,
        positive=task.positive,
        point=task.point,
        training_priors=of_all(model.class_prior_[np.newaxis], model.classes_, task.classes)[0],
        weight=aside.weight,
        ordered=bool(task.levels),
    )


def _chosen(
    members: dict[str, int], judged: Any, aside: Rows | None, ending: Ending
) -> ChosenRecord:
    name, kind, attempts = ending.choice.family, ending.task.kind, ending.attempts
    example = (aside.X if aside is not None else ending.rows.X).slice(0, 1)
    importances: Terms = ()
    if aside is not None and aside.n_rows > 1 and name != CONSTANT:
        importances = _in_time(
            ending,
            END_OF_JUDGMENT,
            "The importance of the columns",
            lambda: _importances(judged, aside, ending),
            lambda _: (),
        )
    return ChosenRecord(
        family=name,
        title=title_of(name, kind),
        settings=_settings(members, ending),
        reason=ending.choice.reason,
        certificate=attempts(
            "The text of the certificate", lambda: certificate_lines(judged), lambda said: (said,)
        ),
        explanation=attempts(
            "The explanation of the model",
            lambda: explain(judged, kind, example, ending.task.positive),
            lambda said: ExplanationRecord("none", said, None, (), (), ""),
        ),
        importances=importances,
        refitted_on_all=ending.n_last_fit > 0,
    )


def _importances(judged: Any, aside: Rows, ending: Ending) -> Terms:
    """Of all columns on many rows, or of as many as there is time for."""
    if ending.clock.is_limited:
        began = time.perf_counter()
        judged.predict(aside.X)
        one = time.perf_counter() - began
        # Half of what is left: curves come after.
        asked = 0.5 * ending.clock.until(END_OF_JUDGMENT) / max(one, 1e-6) * aside.n_rows
        rows = int(asked / (PERMUTATIONS * aside.X.num_columns))
        rows = min(max(rows, _FEWEST_PERMUTED), aside.n_rows)
        columns = min(int(asked / (PERMUTATIONS * rows)), aside.X.num_columns)
        if columns < 1:
            raise OutOfTime
        ending.plan = with_last(ending.plan, permuted_rows=rows, permuted_columns=columns)
    last = ending.plan.last
    return column_importances(
        judged,
        aside.X,
        aside.y,
        ending.metric,
        ending.plan.seed,
        aside.weight,
        max_rows=last.permuted_rows,
        max_columns=last.permuted_columns,
        associations={column.name: column.association for column in ending.profile.columns},
    )


def _look_closer(judged: Any, aside: Rows, ending: Ending) -> None:
    """Where the model is wrong, and how columns move it, on the rows set aside."""
    task, seed = ending.task, ending.plan.seed
    columns = [name for name, _ in ending.chosen.importances] or list(aside.X.column_names)
    has_all = task.classes is None or len(judged.classes_) == len(task.classes)
    point = task.point if has_all else None
    assert ending.holdout is not None
    how = {"seed": seed, "positive": task.positive, "point": point}

    @cache
    def answers() -> Predictions:
        return answers_of(judged, aside.X, aside.positions, "", aside.y, task)

    def credit() -> tuple[ContributionRecord, ...]:
        rows = telling_rows(answers(), task)
        return contributions(judged, aside.X, answers(), rows, columns, **how)

    def attempt(what: str, step: Callable[[], Any], otherwise: Any = None) -> Any:
        return _in_time(ending, END_OF_JUDGMENT, what, step, lambda _: otherwise)

    if ending.choice.family != CONSTANT:
        credits = attempt("The contributions of single rows", credit, ())
        # Where no score hangs on a column, predictions still move with it.
        moved = Counter(dict.fromkeys(columns, 0.0))
        for row in credits:
            moved.update({name: abs(value.value or 0.0) for name, _, value in row.terms})
        scores = {name: max(value.value or 0.0, 0.0) for name, value in ending.chosen.importances}
        columns.sort(key=lambda name: (-scores.get(name, 0.0), -moved[name]))
        ending.chosen = replace(
            ending.chosen,
            contributions=credits,
            dependences=attempt(
                "The dependence on single columns",
                lambda: dependences(judged, aside.X, columns, **how),
                (),
            ),
            spread=attempt("The contributions of all rows", lambda: spread(judged, aside.X, **how)),
        )
    wrong = attempt(
        "The list of the worst errors", lambda: find_mistakes(answers(), aside.X, task, columns)
    )
    ending.holdout = replace(ending.holdout, mistakes=wrong)


def _settings(members: dict[str, int], ending: Ending) -> tuple[tuple[str, str], ...]:
    kind = ending.task.kind
    if ending.choice.family == STACK:
        return (("members", ", ".join(title_of(name, kind) for name in members)),)
    ((name, number),) = members.items()
    columns = ending.rows.columns
    return settings_text(candidate(family(name), kind, number, None, ending.plan.seed, columns))


# --- Files ----------------------------------------------------------------------------------------


def _write_model(used: Any, learned: LearningRows, ending: Ending) -> None:
    """The model for use, and the program that makes it again."""
    task, folder = ending.task, ending.folder
    # A model that never met some class cannot decide at a point that speaks of it.
    has_all = task.classes is None or len(used.classes_) == len(task.classes)
    point = task.point if has_all else None
    save(used if point is None else used.at(point), folder / MODEL)
    learner, use = used, ending.unlabelled
    whole = learned.X.num_rows == len(task.labeled)
    if use is not None and use.helps:
        learner, learned, whole = learner_of_both(used), use.both(learned), False
    if whole:
        (folder / LEARNED).unlink(missing_ok=True)
    else:
        with replacing(folder / LEARNED) as file:
            file.write(json.dumps(learned.positions.tolist()).encode())
    made = Made(
        learner=learner,
        table=ending.request.table,
        target=task.target,
        left_out=tuple(column.name for column in task.left_out if column.name != task.target),
        weight=ending.request.weight,
        exposure=ending.request.exposure,
        rows=None if whole else LEARNED,
        point=point,
        reading=reading_options(ending.request, task.as_text),
        has_gaps=learner is not used,
    )
    ending.attempts(
        "The list of the rows that the model has seen",
        lambda: write_seen_rows(folder / SEEN, learned.X),
        lambda _: None,
    )
    # A label of a set is no column of the file, which a program would read.
    if ending.request.task != "labels":
        with replacing(folder / SCRIPT) as file:
            file.write(model_script(made).encode())


def _write_predictions(judged: Any, used: Any, aside: Rows | None, ending: Ending) -> None:
    """All answers; those that the models cannot give are left out, the disk's errors are not."""
    task, folder, attempts = ending.task, ending.folder, ending.attempts
    classes = None if task.classes is None else [str(c) for c in task.classes]
    folds = out_of_fold(ending.choice.family, ending.trials, ending.rows, task)
    answered = partial(all_answers, judged, used, aside, ending.parts, task, folds)
    answers = attempts(PREDICTIONS, lambda: list(answered()), lambda _: None, is_recorded=False)
    if answers is None:
        return
    # A set of labels has an answer for each of them, and no interval around it.
    if ending.request.task != "labels":
        asked, seed = ending.request.coverage, ending.plan.seed
        ending.calibration, answers = attempts(
            "The coverage of the answers",
            lambda: with_coverage(answers, task, asked, seed, folder / COVERAGE),
            lambda _: (None, answers),
            is_recorded=False,
        )
    names = names_of(ending.request.id, task, ending.parts.test)
    write_predictions(folder / PREDICTIONS, answers, classes, names)
