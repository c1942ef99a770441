"""The record of a run: everything its report shows, as plain values that JSON can hold.

A run is summarized once into a `RunRecord` and written to `run.json`; the report is a function of
that file alone, so the same run gives the same bytes, today and on another machine. Times are
measured once and stored; nothing is measured while a report is drawn. A number that does not exist
is None, never NaN. Fields with a default came later than others: `run.json` of an earlier version
lacks them and is read all the same.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from novum.apps.job.record_model import ChosenRecord, Curve, Estimate, HoldoutRecord

Plain = dict[str, Any]
TaskKind = Literal["binary", "multiclass", "ordinal", "regression", "counts"]
# Kinds whose targets are numbers; those of others are classes.
OF_NUMBERS = ("regression", "counts")
Severity = Literal["note", "warning", "danger"]


@dataclass(frozen=True)
class TaskRecord:
    """What is to be predicted, and where the model is used.

    Attributes
    ----------
    kind : {"binary", "multiclass", "ordinal", "regression", "counts"}
    target : str
    classes : tuple of str
        As text, in the order of the model; empty for numbers.
    positive : str or None
    priors, cost, actions
        Of the working point; empty where there is none. `cost[true][action]`.
    metric : str
        Name of the measure that models are chosen by.
    greater_is_better : bool
    sentences : tuple of str
        How the task was understood, each with its reason.
    """

    kind: TaskKind
    target: str
    classes: tuple[str, ...]
    positive: str | None
    priors: tuple[float, ...]
    cost: tuple[tuple[float, ...], ...]
    actions: tuple[str, ...]
    metric: str
    greater_is_better: bool
    sentences: tuple[str, ...]


@dataclass(frozen=True)
class DataRecord:
    """Where the rows come from and where they went; nothing is dropped without a count here.

    `features` are the columns that models see, `left_out` the others with the reason; `kinds` has
    every column with its kind (numeric, nominal, ordinal, text, date or id) and the reason.
    """

    name: str
    sha256: str
    n_rows: int
    n_columns: int
    n_train: int
    n_holdout: int
    n_without_target: int
    features: tuple[str, ...]
    left_out: tuple[tuple[str, str], ...]
    holdout_way: str
    kinds: tuple[tuple[str, str, str], ...] = ()


@dataclass(frozen=True)
class Finding:
    """Something about the table that its owner should know.

    Attributes
    ----------
    kind : str
        Such as "identifier", "leak", "constant column", "duplicate rows", "imbalance".
    severity : {"note", "warning", "danger"}
    columns : tuple of str
    text : str
        What was seen, with numbers.
    advice : str
        What to do; says too what this run did about it.
    """

    kind: str
    severity: Severity
    columns: tuple[str, ...]
    text: str
    advice: str


@dataclass(frozen=True)
class ColumnRecord:
    """One column: kind, missing cells, and its law in brief.

    Attributes
    ----------
    name : str
    kind : {"numeric", "nominal", "ordinal", "text", "date"}
    n_missing, n_distinct : int
    quantiles : tuple of float
        Least value, quartiles and largest of numbers; else empty.
    mean, deviation : float or None
    histogram_edges, histogram_counts : tuples
    levels : tuple of (str, int)
        The most frequent levels with their counts.
    n_other_levels, n_other_rows : int
        How many levels are not listed, and the rows they have.
    association : float or None
        Share of the target's entropy or variance that the column alone explains, in [0, 1].
    """

    name: str
    kind: str
    n_missing: int
    n_distinct: int
    quantiles: tuple[float, ...]
    mean: float | None
    deviation: float | None
    histogram_edges: tuple[float, ...]
    histogram_counts: tuple[int, ...]
    levels: tuple[tuple[str, int], ...]
    n_other_levels: int
    n_other_rows: int
    association: float | None


@dataclass(frozen=True)
class ProfileRecord:
    """The table in brief; `missing_patterns` are sets of columns missing together, with rows."""

    n_rows: int
    columns: tuple[ColumnRecord, ...]
    target: ColumnRecord | None
    n_duplicate_rows: int
    n_complete_rows: int
    missing_patterns: tuple[tuple[tuple[str, ...], int], ...]
    seen_rows: int


@dataclass(frozen=True)
class PlannedTrial:
    """One family as planned: candidates, rows, and its forecast price.

    `status` is "planned" or the reason why it is left out.
    """

    family: str
    title: str
    n_candidates: int
    n_rows: int
    n_fits: int
    forecast_seconds: float
    status: str


@dataclass(frozen=True)
class LastSteps:
    """How much is done for the chosen model.

    Attributes
    ----------
    searches_again : bool
        Whether its settings are chosen once more, on all rows of the trials; else they are those
        that the outer folds chose most often.
    n_fitted : int or None
        Rows of the last fits; None for as many as the plan's prices allow.
    permuted_rows, permuted_columns : int or None
        Of the importances.
    curve_sizes : tuple of float
        Shares of the rows in the learning curve; none draws no curve.
    """

    searches_again: bool = True
    n_fitted: int | None = None
    permuted_rows: int | None = None
    permuted_columns: int | None = None
    curve_sizes: tuple[float, ...] = (0.1, 0.2, 0.4, 0.7, 1.0)


@dataclass(frozen=True)
class PlanRecord:
    """What was planned before the first fit; the same plan gives the same models anywhere.

    With a budget, families that outgrew it are left out afterwards and `last` says what was cut
    short, so that the plan of a record repeats the run.
    """

    preset: str
    budget_seconds: float | None
    machine_factor: float
    repeats: int
    folds: int
    inner_folds: int
    seed: int
    trials: tuple[PlannedTrial, ...]
    last: LastSteps = LastSteps()


@dataclass(frozen=True)
class Standing:
    """One line of the leaderboard.

    Attributes
    ----------
    family, title : str
    score : Estimate
        Of the task's metric over the outer folds; the interval is corrected for their overlap.
    difference : Estimate
        To the chosen model, paired by fold; None for the chosen one itself. The interval excludes
        zero where `p_value` is below 0.05, and nowhere else.
    p_value : float or None
        Corrected resampled t against the chosen model, by Holm over all models compared with it;
        for the constant answer, which is a question of its own, as it is.
    probability_equivalent : float or None
        That the difference lies within the region of practical equivalence.
    fit_seconds, predict_seconds : float
        Of one fit with settings as chosen, the median over the outer folds, and of 1000 rows.
    search_seconds : float
        What the choice of settings took besides, likewise.
    settings : tuple of (str, str)
        Chosen most often by the inner searches, as text.
    is_chosen : bool
    fold_scores : tuple of float
    """

    family: str
    title: str
    score: Estimate
    difference: Estimate | None
    p_value: float | None
    probability_equivalent: float | None
    fit_seconds: float
    predict_seconds: float
    settings: tuple[tuple[str, str], ...]
    is_chosen: bool
    fold_scores: tuple[float, ...]
    search_seconds: float = 0.0


@dataclass(frozen=True)
class ComparisonRecord:
    """All models against each other on shared folds.

    `pairs` are (first, second, mean difference, low, high, adjusted p value, verdict). The critical
    difference is None on the overlapping folds of one table, where the pairs say who is told apart.
    """

    names: tuple[str, ...]
    average_ranks: tuple[float, ...]
    critical_difference: float | None
    friedman_p_value: float | None
    pairs: tuple[tuple[str, str, float, float | None, float | None, float | None, str], ...]
    verdict: str


@dataclass(frozen=True)
class RunRecord:
    """A whole run.

    Attributes
    ----------
    verdict : tuple of str
        Three sentences: which model, how good, how sure.
    settings : dict
        The request as it was given, defaults filled in.
    versions : dict of str to str
    learning_curve : Curve or None
        Score against number of training rows.
    not_done : tuple of str
        What a reader might expect and did not get, with the reason.
    stage_seconds : tuple of (str, float)
    date : str
        Day of the run, such as "2026-11-18".
    """

    verdict: tuple[str, ...]
    settings: Plain
    versions: dict[str, str]
    data: DataRecord
    task: TaskRecord
    findings: tuple[Finding, ...]
    profile: ProfileRecord
    plan: PlanRecord
    leaderboard: tuple[Standing, ...]
    comparison: ComparisonRecord | None
    chosen: ChosenRecord
    holdout: HoldoutRecord | None
    learning_curve: Curve | None
    not_done: tuple[str, ...]
    stage_seconds: tuple[tuple[str, float], ...]
    date: str = ""


@dataclass(frozen=True)
class LabelsRecord:
    """Many labels: one of several targets each.

    Attributes
    ----------
    target : str
        The column of sets, or the columns of labels.
    separator : str
        Between the labels of a set; empty where labels are columns.
    labels : tuple of str
    rare : tuple of (str, int)
        Labels that nothing was learned about, and the rows of their rarer value.
    constant : tuple of (name, Estimate)
        Measures of the same set for every row.
    """

    target: str
    separator: str
    labels: tuple[str, ...]
    rare: tuple[tuple[str, int], ...]
    constant: tuple[tuple[str, Estimate], ...]


@dataclass(frozen=True)
class SeveralRecord:
    """A run of several targets: the run of each, and what they come to together.

    Attributes
    ----------
    verdict : tuple of str
        All targets in one sentence, then one for each, then all together.
    settings : dict
    targets : tuple of str
        Those that have a run.
    folders : tuple of str
        Of their runs, within the folder of this one.
    runs : tuple of RunRecord
    measures : tuple of (name, Estimate)
        Over the rows set aside that have all targets.
    not_done : tuple of str
    date : str
    labels : LabelsRecord or None
        Where the targets are labels.
    """

    verdict: tuple[str, ...]
    settings: Plain
    targets: tuple[str, ...]
    folders: tuple[str, ...]
    runs: tuple[RunRecord, ...]
    measures: tuple[tuple[str, Estimate], ...]
    not_done: tuple[str, ...]
    date: str = ""
    labels: LabelsRecord | None = None
