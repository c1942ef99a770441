"""Measured against promised coverage, overall, by class and by group.

The rows covered among `n` new ones are binomial if the promise holds, so that the measured share
has Clopper and Pearson's exact interval; a promise outside of it is not kept, at that level.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from novum.core.errors import InputError
from novum.core.tables import Frame, check_numbers, n_rows_of, plain_target
from novum.display import Summary, Table
from novum.evaluation.conformal.calibration_rows import group_values
from novum.evaluation.conformal.quantiles import check_coverage
from novum.evaluation.measures.interval import Interval
from novum.evaluation.measures.intervals import proportion_interval
from novum.evaluation.reports.pages import frame_of_rows
from novum.numerics import Array, Floats, Mask

_AT_LEAST = ("cross", "jackknife+")


@dataclass(frozen=True)
class CoveredRows:
    """Coverage among some rows.

    Attributes
    ----------
    rows : str
        Which they are, such as "all" or "group b".
    n_rows : int
    coverage : Interval
        The measured share, by Clopper and Pearson.
    size : float
        Mean width of the intervals, or mean number of classes.
    """

    rows: str
    n_rows: int
    coverage: Interval
    size: float

    def verdict(self, promised: float) -> str:
        """In words whether the promise is inside the interval."""
        if math.isnan(self.coverage.low):
            return "no rows"
        if self.coverage.high < promised:
            return "too low"
        return "more than promised" if self.coverage.low > promised else "as promised"


@dataclass(frozen=True, eq=False)
class CoverageReport:
    """Measured against promised coverage; see `coverage_report`.

    Attributes
    ----------
    promised : float
    parts : tuple of CoveredRows
        All rows first, then classes, then groups.
    size_of : str
        What `size` is: "mean width" or "mean classes".
    level : float
        Confidence of the intervals.
    notes : tuple of str
    """

    promised: float
    parts: tuple[CoveredRows, ...]
    size_of: str
    level: float
    notes: tuple[str, ...] = ()

    @property
    def measured(self) -> Interval:
        """Coverage of all rows."""
        return self.parts[0].coverage

    @property
    def is_kept(self) -> bool:
        """Whether the promise is kept, as far as can be told from all rows."""
        return bool(self.measured.high >= self.promised)

    def __getitem__(self, rows: str) -> CoveredRows:
        """A part by its name, such as `report["group b"]`."""
        parts = {part.rows: part for part in self.parts}
        if rows not in parts:
            raise InputError(f"The report has no part {rows!r}; it has {', '.join(parts)}.")
        return parts[rows]

    def to_frame(self, frame: Frame = "arrow") -> Any:
        """All shares as a table with columns group, measure, estimate, low, high, level, method."""
        rows = ((part.rows, "coverage", part.coverage) for part in self.parts)
        return frame_of_rows(rows, frame)

    def __repr__(self) -> str:
        return self._page.as_text()

    __str__ = __repr__

    def _repr_html_(self) -> str:
        return self._page.as_html()

    @property
    def _page(self) -> Summary:
        rows = [
            (
                part.rows,
                str(part.n_rows),
                f"{self.promised:g}",
                repr(part.coverage),
                f"{part.size:.4g}",
                part.verdict(self.promised),
            )
            for part in self.parts
        ]
        heads = ("rows", "number", "promised", "measured", self.size_of, "verdict")
        lead = f"Brackets are exact {100 * self.level:g} % confidence intervals."
        title = f"Coverage, {self.parts[0].n_rows} rows"
        return Summary(title, lead, [Table.of_numbers("", heads, rows)], self.notes)


def coverage_report(
    model: Any,
    X: Any,
    y: Any,
    groups: Any = None,
    *,
    coverage: float | None = None,
    level: float = 0.95,
) -> CoverageReport:
    """How often the intervals or sets of a model hold the truth of rows it has not seen.

    Parameters
    ----------
    model : fitted ConformalRegressor or ConformalClassifier
    X, y : rows that took no part in the fit, and their truth
    groups : array-like of shape (n,), optional
        Measured apart; also passed on to a model that was calibrated by groups.
    coverage : float, optional
        Default: that of the model.
    level : float
        Confidence of the intervals around measured shares.

    Examples
    --------
    >>> from novum.evaluation import ConformalRegressor
    >>> from novum.linear import LinearRegression
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(400, 1))
    >>> y = X[:, 0] + rng.normal(size=400)
    >>> model = ConformalRegressor(LinearRegression(), method="split").fit(X[:200], y[:200])
    >>> print(coverage_report(model, X[200:], y[200:]))
    Coverage, 200 rows
    Brackets are exact 95 % confidence intervals.
    <BLANKLINE>
    rows  number  promised           measured  mean width      verdict
    all      200       0.9  0.93 [0.88, 0.96]       3.569  as promised
    """
    if not hasattr(model, "predict_interval") and not hasattr(model, "predict_set"):
        raise InputError(
            f"{type(model).__name__} gives no intervals or sets. Wrap the learner in "
            "ConformalRegressor or ConformalClassifier."
        )
    check_is_fitted(model)
    promised = check_coverage(model.coverage if coverage is None else coverage)
    values = None if groups is None else group_values(groups, n_rows_of(X))
    own = {} if model.group_labels_ is None else {"groups": values}
    classes: Array | None = None
    if hasattr(model, "predict_set"):
        covered, sizes, classes = _of_sets(model, X, y, promised, own)
    else:
        covered, sizes = _of_intervals(model, X, y, promised, own)
    parts = [("all", np.ones(len(covered), bool)), *_parts("class", classes)]
    measured = tuple(
        CoveredRows(
            name,
            int(rows.sum()),
            proportion_interval(
                int(covered[rows].sum()), int(rows.sum()), level, method="Clopper-Pearson"
            ),
            float(sizes[rows].mean()) if rows.any() else math.nan,
        )
        for name, rows in [*parts, *_parts("group", values)]
    )
    notes = []
    if model.method in _AT_LEAST:
        notes.append(
            f"Proved for {model.method!r} is {max(0.0, 2 * promised - 1):.3g}; {promised:g} is "
            "what it reaches where single rows do not turn the learner."
        )
    size_of = "mean width" if classes is None else "mean classes"
    return CoverageReport(promised, measured, size_of, level, tuple(notes))


def _of_intervals(
    model: Any, X: Any, y: Any, coverage: float, groups: dict[str, Any]
) -> tuple[Mask, Floats]:
    """Whether each row is covered, and the widths."""
    limits = model.predict_interval(X, coverage, **groups)
    truth = check_numbers(y, "coverage_report").reshape(-1)
    _check_lengths(truth, limits)
    covered = (limits[:, 0] <= truth) & (truth <= limits[:, 1])
    return covered, limits[:, 1] - limits[:, 0]


def _of_sets(
    model: Any, X: Any, y: Any, coverage: float, groups: dict[str, Any]
) -> tuple[Mask, Floats, Array]:
    """Whether each row is covered, how many classes its set has, and its class."""
    members = model.predict_set(X, coverage, **groups)
    truth = plain_target(y)
    _check_lengths(truth, members)
    place = {label: k for k, label in enumerate(model.classes_.tolist())}
    # A class that the fit has not met is never covered.
    codes = np.array([place.get(label, -1) for label in truth.tolist()], np.intp)
    covered = (codes >= 0) & members[np.arange(len(codes)), codes]
    return covered, members.sum(axis=1).astype(np.float64), truth


def _check_lengths(truth: Array, sets: Array) -> None:
    if len(truth) != len(sets):
        raise InputError(f"X has {len(sets)} rows, but y has {len(truth)}. Pass one for each row.")


def _parts(what: str, labels: Array | None) -> Iterator[tuple[str, Mask]]:
    if labels is None:
        return
    for label in np.unique(labels).tolist():
        yield f"{what} {label}", labels == label
