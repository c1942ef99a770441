"""Sums on a real cluster of two processes: the same bits, also when a worker dies."""

import os
import signal
import sys
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import cloudpickle
import dask
import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest
from distributed import Client, LocalCluster
from hypothesis import given
from hypothesis import strategies as st

from novum.core.errors import InputError
from novum.core.runtime import is_dask, sum_on_cluster
from novum.core.sums import ChunkStep, sum_chunks
from novum.linear import LinearRegression

# Workers cannot import this module, so its functions travel as code.
cloudpickle.register_pickle_by_value(sys.modules[__name__])

N = 350
SIZES = (100, 7, 100, 50, 93)


@pytest.fixture
def lost_client() -> Iterator[Client]:
    """A cluster of its own: workers that die while they start are not started again."""
    with (
        dask.config.set({"distributed.scheduler.allowed-failures": 1}),
        LocalCluster(
            n_workers=2,
            threads_per_worker=1,
            processes=True,
            host="127.0.0.1",
            dashboard_address="127.0.0.1:0",
        ) as cluster,
        Client(cluster) as client,
    ):
        yield client


def table() -> tuple[Any, Any, Any]:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(N, 3)) * [1.0, 1e3, 1e-3]
    return X, X @ [1.0, 2e-3, 3e3] + rng.normal(size=N), rng.integers(1, 4, N).astype(float)


def parts(*arrays: Any) -> list[tuple[Any, ...]]:
    edges = np.cumsum((0, *SIZES))
    return [tuple(array[a:b] for array in arrays) for a, b in pairwise(edges)]


def bits(model: Any) -> bytes:
    return model.statistics_.factor.factor.tobytes() + model.coef_.tobytes()


def streamed(*arrays: Any) -> bytes:
    return bits(LinearRegression().fit_stream(parts(*arrays)))


# --- The same bits --------------------------------------------------------------------------------


def test_arrays_of_one_partition_have_the_bits_of_a_stream(client: Client) -> None:  # noqa: ARG001
    X, y, weight = table()
    chunks = (SIZES, 3)
    dask_X, dask_y = da.from_array(X, chunks=chunks), da.from_array(y, chunks=(SIZES,))
    assert bits(LinearRegression().fit_stream((dask_X, dask_y))) == streamed(X, y)
    dask_weight = da.from_array(weight, chunks=(SIZES,))
    weighted = LinearRegression().fit_stream((dask_X, dask_y, dask_weight))
    assert bits(weighted) == streamed(X, y, weight)
    unweighted = LinearRegression().fit_stream((dask_X, dask_y, None))
    assert bits(unweighted) == streamed(X, y)


def test_chunks_of_y_and_of_columns_follow_the_rows_of_x(client: Client) -> None:  # noqa: ARG001
    X, y, _ = table()
    dask_X = da.from_array(X, chunks=(SIZES, 1))
    for dask_y in (da.from_array(y, chunks=(N,)), da.from_array(y, chunks=(33,))):
        assert bits(LinearRegression().fit_stream((dask_X, dask_y))) == streamed(X, y)
    targets = np.column_stack([y, -y])
    dask_targets = da.from_array(targets, chunks=(60, 1))
    several = LinearRegression().fit_stream((dask_X, dask_targets))
    assert bits(several) == streamed(X, targets)


def test_delayed_chunks_and_futures(client: Client) -> None:
    X, y, _ = table()
    chunks = parts(X, y)
    delayed = [dask.delayed(chunk, pure=False) for chunk in chunks]
    assert bits(LinearRegression().fit_stream(delayed)) == streamed(X, y)
    futures = client.scatter(chunks, hash=False)
    assert bits(LinearRegression().fit_stream(futures)) == streamed(X, y)
    assert bits(LinearRegression().fit_stream(tuple(futures))) == streamed(X, y)
    pairs = [(client.scatter(a), dask.delayed(b)) for a, b in chunks]
    assert bits(LinearRegression().fit_stream(pairs)) == streamed(X, y)


def test_futures_are_summed_where_they_are_without_a_default_client(client: Client) -> None:
    X, y, _ = table()
    # Rows must not go to a worker that an earlier test has killed.
    client.wait_for_workers(2, timeout=60)
    with Client(client.scheduler.address, set_as_default=False) as other:
        # Keys of their own: rows with the key of an earlier test may be freed with its futures.
        futures = other.scatter(parts(X, y), hash=False)
        with dask.config.set(scheduler="synchronous"):
            assert bits(LinearRegression().fit_stream(futures)) == streamed(X, y)


def test_frames_keep_names_and_levels(client: Client) -> None:  # noqa: ARG001
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"c": ["a"] * 60 + ["b"] * 40, "x": rng.normal(size=100)})
    y = pd.Series(rng.normal(size=100))
    X_parts, y_parts = dd.from_pandas(frame, npartitions=4), dd.from_pandas(y, npartitions=4)
    model = LinearRegression().fit_stream((X_parts, y_parts))
    expected = LinearRegression().fit(frame, y)
    assert model.feature_names_in_.tolist() == ["c", "x"]
    assert model.schema_ == expected.schema_
    np.testing.assert_allclose(model.coef_, expected.coef_, rtol=1e-10)
    by_array = LinearRegression().fit_stream((X_parts, y_parts.to_dask_array()))
    assert bits(by_array) == bits(model)
    filtered = X_parts[X_parts["c"] == "b"], y_parts[X_parts["c"] == "b"]
    few = LinearRegression(categorical_features=None).fit_stream((filtered[0][["x"]], filtered[1]))
    rest = frame["c"] == "b"
    np.testing.assert_allclose(few.coef_, LinearRegression().fit(frame[rest][["x"]], y[rest]).coef_)


def test_frames_are_cut_where_the_first_is_cut(client: Client) -> None:  # noqa: ARG001
    assert FRAME.divisions != TARGET.divisions
    model = LinearRegression().fit_stream((FRAME, TARGET))
    np.testing.assert_allclose(model.coef_, LinearRegression().fit(X, Y).coef_, rtol=1e-10)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Twelve small Parquet files, which Dask's optimizer puts together when columns are chosen."""
    rows = pd.DataFrame(np.column_stack([X, Y]), columns=["a", "b", "c", "t"])
    for i, start in enumerate(range(0, 348, 29)):
        rows[start : start + 29].to_parquet(tmp_path / f"part.{i:02}.parquet")
    return tmp_path


def test_columns_of_a_folder_of_parquet_files(client: Client, folder: Path) -> None:  # noqa: ARG001
    d = dd.read_parquet(folder)
    features = ["a", "b", "c"]
    assert len(d["t"].to_delayed()) < d.npartitions == 12
    stream = [(X[start : start + 29], Y[start : start + 29]) for start in range(0, 348, 29)]
    expected = bits(LinearRegression().fit_stream(stream))
    assert bits(LinearRegression().fit_stream((d[features], d["t"]))) == expected
    few = d.repartition(npartitions=4)
    model = LinearRegression().fit_stream((few[features], few["t"]))
    np.testing.assert_allclose(model.coef_, LinearRegression().fit(X[:348], Y[:348]).coef_)
    apart = d[features].repartition(npartitions=4), d["t"].repartition(npartitions=4)
    assert bits(LinearRegression().fit_stream(apart)) == bits(model)
    arrays = d[features].values, d["t"].values
    with pytest.raises(InputError, match=r"have \[12, \d\] partitions.*compute_chunk_sizes"):
        LinearRegression().fit_stream(arrays)
    sized = tuple(array.compute_chunk_sizes() for array in arrays)
    assert bits(LinearRegression().fit_stream(sized)) == expected


def test_the_same_place_in_memory_does_not_bring_back_an_earlier_sum(client: Client) -> None:
    # Lists of one length are made and lost one after the other, so their addresses repeat.
    for value in range(20):
        found = sum_on_cluster(lambda chunk: chunk, [dask.delayed(value), dask.delayed(1)], client)
        assert found == value + 1


@given(st.integers(1, 40))
def test_the_tree_is_that_of_the_stream(n: int) -> None:
    def step(chunk: int) -> "Term":
        return Term(str(chunk))

    with dask.config.set(scheduler="synchronous"):
        found = sum_on_cluster(step, [dask.delayed(i) for i in range(n)])
    assert found.text == sum_chunks(step, range(n)).text


class Term:
    """A sum that remembers how it was put together."""

    def __init__(self, text: str) -> None:
        self.text = text

    def __add__(self, other: "Term") -> "Term":
        return Term(f"({self.text}+{other.text})")


# --- Workers that die -----------------------------------------------------------------------------


class KillsItsWorker:
    """A step that kills its process when it meets the chunk of 7 rows, so often as told."""

    def __init__(self, folder: Path, times: int) -> None:
        self.step = ChunkStep(LinearRegression(), None)
        self.folder, self.times = folder, times

    def __call__(self, chunk: Any) -> Any:
        deaths = len(list(self.folder.iterdir()))
        if len(chunk[1]) == 7 and deaths < self.times:
            (self.folder / str(deaths)).touch()
            os.kill(os.getpid(), signal.SIGKILL)
        return self.step(chunk)


def test_a_worker_that_dies_changes_no_bit(client: Client, tmp_path: Path) -> None:
    X, y, _ = table()
    arrays = da.from_array(X, chunks=(SIZES, 3)), da.from_array(y, chunks=(SIZES,))
    found = sum_on_cluster(KillsItsWorker(tmp_path, times=1), arrays, client)
    assert len(list(tmp_path.iterdir())) == 1
    assert bits(LinearRegression().fit_statistics(found)) == streamed(X, y)


# Dask leaves sockets to workers that were killed while they started for the collector.
leaves_sockets = pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")


@pytest.mark.slow
@leaves_sockets
@pytest.mark.parametrize("poisoned", [pytest.param(1, marks=pytest.mark.slow), 3])
def test_a_partition_that_kills_every_worker_is_named(
    lost_client: Client,  # noqa: ARG001
    poisoned: int,
) -> None:
    X, y, _ = table()
    # It dies while it is loaded, in a task that has none of our names.
    chunks = [dask.delayed(loaded)(i, chunk, poisoned) for i, chunk in enumerate(parts(X, y))]
    with pytest.raises(RuntimeError, match=rf"partition {poisoned} \(c.*more memory"):
        LinearRegression().fit_stream(chunks)


@pytest.mark.slow
@leaves_sockets
def test_a_step_that_kills_every_worker_is_named(lost_client: Client, tmp_path: Path) -> None:
    X, y, _ = table()
    chunks = [dask.delayed(chunk, pure=False) for chunk in parts(X, y)]
    with pytest.raises(RuntimeError, match=r"computing partition 1 \(counted from 0\)"):
        sum_on_cluster(KillsItsWorker(tmp_path, times=99), chunks, lost_client)


def loaded(number: int, chunk: Any, poisoned: int) -> Any:
    if number == poisoned:
        os.kill(os.getpid(), signal.SIGKILL)
    return chunk


# --- Errors ---------------------------------------------------------------------------------------


def test_an_error_in_a_partition_names_it(client: Client) -> None:  # noqa: ARG001
    X, y, _ = table()
    y[150] = np.nan
    arrays = da.from_array(X, chunks=(SIZES, 3)), da.from_array(y, chunks=(SIZES,))
    model = LinearRegression()
    with pytest.raises(InputError, match=r"Input y contains NaN.*first at row 43") as caught:
        model.fit_stream(arrays)
    assert caught.value.__notes__ == ["This happened in partition 2 (counted from 0)."]
    assert caught.value.__cause__ is not caught.value
    assert not hasattr(model, "coef_")


@pytest.mark.parametrize("scheduler", ["distributed", "threads", "synchronous"])
def test_an_error_while_loading_names_the_partition(client: Client, scheduler: str) -> None:  # noqa: ARG001
    chunks = [dask.delayed(unreadable)(i) for i in range(5)]
    with dask.config.set(scheduler=scheduler), pytest.raises(OSError, match="no disk") as caught:
        LinearRegression().fit_stream(chunks)
    assert caught.value.__notes__ == ["This happened in partition 3 (counted from 0)."]


def unreadable(number: int) -> Any:
    if number == 3:
        raise OSError("no disk")
    return np.ones((2, 1)), np.ones(2)


def test_partitions_that_do_not_fit_together_name_their_range(client: Client) -> None:  # noqa: ARG001
    X, y, _ = table()
    chunks = [(X[:5], y[:5]), (X[5:9], y[5:9]), (X[9:12, :2], y[9:12])]
    with pytest.raises(InputError, match="A table of 3 columns does not fit one of 2") as caught:
        LinearRegression().fit_stream([dask.delayed(chunk, pure=False) for chunk in chunks])
    assert caught.value.__notes__ == ["This happened when adding chunks 0 to 2 (counted from 0)."]


X, Y, _ = table()
DX, DY = da.from_array(X, chunks=(100, 3)), da.from_array(Y, chunks=100)
FRAME = dd.from_pandas(pd.DataFrame(X, columns=["a", "b", "c"]), npartitions=3)
TARGET = dd.from_pandas(pd.Series(Y), npartitions=2)
SHORT = dd.from_pandas(pd.Series(Y[:-1]), npartitions=2)


@pytest.mark.parametrize(
    ("chunks", "message"),
    [
        (DX, r"Pass Dask collections as a tuple: `fit_stream\(\(X, y\)\)`"),
        ((DX, DY, DY, DY), r"Pass Dask collections as \(X, y\) or \(X, y, weight\), got 4 of them"),
        ((FRAME.clear_divisions(), TARGET), r"have \[3, 2\] partitions, .* from one frame"),
        ((FRAME, SHORT), r"index of X runs from 0 to 349, that of y or weight from 0 to 348"),
        ((DX, Y), "must all be Dask collections, but y is of type ndarray"),
        ((X, DY), "must all be Dask collections, but X is of type ndarray"),
        ((DX, DY, np.ones(N)), "must all be Dask collections, but weight is of type ndarray"),
        ((DX, DY[:-1]), r"X has 350 rows, but y or weight has 349\. Pass one target"),
        ((DY, DY), r"Expected 2D array, got X of shape \(350,\)"),
    ],
)
def test_collections_that_do_not_fit_together_say_why(chunks: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        LinearRegression().fit_stream(chunks)


def test_no_partitions_at_all() -> None:
    with pytest.raises(InputError, match="There are no partitions to learn from"):
        sum_on_cluster(int, [])
    nothing = [dask.delayed((X[:0], Y[:0]), pure=False)]
    with dask.config.set(scheduler="synchronous"), pytest.raises(InputError, match="no chunks"):
        LinearRegression().fit_stream(nothing)


def test_what_lives_on_a_cluster_is_recognized(client: Client) -> None:
    future = client.scatter(1)
    delayed = dask.delayed(1)
    pair = [(future, future)]
    for remote in (DX, FRAME, delayed, future, [future], (DX, DY), (X, DY), [delayed], pair):
        assert is_dask(remote)
    for local in (X, [X], (X, Y), [(X, Y)], [], (), None, iter([DX]), lambda: [DX]):
        assert not is_dask(local)


def test_unsupervised_learners_pass_one_collection() -> None:
    with dask.config.set(scheduler="synchronous"):
        found = sum_on_cluster(lambda chunk: chunk[0].sum(), (DX,))
        single = sum_on_cluster(lambda chunk: chunk * 10, dask.delayed(4))
    assert found == pytest.approx(X.sum(), rel=1e-12)
    assert single == 40
