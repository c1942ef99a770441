"""Pictures of dependence: lines, levels and maps."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

from novum.bayes import NaiveBayes
from novum.core.errors import InputError
from novum.evaluation.inspection.partial_dependence import partial_dependence

rng = np.random.default_rng(0)
X = pd.DataFrame(
    {
        "x": rng.normal(size=60),
        "z": rng.normal(size=60),
        "c": pd.Categorical(rng.choice(["p", "q"], 60)),
    }
)
MODEL = NaiveBayes().fit(X, (X["x"] > 0).to_numpy())


@pytest.mark.parametrize(
    ("features", "kind", "lines"),
    [
        ("x", "average", 1),
        ("x", "both", 11),
        ("x", "individual", 10),
        ("c", "average", 1),
        (["x", "z"], "average", 0),
        (["x", "c"], "average", 0),
    ],
)
def test_what_is_drawn(features: Any, kind: Any, lines: int) -> None:
    pytest.importorskip("matplotlib").use("Agg")
    import matplotlib.pyplot as plt

    found = partial_dependence(MODEL, X, features, kind=kind, grid_resolution=6)
    ax = found.plot(most_rows=10)
    assert len(ax.lines) == lines
    assert ax.get_xlabel() == (features if isinstance(features, str) else features[0])
    if lines == 0:
        assert ax.collections
    with pytest.raises(InputError, match="none of the 1 outputs"):
        found.plot(ax, output=3)
    plt.close(ax.figure)
