"""Tables and helpers that the tests of scalings share."""

from __future__ import annotations

from contextlib import AbstractContextManager
from typing import Any

import numpy as np
import pandas as pd
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from novum.core.files import registry
from novum.data.scaling import (
    CenterThenUnitLength,
    Gaussianizer,
    MinMaxScaler,
    StandardScaler,
    Whitener,
)
from novum.data.scaling.class_scatter import ClassScatter
from novum.data.scaling.counted_values import CountedValues
from novum.data.scaling.min_max import Extremes, Tail
from novum.data.scaling.transformer import ScalingStatistics
from novum.numerics import Floats, Integers

SCALINGS = [
    StandardScaler(),
    StandardScaler(with_mean=False, groups="all"),
    MinMaxScaler(),
    MinMaxScaler((-1, 2), clip=True, groups="all"),
    CenterThenUnitLength(),
    Gaussianizer(),
    Whitener(),
    Whitener("within"),
]


def all_registered() -> AbstractContextManager[None]:
    """Scalings can be saved inside, whether the registry lists them or not."""
    estimators = (CenterThenUnitLength, Gaussianizer, MinMaxScaler, StandardScaler, Whitener)
    values = (ClassScatter, CountedValues, Extremes, ScalingStatistics, Tail)
    return registry.registered(
        {c.__name__: c for c in estimators if c.__name__ not in registry.ESTIMATORS},
        {c.__name__: c for c in values if c.__name__ not in registry.VALUES},
    )


def normal_table(n: int = 120, d: int = 3, seed: int = 0) -> tuple[Floats, Integers]:
    """Correlated columns of different units, and three classes."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 3, n)
    X = rng.normal(size=(n, d)) @ rng.normal(size=(d, d)) + rng.normal(size=(3, d))[y]
    return X * np.arange(1, d + 1) + 5.0, y


def mixed_frame(n: int = 40) -> pd.DataFrame:
    """Two numeric, a nominal and an ordinal column, with an index of its own."""
    rng = np.random.default_rng(1)
    return pd.DataFrame(
        {
            "width": rng.normal(3.0, 2.0, n),
            "color": rng.choice(["red", "blue"], n),
            "size": pd.Categorical(
                rng.choice(["small", "large"], n), ["small", "large"], ordered=True
            ),
            "height": rng.integers(0, 9, n),
        },
        index=np.arange(n) + 100,
    )


def small_tables(missing: bool = True, columns: int = 2) -> st.SearchStrategy[Floats]:
    """Tables of small whole numbers, where ties are common, with or without missing cells."""
    cells: Any = st.integers(-5, 5).map(float)
    if missing:
        cells = cells | st.just(float("nan"))
    shapes = st.tuples(st.integers(1, 12), st.just(columns))
    return shapes.flatmap(lambda shape: hnp.arrays(np.float64, shape, elements=cells))


def repeated(X: Floats, weight: Integers) -> Floats:
    return np.repeat(X, weight, axis=0)
