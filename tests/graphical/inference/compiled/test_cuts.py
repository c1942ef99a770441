"""Cuts: weights of one variable as products of tables; `test_cutting` has whole models."""

from __future__ import annotations

import numpy as np
import pytest

from novum.graphical.inference.compiled.cuts_kernels import multiply_weights


def test_weights_are_multiplied_and_kept_near_one() -> None:
    weights = np.empty(4)
    assert multiply_weights(np.array([0.5, 0.25]), 0, 2, weights, 1, 1) == 0.0
    log = 0.0
    for _ in range(200):
        log += multiply_weights(np.array([1e-3, 2e-3]), 0, 2, weights, 1, 0)
    # 0.25 * 2 ** 200 against 0.5, with 1e-600 taken out.
    assert weights[2] / weights[1] == pytest.approx(0.5 * 2.0**200, rel=1e-12)
    total = np.log(weights[1]) + log
    assert total == pytest.approx(np.log(0.5) + 200 * np.log(1e-3), rel=1e-12)
    assert multiply_weights(np.zeros(2), 0, 2, weights, 1, 0) == -np.inf
    weights[1:3] = [1.0, 2.0**-600]
    assert np.isnan(multiply_weights(np.array([1.0, 2.0**-400]), 0, 2, weights, 1, 0))
