"""Paths: the solutions for a falling series of penalties, each started from the one before.

The largest penalty that matters is the one at which the first column comes in,

    alpha_max = max_j |A_j't| / l1_ratio,

and the series falls from there by equal factors to `eps alpha_max`. From one penalty to the next
`A_j'r` moves by no more than the change of the penalty, nearly always (the strong rule, Tibshirani
et al. 2012): columns with `|A_j'r| >= 2 alpha - alpha_before` are taken into the working set at
once. The rule may err, the look at all columns that follows does not.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from novum.core.errors import InputError
from novum.core.runtime import check_cancelled
from novum.core.tables import Coding, Sample, check_sample
from novum.display import Axis, Chart, Line
from novum.linear.least_squares.ridge import strengths
from novum.linear.sparse.columns import checked_targets, columns_of
from novum.linear.sparse.objective import Penalty
from novum.linear.sparse.solver import Problem, Products, SparseSolution
from novum.numerics import Floats, Positions, one_blas_thread


class RegularizationPath(NamedTuple):
    """Solutions along a path; unpacks like the triple of scikit-learn's `lasso_path`.

    Attributes
    ----------
    alphas : array (n_alphas,)
        Falling.
    coefs : array (n_columns, n_alphas) or (n_targets, n_columns, n_alphas)
    dual_gaps : array (n_alphas,) or (n_targets, n_alphas)
        Each at most `tol` times the objective there.
    """

    alphas: Floats
    coefs: Floats
    dual_gaps: Floats

    def chart(self, most: int = 12) -> Chart:
        """Coefficients over the penalty; the `most` largest have lines of their own color."""
        coefs = self.coefs.reshape(-1, len(self.alphas))
        order = np.argsort(-np.abs(coefs).max(axis=1), kind="stable")
        drawn = [j for j in order if coefs[j].any()]
        marks = [
            Line(self.alphas, coefs[j], f"column {j}" if k < most else "",
                 k if k < most else "muted", opacity=1.0 if k < most else 0.4)
            for k, j in reversed(list(enumerate(drawn)))
        ]  # fmt: skip
        text = f"{len(drawn)} of {len(coefs)} coefficients differ from zero somewhere."
        return Chart(Axis("alpha", log=True), Axis("coefficient"), marks, "Path", text)


def largest_alpha(fits: Floats, l1_ratio: float, positive: bool) -> float:
    """The smallest penalty without any column, from `fits = A't`."""
    pull = fits if positive else np.abs(fits)
    return float(np.max(pull, initial=0.0)) / l1_ratio


def alpha_grid(top: float, eps: float, number: int) -> Floats:
    """A falling series from `top` to `eps top`.

    >>> alpha_grid(8.0, 0.125, 4).tolist()
    [8.0, 4.0, 2.0, 1.0]
    """
    if not top > 0:
        # No column says anything: every penalty has the same solution.
        return np.full(number, np.finfo(float).resolution)
    grid = top * np.geomspace(1.0, eps, number)
    return np.asarray(grid)


def solutions(
    problem: Problem,
    alphas: Floats,
    l1_ratio: float,
    *,
    tol: float,
    max_iter: int,
    positive: bool = False,
    start: Floats | None = None,
    order: np.random.Generator | None = None,
) -> Iterator[SparseSolution]:
    """The solutions for a falling series of penalties."""
    p = problem.columns.shape[1]
    before = largest_alpha(problem.fits, l1_ratio, positive) if l1_ratio > 0 else 0.0
    for alpha in alphas:
        check_cancelled()
        near = None if before <= 0 else max(0.0, (2 * alpha - before) / alpha)
        solution = problem.solve(
            Penalty.of(float(alpha), l1_ratio, p, positive),
            tol=tol,
            max_iter=max_iter,
            start=start,
            near=near,
            order=order,
        )
        yield solution
        start, before = solution.coef.copy(), alpha


def path(
    X: Any,
    y: Any,
    *,
    l1_ratio: float = 0.5,
    eps: float = 1e-3,
    alphas: Any = 100,
    precompute: Any = "auto",
    Xy: Any = None,
    copy_X: bool = True,
    coef_init: Any = None,
    verbose: Any = False,
    return_n_iter: bool = False,
    positive: bool = False,
    check_input: bool = True,
    fit_intercept: bool = False,
    sample_weight: Any = None,
    tol: float = 1e-6,
    max_iter: int = 10_000,
) -> Any:
    """The elastic net for a falling series of penalties, each started from the one before.

    Parameters
    ----------
    X, y, sample_weight
        As for `ElasticNet.fit`.
    l1_ratio : float, default=0.5
    eps : float, default=1e-3
        Ratio of the last penalty to the first.
    alphas : int or array-like, default=100
        Number of penalties, or the penalties.
    fit_intercept : bool, default=False
        As in scikit-learn, columns and targets are taken as they are; True centers them.
    coef_init : array (n_columns,), optional
        Where the first solution starts.
    return_n_iter : bool, default=False
        Returns the number of passes too.
    positive, tol, max_iter, precompute
        As for `ElasticNet`.
    Xy, copy_X, verbose, check_input
        Kept for scikit-learn's signature, without effect.

    Returns
    -------
    RegularizationPath
        Alphas, coefficients and duality gaps; with `return_n_iter`, a plain tuple with the passes.

    Examples
    --------
    >>> X, y = np.array([[1.0, 0.0], [0.0, 1.0]]), np.array([4.0, 2.0])
    >>> found = path(X, y, l1_ratio=1.0, alphas=[1.5, 1.0, 0.5])
    >>> found.coefs.round(9)
    array([[1., 2., 3.],
           [0., 0., 1.]])
    """
    del Xy, copy_X, verbose, check_input
    from novum.linear.sparse.model import ElasticNet

    reader = ElasticNet(l1_ratio=l1_ratio, positive=positive, tol=tol, max_iter=max_iter)
    reader._validate_params()
    sample = check_sample(reader, X, y, sample_weight, accept_sparse=True)
    with one_blas_thread():
        columns = columns_of(sample, centered=fit_intercept)
        targets = checked_targets(sample, fit_intercept)[0]
        wanted = None if isinstance(precompute, str) else precompute is not False
        products = Products.over(columns, 2 * _length(alphas), wanted)
        problems = [Problem(products, t) for t in targets]
        grid = grid_of(problems, alphas, eps, l1_ratio, positive)
        options: dict[str, Any] = {"tol": tol, "max_iter": max_iter, "positive": positive}
        if coef_init is not None:
            options["start"] = np.asarray(coef_init, np.float64)
        solutions_of = [list(solutions(each, grid, l1_ratio, **options)) for each in problems]
    coefs = np.stack([np.stack([s.coef for s in path], axis=-1) for path in solutions_of])
    gaps = np.array([[s.known.gap for s in path] for path in solutions_of])
    passes = np.array([[max(1, s.passes) for s in path] for path in solutions_of])
    if sample.target.ndim == 1:
        coefs, gaps, passes = coefs[0], gaps[0], passes[0]
    result = RegularizationPath(grid, coefs, gaps)
    return (*result, passes.tolist()) if return_n_iter else result


def entry_order(
    sample: Sample, l1_ratio: float, most: int, *, tol: float, max_iter: int, positive: bool
) -> Positions:
    """The first `most` columns of the table that come into the path, in the order they come in.

    Columns are measured in their standard deviations, so that units do not matter; a column of
    levels comes in with the first of them. Of those that come in between two penalties of the
    path, the one with the larger coefficient is the earlier.
    """
    columns = columns_of(sample, centered=True)
    problem = Problem(Products.over(columns, 200), checked_targets(sample, True)[0][0])
    coding = Coding(sample.schema)
    column_of = np.searchsorted(coding.starts, coding.treatment, side="right") - 1
    size = np.sqrt(columns.squares)
    moving = size > 0
    pull = problem.fits[moving] / size[moving]
    order: list[int] = []
    coef: Floats | None = None
    for alpha in alpha_grid(largest_alpha(pull, 1.0, positive), 1e-3, 100)[1:]:
        check_cancelled()
        penalty = Penalty(alpha * l1_ratio * size, alpha * (1 - l1_ratio) * size**2, positive)
        coef = problem.solve(penalty, tol=tol, max_iter=max_iter, start=coef).coef.copy()
        largest = np.zeros(sample.schema.n_columns)
        np.maximum.at(largest, column_of, np.abs(coef) * size)
        largest[order] = 0.0
        new = np.flatnonzero(largest)
        order += new[np.argsort(-largest[new], kind="stable")].tolist()
        if len(order) >= most:
            break
    return np.array(order[:most], np.intp)


def _length(alphas: Any) -> int:
    return int(alphas) if np.ndim(alphas) == 0 else len(alphas)


def grid_of(
    problems: list[Problem], alphas: Any, eps: float, l1_ratio: float, positive: bool
) -> Floats:
    """The penalties of a path, falling."""
    if np.ndim(alphas):
        grid = strengths(alphas, "alphas")
        if grid.ndim != 1 or not grid.size or not grid.all():
            raise InputError(
                f"alphas must be a list of numbers above 0, got {alphas!r}. For alpha=0 fit "
                "LinearRegression."
            )
        return np.sort(grid)[::-1]
    if not l1_ratio > 0:
        raise InputError(
            "Automatic alpha grid generation is not supported for l1_ratio=0: no penalty leaves "
            "all columns out. Give alphas as a list, or use RidgeCV."
        )
    top = max(largest_alpha(each.fits, l1_ratio, positive) for each in problems)
    return alpha_grid(top, eps, int(alphas))
