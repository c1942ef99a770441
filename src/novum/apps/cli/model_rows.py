"""Rows for a model: a table read by the schema that the model learned from.

A cell then means what it meant in training: numbers are numbers, levels are levels, and a column
that lacks is named before anything is computed.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from novum import data
from novum.apps.job.ending import SEEN
from novum.apps.job.job import RUN
from novum.apps.job.outputs import count_seen_rows
from novum.apps.job.record import RunRecord, SeveralRecord, TaskKind
from novum.apps.job.request import Request
from novum.apps.job.several import read_run
from novum.apps.job.table.features import feature_cells, ids_of
from novum.apps.job.table.formalizing import formalize_like
from novum.apps.job.table.labels import read_sets
from novum.apps.job.table.named_columns import suggestion
from novum.apps.job.table.reading import LoadedTable, read, read_like
from novum.apps.job.table.target_column import read_weights
from novum.apps.job.table.task import Rows, Task
from novum.core.decisions import OrderedClassifier, RetargetedClassifier
from novum.core.errors import FileFormatError, InputError
from novum.core.files import load
from novum.core.sources import ReadReport, is_amount_text, is_number_text
from novum.core.tables import Column, Kind, Schema, level_key, moments_of
from novum.core.text import label_text, listed, printable
from novum.display import counted
from novum.ensemble import LabelModels, TargetModels
from novum.numerics import Positions


def model_of(path: Path) -> Any:
    """The fitted model of a file."""
    model = load(path)
    if not hasattr(model, "predict"):
        raise InputError(
            f"{path} holds a {type(model).__name__}, which predicts nothing. Name a model file "
            "that novum run or novum.core.save wrote."
        )
    return model


def models_of(model: Any, path: Path, target: str | None) -> Iterator[tuple[str | None, Any, Path]]:
    """Targets with their models and the folders of their runs, of a model of one or of several.

    The target of the run whose record lies beside the file is taken where none is named.
    """
    beside: RunRecord | SeveralRecord | None = None
    with suppress(OSError, FileFormatError):
        beside = read_run(path.parent / RUN)
    if isinstance(model, LabelModels) or not isinstance(model, TargetModels):
        name = model.name if isinstance(model, LabelModels) else None
        if not name and isinstance(beside, RunRecord):
            name = beside.task.target
        yield target or name, model, path.parent
        return
    folders: dict[str, str] = {}
    if isinstance(beside, SeveralRecord):
        folders = dict(zip(beside.targets, beside.folders, strict=False))
    wanted = list(model.targets)
    if target is not None:
        wanted = [target] if target in wanted else [name.strip() for name in target.split(",")]
    for name in wanted:
        yield name, model[name], path.parent / folders.get(name, "")


def seen_rows(folder: Path, rows: Rows) -> int | None:
    """How many rows the model has learned from; None where its run says nothing of them."""
    known = folder / SEEN
    return count_seen_rows(known, rows.X) if known.exists() else None


def is_classifier(model: Any) -> bool:
    """Whether a model answers with classes."""
    return hasattr(model, "predict_proba") or isinstance(model, RetargetedClassifier)


def schema_of(model: Any) -> Schema:
    """The columns that a model learned from; those of its first part where it has parts."""
    schema = getattr(model, "schema_", None)
    if isinstance(schema, Schema):
        return schema
    for parts in ("steps", "estimators_", "models"):
        for part in getattr(model, parts, ())[:1]:
            return schema_of(part[1] if isinstance(part, tuple) else part)
    inner = getattr(model, "model", getattr(model, "estimator_", None))
    if inner is not None:
        return schema_of(inner)
    raise InputError(
        f"The {type(model).__name__} does not say which columns it learned from: it is not fitted, "
        "or was fitted to an array. Fit it to a table with names of columns."
    )


def features_for(model: Any, request: Request) -> tuple[pa.Table, Any]:
    """The columns of a table that the model predicts from, all rows, and the names of the rows."""
    schema = schema_of(model)
    loaded = _read(model, request, schema)
    return loaded.table.select(list(schema.names)), ids_of(loaded, request)


def rows_to_answer(model: Any, request: Request) -> tuple[pa.Table, Any, tuple[str, ...]]:
    """As `features_for`, and what to say of cells that are no numbers or dates, thus missing."""
    schema = schema_of(model)
    try:
        loaded = _read(model, request, schema)
    except FileFormatError as error:
        try:
            as_words = [
                Column(column.name, Kind.NOMINAL) if column.kind is Kind.NUMERIC else column
                for column in schema.columns
            ]
            loaded = _read(model, request, Schema(tuple(as_words)))
        except InputError:
            raise error from None
        said = []
        for column in schema.columns:
            if column.kind is Kind.NUMERIC:
                place = loaded.table.column_names.index(column.name)
                numbers, sentence = _numbers_in(loaded.table.column(place), column.name)
                if numbers is None:
                    raise error from None
                table = loaded.table.set_column(place, column.name, numbers)
                loaded = replace(loaded, table=table)
                said += [sentence] if sentence else []
    else:
        said = []
    X = loaded.table.select(list(schema.names))
    for name, day_first in _dates_of(model).items():
        cells = X[name]
        if pa.types.is_dictionary(cells.type):
            cells = cells.cast(cells.type.value_type)
        strange = _no_dates(cells.unique().drop_null(), day_first)
        if strange:
            wrong = pc.is_in(cells, pa.array(strange, cells.type))
            said.append(_no_values(name, "date", cells, np.flatnonzero(wrong)))
            place = X.column_names.index(name)
            X = X.set_column(place, name, pc.if_else(wrong, None, cells))
    return X, ids_of(loaded, request), (*said, *_filled(model, X))


def _dates_of(model: Any) -> dict[str, bool]:
    """Columns that a model, or some part of it, reads as dates; and whether days come first."""
    found: dict[str, bool] = {}
    if hasattr(model, "date_columns_"):
        names = [model.schema_.names[place] for place in model.date_columns_.tolist()]
        found |= zip(names, model.day_first_.tolist(), strict=True)
    for parts in ("steps", "estimators_", "models"):
        for part in getattr(model, parts, ()):
            found |= _dates_of(part[1] if isinstance(part, tuple) else part)
    inner = getattr(model, "model", getattr(model, "estimator_", None))
    return found if inner is None else found | _dates_of(inner)


def _no_dates(levels: pa.Array, day_first: bool) -> list[Any]:
    """The levels that are no dates, which halving finds."""
    try:
        moments_of(levels, "", day_first)
    except InputError:
        if len(levels) == 1:
            return list(levels.to_pylist())
        half = len(levels) // 2
        return _no_dates(levels[:half], day_first) + _no_dates(levels[half:], day_first)
    return []


def _numbers_in(cells: pa.ChunkedArray, name: str) -> tuple[pa.Array | None, str]:
    """Cells of text as numbers, and what to say of those that are none; None where unclear."""
    coded = cells.combine_chunks().dictionary_encode()
    levels = [str(level) for level in coded.dictionary.to_pylist()]
    words = [level for level in levels if not is_number_text(level)]
    if any(map(is_amount_text, words)):
        # Only a reader of the whole file knows what its signs mean.
        return None, ""
    values = pa.array([None if level in words else float(level) for level in levels], pa.float64())
    numbers = values.take(coded.indices)
    wrong = np.flatnonzero(np.asarray(numbers.is_null()) & np.asarray(coded.indices.is_valid()))
    if not len(wrong):
        return numbers, ""
    return numbers, _no_values(name, "number", cells, wrong)


def _no_values(name: str, kind: str, cells: pa.ChunkedArray, rows: Positions) -> str:
    """What to say of cells that cannot be read as their column is."""
    is_one = len(rows) == 1
    what = f"cell that is no {kind}" if is_one else f"cells that are no {kind}s"
    return (
        f"{printable(name)!r} has {len(rows):,} {what}, the first in row {rows[0] + 1}: "
        f"{label_text(cells[int(rows[0])].as_py())}. {'It counts' if is_one else 'They count'} as "
        "missing."
    )


def _filled(model: Any, X: pa.Table) -> Iterator[str]:
    """What to say of missing cells in columns of which training knew every cell."""
    source = getattr(model, "model", model)
    source = getattr(source, "model", source)
    for _, step in getattr(source, "steps", ()):
        if not hasattr(step, "count_missing"):
            continue
        whole = [n for n, gone in zip(step.schema_.names, step.filled_, strict=True) if not gone]
        gaps = {n: np.asarray(X[n].is_null(nan_is_null=True)) for n in whole if n in X.column_names}
        gaps = {name: gone for name, gone in gaps.items() if gone.any()}
        if gaps:
            first = min(int(gone.argmax()) for gone in gaps.values())
            n_cells = sum(int(gone.sum()) for gone in gaps.values())
            yield (
                f"{counted(n_cells, 'cell')} of {listed(list(gaps))} "
                f"{'is' if n_cells == 1 else 'are'} missing, the first in row {first + 1}, though "
                "training knew all of them: its mean or most frequent level stands there."
            )


def unseen_levels(X: pa.Table, schema: Schema) -> tuple[str, ...]:
    """One sentence for each column with levels that the model never met.

    What a model does with such a cell is its own rule; that it met one is said here.
    """
    unseen = []
    for column in schema.columns:
        # Dates and texts have no levels to know.
        if column.kind is Kind.NUMERIC or not column.levels:
            continue
        cells = X.column(column.name).to_pylist()
        strange = [
            row
            for row, cell in enumerate(cells)
            if cell is not None and level_key(cell) not in column.positions
        ]
        if strange:
            unseen.append(
                f"{printable(column.name)!r} has {len(strange):,} of its cells at levels that the "
                f"model never met, the first in row {strange[0] + 1}: "
                f"{label_text(cells[strange[0]])}."
            )
    return tuple(unseen)


def rows_for(model: Any, request: Request) -> Rows:
    """The rows of a table that have a target, with the model's classes."""
    target = request.target
    if target is None and request.table in data.available():
        target = data.load(request.table).target
    if target is None:
        raise InputError("Which column holds the truth? Name it with --target, as in novum run.")
    schema = schema_of(model)
    loaded = _read(model, replace(request, target=target), schema)
    if isinstance(model, LabelModels):
        return _rows_with_sets(model, loaded, request, schema)
    return formalize_like(loaded, _task(model, schema, target), request).rows()


# --- Steps ----------------------------------------------------------------------------------------


def _rows_with_sets(
    model: LabelModels, loaded: LoadedTable, request: Request, schema: Schema
) -> Rows:
    """Rows whose set of labels is known, with a table of zeros and ones as their target."""
    sets = read_sets(loaded, model.targets, model.separator)
    positions = np.flatnonzero(~np.isnan(sets.indicator[:, 0]))
    X = loaded.table.select(list(schema.names)).take(pa.array(positions))
    weight = None
    if request.weight is not None:
        weight = read_weights(feature_cells(loaded, request.weight))[positions]
    return Rows(positions, X, sets.indicator[positions], weight, None, None)


def _read(model: Any, request: Request, schema: Schema) -> LoadedTable:
    target = request.target
    extra = [] if target is None else [_target_column(model, target)]
    extra += [Column(name) for name in (request.weight, request.exposure) if name is not None]
    if request.id is not None and request.id not in schema.names:
        extra.append(Column(request.id, Kind.NOMINAL))
    needed = [*schema.names, *(column.name for column in extra)]
    if request.table in data.available():
        loaded = read(replace(request, weight=None, exposure=None))
        _refuse_absent(loaded, needed)
        return loaded
    known = LoadedTable(
        name="the model's table",
        table=pa.table({}),
        schema=Schema((*schema.columns, *extra)),
        target=target or "",
        sha256="",
        report=ReadReport("the model", "model", 0, (), ()),
    )
    return read_like(request.table, known, needed, request)


def _refuse_absent(loaded: LoadedTable, needed: Sequence[str]) -> None:
    absent = [name for name in needed if name not in loaded.schema.names]
    if absent:
        raise InputError(
            f"{loaded.name} lacks the column {printable(absent[0])!r}, which the model needs. "
            f"{suggestion(absent[0], loaded.schema.names, needed)}"
        )


def _target_column(model: Any, target: str) -> Column:
    """The truth as it stands in a file: numbers, or the labels of the model's classes."""
    if isinstance(model, LabelModels):
        return Column(target, Kind.NOMINAL)
    classes = getattr(model, "classes_", None)
    if not is_classifier(model) or classes is None:
        return Column(target)
    labels = np.asarray(classes).tolist()
    if any(isinstance(label, bool) for label in labels):
        return Column(target, Kind.NOMINAL, tuple(labels))
    is_text = any(isinstance(label, str) for label in labels)
    return (
        Column(target, Kind.NOMINAL, tuple(labels))
        if is_text and not _fractions(labels)
        else (Column(target))
    )


def _fractions(labels: Sequence[Any]) -> bool:
    """Whether labels are the texts of numbers, which a run gives to classes that are fractions."""
    try:
        return all(repr(float(label)) == label for label in labels)
    except ValueError:
        return False


def _task(model: Any, schema: Schema, target: str) -> Task:
    """The task of the model's training, as far as reading a target needs it."""
    classes = np.asarray(model.classes_) if is_classifier(model) else None
    kind: TaskKind = "regression"
    if classes is not None:
        kind = "binary" if len(classes) == 2 else "multiclass"
        source = model.model if isinstance(model, RetargetedClassifier) else model
        kind = "ordinal" if isinstance(source, OrderedClassifier) else kind
    return Task(
        kind=kind,
        target=target,
        X=pa.table({}),
        schema=schema,
        coded=np.empty(0, np.float64 if classes is None else np.int64),
        classes=classes,
        positive=None,
        weight=None,
        groups=None,
        order=None,
        point=getattr(model, "point", None),
        metric="rmse" if classes is None else "accuracy",
        greater_is_better=classes is not None,
        left_out=(),
        sentences=(),
    )
