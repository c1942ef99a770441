"""Settings that make no sense are refused when an engine is built."""

from __future__ import annotations

import math
from typing import Any

import pytest

from novum.core.errors import InputError
from novum.graphical.inference.belief_propagation import LoopyPropagation
from novum.graphical.inference.gibbs import Gibbs, MetropolisHastings
from novum.graphical.inference.mean_field import MeanField
from novum.graphical.inference.sampling import (
    ForwardSampling,
    LikelihoodWeighting,
    RejectionSampling,
)


@pytest.mark.parametrize(
    ("engine", "settings", "message"),
    [
        (ForwardSampling, {"size": 0}, "size is a whole number of at least 1, got 0"),
        (LikelihoodWeighting, {"size": 2.5}, "size is a whole number of at least 1, got 2.5"),
        (LikelihoodWeighting, {"size": True}, "size is a whole number"),
        (RejectionSampling, {"max_draws": -1}, "max_draws is a whole number of at least 1"),
        (Gibbs, {"chains": 0}, "chains is a whole number of at least 1, got 0"),
        (Gibbs, {"thin": 0}, "thin is a whole number"),
        (Gibbs, {"sweeps": 100, "burn_in": 100}, "burn_in=100 leaves nothing of sweeps=100"),
        (Gibbs, {"sweeps": 100, "burn_in": 50, "thin": 10}, "Only 5 sweeps of a chain are kept"),
        (MetropolisHastings, {"burn_in": -1}, "burn_in is a whole number of at least 0"),
        (LoopyPropagation, {"damping": 1.0}, "damping is a number from 0 to below 1, got 1.0"),
        (LoopyPropagation, {"damping": -0.1}, "damping is a number"),
        (LoopyPropagation, {"damping": math.nan}, "damping is a number"),
        (LoopyPropagation, {"schedule": "random"}, "'flooding' or 'residual', got 'random'"),
        (LoopyPropagation, {"tol": 0.0}, "tol is a finite number above 0"),
        (MeanField, {"starts": 0}, "starts is a whole number"),
        (MeanField, {"tol": math.inf}, "tol is a finite number above 0, got inf"),
    ],
)
def test_bad_settings(engine: Any, settings: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        engine(**settings)
