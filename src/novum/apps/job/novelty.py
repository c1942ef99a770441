"""The job of finding unusual rows: several detectors, what they agree on, and why a row stands out.

    table -> features -> detectors on the same folds -> consensus -> reasons, pictures -> files

Detectors of different kinds are compared by how they rank rows that they have not seen
(`novum.evaluation.detectors`); networks are among them where torch is installed and the budget
allows, and an autoencoder that has not seen the most unusual rows tells what it expected in their
cells. Where a target of two classes is named, its rarer class says what is novel, and the detectors
are judged by it; it is no feature. The model that is written is the best detector that draws a
line, fitted to all rows (those that are known to be novel left out).
"""

from __future__ import annotations

import warnings
from dataclasses import asdict, dataclass, field, replace
from datetime import date
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.base import clone, is_outlier_detector

from novum import __version__
from novum.apps.job.clock import Listener, Silent
from novum.apps.job.mistakes import cell_text
from novum.apps.job.outputs import MODEL, RUN
from novum.apps.job.request import Request
from novum.apps.job.untargeted import (
    as_numbers,
    attempted_charts,
    read_untargeted,
    write_record,
)
from novum.core import save
from novum.core.learners import FewRowsWarning
from novum.core.text import printable
from novum.decomposition import PCA
from novum.display import Axis, Bars, Chart, Cloud, number
from novum.evaluation import NETWORKS, DetectorComparison, compare_detectors, default_detectors
from novum.neural import has_torch
from novum.trees import IsolationForest

SCORES = "scores.csv"
# Rows that are told with reasons, and rows of a picture.
_TOLD, _DRAWN = 10, 1500
_TREES = {"quick": 100, "standard": 200, "thorough": 500}
# Cells of a table, and the least budget in seconds, for which networks are trained.
_NETWORK_CELLS, _NETWORK_SECONDS = {"quick": 0, "standard": 10**6, "thorough": 10**7}, 60.0
_AUTOENCODER, _ADVERSARIAL, _SPHERE = (
    "autoencoder",
    "adversarial network",
    "support vector sphere",
)


@dataclass(frozen=True)
class UnusualRow:
    """A row that stands out.

    Attributes
    ----------
    row : int
        From 1, as in the table.
    name : str
        Its identifier, or empty.
    rank : float
        Share of rows that are less unusual, by the consensus.
    reasons : tuple of (column, cell, share)
        The columns that make it stand out, with their shares of what does.
    expected : dict from columns to texts
        What an autoencoder expects in these cells, where there is one.
    """

    row: int
    name: str
    rank: float
    reasons: tuple[tuple[str, str, float], ...]
    expected: dict[str, str] = field(default_factory=dict)

    @property
    def sentence(self) -> str:
        what = ", ".join(self.cell(column, text) for column, text, _ in self.reasons)
        name = f" ({printable(self.name, 40)})" if self.name else ""
        return f"Row {self.row}{name}: {what or 'no single column tells why'}."

    def cell(self, column: str, text: str) -> str:
        """A cell in words, with what was expected."""
        expected = f" (expected {self.expected[column]})" if column in self.expected else ""
        return f"{printable(column, 40)} = {text}{expected}"


@dataclass(frozen=True, eq=False)
class NoveltyRun:
    """What a search for unusual rows found.

    Attributes
    ----------
    name : str
        Of the table.
    n_rows : int
    verdict : tuple of str
    kinds : tuple of (column, kind, reason)
    not_done : tuple of str
    settings : dict
    comparison : DetectorComparison
    unusual : tuple of UnusualRow
    target : str
        The column that says what is novel, or empty.
    charts : tuple of (title, caption, Chart)
    """

    name: str
    n_rows: int
    verdict: tuple[str, ...]
    kinds: tuple[tuple[str, str, str], ...]
    not_done: tuple[str, ...]
    settings: dict[str, Any]
    comparison: DetectorComparison
    unusual: tuple[UnusualRow, ...]
    target: str
    charts: tuple[tuple[str, str, Any], ...]
    date: str = field(default_factory=lambda: date.today().isoformat())

    def plain(self) -> dict[str, Any]:
        """The record as plain data."""

        def three(interval: Any) -> Any:
            return None if interval is None else [interval.estimate, interval.low, interval.high]

        return {
            "task": "novelty",
            "novum": __version__,
            "date": self.date,
            "table": self.name,
            "n_rows": self.n_rows,
            "settings": self.settings,
            "verdict": list(self.verdict),
            "kinds": [list(kind) for kind in self.kinds],
            "detectors": [
                {
                    "name": r.name,
                    "area": three(r.area),
                    "cost": three(r.cost),
                    "agreement": three(r.agreement),
                    "stability": three(r.stability),
                    "seconds": r.seconds,
                }
                for r in self.comparison.results
            ],
            "unusual": [asdict(row) for row in self.unusual],
            "not_done": list(self.not_done),
        }

    def as_recorded(self, plain: dict[str, Any]) -> NoveltyRun:
        """The same run, found at the time and in the seconds that its record tells."""
        seconds = {one["name"]: one["seconds"] for one in plain["detectors"]}
        results = tuple(
            replace(result, seconds=seconds.get(result.name, result.seconds))
            for result in self.comparison.results
        )
        comparison = replace(self.comparison, results=results)
        return replace(self, date=plain["date"], comparison=comparison)


def run_novelty(request: Request, folder: Path, listener: Listener | None = None) -> NoveltyRun:
    """Ranks the rows of a table by how unusual they are; writes model, scores and record."""
    told: Listener = listener or Silent()
    seen = read_untargeted(request, folder, told)
    loaded, table, rows = seen.loaded, seen.X, seen.rows
    known, target = _known(loaded, rows)
    ordinary = np.arange(table.num_rows) if known is None else np.flatnonzero(~known)
    detectors, left_out = _detectors(table.take(ordinary), request)
    told.stage(f"comparing {len(detectors)} detectors")
    comparison = compare_detectors(table, known, detectors=detectors, random_state=request.seed)
    comparison = replace(comparison, not_done=left_out | comparison.not_done)
    told.stage("looking for reasons")
    forest = clone(detectors["isolation forest"]).fit(table.take(ordinary))
    autoencoder = None
    others = np.setdiff1d(ordinary, comparison.most_unusual[:_TOLD])
    if len(others) >= _TOLD and _AUTOENCODER in {r.name for r in comparison.results}:
        with warnings.catch_warnings():
            # It is asked what it expects, and draws no line.
            warnings.simplefilter("ignore", FewRowsWarning)
            autoencoder = clone(detectors[_AUTOENCODER]).fit(table.take(others))
    unusual = unusual_rows(
        forest, table, comparison.consensus, rows, seen.ids, autoencoder=autoencoder
    )
    told.stage("fitting the best detector")
    # Densities rank rows and draw no line between ordinary and novel ones.
    names = [result.name for result in comparison.results]
    best = next(name for name in names if is_outlier_detector(detectors[name]))
    model = clone(detectors[best]).fit(table.take(ordinary))
    folder.mkdir(parents=True, exist_ok=True)
    save(model, folder / MODEL)
    ranks = {"consensus": comparison.consensus} | {r.name: r.ranks for r in comparison.results}
    shown = {name: [f"{rank:.6g}" for rank in values] for name, values in ranks.items()}
    seen.write_rows(folder / SCORES, shown)
    told.stage("drawing pictures")
    charts, failed = attempted_charts(lambda: _charts(table, seen.is_numeric, comparison))
    result = NoveltyRun(
        loaded.name,
        loaded.n_rows,
        _verdict(comparison, unusual, target),
        seen.kinds,
        (*seen.not_done, *comparison.omissions, *failed),
        asdict(request),
        comparison,
        unusual,
        target,
        charts,
    )
    write_record(folder / RUN, result.plain())
    return result


def _known(loaded: Any, rows: Any) -> tuple[Any, str]:
    """Which rows are novel, by the rarer of two classes of a target that was named."""
    name = loaded.target
    if not name:
        return None, ""
    cells = loaded.table.column(name).take(rows).to_pylist()
    classes = sorted({str(cell) for cell in cells if cell is not None})
    if len(classes) != 2:
        return None, ""
    texts = np.array([str(cell) for cell in cells])
    counts = [(texts == label).sum() for label in classes]
    return texts == classes[int(np.argmin(counts))], name


def _detectors(ordinary: Any, request: Request) -> tuple[dict[str, Any], dict[str, str]]:
    """The default bench, as far as preset and budget allow; why the others were left out."""
    is_short = request.budget_seconds is not None and request.budget_seconds < _NETWORK_SECONDS
    detectors, left_out = default_detectors(
        ordinary,
        n_trees=_TREES[request.preset],
        network_cells=0 if is_short else _NETWORK_CELLS[request.preset],
        random_state=request.seed,
    )
    if request.preset == "quick":
        # Those that take long, and nobody asked for them.
        for name in (_SPHERE, *NETWORKS):
            detectors.pop(name, None)
            left_out.pop(name, None)
    elif has_torch():
        advice = "--preset thorough takes the time"
        for name in [name for name in NETWORKS if name in left_out]:
            left_out[name] = (
                "the budget is below a minute" if is_short else f"{left_out[name]}; {advice}"
            )
        if request.preset == "standard" and detectors.pop(_ADVERSARIAL, None) is not None:
            left_out[_ADVERSARIAL] = f"it trains longer than all others; {advice}"
    return detectors, left_out


def unusual_rows(
    forest: IsolationForest,
    table: Any,
    ranks: Any,
    rows: Any,
    ids: Any,
    most: int = _TOLD,
    autoencoder: Any = None,
) -> tuple[UnusualRow, ...]:
    """The rows of highest rank, each with the columns that make random cuts isolate it."""
    places = np.argsort(-ranks, kind="stable")[:most]
    contributions = forest.contributions(table.take(places))
    likely = None if autoencoder is None else autoencoder.reconstruct(table.take(places))
    told = []
    for at, place in enumerate(places.tolist()):
        pull = -np.minimum(contributions.values[at], 0.0)
        total = float(pull.sum())
        order = np.argsort(-pull, kind="stable")[:3]
        reasons = tuple(
            (
                contributions.columns[j],
                cell_text(table, contributions.columns[j], place),
                float(pull[j] / total),
            )
            for j in order
            if total > 0 and pull[j] > 0.1 * total
        )
        row = int(rows[place])
        name = "" if ids is None else str(ids[row])
        expected = {}
        if likely is not None:
            at_column = {column: j for j, column in enumerate(table.column_names)}
            expected = {c: _short(likely[at, at_column[c]]) for c, _, _ in reasons}
        told.append(UnusualRow(row + 1, name, float(ranks[place]), reasons, expected))
    return tuple(told)


def _short(value: Any) -> str:
    return number(value) if isinstance(value, float) else printable(str(value), 40)


def _verdict(
    comparison: DetectorComparison, unusual: tuple[UnusualRow, ...], target: str
) -> tuple[str, ...]:
    said = [comparison.sentence]
    if target:
        said.append(
            f"What is novel is told by the rarer class of {printable(target)!r}, which took no "
            "part in learning."
        )
    said.append("The most unusual rows, and what makes them so:")
    said += [row.sentence for row in unusual[:5]]
    return tuple(said)


def _charts(
    table: Any, is_numeric: bool, comparison: DetectorComparison
) -> tuple[tuple[str, str, Any], ...]:
    consensus = np.sort(comparison.consensus)
    edges = np.linspace(0.0, 1.0, 21)
    counts, _ = np.histogram(consensus, edges)
    bars = Bars(edges[:-1], edges[1:], np.zeros(20), counts.astype(float))
    spread = Chart(
        Axis("mean rank over the detectors", (0, 1)), Axis("rows", grid=True), [bars], "Consensus"
    )
    charts: list[tuple[str, str, Any]] = [
        ("Detectors", "Each with its interval.", comparison.chart()),
        (
            "Consensus",
            "A heap at the right end, apart from the others, are rows that all detectors call "
            "unusual.",
            spread,
        ),
    ]
    numbers = as_numbers(table) if is_numeric else None
    if numbers is not None and numbers.shape[1] > 1 and not np.isnan(numbers).any():
        some = comparison.most_unusual[:: max(1, len(numbers) // _DRAWN)]
        deviation = numbers.std(axis=0)
        X = (numbers - numbers.mean(axis=0)) / np.where(deviation > 0, deviation, 1.0)
        Z = PCA(2).fit(X).transform(X)
        top = set(comparison.most_unusual[:_TOLD].tolist())
        rest = np.array([i for i in some.tolist() if i not in top], int)
        first = np.array(sorted(top), int)
        marks = [
            Cloud(Z[rest, 0], Z[rest, 1], "rows", "muted", opacity=0.6),
            Cloud(Z[first, 0], Z[first, 1], "most unusual", 1, radius=4.0),
        ]
        chart = Chart(Axis("component 1"), Axis("component 2"), marks, "Projection", height=420.0)
        charts.append(("Projection", "Rows along the directions of largest variance.", chart))
    return tuple(charts)
