"""Files of a run: leaderboard and predictions as CSV, and a program that makes the model again.

Cells of text that a spreadsheet would take for a formula get an apostrophe in front, which is what
spreadsheets themselves write for text.
"""

from __future__ import annotations

import csv
import errno
import hashlib
import inspect
import io
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, is_dataclass
from pathlib import Path
from typing import Any

import numpy as np

import novum
from novum.apps.job.record import Standing
from novum.apps.job.record_json import read_record
from novum.apps.job.request import Request
from novum.apps.job.table.task import Task
from novum.core.decisions import WorkingPoint
from novum.core.errors import InputError
from novum.core.files import replacing
from novum.core.sources import is_number_text
from novum.data import available

try:
    import fcntl as _fcntl
except ImportError:  # Windows
    _fcntl = None  # type: ignore[assignment]

fcntl: Any = _fcntl
REQUEST, PLAN, RUN, JOURNALS = "request.json", "plan.json", "run.json", "trials"
LEADERBOARD, PREDICTIONS, MODEL, SCRIPT = (
    "leaderboard.csv",
    "predictions.csv",
    "model.novum",
    "model.py",
)
COVERAGE = "coverage.json"
_FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n", "\0")


def check_folder(request: Request, folder: Path) -> None:
    """Refuses a folder with a finished run, or with one of other settings."""
    known = folder / REQUEST
    # Before there is a plan nothing has been computed that other settings could spoil.
    is_begun = known.exists() and any(folder.rglob(PLAN))
    if is_begun and read_record(known, Request) != request:
        raise InputError(
            f"{folder} holds a run with other settings. Name another folder with --output, or "
            f"go on with that run: novum run --resume {folder}."
        )
    if (folder / RUN).exists():
        raise InputError(
            f"{folder} holds a finished run, which is not overwritten. Name another folder with "
            "--output."
        )


@contextmanager
def own_folder(folder: Path) -> Iterator[None]:
    """The folder of a run, made if it is not there, for one run at a time.

    The lock is one on the folder itself, so that it goes with its process, however that ends.
    """
    is_new = not folder.exists()
    try:
        folder.mkdir(parents=True, exist_ok=True)
        if not os.access(folder, os.W_OK):
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
        descriptor = os.open(folder, os.O_RDONLY) if fcntl is not None else None
    except OSError as error:
        raise InputError(
            f"The results cannot be written to {folder}: {error.strerror}. Name a folder with "
            "--output that can be written to."
        ) from None
    try:
        if descriptor is not None:
            _lock(descriptor, folder)
        try:
            yield
        except BaseException:
            if is_new:
                # Nothing has been written where it is empty.
                with suppress(OSError):
                    folder.rmdir()
            raise
    finally:
        if descriptor is not None:
            os.close(descriptor)


def _lock(descriptor: int, folder: Path) -> None:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        raise InputError(
            f"Another run writes to {folder}. Wait until it has ended, or name another folder with "
            "--output."
        ) from None
    except OSError:
        # File systems without locks keep nobody out.
        return


@dataclass(frozen=True, eq=False)
class Predictions:
    """Answers for some rows of the table.

    Attributes
    ----------
    rows : array (m,)
        Positions in the table, from 0.
    source : str
        Who answered: "out of fold", "hold-out" or "no target".
    target : array (m,) or None
    predicted : array (m,)
    probabilities : array (m, K) or None
    decisions : array (m,) or None
        Actions at the working point.
    reasons : tuple of str
        The columns that moved each row most, in words; empty if nobody asked.
    limits : array (m, 2) or None
        Ends of intervals with promised coverage; NaN where there is no end.
    sets : tuple of str
        Classes with promised coverage, in words; empty for numbers.
    """

    rows: Any
    source: str
    target: Any
    predicted: Any
    probabilities: Any = None
    decisions: Any = None
    reasons: tuple[str, ...] = ()
    limits: Any = None
    sets: tuple[str, ...] = ()


@dataclass(frozen=True, eq=False)
class Identifiers:
    """Names of the rows, which stand first in every line of predictions.

    Attributes
    ----------
    column : str
    names : array (n,)
        Of the rows of the table.
    tested : array or None
        Of the rows of a test file.
    """

    column: str
    names: Any
    tested: Any = None

    def of(self, part: Predictions, i: int) -> Any:
        """The name of a row with an answer."""
        return (self.tested if part.source == "test file" else self.names)[part.rows[i]]


def names_of(column: str | None, task: Task, test: Task | None) -> Identifiers | None:
    """The names of the rows of a task and of its test file; None where they have none."""
    if column is None or task.ids is None:
        return None
    return Identifiers(column, task.ids, None if test is None else test.ids)


def write_predictions(
    path: Path,
    parts: Iterable[Predictions],
    classes: Sequence[Any] | None,
    identifiers: Identifiers | None = None,
) -> int:
    """Writes one line for each row that has an answer; returns how many.

    Rows are numbered from 1 as they stand in the file, its header not counted.
    """
    parts = list(parts)
    with_decision = any(part.decisions is not None for part in parts)
    head = [] if identifiers is None else [identifiers.column]
    head += ["row", "answered", "target", "prediction"]
    head += ["decision"] if with_decision else []
    with_limits, with_sets = (
        any(part.limits is not None for part in parts),
        any(part.sets for part in parts),
    )
    head += ["lower", "upper"] if with_limits else []
    head += ["set"] if with_sets else []
    head += [f"probability {label}" for label in classes or ()]
    with_why = any(part.reasons for part in parts)
    head += ["why"] if with_why else []
    n_lines = 0
    with replacing(path) as file:
        text = io.TextIOWrapper(file, encoding="utf-8", newline="", write_through=True)
        writer = csv.writer(text)
        writer.writerow([safe_cell(name) for name in head])
        for part in parts:
            for i in range(len(part.rows)):
                named = [] if identifiers is None else [safe_cell(identifiers.of(part, i))]
                why = [safe_cell(part.reasons[i] if part.reasons else "")] if with_why else []
                line = _line(part, i, with_decision, with_limits, with_sets)
                writer.writerow([*named, *line, *why])
            n_lines += len(part.rows)
        text.flush()
        text.detach()
    return n_lines


def write_leaderboard(path: Path, standings: Iterable[Standing], label: str) -> None:
    """Writes one line for each model, the best first; `label` names the measure."""
    head = ["model", label, "low", "high", "to the chosen", "p value", "fit seconds"]
    head += ["search seconds", "seconds for 1000 rows", "chosen"]
    with replacing(path) as file:
        text = io.TextIOWrapper(file, encoding="utf-8", newline="", write_through=True)
        writer = csv.writer(text)
        writer.writerow(head)
        for one in standings:
            behind = None if one.difference is None else one.difference.value
            score = (one.score.value, one.score.low, one.score.high)
            chosen = "yes" if one.is_chosen else "no"
            times = (one.fit_seconds, one.search_seconds, one.predict_seconds)
            cells = [one.title, *score, behind, one.p_value, *times, chosen]
            writer.writerow([safe_cell(cell) for cell in cells])
        text.flush()
        text.detach()


# --- Rows that a model has seen -------------------------------------------------------------------
# Eight bytes for each row are enough to find it again, and say nothing of what is in it.


def write_seen_rows(path: Path, X: Any) -> None:
    """Writes the digests of the rows that a model has learned from, sorted."""
    with replacing(path) as file:
        file.write(np.unique(row_digests(X)).astype("<u8").tobytes())


def count_seen_rows(path: Path, X: Any) -> int:
    """How many rows are among those that `write_seen_rows` wrote."""
    content = path.read_bytes()
    if len(content) % 8:
        raise InputError(
            f"{path} is cut: its {len(content):,} bytes are no whole number of rows. Copy it "
            "again, or remove it to judge without knowing which rows the model has learned from."
        )
    known = np.frombuffer(content, "<u8")
    return int(np.isin(row_digests(X), known).sum())


def row_digests(X: Any) -> Any:
    """A number for each row of an Arrow table, equal for equal rows.

    Examples
    --------
    >>> import pyarrow as pa
    >>> one, two = row_digests(pa.table({"a": [1.0, 1.0], "b": ["x", "x"]}))
    >>> bool(one == two)
    True
    """
    columns = [
        [float(cell) if type(cell) is int else cell for cell in column.to_pylist()]
        for column in X.columns
    ]
    digests = (
        hashlib.blake2b(repr(row).encode(), digest_size=8).digest()
        for row in zip(*columns, strict=True)
    )
    return np.frombuffer(b"".join(digests), "<u8")


def safe_cell(value: Any) -> Any:
    """A cell that no spreadsheet takes for a formula; numbers and lone signs stay as they are.

    Examples
    --------
    >>> safe_cell("=1+1"), safe_cell("plain"), safe_cell("-2.5"), safe_cell("+")
    ("'=1+1", 'plain', '-2.5', '+')
    """
    if not isinstance(value, str) or value in ("+", "-") or is_number_text(value):
        return value
    if value.startswith(_FORMULA):
        return f"'{value}"
    return value


@dataclass(frozen=True, eq=False)
class Made:
    """What a program needs to make a model again.

    Attributes
    ----------
    learner : estimator
    table, target : str
    left_out : tuple of str
        Columns that the model does not see.
    weight, exposure : str or None
        Columns of weights and of exposures.
    rows : str or None
        File with the positions of the rows that were learned from, unless all were.
    point : WorkingPoint or None
    reading : mapping
        Arguments of `novum.data.read` besides the table.
    has_gaps : bool
        Whether rows without a target are learned from.
    """

    learner: Any
    table: str
    target: str
    left_out: tuple[str, ...] = ()
    weight: str | None = None
    exposure: str | None = None
    rows: str | None = None
    point: WorkingPoint | None = None
    reading: Mapping[str, Any] = field(default_factory=dict)
    has_gaps: bool = False


def model_script(made: Made) -> str:
    """A program of a dozen lines that fits the chosen model to the table with the library."""
    reader = "load" if made.table in available() else "read"
    names = {("novum.core", "save"), ("novum.data", reader), *_imports(made.learner)}
    names |= {("novum.core", "WorkingPoint")} if made.point is not None else set()
    imports = [
        f"from {door} import {', '.join(sorted(name for home, name in names if home == door))}"
        for door in sorted({door for door, _ in names})
    ]
    standard = [] if made.rows is None else ["import json", "from pathlib import Path", ""]
    return "\n".join(
        [
            f'"""Fits the model that novum {novum.__version__} chose for this table."""',
            "",
            *standard,
            *imports,
            "",
            *_program(made, reader),
            'save(model, "model_again.novum")',
            "",
        ]
    )


def _program(made: Made, reader: str) -> list[str]:
    drop = f"[{', '.join(repr(name) for name in (made.target, *made.left_out))}]"
    more = "".join(f", {name}={value!r}" for name, value in made.reading.items())
    lines = [f"table = {reader}({made.table!r}{more if reader == 'read' else ''}).table"]
    if made.rows is None:
        lines.append(f"table = table.filter(table.column({made.target!r}).is_valid())")
    else:
        lines.append(f"rows = json.loads(Path(__file__).with_name({made.rows!r}).read_text())")
        lines.append("table = table.take(rows)")
    lines.append(f"X, y = table.drop_columns({drop}), table.column({made.target!r})")
    rate, weights = "", []
    for name, column in (("weight", made.weight), ("exposure", made.exposure)):
        if column is not None:
            lines.append(f"{name} = table.column({column!r}).to_numpy()")
            weights.append(name)
            rate = " / exposure" if name == "exposure" else rate
    weight = f", sample_weight={' * '.join(weights)}" if weights else ""
    lines.append(f"model = {_source(made.learner)}")
    values = "y.to_pylist()" if made.has_gaps else "y.to_numpy(zero_copy_only=False)"
    lines.append(f"model.fit(X, {values}{rate}{weight})")
    if made.point is not None:
        lines.append(f"model = model.at({_point(made.point)})")
    return lines


def _point(point: WorkingPoint) -> str:
    arguments = [list(point.classes), point.priors.tolist(), point.cost.tolist()]
    shown = [repr(argument) for argument in arguments]
    if point.reject_cost is not None:
        shown.append(f"reject_cost={point.reject_cost!r}")
    if point.actions != point.classes:
        shown.append(f"actions={list(point.actions or ())!r}")
    return f"WorkingPoint({', '.join(shown)})"


# --- Steps ----------------------------------------------------------------------------------------


def _line(
    part: Predictions, i: int, with_decision: bool, with_limits: bool, with_sets: bool
) -> list[Any]:
    target = "" if part.target is None else part.target[i]
    line = [int(part.rows[i]) + 1, part.source, _plain(target), _plain(part.predicted[i])]
    if with_decision:
        line.append("" if part.decisions is None else _plain(part.decisions[i]))
    if with_limits:
        ends = [np.nan, np.nan] if part.limits is None else part.limits[i].tolist()
        line += ["" if np.isnan(end) else end for end in ends]
    if with_sets:
        line.append(part.sets[i] if part.sets else "")
    if part.probabilities is not None:
        line += ["" if np.isnan(p) else format(float(p), ".6g") for p in part.probabilities[i]]
    return [safe_cell(cell) for cell in line]


def _plain(value: Any) -> Any:
    return value.item() if isinstance(value, np.generic) else value


def _parts(learner: Any) -> Iterable[Any]:
    """The learner and all estimators and values in its settings."""
    yield learner
    for value in _changed(learner).values():
        for part in value if isinstance(value, list) else [value]:
            inner = part[1] if isinstance(part, tuple) else part
            if hasattr(inner, "get_params"):
                yield from _parts(inner)
            elif is_dataclass(inner):
                yield inner


def _imports(learner: Any) -> set[tuple[str, str]]:
    """Doors and names of all classes that make the learner."""
    imports = set()
    for part in _parts(learner):
        package = ".".join(type(part).__module__.split(".")[:2])
        door = "novum.data.scaling" if ".scaling" in type(part).__module__ else package
        door = "novum.data.filling" if ".filling" in type(part).__module__ else door
        imports.add((door, type(part).__name__))
    return imports


def _changed(learner: Any) -> dict[str, Any]:
    """Settings that differ from the class's defaults, in the order of the constructor."""
    defaults = inspect.signature(type(learner).__init__).parameters
    params = learner.get_params(deep=False)
    return {
        name: params[name]
        for name in defaults
        if name in params and repr(params[name]) != repr(defaults[name].default)
    }


def _source(value: Any) -> str:
    """Python that makes an unfitted estimator with these settings."""
    if isinstance(value, list):
        return f"[{', '.join(_source(part) for part in value)}]"
    if isinstance(value, tuple):
        return f"({', '.join(_source(part) for part in value)})"
    if hasattr(value, "get_params"):
        arguments = ", ".join(f"{name}={_source(one)}" for name, one in _changed(value).items())
        return f"{type(value).__name__}({arguments})"
    return repr(value)
