"""What a user asks of a run: every setting as one frozen value.

The command line makes it from its options, `run.json` stores it, and `--resume` reads it back; so
what is not in it cannot change a run.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Preset = Literal["quick", "standard", "thorough"]
TaskChoice = Literal["auto", "binary", "multiclass", "regression"]


@dataclass(frozen=True)
class Request:
    """Settings of a run.

    Attributes
    ----------
    table : str
        Path of a CSV, Parquet or ARFF file, or the name of a bundled table.
    target : str or None
        Column to predict; None only for a bundled table, which knows its own.
    task : {"auto", "binary", "multiclass", "regression"}
    metric : str or None
        A measure of `novum.evaluation`; None takes the cost of the working point if there is one,
        else accuracy, or the root mean squared error of numbers.
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
    seed : int
    refit : bool
        Whether the chosen model is fitted to all rows at the end.
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
    seed: int = 0
    refit: bool = True
    n_jobs: int = 1
