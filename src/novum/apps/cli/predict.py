"""`novum predict`: answers of a model for the rows of a table, as a CSV file."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import nullcontext
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Annotated, Any

import typer

from novum.apps.cli.failures import guarded
from novum.apps.cli.options import (
    Debug,
    Exposure,
    Json,
    MissingValues,
    Model,
    Positive,
    Quiet,
    Sheet,
    Sql,
    Table,
    Weight,
)

if TYPE_CHECKING:
    from novum.apps.cli.answered_rows import Answer, Lost
    from novum.apps.cli.progress import Progress
    from novum.apps.job.outputs import Predictions
    from novum.apps.job.request import Request
    from novum.apps.job.table.task import Rows


# --- novum evaluate -------------------------------------------------------------------------------
# `novum evaluate`: a model judged on the rows of a table whose truth is known.


@guarded
def evaluate(
    model: Model,
    table: Table,
    target: Annotated[str | None, typer.Option(help="Column that holds the truth.")] = None,
    positive: Positive = None,
    weight: Weight = None,
    exposure: Exposure = None,
    missing_values: MissingValues = "",
    sheet: Sheet = None,
    sql: Sql = None,
    html: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write a page with pictures.")
    ] = None,
    quiet: Quiet = False,
    as_json: Json = False,
    debug: Debug = False,
) -> None:
    """Judge a model on rows that it has not learned from.

    Every number comes with its interval. Rows without a target are left out and counted. A model at
    a working point is judged there, with what its decisions cost. Beside the other files of its
    run, a model knows its target and the rows that it has learned from.
    """
    from novum.apps.cli.progress import Progress
    from novum.apps.cli.streams import write_json

    del debug
    shown = None if quiet else Progress("reading model and table")
    with nullcontext() if shown is None else shown:
        from novum.apps.cli.model_rows import model_of, models_of, rows_for, seen_rows
        from novum.core.text import printable

        judged: dict[str, tuple[Any, str, int | None]] = {}
        models = list(models_of(model_of(model), model, target))
        if html is not None and len(models) > 1:
            raise typer.BadParameter(
                "a page shows one target; name it with --target.", param_hint="'--html'"
            )
        for name, fitted, folder in models:
            asked = {"target": name, "weight": weight, "exposure": exposure}
            request = _request(table, missing_values, sheet, sql, **asked)
            rows = rows_for(fitted, request)
            if shown is not None:
                shown.stage(f"judging {rows.n_rows:,} rows")
            report = _report(fitted, rows, positive)
            judged[str(name)] = report, str(report), seen_rows(folder, rows)
            if html is not None:
                report.save(html)
    seen = max(count or 0 for *_, count in judged.values())
    if seen:
        typer.echo(
            f"{seen:,} of the {rows.n_rows:,} rows {'is' if seen == 1 else 'are'} in all columns "
            "like rows that the model has learned from. If these are the same cases, the numbers "
            "are too good: judge on rows that it has not seen.",
            err=True,
        )
    if as_json:
        plain = {
            name: {**report.to_dict(), "rows_seen_in_training": count}
            for name, (report, _, count) in judged.items()
        }
        write_json({"targets": plain} if len(plain) > 1 else next(iter(plain.values())))
        return
    for name, (_, text, _) in judged.items():
        if len(judged) > 1:
            typer.echo(f"{printable(name)}\n")
        # A report may show names from the table; line by line, so that its own lines stay.
        typer.echo("\n".join(printable(line) for line in text.splitlines()))
    if html is not None:
        typer.echo(f"\nwritten: {html}")


def _report(model: Any, rows: Rows, positive: str | None) -> Any:
    from novum.apps.cli.model_rows import is_classifier
    from novum.apps.job.table.formalizing import label_named
    from novum.core.decisions import OrderedClassifier, RetargetedClassifier
    from novum.ensemble import LabelModels
    from novum.evaluation import ClassificationReport, LabelSetReport, RegressionReport

    if isinstance(model, LabelModels):
        return LabelSetReport(rows.y, model.predict_proba(rows.X) > 0.5, model.targets)
    if not is_classifier(model):
        return RegressionReport(rows.y, model.predict(rows.X), sample_weight=rows.weight)
    point = model.point if isinstance(model, RetargetedClassifier) else None
    source = model.model if isinstance(model, RetargetedClassifier) else model
    return ClassificationReport(
        rows.y,
        probabilities=source.predict_proba(rows.X),
        classes=list(model.classes_),
        ordered=isinstance(source, OrderedClassifier),
        positive=None if positive is None else label_named(positive, list(model.classes_)),
        working_point=point,
        training_priors=getattr(source, "class_prior_", None),
        sample_weight=rows.weight,
    )


# Rows that are predicted at once, so that progress shows and Ctrl-C acts.
_ROWS_AT_ONCE = 20_000


@guarded
def predict(
    model: Model,
    table: Table,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            metavar="FILE",
            help="CSV to write. Default: <table>-predictions.csv here.",
        ),
    ] = None,
    id: Annotated[
        str | None,
        typer.Option(metavar="COLUMN", help="Names the rows; the first column of the CSV."),
    ] = None,
    why: Annotated[
        bool, typer.Option("--why", help="Add the three columns that moved each row most.")
    ] = False,
    coverage: Annotated[
        float | None,
        typer.Option(
            metavar="SHARE",
            help="Share of rows whose truth an interval or set holds. Default: that of the run.",
        ),
    ] = None,
    missing_values: MissingValues = "",
    sheet: Sheet = None,
    sql: Sql = None,
    quiet: Quiet = False,
    debug: Debug = False,
) -> None:
    """Predict the rows of a table with a model.

    Columns are read as the model learned them. Each row gets its class with the probabilities of
    all classes, or its number; a model at a working point adds the decision of least cost. Beside
    the other files of its run, a model adds an interval (lower, upper) or a set of classes. With
    --why, the rows of the table are compared with each other: a column is credited with the change
    of the prediction when its cell takes the place of another row's. A row that the model cannot
    answer has an empty answer, which is said; rows are counted from 1.
    """
    from contextlib import nullcontext

    from novum.apps.cli.progress import Progress

    del debug
    path = Path(f"{Path(table).name.split('.')[0]}-predictions.csv") if output is None else output
    shown = None if quiet else Progress("reading model and table")
    with nullcontext() if shown is None else shown:
        request = _request(table, missing_values, sheet, sql, id=id)
        if coverage is not None:
            from novum.apps.cli.run_options import coverage_of

            coverage_of(coverage)
        n_rows = _write(model, request, path, shown, why, coverage)
    said = f"{n_rows:,} {'row' if n_rows == 1 else 'rows'} predicted: {path}"
    # Rows that go to a pipe or the screen stay alone there.
    typer.echo(said, err=path.is_relative_to("/dev") or not path.is_file())


def _request(table: str, missing: str, sheet: str | None, sql: str | None, **more: Any) -> Request:
    """What is said about a table, as a run holds it."""
    from novum.apps.cli.run_options import names_of
    from novum.apps.job.request import Request

    return Request(table, missing_values=names_of(missing), sheet=sheet, sql=sql, **more)


def _write(
    path_of_model: Path,
    request: Request,
    path: Path,
    shown: Progress | None,
    why: bool = False,
    coverage: float | None = None,
) -> int:
    from novum.apps.cli.model_rows import (
        is_classifier,
        model_of,
        models_of,
        rows_to_answer,
        schema_of,
        unseen_levels,
    )
    from novum.apps.job.coverage import bounded, calibration_beside, covers
    from novum.apps.job.joint_results import (
        joined_predictions,
        prediction_lines,
        write_rows,
    )
    from novum.apps.job.outputs import PREDICTIONS, Identifiers, write_predictions
    from novum.core.errors import InputError, UnseenLevelWarning
    from novum.ensemble import LabelModels, TargetModels

    fitted = model_of(path_of_model)
    X, names, said = rows_to_answer(fitted, request)
    if why and X.num_rows < 2:
        raise InputError(
            "--why compares rows with each other, and there are no two here. Give a table of "
            "several rows."
        )
    if why and isinstance(fitted, LabelModels):
        raise InputError(
            "--why explains one answer, and a set has many. Ask the model of one label, in the "
            "folder targets of the run."
        )
    named = None if names is None else Identifiers(str(request.id), names)
    for sentence in (*said, *unseen_levels(X, schema_of(fitted))):
        typer.echo(sentence, err=True)

    def write(model: Any, target: Path, folder: Path) -> int:
        classes = [str(label) for label in model.classes_] if is_classifier(model) else None
        known = None if covers(model) else calibration_beside(folder, coverage)
        if known is not None and known.is_of_classes != (classes is not None):
            known = None

        def answer(rows: Any, positions: Any) -> Predictions:
            part = _answer(model, rows, positions, why, coverage)
            return part if known is None else bounded(part, known, classes)

        lost: Lost = {}
        n_classes = None if classes is None else len(classes)
        parts = _answers(answer, X, shown, n_classes, lost)
        return _told(write_predictions(target, parts, classes, named), lost)

    with warnings.catch_warnings():
        # Said above for the whole table; a model would say it again for each part of it.
        warnings.simplefilter("ignore", UnseenLevelWarning)
        if isinstance(fitted, LabelModels):
            return _write_sets(path, fitted, X, named)
        if not isinstance(fitted, TargetModels):
            return write(fitted, path, path_of_model.parent)
        with TemporaryDirectory() as folder:
            lines = {}
            for name, model, own in models_of(fitted, path_of_model, None):
                n_rows = write(model, Path(folder) / PREDICTIONS, own)
                lines[str(name)] = prediction_lines(Path(folder) / PREDICTIONS)
        write_rows(path, joined_predictions(lines, request.id))
        return n_rows


def _write_sets(path: Path, model: Any, X: Any, named: Any) -> int:
    """Sets of labels with a probability of each."""
    from novum.apps.job.outputs import Predictions, write_predictions

    def answer(rows: Any, positions: Any) -> Predictions:
        sets, shares = model.predict(rows), model.predict_proba(rows)
        return Predictions(positions, "model", None, sets, shares)

    lost: Lost = {}
    parts = _answers(answer, X, None, len(model.targets), lost)
    return _told(write_predictions(path, parts, list(model.targets), named), lost)


def _told(n_rows: int, lost: Lost) -> int:
    """How many rows have an answer; why others have none is said."""
    from novum.apps.cli.answered_rows import without_answer

    if lost:
        typer.echo(without_answer(lost, n_rows), err=True)
    return n_rows - sum(map(len, lost.values()))


def _answers(
    answer: Answer, X: Any, shown: Progress | None, n_classes: int | None, lost: Lost
) -> Iterator[Predictions]:
    """Answers part by part; rows without one are added to `lost`."""
    import numpy as np

    from novum.apps.cli.answered_rows import answered

    starts = range(0, max(X.num_rows, 1), _ROWS_AT_ONCE)
    for number, start in enumerate(starts):
        if shown is not None:
            shown.stage(f"predicting part {number + 1} of {len(starts)}")
        part = X.slice(start, _ROWS_AT_ONCE)
        rows = np.arange(start, start + part.num_rows)
        if not len(rows):
            continue
        predictions, own = answered(answer, part, rows, n_classes)
        for reason, some in own.items():
            lost.setdefault(reason, []).extend(some)
        yield predictions


def _answer(model: Any, X: Any, rows: Any, why: bool, coverage: float | None) -> Predictions:
    """A model's answers for some rows."""
    from dataclasses import replace

    from novum.apps.cli.model_rows import is_classifier
    from novum.apps.job.coverage import covered_by, covers
    from novum.apps.job.effects import reasons
    from novum.apps.job.outputs import Predictions

    predictions = Predictions(
        rows,
        "model",
        None,
        model.predict(X),
        model.predict_proba(X) if is_classifier(model) else None,
        model.decide(X) if hasattr(model, "decide") else None,
    )
    if covers(model):
        predictions = covered_by(model, X, predictions, coverage)
    return replace(predictions, reasons=reasons(model, X, predictions)) if why else predictions
