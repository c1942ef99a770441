"""Tables that the tests of linear models share: certified ones, rational ones, random ones."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from novum.core.tables import Sample
from novum.linear import LinearRegression
from novum.numerics import Floats

_CERTIFIED = json.loads((Path(__file__).parents[1] / "oracles" / "nist_linear.json").read_text())
LINEAR: dict[str, Any] = _CERTIFIED["linear"]
ANOVA: dict[str, Any] = _CERTIFIED["anova"]


def certified_table(name: str) -> tuple[Floats, Floats]:
    """Design (powers included, intercept not) and targets of a certified regression."""
    given = LINEAR[name]
    X = np.array([[float(cell) for cell in row] for row in given["X"]])
    degree = given["polynomial_degree"]
    if degree is not None:
        X = np.column_stack([X[:, 0] ** k for k in range(1, degree + 1)])
    return X, np.array([float(cell) for cell in given["y"]])


def certified_groups(name: str) -> tuple[list[str], Floats]:
    """Group label and value of every row of a certified analysis of variance."""
    given, labels, values = ANOVA[name], [], []
    groups = given.get("data") or {
        group: [rule["first"], *(rule["then_alternating"][i % 2] for i in range(rule["count"] - 1))]
        for group, rule in given["data_rle"].items()
    }
    for group, cells in groups.items():
        labels += [group] * len(cells)
        values += [float(cell) for cell in cells]
    return labels, np.array(values)


def digits(found: Any, exact: Iterable[str]) -> float:
    """Fewest right digits: `-log10` of the relative error, of the absolute one where 0 is right."""
    fewest = 16.0
    for value, text in zip(np.atleast_1d(found), exact, strict=True):
        if not math.isfinite(value):
            return -math.inf
        truth = Decimal(text)
        error = abs(Decimal(float(value)) - truth) / (abs(truth) or 1)
        fewest = min(fewest, float(-error.log10())) if error else fewest
    return fewest


# --- Random tables --------------------------------------------------------------------------------

whole_numbers = st.integers(-20, 20).map(float)


@st.composite
def integer_tables(
    draw: st.DrawFn, max_columns: int = 3, max_rows: int = 9
) -> tuple[Floats, Floats, Floats]:
    """Design, targets and positive weights in whole numbers; often without full rank."""
    n, p = draw(st.integers(1, max_rows)), draw(st.integers(1, max_columns))
    X = draw(hnp.arrays(np.float64, (n, p), elements=whole_numbers))
    y = draw(hnp.arrays(np.float64, (n,), elements=whole_numbers))
    weight = draw(hnp.arrays(np.float64, (n,), elements=st.integers(1, 4).map(float)))
    return X, y, weight


def normal_table(n: int, p: int, seed: int = 0, noise: float = 1.0) -> tuple[Floats, Floats]:
    """Independent standard normal columns, slopes 1, 2, ..., p and intercept 5."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p))
    return X, 5.0 + X @ np.arange(1.0, p + 1) + noise * rng.normal(size=n)


def sample_of(X: Any, y: Any, weight: Any = None) -> Sample:
    """A checked sample, as a fit sees it."""
    return LinearRegression()._read(X, y, weight, None)
