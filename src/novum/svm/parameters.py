"""Constraints of the parameters that members of the family share, under scikit-learn's names."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any

from sklearn.utils._param_validation import Interval, StrOptions

from novum.kernels.names import NAMES
from novum.kernels.protocol import Kernel

KERNEL_PARAMETERS: dict[str, list[Any]] = {
    "kernel": [StrOptions(set(NAMES)), callable, Kernel],
    "degree": [Interval(Integral, 0, None, closed="left")],
    "gamma": [StrOptions({"scale", "auto"}), Interval(Real, 0, None, closed="left")],
    "coef0": [Interval(Real, None, None, closed="neither")],
    "indefinite": [StrOptions({"refuse", "project"})],
}

SOLVER_PARAMETERS: dict[str, list[Any]] = {
    "shrinking": ["boolean"],
    "tol": [Interval(Real, 0, None, closed="neither")],
    "cache_size": [Interval(Real, 0, None, closed="neither")],
    "verbose": ["verbose"],
    "max_iter": [Interval(Integral, -1, None, closed="left")],
    "max_seconds": [Interval(Real, 0, None, closed="neither"), None],
}

# (0, inf]: an infinite price of slack is a hard margin.
PRICE: list[Any] = [Interval(Real, 0, None, closed="right")]
SHARE: list[Any] = [Interval(Real, 0, 1, closed="right")]
