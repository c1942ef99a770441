"""Parameters that members of the family share, under scikit-learn's names."""

from __future__ import annotations

from numbers import Real
from typing import Any

from sklearn.utils._param_validation import Interval

from novum.core.learners import Learner, count, parameter
from novum.kernels import NAMES, Kernel

AT_LEAST_ZERO = Interval(Real, 0, None, closed="left")
# (0, inf]: an infinite price of slack is a hard margin.
PRICE = Interval(Real, 0, None, closed="right")
SHARE = Interval(Real, 0, 1, closed="right")


class KernelParameters(Learner):
    """What a learner is told about its kernel.

    Parameters
    ----------
    kernel : str, callable or Kernel
        scikit-learn's names ("linear", "poly", "rbf", "sigmoid", "precomputed"), a function of two
        arrays, or any value of `novum.kernels`, also of strings, graphs or mixed columns.
    degree : int
        Of the kernel "poly".
    gamma : {"scale", "auto"} or float
        Of "rbf", "poly" and "sigmoid": 1 / (n_columns * variance of all cells), 1 / n_columns, or
        a number.
    coef0 : float
        Of "poly" and "sigmoid".
    categorical_features : "auto", "all", None, mask, names or positions
        Columns to be coded by their levels, where the kernel takes vectors.
    indefinite : {"refuse", "project"}
        What to do with a kernel that is not positive semi-definite: an error, or the nearest one
        that is.
    """

    kernel: Any = parameter(set(NAMES), callable, Kernel, default="rbf")
    degree: Any = parameter(count(0), default=3)
    gamma: Any = parameter({"scale", "auto"}, AT_LEAST_ZERO, default="scale")
    coef0: float = parameter(Interval(Real, None, None, closed="neither"), default=0.0)
    categorical_features: Any = parameter(str, None, "array-like", default="auto")
    indefinite: str = parameter({"refuse", "project"}, default="refuse")


class SolverParameters(Learner):
    """What the solver of a quadratic program is told.

    Parameters
    ----------
    shrinking : bool
        Without effect.
    tol : float
        Relative duality gap to be reached.
    cache_size : float
        Megabytes for rows of the kernel matrix.
    verbose : bool
    max_iter : int
        Most steps of the solver; -1 for no limit.
    max_seconds : float
        Most wall-clock time of a fit; what was reached by then is certified.
    """

    shrinking: bool = parameter(default=True)
    tol: float = parameter(default=1e-3, above=0)
    cache_size: float = parameter(default=200, above=0)
    verbose: bool = parameter("verbose", default=False)
    max_iter: int = parameter(default=-1, at_least=-1)
    max_seconds: float | None = parameter(default=None, above=0)
