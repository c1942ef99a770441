"""What every fit has in common: it succeeds, or the estimator is as it was before.

A fit that fails, or that a person interrupts, must not leave half of a model behind. The fitted
attributes are therefore put back when anything is raised. BLAS is held to one thread, so that the
bits of a result do not depend on the machine's cores.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from novum.core.certificate import Stopwatch
from novum.numerics.blas_threads import one_blas_thread


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
