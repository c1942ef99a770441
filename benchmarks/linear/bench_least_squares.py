"""Least squares: a million rows, one row at a time, and a file larger than the memory allowed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from benchmarks.clock import Clock
from benchmarks.linear.tables import regression_file, regression_table
from benchmarks.peers import Make, Peer, build, load, novum
from benchmarks.recipes import Data, Recipe, rows
from benchmarks.registry import Figures, Protocol, Quality, workload

OURS = "novum.linear:LinearRegression"
SKLEARN = "sklearn.linear_model:LinearRegression"
INTELEX = "sklearnex.linear_model:LinearRegression"
EQUAL = Quality("error", "low", required=1e-9)
CALLS = 2_000


def coefficients(reference: str) -> Protocol:
    """Fit only; the largest relative difference of a coefficient from the refined solution."""

    def protocol(make: Make, data: Data, clock: Clock) -> Figures:
        estimator = make(data)
        with clock("fit"):
            estimator.fit(data.X, data.y)
        return {"error": relative_error(estimator.coef_, getattr(data, reference))}

    return protocol


def relative_error(found: Any, reference: np.ndarray) -> float:
    return float(np.max(np.abs(np.ravel(found) / reference - 1)))


class NumpyLstsq:
    """numpy.linalg.lstsq (SVD) on the table with a column of ones."""

    def fit(self, X: np.ndarray, y: np.ndarray) -> None:
        design = np.column_stack([X, np.ones(len(X))])
        self.coef_ = np.linalg.lstsq(design, y)[0][:-1]


class StatsmodelsOLS:
    """statsmodels' OLS by QR or by its default, the pseudo-inverse."""

    def __init__(self, method: str) -> None:
        import statsmodels.api

        self.method = method
        self.library = statsmodels.api

    def fit(self, X: np.ndarray, y: np.ndarray) -> None:
        model = self.library.OLS(y, self.library.add_constant(X))
        self.coef_ = model.fit(method=self.method).params[1:]


workload(
    "linear.least_squares",
    Recipe(regression_table, rows(1_000_000), 50),
    coefficients("coefficients"),
    [
        Peer("sklearn", build(SKLEARN)),
        Peer("intelex", build(INTELEX)),
        Peer("numpy lstsq", lambda _: NumpyLstsq()),
        Peer("statsmodels qr", lambda _: StatsmodelsOLS("qr")),
        Peer("statsmodels pinv", lambda _: StatsmodelsOLS("pinv"), slow=True),
    ],
    novum=novum(OURS),
    target=4.0,
    against="sklearn",
    quality=EQUAL,
    note="1M x 50 float64; error: largest relative difference from a solution refined in extended "
    "precision. intelex squares the condition number",
)


def one_row(make: Make, data: Data, clock: Clock) -> Figures:
    """The latency of `predict` on one row: the mean over many calls."""
    estimator = make(data)
    estimator.fit(data.X, data.y)
    questions = [data.X[i : i + 1] for i in range(CALLS)]
    with clock("predict"):
        answers = [estimator.predict(question) for question in questions]
    return {
        "_predictions": np.ravel(answers),
        "microseconds": clock.cpu["predict"] / CALLS * 1e6,
        "microseconds_wall": clock.wall["predict"] / CALLS * 1e6,
    }


workload(
    "linear.least_squares.one_row",
    Recipe(regression_table, 5_000, 20),
    one_row,
    [Peer("sklearn", build(SKLEARN)), Peer("intelex", build(INTELEX))],
    novum=novum(OURS),
    target=1.0,
    against="sklearn",
    quality=Quality("difference_predictions", "low", required=1e-9),
    note=f"{CALLS} calls of predict with one row of 20 columns",
)


def stream(make: Make, data: Data, clock: Clock) -> Figures:
    """Fit from a Parquet file; imports are made before, so the peak shows the fit alone."""
    fit = make(data)
    with clock("fit"):
        found = fit(data.path)
    return {"error": relative_error(found, data.coefficients)}


Fit = Callable[[str], Any]


def novum_file(_data: Data) -> Fit:
    learner = load(OURS)
    for module in ("pyarrow.parquet", "pyarrow.dataset", "duckdb", "numba", "scipy.linalg"):
        load(f"{module}:__name__")
    return lambda path: learner().fit_file(path, target="y").coef_


def whole_table(data: Data) -> Fit:
    """scikit-learn after reading everything: fast where the memory is there."""
    import pyarrow.parquet as pq
    from sklearn.linear_model import LinearRegression

    def fit(path: str) -> Any:
        table = pq.read_table(path)
        X = np.column_stack([table[name].to_numpy() for name in data.names])
        return LinearRegression(copy_X=False).fit(X, table["y"].to_numpy()).coef_

    return fit


def summed_gram(data: Data) -> Fit:
    """Batches of rows into one Gram matrix: small and quick, and squares the condition number."""
    import pyarrow.parquet as pq

    def fit(path: str) -> Any:
        gram = np.zeros((len(data.names) + 2,) * 2)
        for batch in pq.ParquetFile(path).iter_batches(65_536, columns=[*data.names, "y"]):
            columns = [column.to_numpy() for column in batch.columns]
            Z = np.column_stack([np.ones(batch.num_rows), *columns])
            gram += Z.T @ Z
        return np.linalg.solve(gram[:-1, :-1], gram[:-1, -1])[1:]

    return fit


workload(
    "linear.least_squares.stream",
    Recipe(regression_file, rows(500_000, full=5_000_000), 50),
    stream,
    [
        Peer("sklearn, whole table", whole_table),
        Peer("pyarrow batches, Gram matrix", summed_gram, other_method=True),
    ],
    novum=Peer("novum", novum_file, ours=True),
    target=1.0,
    against="sklearn, whole table",
    quality=EQUAL,
    memory=400.0,
    limit=300,
    note="Parquet file of 50 + 1 columns in row groups of 64k rows: 0.2 GB, 2 GB with --full",
)
