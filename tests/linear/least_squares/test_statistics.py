"""Statistics of least squares: an additive group by label, with honest removal."""

from __future__ import annotations

import itertools
import operator
import warnings

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from sklearn.base import clone

from novum.core.errors import InputError, LostDigitsWarning, SchemaError
from novum.linear import LeastSquaresStatistics, LinearRegression, Ridge
from novum.linear.least_squares.statistics import LeastSquaresStatistics as Statistics
from novum.numerics import Floats, empty_factor
from tests.linear.tables import integer_tables, normal_table, sample_of
from tests.oracles.rational_least_squares import exact_least_squares


def mixed_table(n: int = 40, levels: str = "abcd") -> tuple[pd.DataFrame, Floats]:
    """A nominal and a numeric column; the levels follow each other so that parts lack some."""
    rng = np.random.default_rng(1)
    color = np.array(list(levels))[np.arange(n) * len(levels) // n]
    X = pd.DataFrame({"color": color, "age": rng.normal(size=n)})
    return X, rng.normal(size=n) + 2 * X["age"].to_numpy() + (color == "b")


def statistics(X: object, y: object, weight: object = None) -> LeastSquaresStatistics:
    return LinearRegression().statistics(X, y, weight)


# --- An additive group ----------------------------------------------------------------------------


@given(integer_tables())
def test_zero_scale_and_weights(table: tuple[Floats, Floats, Floats]) -> None:
    X, y, weight = table
    whole = statistics(X, y)
    assert (whole + whole.zero()).isclose(whole)
    assert (whole.zero() + whole).isclose(whole)
    assert (2 * whole).isclose(whole + whole, rtol=1e-13)
    assert (whole * 2).isclose(2 * whole)
    times = weight.astype(int)
    repeated = statistics(np.repeat(X, times, axis=0), np.repeat(y, times))
    assert statistics(X, y, weight).isclose(repeated, rtol=1e-13)
    assert (0 * whole).rows == 0


def test_any_grouping_of_parts_is_the_whole() -> None:
    X, y = mixed_table()
    parts = [statistics(X[i : i + 10], y[i : i + 10]) for i in range(0, 40, 10)]
    whole = statistics(X, y)
    for a, b, c, d in itertools.permutations(parts):
        for total in (((a + b) + c) + d, (a + b) + (c + d), a + (b + (c + d))):
            assert total.isclose(whole, rtol=1e-13)
            assert total.schema == whole.schema
            assert (total.rows, total.weight) == (40.0, 40.0)


def test_levels_unite_by_label() -> None:
    X, y = mixed_table()
    first, second = statistics(X[:20], y[:20]), statistics(X[20:], y[20:])
    assert first.schema.columns[0].levels == ("a", "b")
    assert second.schema.columns[0].levels == ("c", "d")
    for total in (first + second, second + first):
        model = LinearRegression().fit_statistics(total)
        whole = LinearRegression().fit(X, y)
        assert model.coef_names_ == whole.coef_names_ == ("color=b", "color=c", "color=d", "age")
        np.testing.assert_allclose(model.coef_, whole.coef_, rtol=1e-12)
        np.testing.assert_allclose(model.intercept_, whole.intercept_, rtol=1e-12)


def test_all_roads_lead_to_one_fit() -> None:
    X, y = normal_table(50, 4)
    weight = np.random.default_rng(2).integers(0, 3, 50).astype(float)
    parts = [slice(0, 7), slice(7, 30), slice(30, 50)]
    chunks = [(X[part], y[part], weight[part]) for part in parts]
    expected = LinearRegression().fit(X, y, weight)
    bit_by_bit = LinearRegression()
    for chunk in chunks:
        bit_by_bit.partial_fit(*chunk)
    fits = [
        LinearRegression().fit_statistics(expected.statistics_),
        LinearRegression().fit_statistics(statistics(X, y, weight)),
        LinearRegression().fit_stream(chunks),
        LinearRegression().fit_stream(lambda: iter(chunks)),
        bit_by_bit,
    ]
    for model in fits:
        np.testing.assert_allclose(model.coef_, expected.coef_, rtol=1e-13)
        assert model.intercept_ == pytest.approx(expected.intercept_, rel=1e-13)
        np.testing.assert_allclose(model.predict(X), expected.predict(X), rtol=1e-12)
        np.testing.assert_allclose(
            model.inference().standard_errors, expected.inference().standard_errors, rtol=1e-12
        )


def test_one_sum_serves_every_penalty() -> None:
    X, y = normal_table(30, 3)
    total = statistics(X[:10], y[:10]) + statistics(X[10:], y[10:])
    for alpha in (1e-6, 1.0, 1e6):
        model = Ridge(alpha=alpha).fit_statistics(total)
        constant, coef = exact_least_squares(X.tolist(), y.tolist(), alpha=alpha)
        np.testing.assert_allclose(model.coef_, np.array(coef, float), rtol=1e-12)
        assert model.intercept_ == pytest.approx(float(constant), rel=1e-12)


def test_statistics_see_differences() -> None:
    X, y = normal_table(30, 2)
    whole = statistics(X, y)
    assert not whole.isclose(statistics(X[:-1], y[:-1]))
    assert not whole.isclose(statistics(X, y + 1e-6))
    assert whole.isclose(statistics(X, y + 1e-14))
    assert whole.isclose(statistics(X, y + 1e-6), rtol=1e-5)


# --- Removal --------------------------------------------------------------------------------------


@pytest.mark.parametrize("model", [LinearRegression(), Ridge(alpha=2.0)], ids=["least", "ridge"])
def test_forgotten_rows_leave_no_trace(model: LinearRegression) -> None:
    X, y = normal_table(60, 4)
    left = clone(model).fit(X, y).forget(X[:25], y[:25])
    fresh = clone(model).fit(X[25:], y[25:])
    np.testing.assert_allclose(left.coef_, fresh.coef_, rtol=1e-10)
    assert left.intercept_ == pytest.approx(fresh.intercept_, rel=1e-10)
    assert left.statistics_.isclose(fresh.statistics_)
    left.partial_fit(X[:25], y[:25])
    np.testing.assert_allclose(left.coef_, clone(model).fit(X, y).coef_, rtol=1e-10)


def test_sums_and_removals_in_any_order_without_a_warning() -> None:
    X, y = mixed_table()
    a, b, c = (statistics(X[i::3], y[i::3]) for i in range(3))
    total = a + b + c
    for rest in (total - a - b, total - (a + b), (total - b) - a):
        assert rest.isclose(c)
        assert rest.schema == c.schema


@pytest.mark.parametrize("model", [LinearRegression(), Ridge()], ids=["least", "ridge"])
@pytest.mark.parametrize("level", ["a", "c"])
def test_a_level_that_only_forgotten_rows_had_is_forgotten(
    model: LinearRegression, level: str
) -> None:
    X, y = mixed_table()
    gone = (X["color"] == level).to_numpy()
    left = clone(model).fit(X, y).forget(X[gone], y[gone])
    fresh = clone(model).fit(X[~gone], y[~gone])
    assert left.coef_names_ == fresh.coef_names_
    assert left.schema_ == fresh.schema_
    np.testing.assert_allclose(left.coef_, fresh.coef_, rtol=1e-10, atol=1e-12)
    assert left.certificate_.details["rank"] == fresh.certificate_.details["rank"]


def test_declared_orders_keep_their_levels() -> None:
    X, y = mixed_table()
    X["color"] = pd.Categorical(X["color"], list("abcd"), ordered=True)
    gone = (X["color"] == "b").to_numpy()
    left = LinearRegression().fit(X, y).forget(X[gone], y[gone])
    fresh = LinearRegression().fit(X[~gone], y[~gone])
    assert left.coef_names_ == fresh.coef_names_ == ("color=b", "color=c", "color=d", "age")
    np.testing.assert_allclose(left.coef_, fresh.coef_, rtol=1e-10, atol=1e-12)


def test_lost_digits_are_announced() -> None:
    X, y = normal_table(40, 2)
    X[0, 0] = 1e5
    model = LinearRegression().fit(X, y)
    with pytest.warns(LostDigitsWarning, match=r"about (7|8|9) of 16 digits.*afresh") as caught:
        model.forget(X[:1], y[:1])
    assert len(caught) == 1
    fresh = LinearRegression().fit(X[1:], y[1:])
    # Eight digits lost, eight left.
    np.testing.assert_allclose(model.coef_, fresh.coef_, rtol=1e-6)


def test_a_row_beyond_comparison_takes_all_digits_with_it_and_says_so() -> None:
    X, y = normal_table(40, 2)
    X[0, 0] = 1e9
    with pytest.warns(LostDigitsWarning, match="about 16 of 16 digits"):
        LinearRegression().fit(X, y).forget(X[:1], y[:1])


@pytest.mark.parametrize("size", [1.0, 10.0, 300.0])
def test_ordinary_outliers_cost_no_warning_and_ten_digits_stay(size: float) -> None:
    X, y = normal_table(40, 2)
    X[0, 0] = size
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = LinearRegression().fit(X, y).forget(X[:1], y[:1])
    fresh = LinearRegression().fit(X[1:], y[1:])
    np.testing.assert_allclose(model.coef_, fresh.coef_, rtol=1e-10)


def test_a_part_of_a_weight_can_be_forgotten() -> None:
    X, y = normal_table(10, 2)
    model = LinearRegression().fit(X, y, np.full(10, 2.0)).forget(X, y)
    np.testing.assert_allclose(model.coef_, LinearRegression().fit(X, y).coef_, rtol=1e-12)
    assert model.statistics_.weight == pytest.approx(10.0)


def test_what_was_never_added_cannot_be_removed_and_the_model_stays() -> None:
    X, y = normal_table(20, 2)
    model = LinearRegression().fit(X, y)
    before = model.coef_.copy()
    with pytest.raises(ValueError, match="never added"):
        model.forget(X[:1] + 10.0, y[:1])
    with pytest.raises(ValueError, match="Remove only what was added"):
        model.forget(np.vstack([X, X]), np.r_[y, y])
    with pytest.raises(InputError, match="hold no rows"):
        model.forget(X, y)
    np.testing.assert_array_equal(model.coef_, before)
    assert model.statistics_.rows == 20


def test_a_level_never_met_cannot_be_forgotten() -> None:
    frame, y = pd.DataFrame({"color": ["a", "b"] * 5}), np.arange(10.0)
    model = LinearRegression().fit(frame, y)
    with pytest.raises(ValueError, match="never added: they differ in a direction"):
        model.forget(pd.DataFrame({"color": ["c"]}), y[:1])
    assert model.coef_names_ == ("color=b",)


# --- What does not fit ----------------------------------------------------------------------------


def test_other_targets_columns_and_kinds_do_not_fit() -> None:
    X, y = normal_table(20, 2)
    total = statistics(X, y)
    with pytest.raises(InputError, match="1 and 2 targets do not fit together"):
        total + statistics(X, np.column_stack([y, y]))
    with pytest.raises(SchemaError, match="2 columns does not fit one of 1"):
        total + statistics(X[:, :1], y)
    with pytest.raises(SchemaError, match=r"'x0' \(numeric\) does not fit column 'x0' \(nominal\)"):
        total + statistics(np.array([["a", 1.0], ["b", 2.0]], object), y[:2])
    with pytest.raises(InputError, match="5 columns does not fit a schema and targets of 3"):
        Statistics(total.schema, empty_factor(5))
    with pytest.raises(ValueError, match="at least 0"):
        -1.0 * total
    for combine in (operator.add, operator.sub):
        with pytest.raises(TypeError, match="unsupported operand"):
            combine(total, 3.0)


def test_statistics_are_those_of_the_checked_sample() -> None:
    X, y = normal_table(20, 2)
    found = Statistics.of(sample_of(X, y))
    assert found.isclose(statistics(X, y), rtol=1e-15)
    assert (found.n_targets, found.vector_target) == (1, True)
    several = Statistics.of(sample_of(X, np.column_stack([y, -y])))
    assert (several.n_targets, several.vector_target) == (2, False)
