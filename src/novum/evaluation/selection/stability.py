"""Stability of a selection: would the same columns be chosen on other rows?

A selector is fitted to M training parts. With `z_if` whether part `i` chose column `f` of `d`,
shares `p_f = mean_i z_if` and `k` the mean number chosen, Nogueira's index is

    index = 1 - mean_f [M/(M-1) p_f (1 - p_f)] / (k/d (1 - k/d))

1 when all parts choose the same columns, 0 on average when each chooses at random (whatever their
number). With `q = k/d` and `k_i` the number that part `i` chose, it is a mean of

    phi_i = [mean_f z_if p_f - q k_i/d + index/2 (2 q k_i/d - k_i/d - q + 1)] / (q (1 - q))

up to a constant, which gives its asymptotic variance `4/M^2 sum_i (phi_i - mean phi)^2`.

References
----------
Nogueira, Sechidis & Brown (2018), "On the stability of feature selection algorithms", JMLR 18,
definition 4 and theorem 7.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy import special
from sklearn.base import clone, is_classifier
from sklearn.utils.multiclass import type_of_target

from novum.core.errors import InputError
from novum.core.runtime import fitted_model, run_tasks
from novum.core.tables import as_table, column_names, plain_target, rows_of
from novum.core.text import printable
from novum.display import Axis, Bars, Chart, Table
from novum.evaluation.measures.interval import Interval
from novum.evaluation.measures.intervals import check_level
from novum.evaluation.validation.splits import plan_splits
from novum.numerics import Floats, Mask, Positions


@dataclass(frozen=True, eq=False)
class SelectionStability:
    """Which columns were chosen how often, and the index of stability.

    Attributes
    ----------
    names : tuple of str
        Of the columns.
    chosen : bool array of shape (n_parts, n_columns)
    interval : Interval
        Of the index; NaN where every part chose all columns, or none.
    parts : str
        What the selector was fitted to, in words.
    """

    names: tuple[str, ...]
    chosen: Mask
    interval: Interval
    parts: str

    @property
    def index(self) -> float:
        """Nogueira's index: 1 for always the same columns, about 0 for columns at random."""
        return self.interval.estimate

    @property
    def frequency(self) -> Floats:
        """Share of the parts that chose each column, of shape (n_columns,)."""
        return self.chosen.mean(axis=0)

    @property
    def counts(self) -> dict[str, int]:
        """How many parts chose each column, the most frequent first."""
        order = np.argsort(-self.chosen.sum(axis=0), kind="stable")
        return {self.names[j]: int(self.chosen[:, j].sum()) for j in order}

    @property
    def verdict(self) -> str:
        """In words, by Nogueira's thresholds: poor below 0.4, excellent above 0.75."""
        if math.isnan(self.index):
            return "All columns, or none, were chosen every time, so there is nothing to compare."
        if self.index > 0.75:
            return "Stable: other rows would choose about the same columns."
        if self.index >= 0.4:
            return "Fair: some columns are always chosen, others depend on the rows."
        return "Poor: which columns are chosen depends on the rows; do not read meaning into it."

    def plot(self, ax: Any = None, *, most: int = 20) -> Any:
        """Draws how often the columns were chosen into matplotlib axes, which are returned."""
        shown = list(self.counts.items())[:most]
        names = [printable(name, 30) for name, _ in shown]
        bars = Bars.lying(range(len(shown)), [count for _, count in shown])
        x = Axis(f"chosen in how many of {len(self.chosen)}", (0, len(self.chosen)))
        return Chart(x, Axis(names=names), [bars]).plot(ax)

    def __repr__(self) -> str:
        M = len(self.chosen)
        counts = [(name, count) for name, count in self.counts.items() if count][:20]
        rows = [[printable(name, 40), f"{count} of {M}"] for name, count in counts]
        table = Table.of_numbers("", ["column", "chosen in"], rows).as_text()
        return f"{table}\nstability {self.interval!r} over {self.parts}. {self.verdict}"


def selection_stability(
    selector: Any,
    X: Any,
    y: Any = None,
    *,
    cv: Any = None,
    groups: Any = None,
    n_jobs: int | None = None,
    random_state: int | None = None,
    level: float = 0.95,
) -> SelectionStability:
    """Fits a selector to many training parts and compares what it chose.

    Parameters
    ----------
    selector : transformer with `get_support`, or a pipeline with such a step
    X, y
        Rows of any container, and targets.
    cv : int, text, splitter or iterable, optional
        Gives the training parts: `"20x5"` are the folds that judge a model;
        `ShuffleSplit(100, train_size=0.5)` are half samples, whose interval is more honest since
        folds overlap. Five folds by default.
    groups, n_jobs, random_state
        As for `cross_validate`.
    level : float

    Returns
    -------
    SelectionStability
        `index`, `interval`, `counts`, `frequency`, `verdict`, `plot()`.

    Examples
    --------
    >>> from novum.evaluation.selection.filters import SelectKBest
    >>> rng = np.random.default_rng(0)
    >>> X, y = rng.normal(size=(80, 5)), np.arange(80) % 2
    >>> X[:, 3] += 3 * y
    >>> found = selection_stability(SelectKBest(k=1), X, y, cv=10)
    >>> found.counts["x3"], found.index
    (10, 1.0)
    """
    check_level(level)
    table = as_table(X)
    target = None if y is None else plain_target(y)
    classes = is_classifier(selector) or (
        target is not None
        and target.ndim == 1
        and type_of_target(target) in ("binary", "multiclass")
    )
    splits = plan_splits(
        table, target, cv, groups=groups, classifier=classes, random_state=random_state
    )
    names = column_names(table)

    def one(train: Positions) -> Mask:
        part = None if target is None else target[train]
        return _support(fitted_model(clone(selector), rows_of(table, train), part), len(names))

    masks = run_tasks(one, [train for train, _ in splits.split()], n_jobs)
    chosen = np.array(masks, bool)
    return SelectionStability(names, chosen, stability_index(chosen, level), splits.name)


def stability_index(chosen: ArrayLike, level: float = 0.95) -> Interval:
    """Nogueira's index of a table of choices, with its asymptotic interval.

    Parameters
    ----------
    chosen : bool array of shape (n_parts, n_columns)
    level : float

    Examples
    --------
    >>> stability_index([[1, 1, 0, 0], [1, 0, 1, 0]]).estimate
    0.0
    """
    Z = np.asarray(chosen, np.float64)
    if Z.ndim != 2 or Z.shape[0] < 2 or Z.shape[1] < 1 or not np.isin(Z, (0, 1)).all():
        raise InputError(
            f"Stability compares at least two choices among the same columns, rows of true and "
            f"false; got an array of shape {Z.shape}."
        )
    M, d = Z.shape
    share, size = Z.mean(axis=0), Z.sum(axis=1) / d
    q = float(size.mean())
    if q in (0.0, 1.0):
        return Interval(math.nan, math.nan, math.nan, level, "all or no columns chosen every time")
    spread = q * (1 - q)
    index = 1 - M / (M - 1) * float((share * (1 - share)).mean()) / spread
    phi = ((Z * share).mean(axis=1) - q * size
           + index / 2 * (2 * q * size - size - q + 1)) / spread  # fmt: skip
    error = 2 / M * math.sqrt(float(((phi - phi.mean()) ** 2).sum()))
    reach = float(special.ndtri((1 + level) / 2)) * error
    # With M parts the index is -1/(M - 1) at least.
    low, high = max(-1 / (M - 1), index - reach), min(1.0, index + reach)
    return Interval(float(index), low, high, level, "Nogueira, asymptotic normal")


def _support(fitted: Any, n_columns: int) -> Mask:
    """Which of the original columns were chosen; of a pipeline by the step that chooses."""
    if hasattr(fitted, "get_support"):
        return np.asarray(fitted.get_support(), bool)
    steps: Sequence[Any] = [step for _, step in getattr(fitted, "steps", [])]
    selectors = [step for step in steps if hasattr(step, "get_support")]
    if len(selectors) != 1:
        raise InputError(
            f"{type(fitted).__name__} has {len(selectors)} steps that choose columns "
            "(get_support), and stability is of one. Pass the selector itself."
        )
    mask = np.asarray(selectors[0].get_support(), bool)
    if mask.size != n_columns:
        raise InputError(
            f"The selector in the pipeline sees {mask.size} columns, but the table has {n_columns}"
            ": a step before it makes other columns. Pass the selector itself."
        )
    return mask
