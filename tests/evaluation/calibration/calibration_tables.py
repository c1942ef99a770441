"""Tables that the tests of calibration and open sets share."""

from __future__ import annotations

import numpy as np
import pandas as pd

from novum.numerics import Array, Floats


def classes(n: int = 120, d: int = 2, K: int = 2, seed: int = 0) -> tuple[Floats, Array]:
    """Overlapping normal classes a, b, c, ..."""
    rng = np.random.default_rng(seed)
    codes = np.arange(n) % K
    X = 1.3 * rng.normal(size=(n, d)) + codes[:, np.newaxis]
    return X, np.array(list("abcdefgh"))[codes]


def mixed(n: int = 90, seed: int = 0) -> tuple[pd.DataFrame, Array]:
    """A frame with numbers, text and missing cells."""
    rng = np.random.default_rng(seed)
    y = np.arange(n) % 2
    color = np.where(rng.random(n) < 0.3 + 0.4 * y, "red", "blue").astype(object)
    size = rng.normal(size=n) + y
    size[::17] = np.nan
    return pd.DataFrame({"size": size, "color": color}), np.where(y == 1, "yes", "no")
