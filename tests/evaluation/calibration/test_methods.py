"""Calibration methods: maps of the numeric fits, normalization, names."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import special

from novum.core.errors import InputError
from novum.evaluation.calibration.methods import (
    METHODS,
    IsotonicCalibration,
    PriorWeightedLogistic,
    ScoreColumns,
    SeparatedScoresWarning,
    SigmoidCalibration,
    TemperatureCalibration,
    calibration_evidence,
    calibration_method,
)
from novum.numerics import fit_isotonic, fit_sigmoid, fit_temperature
from novum.numerics.calibration_maps import fit_prior_weighted

rng = np.random.default_rng(0)
Z = rng.normal(size=(90, 3))
CODES = (Z + rng.gumbel(size=Z.shape)).argmax(axis=1)
SHARES = np.bincount(CODES) / 90
THREE = ScoreColumns(Z, False)
TWO = ScoreColumns(Z[:, :1], False)
BINARY = (CODES == 0).astype(np.int64)


@pytest.mark.parametrize(
    ("method", "fit"), [(SigmoidCalibration(), fit_sigmoid), (IsotonicCalibration(), fit_isotonic)]
)
def test_classes_one_at_a_time(method: Any, fit: Any) -> None:
    found = method.fit(THREE, CODES, None, SHARES).probabilities(THREE)
    each = np.column_stack([fit(Z[:, k], k == CODES).predict(Z[:, k]) for k in range(3)])
    total = each.sum(axis=1, keepdims=True)
    expected = np.where(total > 0, each / np.where(total > 0, total, 1), 1 / 3)
    np.testing.assert_allclose(found, expected, atol=1e-12)
    two = method.fit(TWO, BINARY, None, SHARES).probabilities(TWO)
    np.testing.assert_allclose(two[:, 1], fit(Z[:, 0], BINARY).predict(Z[:, 0]))
    np.testing.assert_allclose(two.sum(axis=1), 1)


def test_temperature_of_scores_and_of_probabilities() -> None:
    found = TemperatureCalibration().fit(THREE, CODES, None, SHARES)
    np.testing.assert_allclose(
        found.probabilities(THREE), fit_temperature(Z, CODES).predict(Z), rtol=1e-12
    )
    said = ScoreColumns(special.softmax(Z, axis=1), True)
    again = TemperatureCalibration().fit(said, CODES, None, SHARES)
    np.testing.assert_allclose(again.probabilities(said), found.probabilities(THREE), rtol=1e-8)


def test_two_classes_of_the_logistic_are_the_sigmoid_fit() -> None:
    found = PriorWeightedLogistic(0.2).fit(TWO, BINARY, None, np.array([0.6, 0.4]))
    line = fit_prior_weighted(Z[:, 0], BINARY, 0.2)
    np.testing.assert_allclose(found.log_likelihoods(TWO)[:, 1], line.log_odds(Z[:, 0]), rtol=1e-8)
    np.testing.assert_allclose(
        special.logit(found.probabilities(TWO)[:, 1]), line.log_odds(Z[:, 0]) + special.logit(0.4)
    )


def test_likelihoods_do_not_depend_on_the_shares_of_the_classes() -> None:
    weight = np.array([1.0, 4.0, 0.5])[CODES]
    one = PriorWeightedLogistic((0.2, 0.3, 0.5)).fit(THREE, CODES, None, SHARES)
    two = PriorWeightedLogistic((0.2, 0.3, 0.5)).fit(THREE, CODES, weight, SHARES)
    np.testing.assert_allclose(one.log_likelihoods(THREE), two.log_likelihoods(THREE), rtol=1e-6)


def test_rows_of_unknown_classes_are_left_out() -> None:
    codes = np.where(np.arange(90) < 5, -1, CODES)
    for method in (PriorWeightedLogistic(), TemperatureCalibration()):
        one = method.fit(THREE, codes, None, SHARES).probabilities(THREE)
        two = method.fit(THREE.rows(np.arange(5, 90)), CODES[5:], None, SHARES)
        np.testing.assert_allclose(one, two.probabilities(THREE))


def test_separated_scores_are_smoothed_as_platts() -> None:
    scores = ScoreColumns(np.array([[1.0], [2.0], [3.0], [4.0]]), False)
    codes = np.array([0, 0, 1, 1])
    with pytest.warns(SeparatedScoresWarning):
        found = PriorWeightedLogistic(0.5).fit(scores, codes, None, np.array([0.5, 0.5]))
    platt = fit_sigmoid(scores.values[:, 0], codes)
    np.testing.assert_allclose(
        found.log_likelihoods(scores)[:, 1], platt.log_odds(scores.values[:, 0]), rtol=1e-8
    )


def test_evidence_and_names() -> None:
    for name, method in METHODS.items():
        fitted = method.fit(THREE, CODES, None, SHARES)
        done, loss = calibration_evidence(fitted)
        assert done
        assert (loss is None) == (name == "isotonic")
        assert calibration_method(name) is method
        assert calibration_method(method) is method
    with pytest.raises(InputError, match="'method' parameter is one of 'sigmoid'"):
        calibration_method("platt")
    with pytest.raises(InputError, match="class number 2 has none"):
        PriorWeightedLogistic().fit(THREE, np.minimum(CODES, 1), None, SHARES)
