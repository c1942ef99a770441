"""Fits of densities to parts of a table: one schema, weights, certificates together."""

from __future__ import annotations

import pandas as pd
import pytest

from novum.core.errors import InputError
from novum.core.learners import Verdict, certified_together, fitted_density, schema_for
from novum.mixture import GaussianMixture, MixedMixture
from novum.neighbors import KernelDensity
from novum.trees import IsolationForest


def test_parts_are_read_as_the_whole() -> None:
    frame = pd.DataFrame({"color": ["red", "blue", "green", "red"]})
    schema = schema_for(MixedMixture(1), frame)
    assert schema is not None
    part = fitted_density(MixedMixture(1), frame[:2], None, schema)
    assert part.level_probabilities_["color"].shape == (1, 3)
    assert schema_for(KernelDensity(), frame) is None


def test_weights_and_certificates() -> None:
    X = [[0.0], [1.0], [5.0], [6.0]]
    fits = [fitted_density(GaussianMixture(1), X, w, None) for w in (None, [1.0, 1, 1, 2])]
    together = certified_together(fits)
    assert together.verdict is Verdict.LOCAL
    assert together.value == pytest.approx(sum(fit.certificate_.value for fit in fits))
    with pytest.raises(InputError, match="estimator with `score_samples`"):
        fitted_density(schema_for, X, None, None)
    with pytest.raises(InputError, match="LatentDensity takes no sample_weight"):
        fitted_density(LatentDensity(), X, [1.0] * 4, None)


class LatentDensity(IsolationForest):
    """Scores rows, and counts each once."""

    def fit(self, X: object, y: object = None) -> LatentDensity:
        del X, y
        return self
