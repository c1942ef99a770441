"""What an iterative learner gives to the driver of `core.sums.expectation`, and when a fit ends.

A `SumProblem` is an objective improved by passes over the data: statistics of a chunk under the
present parameters, the objective and better parameters from their total. EM's E-step is `step` and
its M-step `update`; in Lloyd's algorithm `step` assigns and sums, `update` divides; in Newton's
method `step` sums gradient and Hessian and `update` solves.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar, Generic, Literal, Protocol, TypeVar

import numpy as np

from novum.core.errors import InputError
from novum.numerics import Floats

P = TypeVar("P")
S = TypeVar("S")


class ObjectiveFallError(ArithmeticError):
    """A step that cannot worsen the objective did; the update or the objective is wrong."""


class SumProblem(ABC, Generic[P, S]):
    """An objective that is improved by passes over the data; parameters are immutable values.

    The first four methods are required. The others offer more and may be left alone. Arguments are
    passed by position.
    """

    objective_name: ClassVar[str]
    direction: ClassVar[Literal["minimize", "maximize"]]
    convex: ClassVar[bool] = False

    @abstractmethod
    def start(self, rng: np.random.Generator, /) -> P:
        """First parameters, random or not."""

    @abstractmethod
    def step(self, params: P, chunk: Any, /) -> S:
        """Statistics of one chunk under `params`; they are added up over the chunks."""

    @abstractmethod
    def objective(self, params: P, statistics: S, /) -> float:
        """Objective at `params`, from the total of the statistics under the same `params`."""

    @abstractmethod
    def update(self, params: P, statistics: S, /) -> P:
        """Better parameters."""

    def scale(self, params: P, statistics: S, /) -> float:
        """Size that changes of the objective are compared with; for a likelihood the weight."""
        return abs(self.objective(params, statistics))

    def rounding(self, params: P, /) -> float:  # noqa: ARG002
        """Share of the objective's size that is noise at `params`, where it is more than usual."""
        return 0.0

    def bound(self, params: P, statistics: S, /) -> float | None:  # noqa: ARG002
        """Proved bound of the best objective: from below if minimized, from above if maximized."""
        return None

    def residual(self, params: P, statistics: S, /) -> float | None:  # noqa: ARG002
        """Size, relative to the data, of what vanishes at an optimum, such as the gradient."""
        return None

    def retreat(self, params: P, proposal: P, /) -> P | None:  # noqa: ARG002
        """A point between `params` and a `proposal` that was worse; `None` if steps must be full.

        Offered by methods such as Newton's, whose full step may overshoot.
        """
        return None

    def to_vector(self, params: P, /) -> Floats | None:  # noqa: ARG002
        """Free parameters as one vector, best unconstrained (logarithms of variances)."""
        return None

    def from_vector(self, vector: Floats, /) -> P | None:  # noqa: ARG002
        """Inverse of `to_vector`; `None` where the vector is no valid parameter."""
        return None


class Acceleration(Protocol):
    """Proposes points beyond a plain step; one object per run (see `SquaredExtrapolation`)."""

    def propose(self, point: Floats, image: Floats) -> Floats | None:
        """A point to try instead of `image`, which is the plain step from `point`."""

    def accepted(self) -> None:
        """The last proposal was no worse than the point before it."""

    def refused(self) -> None:
        """The last proposal was worse, and the plain step was taken."""


@dataclass(frozen=True)
class StopRule:
    """When a fit ends: all given tolerances are met (it converged) or a limit is reached.

    Parameters
    ----------
    tol : float or None
        Change of the objective by a plain step, as a share of `SumProblem.scale`.
    residual_tol : float or None
        Size of `SumProblem.residual`.
    parameter_tol : float or None
        Change of `SumProblem.to_vector` by a plain step, as a share of its norm.
    gap_tol : float or None
        Gap to `SumProblem.bound` as a share of the larger of value and bound. Meeting it is proof
        and suffices alone.
    max_iter : int
        Accepted steps per restart.
    max_seconds : float or None
        Time of the whole fit; checked after every pass.

    Examples
    --------
    >>> StopRule(tol=1e-4, max_iter=50).max_iter
    50
    """

    tol: float | None = 1e-6
    residual_tol: float | None = None
    parameter_tol: float | None = None
    gap_tol: float | None = None
    max_iter: int = 300
    max_seconds: float | None = None

    def __post_init__(self) -> None:
        for name in ("tol", "residual_tol", "parameter_tol", "gap_tol", "max_seconds"):
            limit = getattr(self, name)
            if limit is not None and not limit >= 0:
                raise InputError(f"{name} must be at least 0 or None, got {limit!r}.")
        if self.max_iter != int(self.max_iter) or self.max_iter < 0:
            raise InputError(f"max_iter must be a count of at least 0, got {self.max_iter!r}.")
