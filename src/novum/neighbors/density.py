"""Densities without a form: a bump of one width at every row.

    p(x) = 1 / (W h^d) sum_i w_i K(|x - x_i| / h)

Sums over many rows go by a tree of boxes, whose far parts are settled by bounds to the relative
error `rtol`. The bandwidth can be the one under which each row is likeliest given the others,

    h = argmax  sum_i w_i log p_{-i}(x_i)
"""

from __future__ import annotations

from math import lgamma, log, pi
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator

from novum.core.errors import InputError
from novum.core.learners import Certificate, Learner, Verdict, fitted, parameter
from novum.core.runtime import RandomSource, fit_context, fitting, seed_sequence
from novum.core.tables import check_features, check_sample
from novum.distances import refuse_overflow
from novum.numerics import PROFILES, Floats, KernelSums, as_argument, cached_property

# Bandwidths tried first, as powers of two of Silverman's; then the best is refined.
_GRID = np.arange(-5.0, 3.5, 0.5)
_COARSE, _FINE = 1e-3, 1e-9


class KernelDensity(Learner, BaseEstimator):
    """A density as the mean of a kernel at every row.

    Parameters
    ----------
    bandwidth : float or {"scott", "silverman", "cv"}, default=1.0
        Width h of the kernel in the units of the columns. The rules take the spread of the rows,
        `s = sqrt(mean variance of the columns)`: `s n^(-1/(d+4))`, and the same with
        `n (d+2) / 4` for n. "cv" maximizes the leave-one-out log-likelihood.
    algorithm : {"auto", "kd_tree", "ball_tree"}
        Without effect: sums go by a tree of boxes.
    kernel : {"gaussian", "tophat", "epanechnikov", "exponential", "linear", "cosine"}
    metric : {"euclidean"}
    atol, rtol : float, default=0.0
        The sum over rows differs from the direct one by at most `rtol` times itself, plus `atol`
        in the units of the density. Zero for both adds up every row.
    breadth_first, leaf_size, metric_params
        Without effect.

    Attributes
    ----------
    bandwidth_ : float
    numbers_, weights_ : arrays
        The training rows.
    leave_one_out_ : float or None
        Mean leave-one-out log-likelihood of a row, with `bandwidth="cv"`.
    certificate_, schema_, n_features_in_, feature_names_in_
        As everywhere.

    Notes
    -----
    One bandwidth serves all columns, so columns of different units are scaled first. Weights count
    repetitions. Missing cells are refused. "cv" costs about 30 evaluations of the likelihood; where
    rows repeat, it grows without bound as h falls, and the best of the widths around which it falls
    on both sides is taken.

    References
    ----------
    Silverman, Density Estimation for Statistics and Data Analysis, 1986, section 4.3. Gray and
    Moore, Nonparametric density estimation: toward computational tractability, SDM 2003.

    Examples
    --------
    >>> model = KernelDensity(bandwidth=1.0).fit([[0.0], [2.0]])
    >>> np.exp(model.score_samples([[1.0]])).round(6)
    array([0.241971])
    """

    invariances = ("shift", "row_order", "duplication")
    _holds_training_rows = True

    bandwidth: float | str = parameter({"scott", "silverman", "cv"}, default=1.0, above=0)
    algorithm: str = parameter({"auto", "kd_tree", "ball_tree"}, default="auto")
    kernel: str = parameter(set(PROFILES), default="gaussian")
    metric: str = parameter({"euclidean", "l2", "minkowski"}, default="euclidean")
    atol: float = parameter(default=0.0, at_least=0)
    rtol: float = parameter(default=0.0, at_least=0)
    breadth_first: bool = parameter(default=True)
    leaf_size: int = parameter(default=40, at_least=1)
    metric_params: Any = parameter(dict, None, default=None)

    bandwidth_: float = fitted()
    numbers_: Floats = fitted()
    weights_: Floats | None = fitted()
    leave_one_out_: float | None = fitted()
    certificate_: Certificate = fitted()

    @fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Keeps the rows, and finds the bandwidth.

        Parameters
        ----------
        X : array-like or data frame of shape (n_rows, n_columns)
        y : ignored
        sample_weight : array-like of shape (n_rows,), optional
            How often each row counts.
        """
        del y
        with fitting(self):
            sample = check_sample(self, X, None, sample_weight, target="none")
            refuse_overflow(sample.numeric)
            self.schema_ = sample.schema
            # A copy, so that later changes of the table do not reach the model.
            self.numbers_ = np.array(sample.numeric, np.float64, order="C")
            self.weights_ = sample.weight
            state: Any = vars(self)
            state.pop("_sums", None)
            self.leave_one_out_ = None
            self.bandwidth_ = self._found_bandwidth()
            is_cv = self.leave_one_out_ is not None
            self.certificate_ = Certificate(
                objective="leave-one-out log-likelihood of a row" if is_cv else "rows are kept",
                value=self.leave_one_out_,
                verdict=Verdict.LOCAL if is_cv else Verdict.PROVED,
                details={"bandwidth": self.bandwidth_, "relative error of sums": self.rtol},
            )
        return self

    def score_samples(self, X: Any) -> Floats:
        """Logarithms of the density, (n_rows,)."""
        self._check_fitted()
        sample = check_features(self, X)
        queries = as_argument(sample.numeric)
        refuse_overflow(queries)
        constant = self._log_constant(self.bandwidth_)
        atol = self.atol * float(np.exp(-constant)) if self.atol else 0.0
        sums = self._sums.log_sums(queries, self.kernel, self.bandwidth_, self.rtol, atol)
        return sums + constant

    def score(self, X: Any, y: Any = None) -> float:
        """The log-likelihood of all rows together."""
        del y
        return float(self.score_samples(X).sum())

    def sample(self, n_samples: int = 1, random_state: RandomSource = None) -> Floats:
        """Rows drawn from the density, (n_samples, n_columns).

        Parameters
        ----------
        n_samples : int
        random_state : int, generator or None
        """
        self._check_fitted()
        if n_samples < 0:
            raise InputError(f"n_samples is a number of at least 0, got {n_samples}.")
        rng = np.random.default_rng(seed_sequence(random_state))
        n, d = self.numbers_.shape
        shares = None if self.weights_ is None else self.weights_ / self.weights_.sum()
        centers = self.numbers_[rng.choice(n, n_samples, p=shares)]
        return centers + self.bandwidth_ * _bumps(self.kernel, n_samples, d, rng)

    # Bandwidths

    def _check_fitted(self) -> None:
        if "bandwidth_" not in vars(self):
            from sklearn.utils.validation import check_is_fitted

            check_is_fitted(self, "bandwidth_")

    def _check_state(self) -> None:
        from novum.core.errors import ModelFileError

        if self.numbers_.ndim != 2 or not self.numbers_.size or not 0 < self.bandwidth_ < 1e154:
            raise ModelFileError("The file has no rows, or a bandwidth that is none.")
        if self.weights_ is not None and len(self.weights_) != len(self.numbers_):
            raise ModelFileError("The file has weights of another number of rows than it has rows.")

    @cached_property
    def _sums(self) -> KernelSums:
        return KernelSums.of(self.numbers_, self.weights_)

    @property
    def _weight(self) -> float:
        return float(len(self.numbers_) if self.weights_ is None else self.weights_.sum())

    def _log_constant(self, h: float) -> float:
        d = self.numbers_.shape[1]
        return log_constant(self.kernel, d) - d * log(h) - log(self._weight)

    def _found_bandwidth(self) -> float:
        if not isinstance(self.bandwidth, str):
            return float(self.bandwidth)
        if len(self.numbers_) < 2:
            raise InputError(
                f"bandwidth={self.bandwidth!r} is found from several rows, got n_samples = 1. Give "
                "a number."
            )
        rule = _rule(self.numbers_, self.weights_, self.bandwidth)
        if self.bandwidth != "cv":
            return rule
        return self._cross_validated(rule)

    def _cross_validated(self, rule: float) -> float:
        from scipy.optimize import minimize_scalar

        widths = np.log(rule) + np.log(2.0) * _GRID
        curve = np.array([self._left_out(float(np.exp(w)), _COARSE) for w in widths])
        inner = np.arange(1, len(widths) - 1)
        peaks = inner[(curve[inner] >= curve[inner - 1]) & (curve[inner] > curve[inner + 1])]
        peaks = peaks[np.isfinite(curve[peaks])]
        if not len(peaks):
            raise InputError(
                "The leave-one-out likelihood has no best bandwidth between "
                f"{np.exp(widths[0]):.3g} and {np.exp(widths[-1]):.3g}: rows repeat, so that it "
                "grows without bound as the bandwidth falls. Use 'silverman', or give a number."
            )
        best = int(peaks[np.argmax(curve[peaks])])
        optimum = minimize_scalar(
            lambda w: -self._left_out(float(np.exp(w)), _FINE),
            bounds=(widths[best - 1], widths[best + 1]),
            method="bounded",
            options={"xatol": 1e-4},
        )
        self.leave_one_out_ = float(-optimum.fun)
        return float(np.exp(optimum.x))

    def _left_out(self, h: float, rtol: float) -> float:
        """Mean log-density of a row under the others."""
        n, d = self.numbers_.shape
        weights = np.ones(n) if self.weights_ is None else self.weights_
        own = np.arange(n)
        logs = self._sums.log_sums(self.numbers_, self.kernel, h, rtol, own=own)
        # Of a row that counts several times, one is left out and the others stay.
        left = np.logaddexp(logs, np.log(np.maximum(weights - 1.0, 1e-300)))
        logs = np.where(weights > 1.0, left, logs)
        with np.errstate(divide="ignore"):
            rest = np.log(weights.sum() - np.minimum(weights, 1.0))
        densities = logs + log_constant(self.kernel, d) - d * log(h) - rest
        return float(weights @ densities / weights.sum())


# --- Kernels --------------------------------------------------------------------------------------


def log_constant(kernel: str, d: int) -> float:
    """The logarithm of what makes `K(|x|)` integrate to one over d columns, with `K(0) = 1`.

    Examples
    --------
    >>> round(float(np.exp(log_constant("epanechnikov", 1))), 6)
    0.75
    """
    ball = 0.5 * d * log(pi) - lgamma(0.5 * d + 1.0)
    if kernel == "gaussian":
        return -0.5 * d * log(2.0 * pi)
    if kernel == "tophat":
        return -ball
    if kernel == "epanechnikov":
        return log(0.5 * d + 1.0) - ball
    if kernel == "exponential":
        return -ball - lgamma(d + 1.0)
    if kernel == "linear":
        return log(d + 1.0) - ball
    # The integral of cos(pi r / 2) r^(d-1) over [0, 1], by Gauss and Legendre.
    nodes, weights = np.polynomial.legendre.leggauss(64)
    r = 0.5 * (nodes + 1.0)
    integral = float(0.5 * weights @ (np.cos(0.5 * pi * r) * r ** (d - 1)))
    return -ball - log(d * integral)


def _bumps(kernel: str, n: int, d: int, rng: np.random.Generator) -> Floats:
    """Draws from a kernel of bandwidth one: a direction, and how far."""
    directions = rng.standard_normal((n, d))
    if kernel == "gaussian":
        return directions
    directions /= np.linalg.norm(directions, axis=1, keepdims=True)
    if kernel == "tophat":
        far = rng.random(n) ** (1.0 / d)
    elif kernel == "epanechnikov":
        far = np.sqrt(rng.beta(0.5 * d, 2.0, n))
    elif kernel == "exponential":
        far = rng.gamma(d, size=n)
    else:
        far = rng.beta(d, 2.0, n)
    if kernel == "cosine":
        # cos(pi r / 2) is at most (1 - r) pi / 2, from which draws come until they are kept.
        waiting = np.arange(n)
        while len(waiting):
            r = rng.beta(d, 2.0, len(waiting))
            kept = rng.random(len(waiting)) * 0.5 * pi * (1.0 - r) <= np.cos(0.5 * pi * r)
            far[waiting[kept]] = r[kept]
            waiting = waiting[~kept]
    return directions * far[:, np.newaxis]


def _rule(numbers: Floats, weights: Floats | None, rule: str) -> float:
    """Scott's and Silverman's bandwidth for rows of any spread."""
    d = numbers.shape[1]
    total = float(len(numbers) if weights is None else weights.sum())
    mean = np.average(numbers, axis=0, weights=weights)
    spread = float(np.sqrt(np.average((numbers - mean) ** 2, axis=0, weights=weights).mean()))
    if not spread > 0:
        raise InputError(
            f"bandwidth={rule!r} follows the spread of the rows, and all rows are equal. Give a "
            "number."
        )
    count = total if rule == "scott" else total * (d + 2.0) / 4.0
    return float(spread * count ** (-1.0 / (d + 4.0)))
