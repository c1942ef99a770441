"""Files with roles: which column is feature, target and weight, and what is said if it is none."""

from __future__ import annotations

import pickle
import subprocess
import sys
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from novum.core.errors import InputError, MissingValuesError
from novum.core.files import TableFile
from novum.linear import LinearRegression

TEXT = """age,city,times,price
31,Ulm,1,3.5
45,Bonn,2,4.0
22,Ulm,1,2.5
60,Kiel,0.5,6.0
33,Bonn,1,3.0
"""


@pytest.fixture
def path(tmp_path: Path) -> Path:
    found = tmp_path / "shop.csv"
    found.write_text(TEXT)
    return found


def test_roles_split_a_file_into_features_target_and_weight(path: Path) -> None:
    file = TableFile.open(path, "price", "times")
    (X, y, weight), *rest = file.chunks(3)
    assert X.column_names == ["age", "city"]
    assert y.tolist() == [3.5, 4.0, 2.5]
    assert weight.tolist() == [1.0, 2.0, 1.0]
    assert [len(chunk[1]) for chunk in rest] == [2]
    assert file.schema.columns[1].levels == ("Bonn", "Kiel", "Ulm")


def test_chosen_features_leave_the_others_out(path: Path) -> None:
    file = TableFile.open(path, "price", features=["age"])
    assert file.schema.names == ("age",)


def test_parts_are_small_values_that_read_the_same_rows(path: Path) -> None:
    file = TableFile.open(path, "price")
    sent = pickle.dumps(file.parts(2))
    assert len(sent) < 20_000
    for part, chunk in zip(pickle.loads(sent), file.chunks(2), strict=True):
        X, y = part()
        assert X.equals(chunk[0])
        np.testing.assert_array_equal(y, chunk[1])


def test_a_fit_to_a_file_is_the_fit_to_its_rows(path: Path) -> None:
    file = TableFile.open(path, "price", "times")
    X, y, weight = next(file.chunks(100))
    expected = LinearRegression().fit(X, y, weight)
    found = LinearRegression().fit_file(path, target="price", weight="times", chunk_rows=2)
    np.testing.assert_allclose(found.coef_, expected.coef_, rtol=1e-10)
    assert found.coef_names_ == ("age", "city=Kiel", "city=Ulm")
    assert found.feature_names_in_.tolist() == ["age", "city"]


@pytest.mark.parametrize(
    ("roles", "message"),
    [
        ({"target": "cost"}, "no column 'cost' to be the target; it has age, city, times, price"),
        ({"target": "price", "weight": "w"}, "no column 'w' to be the weight"),
        ({"target": "price", "features": []}, "no column left to learn from"),
    ],
)
def test_impossible_roles_are_named(path: Path, roles: dict[str, str], message: str) -> None:
    with pytest.raises(InputError, match=message):
        LinearRegression().fit_file(path, **roles)


def test_a_missing_target_names_its_chunk(tmp_path: Path) -> None:
    path = tmp_path / "gaps.csv"
    path.write_text("a,y\n1,2\n2,3\n3,?\n4,5\n")
    with pytest.raises(MissingValuesError, match="Input y contains NaN") as caught:
        LinearRegression().fit_file(path, target="y", chunk_rows=2)
    assert "chunk 1" in "".join(caught.value.__notes__)


def test_a_stated_limit_cuts_smaller_chunks(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("a,b,t\n" + "1,2,3\n" * 5000)
    limited = TableFile.open(path, "t", memory_limit="1MB")
    # 1 MB is room for 16 copies of 2,604 rows of three cells; the power of two below is taken.
    assert limited.rows_at_a_time(4096) == 2048
    assert limited.rows_at_a_time(100) == 100
    assert TableFile.open(path, "t").rows_at_a_time(4096) == 4096


MEASURE = """
import sys
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
def memory(key):
    lines = open("/proc/self/status").read().splitlines()
    return next(int(line.split()[1]) / 1024 for line in lines if line.startswith(key))
import duckdb, pyarrow.parquet
from novum.linear import LinearRegression
LinearRegression().fit(np.eye(50, 41), np.arange(50.0))
before = memory("VmRSS")
LinearRegression().fit_file(sys.argv[1], target="t", memory_limit="200MB")
print(memory("VmHWM") - before)
"""


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="peak memory is read in /proc")
def test_a_fit_to_a_file_stays_near_its_limit(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    path = tmp_path / "wide.parquet"
    cells = {f"x{j}": rng.normal(size=200_000) for j in range(41)}
    pq.write_table(pa.table({**cells, "t": cells["x0"] - cells["x1"]}), path)
    command = [sys.executable, "-c", MEASURE, str(path)]
    result = subprocess.run(command, capture_output=True, text=True, check=True, timeout=200)
    # The limit and a page of every column; 322 MB when DuckDB streamed chunks of 65,536 rows.
    assert float(result.stdout) < 200 + 42 * 3
