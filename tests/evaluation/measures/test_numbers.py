"""Measures of numbers: scikit-learn and scipy, weights, several targets, integers, bad input."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from sklearn import metrics

from novum.core.errors import InputError
from novum.evaluation.measures import numbers
from novum.evaluation.measures.catalog import measure, measure_names
from novum.evaluation.measures.scorers import scorer
from novum.linear import LinearRegression

SKLEARN = {
    "rmse": metrics.root_mean_squared_error,
    "mse": metrics.mean_squared_error,
    "mae": metrics.mean_absolute_error,
    "median_absolute_error": metrics.median_absolute_error,
    "r2": metrics.r2_score,
    "explained_variance": metrics.explained_variance_score,
}
values = st.floats(-100, 100).map(lambda number: round(number, 3))
rows = st.lists(st.tuples(values, values, st.floats(0.1, 3)), min_size=2, max_size=25)


@given(rows)
def test_errors_are_scikit_learns(found: Any) -> None:
    y, p, w = (np.array(column) for column in zip(*found, strict=True))
    for name, theirs in SKLEARN.items():
        for weight in (None, w):
            expected = theirs(y, p, sample_weight=weight)
            # R2 divides by the spread of y, whose smallest is that of two numbers 0.001 apart.
            assert measure(name)(y, p, sample_weight=weight) == pytest.approx(
                expected, rel=1e-7, abs=1e-9
            )
    assert numbers.max_error(y, p) == metrics.max_error(y, p)


@given(st.lists(st.tuples(st.integers(0, 50), st.floats(1e-3, 100), st.floats(0.1, 3))).filter(len))
def test_the_poisson_deviance_is_scikit_learns(found: Any) -> None:
    y, p, w = (np.array(column) for column in zip(*found, strict=True))
    for weight in (None, w):
        expected = metrics.mean_poisson_deviance(y, p, sample_weight=weight)
        assert numbers.poisson_deviance(y, p, sample_weight=weight) == pytest.approx(
            expected, rel=1e-9, abs=1e-9
        )


@pytest.mark.parametrize(("y", "p"), [([-1, 0], [1, 1]), ([0, 1], [1, 0])])
def test_the_poisson_deviance_is_of_counts(y: Any, p: Any) -> None:
    with pytest.raises(InputError, match=r"is of counts: .* but row [01] has"):
        numbers.poisson_deviance(y, p)


def test_several_targets_are_averaged_as_in_scikit_learn() -> None:
    rng = np.random.default_rng(0)
    Y, P, w = rng.normal(size=(20, 3)), rng.normal(size=(20, 3)), rng.random(20)
    for name, theirs in SKLEARN.items():
        expected = theirs(Y, P, sample_weight=w)
        assert measure(name)(Y, P, sample_weight=w) == pytest.approx(expected, rel=1e-12)


@given(rows)
def test_correlations_are_scipys(found: Any) -> None:
    y, p, _ = (np.array(column) for column in zip(*found, strict=True))
    if np.ptp(y) < 0.01 or np.ptp(p) < 0.01:
        return
    assert numbers.pearson(y, p) == pytest.approx(stats.pearsonr(y, p).statistic, abs=1e-9)
    assert numbers.spearman(y, p) == pytest.approx(stats.spearmanr(y, p).statistic, abs=1e-9)


def test_weight_two_is_the_row_twice_and_zero_is_absent() -> None:
    rng = np.random.default_rng(1)
    times = np.array([1, 2, 0, 3, 1, 1, 0, 2, 1])
    y, p = rng.exponential(size=9), rng.exponential(size=9)
    for name in measure_names("numbers"):
        once = measure(name)(y, p, sample_weight=times)
        repeated = measure(name)(np.repeat(y, times), np.repeat(p, times))
        assert once == pytest.approx(repeated, rel=1e-12), name


def test_short_integers_do_not_wrap() -> None:
    y, p = np.array([-100, 100], np.int8), np.array([100, -100], np.int8)
    assert numbers.max_error(y, p) == 200
    assert numbers.mae(y, p) == 200
    assert numbers.mse(y, p) == 40000
    assert numbers.mae(np.array([0], np.uint8), np.array([1], np.uint8)) == 1


def test_rank_correlation_does_not_depend_on_the_size_of_weights() -> None:
    rng = np.random.default_rng(4)
    y, p = rng.normal(size=(2, 25)).round(1)
    weight = rng.integers(0, 4, 25)
    repeated = stats.spearmanr(np.repeat(y, weight), np.repeat(p, weight)).statistic
    for size in (1.0, 1e-18, 1e18):
        assert numbers.spearman(y, p, sample_weight=size * weight) == pytest.approx(repeated)


def test_constants_have_no_correlation_and_a_plain_r2() -> None:
    assert np.isnan(numbers.pearson([0.1] * 3, [1, 2, 3]))
    assert np.isnan(numbers.spearman([1, 2, 3], [5, 5, 5]))
    assert numbers.r2([2, 2], [2, 2]) == 1.0
    assert numbers.r2([2, 2], [2, 3]) == 0.0


def test_correlations_do_not_depend_on_units() -> None:
    y, p = np.array([1.0, 2.0, 4.0]), np.array([1.0, 3.0, 3.5])
    plain = numbers.pearson(y, p)
    for scale in (1e-160, 1e160):
        assert numbers.pearson(y * scale, p) == pytest.approx(plain, rel=1e-12)


@pytest.mark.parametrize(
    ("y", "p", "message"),
    [
        ([1, 2], [1, np.nan], "predictions"),
        ([1, np.inf], [1, 2], "Input y contains infinity"),
        ([1, 2], [1, np.inf], "Input predictions contains infinity"),
        ([1, 2], ["a", "b"], "predictions holds 'a' at row 0"),
        ([1, 2], [1, 2, 3], "y has 2 rows, predictions 3"),
        ([[1, 2], [3, 4]], [1, 2], "y has 2 targets, the predictions 1"),
        ([], [], "shape"),
    ],
)
def test_bad_numbers_are_named(y: Any, p: Any, message: Any) -> None:
    with pytest.raises(InputError, match=message):
        numbers.rmse(y, p)


def test_one_row_has_no_spread() -> None:
    for name in ("r2", "pearson", "explained_variance"):
        with pytest.raises(InputError, match="needs at least two rows, got 1"):
            measure(name)([1], [1])


OF_TARGETS = {
    "rmse": metrics.root_mean_squared_error,
    "mse": metrics.mean_squared_error,
    "mae": metrics.mean_absolute_error,
    "median_absolute_error": metrics.median_absolute_error,
    "r2": metrics.r2_score,
    "explained_variance": metrics.explained_variance_score,
}


@pytest.mark.parametrize("name", OF_TARGETS)
@pytest.mark.parametrize("multioutput", ["raw_values", "uniform_average", [0.3, 0.7, 2.0]])
def test_several_targets_are_put_together_as_asked(name: str, multioutput: Any) -> None:
    rng = np.random.default_rng(0)
    y, weight = rng.normal(size=(30, 3)) * [1.0, 5.0, 0.1], rng.random(30)
    y[:, 2] = 4.0
    p = y + rng.normal(size=(30, 3))
    more = {"multioutput": multioutput, "sample_weight": weight}
    np.testing.assert_allclose(
        measure(name)(y, p, **more), OF_TARGETS[name](y, p, **more), rtol=1e-9
    )


def test_targets_are_weighted_by_their_spread() -> None:
    rng = np.random.default_rng(0)
    y = rng.normal(size=(30, 2)) * [1.0, 5.0]
    p = y + rng.normal(size=(30, 2))
    for name in ("r2", "explained_variance"):
        more = {"multioutput": "variance_weighted"}
        found = measure(name, **more)
        assert found(y, p) == pytest.approx(OF_TARGETS[name](y, p, **more))
        constant = np.full((30, 2), 3.0)
        assert found(constant, p) == pytest.approx(OF_TARGETS[name](constant, p, **more))
    correlations = measure("pearson", multioutput="raw_values")(y, p)
    assert correlations[1] == pytest.approx(measure("pearson")(y[:, 1], p[:, 1]))


def test_what_multioutput_cannot_be_is_named() -> None:
    y = np.arange(6.0).reshape(3, 2)
    with pytest.raises(InputError, match="multioutput is 'raw_values', 'uniform_average', or one"):
        measure("mse", multioutput="variance_weighted")(y, y)
    for weights in ([1.0], [0.0, 0.0], [-1.0, 2.0]):
        with pytest.raises(InputError, match="for each of the 2 targets"):
            measure("mse", multioutput=weights)(y, y)
    model = LinearRegression().fit(y, y)
    assert scorer("mse", multioutput=[1.0, 3.0])(model, y, y) == pytest.approx(0.0, abs=1e-20)
    with pytest.raises(InputError, match="gives 2 numbers under its settings"):
        scorer("mse", multioutput="raw_values")(model, y, y)
