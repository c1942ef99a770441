"""The generalized linear models of scikit-learn's names: counts, amounts, and what is between."""

from __future__ import annotations

from typing import Any

from novum.core.learners import parameter
from novum.linear.generalized.laws import Law, Link, Tweedie
from novum.linear.generalized.model import GeneralizedRegression

_SOLVERS = {"lbfgs", "newton-cholesky"}


class PoissonRegressor(GeneralizedRegression):
    """Counts: `GeneralizedLinearModel("poisson")` with scikit-learn's parameters.

    Minimizes `sum_i w_i (m_i - y_i log m_i) / W + alpha |b|^2 / 2` with
    `log m = b0 + x'b + offset`.

    Parameters
    ----------
    alpha : float, default=1.0
        Strength of the L2 penalty.
    penalty : L1, L2, ElasticNetPenalty, AdaptiveL1 or Groups, optional
        Takes the place of the L2 penalty.
    fit_intercept, max_iter, tol, warm_start, categorical_features
        As for `GeneralizedLinearModel`.
    solver, verbose
        Without effect: Fisher scoring is always taken.

    Attributes
    ----------
    coef_, intercept_, coef_names_, summary_, certificate_, n_iter_, schema_
        As those of `GeneralizedLinearModel`.

    Notes
    -----
    As for `GeneralizedLinearModel`; `fit(exposure=)` and `predict(exposure=)` take exposures.

    Examples
    --------
    >>> import numpy as np
    >>> from novum.linear import PoissonRegressor
    >>> model = PoissonRegressor(alpha=0.0).fit([[0], [0], [1], [1]], [1, 3, 5, 7])
    >>> model.predict([[0], [1]]).round(9)
    array([2., 6.])
    """

    alpha = 1.0
    solver: str = parameter(_SOLVERS, default="lbfgs")
    verbose: Any = parameter("verbose", default=0)

    def _parts(self) -> tuple[Any, Link]:
        return Law("poisson"), Link("log")


class GammaRegressor(GeneralizedRegression):
    """Amounts above zero: `GeneralizedLinearModel("gamma")` with scikit-learn's parameters.

    Minimizes `sum_i w_i (log m_i + y_i / m_i) / W + alpha |b|^2 / 2` with
    `log m = b0 + x'b + offset`.

    Parameters
    ----------
    alpha : float, default=1.0
        Strength of the L2 penalty.
    penalty : L1, L2, ElasticNetPenalty, AdaptiveL1 or Groups, optional
        Takes the place of the L2 penalty.
    fit_intercept, max_iter, tol, warm_start, categorical_features
        As for `GeneralizedLinearModel`.
    solver, verbose
        Without effect: Fisher scoring is always taken.

    Attributes
    ----------
    coef_, intercept_, coef_names_, summary_, certificate_, n_iter_, schema_
        As those of `GeneralizedLinearModel`.

    Examples
    --------
    >>> from novum.linear import GammaRegressor
    >>> model = GammaRegressor(alpha=0.0).fit([[0], [0], [1], [1]], [1, 3, 5, 7])
    >>> model.predict([[0], [1]]).round(9)
    array([2., 6.])
    """

    alpha = 1.0
    solver: str = parameter(_SOLVERS, default="lbfgs")
    verbose: Any = parameter("verbose", default=0)

    def _parts(self) -> tuple[Any, Link]:
        return Law("gamma"), Link("log")


class TweedieRegressor(GeneralizedRegression):
    """Targets of variance `mean^power`, with scikit-learn's parameters.

    Parameters
    ----------
    power : float, default=0.0
        0 is the Gaussian law, 1 Poisson's, 2 the gamma law; between 1 and 2 are sums of amounts.
    alpha : float, default=1.0
        Strength of the L2 penalty.
    link : {"auto", "identity", "log"}, default="auto"
        The identity for `power=0`, else the log.
    fit_intercept, max_iter, tol, warm_start, categorical_features
        As for `GeneralizedLinearModel`.
    solver, verbose
        Without effect: Fisher scoring is always taken.

    Attributes
    ----------
    coef_, intercept_, coef_names_, summary_, certificate_, n_iter_, schema_
        As those of `GeneralizedLinearModel`.

    Examples
    --------
    >>> from novum.linear import TweedieRegressor
    >>> model = TweedieRegressor(power=1.5, alpha=0.0).fit([[0], [0], [1], [1]], [0, 4, 5, 7])
    >>> model.predict([[0], [1]]).round(6)
    array([2., 6.])
    """

    alpha = 1.0
    power: float = parameter(default=0.0)
    link: str = parameter({"auto", "identity", "log"}, default="auto")
    solver: str = parameter(_SOLVERS, default="lbfgs")
    verbose: Any = parameter("verbose", default=0)

    def _parts(self) -> tuple[Any, Link]:
        chosen = ("identity" if self.power <= 0 else "log") if self.link == "auto" else self.link
        return Tweedie(float(self.power)), Link(chosen)
