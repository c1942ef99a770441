"""The catalog: every measure computes, knows its range and direction, and is found by name."""

import pickle
from typing import Any

import numpy as np
import pytest

from novum.core.decisions import WorkingPoint
from novum.core.errors import InputError
from novum.evaluation.measures.catalog import Measure, is_measure, measure, measure_names

POINT = WorkingPoint.binary(prior=0.3, cost_fn=2, cost_fp=1)
AT_A_POINT = ("detection_cost", "minimum_detection_cost", "bayes_risk")


def _given(known: Any, rng: Any, n: int = 60) -> Any:
    """Targets, good answers and bad ones, in the form that the measure needs."""
    y = rng.integers(0, 2, n)
    noise = rng.normal(size=n)
    if known.target == "numbers":
        # Above zero, as means of counts are.
        near, far = noise + 0.1 * rng.normal(size=n), rng.normal(size=n)
        return np.exp(noise), np.exp(near), np.exp(far)
    good = 1 / (1 + np.exp(-(4 * y - 2 + noise)))
    bad = 1 / (1 + np.exp(2 * y - 1 + noise))
    if known.needs == "labels":
        return y, (good > 0.5).astype(int), (bad > 0.5).astype(int)
    if known.name == "bayes_risk":
        return y, np.column_stack([1 - good, good]), np.column_stack([1 - bad, bad])
    if known.ratios:
        return y, np.log(good / (1 - good)), np.log(bad / (1 - bad))
    return y, good, bad


@pytest.mark.parametrize("name", measure_names())
def test_good_answers_are_better_and_in_range(name: Any) -> None:
    known = measure(name, point=POINT) if name in AT_A_POINT else measure(name)
    y, good, bad = _given(known, np.random.default_rng(0))
    values = known(y, good), known(y, bad)
    assert all(isinstance(value, float) for value in values)
    assert (values[0] > values[1]) == known.greater_is_better
    for value in values:
        assert known.limits[0] <= value <= known.limits[1]


@pytest.mark.parametrize("name", measure_names())
def test_weights_of_one_change_nothing_and_weight_two_is_the_row_twice(name: Any) -> None:
    known = measure(name, point=POINT) if name in AT_A_POINT else measure(name)
    y, good, bad = _given(known, np.random.default_rng(1), 30)
    given = bad if known.target == "numbers" else good
    plain = known(y, given)
    assert known(y, given, sample_weight=np.ones(30)) == pytest.approx(plain, rel=1e-9)
    if name == "ndcg":
        return
    times = np.random.default_rng(2).integers(1, 4, 30)
    once = known(y, given, sample_weight=times)
    repeated = known(np.repeat(y, times), np.repeat(given, times, axis=0))
    assert once == pytest.approx(repeated, rel=1e-9)


@pytest.mark.parametrize("name", measure_names())
def test_measures_survive_a_pickle(name: Any) -> None:
    again = pickle.loads(pickle.dumps(measure(name)))
    assert (again.name, again.needs, again.settings) == (
        name,
        measure(name).needs,
        measure(name).settings,
    )


def test_settings_make_another_measure() -> None:
    plain = measure("f_beta")
    assert plain.having(beta=2.0).settings == {"beta": 2.0}
    assert plain.settings == {}
    assert measure(plain) is plain
    assert measure(plain, beta=3.0).settings == {"beta": 3.0}


def test_scikit_learns_names_are_known() -> None:
    assert measure("neg_root_mean_squared_error").name == "rmse"
    assert measure("matthews_corrcoef").name == "matthews"
    assert is_measure("neg_brier_score")
    assert not is_measure("top_k_accuracy")
    assert not is_measure(3)


def test_measures_of_labels_are_vectorized() -> None:
    counts = np.random.default_rng(3).integers(1, 9, (7, 2, 2)).astype(float)
    for name in measure_names("labels"):
        known = measure(name)
        assert known.of_counts(counts, **known.settings).shape == (7,)


def test_the_label_is_in_words() -> None:
    assert isinstance(measure("r2"), Measure)
    assert measure("balanced_accuracy").label == "balanced accuracy"


def test_unknown_names_get_a_hint() -> None:
    with pytest.raises(InputError, match=r"no measure 'acuracy'\. Did you mean 'accuracy'"):
        measure("acuracy")
    with pytest.raises(InputError, match="bayes_risk is a cost at a working point"):
        measure("bayes_risk")([0, 1], [[0.5, 0.5], [0.5, 0.5]])
