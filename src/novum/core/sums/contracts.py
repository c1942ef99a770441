"""The contract of learners whose statistics add up, as executable checks.

Every learner with statistics runs these unchanged: in memory, from a stream, from a file, on a
Dask cluster that loses a worker, after removal of rows, and in exact folds. A check takes a `Case`
(`core.learners.contracts`) and raises `AssertionError` with what differed.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv as pa_csv
import pyarrow.parquet as pq
from sklearn.base import clone
from sklearn.model_selection import KFold, LeaveOneOut, cross_val_predict

from novum.core.learners import Case, Check, predictions
from novum.core.sources import open_source
from novum.core.sums.exact_validation import exact_cross_val_predict
from novum.core.tables import Target, frame_of
from novum.numerics import Array

# Partitions, engines and the order of sums may change the last digits, no more.
_AGREE = 1e-10
_PARTS = 6


def statistics_checks() -> list[Check]:
    """Checks that need nothing but a case; those with a large file or a cluster stand apart."""
    return [
        check_sums_of_parts,
        check_zero_and_scale,
        check_removal,
        check_stream,
        check_partial_fit,
        check_statistics_leave_the_model_alone,
        check_exact_folds,
        check_exact_leave_one_out,
        check_files,
    ]


# --- In memory ------------------------------------------------------------------------------------


def check_sums_of_parts(case: Case) -> None:
    """`S(A) + S(B) = S(A and B)`, in any grouping, and the fit is that of all rows."""
    whole = case.model.statistics(case.X, case.y)
    parts = [case.model.statistics(*rows) for rows in _parts(case)]
    left = parts[0]
    for part in parts[1:]:
        left = left + part
    right = parts[-1]
    for part in parts[-2::-1]:
        right = part + right
    assert whole.isclose(left), "the sum from the left is not the sum over all rows"
    assert whole.isclose(right), "the sum from the right is not the sum over all rows"
    _assert_same(clone(case.model).fit_statistics(left), case, "fitted to a sum of parts")


def check_zero_and_scale(case: Case) -> None:
    """`S + 0 = S`, and `2 S` is every row twice."""
    whole = case.model.statistics(case.X, case.y)
    assert whole.isclose(whole + whole.zero()), "adding no rows changed the sum"
    doubled = clone(case.model).fit_statistics(2.0 * whole)
    twice = np.repeat(np.arange(case.n_rows), 2)
    _assert_close(doubled, case.fitted(*case.rows(twice)), case.X, "weights doubled")


def check_removal(case: Case) -> None:
    """Rows that are forgotten leave no trace."""
    rows = np.arange(case.n_rows)
    kept, gone = rows[rows % 4 != 0], rows[rows % 4 == 0]
    model = case.fitted().forget(*case.rows(gone))
    expected = case.fitted(*case.rows(kept))
    # Taking away costs the digits by which the removed rows outweigh the rest: here one or two.
    known = case.rows(kept)[0]
    _assert_close(model, expected, known, "after forgetting rows", rtol=1e-8)


def check_stream(case: Case) -> None:
    """Chunks, generators and callables give the fit of all rows, and all of them the same bits."""
    fits = [
        clone(case.model).fit_stream(_parts(case)),
        clone(case.model).fit_stream(iter(_parts(case))),
        clone(case.model).fit_stream(lambda: _parts(case)),
    ]
    for fit in fits:
        _assert_same(fit, case, "streamed")
        streamed, first = predictions(fit, case.X), predictions(fits[0], case.X)
        assert streamed.tobytes() == first.tobytes(), "the same chunks gave other bits"


def check_partial_fit(case: Case) -> None:
    """Rows added bit by bit give the fit of all rows."""
    model = clone(case.model)
    for part in _parts(case):
        model.partial_fit(*part)
    _assert_same(model, case, "partially fitted")


def check_statistics_leave_the_model_alone(case: Case) -> None:
    """`statistics` changes nothing, fitted or not."""
    unfitted = clone(case.model)
    unfitted.statistics(case.X, case.y)
    assert set(vars(unfitted)) == set(vars(clone(case.model))), "statistics set attributes"
    model = case.fitted()
    before = dict(vars(model))
    model.statistics(*_parts(case)[0])
    assert all(vars(model)[name] is value for name, value in before.items())


def check_exact_folds(case: Case) -> None:
    """Exact folds predict what refitting on every fold predicts."""
    folds = KFold(5, shuffle=True, random_state=0)
    _assert_folds(case, folds, np.arange(case.n_rows))


def check_exact_leave_one_out(case: Case) -> None:
    """Leaving one row out too."""
    _assert_folds(case, LeaveOneOut(), np.arange(min(case.n_rows, 60)))


# --- Files ----------------------------------------------------------------------------------------


def check_files(case: Case) -> None:
    """CSV and Parquet files give the fit in memory."""
    table = _table(case)
    with tempfile.TemporaryDirectory() as folder:
        paths = Path(folder) / "table.parquet", Path(folder) / "table.csv"
        pq.write_table(table, paths[0], row_group_size=64)
        pa_csv.write_csv(table, paths[1])
        for path in paths:
            model = clone(case.model).fit_file(path, target="target", chunk_rows=50)
            read = pa.concat_tables(open_source(path).chunks(), promote_options="default")
            _assert_same(model, case, f"fitted to {path.name}", X=read.drop_columns(["target"]))


def check_file_larger_than_memory(
    learner: str,
    folder: Path,
    *,
    target: Target = "numbers",
    megabytes: int = 600,
    limit_megabytes: int = 400,
) -> None:
    """A file larger than the limit is fitted within the limit above what the imports take.

    `learner` is an import string such as `"novum.linear:LinearRegression"`: the fit runs in a
    process of its own, whose peak memory is measured. `target` says what it learns to predict.
    """
    path = folder / "large.parquet"
    _write_large(path, megabytes, target)
    done = subprocess.run(
        [sys.executable, "-c", _MEMORY_PROBE, learner, str(path)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    grown = float(done.stdout)
    assert grown <= limit_megabytes, f"{grown:.0f} MB above the imports, {limit_megabytes} allowed"


_MEMORY_PROBE = """
import importlib, sys
import duckdb, pyarrow.parquet, novum.core, novum.data
def status(key):
    with open("/proc/self/status") as f:
        return next(int(line.split()[1]) / 1024 for line in f if line.startswith(key + ":"))
module, name = sys.argv[1].split(":")
learner = getattr(importlib.import_module(module), name)()
before = status("VmRSS")
learner.fit_file(sys.argv[2], target="y")
print(status("VmHWM") - before)
"""


def _write_large(path: Path, megabytes: int, target: Target, n_columns: int = 20) -> None:
    rng = np.random.default_rng(0)
    group = 65_536
    groups = max(1, megabytes * 2**20 // (8 * group * (n_columns + 1)))
    names = [f"x{j}" for j in range(n_columns)]
    schema = pa.schema([(name, pa.float64()) for name in (*names, "y")])
    with pq.ParquetWriter(path, schema, compression="none", use_dictionary=False) as writer:
        for _ in range(groups):
            X = rng.normal(size=(group, n_columns))
            y = X.sum(axis=1) + rng.normal(size=group)
            if target == "classes":
                y = (y > 0).astype(float)
            columns = [*(X[:, j] for j in range(n_columns)), y]
            writer.write_table(pa.table(columns, schema=schema), row_group_size=group)


# --- Cluster --------------------------------------------------------------------------------------


def check_cluster_that_loses_a_worker(case: Case, client: Any) -> None:
    """A fit on a cluster whose worker is killed midway has the bits of a stream of its partitions.

    `client` is a `distributed.Client` of a cluster with at least two worker processes.
    """
    import dask

    try:
        # A worker that an earlier check killed may still be on its way back.
        client.wait_for_workers(2, timeout=30)
    except TimeoutError:
        # Dask has given it up.
        client.cluster.scale(0)
        while client.cluster.workers:
            time.sleep(0.1)
        client.cluster.scale(2)
        client.wait_for_workers(2, timeout=120)
    slow = dask.delayed(_slow_chunk, pure=False)
    chunks = [slow(*part) for part in _parts(case)]
    victim = next(iter(client.run(os.getpid).values()))
    # Half-way: two workers need three rounds of 0.7 seconds for the six chunks.
    assassin = threading.Timer(1.0, os.kill, (victim, signal.SIGKILL))
    assassin.start()
    model = clone(case.model).fit_stream(chunks)
    assassin.join()
    assert victim not in client.run(os.getpid).values(), "no worker was lost"
    expected = clone(case.model).fit_stream(_parts(case))
    answers = predictions(model, case.X)
    assert answers.tobytes() == predictions(expected, case.X).tobytes(), (
        "a lost worker changed bits"
    )
    _assert_same(model, case, "on a cluster")


def _slow_chunk(*chunk: Any) -> tuple[Any, ...]:
    time.sleep(0.7)
    return chunk


# --- Tables and comparisons -----------------------------------------------------------------------


def _parts(case: Case) -> list[tuple[Any, Any]]:
    return [case.rows(rows) for rows in np.array_split(np.arange(case.n_rows), _PARTS)]


def _table(case: Case) -> pa.Table:
    if isinstance(case.X, np.ndarray):
        columns = {f"x{j}": case.X[:, j] for j in range(case.X.shape[1])}
        return pa.table({**columns, "target": np.asarray(case.y)})
    table = frame_of(case.X).to_arrow()
    return table.append_column("target", pa.array(np.asarray(case.y)))


def _assert_folds(case: Case, cv: Any, rows: Array) -> None:
    X, y = case.rows(rows)
    folded = exact_cross_val_predict(case.model, X, y, cv)
    expected = cross_val_predict(_WithSchema(case.model, X, y), X, y, cv=cv)
    size = float(np.abs(expected).max())
    np.testing.assert_allclose(folded, expected, rtol=_AGREE, atol=_AGREE * size)


class _WithSchema:
    """The slow way reads every fold by the schema of the whole table, as the fast way does."""

    def __init__(self, model: Any, X: Any, y: Any) -> None:
        self.model, self.X, self.y = model, X, y
        self.schema = model.statistics(X, y).schema

    def get_params(self, deep: bool = True) -> dict[str, Any]:  # noqa: ARG002
        return {"model": self.model, "X": self.X, "y": self.y}

    def __sklearn_clone__(self) -> _WithSchema:
        return self

    def __sklearn_tags__(self) -> Any:
        return self.model.__sklearn_tags__()

    def fit(self, X: Any, y: Any) -> Any:
        sums = self.model.statistics(X, y, schema=self.schema)
        self.fitted = clone(self.model).fit_statistics(sums)
        return self

    def predict(self, X: Any) -> Any:
        return self.fitted.predict(X)


def _assert_same(model: Any, case: Case, when: str, X: Any = None) -> None:
    known = case.X if X is None else X
    _assert_arrays(predictions(model, known), predictions(case.fitted(), case.X), _AGREE, when)


def _assert_close(a: Any, b: Any, X: Any, when: str, rtol: float = _AGREE) -> None:
    _assert_arrays(predictions(a, X), predictions(b, X), rtol, when)


def _assert_arrays(actual: Any, expected: Any, rtol: float, when: str) -> None:
    size = float(np.abs(expected).max())
    np.testing.assert_allclose(actual, expected, rtol=rtol, atol=rtol * size, err_msg=when)
