"""Expectation and maximization for a latent model of one's own.

    E   sums = sum over rows of E[what the complete rows would tell | present cells, parameters]
    M   parameters = the likeliest ones, had the complete rows told these sums

Whoever can write these two and the log-likelihood has a model; the loop, its monitor, restarts,
extrapolation, threads and the certificate are the same for all (`core.sums.fit_sums`). The
likelihood can never fall, so a fall is reported as what it is: a mistake in E or M.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from novum.core.errors import InputError
from novum.core.learners import Certificate, warn_if_stopped
from novum.core.runtime import RandomSource, run_tasks
from novum.core.sums import StopRule, SumProblem, fit_sums, total
from novum.core.tables import checked_weight, is_frame, n_rows_of, rows_of
from novum.numerics import Floats, SquaredExtrapolation, one_blas_thread


class LatentModel(ABC):
    """What is to be written for a model of one's own; see `expectation_maximization`."""

    @abstractmethod
    def start(self, X: Any, rng: np.random.Generator) -> Any:
        """First parameters: a number, an array, or a tuple or dict of such."""

    @abstractmethod
    def expectation(self, params: Any, X: Any, weight: Floats) -> tuple[float, Any]:
        """The weighted log-likelihood of some rows, and their expected sums.

        Sums are numbers, arrays, or tuples and dicts of such; those of parts of the rows are added.
        """

    @abstractmethod
    def maximization(self, params: Any, sums: Any) -> Any:
        """The likeliest parameters, given the expected sums over all rows."""

    def to_vector(self, params: Any) -> Floats | None:  # noqa: ARG002
        """Free parameters as one vector without bounds, for extrapolation."""
        return None

    def from_vector(self, vector: Floats) -> Any:  # noqa: ARG002
        """The inverse of `to_vector`; None where a vector is no parameter."""
        return None


@dataclass(frozen=True, eq=False)
class LatentFit:
    """A fitted latent model.

    Attributes
    ----------
    params : as `LatentModel.maximization` gives them
    sums
        Expected sums over all rows under these parameters.
    log_likelihood : float
    certificate : Certificate
        The log-likelihood after every step, the verdict, and what became of all starts.
    """

    params: Any
    sums: Any
    log_likelihood: float
    certificate: Certificate


def expectation_maximization(
    model: LatentModel,
    X: Any,
    *,
    sample_weight: ArrayLike | None = None,
    tol: float = 1e-8,
    max_iter: int = 1000,
    max_seconds: float | None = None,
    n_init: int = 1,
    random_state: RandomSource = None,
    chunk_rows: int = 65_536,
    n_jobs: int | None = None,
    on_interrupt: Literal["raise", "keep"] = "raise",
) -> LatentFit:
    """Fits a latent model of one's own by EM.

    Parameters
    ----------
    model : LatentModel
        Start, E and M. With `to_vector` and `from_vector` steps are extrapolated (SQUAREM).
    X : array, data frame, or list of anything
        Rows, handed to `model.expectation` in chunks.
    sample_weight : array-like of shape (n_rows,), optional
        How often each row counts.
    tol : float
        A fit ends when a step changes the log-likelihood per row by less.
    max_iter, max_seconds
        Limits of a start, and of the whole fit.
    n_init : int
        Starts, of which the best is kept.
    random_state : int, RandomState, Generator or None
    chunk_rows : int
        Rows of one call of `expectation`; results do not depend on threads, only on this number.
    n_jobs : int, optional
        Threads over chunks.
    on_interrupt : {"raise", "keep"}
        What Ctrl-C does: end without a result, or keep the best so far.

    Returns
    -------
    LatentFit

    Raises
    ------
    ObjectiveFallError
        Where a step makes the likelihood smaller, which a right E and M cannot do.

    Examples
    --------
    How often two coins show heads, when nobody wrote down which one was thrown ten times.

    >>> class Coins(LatentModel):
    ...     def start(self, X, rng):
    ...         return np.array([0.4, 0.6])
    ...     def expectation(self, heads, X, weight):
    ...         joint = 0.5 * heads**X[:, None] * (1 - heads)**(10 - X[:, None])
    ...         shares = weight[:, None] * joint / joint.sum(axis=1, keepdims=True)
    ...         return weight @ np.log(joint.sum(axis=1)), (shares.T @ X, 10 * shares.sum(axis=0))
    ...     def maximization(self, heads, sums):
    ...         return sums[0] / sums[1]
    >>> fit = expectation_maximization(Coins(), np.array([5, 9, 8, 4, 7]))
    >>> fit.params.round(2).tolist(), fit.certificate.verdict.value
    ([0.52, 0.8], 'local')
    """
    if chunk_rows < 1:
        raise InputError(f"chunk_rows must be at least 1, got {chunk_rows!r}.")
    rows = X if is_frame(X) or isinstance(X, list) else np.asarray(X)
    n = n_rows_of(rows) if is_frame(rows) else len(rows)
    given = checked_weight(sample_weight, n)
    weights = np.ones(n) if given is None else given
    if n == 0:
        raise InputError("There are no rows to learn from.")
    if not (weights > 0).all():
        keep = np.flatnonzero(weights > 0)
        rows, weights, n = _chosen(rows, keep), weights[keep], len(keep)
    starts = range(0, n, chunk_rows)
    chunks = [
        (_chosen(rows, np.arange(s, min(s + chunk_rows, n))), weights[s : s + chunk_rows])
        for s in starts
    ]
    name = type(model).__name__
    # Messages of the driver name the class of the problem: that of the user.
    problem = type(name, (_OwnProblem,), {})(model, rows, float(weights.sum()))
    has_vector = type(model).to_vector is not LatentModel.to_vector
    with one_blas_thread():
        fitted = fit_sums(
            problem,
            lambda step: total(run_tasks(step, chunks, n_jobs)),
            stop=StopRule(tol=tol, max_iter=max_iter, max_seconds=max_seconds),
            n_init=n_init,
            random_state=random_state,
            acceleration=SquaredExtrapolation if has_vector else None,
            on_interrupt=on_interrupt,
        )
    warn_if_stopped(fitted.certificate, name)
    return LatentFit(fitted.params, fitted.statistics.sums, fitted.value, fitted.certificate)


@dataclass(frozen=True, eq=False)
class _Sums:
    """The log-likelihood of some rows with their expected sums."""

    value: float
    sums: Any

    def __add__(self, other: _Sums) -> _Sums:
        return _Sums(self.value + other.value, _added(self.sums, other.sums))


def _added(a: Any, b: Any) -> Any:
    if isinstance(a, Mapping):
        return {name: _added(value, b[name]) for name, value in a.items()}
    if isinstance(a, tuple):
        parts = [_added(x, y) for x, y in zip(a, b, strict=True)]
        return type(a)(*parts) if hasattr(a, "_fields") else tuple(parts)
    if isinstance(a, list):
        return [_added(x, y) for x, y in zip(a, b, strict=True)]
    return a + b


class _OwnProblem(SumProblem[Any, _Sums]):
    objective_name = "log-likelihood"
    direction = "maximize"

    def __init__(self, model: LatentModel, rows: Any, weight: float) -> None:
        self.model, self.rows, self.weight = model, rows, weight

    def start(self, rng: np.random.Generator, /) -> Any:
        return self.model.start(self.rows, rng)

    def step(self, params: Any, chunk: Any, /) -> _Sums:
        answer = self.model.expectation(params, *chunk)
        name = type(self.model).__name__
        if not (isinstance(answer, tuple) and len(answer) == 2):
            raise InputError(
                f"{name}.expectation returns a pair (log-likelihood, sums), got "
                f"{type(answer).__name__}."
            )
        if np.ndim(answer[0]) != 0:
            raise InputError(
                f"The log-likelihood of {name}.expectation is one number, got an array of shape "
                f"{np.shape(answer[0])}. Sum it over the rows with their weights."
            )
        return _Sums(float(answer[0]), answer[1])

    def objective(self, params: Any, statistics: _Sums, /) -> float:
        del params
        return statistics.value

    def scale(self, params: Any, statistics: _Sums, /) -> float:
        del params, statistics
        return self.weight

    def update(self, params: Any, statistics: _Sums, /) -> Any:
        return self.model.maximization(params, statistics.sums)

    def to_vector(self, params: Any, /) -> Floats | None:
        return self.model.to_vector(params)

    def from_vector(self, vector: Floats, /) -> Any:
        return self.model.from_vector(vector)


def _chosen(rows: Any, places: Any) -> Any:
    if isinstance(rows, list):
        return [rows[place] for place in places]
    return rows_of(rows, places) if is_frame(rows) else rows[places]
