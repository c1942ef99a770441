"""Step rules of gradient descent: how far to go along the negative gradient.

    ConstantStep     a_t = length                       converges for length < 2 / L
    DecayingStep     a_t = length / (1 + t / delay)     sum a_t diverges, sum a_t^2 does not
    Backtracking     the first of a, a/2, a/4, ... that keeps a share of the promised decrease
    AdaGrad          length / sqrt(sum of squared gradients), for each parameter its own

L is the Lipschitz constant of the gradient. Rules are values; what a run learns under way (the
last length, sums of squares) is kept by the run.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import numpy as np

from novum.core.errors import InputError
from novum.numerics import Floats, backtracking

ValueAndGradient = Callable[[Floats], tuple[float, Floats]]


@runtime_checkable
class StepRule(Protocol):
    """A value that starts the search of lengths for one run."""

    def run(self, lipschitz: float) -> StepRun:
        """The lengths of one run on a function whose gradient has this Lipschitz constant."""


class StepRun(Protocol):
    """The lengths of one run."""

    def length(self, number: int, gradient: Floats) -> Floats | float:
        """Length of step `number`, counted from 0, for each parameter or for all."""

    def search(
        self, function: ValueAndGradient, params: Floats, value: float, gradient: Floats
    ) -> float | None:
        """A length found by looking at the function; 0 where none is left, None if not searched."""


class _Fixed:
    """Lengths that do not look at the function."""

    def search(
        self, function: ValueAndGradient, params: Floats, value: float, gradient: Floats
    ) -> float | None:
        del function, params, value, gradient
        return None


@dataclass(frozen=True)
class ConstantStep:
    """The same length in every step.

    Parameters
    ----------
    length : float, optional
        `1 / L` if absent, which decreases every smooth function; a loss with a kink has no L.

    Examples
    --------
    >>> ConstantStep().run(lipschitz=4.0).length(0, np.zeros(1))
    0.25
    """

    length: float | None = None

    def __post_init__(self) -> None:
        _check_positive("length", self.length)

    def run(self, lipschitz: float) -> StepRun:
        return _Decaying(_first_length(self.length, lipschitz, "ConstantStep"), np.inf)


@dataclass(frozen=True)
class DecayingStep:
    """`length / (1 + t / delay)`: long enough to get anywhere, short enough to settle.

    Parameters
    ----------
    length : float, optional
        First length; `1 / L` if absent.
    delay : float
        Steps after which the length is half the first.

    Examples
    --------
    >>> run = DecayingStep(length=1.0, delay=10.0).run(lipschitz=np.inf)
    >>> run.length(0, np.zeros(1)), run.length(10, np.zeros(1))
    (1.0, 0.5)
    """

    length: float | None = None
    delay: float = 100.0

    def __post_init__(self) -> None:
        _check_positive("length", self.length)
        _check_positive("delay", self.delay)

    def run(self, lipschitz: float) -> StepRun:
        return _Decaying(_first_length(self.length, lipschitz, "DecayingStep"), self.delay)


@dataclass(frozen=True)
class Backtracking:
    """Armijo's rule: halve the length until the decrease is at least a share of the promised one.

    Parameters
    ----------
    length : float
        First length tried; later ones start from twice the last.
    share : float in (0, 1)
    """

    length: float = 1.0
    share: float = 0.5

    def __post_init__(self) -> None:
        _check_positive("length", self.length)
        if not 0 < self.share < 1:
            raise InputError(f"share is a number between 0 and 1, got {self.share!r}.")

    def run(self, lipschitz: float) -> StepRun:
        del lipschitz
        return _Searched(self.length, self.share)


@dataclass(frozen=True)
class AdaGrad:
    """A length for each parameter, shorter where its gradients have been large (Duchi et al. 2011).

    Parameters
    ----------
    length : float
    floor : float
        Added to the root of the sum of squares, so that a parameter without a gradient stays.
    """

    length: float = 0.1
    floor: float = 1e-8

    def __post_init__(self) -> None:
        _check_positive("length", self.length)
        _check_positive("floor", self.floor)

    def run(self, lipschitz: float) -> StepRun:
        del lipschitz
        return _Adaptive(self.length, self.floor)


# --- Runs -----------------------------------------------------------------------------------------


class _Decaying(_Fixed):
    def __init__(self, first: float, delay: float) -> None:
        self.first, self.delay = first, delay

    def length(self, number: int, gradient: Floats) -> float:
        del gradient
        return self.first / (1 + number / self.delay)


class _Adaptive(_Fixed):
    def __init__(self, first: float, floor: float) -> None:
        self.first, self.floor = first, floor
        self.squares = np.zeros(1)

    def length(self, number: int, gradient: Floats) -> Floats:
        del number
        self.squares = self.squares + np.square(gradient)
        return self.first / (self.floor + np.sqrt(self.squares))


class _Searched:
    def __init__(self, first: float, share: float) -> None:
        self.last, self.share = first / 2, share

    def length(self, number: int, gradient: Floats) -> float:
        raise InputError(
            f"Backtracking compares values of the whole objective, which a batch of rows does not "
            f"know (step {number}, gradient of size {np.linalg.norm(gradient):.3g}). Use "
            "DecayingStep or AdaGrad with StochasticGradientDescent."
        )

    def search(
        self, function: ValueAndGradient, params: Floats, value: float, gradient: Floats
    ) -> float | None:
        if not float(gradient @ gradient) > 0:
            return 0.0
        step = backtracking(
            function, params, value, gradient, -gradient, length=2 * self.last, share=self.share
        )
        if step is None:
            return 0.0
        self.last = step.length
        return step.length


# --- Checks ---------------------------------------------------------------------------------------


def _first_length(length: float | None, lipschitz: float, rule: str) -> float:
    if length is not None:
        return float(length)
    if not np.isfinite(lipschitz):
        raise InputError(
            f"{rule} without a length takes 1 / L, but a loss with a kink has no Lipschitz "
            f"constant L. Give a length: {rule}(length=0.1)."
        )
    return 1 / lipschitz if lipschitz > 0 else 1.0


def _check_positive(name: str, value: float | None) -> None:
    if value is not None and not (np.isfinite(value) and value > 0):
        raise InputError(f"{name} must be a finite number above 0, got {value!r}.")
