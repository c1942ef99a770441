"""What is known of every number of groups, and which was chosen: a table, a chart, a sentence."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from novum.display import Axis, Chart, Column, Line, Paragraph, Rule, Table, Words, notebook, number
from novum.numerics import Floats, Integers

NAMES = {
    "elbow": "elbow",
    "silhouette": "silhouette",
    "gap": "gap statistic",
    "calinski_harabasz": "Calinski-Harabasz",
    "davies_bouldin": "Davies-Bouldin",
    "stability": "stability",
}


@dataclass(frozen=True)
class CountRow:
    """What is known of one number of groups; None where it does not apply.

    Attributes
    ----------
    k : int
    within : float
        The within sum of squares, or of distances.
    silhouette, stability : triple of float, or None
        Mean, and its limits at a level of 95 %.
    gap, gap_error : float
    calinski_harabasz, davies_bouldin : float or None
    sizes : tuple of int
    """

    k: int
    within: float
    silhouette: tuple[float, float, float] | None
    gap: float
    gap_error: float
    calinski_harabasz: float | None
    davies_bouldin: float | None
    stability: tuple[float, float, float] | None
    sizes: tuple[int, ...]


@dataclass(frozen=True, eq=False)
class ClusterChoice:
    """How many groups there are, and why; shows itself as a table with a sentence.

    Attributes
    ----------
    n_clusters : int
        1 where nothing tells the rows from a table without groups.
    reason : str
    rows : tuple of CountRow
    votes : dict
        The number that each criterion names.
    p_value : float
        The chance of a silhouette as large as the largest, in a table without groups.
    model : estimator or None
        Fitted with `n_clusters`; None for one group.
    labels : int array (n_rows,)
    """

    n_clusters: int
    reason: str
    rows: tuple[CountRow, ...]
    votes: dict[str, int]
    p_value: float
    model: Any = field(repr=False)
    labels: Integers = field(repr=False)

    @property
    def table(self) -> Table:
        """One row for each number of groups; the one that is chosen stands out."""
        heads = ("within", "silhouette", "gap", "Calinski-Harabasz", "Davies-Bouldin", "stability")
        columns = [Column("groups"), *(Column(head, True) for head in heads)]
        lines = [
            [
                str(row.k),
                number(row.within),
                _with_limits(row.silhouette),
                f"{row.gap:.3f} ± {row.gap_error:.3f}",
                "" if row.calinski_harabasz is None else number(row.calinski_harabasz),
                "" if row.davies_bouldin is None else f"{row.davies_bouldin:.3f}",
                _with_limits(row.stability),
            ]
            for row in self.rows
        ]
        named = [f"{NAMES[name]} {k}" for name, k in self.votes.items()]
        marked = frozenset(i for i, row in enumerate(self.rows) if row.k == self.n_clusters)
        return Table("Numbers of groups", columns, lines, f"Named: {', '.join(named)}.", marked)

    def chart(self) -> Chart:
        """The criteria over the number of groups, each from its least (0) to its largest (1)."""
        ks = [float(row.k) for row in self.rows]
        marks: list[Any] = []
        curves = {
            "within": [row.within for row in self.rows],
            "silhouette": [row.silhouette[0] if row.silhouette else np.nan for row in self.rows],
            "gap": [row.gap for row in self.rows],
            "stability": [row.stability[0] if row.stability else np.nan for row in self.rows],
        }
        for color, (name, values) in enumerate(curves.items()):
            marks.append(Line(ks, _stretched(values), name, color, dots=True))
        if "elbow" in self.votes:
            bend = self.votes["elbow"]
            y = _stretched(curves["within"])[ks.index(float(bend))]
            marks.append(Words(float(bend), float(y), "bend", ring=True))
        marks.append(Rule(x=float(self.n_clusters), label="chosen"))
        ticks = [(k, str(int(k))) for k in ks]
        x, y_axis = Axis("groups", ticks=ticks), Axis("from least to largest", (-0.05, 1.05))
        return Chart(x, y_axis, marks, "Numbers of groups", self.reason)

    def plot(self, ax: Any = None) -> Any:
        """Draws the chart into matplotlib axes."""
        return self.chart().plot(ax)

    def __repr__(self) -> str:
        return f"{self.table.as_text()}\n{self.reason}"

    def _repr_html_(self) -> str:
        return notebook(Paragraph(self.reason), self.table, self.chart())


def _with_limits(values: tuple[float, float, float] | None) -> str:
    if values is None:
        return ""
    mean, low, high = values
    return f"{mean:.3f} [{low:.3f}, {high:.3f}]"


def _stretched(values: Any) -> Floats:
    array = np.asarray(values, float)
    low, high = np.nanmin(array), np.nanmax(array)
    return (array - low) / (high - low) if high > low else np.where(np.isnan(array), np.nan, 0.5)
