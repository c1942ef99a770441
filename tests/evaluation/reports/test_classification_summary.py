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
    assert found.overall["kappa"].method == "Dirichlet"
    assert found.per_class[1]["recall"].method == "Wilson"
    assert found.per_class[1]["f1"].method == "Dirichlet"
    assert found.probability["log_loss"].method == "bootstrap BCa"
    assert found.probability["calibration_error"].method == "noise of the bins"
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


@pytest.mark.slow
def test_few_rows_cover_at_the_edge_and_calibrated_models_have_no_error_to_find() -> None:
    """Five positives, of which a rule finds one in fifty, and probabilities that are true."""
    rng, trials = np.random.default_rng(5), 200
    y, covered = np.repeat([0, 1], [45, 5]), np.zeros(2)
    for _ in range(trials):
        decided = (rng.random(50) < 0.02).astype(int)
        judged = read_given(Given(y, decided))
        found = summarize(judged, Settings(n_resamples=300), None, None, 0)
        covered[0] += found.overall["balanced_accuracy"].covers(0.5)
        truth = rng.random(30)
        judged = read_given(Given((rng.random(30) < truth).astype(int), probabilities=truth))
        found = summarize(judged, Settings(n_resamples=300), None, None, 0)
        covered[1] += found.probability["calibration_error"].covers(0.0)
    assert covered.min() / trials > 0.9
