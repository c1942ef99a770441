"""The main job in Python: `novum.run(table, target=...)` and what it returns.

Every option of `novum run` is a parameter of the same name. The job itself is that of the command
line; a table that is in memory is first written to the folder of the run, so that the files there
can make the model again.
"""

from __future__ import annotations

import csv
import html
import os
import shutil
import tempfile
import weakref
from collections.abc import Iterable, Mapping
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from novum.apps.job.clock import Listener
from novum.apps.job.record import RunRecord, SeveralRecord
from novum.apps.job.request import TASKS, Request, cross_validation_of, seconds_of
from novum.core.errors import InputError
from novum.core.tables import frame_of, is_frame, to_frame
from novum.numerics import cached_property

_PAGE_HEIGHT = 720


class Report:
    """The report of a run: shows itself in a notebook, and can be saved.

    Parameters
    ----------
    page : str
        HTML that needs nothing else.
    """

    def __init__(self, page: str) -> None:
        self.page = page

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Writes the page to a file."""
        target = Path(path)
        target.write_text(self.page, encoding="utf-8")
        return target

    def __repr__(self) -> str:
        return f"<report of {len(self.page):,} characters; save(path) writes it>"

    def _repr_html_(self) -> str:
        # A frame of its own, with nothing allowed: the page needs no script.
        return (
            f'<iframe sandbox srcdoc="{html.escape(self.page)}" title="report" '
            f'style="width:100%;height:{_PAGE_HEIGHT}px;border:0"></iframe>'
        )


class Run:
    """A finished run.

    Attributes
    ----------
    record : RunRecord
        Everything that is known about it, as plain data.
    folder : path
        Where its files are; a temporary one is removed with the run, unless `save` is called.
    leaderboard, predictions : frames
        Of the library that the table came in, else Arrow.
    model : estimator
        The model for use, at the working point if there is one.
    """

    def __init__(
        self, record: RunRecord | SeveralRecord, folder: Path, library: str, request: Request
    ) -> None:
        # Any, because the record of several targets has others inside.
        self.record: Any = record
        self.folder = folder
        self._library, self._request = library, request

    @property
    def _runs(self) -> tuple[RunRecord, ...]:
        is_several = isinstance(self.record, SeveralRecord)
        return self.record.runs if is_several else (self.record,)

    @property
    def leaderboard(self) -> Any:
        """One row for each model, the best first; of several targets one after the other."""
        is_several = isinstance(self.record, SeveralRecord)
        rows = [
            {
                **({"target": run.task.target} if is_several else {}),
                "model": one.title,
                **({"measure": run.task.metric} if is_several else {}),
                ("value" if is_several else run.task.metric): one.score.value,
                "low": one.score.low,
                "high": one.score.high,
                "difference": None if one.difference is None else one.difference.value,
                "difference_low": None if one.difference is None else one.difference.low,
                "difference_high": None if one.difference is None else one.difference.high,
                "p_value": one.p_value,
                "fit_seconds": one.fit_seconds,
                "search_seconds": one.search_seconds,
                "predict_seconds_of_1000": one.predict_seconds,
                "chosen": one.is_chosen,
            }
            for run in self._runs
            for one in run.leaderboard
        ]
        return to_frame(pa.Table.from_pylist(rows), self._library)

    @property
    def predictions(self) -> Any:
        """Answers for all rows by models that had not seen them, and for rows without target."""
        import pyarrow.csv

        from novum.apps.job.ending import PREDICTIONS

        return to_frame(pyarrow.csv.read_csv(self.folder / PREDICTIONS), self._library)

    @cached_property
    def model(self) -> Any:
        """The model for use."""
        from novum.apps.job.ending import MODEL
        from novum.core import load

        return load(self.folder / MODEL)

    def explain(self, row: int, target: str | None = None) -> Any:
        """What each column adds to the answer for one row of the table, the largest first.

        Sampled Shapley values: a column is credited with the change of the prediction when its cell
        takes the place of another row's. With `start`, the mean prediction of the rows drawn, they
        add up to the prediction.

        Parameters
        ----------
        row : int
            Position in the table, from 0.
        target : str, optional
            Which one, where there are several.
        """
        from novum.apps.cli.model_rows import features_for
        from novum.apps.job.effects import contributions
        from novum.apps.job.outputs import Predictions

        model = self.model
        if isinstance(self.record, SeveralRecord):
            name = self.record.targets[0] if target is None else target
            model = model[name.removeprefix(f"{self._request.target}=")]
        asked = replace(self._request, target=None, targets=(), weight=None, exposure=None)
        X, _ = features_for(model, asked)
        if not 0 <= row < X.num_rows:
            raise InputError(f"row is a position from 0 to {X.num_rows - 1}, got {row!r}.")
        answers = Predictions(np.arange(X.num_rows), "", None, model.predict(X))
        names = X.column_names
        (record,) = contributions(
            model, X, answers, [(row, "")], names, seed=0, max_columns=len(names)
        )
        terms = [
            {"column": name, "cell": cell, "contribution": value.value, "low": value.low,
             "high": value.high}
            for name, cell, value in record.terms
        ]  # fmt: skip
        ends = {"cell": "", "low": None, "high": None}
        rows = [
            {"column": "start", "contribution": record.start, **ends},
            *terms,
            {"column": "prediction", "contribution": record.prediction, **ends},
        ]
        return to_frame(pa.Table.from_pylist(rows), self._library)

    def report(self) -> Report:
        """The report, which shows itself in a notebook."""
        from novum.apps.report import render

        return Report(render(self.record))

    def save(self, folder: str | os.PathLike[str]) -> Path:
        """Copies report, model, predictions, leaderboard, program and record to a new folder."""
        from novum.apps.report import write_report

        target = Path(folder)
        if target.exists() and any(target.iterdir()):
            raise InputError(f"{target} is not empty. Name a folder that does not exist yet.")
        shutil.copytree(self.folder, target, dirs_exist_ok=True)
        write_report(self.record, target / "report.html")
        if isinstance(self.record, SeveralRecord):
            for one, inside in zip(self.record.runs, self.record.folders, strict=True):
                write_report(one, target / inside / "report.html")
        return target

    def __repr__(self) -> str:
        return "\n".join(self.record.verdict)

    def _repr_html_(self) -> str:
        return self.report()._repr_html_()


def run(
    table: Any,
    target: str | Iterable[str] | None = None,
    *,
    task: str = "auto",
    positive: Any = None,
    metric: str | None = None,
    cost: Any = None,
    prior: float | None = None,
    cost_fn: float | None = None,
    cost_fp: float | None = None,
    coverage: float = 0.9,
    holdout: float = 0.2,
    test: Any = None,
    weight: str | None = None,
    exposure: str | None = None,
    group: str | None = None,
    time: str | None = None,
    id: str | None = None,
    kind: Mapping[str, str] | None = None,
    levels: Mapping[str, Iterable[Any]] | None = None,
    missing_values: Iterable[str] = (),
    sql: str | None = None,
    sheet: str | None = None,
    preset: str = "standard",
    models: str | Iterable[str] = (),
    budget: float | str | None = None,
    plan: str | os.PathLike[str] | None = None,
    cv: int | str | None = None,
    seed: int = 0,
    jobs: int = 1,
    refit: bool = True,
    output: str | os.PathLike[str] | None = None,
    verbose: bool = False,
) -> Run:
    """From a table to a decision: reads, checks, compares models, judges the best, reports.

    Parameters
    ----------
    table : data frame, path or str
        A frame of any library, a file, or the name of a bundled table.
    target : str or list of str, optional
        Column to predict, or several; a bundled table knows its own.
    task : {"auto", "binary", "multiclass", "ordinal", "labels", "regression", "counts"}
    positive : label, optional
        The positive one of two classes.
    metric : str, optional
        Measure that models are chosen by.
    cost : path, or mapping of true classes to mappings of actions to costs, optional
    prior, cost_fn, cost_fp : float, optional
        Share of the positive class in use, cost of missing one, cost of a false alarm.
    coverage : float
        Share of new rows whose truth is in the interval, or set of classes, of their answer.
    holdout : float
        Share of the rows to judge on.
    test : data frame or path, optional
        Rows to judge on, in place of a share.
    weight, group, time : str, optional
        Columns with weights, with groups that stay together, with the order in time.
    exposure : str, optional
        Column with the time, area or number that counts are counted in; rates are predicted.
    id : str, optional
        Column that names the rows: no feature, but the first column of the predictions.
    kind : mapping of columns to kinds, optional
        "numeric", "nominal", "ordinal", "text", "date", "id" or "drop" in place of a guess.
    levels : mapping of columns to levels, optional
        Ordinal columns with their levels from low to high.
    missing_values : list of str
        Cells that mean missing, besides the usual ones.
    sql, sheet : str, optional
        The question to a DuckDB or SQLite file, and the sheet of an Excel file.
    preset : {"quick", "standard", "thorough"}
    models : str or list of str
        Families to try; all that fit by default.
    budget : float or str, optional
        Seconds, or a time such as "90s", until everything is done.
    plan : path, optional
        Plan or record of a run that is repeated.
    cv : int or str, optional
        Outer cross-validation, such as "2x5".
    seed, jobs : int
    refit : bool
        Whether the chosen model is fitted to all rows at the end.
    output : path, optional
        Folder for the files of the run; a temporary one by default.
    verbose : bool
        Whether to show progress.

    Returns
    -------
    Run

    Examples
    --------
    >>> import novum
    >>> found = novum.run("iris", preset="quick", models=["tree", "gaussian"])
    >>> print(str(found).splitlines()[0])
    Of 3 models, Gaussian classifier is chosen to predict species.
    >>> found.leaderboard["model"].to_pylist()[-1]
    'the same answer for every row'
    """
    from novum.apps.job.job import run as run_job
    from novum.ensemble import library_of
    from novum.evaluation import check_coverage

    repeats, folds = (None, None) if cv is None else cross_validation_of(str(cv))
    targets = (target,) if target is None or isinstance(target, str) else tuple(target)
    request = Request(
        table="",
        target=targets[0] if len(targets) == 1 else None,
        targets=() if len(targets) == 1 else tuple(str(name) for name in targets),
        task=task,  # type: ignore[arg-type]
        positive=None if positive is None else str(positive),
        metric=metric,
        prior=prior,
        cost_fn=cost_fn,
        cost_fp=cost_fp,
        holdout=holdout,
        weight=weight,
        exposure=exposure,
        group=group,
        time=time,
        id=id,
        kind=tuple((kind or {}).items()),
        levels=tuple(
            (name, tuple(str(level) for level in known)) for name, known in (levels or {}).items()
        ),
        missing_values=tuple(missing_values),
        sql=sql,
        sheet=sheet,
        preset=preset,  # type: ignore[arg-type]
        models=tuple(models.split(",")) if isinstance(models, str) and models else tuple(models),
        budget_seconds=None if budget is None else seconds_of(str(budget)),
        plan=None if plan is None else os.fspath(plan),
        repeats=repeats,
        folds=folds,
        seed=seed,
        n_jobs=jobs,
        refit=refit,
        coverage=check_coverage(coverage),
    )
    request = _checked(request)
    folder = Path(tempfile.mkdtemp(prefix="novum-") if output is None else output)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        request = replace(
            request,
            table=_file_of(table, folder / "table.parquet", request),
            test=None if test is None else _file_of(test, folder / "test.parquet", request),
            cost=_cost_file(cost, folder / "cost.csv"),
        )
        with _shown(verbose) as listener:
            record = run_job(request, folder, listener)
    except BaseException:
        if output is None:
            shutil.rmtree(folder, ignore_errors=True)
        raise
    run = Run(record, folder, library_of(table), request)
    if output is None:
        weakref.finalize(run, shutil.rmtree, folder, ignore_errors=True)
    return run


# --- Steps ----------------------------------------------------------------------------------------


def _file_of(table: Any, path: Path, request: Request) -> str:
    """The path or name of a table; one that is in memory is written first."""
    if isinstance(table, (str, os.PathLike)):
        return os.fspath(table)
    if not is_frame(table):
        raise InputError(
            f"A run takes a data frame, a path or the name of a bundled table, got a "
            f"{type(table).__name__}. Make a frame with named columns of it."
        )
    import pyarrow.parquet

    if request.task == "labels" and request.target is not None:
        table = _with_texts_of_sets(table, request.target)
    pyarrow.parquet.write_table(frame_of(table).to_arrow(), path)
    return str(path)


def _with_texts_of_sets(table: Any, target: str) -> Any:
    """A frame whose lists of labels are written as texts, with a separator that no label has."""
    from novum.apps.job.table.labels import SEPARATORS

    frame = frame_of(table)
    if target not in frame.columns:
        return table
    cells = frame[target].to_list()
    is_set = [isinstance(cell, (list, tuple, set, frozenset, np.ndarray)) for cell in cells]
    if not any(is_set):
        return table
    rows = [
        sorted(map(str, cell)) if one else None for cell, one in zip(cells, is_set, strict=True)
    ]
    words = {label for row in rows for label in row or ()}
    mark = next((one for one in SEPARATORS if not any(one in word for word in words)), None)
    if mark is None:
        raise InputError(
            f"The labels of {target!r} hold all of {' '.join(SEPARATORS)}, one of which has to "
            "stand between them. Take one of them out of the labels."
        )
    texts = [None if row is None else mark.join(row) or mark for row in rows]
    arrow = frame.drop(target).to_arrow()
    return arrow.append_column(target, pa.array(texts, pa.string()))


def _cost_file(cost: Any, path: Path) -> str | None:
    """The path of a table of costs; a mapping is written first."""
    if cost is None or isinstance(cost, (str, os.PathLike)):
        return None if cost is None else os.fspath(cost)
    if not isinstance(cost, Mapping) or not all(isinstance(row, Mapping) for row in cost.values()):
        raise InputError(
            "cost is a path, or a mapping of true classes to mappings of actions to costs, such as "
            "{'good': {'good': 0, 'bad': 1}, 'bad': {'good': 5, 'bad': 0}}."
        )
    actions = list(dict.fromkeys(action for row in cost.values() for action in row))
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(["", *actions])
        for label, row in cost.items():
            lacking = [action for action in actions if action not in row]
            if lacking:
                raise InputError(f"cost[{label!r}] has no {lacking[0]!r}. Give every cost.")
            writer.writerow([label, *(row[action] for action in actions)])
    return str(path)


def _checked(request: Request) -> Request:
    """Refuses words that the command line would not let through."""
    known = {
        "task": TASKS,
        "preset": ("quick", "standard", "thorough"),
    }
    for name, words in known.items():
        value = getattr(request, name)
        if value not in words:
            raise InputError(f"{name}={value!r} is none of {', '.join(words)}.")
    elsewhere = {
        "clusters": "novum.clustering.choose_clusters",
        "novelty": "novum.evaluation.compare_detectors",
    }
    if request.task in elsewhere:
        raise InputError(
            f"task={request.task!r} has no target to run for; it is for the command line, `novum "
            f"run TABLE --task {request.task}`. In Python use {elsewhere[request.task]}."
        )
    if not 0.0 <= request.holdout <= 0.9:
        raise InputError(f"holdout is a share between 0 and 0.9, got {request.holdout!r}.")
    if request.n_jobs < 1 and request.n_jobs != -1:
        raise InputError(f"jobs is 1 or more, or -1 for all cores, got {request.n_jobs!r}.")
    return replace(request, models=tuple(name.strip() for name in request.models))


def _shown(verbose: bool) -> Any:
    """Progress on standard error, as the command line shows it, or nobody who listens."""
    if not verbose:
        return nullcontext(None)
    from novum.apps.cli.progress import Progress

    return _Listening(Progress("starting"))


class _Listening:
    """Opens the progress of the command line and listens to the run."""

    def __init__(self, progress: Any) -> None:
        self._progress = progress

    def __enter__(self) -> Listener:
        from novum.apps.cli.run import RunListener

        self._progress.__enter__()
        return RunListener(self._progress, None)

    def __exit__(self, *error: object) -> None:
        self._progress.__exit__(*error)
