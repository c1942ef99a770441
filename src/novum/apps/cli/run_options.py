"""The options of `novum run`, by what they are about."""

from __future__ import annotations

from collections.abc import Callable
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any, TypeVar

import typer

from novum.apps.job import request
from novum.core.errors import InputError

Value = TypeVar("Value")

# --- Values of options ----------------------------------------------------------------------------
# Values of options that are written in a short form: times, cross-validations, lists of names.


def seconds_of(text: str) -> float:
    """A time such as `90`, `90s`, `2m` or `1h30m`, in seconds."""
    return _value(request.seconds_of, text, "'--budget'")


def cross_validation_of(text: str) -> tuple[int | None, int]:
    """Repeats and folds of `REPEATSxFOLDS`; folds alone leave the repeats to the preset."""
    return _value(request.cross_validation_of, text, "'--cv'")


def _value(read: Callable[[Any], Value], text: Any, hint: str) -> Value:
    try:
        return read(text)
    except InputError as error:
        raise typer.BadParameter(str(error), param_hint=hint) from None


def coverage_of(coverage: float) -> float:
    """A share between 0 and 1, both excluded.

    Examples
    --------
    >>> coverage_of(0.9)
    0.9
    """
    from novum.evaluation import check_coverage

    return _value(check_coverage, coverage, "'--coverage'")


def jobs_of(jobs: int) -> int:
    """How many fits at once: a number above 0, or -1 for all cores.

    Examples
    --------
    >>> jobs_of(-1)
    -1
    """
    if jobs == 0 or jobs < -1:
        raise typer.BadParameter(
            f"{jobs} is no number of fits. Write 1 or more, or -1 for all cores.",
            param_hint="'--jobs'",
        )
    return jobs


def names_of(text: str) -> tuple[str, ...]:
    """Names with commas between them.

    Examples
    --------
    >>> names_of("tree, forest"), names_of("")
    (('tree', 'forest'), ())
    """
    return tuple(name for part in text.split(",") if (name := part.strip()))


def pairs_of(texts: list[str], option: str, example: str) -> tuple[tuple[str, str], ...]:
    """Columns and what is said about them, written `COLUMN=...`.

    Examples
    --------
    >>> pairs_of(["size=small,large"], "--levels", "size=small,large")
    (('size', 'small,large'),)
    """
    pairs = []
    for text in texts:
        # A name of a column may have the sign too; what is said about it never does.
        name, sign, said = text.rpartition("=")
        if not (name and sign and said.strip()):
            raise typer.BadParameter(
                f"{text!r} does not name a column and what it is. Write it like {example}.",
                param_hint=f"'{option}'",
            )
        pairs.append((name, said.strip()))
    return tuple(pairs)


def levels_of(texts: list[str]) -> tuple[tuple[str, tuple[str, ...]], ...]:
    """Ordinal columns with their levels, written `COLUMN=LOW,...,HIGH`.

    Examples
    --------
    >>> levels_of(["size=small, large"])
    (('size', ('small', 'large')),)
    """
    orders = []
    for name, said in pairs_of(texts, "--levels", "size=small,medium,large"):
        levels = names_of(said)
        if len(levels) < 2 or len(set(levels)) < len(levels):
            raise typer.BadParameter(
                f"{name}={said!r} lists no two different levels, each once. Write them from low to "
                "high, like size=small,medium,large.",
                param_hint="'--levels'",
            )
        orders.append((name, levels))
    return tuple(orders)


class TaskChoice(StrEnum):
    """What the target is."""

    auto = "auto"
    binary = "binary"
    multiclass = "multiclass"
    ordinal = "ordinal"
    labels = "labels"
    regression = "regression"
    counts = "counts"
    clusters = "clusters"
    novelty = "novelty"


class PresetChoice(StrEnum):
    """How much is tried."""

    quick = "quick"
    standard = "standard"
    thorough = "thorough"


def _option(panel: str, help: str, *names: str, **more: Any) -> Any:
    return typer.Option(*names, help=help, rich_help_panel=panel, **more)


_TASK, _COLUMNS, _ROWS, _EFFORT = "Task", "Columns", "Rows", "Effort"

# --- Task -----------------------------------------------------------------------------------------

Target = Annotated[
    list[str] | None, _option(_TASK, "Column to predict, or several: a,b.", metavar="COLUMN")
]
Task = Annotated[TaskChoice, _option(_TASK, "What the target is; clusters and novelty need none.")]
Positive = Annotated[
    str | None, _option(_TASK, "The positive one of two classes.", metavar="LABEL")
]
Metric = Annotated[str | None, _option(_TASK, "Measure that models are chosen by.", metavar="NAME")]
Cost = Annotated[
    str | None, _option(_TASK, "Table of costs: truth down, action across.", metavar="FILE")
]
Prior = Annotated[float | None, _option(_TASK, "Share of the positive class in use.")]
CostFn = Annotated[float | None, _option(_TASK, "Cost of missing a positive case.")]
CostFp = Annotated[float | None, _option(_TASK, "Cost of a false alarm.")]

Coverage = Annotated[
    float,
    _option(_TASK, "Share of rows whose truth an interval or set holds.", metavar="SHARE"),
]

# --- Columns --------------------------------------------------------------------------------------

Kind = Annotated[
    list[str] | None,
    _option(
        _COLUMNS,
        "What a column is: numeric, nominal, ordinal, text, date, id or drop. Repeatable.",
        metavar="COLUMN=KIND",
    ),
]
Levels = Annotated[
    list[str] | None,
    _option(_COLUMNS, "Ordered levels of a column. Repeatable.", metavar="COLUMN=LOW,...,HIGH"),
]
Id = Annotated[
    str | None,
    _option(_COLUMNS, "Names the rows: no feature, but in predictions.csv.", metavar="COLUMN"),
]

# --- Rows -----------------------------------------------------------------------------------------

Holdout = Annotated[float, _option(_ROWS, "Share of the rows to judge on.", min=0.0, max=0.9)]
Test = Annotated[
    str | None, _option(_ROWS, "Rows to judge on, in place of a share.", metavar="FILE")
]
Weight = Annotated[str | None, _option(_ROWS, "How much each row counts.", metavar="COLUMN")]
Exposure = Annotated[
    str | None, _option(_ROWS, "What counts are counted in, such as years.", metavar="COLUMN")
]
Group = Annotated[str | None, _option(_ROWS, "Rows of a group stay together.", metavar="COLUMN")]
Time = Annotated[str | None, _option(_ROWS, "Order of the rows in time.", metavar="COLUMN")]

# --- Effort ---------------------------------------------------------------------------------------

Preset = Annotated[PresetChoice, _option(_EFFORT, "How much is tried.")]
Models = Annotated[str, _option(_EFFORT, "Families to try; see novum models.", metavar="A,B")]
Budget = Annotated[
    str | None,
    _option(_EFFORT, "Time until the report lies there, such as 90s or 1h30m.", metavar="TIME"),
]
Plan = Annotated[
    str | None, _option(_EFFORT, "Repeat the plan of another run: its run.json.", metavar="FILE")
]
CrossValidation = Annotated[
    str | None, _option(_EFFORT, "Outer cross-validation.", "--cv", metavar="REPEATSxFOLDS")
]
Seed = Annotated[int, _option(_EFFORT, "Of all random choices.", min=0)]
Jobs = Annotated[int, _option(_EFFORT, "Fits at once; -1 for all cores. Changes no result.")]
NoRefit = Annotated[
    bool, _option(_EFFORT, "Keep the judged model instead of one of all rows.", "--no-refit")
]

# --- Output ---------------------------------------------------------------------------------------

Output = Annotated[
    Path | None,
    typer.Option(
        "--output",
        "-o",
        metavar="FOLDER",
        help="Where to write. Default: a new folder, novum-<table>.",
    ),
]
Resume = Annotated[
    Path | None, typer.Option(metavar="FOLDER", help="Go on with an interrupted run.")
]
