"""The summary as plain data: settings, which interval goes with which number."""

import numpy as np
import pytest

from novum.core.errors import InputError
from novum.evaluation.reports.classification_summary import Settings, f_score_name, summarize
from novum.evaluation.reports.predictions import Given, read_given


def test_methods_follow_the_kind_of_number() -> None:
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 80)
    judged = read_given(Given(y, probabilities=np.clip(0.3 + 0.4 * y, 0, 1)))
    found = summarize(judged, Settings(n_resamples=30), None, None, 0)
    assert found.overall["accuracy"].method == "Wilson"
    assert found.overall["kappa"].method == "bootstrap BCa"
    assert found.per_class[1]["recall"].method == "Wilson"
    assert found.per_class[1]["f1"].method == "bootstrap BCa"
    assert found.probability["log_loss"].method == "bootstrap BCa"
    assert found.probability["calibration_error"].method == "bootstrap basic"
    assert found.calibration is not None
    assert found.costs == {}
    assert found.n_rows == 80


def test_wilson_of_a_rate_has_its_own_rows() -> None:
    judged = read_given(Given([0] * 50 + [1] * 10, [0] * 60))
    found = summarize(judged, Settings(n_resamples=5), None, None, 0)
    wide, narrow = found.per_class[1]["recall"], found.per_class[0]["recall"]
    assert wide.half_width > narrow.half_width
    assert (wide.estimate, narrow.estimate) == (0.0, 1.0)


def test_settings_are_checked_and_named() -> None:
    with pytest.raises(InputError, match="level is the confidence"):
        Settings(level=2)
    assert [f_score_name(beta) for beta in (1.0, 2.0, 0.5)] == ["f1", "f2", "f0.5"]
