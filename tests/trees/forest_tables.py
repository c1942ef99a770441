"""Tables that forests are tested on: numbers, ordered and unordered levels, missing cells."""

from __future__ import annotations

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from novum.numerics import Floats, Integers
from novum.trees.forests.forest_value import Forest
from novum.trees.routing import tree_values

COLORS = ("blue", "green", "red", "yellow")
SIZES = ("small", "middle", "large")


def mixed_table(n: int = 300, seed: int = 0, missing: float = 0.1) -> pd.DataFrame:
    """Two numbers, one ordered and two unordered columns; some cells of each are missing."""
    rng = np.random.default_rng(seed)
    table = pd.DataFrame(
        {
            "width": rng.normal(size=n),
            "color": pd.Categorical(rng.choice(COLORS, n), categories=COLORS),
            "height": rng.integers(0, 6, n).astype(float),
            "size": pd.Categorical(rng.choice(SIZES, n), categories=SIZES, ordered=True),
            "place": pd.Categorical([f"p{k:02d}" for k in rng.integers(0, 30, n)]),
        }
    )
    if missing:
        table = table.mask(rng.random(table.shape) < missing)
    return table


def baskets(
    n: int = 800, n_items: int = 12, seed: int = 0
) -> tuple[pd.DataFrame, NDArray[np.str_]]:
    """What was bought, `t` or missing, and whether the bill was high; a tenth of these is wrong.

    Missing cells are all there is to learn from: the known cells of a column are equal.
    """
    rng = np.random.default_rng(seed)
    bought = rng.random((n, n_items)) < 0.35
    high = (bought[:, 0] & bought[:, 3]) | (bought[:, 5] & ~bought[:, 1])
    high ^= rng.random(n) < 0.1
    cells = np.where(bought, "t", None)
    table = pd.DataFrame({f"item{j}": pd.Series(cells[:, j], dtype=object) for j in range(n_items)})
    return table, np.where(high, "high", "low")


def gaps_by_class(n: int = 600, seed: int = 0) -> tuple[Floats, Integers]:
    """Numbers that say a little of three classes; how often they are missing says more."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 3, n)
    X = rng.normal(size=(n, 8)) + 0.3 * y[:, np.newaxis] * (np.arange(8) < 3)
    often = np.array([[0.1, 0.7, 0.3], [0.6, 0.1, 0.3], [0.2, 0.2, 0.8]])
    for j in range(8):
        X[rng.random(n) < (often[j % 3][y] if j < 6 else 0.3), j] = np.nan
    return X, y


def mixed_labels(table: pd.DataFrame, seed: int = 0) -> NDArray[np.str_]:
    """Three classes that depend on a number, a set of levels and an order, with some noise."""
    rng = np.random.default_rng(seed)
    score = table["width"].fillna(0.0).to_numpy() + rng.normal(scale=0.3, size=len(table))
    score += table["color"].isin(["red", "blue"]).to_numpy()
    score += table["size"].cat.codes.to_numpy() * 0.5
    return np.array(["a", "b", "c"])[np.digitize(score, [0.2, 1.2])]


def mixed_numbers(table: pd.DataFrame, seed: int = 0) -> Floats:
    rng = np.random.default_rng(seed)
    found = table["width"].fillna(0.0).to_numpy() * 3
    found += table["color"].isin(["red", "blue"]).to_numpy() * 2.0
    return found + rng.normal(scale=0.3, size=len(table))


def mean_of_trees(forest: Forest, cells: Floats) -> Floats:
    """What the trees say one by one, by the walk that single trees use."""
    return sum(tree_values(tree, cells) for tree in forest.trees) / forest.n_trees
