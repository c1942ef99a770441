"""Optimizers for smooth functions, each with a checked step and a statement of what it reached."""

from novum.numerics.optimize.extrapolation import SquaredExtrapolation
from novum.numerics.optimize.gradient_descent import gradient_descent
from novum.numerics.optimize.line_search import Step, backtracking
from novum.numerics.optimize.newton import newton
from novum.numerics.optimize.outcome import Outcome

__all__ = [
    "Outcome",
    "SquaredExtrapolation",
    "Step",
    "backtracking",
    "gradient_descent",
    "newton",
]
