"""Fingerprints: equal for equal values in any process, different for all else."""

import subprocess
import sys
import threading
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from scipy import sparse
from scipy.stats import uniform
from sklearn.frozen import FrozenEstimator
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from novum.core.errors import InputError
from novum.evaluation.validation.fingerprints import fingerprint
from novum.linear import LinearRegression, Ridge


@dataclass(frozen=True)
class Value:
    a: int
    b: Any = None


def adder(n: int) -> Any:
    return lambda x: x + n


DIFFERENT: list[Any] = [
    None,
    0,
    0.0,
    False,
    "0",
    b"0",
    "",
    [],
    (),
    [0],
    [[0]],
    [0, 0],
    {"a": 1},
    {"a": 2},
    {"b": 1},
    {1, 2},
    np.zeros(2),
    np.zeros(2, np.float32),
    np.zeros((2, 1)),
    np.array([0, 1], object),
    np.ma.array([0.0, 0.0], mask=[True, False]),
    sparse.csr_matrix(np.eye(2)),
    sparse.csr_matrix(2 * np.eye(2)),
    pa.table({"a": [1, 2]}),
    pa.table({"b": [1, 2]}),
    pa.table({"a": [1.0, 2.0]}),
    pa.table({"a": [1, None]}),
    pa.table({"a": ["x", "y"]}),
    Ridge(),
    Ridge(alpha=2.0),
    LinearRegression(),
    make_pipeline(StandardScaler(), Ridge()),
    make_pipeline(StandardScaler(), Ridge(alpha=2.0)),
    Ridge,
    Value(1),
    Value(1, [2]),
    uniform(0, 1),
    uniform(0, 2),
    adder(1),
    adder(2),
    partial(pow, 2),
    partial(pow, 3),
    len,
    np.exp,
    "ab".upper,
    FrozenEstimator(Ridge().fit([[0.0], [1.0]], [0.0, 1.0])),
    FrozenEstimator(Ridge().fit([[0.0], [1.0]], [0.0, 2.0])),
]


def test_different_values_differ() -> None:
    found = [fingerprint(value) for value in DIFFERENT]
    assert len(set(found)) == len(found)


def test_the_same_value_made_twice_is_the_same() -> None:
    twins = [
        lambda: {"a": [1.5, "x"], "b": None},
        lambda: np.arange(6.0).reshape(2, 3),
        lambda: np.array(["a", 1, None], object),
        lambda: pd.DataFrame({"a": ["x", None], "b": [1, 2]}),
        lambda: pl.DataFrame({"a": ["x", None], "b": [1, 2]}),
        lambda: make_pipeline(StandardScaler(), Ridge(alpha=0.5)),
        lambda: {"c", "a", "b"},
        lambda: adder(3),
        lambda: Value(2, Ridge()),
    ]
    for make in twins:
        assert fingerprint(make()) == fingerprint(make())


def test_layout_in_memory_does_not_matter() -> None:
    table = np.arange(12.0).reshape(3, 4)
    assert fingerprint(table) == fingerprint(np.asfortranarray(table))
    assert fingerprint(table[:, ::2]) == fingerprint(table[:, ::2].copy())
    joined = sparse.coo_matrix(([1.0, 2.0], ([0, 0], [0, 0])), (1, 1))
    assert fingerprint(joined) == fingerprint(sparse.csr_matrix([[3.0]]))
    chunks = pa.table({"a": pa.chunked_array([[1, 2], [3]])})
    assert fingerprint(chunks) == fingerprint(pa.table({"a": [1, 2, 3]}))


@pytest.mark.slow
def test_another_process_finds_the_same() -> None:
    code = (
        "from novum.evaluation.validation.fingerprints import fingerprint\n"
        "from novum.linear import Ridge\n"
        "print(fingerprint({'a', 'b', 'c'}, Ridge(alpha=0.1), ['x', 2.5]))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == fingerprint({"a", "b", "c"}, Ridge(alpha=0.1), ["x", 2.5])


def test_a_seed_of_any_kind_counts() -> None:
    one, two = np.random.RandomState(0), np.random.RandomState(1)
    assert fingerprint(one) != fingerprint(two)
    assert fingerprint(np.random.default_rng(0)) == fingerprint(np.random.default_rng(0))


def test_what_a_fit_left_behind_does_not_count() -> None:
    fitted = Ridge().fit([[0.0], [1.0]], [0.0, 1.0])
    assert fingerprint(fitted) == fingerprint(Ridge())


def test_what_has_no_fingerprint_is_refused() -> None:
    endless: list[Any] = []
    endless.append(endless)
    with pytest.raises(InputError, match="contains itself"):
        fingerprint(endless)
    with pytest.raises(InputError, match="has no fingerprint"):
        fingerprint(threading.Lock())
