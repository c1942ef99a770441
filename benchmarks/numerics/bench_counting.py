"""Contingency tables of nominal columns: every column's levels within every class."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from benchmarks.clock import Clock
from benchmarks.peers import Make, Peer, load
from benchmarks.recipes import Data, Recipe, rows
from benchmarks.registry import Figures, Quality, workload

Tables = list[np.ndarray]
Count = Callable[[np.ndarray, np.ndarray], Any]


def coded_table(n: int, p: int, classes: int, seed: int = 0) -> Data:
    """Codes of p columns with 2 to 20 levels, and of the classes."""
    rng = np.random.default_rng(seed)
    levels = rng.integers(2, 21, p)
    codes = np.column_stack([rng.integers(0, count, n) for count in levels]).astype(np.int32)
    return Data(
        codes=codes,
        y=rng.integers(0, classes, n).astype(np.int32),
        levels=levels.tolist(),
        classes=classes,
    )


def count(make: Make, data: Data, clock: Clock) -> Figures:
    by_class = make(data)
    with clock("count"):
        tables = by_class(data.codes, data.y)
    return {"_counts": np.concatenate([np.ravel(table) for table in tables])}


def with_bincount(data: Data) -> Count:
    def by_class(codes: np.ndarray, y: np.ndarray) -> Tables:
        tables = []
        for column, levels in zip(codes.T, data.levels, strict=True):
            cells = np.bincount(
                column * np.int64(data.classes) + y, minlength=levels * data.classes
            )
            tables.append(cells.reshape(levels, data.classes))
        return tables

    return by_class


def with_pandas(_data: Data) -> Count:
    import pandas as pd

    return lambda codes, y: [pd.crosstab(column, y).to_numpy() for column in codes.T]


def novum_counts(data: Data) -> Count:
    count_by_class = load("novum.numerics.counting:count_by_class")
    return lambda codes, y: count_by_class(codes, data.levels, y, data.classes).tables


workload(
    "numerics.counting.by_class",
    Recipe(coded_table, rows(500_000), 30, 5),
    count,
    [Peer("numpy bincount", with_bincount), Peer("pandas crosstab", with_pandas, slow=True)],
    novum=Peer("novum", novum_counts, ours=True),
    target=1.0,
    quality=Quality("difference_counts", "low", required=0.0),
    note="500k x 30 columns of 2 to 20 levels, 5 classes",
)
