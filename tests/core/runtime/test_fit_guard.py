"""Fitting: all or nothing, on one BLAS thread, with a clock."""

import inspect
import sys
import time
from collections.abc import Callable
from itertools import count
from types import FrameType, SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
import pytest
import threadpoolctl
from sklearn import get_config, set_config

from novum.core.runtime import fitted_model, fitting
from novum.linear import LinearRegression


def blas_threads() -> set[int]:
    libraries = threadpoolctl.threadpool_info()
    return {lib["num_threads"] for lib in libraries if lib["user_api"] == "blas"}


def failing(model: Any, error: BaseException, **changes: Any) -> None:
    """A fit that changes attributes, forgets one, and then fails."""
    with fitting(model):
        vars(model).update(changes)
        vars(model).pop("old_", None)
        raise error


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt, SystemExit, MemoryError])
def test_whatever_is_raised_leaves_the_estimator_as_it_was(error: type[BaseException]) -> None:
    coef = np.ones(3)
    model = SimpleNamespace(alpha=1.0, coef_=coef, old_="old")
    with pytest.raises(error):
        failing(model, error(), alpha=2.0, coef_=np.zeros(3), new_="new")
    assert vars(model) == {"alpha": 1.0, "coef_": coef, "old_": "old"}
    assert model.coef_ is coef


def test_a_fit_that_comes_to_its_end_is_kept() -> None:
    model = SimpleNamespace(old_=1)
    with fitting(model):
        model.old_ = 2
        model.new_ = 3
    assert vars(model) == {"old_": 2, "new_": 3}


def test_an_inner_fit_that_is_caught_takes_back_only_its_own_changes() -> None:
    model = SimpleNamespace()
    with fitting(model):
        model.outer_ = 1
        with pytest.raises(ValueError, match="inner"):
            failing(model, ValueError("inner"), outer_=2, inner_=3)
        assert vars(model) == {"outer_": 1}
    assert vars(model) == {"outer_": 1}


def test_blas_has_one_thread_inside_and_its_own_number_after() -> None:
    before = blas_threads()
    with fitting(SimpleNamespace()):
        assert blas_threads() == {1}
    assert blas_threads() == before
    with pytest.raises(RuntimeError):
        failing(SimpleNamespace(), RuntimeError())
    assert blas_threads() == before


def test_the_clock_runs() -> None:
    with fitting(SimpleNamespace()) as watch:
        time.sleep(0.01)
        assert watch.seconds >= 0.01


def bad_fits() -> list[Callable[[Any], Any]]:
    return [
        lambda model: model.fit([[1.0], [np.nan]], [1.0, 2.0]),
        lambda model: model.fit(pd.DataFrame({"other": [1.0, 2.0]}), [1.0]),
        lambda model: model.fit([["a"], [object()]], [1.0, 2.0]),
        lambda model: model.fit([[1.0], [2.0]], [1.0, 2.0], sample_weight=[0, 0]),
        lambda model: model.partial_fit(pd.DataFrame({"x": [1.0], "z": [2.0]}), [1.0]),
        lambda model: model.fit_stream([([[1.0]], [1.0]), ([[1.0]], [np.inf])]),
        lambda model: model.fit_statistics(model.statistics_.zero()),
    ]


@pytest.mark.parametrize("fit", bad_fits())
def test_a_real_model_survives_every_failed_fit(fit: Callable[[Any], Any]) -> None:
    X = pd.DataFrame({"x": [0.0, 1.0, 2.0]})
    model = LinearRegression().fit(X, [1.0, 3.0, 5.5])
    before, prediction = dict(vars(model)), model.predict(X)
    with pytest.raises(ValueError, match=r"\w"):
        fit(model)
    assert vars(model).keys() == before.keys()
    assert all(vars(model)[name] is value for name, value in before.items())
    np.testing.assert_array_equal(model.predict(X), prediction)


def test_a_fresh_model_stays_fresh_after_a_failed_fit() -> None:
    model = LinearRegression()
    before = dict(vars(model))
    with pytest.raises(ValueError, match="Input X contains NaN"):
        model.fit([[np.nan]], [1.0])
    assert vars(model) == before


def test_a_fitted_model_is_the_model_itself_whatever_its_fit_returns() -> None:
    given: list[Any] = []

    def fit(*data: Any, **params: Any) -> None:
        given.append((data, params))

    model = SimpleNamespace(fit=fit)
    assert fitted_model(model, [1.0], sample_weight=[2.0]) is model
    assert fitted_model(model, [1.0], [3.0]) is model
    assert given == [(([1.0],), {"sample_weight": [2.0]}), (([1.0], [3.0]), {})]


def test_settings_of_scikit_learn_survive_an_interrupt_at_any_line() -> None:
    X, y = np.arange(6.0).reshape(3, 2), np.arange(3.0)
    before, interrupted = get_config(), 0
    codes = {inspect.unwrap(set_config).__code__, LinearRegression.fit.__code__}
    for moment in count(1):
        passed = 0

        def trace(frame: FrameType, event: str, _: object, moment: int = moment) -> Any:
            nonlocal passed
            if frame.f_code not in codes:
                return None
            passed += event == "line"
            if passed == moment:
                sys.settrace(None)
                raise KeyboardInterrupt
            return trace

        outer = sys.gettrace()
        sys.settrace(trace)
        try:
            LinearRegression().fit(X, y)
            break
        except KeyboardInterrupt:
            interrupted += 1
        finally:
            sys.settrace(outer)
        assert get_config() == before, moment
    assert interrupted > 20
