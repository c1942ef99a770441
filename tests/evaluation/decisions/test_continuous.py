"""Outputs of least expected loss: closed forms, brute force, laws, bad input."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import special, stats

from novum.core.errors import InputError, LostDigitsWarning
from novum.distributions import Binomial, Gamma, Normal, StudentT
from novum.evaluation.decisions.continuous import PinballLoss, bayes_output, expected_loss
from novum.numerics import SquaredLoss
from novum.numerics.losses import HuberLoss

draws = st.lists(st.floats(-50, 50), min_size=1, max_size=12).map(np.array)


@given(draws)
def test_mean_and_median(sample: Any) -> None:
    assert bayes_output(sample) == pytest.approx(sample.mean(), abs=1e-9)
    assert bayes_output(sample, "absolute") == pytest.approx(np.median(sample), abs=1e-9)


@given(draws, st.floats(0.05, 0.95))
def test_no_output_has_less_pinball_loss(sample: Any, level: float) -> None:
    loss = PinballLoss(level)
    best = expected_loss(sample, bayes_output(sample, loss), loss)
    for other in (*sample, *(sample + 0.1), sample.mean()):
        assert best <= expected_loss(sample, other, loss) + 1e-9


@given(draws)
def test_any_loss_is_minimized(sample: Any) -> None:
    for loss in (HuberLoss(1.0), lambda a, t: np.minimum((a - t) ** 2, 4.0)):
        best = expected_loss(sample, bayes_output(sample, loss), loss)
        tried = [
            expected_loss(sample, a, loss) for a in (*sample, sample.mean(), np.median(sample))
        ]
        assert best <= min(tried) + 1e-9


def test_laws_have_their_own_mean_and_quantiles() -> None:
    law = Normal(2.0, 9.0)
    assert bayes_output(law) == 2.0
    assert bayes_output(law, "absolute") == pytest.approx(2.0)
    assert bayes_output(law, PinballLoss(0.9)) == pytest.approx(float(law.quantile(0.9)))
    # A symmetric loss of a symmetric law.
    assert bayes_output(law, lambda a, t: (a - t) ** 4) == pytest.approx(2.0, abs=1e-5)
    skew = Gamma(2.0, 1.0)
    # exp(a - t) - (a - t) - 1 is least at -log E[exp(-T)] = 2 log 2 (linear-exponential loss).
    linex = bayes_output(skew, lambda a, t: np.exp(a - t) - (a - t) - 1)
    assert linex == pytest.approx(2 * np.log(2), abs=1e-5)


def test_squared_error_is_the_variance_and_the_square_of_the_distance() -> None:
    assert expected_loss([0.0, 2.0], 1.0, "squared") == 1.0
    assert expected_loss(Normal(2.0, 9.0), 2.0) == 9.0
    assert expected_loss(Gamma(2.0, 1.0), [2.0, 5.0]).tolist() == [2.0, 11.0]
    # A loss object counts as its value says: this one is half of the square.
    assert expected_loss([0.0, 2.0], 1.0, SquaredLoss()) == 0.5
    assert expected_loss(Normal(2.0, 9.0), 2.0, SquaredLoss()) == 4.5
    # Heavy tails: the variance of a Student t with 2.1 degrees is 21, though draws seldom show it.
    assert expected_loss(StudentT(2.1, 0.0, 1.0), 0.0) == pytest.approx(21.0, rel=1e-12)
    assert expected_loss(StudentT(2.0, 0.0, 1.0), 0.0) == np.inf
    assert expected_loss(StudentT(1.0, 0.0, 1.0), 0.0) == np.inf


@pytest.mark.parametrize("output", [-1.0, 0.0, 0.3, 4.0])
def test_absolute_and_pinball_loss_of_laws(output: float) -> None:
    density, below = stats.norm.pdf(output), stats.norm.cdf(output)
    # E max(a - T, 0) = a F(a) + f(a) for a standard normal law, and E max(T - a, 0) less a.
    over = output * below + density
    under = over - output
    law = Normal(0.0, 1.0)
    assert expected_loss(law, output, "absolute") == pytest.approx(over + under, rel=1e-10)
    assert expected_loss(law, output, PinballLoss(0.8)) == pytest.approx(
        0.8 * under + 0.2 * over, rel=1e-10
    )


def test_absolute_loss_of_heavy_tails() -> None:
    # E|T| of a Student t with v degrees is 2 sqrt(v) / (B(v/2, 1/2) (v - 1)).
    for degrees in (1.5, 3.0):
        exact = 2 * np.sqrt(degrees) / (special.beta(degrees / 2, 0.5) * (degrees - 1))
        found = expected_loss(StudentT(degrees, 0.0, 1.0), 0.0, "absolute")
        assert found == pytest.approx(exact, rel=1e-8)
    assert expected_loss(StudentT(1.0, 0.0, 1.0), 0.0, "absolute") == np.inf
    # Its median is the best output all the same.
    assert bayes_output(StudentT(1.0, 3.0, 1.0), "absolute") == pytest.approx(3.0)


@pytest.mark.slow
def test_a_law_may_have_quantiles_only() -> None:
    class Quantiles:
        mean = 0.0

        def quantile(self, level: Any) -> Any:
            return stats.norm.ppf(level)

    assert expected_loss(Quantiles(), 0.0, "absolute") == pytest.approx(np.sqrt(2 / np.pi))
    assert expected_loss(Quantiles(), 1.0) == pytest.approx(2.0)


def test_whole_numbered_laws_are_summed() -> None:
    law = Binomial(4, 0.5)
    exact = sum(special.comb(4, k) * abs(k - 1.5) ** 3 for k in range(5)) / 16
    assert expected_loss(law, 1.5, lambda a, t: np.abs(a - t) ** 3) == pytest.approx(exact)


@pytest.mark.slow
def test_an_uncertain_integral_says_so() -> None:
    with pytest.warns(LostDigitsWarning, match="error of up to"):
        expected_loss(StudentT(1.0, 0.0, 1.0), 0.0, lambda a, t: np.abs(a - t) ** 0.99)


def test_rows_and_weights() -> None:
    sample = np.array([[0.0, 1.0, 5.0], [2.0, 2.0, 8.0]])
    assert bayes_output(sample).tolist() == pytest.approx([2.0, 4.0])
    assert bayes_output(sample, "absolute").tolist() == [1.0, 2.0]
    assert bayes_output(sample, weight=[1, 1, 0]).tolist() == [0.5, 2.0]
    assert bayes_output(sample[0], "absolute", weight=[0.2, 0.2, 0.6]) == 5.0
    assert expected_loss(sample, [2.0, 4.0], "absolute").tolist() == pytest.approx([2.0, 8 / 3])
    assert expected_loss(sample[0], [0.0, 5.0], "absolute").tolist() == pytest.approx([2.0, 3.0])


def test_bad_input_is_named() -> None:
    with pytest.raises(InputError, match="'huber' is no loss"):
        bayes_output([1.0], "huber")
    with pytest.raises(InputError, match="loss is a name"):
        bayes_output([1.0], 3)
    with pytest.raises(InputError, match="between 0 and 1"):
        PinballLoss(1.0)
    for wrong in ([], [np.nan], [[[1.0]]]):
        with pytest.raises(InputError, match="Draws are finite numbers"):
            bayes_output(wrong)
    with pytest.raises(InputError, match="weight has shape"):
        bayes_output([1.0, 2.0], weight=[1.0])
    with pytest.raises(InputError, match="not negative"):
        bayes_output([1.0, 2.0], weight=[1.0, -1.0])
    with pytest.raises(InputError, match="one number for each truth"):
        bayes_output([1.0, 2.0], lambda *_: 0.0)
