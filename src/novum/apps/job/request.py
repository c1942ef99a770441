"""What a user asks of a run: every setting as one frozen value.

The command line makes it from its options, `run.json` stores it, and `--resume` reads it back; so
what is not in it cannot change a run.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from typing import Literal, get_args

from novum.core.errors import InputError

Preset = Literal["quick", "standard", "thorough"]
TaskChoice = Literal[
    "auto", "binary", "multiclass", "ordinal", "labels", "regression", "counts",
    "clusters", "novelty",
]  # fmt: skip
TASKS: tuple[str, ...] = get_args(TaskChoice)
KINDS = ("numeric", "nominal", "ordinal", "text", "date", "id", "drop")


@dataclass(frozen=True)
class Request:
    """Settings of a run.

    Attributes
    ----------
    table : str
        Path of a file that `novum.data.read` takes, or the name of a bundled table.
    target : str or None
        Column to predict; None only for a bundled table, which knows its own, and for several.
    targets : tuple of str
        All columns to predict, where they are several; none of them is a feature.
    task : {"auto", "binary", "multiclass", "ordinal", "labels", "regression", "counts", \
"clusters", "novelty"}
    metric : str or None
        A measure of `novum.evaluation`; None takes the cost of the working point if there is one,
        else accuracy, the mean error in levels, the root mean squared error of numbers, or the
        Poisson deviance of counts.
    positive : str or None
        Label of the positive class, as text; None takes the last.
    cost : str or None
        Path of a table of costs with labels on both sides.
    prior, cost_fn, cost_fp : float or None
        A binary working point.
    preset : {"quick", "standard", "thorough"}
    models : tuple of str
        Names of families to try; empty for all that fit.
    budget_seconds : float or None
        Time that the whole run may take; None plans the same on every machine.
    plan : str or None
        Path of a plan, or of the record of a run, that is repeated.
    repeats, folds : int or None
        Outer cross-validation; None leaves it to the preset.
    holdout : float
        Share of the rows set aside; 0 sets none aside.
    test : str or None
        Path of a file to judge on, in place of a share.
    weight, group, time : str or None
        Columns with weights, with groups that stay together, with the order in time.
    exposure : str or None
        Column with the time, area or number that counts are counted in; rates are predicted.
    id : str or None
        Column that names the rows: no feature, but the first column of predictions.csv.
    kind : tuple of (column, kind)
        Kinds that are not left to guessing, each of `KINDS`.
    levels : tuple of (column, levels)
        Ordinal columns with their levels from low to high.
    missing_values : tuple of str
        Cells that mean missing, besides those that are usual in the format.
    sql : str or None
        The question to a DuckDB or SQLite file whose answer is the table.
    sheet : str or None
        The sheet of an Excel file; None takes the first.
    seed : int
    refit : bool
        Whether the chosen model is fitted to all rows at the end.
    coverage : float
        Share of new rows whose truth is in the interval, or the set of classes, of their answer.
    n_jobs : int
        Changes the time a run takes and nothing else.
    """

    table: str
    target: str | None = None
    task: TaskChoice = "auto"
    metric: str | None = None
    positive: str | None = None
    cost: str | None = None
    prior: float | None = None
    cost_fn: float | None = None
    cost_fp: float | None = None
    preset: Preset = "standard"
    models: tuple[str, ...] = ()
    budget_seconds: float | None = None
    plan: str | None = None
    repeats: int | None = None
    folds: int | None = None
    holdout: float = 0.2
    test: str | None = None
    weight: str | None = None
    group: str | None = None
    time: str | None = None
    id: str | None = None
    kind: tuple[tuple[str, str], ...] = ()
    levels: tuple[tuple[str, tuple[str, ...]], ...] = ()
    missing_values: tuple[str, ...] = ()
    sql: str | None = None
    sheet: str | None = None
    seed: int = 0
    refit: bool = True
    n_jobs: int = 1
    targets: tuple[str, ...] = ()
    coverage: float = 0.9
    exposure: str | None = None

    def __post_init__(self) -> None:
        """Refuses what no run can have; a page or a file may say anything."""
        bounds: dict[str, tuple[float, float, str]] = {
            "prior": (0.0, 1.0, "a share from 0 to 1"),
            "budget_seconds": (0.0, 1e9, "a number of seconds above 0"),
            "repeats": (1, 9999, "a whole number of at least 1"),
            "folds": (2, 9999, "a whole number of at least 2"),
            "holdout": (0.0, 0.9, "a share from 0 to 0.9"),
            "seed": (0, math.inf, "a whole number of at least 0"),
        }
        for name, (least, most, meant) in bounds.items():
            value = getattr(self, name)
            if value is not None and not least <= value <= most:
                raise InputError(f"{name} is {value}, and is {meant}.")
        if self.n_jobs == 0 or self.n_jobs < -1:
            raise InputError(f"n_jobs is {self.n_jobs}, and is 1 or more, or -1 for all cores.")
        if not 0.0 < self.coverage < 1.0:
            raise InputError(f"coverage is {self.coverage}, and is a share between 0 and 1.")


# --- Settings as people write them ----------------------------------------------------------------

_UNITS = {"": 1.0, "s": 1.0, "m": 60.0, "min": 60.0, "h": 3600.0}
_TIME = re.compile(r"(\d+(?:\.\d+)?)\s*(h|min|m|s|)")
_CROSS_VALIDATION = re.compile(r"(?:(\d{1,4})\s*[xX])?\s*(\d{1,4})")


def seconds_of(text: str) -> float:
    """A time such as `90`, `90s`, `2m` or `1h30m`, in seconds.

    Examples
    --------
    >>> seconds_of("2m"), seconds_of("1h 30m"), seconds_of("0.5 min"), seconds_of("45")
    (120.0, 5400.0, 30.0, 45.0)
    """
    parts = [match.groups() for match in _TIME.finditer(text)]
    rest = _TIME.sub("", text).strip()
    total = sum(float(value) * _UNITS[unit] for value, unit in parts)
    if rest or not parts or not 0 < total < 1e9:
        raise InputError(f"{text!r} is no time above 0. Write it like 90s, 2m or 1h30m.")
    return total


def cross_validation_of(text: str) -> tuple[int | None, int]:
    """Repeats and folds of `REPEATSxFOLDS`; folds alone leave the repeats to the preset.

    Examples
    --------
    >>> cross_validation_of("3x10"), cross_validation_of("5")
    ((3, 10), (None, 5))
    """
    match = _CROSS_VALIDATION.fullmatch(text.strip())
    repeats, folds = match.groups() if match else (None, "0")
    if int(folds) < 2 or (repeats is not None and int(repeats) < 1):
        raise InputError(
            f"{text!r} is no cross-validation. Write repeats and folds like 2x5: one repeat or "
            "more, two folds or more."
        )
    return (None if repeats is None else int(repeats)), int(folds)
