"""Leaving one out by subtraction, against a fit without the row."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.model_selection import LeaveOneOut

from novum.bayes import (
    BernoulliColumn,
    BernoulliNB,
    CategoricalColumn,
    CategoricalNB,
    ComplementNB,
    CountsBlock,
    GaussianNB,
    ImpossibleRowWarning,
    MEstimate,
    MultinomialNB,
    NaiveBayes,
    StudentTColumn,
)
from novum.bayes.naive_bayes_engine import leave_one_out
from novum.core import exact_cross_val_predict
from novum.core.sums import SAFE_REMAINDER
from novum.core.tables import rows_of
from tests.bayes.naive_bayes_tables import codes, counts, mixed, numbers

COLUMNS = {
    "visits": BernoulliColumn(),
    "color": CategoricalColumn(MEstimate(3.0)),
    "belongings": CountsBlock(["cars", "pets"]),
}


def with_holes(X: Any) -> Any:
    holes = X.astype(float).copy()
    holes[np.random.default_rng(0).random(X.shape) < 0.15] = np.nan
    return holes


def tables() -> list[Any]:
    frame, y = mixed()
    whole = frame.assign(pets=frame["pets"].fillna(1.0))
    made = {
        "gaussian": (GaussianNB(), *numbers()),
        "gaussian with holes": (GaussianNB(), with_holes(numbers()[0]), numbers()[1]),
        "multinomial": (MultinomialNB(alpha=0.3), *counts()),
        "bernoulli": (BernoulliNB(), *counts()),
        "bernoulli with holes": (BernoulliNB(), with_holes(counts()[0]), counts()[1]),
        "sparse multinomial": (MultinomialNB(), sparse.csr_matrix(counts()[0]), counts()[1]),
        "sparse bernoulli": (BernoulliNB(), sparse.csr_matrix(counts()[0]), counts()[1]),
        "categorical": (CategoricalNB(), *codes()),
        "mixed": (NaiveBayes(columns=COLUMNS), whole, y),
    }
    return [pytest.param(*case, id=name) for name, case in made.items()]


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize(("model", "X", "y"), tables())
def test_scores_are_those_of_a_fit_without_the_row(
    model: Any, X: Any, y: Any, weighted: bool
) -> None:
    n = X.shape[0]
    weight = np.random.default_rng(1).integers(1, 4, n).astype(float) if weighted else None
    fitted = clone(model).fit(X, y, weight)
    sample = clone(model)._read(X, y, weight, None)
    statistics = fitted.statistics_.on(fitted.schema_)
    coded = sample.schema.recode(sample.codes, fitted.schema_)
    whole = replace(sample, schema=fitted.schema_, codes=coded)
    scores, remainder = leave_one_out(fitted._blocks, whole, statistics)
    assert (remainder >= SAFE_REMAINDER).all()
    for row in range(0, n, 7):
        rest = np.delete(np.arange(n), row)
        part = sample.rows(rest)
        other = clone(model).fit_statistics(model._sum(part))
        found = other.log_likelihood(rows_of(X, np.array([row])))[0, sample.target[row]]
        assert scores[row] == pytest.approx(found, rel=1e-9)


@pytest.mark.parametrize(
    ("model", "X", "y"),
    [
        *tables(),
        pytest.param(ComplementNB(), *counts(), id="complement"),
        pytest.param(GaussianNB(var_smoothing=0.1), *numbers(), id="smoothed"),
        pytest.param(NaiveBayes(numeric=StudentTColumn()), *numbers(), id="student"),
        pytest.param(NaiveBayes(columns=COLUMNS), *mixed(), id="counts with holes"),
    ],
)
def test_predictions_are_those_of_refits(model: Any, X: Any, y: Any) -> None:
    found = exact_cross_val_predict(model, X, y, LeaveOneOut())
    schema = model.statistics(X, y).schema
    for row in range(0, len(y), 5):
        rest = np.delete(np.arange(len(y)), row)
        sums = model.statistics(rows_of(X, rest), y[rest], schema=schema)
        expected = clone(model).fit_statistics(sums).predict(rows_of(X, np.array([row])))
        assert found[row] == expected[0]


def test_what_the_formula_cannot_do_is_marked() -> None:
    # Class 1 has two rows, so that the variance without one of them is zero.
    X = np.array([[0.0], [1.0], [2.0], [8.0], [9.0]])
    y = np.array([0, 0, 0, 1, 1])
    model = GaussianNB()
    _, remainder = model._leave_one_out(model._read(X, y, None, None))
    assert (remainder[3:] < SAFE_REMAINDER).all()
    assert (remainder[:3] >= SAFE_REMAINDER).all()
    # A class of one row has the least variance, which every row changes.
    _, remainder = model._leave_one_out(model._read(X[:4], y[:4], None, None))
    assert (remainder == 0).all()
    found = exact_cross_val_predict(model, X, y, LeaveOneOut())
    assert found.tolist() == [0, 0, 0, 0, 0]


def test_blocks_without_a_formula_are_known() -> None:
    student = NaiveBayes(numeric=StudentTColumn()).fit(*numbers())
    sample = student._read(*numbers(), None, None)
    with pytest.raises(AttributeError):
        leave_one_out(student._blocks, sample, student.statistics_)
    assert hasattr(GaussianNB(), "_leave_one_out")
    assert not hasattr(NaiveBayes(numeric=StudentTColumn()), "_leave_one_out")


def test_a_row_that_no_other_row_explains_gets_the_priors_of_the_others() -> None:
    X = np.array([["p"], ["q"], ["q"], ["r"], ["r"], ["r"]])
    model = NaiveBayes(categorical=CategoricalColumn(0.0))
    with pytest.warns(ImpossibleRowWarning, match="probability zero in every class"):
        found = exact_cross_val_predict(model, X, list("bbaabb"), LeaveOneOut())
    # Without "p", b has three of five rows.
    assert found[0] == "b"
    # Without a "q", only the other class has one.
    assert found[1:3].tolist() == ["a", "b"]
