"""The record of the chosen model: what it is, what it has learned, and how it was judged.

Part of the record of a run (`record.py`), whose rules hold here too.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

LossKind = Literal["wrong", "cost", "levels", "distance"]


@dataclass(frozen=True)
class Estimate:
    """A number with its interval."""

    value: float | None
    low: float | None
    high: float | None


@dataclass(frozen=True)
class ExplanationRecord:
    """The chosen model in its own terms.

    Attributes
    ----------
    kind : {"tree", "coefficients", "log-odds", "importances", "network", "stack", "none"}
    text : str
        One or two sentences on how to read it.
    svg : str or None
        A drawing the library made, safe to embed.
    rules : tuple of str
    terms : tuple of (name, Estimate)
        Coefficients, log-odds or importances, the largest first.
    term_title : str
    """

    kind: str
    text: str
    svg: str | None
    rules: tuple[str, ...]
    terms: tuple[tuple[str, Estimate], ...]
    term_title: str


@dataclass(frozen=True)
class DependenceRecord:
    """The mean prediction as one column changes and the others stay as they are.

    Attributes
    ----------
    column : str
    values : tuple of float
        Of a numeric column, rising; empty for levels.
    levels : tuple of str
        Of any other column; empty for numbers.
    outputs : tuple of str
        Classes whose probabilities are shown; one empty text for a number.
    means : tuple of tuple of float
        `means[output][value]`.
    low, high : tuples of tuples of float
        Between them lie the predictions of eight rows of ten.
    n_rows : int
        Rows that the means are over.
    """

    column: str
    values: tuple[float, ...]
    levels: tuple[str, ...]
    outputs: tuple[str, ...]
    means: tuple[tuple[float, ...], ...]
    low: tuple[tuple[float, ...], ...]
    high: tuple[tuple[float, ...], ...]
    n_rows: int


@dataclass(frozen=True)
class ContributionRecord:
    """One row: what each column adds to its prediction (sampled Shapley values).

    Attributes
    ----------
    row : int
        Number of the row, from 1, as in `predictions.csv`.
    why : str
        Why this row is shown.
    true, decided : str
    output : str
        The class whose probability is explained; empty for a number.
    start : float
        Mean prediction of the rows that are compared with.
    prediction : float
    terms : tuple of (column, cell, Estimate)
        The largest first. They and `rest` add up to `prediction - start`.
    rest : float
        What all other columns add together.
    """

    row: int
    why: str
    true: str
    decided: str
    output: str
    start: float
    prediction: float
    terms: tuple[tuple[str, str, Estimate], ...]
    rest: float


@dataclass(frozen=True)
class SpreadRecord:
    """What columns add to the predictions of many rows: exact Shapley values of trees.

    Attributes
    ----------
    columns : tuple of str
        The largest contributions on average first.
    values : tuple of tuples of float
        Of each column, one for every row.
    ranks : tuple of tuples of float or None
        Of the cells among those of their column, from 0 to 1; None where cells have no order.
    output : str
        The class that is spoken of; empty for a number.
    is_score : bool
        Whether scores such as log-odds are added up, and not probabilities or numbers.
    """

    columns: tuple[str, ...]
    values: tuple[tuple[float, ...], ...]
    ranks: tuple[tuple[float | None, ...], ...]
    output: str
    is_score: bool


@dataclass(frozen=True)
class ChosenRecord:
    """The chosen model: settings, certificate and explanation.

    `certificate` is the text of the certificate and of its parts, line by line. `importances` are
    in units of the task's metric.
    """

    family: str
    title: str
    settings: tuple[tuple[str, str], ...]
    reason: str
    certificate: tuple[str, ...]
    explanation: ExplanationRecord
    importances: tuple[tuple[str, Estimate], ...]
    refitted_on_all: bool
    dependences: tuple[DependenceRecord, ...] = ()
    contributions: tuple[ContributionRecord, ...] = ()
    spread: SpreadRecord | None = None


@dataclass(frozen=True)
class Curve:
    """A curve with an optional band and marked points (x, y, label)."""

    x: tuple[float, ...]
    y: tuple[float, ...]
    low: tuple[float, ...]
    high: tuple[float, ...]
    marks: tuple[tuple[float, float, str], ...] = ()
    label: str = ""


@dataclass(frozen=True)
class SavingRecord:
    """The model against the best answer that looks at no row, on the rows set aside.

    `answer` is what is always said, `model` and `constant` are the metric of each, and `saved` is
    by how much the model is better (positive if it is), all from the same resamples.
    """

    metric: str
    answer: str
    model: Estimate
    constant: Estimate
    saved: Estimate


@dataclass(frozen=True)
class RowError:
    """A row, numbered from 1 as in `predictions.csv`, that the model was wrong about.

    `loss` is what the decision cost, or the distance of the prediction; `probability` is what the
    model gave to the truth, None for numbers; `cells` are of the columns that matter most.
    """

    row: int
    true: str
    decided: str
    loss: float
    probability: float | None
    cells: tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class GroupError:
    """Rows of one column's level or range, whose loss is larger than that of the others.

    `p_value` is of Welch's test against the other rows, adjusted for the number of groups.
    """

    column: str
    group: str
    n_rows: int
    loss: Estimate
    others: float
    p_value: float | None


@dataclass(frozen=True)
class MistakesRecord:
    """Where the model is wrong on the rows set aside.

    The loss of a row is a wrong decision, its cost, or the distance in levels or of a number
    (`kind`). The worst rows and the clearest groups come first; `n_wrong` are all rows of a wrong
    decision (0 for numbers), `n_groups` all groups that were looked at.
    """

    kind: LossKind
    n_wrong: int
    worst: tuple[RowError, ...]
    groups: tuple[GroupError, ...]
    n_groups: int


@dataclass(frozen=True)
class CoveredPart:
    """How many of some rows are covered; `size` is the mean width, or number of classes."""

    rows: str
    n_rows: int
    coverage: Estimate
    size: float | None


@dataclass(frozen=True)
class CoverageRecord:
    """Measured against promised coverage of intervals or sets, all rows first, then classes.

    `n_calibration` errors of the outer folds made the intervals.
    """

    promised: float
    n_calibration: int
    is_of_classes: bool
    parts: tuple[CoveredPart, ...]


@dataclass(frozen=True)
class HoldoutRecord:
    """The one judgment on rows that nothing was learned from.

    Attributes
    ----------
    n_rows : int
    measures : tuple of (name, Estimate)
    confusion : tuple of tuple of float
        `confusion[true][predicted]`, or `[true][action]` where actions differ.
    confusion_columns : tuple of str
    class_measures : tuple of (class, ((name, Estimate), ...))
    curves : dict of name to tuple of Curve
        "roc", "precision_recall", "det", "calibration", "threshold", "bayes_error"; for numbers
        "predicted", "residuals", "quantiles".
    sentences : tuple of str
        What the numbers say, in words.
    gain : Gain or None
        Over the same answer for every row.
    """

    n_rows: int
    measures: tuple[tuple[str, Estimate], ...]
    confusion: tuple[tuple[float, ...], ...]
    confusion_columns: tuple[str, ...]
    class_measures: tuple[tuple[str, tuple[tuple[str, Estimate], ...]], ...]
    curves: dict[str, tuple[Curve, ...]]
    sentences: tuple[str, ...]
    saving: SavingRecord | None = None
    mistakes: MistakesRecord | None = None
    coverage: CoverageRecord | None = None
