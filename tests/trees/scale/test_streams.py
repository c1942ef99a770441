"""Files larger than the memory limit and clusters that lose workers: the same trees, bit by bit."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from itertools import pairwise
from pathlib import Path
from typing import Any

import cloudpickle
import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from novum.core.errors import InputError
from novum.core.sums.contracts import check_file_larger_than_memory
from novum.trees import DecisionTreeClassifier, DecisionTreeRegressor
from novum.trees.forests.forest import RandomForestClassifier, RandomForestRegressor
from novum.trees.scale.pass_plan import BUDGET
from novum.trees.scale.streams import growth_budget
from tests.strategies.tree_tables import assert_same_tree
from tests.trees.scale.test_tree_streams import LABELS, NUMBERS, X, parts, small_memory

# Workers cannot import this module, so its functions travel as code.
cloudpickle.register_pickle_by_value(sys.modules[__name__])


def arrays_of(model: Any) -> bytes:
    value = model.tree_ if hasattr(model, "tree_") else model.forest_
    arrays = [part for part in vars(value).values() if isinstance(part, np.ndarray)]
    return b"".join(array.tobytes() for array in arrays)


LEARNERS: dict[str, tuple[Any, Any]] = {
    "tree of classes": (DecisionTreeClassifier(min_samples_leaf=3), LABELS),
    "tree of numbers": (DecisionTreeRegressor(min_samples_leaf=3), NUMBERS),
    "forest of classes": (RandomForestClassifier(3, random_state=0, max_depth=4), LABELS),
    "forest of numbers": (RandomForestRegressor(4, random_state=0, min_samples_leaf=4), NUMBERS),
}


# --- Files ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", LEARNERS)
@pytest.mark.parametrize("suffix", [".parquet", ".csv"])
def test_a_file_gives_the_trees_of_its_chunks(name: str, suffix: str, tmp_path: Path) -> None:
    model, y = LEARNERS[name]
    path = tmp_path / f"table{suffix}"
    frame = X.assign(target=y)
    if suffix == ".csv":
        frame.to_csv(path, index=False)
    else:
        frame.to_parquet(path, row_group_size=150)
    found = model.fit_file(path, target="target", chunk_rows=150)
    from_file, names = arrays_of(found), found.feature_names_in_.tolist()
    assert from_file == arrays_of(model.fit_stream(parts(X, y)))
    assert names == ["age", "income", "city"]


def test_roles_and_kinds_of_columns(tmp_path: Path) -> None:
    path = tmp_path / "table.csv"
    weight = np.arange(len(X)) % 3
    X.assign(y=NUMBERS, w=weight, zip=np.arange(len(X)) % 5).to_csv(path, index=False)
    model = DecisionTreeRegressor(max_depth=3)
    model.fit_file(path, target="y", weight="w", features=["age", "zip"], kinds={"zip": "nominal"})
    assert model.feature_names_in_.tolist() == ["age", "zip"]
    assert model.schema_.columns[1].levels == ("0", "1", "2", "3", "4")
    assert model.tree_.weight[0] == weight.sum()
    with pytest.raises(InputError, match="has no column 'z'"):
        model.fit_file(path, target="z")


def write_large(path: Path, n_groups: int, group: int = 20_000, n_columns: int = 12) -> None:
    rng = np.random.default_rng(0)
    names = [f"x{j}" for j in range(n_columns)]
    schema = pa.schema([(name, pa.float64()) for name in (*names, "y")])
    with pq.ParquetWriter(path, schema, compression="none", use_dictionary=False) as writer:
        for _ in range(n_groups):
            cells = rng.normal(size=(group, n_columns)).round(2)
            y = (cells[:, :3].sum(axis=1) + rng.normal(size=group) > 0).astype(float)
            columns = [*(cells[:, j] for j in range(n_columns)), y]
            writer.write_table(pa.table(columns, schema=schema))


@pytest.mark.slow
@pytest.mark.parametrize("learner", ["DecisionTreeClassifier", "RandomForestClassifier"])
def test_a_file_larger_than_the_limit_is_grown_level_by_level(learner: str, tmp_path: Path) -> None:
    path = tmp_path / "large.parquet"
    write_large(path, n_groups=7, n_columns=24)
    assert path.stat().st_size > 24 * 10**6
    kind = {"DecisionTreeClassifier": DecisionTreeClassifier(max_depth=6)}.get(
        learner, RandomForestClassifier(3, max_depth=6, random_state=0, max_features=None)
    )
    whole = kind.fit_file(path, target="y", chunk_rows=20_000)
    assert whole.certificate_.details["passes"] == 2
    expected = [*whole.forest_.trees] if hasattr(whole, "forest_") else [whole.tree_]
    kind.fit_file(path, target="y", chunk_rows=20_000, memory_limit="24MB")
    assert kind.certificate_.details["passes"] > 3
    found = [*kind.forest_.trees] if hasattr(kind, "forest_") else [kind.tree_]
    for a, b in zip(found, expected, strict=True):
        assert_same_tree(a, b)


_PEAK = """
import sys
import duckdb, pyarrow.parquet, novum.core, novum.data
from novum.trees import DecisionTreeClassifier, DecisionTreeRegressor
from novum.trees.forests.forest import RandomForestClassifier
def status(key):
    with open("/proc/self/status") as f:
        return next(int(line.split()[1]) / 1024 for line in f if line.startswith(key + ":"))
learner = eval(sys.argv[1])
learner.fit([[0.0], [1.0]], [0, 1])
before = status("VmRSS")
learner.fit_file(sys.argv[2], target="y", memory_limit="64MB")
print(status("VmHWM") - before, learner.certificate_.details["passes"])
"""


@pytest.mark.slow
@pytest.mark.parametrize(
    "learner",
    [
        "DecisionTreeClassifier(min_samples_leaf=20)",
        "DecisionTreeRegressor(min_samples_leaf=20)",
        "RandomForestClassifier(5, min_samples_leaf=50, random_state=0)",
    ],
)
def test_memory_stays_bounded_while_a_large_file_is_read(learner: str, tmp_path: Path) -> None:
    path = tmp_path / "large.parquet"
    write_large(path, n_groups=60)
    assert path.stat().st_size > 120 * 10**6
    done = subprocess.run(
        [sys.executable, "-c", _PEAK, learner, str(path)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    grown, passes = map(float, done.stdout.split())
    assert passes > 2
    # The reader's 64 MB, 32 MB of sums and rows, a chunk as table, numbers and codes, the trees,
    # and compiled code.
    assert grown < 200


@pytest.mark.slow
def test_a_file_larger_than_memory_is_fitted(tmp_path: Path) -> None:
    # 256 MB of sums and rows, the reader's 128 MB, and a tree that separates 3.7 million rows.
    learner = "novum.trees:DecisionTreeClassifier"
    check_file_larger_than_memory(learner, tmp_path, target="classes", limit_megabytes=590)


# --- Clusters -------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", LEARNERS)
def test_a_cluster_gives_the_bits_of_a_stream(
    name: str,
    client: Any,  # noqa: ARG001
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    import dask

    model, y = LEARNERS[name]
    small_memory(monkeypatch)
    expected = arrays_of(model.fit_stream(parts(X, y)))
    passes = model.certificate_.details["passes"]
    assert passes > 2
    delayed = [dask.delayed(chunk, pure=False) for chunk in parts(X, y)]
    assert arrays_of(model.fit_stream(delayed)) == expected


@pytest.mark.parametrize("name", ["tree of classes", "forest of numbers"])
def test_collections_and_files_on_a_cluster(name: str, client: Any, tmp_path: Path) -> None:
    import dask.array as da
    import dask.dataframe as dd

    model, y = LEARNERS[name]
    sizes = (200, 150, 250)
    edges = np.cumsum((0, *sizes))
    chunks = [(X[a:b], y[a:b]) for a, b in pairwise(edges)]
    expected = arrays_of(model.fit_stream(chunks))
    frame = dd.concat([dd.from_pandas(part, npartitions=1) for part, _ in chunks])
    target = da.from_array(y, chunks=(sizes,))
    assert arrays_of(model.fit_stream((frame, target))) == expected
    futures = client.scatter(chunks, hash=False)
    assert arrays_of(model.fit_stream(futures)) == expected
    path = tmp_path / "table.parquet"
    X.assign(target=y).to_parquet(path, row_group_size=100)
    options: dict[str, Any] = {"target": "target", "chunk_rows": 130}
    here = arrays_of(model.fit_file(path, **options))
    assert arrays_of(model.fit_file(path, client=client, **options)) == here


def slow_chunk(*chunk: Any) -> tuple[Any, ...]:
    time.sleep(0.2)
    return chunk


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")  # the cluster complains about the worker that is killed
@pytest.mark.parametrize(
    "name", ["tree of classes", pytest.param("forest of classes", marks=pytest.mark.slow)]
)
def test_a_cluster_that_loses_a_worker_gives_the_same_bits(
    name: str, client: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    import dask

    model, y = LEARNERS[name]
    small_memory(monkeypatch)
    expected = arrays_of(model.fit_stream(parts(X, y, n_parts=6)))
    slow = dask.delayed(slow_chunk, pure=False)
    chunks = [slow(*part) for part in parts(X, y, n_parts=6)]
    victim = next(iter(client.run(os.getpid).values()))
    # Every pass takes two workers 0.6 seconds: this is in the midst of the second.
    assassin = threading.Timer(1.0, os.kill, (victim, signal.SIGKILL))
    assassin.start()
    found = arrays_of(model.fit_stream(chunks))
    assassin.join()
    assert victim not in client.run(os.getpid).values(), "no worker was lost"
    assert found == expected


# --- Budgets --------------------------------------------------------------------------------------


def test_the_budget_follows_from_stated_limits_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("NOVUM_MEMORY_LIMIT", raising=False)
    assert growth_budget(None) == BUDGET
    assert growth_budget("10GB") == BUDGET
    assert growth_budget("100MB") == 50 * 10**6
    monkeypatch.setenv("NOVUM_MEMORY_LIMIT", "80MB")
    assert growth_budget(None) == 40 * 10**6
    assert growth_budget("100MB") == 50 * 10**6


def test_frames_and_arrays_may_be_chunks() -> None:
    cells = X[["age", "income"]].to_numpy()
    from_arrays = DecisionTreeRegressor(max_depth=3).fit_stream([(cells, NUMBERS)])
    from_frames = DecisionTreeRegressor(max_depth=3).fit_stream(
        [(pd.DataFrame(cells, columns=["age", "income"]), pd.Series(NUMBERS))]
    )
    assert arrays_of(from_arrays) == arrays_of(from_frames)
    assert not hasattr(from_arrays, "feature_names_in_")
