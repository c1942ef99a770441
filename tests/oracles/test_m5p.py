"""Model trees against Weka's M5P on classic regression tables: errors in ten folds.

`m5p.json.gz` is made by `make_m5p.py`. The trees are not the same: M5P replaces missing cells and
codes levels once for the whole table, splits by the fifth root of the variance, and prints three
digits. What must agree is how well they predict, fold by fold.
"""

from __future__ import annotations

import csv
import gzip
import io
import json
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from novum.numerics import Floats, Positions
from novum.trees.model_trees.model_tree import ModelTreeRegressor
from novum.trees.regressor import DecisionTreeRegressor

FOLDER = Path(__file__).parent
ORACLE: dict[str, Any] = json.loads(gzip.decompress((FOLDER / "m5p.json.gz").read_bytes()))
TABLES = sorted(ORACLE)
N_FOLDS = 10


@cache
def table_of(name: str) -> tuple[pd.DataFrame, Floats, Positions]:
    """Columns, target and folds."""
    oracle = ORACLE[name]
    text = gzip.decompress((FOLDER / "tables" / f"{name}.csv.gz").read_bytes()).decode()
    header, *rows = csv.reader(io.StringIO(text))
    columns = {}
    for column, levels in zip(oracle["columns"], oracle["levels"], strict=True):
        texts = [row[header.index(column)] for row in rows]
        if levels is None:
            columns[column] = np.array([np.nan if t == "?" else float(t) for t in texts])
        else:
            columns[column] = pd.Categorical([None if t == "?" else t for t in texts], levels)
    y = np.array([float(row[header.index(oracle["target"])]) for row in rows])
    fold = np.empty(len(y), np.intp)
    fold[np.argsort(y, kind="stable")] = np.arange(len(y)) % N_FOLDS
    return pd.DataFrame(columns), y, fold


@cache
def fold_predictions(name: str) -> Floats:
    X, y, fold = table_of(name)
    said = np.empty(len(y))
    for number in range(N_FOLDS):
        model = ModelTreeRegressor().fit(X[fold != number], y[fold != number])
        said[fold == number] = model.predict(X[fold == number])
    return said


def by_fold(name: str, said: Floats, measure: Any) -> Floats:
    _, y, fold = table_of(name)
    return np.array([measure(y[fold == k], said[fold == k]) for k in range(N_FOLDS)])


def root_mean_squared_error(y: Floats, said: Floats) -> float:
    return float(np.sqrt(np.mean((y - said) ** 2)))


def correlation(y: Floats, said: Floats) -> float:
    return float(np.corrcoef(y, said)[0, 1])


@pytest.mark.slow
@pytest.mark.parametrize("measure", [root_mean_squared_error, correlation])
@pytest.mark.parametrize("name", TABLES)
def test_ten_folds_are_as_good_as_m5ps_within_a_standard_error(name: str, measure: Any) -> None:
    theirs = by_fold(name, np.array(ORACLE[name]["fold_predictions"]), measure)
    ours = by_fold(name, fold_predictions(name), measure)
    error = theirs.std(ddof=1) / np.sqrt(N_FOLDS)
    behind = ours.mean() - theirs.mean()
    assert (behind if measure is root_mean_squared_error else -behind) <= error


@pytest.mark.parametrize("name", TABLES)
def test_lines_in_the_leaves_beat_means(name: str) -> None:
    X, y, fold = table_of(name)
    said = np.empty(len(y))
    for number in range(N_FOLDS):
        model = DecisionTreeRegressor(min_samples_leaf=4).fit(X[fold != number], y[fold != number])
        said[fold == number] = model.predict(X[fold == number])
    assert root_mean_squared_error(y, fold_predictions(name)) < root_mean_squared_error(y, said)


@pytest.mark.parametrize("name", TABLES)
def test_pruning_leaves_a_small_part_of_the_tree(name: str) -> None:
    X, y, _ = table_of(name)
    whole = ModelTreeRegressor(pruning=None).fit(X, y).get_n_leaves()
    assert ModelTreeRegressor().fit(X, y).get_n_leaves() <= 0.35 * whole
