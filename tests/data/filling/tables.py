"""Tables that the tests of filling share."""

from __future__ import annotations

import numpy as np
import pandas as pd

from novum.data.filling import FillMissing
from novum.numerics import Floats, Integers

FILLINGS = [
    FillMissing(),
    FillMissing("median", indicators=False),
    FillMissing("constant", "most_frequent", fill_value=-1.0),
]


def holed_table(n: int = 120, d: int = 3, seed: int = 0) -> tuple[Floats, Integers]:
    """Numbers of which a fifth is missing, and three classes."""
    rng = np.random.default_rng(seed)
    X = rng.normal(3.0, 2.0, (n, d))
    X[rng.random(X.shape) < 0.2] = np.nan
    return X, rng.integers(0, 3, n)


def holed_frame(n: int = 40) -> pd.DataFrame:
    """Columns of every kind with missing cells, and an index of its own."""
    rng = np.random.default_rng(1)
    frame = pd.DataFrame(
        {
            "width": rng.normal(3.0, 2.0, n),
            "color": pd.Categorical(rng.choice(["red", "blue"], n)),
            "size": pd.Categorical(
                rng.choice(["small", "middle", "large"], n),
                ["small", "middle", "large"],
                ordered=True,
            ),
            "word": rng.choice(["a", "b"], n).astype(object),
            "truth": pd.array(rng.random(n) < 0.7, "boolean"),
        },
        index=np.arange(n) + 100,
    )
    for j, name in enumerate(frame.columns):
        frame.loc[frame.index[j::7], name] = None
    return frame
