"""OrdinalRegression: statsmodels and 40 digits, streams and files, the contract, and odd input."""

from __future__ import annotations

import json
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression as OtherLogistic
from sklearn.utils.estimator_checks import parametrize_with_checks

from novum.core.decisions import WorkingPoint
from novum.core.errors import InputError, MissingValuesError, ModelFileError
from novum.core.learners import Case, Check, ConvergenceWarning, Verdict
from novum.core.learners.contracts import check_name, estimator_checks
from novum.linear.ordinal.regression import OrdinalRegression
from novum.linear.ordinal.rows import AbsentClassWarning, UnorderedTargetWarning
from novum.numerics import Array, Floats

ORACLE = json.loads((Path(__file__).parents[2] / "oracles" / "ordinal.json").read_text())
QUIET = (
    "ignore::novum.core.learners.certificate.ConvergenceWarning",
    "ignore::novum.linear.ordinal.rows.UnorderedTargetWarning",
    "ignore::novum.core.errors.UnseenLevelWarning",
)


def ordered_table(
    n: int, seed: int = 0, coef: tuple[float, ...] = (1.0, -0.5, 0.0)
) -> tuple[Floats, Array]:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, len(coef)))
    return X, np.digitize(X @ coef + rng.logistic(size=n), [-1.0, 0.5, 2.0])


def mixed_table(n: int = 150) -> tuple[pd.DataFrame, Array]:
    rng = np.random.default_rng(1)
    frame = pd.DataFrame({"age": rng.normal(size=n), "color": rng.choice(["blue", "red"], n)})
    latent = frame["age"].to_numpy() + (frame["color"] == "red") + rng.logistic(size=n)
    return frame, np.digitize(latent, [-0.5, 1.0])


# --- scikit-learn's checks and the contract -------------------------------------------------------


@pytest.mark.filterwarnings(*QUIET)
@parametrize_with_checks([OrdinalRegression(), OrdinalRegression("probit", alpha=0.1)], legacy=True)
def test_scikit_learn_checks(estimator: Any, check: Callable[[Any], None]) -> None:
    check(estimator)


@pytest.mark.filterwarnings("ignore::novum.core.errors.UnseenLevelWarning")
@pytest.mark.filterwarnings(*QUIET)
@parametrize_with_checks([OrdinalRegression(categorical_features="all", alpha=0.1)], legacy=True)
def test_scikit_learn_checks_on_nominal_columns(
    estimator: Any, check: Callable[[Any], None]
) -> None:
    check(estimator)


def cases() -> list[Any]:
    models = [OrdinalRegression(), OrdinalRegression("probit"), OrdinalRegression(alpha=0.7)]
    tables = {"numeric": ordered_table(120), "mixed": mixed_table()}
    return [
        pytest.param(Case(model, *table), id=f"{name} {model!r}")
        for model in models
        for name, table in tables.items()
    ]


@pytest.mark.parametrize("check", estimator_checks(), ids=check_name)
@pytest.mark.parametrize("case", cases())
def test_contract(case: Case, check: Check) -> None:
    check(case)


# --- The estimate ---------------------------------------------------------------------------------


@pytest.mark.parametrize("link", ["logit", "probit"])
def test_statsmodels_agrees(link: str) -> None:
    known = ORACLE[link]
    model = OrdinalRegression(link).fit(ORACLE["X"], ORACLE["y"])
    # statsmodels stops at a gradient of about 1e-8, and has numerical second derivatives.
    np.testing.assert_allclose(model.coef_, known["coef"], rtol=1e-6)
    np.testing.assert_allclose(model.thresholds_, known["thresholds"], rtol=1e-6)
    found = model.inference()
    np.testing.assert_allclose(found.standard_errors, known["standard_errors"], rtol=1e-5)
    assert found.log_likelihood == pytest.approx(known["log_likelihood"], rel=1e-12)
    assert found.log_likelihood >= known["log_likelihood"] - 1e-10


@pytest.mark.parametrize("known", ORACLE["small"]["optima"], ids=lambda known: str(known["alpha"]))
def test_the_optimum_has_forty_digits_behind_it(known: dict[str, Any]) -> None:
    model = OrdinalRegression(alpha=known["alpha"])
    model.fit(ORACLE["small"]["X"], ORACLE["small"]["y"])
    exact = np.array([*known["coef"], *known["thresholds"]], float)
    found = np.concatenate([model.coef_, model.thresholds_])
    np.testing.assert_allclose(found, exact, rtol=1e-9)
    certificate = model.certificate_
    assert certificate.verdict is Verdict.WITHIN_TOLERANCE
    assert certificate.value == pytest.approx(float(known["value"]), rel=1e-14)
    # What the certificate proves is true, and not by much too cautious.
    away = float(np.linalg.norm(found - exact))
    assert certificate.distance_bound is not None
    assert away <= certificate.distance_bound < 1e-9
    assert certificate.lower_bound is not None
    assert certificate.lower_bound <= float(known["value"]) * (1 + 1e-15)


def test_two_classes_are_a_logistic_regression() -> None:
    X, y = ordered_table(200)
    y = (y > 1).astype(int)
    for alpha, C in ((0.0, np.inf), (2.0, 0.5)):
        model = OrdinalRegression(alpha=alpha).fit(X, y)
        other = OtherLogistic(C=C, tol=1e-12, solver="newton-cholesky").fit(X, y)
        np.testing.assert_allclose(model.coef_, other.coef_[0], rtol=1e-7)
        np.testing.assert_allclose(-model.thresholds_, other.intercept_, rtol=1e-7)
        np.testing.assert_allclose(model.predict_proba(X), other.predict_proba(X), rtol=1e-7)


def test_columns_without_effect_leave_the_shares_of_the_classes() -> None:
    y = np.array([0, 0, 1, 2, 2, 2])
    model = OrdinalRegression().fit(np.ones((6, 2)), y)
    np.testing.assert_allclose(model.predict_proba(np.ones((1, 2))), [[2 / 6, 1 / 6, 3 / 6]])
    assert not model.coef_.any()
    assert model.rank_ == 0
    np.testing.assert_allclose(model.class_prior_, [2 / 6, 1 / 6, 3 / 6])


def test_coefficients_are_recovered_within_four_standard_errors() -> None:
    X, y = ordered_table(5000, seed=3)
    found = OrdinalRegression().fit(X, y).inference()
    truth = np.array([1.0, -0.5, 0.0, -1.0, 0.5, 2.0])
    assert (np.abs(found.values - truth) < 4 * found.standard_errors).all()


@pytest.mark.slow
def test_errors_match_the_spread_of_estimates() -> None:
    """Over 200 tables the estimates vary by their standard error, to 20 % (four deviations)."""
    found = [OrdinalRegression().fit(*ordered_table(200, seed=s)).inference() for s in range(200)]
    spread = np.std([one.values for one in found], axis=0)
    said = np.mean([one.standard_errors for one in found], axis=0)
    np.testing.assert_allclose(spread, said, rtol=0.2)


# --- Predictions ----------------------------------------------------------------------------------


def test_predictions_fit_together() -> None:
    X, y = ordered_table(100)
    names = np.array(["none", "some", "much", "all"])
    model = OrdinalRegression(classes=names).fit(X, names[y])
    assert model.classes_.tolist() == names.tolist()
    proba = model.predict_proba(X)
    np.testing.assert_allclose(proba.sum(axis=1), 1, rtol=1e-14)
    np.testing.assert_allclose(model.predict_cumulative(X), np.cumsum(proba, axis=1), rtol=1e-12)
    np.testing.assert_allclose(model.expected_rank(X), proba @ np.arange(4), rtol=1e-13)
    np.testing.assert_allclose(model.predict_log_proba(X), np.log(proba), rtol=1e-12)
    np.testing.assert_array_equal(model.predict(X), names[proba.argmax(axis=1)])
    np.testing.assert_allclose(model.latent_score(X), X @ model.coef_, rtol=1e-12)
    # A higher score means a higher expected rank.
    order = np.argsort(model.latent_score(X))
    assert (np.diff(model.expected_rank(X)[order]) >= 0).all()


def test_far_rows_have_log_probabilities() -> None:
    X, y = ordered_table(100)
    for link in ("logit", "probit"):
        model = OrdinalRegression(link).fit(X, y)
        far = model.predict_log_proba(100 * model.coef_[np.newaxis])
        assert np.isfinite(far).all()
        assert far[0, 0] < -50


def test_a_working_point_moves_decisions() -> None:
    X, y = ordered_table(200)
    model = OrdinalRegression().fit(X, y)
    cost = np.abs(np.subtract.outer(np.arange(4), np.arange(4))).astype(float)
    point = WorkingPoint(classes=(0, 1, 2, 3), priors=tuple(model.class_prior_), cost=cost)
    decided = model.at(point).predict(X)
    # The action of least expected distance is the median of the classes.
    median = (model.predict_cumulative(X) >= 0.5).argmax(axis=1)
    np.testing.assert_array_equal(decided, median)


# --- Separation -----------------------------------------------------------------------------------


def test_separated_classes_are_announced_with_their_direction() -> None:
    X = np.column_stack([np.arange(9.0), np.tile([0.0, 1.0, 0.5], 3)])
    y = np.repeat([0, 1, 2], 3)
    with pytest.warns(ConvergenceWarning, match=r"separated \(complete\), mainly along 'x0'"):
        model = OrdinalRegression().fit(X, y)
    certificate = model.certificate_
    assert certificate.verdict is Verdict.UNBOUNDED
    assert not certificate.converged
    direction = np.array(certificate.details["direction"])
    scores = X @ direction
    assert scores[y == 0].max() < scores[y == 1].min()
    assert scores[y == 1].max() < scores[y == 2].min()
    assert model.predict(X).tolist() == y.tolist()
    assert np.isfinite(model.coef_).all()
    with pytest.raises(InputError, match="classes are separated"):
        model.inference()


def test_a_level_that_only_one_class_has_separates_in_part() -> None:
    X, y = ordered_table(200)
    only = ((y == 0) & (np.arange(200) % 2 == 0)).astype(float)
    with pytest.warns(ConvergenceWarning, match=r"quasi-complete\), mainly along 'x3'"):
        model = OrdinalRegression().fit(np.column_stack([X, only]), y)
    assert model.certificate_.verdict is Verdict.UNBOUNDED
    rest = OrdinalRegression().fit(X[only == 0], y[only == 0])
    # The rows without the level are fitted as if the others were absent.
    np.testing.assert_allclose(model.coef_[:3], rest.coef_, rtol=1e-3)


def test_a_penalty_makes_separated_classes_a_proved_optimum() -> None:
    X, y = np.arange(9.0)[:, np.newaxis], np.repeat([0, 1, 2], 3)
    model = OrdinalRegression(alpha=1.0).fit(X, y)
    assert model.certificate_.verdict is Verdict.WITHIN_TOLERANCE
    with pytest.raises(InputError, match=r"alpha=1.0 moves"):
        model.inference()


def test_nearly_separated_classes_are_not_called_so() -> None:
    X, y = np.append(np.arange(20.0), [9.4, 10.2])[:, np.newaxis], np.repeat([0, 1], 10)
    model = OrdinalRegression().fit(X, np.append(y, [1, 0]))
    assert model.certificate_.verdict is Verdict.WITHIN_TOLERANCE


# --- Degenerate tables ----------------------------------------------------------------------------


def test_collinear_and_constant_columns_share_the_effect() -> None:
    X, y = ordered_table(100)
    plain = OrdinalRegression().fit(X, y)
    wide = np.column_stack([X, X[:, 0], np.full(100, 3.0)])
    model = OrdinalRegression().fit(wide, y)
    assert model.rank_ == 3
    np.testing.assert_allclose(model.coef_[[0, 3]], plain.coef_[0] / 2, rtol=1e-8)
    assert model.coef_[4] == pytest.approx(0, abs=1e-12)
    np.testing.assert_allclose(model.predict_proba(wide), plain.predict_proba(X), rtol=1e-8)
    errors = model.inference().standard_errors
    assert np.isnan(errors[[0, 3, 4]]).all()
    np.testing.assert_allclose(errors[1:3], plain.inference().standard_errors[1:3], rtol=1e-6)
    ridge = OrdinalRegression(alpha=2.0).fit(wide, y)
    # Two equal columns under a penalty are one column under half of it.
    half = OrdinalRegression(alpha=1.0).fit(X[:, :1], y)
    both = OrdinalRegression(alpha=2.0).fit(np.column_stack([X[:, 0], X[:, 0]]), y)
    assert both.coef_.sum() == pytest.approx(half.coef_[0], rel=1e-8)
    assert ridge.coef_[0] == pytest.approx(ridge.coef_[3], rel=1e-8)


def test_more_columns_than_rows() -> None:
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(12, 40)), np.arange(12) % 3
    with pytest.warns(ConvergenceWarning, match="separated"):
        OrdinalRegression().fit(X, y)
    model = OrdinalRegression(alpha=1.0).fit(X, y)
    assert model.certificate_.converged
    # The optimum under a penalty is a combination of the rows.
    outside = model.coef_ - np.linalg.pinv(X - X.mean(axis=0)) @ (
        (X - X.mean(axis=0)) @ model.coef_
    )
    np.testing.assert_allclose(outside, 0, atol=1e-10)


@pytest.mark.parametrize("scale", [1e8, 1e-8])
def test_units_do_not_matter(scale: float) -> None:
    X, y = ordered_table(100)
    model, plain = OrdinalRegression().fit(X * scale, y), OrdinalRegression().fit(X, y)
    np.testing.assert_allclose(model.coef_ * scale, plain.coef_, rtol=1e-8)
    np.testing.assert_allclose(model.thresholds_, plain.thresholds_, rtol=1e-8)


def test_sparse_rows_and_empty_columns() -> None:
    X, y = ordered_table(100)
    X = np.where(np.abs(X) < 0.5, 0.0, X)
    X[:, 2] = 0.0
    dense = OrdinalRegression().fit(X, y)
    for kind in (sparse.csr_matrix, sparse.csc_array):
        model = OrdinalRegression().fit(kind(X), y)
        np.testing.assert_allclose(model.coef_, dense.coef_, rtol=1e-9, atol=1e-14)
        np.testing.assert_allclose(model.predict_proba(kind(X)), dense.predict_proba(X), rtol=1e-9)


def test_nominal_columns_are_coded_inside() -> None:
    frame, y = mixed_table()
    model = OrdinalRegression().fit(frame, y)
    assert model.coef_names_ == ("age", "color=red")
    coded = np.column_stack([frame["age"], frame["color"] == "red"])
    plain = OrdinalRegression().fit(coded.astype(float), y)
    np.testing.assert_allclose(model.coef_, plain.coef_, rtol=1e-9)


# --- Order of the classes -------------------------------------------------------------------------


def test_the_order_is_that_of_the_container() -> None:
    X, y = ordered_table(150)
    names = ["none", "some", "much", "all"]
    text = np.array(names)[y]
    numbers = OrdinalRegression().fit(X, y)
    frame = pd.Series(pd.Categorical(text, names, ordered=True))
    targets = [
        frame,
        frame.array,
        pl.Series(text.tolist(), dtype=pl.Enum(names)),
    ]
    for target in targets:
        model = OrdinalRegression().fit(X, target)
        assert model.classes_.tolist() == names
        np.testing.assert_allclose(model.coef_, numbers.coef_, rtol=1e-12)
    given = OrdinalRegression(classes=names).fit(X, text)
    np.testing.assert_allclose(given.coef_, numbers.coef_, rtol=1e-12)
    backwards = OrdinalRegression(classes=names[::-1]).fit(X, text)
    np.testing.assert_allclose(backwards.coef_, -numbers.coef_, rtol=1e-8)
    with pytest.warns(UnorderedTargetWarning, match="'all' < 'much' < 'none' < 'some'"):
        OrdinalRegression().fit(X, text)


def test_a_declared_class_without_rows_is_left_out() -> None:
    X, y = ordered_table(150)
    with pytest.warns(AbsentClassWarning, match="the class 9 of classes has no rows"):
        model = OrdinalRegression(classes=[0, 1, 9, 2, 3]).fit(X, y)
    assert model.classes_.tolist() == [0, 1, 2, 3]
    with pytest.raises(InputError, match=r"label 3, which is not among classes: 0, 1, 2"):
        OrdinalRegression(classes=[0, 1, 2]).fit(X, y)


# --- Streams, files, clusters ---------------------------------------------------------------------


def assert_same(model: OrdinalRegression, other: OrdinalRegression) -> None:
    np.testing.assert_allclose(model.coef_, other.coef_, rtol=1e-9)
    np.testing.assert_allclose(model.thresholds_, other.thresholds_, rtol=1e-9)
    np.testing.assert_allclose(model.covariance_, other.covariance_, rtol=1e-6)
    assert model.classes_.tolist() == other.classes_.tolist()
    assert model.coef_names_ == other.coef_names_


def test_chunks_give_the_fit_of_all_rows() -> None:
    frame, y = mixed_table(400)
    weight = np.random.default_rng(0).integers(0, 3, 400).astype(float)
    whole = OrdinalRegression().fit(frame, y, weight)
    # By color and class, so that no chunk has all levels and classes.
    order = np.lexsort([y, frame["color"]])
    parts = [order[:150], order[150:160], order[160:]]
    chunks = [(frame.iloc[p], y[p], weight[p]) for p in parts]
    assert_same(OrdinalRegression().fit_stream(chunks), whole)

    def fresh() -> Iterator[Any]:
        return iter(chunks)

    assert_same(OrdinalRegression().fit_stream(fresh), whole)
    with pytest.raises(InputError, match="used up after the first"):
        OrdinalRegression().fit_stream(iter(chunks))
    reversed_ = OrdinalRegression().fit_stream(chunks, classes=[2, 1, 0])
    assert reversed_.classes_.tolist() == [2, 1, 0]


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_files_give_the_fit_of_all_rows(kind: str, tmp_path: Path) -> None:
    frame, y = mixed_table(300)
    names = np.array(["low", "mid", "high"])
    table, path = frame.assign(grade=names[y]), tmp_path / f"table.{kind}"
    if kind == "csv":
        table.to_csv(path, index=False)
    else:
        pq.write_table(pa.Table.from_pandas(table, preserve_index=False), path)
    model = OrdinalRegression(classes=names.tolist())
    whole = clone(model).fit(frame, names[y])
    assert_same(clone(model).fit_file(path, target="grade", chunk_rows=70), whole)


def test_dask_gives_the_fit_of_all_rows() -> None:
    import dask.array as da

    X, y = ordered_table(300)
    collections = da.from_array(X, chunks=(90, 3)), da.from_array(y, chunks=90)
    assert_same(OrdinalRegression().fit_stream(collections), OrdinalRegression().fit(X, y))


def test_separation_is_seen_in_a_stream() -> None:
    X, y = np.arange(9.0)[:, np.newaxis], np.repeat([0, 1, 2], 3)
    chunks = [(X[i : i + 2], y[i : i + 2]) for i in range(0, 9, 2)]
    with pytest.warns(ConvergenceWarning, match=r"separated \(complete\)"):
        model = OrdinalRegression().fit_stream(chunks)
    assert model.certificate_.verdict is Verdict.UNBOUNDED


# --- Refusals -------------------------------------------------------------------------------------


def test_bad_input_is_named() -> None:
    X, y = ordered_table(20)
    with pytest.raises(InputError, match=r"two classes or more.*one class only.*class 1"):
        OrdinalRegression().fit(X, np.ones(20, int))
    with pytest.raises(InputError, match="one class only"):
        OrdinalRegression().fit(X, y, sample_weight=(y == 1).astype(float))
    holed = X.copy()
    holed[3, 1] = np.nan
    with pytest.raises(MissingValuesError, match="x1"):
        OrdinalRegression().fit(holed, y)
    with pytest.raises(NotFittedError):
        OrdinalRegression().predict(X)
    with pytest.raises(InputError, match="Labels of several types"):
        OrdinalRegression().fit_stream([(X, y), (X, np.array(["a", "b"])[y % 2])])
    with pytest.raises(ValueError, match="link"):
        OrdinalRegression("cauchit").fit(X, y)


def test_steps_that_run_out_are_announced() -> None:
    X, y = ordered_table(100)
    with pytest.warns(ConvergenceWarning, match="stopped early after 1 iterations"):
        model = OrdinalRegression(max_iter=1).fit(X, y)
    assert not model.certificate_.converged


def test_a_file_whose_parts_do_not_fit_is_refused() -> None:
    changes = (
        ("coef_", np.ones(2), "coef_"),
        ("thresholds_", np.array([3.0, 2.0, 1.0]), "not in order"),
        ("class_prior_", np.full(4, np.nan), "class_prior_"),
        ("covariance_", np.eye(2), "covariance"),
    )
    for name, value, message in changes:
        broken = OrdinalRegression().fit(*ordered_table(50))
        setattr(broken, name, value)
        with pytest.raises(ModelFileError, match=message):
            broken._check_state()


def test_a_separated_fit_is_saved_and_loaded(tmp_path: Path) -> None:
    from novum.core.files import load, save

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model = OrdinalRegression().fit(np.arange(9.0)[:, np.newaxis], np.repeat([0, 1, 2], 3))
    save(model, tmp_path / "model.novum")
    assert load(tmp_path / "model.novum").certificate_ == model.certificate_


def test_warnings_point_to_the_line_that_fits() -> None:
    X, y = np.array([[0.0], [1.0], [2.0], [3.0]]), np.array(["a", "a", "b", "b"])
    with pytest.warns(ConvergenceWarning, match="separated") as seen:
        OrdinalRegression(classes=["a", "b"]).fit(X, y)
    assert {warning.filename for warning in seen} == {__file__}
    with pytest.warns(AbsentClassWarning, match="the classes 'c', 'd' of classes have no rows"):
        OrdinalRegression(classes=["a", "b", "c", "d"], alpha=1.0).fit(X, y)
