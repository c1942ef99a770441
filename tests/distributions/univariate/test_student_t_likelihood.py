"""The most likely Student t law: stationary points, SciPy, recovery, samples without a maximum."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import stats

from novum.core.errors import InputError
from novum.core.learners import ConvergenceWarning
from novum.distributions.univariate import student_t_likelihood
from novum.distributions.univariate.normal import Normal
from novum.distributions.univariate.student_t import StudentT


def log_likelihood(law: StudentT, x: np.ndarray) -> float:
    return float(law.log_density(x).sum())


@pytest.mark.parametrize("v", [0.5, 1.0, 3.0, 10.0, 40.0])
def test_no_neighbor_is_likelier_and_scipy_finds_nothing_better(v: float) -> None:
    x = StudentT(v, 5.0, 2.0).sample(2000, random_state=1)
    best = StudentT.fit(x)
    top = log_likelihood(best, x)
    for factor in (0.999, 1.001):
        for other in (
            StudentT(best.degrees_of_freedom * factor, best.location, best.scale),
            StudentT(best.degrees_of_freedom, best.location, best.scale * factor),
            StudentT(best.degrees_of_freedom, best.location + (factor - 1), best.scale),
        ):
            assert log_likelihood(other, x) < top
    assert top >= stats.t.logpdf(x, *stats.t.fit(x)).sum() - 1e-6


@pytest.mark.parametrize("v", [1.0, 4.0])
def test_parameters_are_recovered_within_four_standard_errors(v: float) -> None:
    n = 20_000
    found = StudentT.fit(StudentT(v, 5.0, 2.0).sample(n, random_state=0))
    # Fisher information of the location: (v + 1) / ((v + 3) s^2).
    assert abs(found.location - 5) < 4 * 2 * np.sqrt((v + 3) / (v + 1) / n)
    # And of the scale for known v: 2 v / ((v + 3) s^2); twice that allows for an unknown one.
    assert abs(found.scale - 2) < 8 * 2 * np.sqrt((v + 3) / (2 * v) / n)
    assert found.degrees_of_freedom == pytest.approx(v, rel=0.2)


def test_known_degrees_of_freedom_are_kept() -> None:
    x = np.array([1.0, 2.0, 3.0, 4.0, 5.0, 1e6])
    law = StudentT.fit(x, degrees_of_freedom=2.0)
    assert law.degrees_of_freedom == 2.0
    assert 2 < law.location < 4
    # The equations of the maximum: weighted mean and weighted variance with the weights they imply.
    z = (x - law.location) / law.scale
    counted = 3 / (2 + z * z)
    assert counted @ x / counted.sum() == pytest.approx(law.location, rel=1e-10)
    assert counted @ (z * z) == pytest.approx(x.size, rel=1e-10)


def test_infinite_degrees_of_freedom_are_the_normal_fit() -> None:
    x = np.array([1.0, 2.0, 4.0, 9.0])
    law, normal = StudentT.fit(x, degrees_of_freedom=np.inf), Normal.fit(x)
    assert law.location == pytest.approx(normal.mean)
    assert law.scale**2 == pytest.approx(normal.variance)


def test_light_tails_give_the_normal_law() -> None:
    x = np.linspace(-1, 1, 101)
    law = StudentT.fit(x)
    assert law.degrees_of_freedom == np.inf
    assert law.scale == pytest.approx(x.std())


def test_weights_are_repetitions() -> None:
    x = StudentT(3.0).sample(50, random_state=2)
    weight = np.arange(50) % 4
    a, b = StudentT.fit(x, weight), StudentT.fit(np.repeat(x, weight))
    for name in ("degrees_of_freedom", "location", "scale"):
        assert getattr(a, name) == pytest.approx(getattr(b, name), rel=1e-8)


@pytest.mark.parametrize(
    ("shift", "factor"), [(1e6, 1.0), (0.0, 1e-200), (0.0, 1e200), (-3.0, 7.0)]
)
def test_units_do_not_matter(shift: float, factor: float) -> None:
    x = StudentT(3.0).sample(100, random_state=4)
    one, other = StudentT.fit(x), StudentT.fit(shift + factor * x)
    assert other.degrees_of_freedom == pytest.approx(one.degrees_of_freedom, rel=1e-7)
    assert other.location == pytest.approx(shift + factor * one.location, rel=1e-7)
    assert other.scale == pytest.approx(factor * one.scale, rel=1e-7)


def test_very_heavy_tails() -> None:
    x = StudentT(0.1, 1.0, 1.0).sample(2000, random_state=0)
    assert np.abs(x).max() > 1e20
    law = StudentT.fit(x)
    assert law.degrees_of_freedom == pytest.approx(0.1, rel=0.1)
    assert law.scale == pytest.approx(1.0, rel=0.4)


def test_likelihood_never_falls(monkeypatch: pytest.MonkeyPatch) -> None:
    path: list[float] = []
    derivatives = student_t_likelihood._derivatives

    def watched(problem: Any, point: Any) -> Any:
        path.append(point.value)
        return derivatives(problem, point)

    monkeypatch.setattr(student_t_likelihood, "_derivatives", watched)
    StudentT.fit(StudentT(0.7).sample(300, random_state=1))
    steps = np.diff(path)
    # Only the jump from the end of the first search to the start of the second may fall.
    assert len(path) > 8
    assert np.sum(steps < -1e-13 * abs(path[-1])) <= 1


def test_all_values_equal() -> None:
    with pytest.raises(InputError, match="All values equal 3, and a Student t law needs a scale"):
        StudentT.fit([3.0, 3.0])
    with pytest.raises(InputError, match="no data"):
        StudentT.fit([])


def test_too_many_equal_values_for_known_degrees() -> None:
    with pytest.raises(InputError, match=r"60% of the weight lies at 2, .* more than 1\.5 degrees"):
        StudentT.fit([2.0, 2.0, 2.0, 1.0, 5.0], degrees_of_freedom=1.0)
    assert StudentT.fit([2.0, 2.0, 1.0, 5.0, 3.0], degrees_of_freedom=1.0).scale > 0
    # Twelve times a twelfth is not one: half of the weight must still be seen as half.
    with pytest.raises(InputError, match="50% of the weight lies at 0"):
        StudentT.fit([0.0] * 6 + [1.0, 1.0, 2.0, 3.0, 3.0, 3.0], degrees_of_freedom=1.0)


def test_unbounded_likelihood_is_an_error() -> None:
    x = np.concatenate([np.zeros(60), [-1e9, -1e6, -1e3, -1.0, 1.0, 1e3, 1e6, 1e9]])
    with pytest.raises(InputError, match="has no maximum here"):
        StudentT.fit(x)


def test_no_convergence_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(student_t_likelihood, "_MAX_STEPS", 1)
    with pytest.warns(ConvergenceWarning, match="had not settled after 1 steps"):
        StudentT.fit(StudentT(2.0).sample(50, random_state=0))
