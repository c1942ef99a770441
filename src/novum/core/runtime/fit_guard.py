"""What every fit has in common: it succeeds, or the estimator is as it was before.

A fit that fails, or that a person interrupts, must not leave half of a model behind. The fitted
attributes are therefore put back when anything is raised. BLAS is held to one thread, so that the
bits of a result do not depend on the machine's cores.

`fit_context` does what scikit-learn's does: it checks the parameters, and says by scikit-learn's
settings that nested fits need not. An interrupt that came while scikit-learn's puts the settings
back would leave them changed for the rest of the process.

`fitted_model` fits a learner inside a learner: what counts is the learner itself, since some
have a `fit` that returns nothing.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from typing import Any

from sklearn import get_config, set_config
from sklearn.utils.validation import _is_fitted

from novum.core.learners import Stopwatch
from novum.core.runtime.interrupts import own_deadline
from novum.numerics import one_blas_thread

try:
    from sklearn.callback._callback_support import callback_management_context
except ImportError:  # before scikit-learn 1.9
    callback_management_context = nullcontext


@contextmanager
def fitting(estimator: Any) -> Iterator[Stopwatch]:
    """Runs a fit; restores the estimator's attributes if it does not come to its end.

    Examples
    --------
    >>> from types import SimpleNamespace
    >>> model = SimpleNamespace(mean_=1.0)
    >>> try:
    ...     with fitting(model):
    ...         model.mean_ = 2.0
    ...         raise KeyboardInterrupt
    ... except KeyboardInterrupt:
    ...     model.mean_
    1.0
    """
    before = dict(vars(estimator))
    try:
        with one_blas_thread(), own_deadline():
            yield Stopwatch()
    except BaseException:
        vars(estimator).clear()
        vars(estimator).update(before)
        raise


def fit_context(*, prefer_skip_nested_validation: bool) -> Callable[[Any], Any]:
    """Decorates a fit: parameters are checked first, and scikit-learn's settings are kept.

    Parameters
    ----------
    prefer_skip_nested_validation : bool
        False for learners that fit learners of a user, whose parameters nobody has checked.
    """

    def decorator(fit: Any) -> Any:
        goes_on = fit.__name__ == "partial_fit"

        @functools.wraps(fit)
        def wrapper(estimator: Any, *arguments: Any, **keywords: Any) -> Any:
            settings = get_config()
            is_checked = settings["skip_parameter_validation"]
            if not is_checked and not (goes_on and _is_fitted(estimator)):
                estimator._validate_params()
            try:
                set_config(skip_parameter_validation=prefer_skip_nested_validation or is_checked)
                with callback_management_context(estimator):
                    model = fit(estimator, *arguments, **keywords)
                set_config(**settings)
                return model
            except BaseException:
                set_config(**settings)
                raise

        return wrapper

    return decorator


def fitted_model(model: Any, X: Any, y: Any = None, /, **params: Any) -> Any:
    """The model itself after its `fit`, whatever that returns; without targets where `y` is None.

    Examples
    --------
    >>> class Mean:
    ...     def fit(self, X):
    ...         self.mean_ = sum(X) / len(X)
    >>> fitted_model(Mean(), [1.0, 2.0, 6.0]).mean_
    3.0
    """
    if y is None:
        model.fit(X, **params)
    else:
        model.fit(X, y, **params)
    return model
