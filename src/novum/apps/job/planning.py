"""Which families are tried, with how many settings, folds and rows, before anything is fitted.

The forecast of a family is the price of its fits on a reference machine times a factor that says
how much slower this machine is,

    seconds = factor * sum over outer folds (candidates * inner folds + 1) * price(rows, columns),

and a plan is made smaller, in a fixed order of what is given up first, until the forecasts fit the
budget. Without a budget the plan is that of `USUAL_SECONDS` on the reference machine, so that a
table has one plan everywhere. The cheapest families are tried first, so that a budget that turns
out too small costs the dearest ones.
"""

from __future__ import annotations

import math
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from novum.apps.job.families import FAMILIES, Family, Price, family
from novum.apps.job.record import PlannedTrial, PlanRecord
from novum.core.errors import InputError

# Of the budget; the rest is for the last fits, the curves and the report.
SHARE_OF_TRIALS = 0.6
# On the reference machine, where no budget is given.
USUAL_SECONDS = 60.0
# Rows that trials are not cut below while settings can be given up, and at all.
ENOUGH_ROWS = 20_000
FEWEST_ROWS = 2000
PLANNED = "planned"
CONSTANT = "constant"
STACK = "stack"
STACK_TITLE = "stack of the best"
STACK_MEMBERS = 3
# Seconds that `speed_probe` takes on the reference machine of the prices.
_REFERENCE_PROBE = 0.011


@dataclass(frozen=True)
class TableSize:
    """What prices depend on.

    Attributes
    ----------
    n_rows : int
        To learn from, the hold-out not counted.
    n_columns, n_coded : int
        Features, and columns after one was made for each level.
    n_classes : int
        1 for numbers.
    smallest_class : int
        Rows of the smallest class that every fold should have; `n_rows` for numbers.
    n_groups : int or None
        Groups among the rows to learn from, which folds do not divide.
    in_time : bool
        Whether folds keep the order in time.
    has_missing, has_nominal : bool
    has_text, is_text_alone : bool
        Whether there is free text, and nothing else.
    most_whole : int
        Most different values of a column that may be numbers or names of levels.
    n_empty : int
        Rows without any known cell.
    """

    n_rows: int
    n_columns: int
    n_coded: int
    n_classes: int
    smallest_class: int
    has_missing: bool
    has_nominal: bool
    n_groups: int | None = None
    in_time: bool = False
    has_text: bool = False
    is_text_alone: bool = False
    most_whole: int = 0
    n_empty: int = 0

    @property
    def keeps_rows_together(self) -> bool:
        """Whether folds are bound by groups or time, which cross-fitting in stacks is not."""
        return self.n_groups is not None or self.in_time


@dataclass(frozen=True)
class Effort:
    """How much is tried; what a plan makes smaller."""

    repeats: int
    folds: int
    inner_folds: int
    n_candidates: int
    stacks: bool = True


PRESETS = {
    "quick": Effort(repeats=1, folds=5, inner_folds=3, n_candidates=1, stacks=False),
    "standard": Effort(repeats=2, folds=5, inner_folds=3, n_candidates=4),
    "thorough": Effort(repeats=5, folds=10, inner_folds=5, n_candidates=10),
}


@dataclass(frozen=True)
class Wish:
    """What the user asked for that concerns the plan."""

    kind: str
    preset: str
    budget_seconds: float | None
    seed: int
    models: tuple[str, ...] = ()
    repeats: int | None = None
    folds: int | None = None


@dataclass(frozen=True)
class Draft:
    """A plan in the making: `left_out` has the reasons of families that are not tried."""

    effort: Effort
    n_rows: int
    left_out: Mapping[str, str]


def plan_trials(size: TableSize, wish: Wish, machine_factor: float) -> PlanRecord:
    """The plan that fits the budget; if none does, the smallest."""
    families = _wanted(wish)
    left_out = {row.name: _reason(row, size, wish.kind) for row in families}
    effort = _started(wish, size)
    draft: Draft | None = Draft(
        effort,
        size.n_rows,
        {name: reason for name, reason in left_out.items() if reason}
        | _no_stack(size, effort, wish.kind),
    )
    budget = USUAL_SECONDS if wish.budget_seconds is None else wish.budget_seconds
    limit = SHARE_OF_TRIALS * budget / machine_factor
    while draft is not None:
        last = draft
        trials = [_trial(row, size, wish.kind, draft) for row in families]
        trials.append(_stack(trials, draft))
        if sum(trial.forecast_seconds for trial in trials) <= limit:
            break
        draft = _smaller(draft, wish, trials)
    effort = last.effort
    return PlanRecord(
        preset=wish.preset,
        budget_seconds=wish.budget_seconds,
        machine_factor=machine_factor,
        repeats=effort.repeats,
        folds=effort.folds,
        inner_folds=effort.inner_folds,
        seed=wish.seed,
        trials=tuple(
            replace(trial, forecast_seconds=trial.forecast_seconds * machine_factor)
            for trial in trials
        ),
    )


def price(given: Price, size: TableSize) -> float:
    """Seconds of one fit on the reference machine.

    Examples
    --------
    >>> size = TableSize(1000, 10, 10, 2, 400, False, False)
    >>> round(price(Price(0.1, 1e-4, 1e-5, class_power=1.0), size), 3)
    0.5
    """
    work = size.n_rows * (given.per_row + given.per_cell * size.n_columns)
    work += size.n_rows**2 * given.per_pair
    work *= size.n_classes**given.class_power
    work *= given.missing_factor if size.has_missing else 1.0
    work *= given.nominal_factor if size.has_nominal else 1.0
    return given.fixed + work


def speed_probe() -> float:
    """How many times slower this machine is than that of the prices, as a power of 2^(1/2).

    The least of five runs, rounded coarsely, so that one machine has one answer.
    """
    rng = np.random.default_rng(0)
    values, square = rng.random(200_000), rng.random((160, 160))
    best = np.inf
    for _ in range(5):
        start = time.process_time()
        np.sort(values)
        np.linalg.eigvalsh(square + square.T)
        best = min(best, time.process_time() - start)
    return float(2.0 ** (round(2 * np.log2(max(best, 1e-4) / _REFERENCE_PROBE)) / 2))


# --- Steps ----------------------------------------------------------------------------------------


def _wanted(wish: Wish) -> Sequence[Family]:
    if not wish.models:
        return FAMILIES
    known = {row.name: row for row in FAMILIES}
    for name in wish.models:
        if name not in known:
            raise InputError(f"There is no family {name!r}; there are {', '.join(known)}.")
    # The constant answer is what all others have to beat.
    return [row for row in FAMILIES if row.name in {CONSTANT, *wish.models}]


def _no_stack(size: TableSize, effort: Effort, kind: str) -> dict[str, str]:
    if kind == "counts":
        return {STACK: "adds up answers, and sums may fall below zero"}
    if not effort.stacks:
        return {STACK: "takes more than the quick preset allows"}
    if size.keeps_rows_together:
        return {STACK: "has inner folds that know neither groups nor time"}
    if _inner_units(size, effort.folds) < 2:
        return {STACK: "has inner folds, for which a class has too few rows"}
    return {}


def _units(size: TableSize) -> int:
    """What folds divide: rows of the smallest class, or groups."""
    return size.smallest_class if size.n_groups is None else size.n_groups


def _inner_units(size: TableSize, folds: int) -> int:
    """What is left of them in the training part of an outer fold."""
    return _units(size) - math.ceil(_units(size) / folds)


def _started(wish: Wish, size: TableSize) -> Effort:
    effort = PRESETS[wish.preset]
    folds = wish.folds or min(effort.folds, max(2, _units(size)))
    repeats = wish.repeats or (effort.repeats if size.n_rows <= 5000 else 1)
    if size.keeps_rows_together:
        repeats = 1
    left = _inner_units(size, folds)
    inner = min(effort.inner_folds, max(2, left))
    # Settings are chosen on inner folds; where there are none, the preferred ones are taken.
    n_candidates = effort.n_candidates if left > 1 else 1
    return replace(
        effort, folds=folds, repeats=repeats, inner_folds=inner, n_candidates=n_candidates
    )


def _reason(row: Family, size: TableSize, kind: str) -> str:
    """Why a family does not fit the table; empty if it does."""
    role = row.role(kind)
    if role is None:
        return f"has no learner for {kind}"
    if size.is_text_alone and role.for_text is None and row.name != CONSTANT:
        return "takes no text, and the table has nothing else"
    if not row.takes_kinds and size.has_nominal:
        return "takes numbers alone, and the table has columns with levels"
    if row.most_columns is not None and size.n_coded > row.most_columns:
        return f"would need {size.n_coded} columns, more than its {row.most_columns}"
    if size.n_empty and not row.takes_empty_rows:
        return f"has no answer for rows without any known cell, of which there are {size.n_empty}"
    if size.n_coded < row.fewest_columns:
        return f"leaves columns out, which are worth it from {row.fewest_columns} columns on"
    return ""


def _trial(row: Family, size: TableSize, kind: str, draft: Draft) -> PlannedTrial:
    role, effort = row.role(kind, size.has_text), draft.effort
    if role is None or row.name in draft.left_out:
        return PlannedTrial(row.name, row.title_for(kind), 0, 0, 0, 0.0, draft.left_out[row.name])
    with_levels = not size.has_text and row.tries_levels(size.most_whole)
    wanted = (effort.n_candidates + 1) // 2 if row.is_robust else effort.n_candidates
    n_candidates = min(wanted, role.n_candidates(size.has_missing, with_levels))
    searched = n_candidates * effort.inner_folds if n_candidates > 1 else 0
    n_fits = effort.repeats * effort.folds * (searched + 1)
    seconds = n_fits * price(role.price, replace(size, n_rows=draft.n_rows))
    return PlannedTrial(
        row.name, row.title_for(kind), n_candidates, draft.n_rows, n_fits, seconds, PLANNED
    )


def _stack(trials: Sequence[PlannedTrial], draft: Draft) -> PlannedTrial:
    """The stack of the best, priced as if the best were of the dearer half of the families.

    A member is fitted to every inner fold and to all rows of each outer fold.
    """
    tried = [one for one in trials if one.status == PLANNED and family(one.family).can_be_stacked]
    reason = draft.left_out.get(STACK, "" if len(tried) > 1 else "needs two families")
    if reason:
        return PlannedTrial(STACK, STACK_TITLE, 0, 0, 0, 0.0, reason)
    one_fit = sorted(trial.forecast_seconds / trial.n_fits for trial in tried)
    dearer = one_fit[-max(STACK_MEMBERS, len(one_fit) // 2) :]
    effort, n_members = draft.effort, min(STACK_MEMBERS, len(tried))
    n_fits = effort.repeats * effort.folds * (effort.inner_folds + 1) * n_members
    seconds = n_fits * sum(dearer) / len(dearer)
    return PlannedTrial(STACK, STACK_TITLE, 1, draft.n_rows, n_fits, seconds, PLANNED)


# --- What is given up, and in which order ---------------------------------------------------------


def _smaller(draft: Draft, wish: Wish, trials: Sequence[PlannedTrial]) -> Draft | None:
    """The draft after the next thing is given up; None if nothing is left."""
    tried = [trial for trial in trials if trial.status == PLANNED]
    outweighing = [one for one in tried if not wish.models and _outweighs(one, tried)]
    if outweighing and draft.n_rows > ENOUGH_ROWS:
        # It alone would cost all others their settings and their rows.
        return _without(draft, outweighing[0])
    effort = _less(draft.effort, wish)
    if effort is not None:
        return replace(draft, effort=effort)
    if draft.n_rows > ENOUGH_ROWS:
        return replace(draft, n_rows=max(ENOUGH_ROWS, draft.n_rows // 2))
    spare = [trial for trial in tried if _is_spare(trial.family)]
    if spare:
        return _without(draft, spare[0])
    if draft.effort.n_candidates > 1:
        return replace(draft, effort=replace(draft.effort, n_candidates=1))
    if draft.n_rows > FEWEST_ROWS:
        if outweighing:
            return _without(draft, outweighing[0])
        return replace(draft, n_rows=max(FEWEST_ROWS, draft.n_rows // 2))
    if len(tried) > 2:
        return _without(draft, max(tried, key=lambda trial: trial.forecast_seconds))
    return None


def _is_spare(name: str) -> bool:
    return name == STACK or family(name).has_near_relative


def _outweighs(trial: PlannedTrial, tried: Sequence[PlannedTrial]) -> bool:
    """Whether a family that is priced by pairs of rows is dearer than all others together."""
    if trial.family == STACK:
        return False
    row = family(trial.family)
    by_pairs = any(
        role and role.price.per_pair > 0 for role in (row.classification, row.regression)
    )
    others = sum(one.forecast_seconds for one in tried if one.family not in (trial.family, STACK))
    return by_pairs and len(tried) > 2 and trial.forecast_seconds > others


def _without(draft: Draft, trial: PlannedTrial) -> Draft:
    reason = "its fits do not fit the budget; raise --budget to try it"
    return replace(draft, left_out={**draft.left_out, trial.family: reason})


def _less(effort: Effort, wish: Wish) -> Effort | None:
    """Less of what matters least, down to two settings of each family."""
    if wish.repeats is None and effort.repeats > 2:
        return replace(effort, repeats=effort.repeats - 1)
    if effort.inner_folds > 3:
        return replace(effort, inner_folds=3)
    if effort.n_candidates > 3:
        return replace(effort, n_candidates=3)
    # A second repeat tells models apart that one cannot, and is worth more than a third setting.
    if wish.repeats is None and effort.repeats > 1:
        return replace(effort, repeats=1)
    if wish.folds is None and effort.folds > 5:
        return replace(effort, folds=5)
    if effort.n_candidates > 2:
        return replace(effort, n_candidates=2)
    return None
