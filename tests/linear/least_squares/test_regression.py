"""LinearRegression: certified digits, rational solutions, units, and what must not matter."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.linear_model import LinearRegression as OtherRegression

from novum.linear import LinearInference, LinearRegression
from novum.numerics import Floats
from tests.linear.tables import (
    ANOVA,
    LINEAR,
    certified_groups,
    certified_table,
    digits,
    integer_tables,
    normal_table,
)
from tests.oracles.rational_least_squares import exact_least_squares, exact_variance_ratio

# Right digits asked of anova: what doubles can hold when the values share 1, 7 or 13 digits. In
# SmLs08 and SmLs09 the data lose all but 4.17 digits when they are read; nothing is lost after.
ANOVA_DIGITS = {"lower": 13.0, "average": 10.0, "higher": 4.17}


# --- Certified digits -----------------------------------------------------------------------------


def fewest_digits(found: LinearInference, name: str) -> dict[str, float]:
    exact = LINEAR[name]["exact"]
    counted = {
        "coef": digits(found.coef, exact["coef"]),
        "coef_sd": digits(found.standard_errors, exact["coef_sd"]),
        "residual_sd": digits(found.residual_deviation, [exact["residual_sd"]]),
        "r_squared": digits(found.r_squared, [exact["r_squared"]]),
    }
    if exact["f_statistic"] != "inf":
        counted["f_statistic"] = digits(found.f_value, [exact["f_statistic"]])
    else:
        assert found.f_value > 1e18
    return counted


@pytest.mark.parametrize("name", sorted(LINEAR))
def test_fit_reaches_the_certified_digits(name: str) -> None:
    model = LinearRegression(fit_intercept=LINEAR[name]["intercept"]).fit(*certified_table(name))
    wanted = 7.5 if name == "Filip" else 9.5
    for quantity, count in fewest_digits(model.inference(), name).items():
        assert count >= wanted, f"{quantity}: {count:.2f} digits"


@pytest.mark.parametrize("name", sorted(LINEAR))
@pytest.mark.parametrize("split", ["halves", "every other", "row by row"])
def test_merged_parts_reach_six_digits(name: str, split: str) -> None:
    X, y = certified_table(name)
    n = len(y)
    parts = {
        "halves": [slice(0, n // 2), slice(n // 2, n)],
        "every other": [slice(0, n, 2), slice(1, n, 2)],
        "row by row": [slice(i, i + 1) for i in range(n)],
    }[split]
    model = LinearRegression(fit_intercept=LINEAR[name]["intercept"])
    total = model.statistics(X[parts[0]], y[parts[0]])
    for part in parts[1:]:
        total = total + model.statistics(X[part], y[part])
    model.fit_statistics(total)
    for quantity, count in fewest_digits(model.inference(), name).items():
        assert count >= 6, f"{quantity}: {count:.2f} digits"


@pytest.mark.parametrize("name", sorted(ANOVA))
def test_analysis_of_variance_is_a_regression_on_a_nominal_column(name: str) -> None:
    labels, values = certified_groups(name)
    model = LinearRegression().fit(pd.DataFrame({"group": labels}), values)
    found, certified = model.inference(), ANOVA[name]["certified"]
    assert found.degrees_of_freedom == certified["df_within"]
    assert len(model.coef_) == certified["df_between"]
    wanted = ANOVA_DIGITS[ANOVA[name]["difficulty"]]
    assert digits(found.f_value, [certified["f"]]) >= wanted
    assert digits(found.r_squared, [certified["r_squared"]]) >= wanted
    assert digits(found.residual_deviation, [certified["residual_sd"]]) >= wanted
    groups = [list(group) for _, group in pd.Series(values).groupby(labels)]
    assert found.f_value == pytest.approx(float(exact_variance_ratio(groups)), rel=2e-13)


# --- Rational solutions ---------------------------------------------------------------------------


@given(integer_tables(), st.booleans(), st.data())
def test_fit_is_the_rational_solution(
    table: tuple[Floats, Floats, Floats], intercept: bool, data: st.DataObject
) -> None:
    """Weighted or not, one target or three, full rank or not."""
    X, y, weight = table
    weights = data.draw(st.sampled_from([None, weight]))
    Y = np.column_stack([y, weight, y * weight])
    model = LinearRegression(fit_intercept=intercept).fit(X, Y, weights)
    assert model.coef_.shape == (3, X.shape[1])
    for t in range(3):
        w = None if weights is None else weights.tolist()
        constant, coef = exact_least_squares(X.tolist(), Y[:, t].tolist(), w, intercept=intercept)
        exact = np.array(coef, float)
        size = 1e-10 * (1 + np.abs(exact).max())
        np.testing.assert_allclose(model.coef_[t], exact, atol=size)
        if intercept:
            assert model.intercept_[t] == pytest.approx(float(constant), abs=20 * size)
        else:
            assert model.intercept_ == 0.0


def test_digits_beyond_those_of_the_normal_equations() -> None:
    X, y = normal_table(40, 3)
    X = np.column_stack([X, X[:, 0] + 1e-5 * X[:, 1] ** 2])
    exact = np.array(exact_least_squares(X.tolist(), y.tolist())[1], float)
    # Condition 1e5: normal equations keep 6 digits, QR 11, and refinement gives the rest.
    np.testing.assert_allclose(LinearRegression().fit(X, y).coef_, exact, rtol=1e-12)


def test_another_implementation_agrees_where_it_is_right() -> None:
    X, y = normal_table(80, 5)
    Y, weight = np.column_stack([y, y**2]), np.random.default_rng(0).uniform(0.1, 3, 80)
    ours, theirs = LinearRegression().fit(X, Y, weight), OtherRegression().fit(X, Y, weight)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, rtol=1e-11)
    np.testing.assert_allclose(ours.intercept_, theirs.intercept_, rtol=1e-11)
    assert ours.rank_ == theirs.rank_
    positive = LinearRegression(positive=True).fit(X, -Y)
    np.testing.assert_allclose(
        positive.coef_, OtherRegression(positive=True).fit(X, -Y).coef_, atol=1e-10
    )


# --- Units and offsets ----------------------------------------------------------------------------


@pytest.mark.parametrize("n", [30, 20_000], ids=["small", "large"])
@pytest.mark.parametrize("exponent", [27, -27])
@pytest.mark.parametrize("shift", [0.0, 1e8])
def test_units_and_offsets_do_not_matter(n: int, exponent: int, shift: float) -> None:
    X, y = normal_table(n, 3)
    unit = np.ldexp(1.0, [exponent, 0, -exponent])
    model = LinearRegression().fit((X + shift) * unit, y)
    plain = LinearRegression().fit(X, y)
    np.testing.assert_allclose(model.coef_ * unit, plain.coef_, rtol=1e-6)
    assert model.rank_ == 3


@pytest.mark.parametrize("n", [200, 60_000], ids=["small", "large"])
def test_income_beside_a_rate(n: int) -> None:
    """An exact relation has R squared 1, whatever the units; others drop the small column."""
    rng = np.random.default_rng(0)
    income, rate = rng.integers(0, 1000, n) * 2.0**40, rng.integers(0, 1000, n) * 2.0**-20
    X, y = np.column_stack([income, rate]), 3 * 2.0**-40 * income + 2.0**20 * rate + 7
    model = LinearRegression().fit(X, y)
    assert model.score(X, y) == 1.0
    assert model.inference().r_squared == 1.0
    np.testing.assert_allclose(model.coef_, [3 * 2.0**-40, 2.0**20], rtol=1e-12)
    assert model.intercept_ == pytest.approx(7.0, rel=1e-11)
    assert OtherRegression().fit(X, y).score(X, y) < 0.95


@given(integer_tables(), st.integers(0, 2**16))
def test_row_order_does_not_matter(table: tuple[Floats, Floats, Floats], seed: int) -> None:
    X, y, weight = table
    order = np.random.default_rng(seed).permutation(len(y))
    a, b = (
        LinearRegression().fit(X, y, weight),
        LinearRegression().fit(X[order], y[order], weight[order]),
    )
    size = 1e-11 * (1 + np.abs(a.coef_).max())
    np.testing.assert_allclose(a.coef_, b.coef_, atol=size)


@given(integer_tables())
def test_weight_two_is_the_row_twice_and_weight_zero_the_row_absent(
    table: tuple[Floats, Floats, Floats],
) -> None:
    X, y, weight = table
    weight = weight - 1
    if not weight.any():
        return
    weighted = LinearRegression().fit(X, y, weight)
    times = weight.astype(int)
    repeated = LinearRegression().fit(np.repeat(X, times, axis=0), np.repeat(y, times))
    size = 1e-11 * (1 + np.abs(repeated.coef_).max())
    np.testing.assert_allclose(weighted.coef_, repeated.coef_, atol=size)
    assert weighted.intercept_ == pytest.approx(repeated.intercept_, abs=20 * size)


def test_threads_do_not_change_a_bit() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(140_000, 2))
    X[:, 1] = X[:, 0] + 1e-4 * X[:, 1]  # ill conditioned: by QR, in two blocks
    y = X @ [1.0, 2.0] + rng.normal(size=len(X))
    fits = [LinearRegression(n_jobs=jobs).fit(X, y) for jobs in (None, 1, 2, 3)]
    for model in fits[1:]:
        assert model.coef_.tobytes() == fits[0].coef_.tobytes()
        assert model.intercept_ == fits[0].intercept_


# --- Recovery -------------------------------------------------------------------------------------


def test_slopes_are_recovered_within_four_standard_errors() -> None:
    X, y = normal_table(4000, 3, seed=7)
    model = LinearRegression().fit(X, y)
    found = model.inference()
    assert (np.abs(found.coef - [5.0, 1.0, 2.0, 3.0]) < 4 * found.standard_errors).all()
    assert found.residual_deviation == pytest.approx(1.0, abs=4 / np.sqrt(8000))


def test_levels_are_compared_with_the_first() -> None:
    frame = pd.DataFrame({"color": ["red", "blue", "green"] * 3})
    y = np.array([3.0, 1.0, 7.0] * 3)
    model = LinearRegression().fit(frame, y)
    assert model.coef_names_ == ("color=green", "color=red")
    np.testing.assert_allclose(model.coef_, [6.0, 2.0], rtol=1e-13)
    assert model.intercept_ == pytest.approx(1.0, rel=1e-13)
