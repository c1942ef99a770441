"""Tables that forests are tested on: numbers, ordered and unordered levels, missing cells."""

from __future__ import annotations

import numpy as np
import pandas as pd
from numpy.typing import NDArray

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


def mixed_labels(table: pd.DataFrame, seed: int = 0) -> NDArray[np.str_]:
    """Three classes that depend on a number, a set of levels and an order, with some noise."""
    rng = np.random.default_rng(seed)
    score = table["width"].fillna(0.0).to_numpy() + rng.normal(scale=0.3, size=len(table))
    score += table["color"].isin(["red", "blue"]).to_numpy()
    score += table["size"].cat.codes.to_numpy() * 0.5
    return np.array(["a", "b", "c"])[np.digitize(score, [0.2, 1.2])]


def mixed_numbers(table: pd.DataFrame, seed: int = 0) -> NDArray[np.float64]:
    rng = np.random.default_rng(seed)
    found = table["width"].fillna(0.0).to_numpy() * 3
    found += table["color"].isin(["red", "blue"]).to_numpy() * 2.0
    return found + rng.normal(scale=0.3, size=len(table))


def mean_of_trees(forest: Forest, cells: NDArray[np.float64]) -> NDArray[np.float64]:
    """What the trees say one by one, by the walk that single trees use."""
    return sum(tree_values(tree, cells) for tree in forest.trees) / forest.n_trees
