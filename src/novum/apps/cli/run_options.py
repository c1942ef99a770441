"""The options of `novum run`, by what they are about."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer


class TaskChoice(StrEnum):
    """What the target is."""

    auto = "auto"
    binary = "binary"
    multiclass = "multiclass"
    regression = "regression"


class PresetChoice(StrEnum):
    """How much is tried."""

    quick = "quick"
    standard = "standard"
    thorough = "thorough"


def _option(panel: str, help: str, *names: str, **more: Any) -> Any:
    return typer.Option(*names, help=help, rich_help_panel=panel, **more)


_TASK, _ROWS, _EFFORT = "Task", "Rows", "Effort"

# --- Task -----------------------------------------------------------------------------------------

Target = Annotated[str | None, _option(_TASK, "Column to predict.", metavar="COLUMN")]
Task = Annotated[TaskChoice, _option(_TASK, "What the target is.")]
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

# --- Rows -----------------------------------------------------------------------------------------

Holdout = Annotated[float, _option(_ROWS, "Share of the rows to judge on.", min=0.0, max=0.9)]
Test = Annotated[
    str | None, _option(_ROWS, "Rows to judge on, in place of a share.", metavar="FILE")
]
Weight = Annotated[str | None, _option(_ROWS, "How much each row counts.", metavar="COLUMN")]
Group = Annotated[str | None, _option(_ROWS, "Rows of a group stay together.", metavar="COLUMN")]
Time = Annotated[str | None, _option(_ROWS, "Order of the rows in time.", metavar="COLUMN")]

# --- Effort ---------------------------------------------------------------------------------------

Preset = Annotated[PresetChoice, _option(_EFFORT, "How much is tried.")]
Models = Annotated[str, _option(_EFFORT, "Families to try; see novum models.", metavar="A,B")]
Budget = Annotated[str, _option(_EFFORT, "Time to plan for, such as 90s or 1h30m.", metavar="TIME")]
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
    typer.Option(metavar="FOLDER", help="Where to write. Default: a new folder, novum-<table>."),
]
Resume = Annotated[
    Path | None, typer.Option(metavar="FOLDER", help="Go on with an interrupted run.")
]
