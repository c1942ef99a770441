"""Tables with numbers, levels and holes, as frames of several libraries; trees of scikit-learn."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import polars as pl

from novum.numerics import Array


def numeric_table(n: int = 120, seed: int = 0, n_classes: int = 3) -> tuple[Any, Array]:
    """Continuous columns whose values single precision holds, so that others see the same."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 4)).astype(np.float32).astype(np.float64)
    score = X[:, 0] - 0.7 * X[:, 1] * (X[:, 2] > 0) + 0.4 * rng.normal(size=n)
    ranks = np.argsort(np.argsort(score))
    return X, ranks * n_classes // n


def mixed_table(n: int = 90, seed: int = 0, *, holes: float = 0.1) -> tuple[pd.DataFrame, Array]:
    """Numbers, levels and ordered levels, with missing cells; few distinct values."""
    rng = np.random.default_rng(seed)
    color = rng.choice(["blue", "green", "red", "white"], n)
    size = rng.choice(["S", "M", "L"], n)
    x = rng.integers(0, 12, n) / 4
    score = x + (color == "red") * 2 - (size == "S") + rng.normal(size=n) * 0.6
    y = np.where(score > np.quantile(score, 0.6), "yes", "no")
    frame = pd.DataFrame(
        {
            "color": pd.Series(color, dtype=object),
            "x": x,
            "size": pd.Categorical(size, categories=["S", "M", "L"], ordered=True),
            "z": rng.normal(size=n).round(1),
        }
    )
    for name in frame.columns:
        frame.loc[rng.random(n) < holes, name] = None
    return frame, y


def as_polars(frame: pd.DataFrame) -> pl.DataFrame:
    """The same table in polars, ordered levels as an Enum."""
    columns = {
        "color": pl.Series(frame["color"].tolist(), dtype=pl.String),
        "x": pl.Series([None if np.isnan(v) else v for v in frame["x"]], dtype=pl.Float64),
        "size": pl.Series(
            [None if pd.isna(v) else v for v in frame["size"]], dtype=pl.Enum(["S", "M", "L"])
        ),
        "z": pl.Series([None if np.isnan(v) else v for v in frame["z"]], dtype=pl.Float64),
    }
    return pl.DataFrame(columns)


def assert_nodes_of(ours: Any, theirs: Any, *, least: int) -> bool:
    """Our tree asks what scikit-learn's asks, down to splits that are equally good.

    Which of equal splits is taken is left to chance there; what is below them is not compared. At
    least `least` questions must have been. Returns whether all were.
    """
    tree, other = ours.tree_, theirs.tree_
    pending, compared, all_same = [(0, 0)], 0, True
    while pending:
        a, b = pending.pop()
        left, right = other.children_left[b], other.children_right[b]
        np.testing.assert_allclose(tree.weight[a], other.weighted_n_node_samples[b], rtol=1e-9)
        np.testing.assert_allclose(tree.impurity[a], other.impurity[b], atol=1e-9)
        assert tree.is_leaf(a) == (left < 0)
        if left < 0:
            continue
        weight = other.weighted_n_node_samples
        cost = weight * other.impurity
        gain = cost[b] - cost[left] - cost[right]
        np.testing.assert_allclose(tree.gain[a], gain, atol=1e-9 * cost[0])
        same = tree.column[a] == other.feature[b] and np.isclose(
            tree.weight[tree.children(a)[0]], weight[left], rtol=1e-9
        )
        if same:
            # Theirs are read from numbers of single precision.
            np.testing.assert_allclose(tree.threshold[a], other.threshold[b], rtol=1e-5, atol=1e-6)
            pending.extend(zip(tree.children(a), (left, right), strict=True))
            compared += 1
        all_same &= bool(same)
    assert compared >= least, f"only {compared} questions could be compared"
    return all_same
