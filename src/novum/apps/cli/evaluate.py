"""`novum evaluate`: a model judged on the rows of a table whose truth is known."""

from __future__ import annotations

from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from novum.apps.cli.failures import guarded
from novum.apps.cli.options import Debug, Json, Model, Positive, Quiet, Table, Weight

if TYPE_CHECKING:
    from novum.apps.job.table.task import Rows


@guarded
def evaluate(
    model: Model,
    table: Table,
    target: Annotated[str | None, typer.Option(help="Column that holds the truth.")] = None,
    positive: Positive = None,
    weight: Weight = None,
    html: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write a page with pictures.")
    ] = None,
    quiet: Quiet = False,
    as_json: Json = False,
    debug: Debug = False,
) -> None:
    """Judge a model on rows that it has not learned from.

    Every number comes with its interval. Rows without a target are left out and counted. A model at
    a working point is judged there, with what its decisions cost.
    """
    from novum.apps.cli.progress import Progress
    from novum.apps.cli.streams import write_json

    del debug
    shown = None if quiet else Progress("reading model and table")
    with nullcontext() if shown is None else shown:
        from novum.apps.cli.model_rows import model_of, rows_for

        fitted = model_of(model)
        rows = rows_for(fitted, table, target, weight)
        if shown is not None:
            shown.stage(f"judging {rows.n_rows:,} rows")
        found = _report(fitted, rows, positive)
        text = str(found)
        if html is not None:
            found.save(html)
    if as_json:
        write_json(found.to_dict())
        return
    # A report may show names from the table; line by line, so that its own lines stay.
    from novum.core.text import printable

    typer.echo("\n".join(printable(line) for line in text.splitlines()))
    if html is not None:
        typer.echo(f"\nwritten: {html}")


def _report(model: Any, rows: Rows, positive: str | None) -> Any:
    from novum.apps.cli.model_rows import is_classifier
    from novum.core.decisions import RetargetedClassifier
    from novum.evaluation import ClassificationReport, RegressionReport

    if not is_classifier(model):
        return RegressionReport(rows.y, model.predict(rows.X), sample_weight=rows.weight)
    point = model.point if isinstance(model, RetargetedClassifier) else None
    source = model.model if isinstance(model, RetargetedClassifier) else model
    return ClassificationReport(
        rows.y,
        probabilities=source.predict_proba(rows.X),
        classes=list(model.classes_),
        positive=_label(positive, list(model.classes_)),
        working_point=point,
        training_priors=getattr(source, "class_prior_", None),
        sample_weight=rows.weight,
    )


def _label(text: str | None, classes: list[Any]) -> Any:
    """The class that is written like that."""
    from novum.core.errors import InputError
    from novum.core.text import listed, printable

    if text is None:
        return None
    by_text = {str(label): label for label in classes}
    if text not in by_text:
        raise InputError(
            f"--positive {printable(text)!r} is none of the classes {listed(classes)}. Name one of "
            "them."
        )
    return by_text[text]
