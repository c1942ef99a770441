"""Stop rules: values that refuse nonsense; problems: optional answers default to 'not offered'."""

from typing import Any

import numpy as np
import pytest

from novum.core.errors import InputError
from novum.core.sums import StopRule, SumProblem


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
