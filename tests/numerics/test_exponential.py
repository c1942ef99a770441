"""The exponential and the logarithm of kernels: to the last places of NumPy's."""

from __future__ import annotations

import numpy as np
import pytest

from novum.numerics import exp_of_negative, log_of_positive


def test_the_exponential_is_right_to_the_last_place_and_never_zero() -> None:
    rng = np.random.default_rng(0)
    for x in (*-rng.exponential(10, 500), 0.0, -1e-300, -0.34657359, -700.0):
        assert exp_of_negative(x) == pytest.approx(np.exp(x), rel=5e-16)
    assert 0 < exp_of_negative(-1e4) < 1e-300


def test_the_logarithm_is_right_to_the_last_places() -> None:
    rng = np.random.default_rng(0)
    near_one = 1.0 + rng.normal(size=500) * 10.0 ** rng.uniform(-16, -1, 500)
    edges = (np.finfo(float).tiny, np.finfo(float).max, 0.5, np.sqrt(0.5), np.sqrt(2.0), 2.0)
    for x in (*near_one, *np.exp(rng.uniform(-708, 709, 500)), *rng.uniform(1, 10, 500), *edges):
        assert log_of_positive(x) == pytest.approx(np.log(x), rel=4 * 2.0**-52, abs=0.0)
    assert log_of_positive(1.0) == 0.0
