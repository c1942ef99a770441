"""Small tables for networks."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd


def mixed_table(n: int = 120, seed: int = 0) -> Any:
    """Numbers, levels and ordered levels that follow one hidden number; some cells missing."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=n)
    sizes = np.where(x > 1, "large", np.where(x < -1, "small", "medium"))
    frame = pd.DataFrame(
        {
            "x": x,
            "y": 2 * x + 0.1 * rng.normal(size=n),
            "sign": np.where(x > 0, "plus", "minus"),
            "size": pd.Categorical(sizes, ["small", "medium", "large"], ordered=True),
        }
    )
    frame.loc[frame.index[5:9], "y"] = np.nan
    frame.loc[frame.index[3], "sign"] = None
    return frame


def line(n: int = 80, seed: int = 0) -> Any:
    """Rows near a line in three dimensions."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=n)
    return np.c_[x, 2 * x, -x] + 0.05 * rng.normal(size=(n, 3))
