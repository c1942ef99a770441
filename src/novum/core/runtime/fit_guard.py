"""What every fit has in common: it succeeds, or the estimator is as it was before.

A fit that fails, or that a person interrupts, must not leave half of a model behind. The fitted
attributes are therefore put back when anything is raised. BLAS is held to one thread, so that the
bits of a result do not depend on the machine's cores.

`fitted_model` fits a learner inside a learner: what counts is the learner itself, since some
have a `fit` that returns nothing.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from novum.core.learners import Stopwatch
from novum.numerics import one_blas_thread


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
        with one_blas_thread():
            yield Stopwatch()
    except BaseException:
        vars(estimator).clear()
        vars(estimator).update(before)
        raise


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
