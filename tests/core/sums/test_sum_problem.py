"""Stop rules: values that refuse nonsense; problems: optional answers default to 'not offered'."""

import math
from typing import Any

import numpy as np
import pytest

from novum.core.errors import InputError
from novum.core.sums import ObjectiveFallError, StopRule, SumProblem, fit_sums
from novum.numerics import Floats
from tests.core.sum_learners import in_memory


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"tol": -1e-3}, "tol must be at least 0 or None, got -0.001"),
        ({"residual_tol": float("nan")}, "residual_tol must be at least 0"),
        ({"parameter_tol": -1.0}, "parameter_tol must be"),
        ({"gap_tol": -1.0}, "gap_tol must be"),
        ({"max_seconds": -1.0}, "max_seconds must be"),
        ({"max_iter": 2.5}, "max_iter must be a count of at least 0, got 2.5"),
        ({"max_iter": -1}, "max_iter must be a count"),
    ],
)
def test_impossible_limits_are_refused(fields: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        StopRule(**fields)


def test_rules_are_values() -> None:
    assert StopRule(tol=0.0, max_iter=5) == StopRule(tol=0.0, max_iter=5)
    assert hash(StopRule()) == hash(StopRule())


class Constant(SumProblem[float, float]):
    objective_name = "constant"
    direction = "minimize"

    def start(self, rng: np.random.Generator) -> float:
        return float(rng.random())

    def step(self, params: float, chunk: Any) -> float:
        return params + chunk

    def objective(self, params: float, statistics: float) -> float:
        return params - statistics

    def update(self, params: float, statistics: float) -> float:
        return params + statistics


def test_what_is_not_offered_is_none_and_the_scale_is_the_value() -> None:
    problem = Constant()
    assert problem.bound(0.0, 0.0) is None
    assert problem.residual(0.0, 0.0) is None
    assert problem.retreat(0.0, 1.0) is None
    assert problem.to_vector(0.0) is None
    assert problem.from_vector(np.zeros(1)) is None
    assert problem.scale(1.0, 3.0) == 2.0


def test_a_problem_without_its_four_methods_cannot_be_made() -> None:
    class Unfinished(SumProblem[float, float]):
        objective_name = "none"
        direction = "minimize"

    with pytest.raises(TypeError, match="abstract"):
        Unfinished()  # type: ignore[abstract]


class Counted(SumProblem[int, Floats]):
    """Parameters are the number of the step; the statistics are the rows."""

    objective_name, direction = "likelihood", "maximize"

    def start(self, rng: np.random.Generator) -> int:
        del rng
        return 0

    def step(self, params: int, chunk: Floats) -> Floats:
        del params
        return chunk

    def update(self, params: int, statistics: Floats) -> int:
        del statistics
        return params + 1


@pytest.mark.parametrize("step", [1, 3])
def test_a_fall_without_end_is_a_fall(step: int) -> None:
    class Cliff(Counted):
        def objective(self, params: int, statistics: Floats) -> float:
            return -math.inf if params >= step else -float(statistics.sum()) / (1 + params)

    total = in_memory(np.array([2.0, 3.0]))
    with pytest.raises(ObjectiveFallError, match="worse by inf"):
        fit_sums(Cliff(), total)
    kept = fit_sums(Cliff(), total, on_fall="record", stop=StopRule(max_iter=5))
    assert kept.certificate.details["largest_fall"] == math.inf
    assert (kept.params, kept.value) == (step - 1, -5.0 / step)


@pytest.mark.parametrize(("tol", "reason"), [(1e-17, "tol"), (0.0, "max_iter")])
def test_a_gain_of_one_rounding_is_none(tol: float, reason: str) -> None:
    class Rocking(Counted):
        """Rises, and then goes to and fro between two numbers that are neighbors."""

        def objective(self, params: int, statistics: Floats) -> float:
            del statistics
            return params / 3 if params < 3 else 1.0 - 1.1e-16 * (params % 2)

        def scale(self, params: int, statistics: Floats) -> float:
            del params, statistics
            return 1.0

    fit = fit_sums(Rocking(), in_memory(np.ones(2)), stop=StopRule(tol=tol, max_iter=50))
    assert fit.certificate.details["stopped_by"] == reason
    assert fit.value == 1.0
