"""Two moons: the density by direct quadrature, the error by simulation and by limits."""

import numpy as np
import pytest
from scipy import integrate, stats

from novum.core.errors import InputError
from novum.data.synthetic.moons import TwoMoons


def test_the_density_is_the_integral_over_the_arc() -> None:
    law = TwoMoons(0.3)
    for x in ([0.2, 0.9], [1.5, -0.4], [0.5, 0.25]):

        def upper(t: float, x: list[float] = x) -> float:
            near = stats.norm.pdf(x[0], np.cos(t), 0.3) * stats.norm.pdf(x[1], np.sin(t), 0.3)
            return float(near / np.pi / 2)

        expected = integrate.quad(upper, 0, np.pi, epsabs=1e-12)[0]
        assert law.joint([x])[0, 0] == pytest.approx(expected, rel=1e-9)
    # The moons are images of each other under a half turn around (1/2, 1/4).
    turned = law.joint([[1 - 0.2, 0.5 - 0.9]])[0]
    np.testing.assert_allclose(turned[::-1], law.joint([[0.2, 0.9]])[0], rtol=1e-12)


def test_the_density_integrates_to_one_with_cells_missing() -> None:
    law = TwoMoons(0.2)
    assert law.joint([[np.nan, np.nan]]).sum() == pytest.approx(1.0)
    axis = np.linspace(-3, 4, 4001)
    line = np.column_stack([axis, np.full(axis.size, np.nan)])
    assert law.joint(line).sum() * (axis[1] - axis[0]) == pytest.approx(1.0, abs=1e-8)


@pytest.mark.slow
@pytest.mark.parametrize("noise", [0.1, 0.2, 0.5])
@pytest.mark.parametrize("missing", [0.0, 0.3])
def test_simulation_meets_the_stated_error(noise: float, missing: float) -> None:
    sample = TwoMoons(noise).sample(20_000, random_state=6, missing=missing)
    wrong = np.mean(sample.bayes_predict(sample.X) != sample.y)
    spread = np.sqrt(sample.bayes_error * (1 - sample.bayes_error) / 20_000)
    assert abs(wrong - sample.bayes_error) < 4 * spread + sample.bayes_accuracy


@pytest.mark.slow
def test_limits() -> None:
    assert TwoMoons(0.02).error()[0] < 1e-12
    errors = [TwoMoons(noise).error()[0] for noise in (0.1, 0.3, 1.0, 5.0)]
    assert errors == sorted(errors)
    assert 0.4 < errors[-1] < 0.5


def test_refusals_and_seeds() -> None:
    with pytest.raises(InputError, match=r"noise from 0\.02 to 5"):
        TwoMoons(0.001)
    np.testing.assert_array_equal(TwoMoons().sample(9, 1).X, TwoMoons().sample(9, 1).X)
