"""Tables for the tests of selection."""

from __future__ import annotations

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from novum.numerics import Floats, Integers


def two_classes(
    n: int = 80, d: int = 4, signal: float = 2.0, seed: int = 0
) -> tuple[Floats, Integers]:
    """Two classes that differ in the first column, and less in the last."""
    rng = np.random.default_rng(seed)
    y = np.arange(n) % 2
    X = rng.normal(size=(n, d))
    X[:, 0] += signal * y
    X[:, -1] += 0.4 * signal * y
    return X, y


def mixed_frame(n: int = 120, seed: int = 1) -> tuple[pd.DataFrame, NDArray[np.str_]]:
    """Numbers and categories, missing cells in both; `size` and `color` go with the class."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, n)
    size = rng.normal(size=n) + 1.5 * y
    size[rng.random(n) < 0.1] = np.nan
    color = np.where(rng.random(n) < 0.8, np.array(["red", "blue"])[y], "green").astype(object)
    color[rng.random(n) < 0.1] = None
    frame = pd.DataFrame(
        {
            "noise": rng.normal(size=n),
            "size": size,
            "shape": pd.Categorical(rng.choice(["cube", "ball", "cone"], n)),
            "color": pd.Categorical(color),
        }
    )
    return frame, np.array(["no", "yes"])[y]
