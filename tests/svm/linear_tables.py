"""Small tables that the tests of linear machines share, and designs of them."""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from novum.numerics import Array, Floats
from novum.svm.linear.design import Design


def overlapping(n: int = 60, d: int = 3, seed: int = 0) -> tuple[Floats, Floats]:
    """Two classes that overlap; sides are -1 and 1."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d))
    score = X[:, 0] - 0.5 * X[:, -1] + 0.3 + 0.8 * rng.standard_normal(n)
    return X, np.where(score > 0, 1.0, -1.0)


def three_classes(n: int = 90, seed: int = 0) -> tuple[Floats, Array]:
    """Three classes around the corners of a triangle, overlapping a little."""
    rng = np.random.default_rng(seed)
    y = np.arange(n) % 3
    angle = 2 * np.pi * y / 3
    X = 1.5 * np.column_stack([np.cos(angle), np.sin(angle)]) + rng.standard_normal((n, 2))
    return X, y


def line(n: int = 50, seed: int = 0) -> tuple[Floats, Floats]:
    """Targets around a plane."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, 3))
    return X, X @ np.array([2.0, -1.0, 0.5]) + 1.5 + 0.3 * rng.standard_normal(n)


def with_constant(X: Floats, constant: float = 1.0) -> Floats:
    return np.column_stack([X, np.full(len(X), constant)])


def design(X: Any, constant: float = 1.0) -> Design:
    return Design(X, constant)


@st.composite
def sided_tables(draw: st.DrawFn) -> tuple[Floats, Floats, Floats]:
    """Small whole cells, so that ties and equal rows come up; sides; weights."""
    n, d = draw(st.integers(2, 10)), draw(st.integers(1, 3))
    X = draw(hnp.arrays(float, (n, d), elements=st.integers(-3, 3).map(float)))
    side = draw(hnp.arrays(float, n, elements=st.sampled_from([-1.0, 1.0])))
    weight = draw(hnp.arrays(float, n, elements=st.sampled_from([0.1, 0.5, 1.0, 3.0, 20.0])))
    return X, side, weight
