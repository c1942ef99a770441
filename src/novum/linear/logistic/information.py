"""The information of a logistic fit, and what follows from it for the coefficients.

At the optimum of an unpenalized fit the coefficients are, for many rows, normal with covariance

    I^-1,       I = sum_i w_i (diag(p_i) - p_i p_i') (x) z_i z_i'       (the information),

or, if the model is wrong, `I^-1 B I^-1` with `B = sum_i w_i s_i s_i'` from the gradients `s_i` of
the rows (the sandwich, "HC0"). A penalty shrinks coefficients. Their covariance is then
`H^-1 I H^-1` with the penalty in `H`: the spread of the shrunken coefficients over tables, which
says nothing about their distance to the truth. Tests and intervals are too optimistic, and the
result says so.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Literal, get_args

import numpy as np
from scipy import linalg
from sklearn.utils.validation import check_is_fitted

from novum.core.errors import InputError, ModelFileError
from novum.core.text import label_text, listed
from novum.linear.logistic.fit import LogisticFit
from novum.linear.logistic.inference import ChiSquaredTest, LogisticInference
from novum.linear.logistic.loss import class_basis, links, reduced_hessian
from novum.linear.logistic.rows import Rows
from novum.linear.logistic.separation import Separation
from novum.numerics import EPSILON, Floats, Integers, Mask, unit_scale

Covariance = Literal["classical", "HC0", "HC1"]

_PENALIZED = (
    "penalized: coefficients are shrunk towards zero; errors are the spread of the shrunken ones "
    "and know nothing of the bias. For tests fit with C=inf."
)
_REWEIGHTED = (
    "classes were re-weighted: classical errors take weights for repetitions. Pass the rows and "
    "covariance='HC0'."
)
# Sums over the same rows agree far better.
_SAME_ROWS = 1e-6


# --- What a model keeps ---------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class LogisticSummary:
    """What inference needs of the rows of a fit.

    Attributes
    ----------
    class_weights : array (K,)
        Effective weights.
    loss : float
        Sum of the log losses, without the penalty.
    penalty : float
    center : array (d,)
    kept : integer array (rank,)
        Columns with coefficients of their own.
    null_space : array (d, d - rank)
    information : array (P, P) or None
        In the centered, independent columns and the basis of `class_basis`.
    moments : array (3, d) or None
        Of an unpenalized fit: mean and deviation of each column, and its covariance with the
        number of the class.
    """

    class_weights: Floats
    loss: float
    penalty: float
    center: Floats
    kept: Integers
    null_space: Floats
    information: Floats | None
    moments: Floats | None = None

    @classmethod
    def of(cls, fit: LogisticFit, class_weights: Floats, penalty: float) -> LogisticSummary:
        d, independent = len(fit.center), fit.independent
        value = fit.minimum.evaluation.value
        return cls(
            class_weights,
            value - 0.5 * penalty * float((fit.coef**2).sum()),
            penalty,
            fit.center,
            np.arange(d) if independent is None else independent.kept.astype(np.int64),
            np.empty((d, 0)) if independent is None else independent.null_space,
            fit.information,
            fit.moments,
        )

    def check(self, n_classes: int, n_columns: int) -> None:
        """Refuses a loaded summary that does not fit its model."""
        size = max(1, n_classes - 1) * (len(self.kept) + 1)
        plain = max(1, n_classes - 1) * len(self.kept)
        shape = None if self.information is None else self.information.shape
        fits = (
            self.class_weights.shape == (n_classes,)
            and self.center.shape == (n_columns,)
            and self.null_space.shape == (n_columns, n_columns - len(self.kept))
            and (not len(self.kept) or 0 <= self.kept.min() <= self.kept.max() < n_columns)
            and shape in (None, (size, size), (plain, plain))
            and (self.moments is None or self.moments.shape == (3, n_columns))
        )
        if not fits:
            raise ModelFileError("The summary of the model does not fit its coefficients.")


def check_inference(covariance: str, separation: Separation | None) -> None:
    if covariance not in get_args(Covariance):
        raise InputError(
            f"covariance={covariance!r} is not known; choose one of {get_args(Covariance)}."
        )
    if separation is not None:
        raise InputError(
            f"The classes are separated ({separation.kind}), so the likelihood has no maximum and "
            "coefficients have no standard errors. Add a penalty (a finite C), or leave out the "
            "columns that separate."
        )


def rows_summary(model: Any, rows: Rows) -> tuple[LogisticSummary, Floats]:
    """The summary of rows at the coefficients of a model, and the outer products of gradients."""
    known: LogisticSummary = model.summary_
    if not np.allclose(rows.class_weights, known.class_weights, rtol=_SAME_ROWS):
        raise InputError(
            "Inference needs the rows of the fit, whose classes weigh "
            f"{known.class_weights.tolist()}; these weigh {rows.class_weights.tolist()}. Pass the "
            "rows, targets and weights that were fitted."
        )
    rows = rows.with_columns(known.kept.astype(np.intp))
    coef = model.coef_
    offset = model.intercept_ + coef @ known.center
    # Where columns were left out, scores are those of the kept ones alone.
    kept = coef[:, known.kept]
    if known.null_space.shape[1]:
        kept = _independent_coef(coef, known)
    W = np.column_stack([kept, offset + kept @ (rows.center - known.center[known.kept])])
    sums = rows.sums(W, hessian=True)
    assert sums.hessian is not None
    if abs(sums.value - known.loss) > _SAME_ROWS * max(known.loss, 1e-300):
        raise InputError(
            f"These rows have a loss of {sums.value:.9g}, those of the fit {known.loss:.9g}: they "
            "are other rows. Pass the rows, targets and weights that were fitted."
        )
    basis = class_basis(rows.n_classes)
    p = rows.n_columns + bool(model.fit_intercept)
    information = reduced_hessian(sums.hessian[:, :p, :p], basis)
    center = known.center.copy()
    center[known.kept] = rows.center
    summary = replace(known, center=center, information=information)
    return summary, _outer_products(rows, W, basis, p)


def _independent_coef(coef: Floats, known: LogisticSummary) -> Floats:
    """Coefficients of the kept columns with the scores of all: `b + N t`, zero where not kept."""
    dropped = np.setdiff1d(np.arange(coef.shape[1]), known.kept)
    N = known.null_space
    t = np.linalg.lstsq(N[dropped], -coef[:, dropped].T, rcond=None)[0]
    return np.asarray((coef + (N @ t).T)[:, known.kept])


def _outer_products(rows: Rows, W: Floats, basis: Floats, p: int) -> Floats:
    """`sum_i w_i s_i s_i'` of the gradients of the rows, (P, P)."""
    size = basis.shape[1] * p
    total = np.zeros((size, size))
    for chosen, X in rows.blocks():
        Z = np.column_stack([X - rows.center, np.ones(len(X))])
        codes = rows.codes[chosen]
        residual = links(Z @ W.T, codes)[1]
        if len(W) == 1:
            residual = residual - codes[:, np.newaxis]
        else:
            residual = residual - np.eye(len(W))[codes]
        s = ((residual @ basis)[:, :, np.newaxis] * Z[:, np.newaxis, :p]).reshape(len(X), -1)
        total += s.T @ (s * rows.weight[chosen, np.newaxis])
    return total


def infer(
    model: Any,
    summary: LogisticSummary,
    outer: Floats | None,
    covariance: str,
    reference: Any,
) -> LogisticInference:
    """Inference from the information matrix and, for a sandwich, the rows' gradients."""
    assert summary.information is not None
    K, fit_intercept = len(model.classes_), bool(model.fit_intercept)
    r = 0 if reference is None else model._code(reference)
    others = [k for k in range(K) if k != r]
    T = _contrasts(summary, K, r, others, fit_intercept)
    V = _covariance(summary, outer, covariance, K, fit_intercept)
    matrix = T @ V @ T.T
    open_ = np.tile(_undetermined(summary, fit_intercept), len(others))
    matrix[open_], matrix[:, open_] = np.nan, np.nan
    scores = np.column_stack([model.intercept_, model.coef_]) if fit_intercept else model.coef_
    if K == 2:
        scores = np.array([np.zeros_like(scores[0]), scores[0]])
    coef = np.array([scores[k] - scores[r] for k in others])
    errors = np.sqrt(np.diagonal(matrix)).reshape(coef.shape)
    weights, q = summary.class_weights, len(others)
    total = float(weights.sum())
    null = weights @ np.log(weights / total) if fit_intercept else -total * np.log(K)
    names = ("intercept", *model.coef_names_) if fit_intercept else tuple(model.coef_names_)
    labels = model.classes_.tolist()
    return LogisticInference(
        names,
        tuple(labels[k] for k in others),
        labels[r],
        coef[0] if K == 2 else coef,
        errors[0] if K == 2 else errors,
        matrix,
        -summary.loss,
        float(null),
        q * len(summary.kept),
        q * (len(summary.kept) + fit_intercept),
        total,
        covariance,
        _notes(model, summary, covariance),
        summary.penalty > 0,
    )


def _notes(model: Any, summary: LogisticSummary, covariance: str) -> tuple[str, ...]:
    notes = [_PENALIZED] if summary.penalty else []
    weighted = model.prior is not None or model.class_weight is not None
    if weighted and covariance == "classical":
        notes.append(_REWEIGHTED)
    return tuple(notes)


def _contrasts(
    summary: LogisticSummary, K: int, r: int, others: list[int], fit_intercept: bool
) -> Floats:
    """The map from parameters to coefficients against the reference, intercept first."""
    kept, d = summary.kept, len(summary.center)
    p = len(kept) + fit_intercept
    slopes = np.zeros((d + fit_intercept, p))
    slopes[fit_intercept + kept, np.arange(len(kept))] = 1.0
    if fit_intercept:
        slopes[0, :-1], slopes[0, -1] = -summary.center[kept], 1.0
    Q = np.array([[0.0], [1.0]]) if K == 2 else class_basis(K)
    return np.concatenate([np.kron((Q[k] - Q[r])[np.newaxis], slopes) for k in others])


def _covariance(
    summary: LogisticSummary, outer: Floats | None, covariance: str, K: int, fit_intercept: bool
) -> Floats:
    information = summary.information
    assert information is not None
    one = np.full(len(summary.kept) + fit_intercept, summary.penalty)
    if fit_intercept:
        one[-1] = 0.0
    H = information + np.diag(np.tile(one, max(1, K - 1)))
    scale = unit_scale(np.sqrt(np.diagonal(H)))
    inverse = linalg.inv(H * scale * scale[:, np.newaxis]) * scale * scale[:, np.newaxis]
    if covariance == "classical":
        return inverse if summary.penalty == 0 else inverse @ information @ inverse
    assert outer is not None
    sandwich = inverse @ outer @ inverse
    if covariance == "HC1":
        n = float(summary.class_weights.sum())
        sandwich = sandwich * n / max(n - len(H), 1.0)
    return np.asarray(sandwich)


def _undetermined(summary: LogisticSummary, fit_intercept: bool) -> Mask:
    """Which coefficients, intercept first, the rows leave open."""
    N = summary.null_space
    slopes = np.linalg.norm(N, axis=1) > 1e-8
    if not fit_intercept:
        return np.asarray(slopes)
    # Relative to the columns about zero: means that are rounding errors of a spread are none.
    size = np.abs(summary.center)
    if summary.moments is not None:
        size = np.hypot(size, summary.moments[1])
    rounding = 100 * EPSILON * float(np.linalg.norm(size))
    offset = np.abs(summary.center @ N) > 1e-8 * (size @ np.abs(N)) + rounding
    return np.append(bool(offset.any()), slopes)


# --- Nested models --------------------------------------------------------------------------------


def likelihood_ratio_test(smaller: Any, larger: Any) -> ChiSquaredTest:
    """The test of a fitted model against a larger one that contains it.

    `2 (log L_larger - log L_smaller)` follows a chi-squared law if the smaller model holds, and
    only if its terms are among those of the larger one and both were fitted to the same rows.
    Terms are compared by name, rows by the weights of the classes and by mean, deviation and
    covariance with the classes of the columns that the models share.

    Parameters
    ----------
    smaller, larger : LogisticRegression
        Unpenalized fits to the same rows, the columns of the smaller among those of the larger.

    Examples
    --------
    >>> from novum.linear.logistic.regression import LogisticRegression
    >>> X, y = [[0.0, 1.0], [1.0, 0.0], [2.0, 0.0], [3.0, 1.0], [4.0, 0.0]], [0, 1, 0, 1, 1]
    >>> one = LogisticRegression(C=float("inf")).fit([row[:1] for row in X], y)
    >>> two = LogisticRegression(C=float("inf")).fit(X, y)
    >>> likelihood_ratio_test(one, two).degrees_of_freedom
    1
    """
    for model in (smaller, larger):
        check_is_fitted(model)
        check_inference("classical", model.separation_)
    a, b = smaller.summary_, larger.summary_
    if a.penalty or b.penalty:
        raise InputError("A likelihood-ratio test compares optima of the likelihood: use C=inf.")
    if (
        not np.array_equal(smaller.classes_, larger.classes_)
        or not np.allclose(a.class_weights, b.class_weights, rtol=_SAME_ROWS)
    ):  # fmt: skip
        raise InputError("The models were fitted to other rows: their classes weigh differently.")
    _check_nested(smaller, larger)
    _check_same_columns(smaller, larger)
    terms = [len(each.summary_.kept) + bool(each.fit_intercept) for each in (smaller, larger)]
    ratio = 2 * (a.loss - b.loss)
    if ratio < -1e-8 * abs(a.loss):
        raise InputError(
            "The larger model is less likely than the smaller one, which it contains: one of the "
            "fits stopped early. See certificate_, and raise max_iter."
        )
    more = (terms[1] - terms[0]) * max(1, len(a.class_weights) - 1)
    return ChiSquaredTest.of(max(ratio, 0.0), more)


def _check_nested(smaller: Any, larger: Any) -> None:
    names = set(larger.coef_names_)
    alone = [name for name in smaller.coef_names_ if name not in names]
    if smaller.fit_intercept and not larger.fit_intercept:
        alone.insert(0, "intercept")
    if not alone:
        return
    if set(smaller.coef_names_) > names:
        raise InputError("The first model is the larger one. Give the smaller model first.")
    raise InputError(
        f"The models are not nested: the smaller one has {listed(alone, 5)}, which the larger one "
        "has not, so the ratio of likelihoods has no chi-squared law. Compare models that are "
        "not nested by inference().aic or by cross-validation."
    )


def _check_same_columns(smaller: Any, larger: Any) -> None:
    """Refuses fits whose common columns differ in what the likelihood knows of them."""
    a, b = smaller.summary_.moments, larger.summary_.moments
    if a is None or b is None:
        raise InputError(
            "A model from an older file does not say to which rows it was fitted. Fit it again."
        )
    at = {name: j for j, name in enumerate(larger.coef_names_)}
    b = b[:, [at[name] for name in smaller.coef_names_]]
    allowed = _SAME_ROWS * np.maximum(a[1], b[1]) + 1e-9 * np.abs(a[0])
    different = np.flatnonzero((np.abs(a - b) > allowed).any(axis=0))
    if different.size:
        j = int(different[0])
        raise InputError(
            f"The models were fitted to other rows: column {label_text(smaller.coef_names_[j])} "
            f"has mean {a[0, j]:.6g}, deviation {a[1, j]:.6g} and covariance {a[2, j]:.6g} with "
            f"the classes in the one, {b[0, j]:.6g}, {b[1, j]:.6g} and {b[2, j]:.6g} in the other."
            " Fit both to the same rows, and tables without names with their columns in one order."
        )
