"""Every class behind a public door, with default arguments: one contract for all of them.

Exceptions are named in `docs/extend/estimators.md`, with their reason; one that is none any more is
an error here.
"""

from __future__ import annotations

import pickle
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from sklearn.base import clone
from sklearn.utils.estimator_checks import check_estimator
from sklearn.utils.validation import has_fit_parameter

from novum.core.errors import InputError
from novum.core.learners.contracts import Case, check_name, estimator_checks, predictions
from tests.strategies.every_class import N, classes, default, exceptions, table_for

CLASSES = list(classes().values())
WEIGHED = [own for own in CLASSES if has_fit_parameter(default(own), "sample_weight")]


def predicts(own: type) -> bool:
    """Whether a fitted model says something of rows that it has not seen."""
    model = default(own)
    return any(hasattr(model, name) for name in ("predict", "transform", "score_samples"))


REPEATED = np.arange(N) % 3 + 1
KEPT = np.arange(N) % 4 > 0
CONTRACT = {check_name(check): check for check in estimator_checks()}


def named(own: type) -> str:
    return own.__name__


@contextmanager
def expected(own: type, check: str) -> Iterator[None]:
    """What is named as an exception must fail, anything else must hold."""
    if check not in exceptions().get(own.__name__, ()):
        yield
        return
    with pytest.raises((AssertionError, InputError, ValueError)):
        yield


@pytest.fixture(autouse=True)
def _quiet() -> Iterator[None]:
    """Sixty rows are few for some, and defaults stop early on them; raw warnings stay errors."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        warnings.simplefilter("error", RuntimeWarning)
        yield


def fitted(own: type, X: Any, y: Any, **more: Any) -> Any:
    return default(own).fit(X, y, **more) if y is not None else default(own).fit(X, **more)


def answers(model: Any, X: Any) -> Any:
    """What a model says of rows; of a clusterer without predictions, the labels of its own."""
    try:
        return predictions(model, X)
    except InputError:
        if hasattr(model, "kneighbors"):
            return model.kneighbors(X)[0]
        return model.labels_ if hasattr(model, "labels_") else model.negative_outlier_factor_


def assert_same(actual: Any, wanted: Any, rtol: float) -> None:
    actual, wanted = np.asarray(actual), np.asarray(wanted)
    if wanted.dtype.kind in "fc":
        size = float(np.abs(wanted[np.isfinite(wanted)]).max(initial=0.0))
        np.testing.assert_allclose(actual, wanted, rtol=rtol, atol=rtol * size)
    else:
        np.testing.assert_array_equal(actual, wanted)


def rows_of(y: Any, rows: Any) -> Any:
    return None if y is None else y[rows]


@pytest.mark.parametrize("own", WEIGHED, ids=named)
def test_weights_are_repetitions_and_zero_is_absence(own: type) -> None:
    X, y = table_for(default(own))
    with expected(own, "weights"):
        if predicts(own):
            rows = np.repeat(np.arange(N), REPEATED)
            weighted = fitted(own, X, y, sample_weight=REPEATED.astype(float))
            assert_same(
                answers(weighted, X), answers(fitted(own, X[rows], rows_of(y, rows)), X), 1e-6
            )
        zeros = fitted(own, X, y, sample_weight=KEPT.astype(float))
        absent = fitted(own, X[KEPT], rows_of(y, KEPT))
        if predicts(own):
            assert_same(answers(zeros, X), answers(absent, X), 1e-6)
        else:
            assert_same(answers(zeros, X)[KEPT], answers(absent, X[KEPT]), 1e-6)


@pytest.mark.parametrize("own", WEIGHED, ids=named)
def test_attributes_of_rows_have_an_entry_for_every_row(own: type) -> None:
    X, y = table_for(default(own))
    everybody, some = fitted(own, X, y), fitted(own, X, y, sample_weight=KEPT.astype(float))
    for name in ("labels_", "label_codes_", "transduction_", "labeled_iter_", "oob_prediction_"):
        if np.shape(getattr(everybody, name, None))[:1] == (N,):
            assert np.shape(getattr(some, name))[:1] == (N,)


@pytest.mark.slow
@pytest.mark.parametrize("own", CLASSES, ids=named)
def test_containers_order_of_columns_and_pickles_change_nothing(own: type) -> None:
    X, y = table_for(default(own))
    names = list("abcd")[: X.shape[1]]
    model = fitted(own, X, y)
    wanted = answers(model, X)
    assert_same(answers(pickle.loads(pickle.dumps(model)), X), wanted, 0.0)
    frames = (
        pd.DataFrame(X, columns=names),
        pl.DataFrame(X, schema=names),
        pa.table(dict(zip(names, X.T, strict=True))),
    )
    for frame in frames:
        assert_same(answers(fitted(own, frame, y), frame), wanted, 1e-9)
    order = np.arange(X.shape[1])[::-1]
    with expected(own, "columns"):
        turned = fitted(own, X[:, order], y)
        if hasattr(own, "get_support"):
            np.testing.assert_array_equal(turned.get_support()[order], model.get_support())
        else:
            assert_same(answers(turned, X[:, order]), wanted, 1e-6)


@pytest.mark.slow
@pytest.mark.parametrize("own", CLASSES, ids=named)
def test_a_mixed_table_and_one_row_are_taken_or_refused_in_a_sentence(own: type) -> None:
    X, y = table_for(default(own))
    mixed = pd.DataFrame(X, columns=list("abcd")[: X.shape[1]])
    mixed["level"] = np.array(["x", "y", "z"])[np.arange(N) % 3]
    gaps = mixed.copy()
    gaps.loc[::7, "a"] = np.nan
    for table, target in ((mixed, y), (gaps, y), (X[:1], rows_of(y, slice(0, 1)))):
        sentence = refusal(own, table, target)
        assert not sentence or (len(sentence.split()) > 3 and sentence[-1] in ".:)"), sentence


def refusal(own: type, X: Any, y: Any) -> str:
    """The message with which a table is refused, if it is."""
    try:
        answers(fitted(own, X, y), X)
    except ValueError as error:
        return str(error).rstrip()
    return ""


@pytest.mark.slow
@pytest.mark.parametrize("check", CONTRACT)
@pytest.mark.parametrize("own", [own for own in CLASSES if predicts(own)], ids=named)
def test_contract(own: type, check: str) -> None:
    with expected(own, check):
        CONTRACT[check](Case(clone(default(own)), *table_for(default(own))))


@pytest.mark.slow
@pytest.mark.timeout(900)
@pytest.mark.parametrize("own", CLASSES, ids=named)
def test_scikit_learns_checks(own: type) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        results = check_estimator(default(own), on_fail=None)
    failed = {result["check_name"] for result in results if result["status"] == "failed"}
    named = {name for name in exceptions().get(own.__name__, ()) if name.startswith("check_")}
    assert failed == named - set(CONTRACT)


def test_exceptions_are_of_classes_that_are_there() -> None:
    assert set(exceptions()) <= set(classes())
