"""Tables and registered classes that the tests of naive Bayes share."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from novum import bayes
from novum.numerics import Floats, Integers


def numbers(n: int = 60, d: int = 3, n_classes: int = 3) -> tuple[Floats, Integers]:
    """Normal columns with means that differ between the classes."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, n_classes, n)
    return rng.normal(size=(n, d)) + 0.8 * y[:, np.newaxis], y


def counts(n: int = 60, d: int = 5) -> tuple[Floats, Integers]:
    """Poisson counts whose rates differ between two classes."""
    rng = np.random.default_rng(1)
    y = rng.integers(0, 2, n)
    rates = np.where(y[:, np.newaxis] == 0, np.linspace(0.3, 2, d), np.linspace(2, 0.3, d))
    return rng.poisson(rates).astype(float), y


def codes(n: int = 60) -> tuple[Integers, Integers]:
    """Codes of categories, of which every one is met."""
    rng = np.random.default_rng(2)
    y = rng.integers(0, 3, n)
    X = (rng.integers(0, 4, (n, 3)) + (rng.random((n, 3)) < 0.4) * y[:, np.newaxis]) % 4
    return X, y


def mixed(n: int = 60, missing: float = 0.1) -> tuple[pd.DataFrame, Integers]:
    """Numbers, counts and categories of every kind, with missing cells."""
    rng = np.random.default_rng(3)
    y = rng.integers(0, 3, n)
    frame = pd.DataFrame(
        {
            "age": rng.normal(40, 8, n) + 5 * y,
            "color": rng.choice(["blue", "green", "red"], n),
            "income": rng.lognormal(3 + 0.5 * y, 0.5, n),
            "grade": pd.Categorical(rng.choice(["a", "b", "c"], n), ["a", "b", "c"], ordered=True),
            "cars": rng.poisson(1 + y, n).astype(float),
            "pets": rng.poisson(1.0, n).astype(float),
            "visits": rng.poisson(0.7 + 0.5 * y, n).astype(float),
        }
    )
    for name in ("age", "color", "grade", "pets", "visits"):
        frame.loc[rng.random(n) < missing, name] = None
    return frame, y


def mixed_model(**more: Any) -> Any:
    """Naive Bayes with every law, for the table of `mixed`."""
    columns = {
        "income": bayes.StudentTColumn(),
        "color": bayes.CategoricalColumn(bayes.MEstimate(2.0)),
        "visits": bayes.BernoulliColumn(),
        "belongings": bayes.CountsBlock(["cars", "pets"]),
    }
    return bayes.NaiveBayes(columns=columns, **more)
