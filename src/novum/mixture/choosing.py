"""How many components a mixture needs: criteria of size and fit, and rows set aside.

    BIC = p log n - 2 log L        ICL = BIC + 2 (entropy of memberships)        smaller is better

BIC weighs likelihood against the number p of free parameters, and finds the number of components
that describe the density; ICL also asks that groups stand apart. The mean log-density of rows that
a fit has not seen (held out, fold by fold) checks both without any formula. Numbers are tried from
the smallest on; where none is named, until BIC has not fallen three times in a row. Fits in which a
component has collapsed onto a few rows are shown but not chosen: their likelihood is only as large
as the floor of variances lets it be.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import clone

from novum.core.errors import InputError
from novum.core.learners import ConvergenceWarning
from novum.core.runtime import stream
from novum.core.sums import sum_blocks
from novum.core.tables import Sample
from novum.display import Axis, Chart, Column, Line, Paragraph, Rule, Table, notebook, number
from novum.numerics import Floats

# Numbers that are tried without a gain before the search ends, and the most that are tried.
_PATIENCE = 3
_MOST = 50
_FOLDS = 5


@dataclass(frozen=True)
class ComponentRow:
    """What is known of one number of components (and family).

    Attributes
    ----------
    n_components : int
    family : str
        The `covariance_type`, or empty.
    log_likelihood, bic, icl : float
    n_free : int
        Free parameters.
    n_collapsed : int
        Components at the floor of variances, whose likelihood means little; where a single
        component has none, numbers with such components are not chosen.
    held_out : float or None
        Mean log-density of rows that fits of the other folds have not seen.
    held_out_error : float or None
        Its standard error.
    """

    n_components: int
    family: str
    log_likelihood: float
    n_free: int
    bic: float
    icl: float
    n_collapsed: int = 0
    held_out: float | None = None
    held_out_error: float | None = None


@dataclass(frozen=True, eq=False)
class ComponentChoice:
    """How many components, and why; shows itself as a table with a sentence.

    Attributes
    ----------
    n_components : int
    family : str
    criterion : {"bic", "icl", "held_out"}
    reason : str
    rows : tuple of ComponentRow
    model : estimator or None
        Fitted with the chosen number.
    """

    n_components: int
    family: str
    criterion: str
    reason: str
    rows: tuple[ComponentRow, ...]
    model: Any = field(repr=False, default=None)

    @property
    def table(self) -> Table:
        """One row for each number; the one that is chosen stands out."""
        has_family = len({row.family for row in self.rows}) > 1
        has_folds = any(row.held_out is not None for row in self.rows)
        has_collapsed = any(row.n_collapsed for row in self.rows)
        heads = ["log-likelihood", "parameters", "BIC", "ICL"] + ["held out"] * has_folds
        heads += ["collapsed"] * has_collapsed
        columns = [Column("components"), *([Column("family")] if has_family else [])]
        columns += [Column(head, True) for head in heads]
        lines = []
        for row in self.rows:
            cells = [str(row.n_components), *([row.family] if has_family else [])]
            cells += [number(row.log_likelihood), str(row.n_free), number(row.bic), number(row.icl)]
            if has_folds:
                known = row.held_out is not None
                cells.append(f"{row.held_out:.4f} ± {row.held_out_error:.4f}" if known else "")
            lines.append([*cells, *([str(row.n_collapsed)] * has_collapsed)])
        marked = frozenset(i for i, row in enumerate(self.rows) if self._is_chosen(row))
        return Table("Numbers of components", columns, lines, "", marked)

    def _is_chosen(self, row: ComponentRow) -> bool:
        return (row.n_components, row.family) == (self.n_components, self.family)

    def chart(self) -> Chart:
        """BIC over the number of components, one line for each family."""
        marks: list[Any] = []
        for color, family in enumerate(dict.fromkeys(row.family for row in self.rows)):
            chosen = [row for row in self.rows if row.family == family]
            ks = [float(row.n_components) for row in chosen]
            marks.append(Line(ks, [row.bic for row in chosen], family or "BIC", color, dots=True))
        marks.append(Rule(x=float(self.n_components), label="chosen"))
        every = sorted({row.n_components for row in self.rows})
        x = Axis("components", ticks=[(float(k), str(k)) for k in every])
        return Chart(x, Axis("BIC"), marks, "Numbers of components", self.reason)

    def plot(self, ax: Any = None) -> Any:
        """Draws the chart into matplotlib axes."""
        return self.chart().plot(ax)

    def __repr__(self) -> str:
        return f"{self.table.as_text()}\n{self.reason}"

    def _repr_html_(self) -> str:
        return notebook(Paragraph(self.reason), self.table, self.chart())


def choose_components(
    model: Any,
    X: Any,
    n_components: Iterable[int] | None = None,
    *,
    families: Iterable[str] | None = None,
    criterion: str = "bic",
    sample_weight: ArrayLike | None = None,
) -> ComponentChoice:
    """Compares numbers of components, and families of covariances, of a mixture.

    Parameters
    ----------
    model : estimator of `novum.mixture`
        Its other parameters are used as they are.
    X : table
    n_components : iterable of int, optional
        Numbers to compare; by default 1, 2, ... until BIC has not fallen three times in a row.
    families : iterable of str, optional
        Values of `covariance_type` to compare; that of the model by default.
    criterion : {"bic", "icl", "held_out"}
        What decides; "held_out" fits every number five times more.
    sample_weight : array-like of shape (n_rows,), optional

    Returns
    -------
    ComponentChoice

    Examples
    --------
    >>> from novum.mixture import GaussianMixture
    >>> rng = np.random.default_rng(0)
    >>> X = np.concatenate([rng.normal(0, 1, (80, 2)), rng.normal(6, 1, (80, 2))])
    >>> choice = choose_components(GaussianMixture(random_state=0), X, range(1, 4))
    >>> choice.n_components, choice.reason[:44]
    (2, '2 components: BIC is smallest there, 1191.2,')
    """
    if criterion not in ("bic", "icl", "held_out"):
        raise InputError(f"criterion is 'bic', 'icl' or 'held_out', got {criterion!r}.")
    if families is not None and not hasattr(model, "covariance_type"):
        raise InputError(f"{type(model).__name__} has no families of covariances. Leave them out.")
    reader = clone(model)
    sample = reader._read(X, None, sample_weight, None)
    sums = sum_blocks(reader._first_sums(), sample)
    if not sums.rows > 0:
        raise InputError("No row has a present cell, so there is nothing to compare by.")
    rows: list[ComponentRow] = []
    models: dict[tuple[int, str], Any] = {}
    for family in families or [getattr(model, "covariance_type", "")]:
        own = clone(model).set_params(covariance_type=family) if family else clone(model)
        for row, fitted in _compared(own, sample, sums, n_components, criterion == "held_out"):
            rows.append(row)
            models[row.n_components, row.family] = fitted
    best = _best(rows, criterion)
    chosen = models[best.n_components, best.family]
    for name in ("n_features_in_", "feature_names_in_"):
        if hasattr(reader, name):
            setattr(chosen, name, getattr(reader, name))
    return _choice(tuple(rows), best, criterion, chosen)


def chosen_of_sample(model: Any, sample: Sample, sums: Any) -> ComponentChoice:
    """The choice of `n_components="auto"`."""
    own = clone(model).set_params(n_components=1)
    rows = [row for row, _ in _compared(own, sample, sums, None, False)]
    return _choice(tuple(rows), _best(rows, "bic"), "bic", None)


def _compared(
    model: Any, sample: Sample, sums: Any, numbers: Iterable[int] | None, has_folds: bool
) -> Any:
    """Rows of the table with their models, from the smallest number on."""
    tried = sorted(set(numbers)) if numbers is not None else range(1, _MOST + 1)
    lowest, since = np.inf, 0
    for k in tried:
        if k < 1 or k > sums.rows:
            if numbers is None:
                return
            raise InputError(f"{k} components of {sums.rows:g} rows are not possible.")
        fitted = clone(model).set_params(n_components=k)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            fitted._run(sums, k, sample=sample)
        row = _row(fitted, sample, sums, k)
        if has_folds:
            logs = _held_out(model, sample, k)
            mean = float(np.average(logs, weights=sample.weights))
            spread = float(np.sqrt(np.average((logs - mean) ** 2, weights=sample.weights)))
            error = spread / np.sqrt(sample.n_rows)
            row = ComponentRow(**{**vars(row), "held_out": mean, "held_out_error": error})
        yield row, fitted
        is_better = row.bic < lowest and (row.n_collapsed == 0 or not np.isfinite(lowest))
        since = 0 if is_better else since + 1
        lowest = row.bic if is_better else lowest
        if numbers is None and since >= _PATIENCE:
            return


def _row(model: Any, sample: Sample, sums: Any, k: int) -> ComponentRow:
    bic = model._n_free * np.log(sums.weight) - 2.0 * model.log_likelihood_
    entropy = model._entropy_of(sample)
    family = getattr(model, "covariance_type", "")
    value = model.log_likelihood_
    icl = float(bic + 2 * entropy)
    collapsed = getattr(model, "n_collapsed_", 0)
    return ComponentRow(k, family, value, model._n_free, float(bic), icl, collapsed)


def _held_out(model: Any, sample: Sample, k: int) -> Floats:
    """Log-densities of rows under fits of the other folds."""
    n = sample.n_rows
    folds = stream(0, "folds").permutation(n) % min(_FOLDS, n)
    logs = np.empty(n)
    for fold in range(min(_FOLDS, n)):
        others = sample.rows(folds != fold)
        fitted = clone(model).set_params(n_components=k)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            fitted._run(sum_blocks(fitted._first_sums(), others), k, sample=others)
        joint = fitted._joint_of(sample.rows(folds == fold))
        logs[folds == fold] = np.logaddexp.reduce(joint, axis=1)
    return logs


def _best(rows: list[ComponentRow], criterion: str) -> ComponentRow:
    sound = [row for row in rows if row.n_collapsed == 0]
    # Where all have collapsed components, the columns themselves depend on each other.
    rows = sound or rows
    if criterion == "held_out":
        return max(rows, key=lambda row: (row.held_out, -row.n_free))
    return min(rows, key=lambda row: (getattr(row, criterion), row.n_free))


def _choice(
    rows: tuple[ComponentRow, ...], best: ComponentRow, criterion: str, model: Any
) -> ComponentChoice:
    names = {"bic": "BIC", "icl": "ICL", "held_out": "The held-out log-density"}
    value = getattr(best, criterion)
    many = len({row.family for row in rows}) > 1
    own = f" of family {best.family}" if many else ""
    plural = "s" if best.n_components > 1 else ""
    text = f"{best.n_components} component{plural}{own}: {names[criterion]} is "
    text += "largest" if criterion == "held_out" else "smallest"
    text += f" there, {value:.1f}" if criterion != "held_out" else f" there, {value:.4f}"
    others = [row for row in rows if row is not best]
    if others:
        next_best = _best(others, criterion)
        apart = abs(getattr(next_best, criterion) - value)
        plural = "s" if next_best.n_components > 1 else ""
        family = f" of family {next_best.family}" if many else ""
        text += f", {apart:.3g} from {next_best.n_components} component{plural}{family}"
        if criterion == "bic":
            # Half a difference of BIC is about the logarithm of a ratio of evidence.
            text += (
                ", which is strong evidence"
                if apart > 10
                else ", which is some evidence"
                if apart > 2
                else ", which is hardly a difference"
            )
    by_icl = _best(list(rows), "icl")
    if criterion == "bic" and by_icl.n_components != best.n_components:
        text += f"; groups that stand apart are {by_icl.n_components} (ICL)"
    return ComponentChoice(best.n_components, best.family, criterion, f"{text}.", rows, model)
