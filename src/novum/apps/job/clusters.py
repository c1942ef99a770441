"""The job without a target: groups of rows, how many there are and why, what tells them apart.

    table -> features -> choice of the number -> groups -> descriptions, pictures -> files

Tables of numbers are scaled to unit variance and grouped by k-means, which compares the cells that
are there; tables with columns of levels are grouped by k-medoids with Gower's distance. A target
that is named, or that a bundled table has, takes no part: at the end groups are compared with it.
"""

from __future__ import annotations

import warnings
from dataclasses import asdict, dataclass, field, replace
from datetime import date
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.base import clone

from novum import __version__
from novum.apps.job.building import imported
from novum.apps.job.clock import Listener, Silent
from novum.apps.job.outputs import MODEL, RUN
from novum.apps.job.request import Request
from novum.apps.job.untargeted import (
    as_numbers,
    attempted_charts,
    read_untargeted,
    write_record,
)
from novum.clustering import (
    ClusterChoice,
    Dendrogram,
    KMeans,
    KMedoids,
    choose_clusters,
    linkage,
    silhouette_samples,
)
from novum.core import Pipeline, save
from novum.core.runtime import stream
from novum.core.tables import Kind
from novum.core.text import printable
from novum.decomposition import PCA
from novum.display import Axis, Bars, Chart, Cloud, number
from novum.distances import Gower
from novum.evaluation import Interval, agreement_measures
from novum.trees import GroupDescriptions, describe_groups

ASSIGNMENTS = "assignments.csv"
# Numbers of groups that are compared, and tables without groups.
_MOST_GROUPS = {"quick": 6, "standard": 10, "thorough": 15}
_REFERENCES = {"quick": 8, "standard": 20, "thorough": 50}
# Rows of a picture, and rows whose distances k-medoids holds.
_DRAWN, _COMPARED = 1500, 6000


@dataclass(frozen=True, eq=False)
class ClusterRun:
    """What a run without a target found.

    Attributes
    ----------
    name : str
        Of the table.
    n_rows : int
    verdict : tuple of str
        What was found, in sentences.
    kinds : tuple of (column, kind, reason)
        How columns were understood.
    not_done : tuple of str
    settings : dict
    choice : ClusterChoice
    descriptions : GroupDescriptions or None
    agreement : dict of Interval
        With a known target, else empty.
    target : str
    charts : tuple of (title, caption, Chart or Dendrogram)
    labels : int array (n_rows,)
    """

    name: str
    n_rows: int
    verdict: tuple[str, ...]
    kinds: tuple[tuple[str, str, str], ...]
    not_done: tuple[str, ...]
    settings: dict[str, Any]
    choice: ClusterChoice
    descriptions: GroupDescriptions | None
    agreement: dict[str, Interval]
    target: str
    charts: tuple[tuple[str, str, Any], ...]
    labels: Any
    date: str = field(default_factory=lambda: date.today().isoformat())

    def plain(self) -> dict[str, Any]:
        """The record as plain data."""
        groups = () if self.descriptions is None else self.descriptions
        return {
            "task": "clusters",
            "novum": __version__,
            "date": self.date,
            "table": self.name,
            "n_rows": self.n_rows,
            "settings": self.settings,
            "verdict": list(self.verdict),
            "kinds": [list(kind) for kind in self.kinds],
            "n_groups": self.choice.n_clusters,
            "reason": self.choice.reason,
            "p_value": self.choice.p_value,
            "votes": self.choice.votes,
            "numbers": [asdict(row) for row in self.choice.rows],
            "groups": [asdict(group) | {"sentence": group.sentence} for group in groups],
            "agreement": {
                name: [interval.estimate, interval.low, interval.high]
                for name, interval in self.agreement.items()
            },
            "not_done": list(self.not_done),
        }

    def as_recorded(self, plain: dict[str, Any]) -> ClusterRun:
        """The same run, found at the time that its record tells."""
        return replace(self, date=plain["date"])


def run_clusters(request: Request, folder: Path, listener: Listener | None = None) -> ClusterRun:
    """Groups the rows of a table and writes the model, the assignments and the record."""
    told: Listener = listener or Silent()
    seen = read_untargeted(request, folder, told)
    loaded, table, rows, is_numeric = seen.loaded, seen.X, seen.rows, seen.is_numeric
    told.stage("choosing the number of groups")
    choice, model, labels, space = _grouped(table, is_numeric, request)
    told.stage("describing the groups")
    groups = describe_groups(labels, table) if choice.n_clusters > 1 else None
    agreement, target = _agreement(loaded, rows, labels)
    folder.mkdir(parents=True, exist_ok=True)
    if model is not None:
        save(model, folder / MODEL)
    seen.write_rows(folder / ASSIGNMENTS, {"group": labels.tolist()})
    told.stage("drawing pictures")
    charts, failed = attempted_charts(
        lambda: _charts(table, space, labels, choice, is_numeric, request.seed)
    )
    result = ClusterRun(
        loaded.name,
        loaded.n_rows,
        _verdict(choice, groups, agreement, target),
        seen.kinds,
        _not_done((*seen.not_done, *failed), model),
        asdict(request),
        choice,
        groups,
        agreement,
        target,
        charts,
        labels,
    )
    write_record(folder / RUN, result.plain())
    return result


def _grouped(table: Any, is_numeric: bool, request: Request) -> tuple[ClusterChoice, Any, Any, Any]:
    """The choice, the model of all rows, its labels, and the rows as groups were sought in them."""
    scaler = imported("novum.data.scaling:StandardScaler")().fit(table) if is_numeric else None
    X = table if scaler is None else as_numbers(scaler.transform(table))
    learner: Any = KMeans(n_init=5) if is_numeric else KMedoids(metric=Gower())
    n = table.num_rows
    rng = stream(request.seed, "rows")
    some = np.sort(rng.permutation(n)[:_COMPARED]) if not is_numeric else np.arange(n)
    choice = choose_clusters(
        X if is_numeric else table.take(some),
        learner,
        range(1, _MOST_GROUPS[request.preset] + 1),
        n_references=_REFERENCES[request.preset],
        n_subsamples=_REFERENCES[request.preset],
        random_state=request.seed,
    )
    if choice.model is None:
        return choice, None, np.zeros(n, np.int64), X
    if scaler is None:
        return choice, choice.model, np.asarray(choice.model.predict(table)), X
    # Once more from the table, so that the model knows its columns by their names.
    whole = Pipeline([("scale", clone(scaler)), ("groups", clone(choice.model))]).fit(table)
    return choice, whole, np.asarray(whole.predict(table)), X


def _agreement(loaded: Any, rows: Any, labels: Any) -> tuple[dict[str, Interval], str]:
    name = loaded.target
    if not name or len(np.unique(labels)) < 2 or loaded.column(name).kind is Kind.NUMERIC:
        return {}, name or ""
    known = loaded.table.column(name).take(rows)
    present = np.asarray(known.is_valid())
    true = np.array([str(cell) for cell in known.to_pylist()], object)[present]
    if len(true) < 2:
        return {}, name
    measures = agreement_measures(true.astype(str), labels[present], n_resamples=200)
    return measures, name


def _verdict(
    choice: ClusterChoice,
    groups: GroupDescriptions | None,
    agreement: dict[str, Interval],
    target: str,
) -> tuple[str, ...]:
    said = [choice.reason]
    if groups is not None:
        said += [group.sentence for group in groups]
        statement = choice.model.certificate_.details.get("statement", "")
        if statement.startswith("within"):
            said.append(f"The sum of squared distances to the centers is {statement}.")
    if agreement:
        rand = agreement["adjusted_rand"]
        said.append(
            f"Groups agree with {printable(target)!r}, which took no part, to {rand!r} (adjusted "
            "Rand, 1 is equality)."
        )
    return tuple(said)


def _not_done(told: tuple[str, ...], model: Any) -> tuple[str, ...]:
    alone = () if model is not None else ("There is no model, because there is one group.",)
    return (*told, *alone)


# --- Pictures -------------------------------------------------------------------------------------


def _charts(
    table: Any, X: Any, labels: Any, choice: ClusterChoice, is_numeric: bool, seed: int
) -> tuple[tuple[str, str, Any], ...]:
    charts: list[tuple[str, str, Any]] = [
        ("How many groups", "Every criterion from its least to its largest value.", choice.chart())
    ]
    n = table.num_rows
    some = np.sort(stream(seed, "drawn").permutation(n)[:_DRAWN])
    part = X[some] if is_numeric else table.take(some)
    metric: Any = "euclidean" if is_numeric else Gower()
    if len(np.unique(labels[some])) > 1 and len(some) > len(np.unique(labels[some])):
        samples = silhouette_samples(part, labels[some], metric=metric)
        charts.append(
            (
                "Silhouettes",
                "One bar for each row, sorted within its group; below 0 it is nearer to another.",
                _silhouette_chart(samples, labels[some]),
            )
        )
    if is_numeric and X.shape[1] > 1 and not np.isnan(part).any():
        charts.append(
            (
                "Projection",
                "Rows along the two directions of largest variance, colored by group.",
                _projection_chart(part, labels[some]),
            )
        )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        tree = linkage(part, "ward" if is_numeric else "average", metric)
    charts.append(
        (
            "Tree of merges",
            "Leaves are rows or clusters of rows; branches meet at the height of their merge.",
            Dendrogram(tree, most=24),
        )
    )
    return tuple(charts)


def _silhouette_chart(samples: Any, labels: Any) -> Chart:
    marks, start = [], 0.0
    for place, label in enumerate(np.unique(labels)):
        lengths = np.sort(samples[labels == label])[::-1]
        places = start + np.arange(len(lengths))
        low, high = np.minimum(lengths, 0.0), np.maximum(lengths, 0.0)
        marks.append(Bars(low, high, places, places + 1.0, label=f"group {label}", color=place))
        start += len(lengths) + max(len(samples) * 0.02, 1.0)
    title = f"Silhouettes, {number(float(samples.mean()))} on average"
    return Chart(Axis("silhouette", grid=True), Axis("rows", ticks=()), marks, title)


def _projection_chart(X: Any, labels: Any) -> Chart:
    model = PCA(2).fit(X)
    Z = model.transform(X)
    marks = [
        Cloud(Z[labels == label, 0], Z[labels == label, 1], f"group {label}", place, opacity=0.7)
        for place, label in enumerate(np.unique(labels))
    ]
    shares = model.explained_variance_ratio_
    x, y = (Axis(f"component {i + 1} ({100 * shares[i]:.0f} %)") for i in range(2))
    return Chart(x, y, marks, "Projection of the groups", height=420.0)
