"""Tables and members that the tests of ensembles share."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np
import pandas as pd

from novum.core.files import registry
from novum.ensemble.bagging import BaggingClassifier, BaggingRegressor
from novum.ensemble.resampling import Resampling
from novum.ensemble.stacking import StackingClassifier, StackingRegressor
from novum.ensemble.voting import VotingClassifier, VotingRegressor
from novum.numerics import Array, Floats

_ESTIMATORS = (
    BaggingClassifier,
    BaggingRegressor,
    StackingClassifier,
    StackingRegressor,
    VotingClassifier,
    VotingRegressor,
)


@contextmanager
def model_files() -> Iterator[None]:
    """Makes sure that model files know the classes of ensembles."""
    known = {cls.__name__: cls for cls in _ESTIMATORS}
    estimators = {name: cls for name, cls in known.items() if name not in registry.ESTIMATORS}
    values = {} if "Resampling" in registry.VALUES else {"Resampling": Resampling}
    with registry.registered(estimators, values):
        yield


def classes(n: int = 90, d: int = 3, K: int = 3, seed: int = 0) -> tuple[Floats, Array]:
    """Normal columns whose means differ between the classes a, b, c, ..."""
    rng = np.random.default_rng(seed)
    codes = np.arange(n) % K
    X = rng.normal(size=(n, d)) + codes[:, np.newaxis]
    return X, np.array(list("abcdefgh"))[codes]


def numbers(n: int = 60, d: int = 3, seed: int = 0) -> tuple[Floats, Floats]:
    """A linear function of normal columns with noise."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    return X, X @ np.arange(1.0, d + 1) + 0.3 * rng.normal(size=n)


def mixed(n: int = 90, seed: int = 0) -> tuple[pd.DataFrame, Array]:
    """A frame with numeric, nominal, ordinal and Boolean columns, some cells missing."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, n)
    color = np.where(rng.random(n) < 0.3 + 0.4 * y, "red", "blue").astype(object)
    color[::11] = None
    age = rng.normal(size=n) + y
    age[::13] = np.nan
    frame = pd.DataFrame(
        {
            "age": age,
            "color": color,
            "grade": pd.Categorical(rng.choice(["low", "high"], n), ["low", "high"], ordered=True),
            "member": rng.random(n) < 0.5,
        }
    )
    return frame, np.where(y == 1, "yes", "no")
