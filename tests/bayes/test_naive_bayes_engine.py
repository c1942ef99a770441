"""What all naive Bayes models share: scikit-learn's checks, the contracts, nasty input."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.exceptions import NotFittedError
from sklearn.utils.estimator_checks import parametrize_with_checks

from novum.bayes import (
    BernoulliNB,
    CategoricalNB,
    ComplementNB,
    GaussianNB,
    ImpossibleRowWarning,
    MultinomialNB,
    NaiveBayes,
    StudentTColumn,
)
from novum.core import ModelFileError, WorkingPoint, load, save
from novum.core.errors import InputError, MissingValuesError
from novum.core.learners import Case, Check
from novum.core.learners.contracts import check_bits_in_new_processes, check_name, estimator_checks
from novum.core.sums.contracts import statistics_checks
from tests.bayes.naive_bayes_tables import (
    codes,
    counts,
    mixed,
    mixed_model,
    numbers,
)

NUMERIC = [
    GaussianNB(),
    GaussianNB(var_smoothing=1e-9),
    MultinomialNB(),
    BernoulliNB(),
    ComplementNB(),
    ComplementNB(norm=True),
    NaiveBayes(),
    NaiveBayes(numeric=StudentTColumn()),
]
NOMINAL = [CategoricalNB(), NaiveBayes(categorical_features="all")]


# --- scikit-learn's checks and the contracts ------------------------------------------------------


@parametrize_with_checks(NUMERIC, legacy=True)
def test_scikit_learn_checks(estimator: Any, check: Callable[[Any], None]) -> None:
    check(estimator)


@pytest.mark.filterwarnings("ignore::novum.core.errors.UnseenLevelWarning")
@parametrize_with_checks(NOMINAL, legacy=True)
def test_scikit_learn_checks_on_nominal_columns(
    estimator: Any, check: Callable[[Any], None]
) -> None:
    check(estimator)


def cases() -> list[Any]:
    made = {
        "gaussian": Case(GaussianNB(), *numbers()),
        "scikit-learn's gaussian": Case(GaussianNB(var_smoothing=1e-9), *numbers()),
        "student": Case(NaiveBayes(numeric=StudentTColumn()), *numbers()),
        "multinomial": Case(MultinomialNB(), *counts()),
        "bernoulli": Case(BernoulliNB(), *counts()),
        "complement": Case(ComplementNB(), *counts()),
        "categorical": Case(CategoricalNB(), *codes()),
        "mixed": Case(mixed_model(), *mixed()),
    }
    return [pytest.param(case, id=name) for name, case in made.items()]


@pytest.mark.parametrize("check", estimator_checks(), ids=check_name)
@pytest.mark.parametrize("case", cases())
def test_contract(case: Case, check: Check) -> None:
    check(case)


@pytest.mark.parametrize("check", statistics_checks(), ids=check_name)
@pytest.mark.parametrize("case", cases())
def test_contract_of_statistics(case: Case, check: Check) -> None:
    check(case)


@pytest.mark.slow
def test_bits_do_not_depend_on_the_number_of_threads() -> None:
    # Large enough for the compiled path.
    check_bits_in_new_processes(Case(GaussianNB(), *numbers(6000, 50)))


# --- Labels, priors, partial fits -----------------------------------------------------------------


def test_labels_may_be_text_booleans_and_wide_integers() -> None:
    X, y = numbers(30, 2, 2)
    reference = GaussianNB().fit(X, y)
    for labels in (
        np.array(["no", "yes"]),
        np.array([False, True]),
        np.array([-5, 2**40]),
        np.array([250, 255], np.uint8),
    ):
        model = GaussianNB().fit(X, labels[y])
        assert model.classes_.dtype == labels.dtype
        assert model.predict(X).tolist() == labels[reference.predict(X)].tolist()


def test_a_class_of_weight_zero_is_absent() -> None:
    X, y = numbers()
    model = GaussianNB().fit(X, y, sample_weight=(y != 1).astype(float))
    assert model.classes_.tolist() == [0, 2]
    np.testing.assert_allclose(model.theta_, GaussianNB().fit(X[y != 1], y[y != 1]).theta_)


@pytest.mark.parametrize("case", cases())
def test_a_declared_class_without_rows_is_never_predicted(case: Case) -> None:
    model = type(case.model)(**case.model.get_params()).partial_fit(
        case.X, case.y, classes=[0, 1, 2, 9]
    )
    assert model.classes_.tolist() == [0, 1, 2, 9]
    posterior = model.predict_proba(case.X)
    assert np.isfinite(posterior).all()
    assert (posterior[:, 3] == 0).all()
    known = model.classes_[model.class_count_ > 0]
    found = case.fitted().predict_proba(case.X)
    np.testing.assert_allclose(posterior[:, np.isin(model.classes_, known)], found, rtol=1e-9)


def test_partial_fit_refuses_labels_that_were_not_declared() -> None:
    X, y = numbers()
    with pytest.raises(InputError, match=r"\[2\] in y do not exist in the initial classes"):
        GaussianNB().partial_fit(X, y, classes=[0, 1])
    model = GaussianNB().partial_fit(X, y, classes=[0, 1, 2])
    with pytest.raises(InputError, match="not the same as on last call"):
        model.partial_fit(X, y, classes=[0, 1, 2, 3])


def test_later_batches_may_bring_new_classes() -> None:
    X, y = numbers()
    order = np.argsort(y, kind="stable")
    model = GaussianNB()
    for rows in np.array_split(order, 4):
        model.partial_fit(X[rows], y[rows])
    np.testing.assert_allclose(model.theta_, GaussianNB().fit(X, y).theta_, rtol=1e-12)


@pytest.mark.parametrize(
    ("priors", "message"),
    [
        ([0.5, 0.5], "Number of priors must match"),
        ([0.5, 0.6, 0.2], "sum of the priors should be 1"),
        ([1.5, -0.5, 0.0], "non-negative"),
    ],
)
def test_impossible_priors_are_named(priors: list[float], message: str) -> None:
    with pytest.raises(InputError, match=message):
        GaussianNB(priors=priors).fit(*numbers())


def test_given_priors_replace_the_counts() -> None:
    X, y = numbers()
    model = GaussianNB(priors=[0.2, 0.3, 0.5]).fit(X, y)
    gap = model.predict_joint_log_proba(X) - model.log_likelihood(X)
    np.testing.assert_allclose(gap, np.broadcast_to(np.log([0.2, 0.3, 0.5]), gap.shape))


def test_working_point_moves_the_decision() -> None:
    X, y = numbers(200, 1, 2)
    model = GaussianNB().fit(X, y)
    rare = model.at(WorkingPoint.binary(prior=0.01, cost_fn=1, cost_fp=1))
    assert rare.predict(X).sum() < model.predict(X).sum()


# --- Rows without information ---------------------------------------------------------------------


@pytest.mark.parametrize("case", cases())
def test_a_row_of_missing_cells_gets_the_priors(case: Case) -> None:
    model = case.fitted()
    if isinstance(case.X, pd.DataFrame):
        empty: Any = case.X.reindex([-1])
    else:
        empty = np.full((1, case.X.shape[1]), np.nan)
    if isinstance(case.model, ComplementNB):
        expected = np.full(2, 0.5)  # its scores have no priors
    else:
        expected = model.class_prior_
    np.testing.assert_allclose(model.predict_proba(empty)[0], expected, rtol=1e-12)


def test_a_row_that_is_impossible_everywhere_is_said_so() -> None:
    model = MultinomialNB(alpha=0.0).fit([[1, 0, 0], [0, 1, 0]], [0, 1])
    with pytest.warns(ImpossibleRowWarning, match="1 of 2 rows have probability zero"):
        found = model.predict_proba([[0, 0, 1], [1, 0, 0]])
    assert found.tolist() == [[0.5, 0.5], [1.0, 0.0]]


def test_nan_in_a_sparse_table_is_refused() -> None:
    X = sparse.csr_matrix([[1.0, np.nan], [0, 2]])
    for model in (MultinomialNB(), BernoulliNB(), ComplementNB()):
        with pytest.raises(MissingValuesError, match="row 0, column 1"):
            model.fit(X, [0, 1])
        with pytest.raises(MissingValuesError, match="row 0, column 1"):
            model.fit(np.eye(2), [0, 1]).predict(X)


def test_unfitted_models_say_so() -> None:
    for model in (*NUMERIC, *NOMINAL):
        with pytest.raises(NotFittedError):
            model.predict([[1.0]])
        with pytest.raises(NotFittedError):
            model.sample(3)


# --- Explanations and samples ---------------------------------------------------------------------


@pytest.mark.parametrize("case", cases())
def test_contributions_sum_to_the_log_odds(case: Case) -> None:
    model = case.fitted()
    joint = model.predict_joint_log_proba(case.X)
    for row in range(0, case.n_rows, 7):
        one = case.rows(np.array([row]))[0]
        found = model.explain(one)
        order = np.argsort(-joint[row])
        if not isinstance(case.model, ComplementNB):
            assert found.log_odds == pytest.approx(joint[row][order[0]] - joint[row][order[1]])
        assert found.label == model.predict(one)[0]


def test_explanation_of_chosen_classes() -> None:
    X, y = numbers()
    model = GaussianNB().fit(X, y)
    forth, back = model.explain(X[0], 0, 2), model.explain(X[0], 2, 0)
    np.testing.assert_allclose(forth.contributions, -back.contributions)
    with pytest.raises(InputError, match="7 is not a class"):
        model.explain(X[0], 7)
    with pytest.raises(InputError, match="two classes, but both are 2"):
        model.explain(X[0], 2, 2)
    with pytest.raises(InputError, match="one row, got 2"):
        model.explain(X[:2])
    with pytest.raises(InputError, match="one class only"):
        GaussianNB().fit(X, np.zeros(len(X), int)).explain(X[0])


@pytest.mark.parametrize("case", cases())
def test_samples_have_the_moments_of_the_model(case: Case) -> None:
    model = case.fitted()
    if isinstance(case.model, ComplementNB):
        with pytest.raises(InputError, match="no law to draw from"):
            model.sample(3)
        return
    X, y = model.sample(20_000, random_state=0)
    shares = np.array([(y == label).mean() for label in model.classes_])
    # Four standard errors of a share of 20,000.
    np.testing.assert_allclose(shares, model.class_prior_, atol=4 * 0.5 / np.sqrt(20_000))
    again = type(case.model)(**case.model.get_params()).fit(X, y)
    if isinstance(case.model, GaussianNB):
        np.testing.assert_allclose(again.theta_, model.theta_, atol=0.1)
    if isinstance(case.model, MultinomialNB):
        np.testing.assert_allclose(again.feature_log_prob_, model.feature_log_prob_, atol=0.1)
    if isinstance(case.model, CategoricalNB):
        for a, b in zip(again.feature_log_prob_, model.feature_log_prob_, strict=True):
            np.testing.assert_allclose(np.exp(a), np.exp(b), atol=0.03)


def test_a_sample_of_one_class_and_its_repetition() -> None:
    X, y = mixed()
    model = mixed_model().fit(X, y)
    drawn, labels = model.sample(5, label=2, random_state=1)
    assert labels.tolist() == [2] * 5
    assert drawn.column_names == list(X.columns)
    assert drawn.equals(model.sample(5, label=2, random_state=1)[0])


# --- Model files ----------------------------------------------------------------------------------


def test_a_file_whose_parts_do_not_fit_is_refused(tmp_path: Any) -> None:
    X, y = numbers()
    for attribute, value in (
        ("class_prior_", np.array([0.5, 0.5, 0.5])),
        ("class_count_", np.ones(2)),
    ):
        model = GaussianNB().fit(X, y)
        setattr(model, attribute, value)
        save(model, tmp_path / "model.novum")
        with pytest.raises(ModelFileError):
            load(tmp_path / "model.novum")
