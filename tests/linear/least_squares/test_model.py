"""What all linear models share: scikit-learn's checks, the contract, prediction, nasty input."""

from __future__ import annotations

import pickle
import tracemalloc
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.utils.estimator_checks import parametrize_with_checks

from novum.core.errors import (
    InputError,
    MissingValuesError,
    ModelFileError,
    SchemaError,
    UnseenLevelWarning,
)
from novum.core.files import load, save
from novum.core.learners import Case, Check, Verdict
from novum.core.learners.contracts import check_name, estimator_checks
from novum.core.sums.contracts import statistics_checks
from novum.linear import LinearRegression, Ridge, RidgeCV
from novum.linear.least_squares.model import LinearModel
from novum.numerics import Array, Floats
from tests.linear.tables import normal_table

MODELS = [
    LinearRegression(),
    Ridge(),
    RidgeCV(),
    LinearRegression(positive=True),
    LinearRegression(solver="gradient"),
    Ridge(solver="lsqr"),
]
NOMINAL = [
    LinearRegression(categorical_features="all"),
    Ridge(categorical_features="all"),
    RidgeCV(categorical_features="all"),
]


def name_of(model: object) -> str:
    return repr(model)


# --- scikit-learn's checks and the contract -------------------------------------------------------


@parametrize_with_checks(MODELS, legacy=True)
def test_scikit_learn_checks(estimator: Any, check: Callable[[Any], None]) -> None:
    check(estimator)


@pytest.mark.filterwarnings("ignore::novum.core.errors.UnseenLevelWarning")
@parametrize_with_checks(NOMINAL, legacy=True)
def test_scikit_learn_checks_on_nominal_columns(
    estimator: Any, check: Callable[[Any], None]
) -> None:
    check(estimator)


def mixed_table(n: int = 60) -> tuple[pd.DataFrame, Floats]:
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {
            "age": rng.normal(size=n),
            "color": rng.choice(["blue", "green", "red"], n),
            "grade": pd.Categorical(rng.choice(["a", "b"], n), ["a", "b"], ordered=True),
            "member": rng.random(n) < 0.5,
        }
    )
    effect = frame["color"].map({"blue": 0.0, "green": 1.0, "red": -2.0}).to_numpy(float)
    return frame, frame["age"].to_numpy() + effect + 0.1 * rng.normal(size=n)


def cases() -> list[Any]:
    X, y = normal_table(60, 3)
    frame, target = mixed_table()
    numeric = [pytest.param(Case(m, X, y), id=f"numeric {m!r}") for m in MODELS]
    additive = [m for m in MODELS if m.get_params().get("solver") != "lsqr"]
    return numeric + [pytest.param(Case(m, frame, target), id=f"mixed {m!r}") for m in additive]


@pytest.mark.parametrize("check", estimator_checks(), ids=check_name)
@pytest.mark.parametrize("case", cases())
def test_contract(case: Case, check: Check) -> None:
    check(case)


def sums() -> list[Any]:
    return [p for p in cases() if isinstance(p.values[0].model, LinearModel)
            and p.values[0].model.solver == "auto"]  # fmt: skip


@pytest.mark.parametrize("check", statistics_checks(), ids=check_name)
@pytest.mark.parametrize("case", sums())
def test_contract_of_statistics(case: Case, check: Check) -> None:
    check(case)


# --- Prediction -----------------------------------------------------------------------------------


@pytest.mark.parametrize("model", MODELS, ids=name_of)
def test_predictions_are_the_linear_function(model: Any) -> None:
    X, y = normal_table(30, 3)
    fitted = clone(model).fit(X, y)
    # A number of NumPy's, with its methods, as the coefficients are.
    assert type(fitted.intercept_) is np.float64
    expected = X @ fitted.coef_ + fitted.intercept_
    np.testing.assert_allclose(fitted.predict(X), expected, rtol=1e-12)
    for one in (X[:1], X[:1].tolist(), np.asfortranarray(X)[:1], sparse.csr_array(X[:1])):
        found = fitted.predict(one)
        assert found.shape == (1,)
        assert found[0] == pytest.approx(expected[0], rel=1e-12)
    np.testing.assert_allclose(fitted.predict(X.astype(np.float32)), expected, rtol=1e-5)
    several = clone(model).fit(X, np.column_stack([y, -y]))
    assert several.predict(X[:1]).shape == (1, 2)
    column = clone(model).fit(X, y[:, np.newaxis])
    assert column.coef_.shape == (1, 3)
    assert column.predict(X).shape == (30, 1)


def test_every_frame_is_the_same_table() -> None:
    frame, y = mixed_table()
    plain = frame.assign(grade=frame["grade"].astype(str))
    expected = LinearRegression().fit(plain, y)
    assert expected.coef_names_ == (
        "age", "color=green", "color=red", "grade=b", "member=True",
    )  # fmt: skip
    others = [
        pl.DataFrame(plain.to_dict("list")),
        pa.Table.from_pandas(plain, preserve_index=False),
        plain.astype({"color": "category"}),
    ]
    for other in others:
        model = LinearRegression().fit(other, y)
        assert model.coef_names_ == expected.coef_names_
        np.testing.assert_allclose(model.coef_, expected.coef_, rtol=1e-12)
        np.testing.assert_allclose(expected.predict(other), expected.predict(plain), rtol=1e-13)
    array = plain.to_numpy(object)
    np.testing.assert_allclose(LinearRegression().fit(array, y).coef_, expected.coef_, rtol=1e-12)


def test_integers_and_short_floats() -> None:
    X, y = np.arange(12).reshape(6, 2) ** 2, np.arange(6) ** 3
    expected = LinearRegression().fit(X.astype(float), y.astype(float))
    for kind in (np.int8, np.uint16, np.int64, np.float32):
        model = LinearRegression().fit(X.astype(kind), y)
        single = kind is np.float32
        np.testing.assert_allclose(model.coef_, expected.coef_, rtol=2**-23 if single else 1e-12)
        # Computed in double precision, and rounded once where scikit-learn keeps float32.
        assert model.coef_.dtype == (np.float32 if single else np.float64)


def test_an_unseen_level_counts_as_the_first_and_is_announced() -> None:
    frame, y = mixed_table()
    model = LinearRegression().fit(frame, y)
    other = frame[:3].assign(color=["blue", "pink", "pink"])
    with pytest.warns(UnseenLevelWarning, match=r"'color' has 2 cells.*reference level 'blue'"):
        found = model.predict(other)
    np.testing.assert_allclose(found, model.predict(other.assign(color="blue")), rtol=1e-13)


def test_other_columns_are_refused() -> None:
    frame, y = mixed_table()
    model = LinearRegression().fit(frame, y)
    with pytest.raises(ValueError, match="feature names"):
        model.predict(frame[["color", "age", "grade", "member"]])
    with pytest.raises(ValueError, match="feature names"):
        model.predict(frame.rename(columns={"age": "years"}))
    with pytest.raises((ValueError, SchemaError), match=r"'age' is numeric"):
        model.predict(frame.assign(age="old"))
    plain = LinearRegression().fit(*normal_table(10, 3))
    with pytest.raises(ValueError, match=r"2 features.*expecting 3"):
        plain.predict(np.zeros((4, 2)))
    with pytest.raises(ValueError, match="0 sample"):
        plain.predict(np.zeros((0, 3)))
    for model in (LinearRegression(), Ridge(), RidgeCV()):
        with pytest.raises(NotFittedError):
            model.predict(np.zeros((1, 3)))


# --- Nasty input ----------------------------------------------------------------------------------


@pytest.mark.parametrize("model", [LinearRegression(), Ridge(), RidgeCV()], ids=name_of)
def test_missing_and_infinite_cells_are_named(model: Any) -> None:
    X, y = normal_table(10, 3)
    holed = X.copy()
    holed[4, 1] = np.nan
    with pytest.raises(MissingValuesError, match=r"x1(.|\n)*row"):
        model.fit(holed, y)
    masked = np.ma.masked_array(X, np.zeros_like(X, bool))
    masked[4, 1] = np.ma.masked
    with pytest.raises(MissingValuesError, match="x1"):
        model.fit(masked, y)
    with pytest.raises(MissingValuesError, match="y"):
        model.fit(X, np.where(np.arange(10) == 3, np.nan, y))
    holed[4, 1] = np.inf
    with pytest.raises(InputError, match=r"'x1' has inf at row 4"):
        model.fit(holed, y)
    frame, target = mixed_table(10)
    frame.loc[2, "color"] = None
    with pytest.raises(MissingValuesError, match="color"):
        model.fit(frame, target)


@pytest.mark.parametrize("model", [LinearRegression(), Ridge(), RidgeCV()], ids=name_of)
def test_shapes_and_weights_are_checked(model: Any) -> None:
    X, y = normal_table(10, 3)
    with pytest.raises(InputError, match="X has 10 rows, but y has 9"):
        model.fit(X, y[:9])
    with pytest.raises(ValueError, match="requires y"):
        model.fit(X, None)
    with pytest.raises(InputError, match=r"Negative.*-1.0 at row 2"):
        model.fit(X, y, [1.0, 1.0, -1.0, *[1.0] * 7])
    with pytest.raises(InputError, match="All 10 weights are zero"):
        model.fit(X, y, np.zeros(10))
    with pytest.raises(ValueError, match=r"NaN|missing|weight"):
        model.fit(X, y, np.full(10, np.nan))
    with pytest.raises(ValueError, match="0 sample"):
        model.fit(np.empty((0, 3)), np.empty(0))
    with pytest.raises(ValueError, match="0 feature"):
        model.fit(np.empty((10, 0)), y)


def test_names_and_mixed_types() -> None:
    X, y = normal_table(6, 2)
    doubled = pd.DataFrame(X, columns=["a", "a"])
    with pytest.raises(SchemaError, match=r"'a' occurs 2 times"):
        LinearRegression().fit(doubled, y)
    mixed = pd.DataFrame({"a": [1.0, "two", 3.0, "four", 5.0, 6.0]}, dtype=object)
    with pytest.raises(InputError, match="'a'"):
        LinearRegression().fit(mixed, y)
    dates = pd.DataFrame({"when": pd.date_range("2024-01-01", periods=6)})
    with pytest.raises(InputError, match=r"'when' holds dates"):
        LinearRegression().fit(dates, y)


def test_strange_memory_is_read_and_not_written() -> None:
    X, y = normal_table(40, 4)
    expected = LinearRegression().fit(X[::2, ::2].copy(), y[::2].copy()).coef_
    strided, targets = X[::2, ::2], y[::2]
    strided.setflags(write=False)
    targets.setflags(write=False)
    np.testing.assert_array_equal(LinearRegression().fit(strided, targets).coef_, expected)
    np.testing.assert_array_equal(
        LinearRegression().fit(np.asfortranarray(strided), targets).coef_, expected
    )


@pytest.mark.parametrize("model", MODELS, ids=name_of)
@pytest.mark.parametrize("size", [1e150, 1e-150])
def test_extreme_values_give_finite_predictions(model: Any, size: float) -> None:
    X, y = normal_table(20, 2)
    for table, target in ((X * size, y), (X, y * size)):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            fitted = clone(model).fit(table, target)
        assert np.isfinite(fitted.predict(table)).all()
        if isinstance(model, LinearRegression):
            plain = clone(model).fit(X, y).predict(X)
            scale = size if target is not y else 1.0
            np.testing.assert_allclose(fitted.predict(table) / scale, plain, rtol=1e-5)


@pytest.mark.parametrize("model", [LinearRegression(), Ridge()], ids=name_of)
def test_one_row_one_value_constant_columns(model: Any) -> None:
    X, y = normal_table(10, 2)
    one = clone(model).fit(X[:1], y[:1])
    assert one.predict(X[:1])[0] == pytest.approx(y[0])
    flat = clone(model).fit(np.full((10, 2), 1e150 / 3), y)
    assert not flat.coef_.any()
    assert flat.intercept_ == pytest.approx(y.mean(), rel=1e-14)
    same = clone(model).fit(X, np.full(10, 1 / 3))
    np.testing.assert_allclose(same.predict(X), np.full(10, 1 / 3), rtol=1e-14)


# --- State ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("model", MODELS, ids=name_of)
def test_files_and_pickles_keep_everything(model: Any, tmp_path: Path) -> None:
    X, y = normal_table(20, 3)
    fitted = clone(model).fit(X, y)
    save(fitted, tmp_path / "model.novum")
    for other in (load(tmp_path / "model.novum"), pickle.loads(pickle.dumps(fitted))):
        assert type(other) is type(fitted)
        assert other.get_params() == fitted.get_params()
        assert other.predict(X).tobytes() == fitted.predict(X).tobytes()
        assert other.certificate_ == fitted.certificate_
        if hasattr(fitted, "statistics_"):
            other.forget(X[:5], y[:5])
            np.testing.assert_allclose(
                other.coef_, clone(model).fit(X[5:], y[5:]).coef_, rtol=1e-6, atol=1e-12
            )


def test_a_file_whose_parts_do_not_fit_is_refused(tmp_path: Path) -> None:
    X, y = normal_table(20, 3)
    for name, value in (
        ("coef_", np.ones(2)),
        ("coef_", np.ones((1, 1, 3))),
        ("coef_", np.array([1.0, np.nan, 1.0])),
        ("intercept_", np.inf),
    ):
        broken = LinearRegression().fit(X, y)
        setattr(broken, name, value)
        with pytest.raises(ModelFileError, match="coefficients"):
            broken._check_state()
        save(broken, tmp_path / "model.novum")
        with pytest.raises(ModelFileError, match="coefficients"):
            load(tmp_path / "model.novum")


def test_a_failed_fit_changes_nothing() -> None:
    X, y = normal_table(20, 3)
    model = LinearRegression().fit(X, y)
    before: dict[str, Any] = dict(vars(model))
    bad: Array = np.where(np.arange(20) == 0, np.nan, y)
    for call in (lambda: model.fit(X[:, :2], bad), lambda: model.partial_fit(X[:, :2], y)):
        with pytest.raises(ValueError, match=r".+"):
            call()
        assert vars(model).keys() == before.keys()
        assert all(vars(model)[name] is value for name, value in before.items())


def test_a_learner_must_say_what_its_penalty_is() -> None:
    class Silent(LinearModel):
        pass

    with pytest.raises(TypeError, match=r"abstract class Silent .*_penalties"):
        Silent()  # type: ignore[abstract]


def test_skops_keeps_a_model() -> None:
    """skops stores what it knows and names what must be trusted; all of it is ours."""
    skops_io = pytest.importorskip("skops.io")

    X, y = normal_table(30, 3)
    model = LinearRegression().fit(X, y)
    stored = skops_io.dumps(model)
    untrusted = skops_io.get_untrusted_types(data=stored)
    assert all(name.startswith("novum.") for name in untrusted), untrusted
    found = skops_io.loads(stored, trusted=untrusted)
    assert found.predict(X).tobytes() == model.predict(X).tobytes()
    assert found.certificate_ == model.certificate_


@pytest.mark.slow
@pytest.mark.parametrize("model", [LinearRegression(), Ridge(), RidgeCV()], ids=name_of)
def test_few_rows_of_many_columns_need_no_square_of_the_width(
    model: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """30 x 60,000 within 300 MB: a matrix of the width squared would take 29 GB."""
    monkeypatch.setenv("NOVUM_MEMORY_LIMIT", "300MB")
    rng = np.random.default_rng(0)
    X = rng.normal(size=(30, 60_000)) + 7.0
    y = X[:, :5].sum(axis=1) + rng.normal(size=30)
    tracemalloc.start()
    model.fit(X, y)
    assert tracemalloc.get_traced_memory()[1] < 300e6
    tracemalloc.stop()
    # The dual, in the space of the rows.
    Z, t = X - X.mean(axis=0), y - y.mean()
    alpha = 0.0 if isinstance(model, LinearRegression) else getattr(model, "alpha_", 1.0)
    expected = Z.T @ np.linalg.lstsq(Z @ Z.T + alpha * np.eye(30), t, rcond=1e-12)[0]
    np.testing.assert_allclose(model.coef_, expected, atol=1e-12 * np.abs(expected).max())
    assert model.certificate_.verdict is Verdict.PROVED
    assert model.certificate_.details["rank"] == 29


@pytest.mark.slow
def test_few_rows_of_many_columns_add_up_and_come_off() -> None:
    rng = np.random.default_rng(1)
    X, y = rng.normal(size=(20, 5_000)), rng.normal(size=20)
    whole = LinearRegression().fit(X, y)
    parts = LinearRegression().partial_fit(X[:7], y[:7]).partial_fit(X[7:], y[7:])
    assert parts.statistics_.isclose(whole.statistics_)
    assert not parts.statistics_.isclose(LinearRegression().statistics(X[1:], y[1:]))
    np.testing.assert_allclose(parts.coef_, whole.coef_, atol=1e-14)
    parts.forget(X[:7], y[:7])
    np.testing.assert_allclose(parts.coef_, LinearRegression().fit(X[7:], y[7:]).coef_, atol=1e-13)
    found = whole.inference()
    assert found.degrees_of_freedom == 0
    assert np.isnan(found.standard_errors).all()
    assert found.r_squared == pytest.approx(1.0)
    ridge = Ridge(100.0).fit(X, y)
    squares = np.linalg.svd(X - X.mean(axis=0), compute_uv=False)[:19] ** 2
    expected = 1 + (squares / (squares + 100.0)).sum()
    assert ridge.degrees_of_freedom_ == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize(
    "model",
    [
        LinearRegression(),
        LinearRegression(positive=True),
        LinearRegression(solver="gradient"),
        LinearRegression(solver="lsqr"),
        Ridge(0.0),
    ],
    ids=name_of,
)
def test_subnormal_columns_are_refused_by_name(model: Any) -> None:
    """Cells of 1e-310 need coefficients of 1e310; those of 1e-300 are solved."""
    X, y = normal_table(30, 3)
    X[:, 1] *= 1e-310
    with pytest.raises(InputError, match=r"Column 'x1' has a size of .*e-3\d\d only.*power of two"):
        model.fit(X, y)
    X[:, 1] *= 1e10
    plain = clone(model).fit(X * [1.0, 1e300, 1.0], y)
    found = clone(model).fit(X, y)
    # Gradient descent ends at a tolerance of 1e-6.
    np.testing.assert_allclose(found.coef_ * [1.0, 1e-300, 1.0], plain.coef_, rtol=1e-5)
    # A penalty leaves nothing of such columns.
    assert abs(Ridge().fit(X, y).coef_[1]) < 1e-290
