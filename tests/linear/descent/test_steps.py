"""Step rules: their lengths by formula, the search by its condition, and impossible values."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from novum.core.errors import InputError
from novum.linear.descent.steps import AdaGrad, Backtracking, ConstantStep, DecayingStep, StepRule

NONE = np.zeros(2)


def bowl(w: Any) -> tuple[float, Any]:
    return float(2 * w @ w), 4 * w


def test_lengths_are_their_formulas() -> None:
    constant = ConstantStep(0.3).run(np.inf)
    assert [constant.length(t, NONE) for t in (0, 7)] == [0.3, 0.3]
    assert ConstantStep().run(4.0).length(5, NONE) == 0.25
    decaying = DecayingStep(2.0, delay=4.0).run(np.inf)
    assert [decaying.length(t, NONE) for t in (0, 4, 12)] == [2.0, 1.0, 0.5]
    assert DecayingStep().run(10.0).length(0, NONE) == 0.1
    assert ConstantStep().run(0.0).length(0, NONE) == 1.0


def test_adagrad_divides_by_the_size_of_all_gradients() -> None:
    run = AdaGrad(1.0, floor=1e-12).run(1.0)
    np.testing.assert_allclose(run.length(0, np.array([3.0, 1.0])), [1 / 3, 1.0])
    np.testing.assert_allclose(run.length(1, np.array([4.0, 0.0])), [1 / 5, 1.0])
    fresh = AdaGrad(1.0, floor=1e-12).run(1.0)
    np.testing.assert_allclose(fresh.length(0, np.array([1.0, 1.0])), [1.0, 1.0])


def test_the_search_keeps_armijos_condition_and_grows_again() -> None:
    run, w = Backtracking(length=8.0, share=0.5).run(np.inf), np.array([1.0, -1.0])
    value, gradient = bowl(w)
    length = run.search(bowl, w, value, gradient)
    assert length == 0.25
    assert bowl(w - length * gradient)[0] <= value - 0.5 * length * gradient @ gradient
    # The next search begins at twice the last length.
    flat = lambda w: (float(1e-3 * w @ w), 2e-3 * w)  # noqa: E731
    assert run.search(flat, w, *flat(w)) == 0.5


def test_rules_that_do_not_search_say_so() -> None:
    for rule in (ConstantStep(1.0), DecayingStep(1.0), AdaGrad()):
        assert rule.run(1.0).search(bowl, np.ones(2), *bowl(np.ones(2))) is None
        assert isinstance(rule, StepRule)
    with pytest.raises(InputError, match="Backtracking compares values"):
        Backtracking().run(1.0).length(0, NONE)


def test_a_search_without_room_gives_zero() -> None:
    stuck = lambda w: (1.0, np.full(2, 1e-300) + 0 * w)  # noqa: E731
    assert Backtracking().run(1.0).search(stuck, np.ones(2), *stuck(np.ones(2))) == 0.0


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: ConstantStep(-1.0), r"length must be a finite number above 0, got -1\.0"),
        (lambda: DecayingStep(1.0, delay=0.0), "delay must be"),
        (lambda: Backtracking(share=1.0), "share is a number between 0 and 1"),
        (lambda: AdaGrad(length=np.inf), "length must be"),
        (lambda: AdaGrad(floor=0.0), "floor must be"),
        (lambda: DecayingStep().run(np.inf), "Give a length"),
    ],
)
def test_impossible_values_are_refused(make: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        make()
