"""Parts that records of runs are made of: columns, standings, curves, a drawing."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import special

from novum.apps.job.record import ColumnRecord, ComparisonRecord, Standing
from novum.apps.job.record_model import (
    ContributionRecord,
    Curve,
    DependenceRecord,
    Estimate,
    GroupError,
    LossKind,
    MistakesRecord,
    RowError,
    SavingRecord,
)

NOTHING = Estimate(None, None, None)
MODELS = (
    ("forest", "Random forest", 0.861),
    ("boosting", "Boosted trees", 0.858),
    ("logistic", "Logistic regression", 0.842),
    ("gaussian", "Gaussian classifier", 0.818),
    ("naive_bayes", "Naive Bayes", 0.807),
    ("tree", "Decision tree", 0.795),
    ("stump", "Stump", 0.702),
)

TREE = """<svg xmlns="http://www.w3.org/2000/svg" role="img" aria-label="Decision tree"
 width="470" height="190" viewBox="0 0 470.0 190.0" font-family="Helvetica" font-size="12"
 fill="currentColor"><title>Decision tree</title>
<path d="M235 68L115 84V110" fill="none" stroke="currentColor" stroke-opacity="0.6"/>
<path d="M235 68L355 84V110" fill="none" stroke="currentColor" stroke-opacity="0.6"/>
<text x="115" y="124" text-anchor="middle">&lt;= 41.5</text>
<text x="355" y="124" text-anchor="middle">&gt; 41.5, or missing</text>
<g><title>1,382 rows</title><rect x="165" y="8" width="140" height="60" rx="2" fill="currentColor"
 fill-opacity="0.05" stroke="currentColor" stroke-opacity="0.6"/>
<text x="235" y="28" text-anchor="middle" font-weight="bold">age of the car</text>
<text x="235" y="44" text-anchor="middle" fill-opacity="0.8">1382 rows</text>
<rect x="173" y="54" width="62" height="6" fill="#0072b2"/>
<rect x="235" y="54" width="62" height="6" fill="#e69f00"/></g>
<g><rect x="45" y="130" width="140" height="50" rx="8" fill="currentColor" fill-opacity="0.05"
 stroke="currentColor"/><text x="115" y="158" text-anchor="middle" font-weight="bold">no</text></g>
<g><rect x="285" y="130" width="140" height="50" rx="8" fill="currentColor" fill-opacity="0.05"
 stroke="currentColor"/><text x="355" y="158" text-anchor="middle" font-weight="bold">yes</text>
</g></svg>"""


def near(value: float, half: float) -> Estimate:
    return Estimate(value, value - half, value + half)


def numeric_column(name: str, law: Any, n: int = 1382, told: float | None = 0.1) -> ColumnRecord:
    values = law.ppf((np.arange(n) + 0.5) / n)
    counts, edges = np.histogram(values, 24)
    quantiles = tuple(np.quantile(values, [0, 0.25, 0.5, 0.75, 1]).tolist())
    return ColumnRecord(
        *(name, "numeric", 0, n, quantiles, float(values.mean()), float(values.std())),
        *(tuple(edges.tolist()), tuple(counts.tolist()), (), 0, 0, told),
    )


def nominal_column(name: str, levels: dict[str, int], told: float | None = 0.05) -> ColumnRecord:
    ranked = tuple(sorted(levels.items(), key=lambda level: -level[1]))
    missing = max(0, 1382 - sum(levels.values()))
    return ColumnRecord(
        *(name, "nominal", missing, len(levels), (), None, None, (), ()), *(ranked, 0, 0, told)
    )


# --- Parts ----------------------------------------------------------------------------------------


def standings(scale: float = 1.0) -> tuple[Standing, ...]:
    draws = np.random.default_rng(3)
    found = []
    for place, (family, title, score) in enumerate(MODELS):
        folds = tuple((scale * (score + draws.normal(0, 0.018, 10))).tolist())
        behind = MODELS[0][2] - score
        found.append(
            Standing(
                family,
                title,
                near(scale * score, scale * 0.017),
                None if place == 0 else near(-scale * behind, scale * 0.012),
                None if place == 0 else max(1e-6, 0.6 * float(np.exp(-80 * behind))),
                None if place == 0 else float(np.exp(-90 * behind)),
                0.35 / (place + 1),
                0.012 / (place + 1),
                (("trees", "300"), ("depth", "12")) if place < 2 else (),
                place == 0,
                folds,
            )
        )
    return tuple(found)


def comparison() -> ComparisonRecord:
    ranks = (1.6, 1.9, 3.1, 4.2, 4.6, 5.7, 6.9)
    names = tuple(title for _, title, _ in MODELS)
    pairs = tuple(
        (
            *(names[i], names[j], round(MODELS[i][2] - MODELS[j][2], 4), -0.01, 0.04),
            *(0.05 * (i + 1) / (j - i), "told apart" if j - i > 2 else "not told apart"),
        )
        for i in range(7)
        for j in range(i + 1, 7)
    )
    verdict = "Random forest and boosted trees cannot be told apart; both beat the other five."
    return ComparisonRecord(names, ranks, 2.85, 3.2e-8, pairs, verdict)


def classification_curves(labels: tuple[str, ...] = ("",)) -> dict[str, tuple[Curve, ...]]:
    """Curves of normal scores, a little harder for each class."""
    x = np.concatenate([[0.0], special.ndtr(np.linspace(-3.4, 3.4, 99)), [1.0]])
    curves: dict[str, list[Curve]] = {"roc": [], "precision_recall": [], "det": []}
    for place, name in enumerate(labels):
        gap = 2.4 - 0.05 * place
        recall = special.ndtr(gap + special.ndtri(x))
        low, high = np.clip(recall - 0.04, 0, 1), np.clip(recall + 0.03, 0, 1)
        marks = ((0.12, float(np.interp(0.12, x, recall)), "working point"),) if not name else ()
        curves["roc"].append(curve(x, recall, low, high, marks, name))
        precision = recall[1:] / (recall[1:] + 2 * x[1:])
        band = np.clip(precision - 0.05, 0, 1), np.clip(precision + 0.04, 0, 1)
        curves["precision_recall"].append(curve(recall[1:], precision, *band, (), name))
        curves["det"].append(curve(x, 1 - recall, 1 - high, 1 - low, (), name))
    p = np.array([0.04, 0.15, 0.25, 0.36, 0.44, 0.55, 0.66, 0.74, 0.85, 0.95])
    seen = np.clip(p + 0.06 * np.sin(6 * p), 0, 1)
    bins = [curve(p, seen, np.clip(seen - 0.07, 0, 1), np.clip(seen + 0.07, 0, 1), (), labels[0])]
    return {**{name: tuple(found) for name, found in curves.items()}, "calibration": tuple(bins)}


def cost_curves() -> dict[str, tuple[Curve, ...]]:
    t = np.linspace(0.01, 0.99, 99)
    cost = 0.55 * t**2 + 0.5 * (1 - t) ** 3
    odds = np.linspace(-4, 4, 81)
    least = 0.62 * np.exp(-0.06 * odds**2) + 0.08
    actual = least + 0.05 + 0.02 * np.abs(odds)
    mark = ((0.35, float(np.interp(0.35, t, cost)), "chosen: 0.35"),)
    return {
        "threshold": (curve(t, cost, cost - 0.02, cost + 0.02, mark),),
        "bayes_error": (
            curve(odds, actual, (), (), ((-1.1, 0.69, "this run"),), "actual"),
            curve(odds, least, (), (), (), "minimum"),
        ),
    }


def residual_curves(n: int = 442) -> dict[str, tuple[Curve, ...]]:
    draws = np.random.default_rng(5)
    predicted = 150 + 60 * draws.standard_normal(n)
    left = draws.standard_t(5, n) * 42
    q = special.ndtri((np.arange(n) + 0.5) / n)
    grid = np.linspace(predicted.min(), predicted.max(), 40)
    trend = 6 * np.sin(grid / 60)
    return {
        "predicted": (curve(predicted, predicted + left),),
        "residuals": (
            curve(predicted, left),
            curve(grid, trend, trend - 9, trend + 9, (), "running median"),
        ),
        "quantiles": (curve(q, np.sort(left)),),
    }


def curve(x: Any, y: Any, low: Any = (), high: Any = (), marks: Any = (), label: str = "") -> Curve:
    parts = (tuple(np.asarray(values, float).tolist()) for values in (x, y, low, high))
    return Curve(*parts, marks, label)


def saving(metric: str, model: float, constant: float, answer: str, *, less: bool) -> SavingRecord:
    """A model that saves something, clearly."""
    saved = constant - model if less else model - constant
    room = abs(saved) / 3
    return SavingRecord(metric, answer, near(model, room), near(constant, room), near(saved, room))


def mistakes(kind: LossKind, true: str, decided: str) -> MistakesRecord:
    """Two rows and two groups, one of them clear."""
    cells = (("age of the car", "9.25"), ("region", "north"))
    probability = None if kind == "distance" else 0.04
    return MistakesRecord(
        kind,
        0 if kind == "distance" else 40,
        (
            RowError(17, true, decided, 5.0, probability, cells),
            RowError(1204, true, decided, 1.0, probability, cells),
        ),
        (
            GroupError("region", "north", 41, near(0.34, 0.1), 0.11, 0.004),
            GroupError("premium", "over 410 to 655.5", 69, near(0.2, 0.08), 0.13, 0.31),
        ),
        23,
    )


def dependences(outputs: tuple[str, ...]) -> tuple[DependenceRecord, ...]:
    """A column of numbers and one of levels; outputs take turns in falling."""
    x = np.linspace(0.4, 21.0, 12)
    curves = [0.3 + 0.2 * np.sin(x / 6 + k) for k in range(len(outputs))]
    numbers = tuple(tuple(c.tolist()) for c in curves)
    low, high = (tuple(tuple((c + room).tolist()) for c in curves) for room in (-0.1, 0.1))
    levels = ("north", "south", "east", "west")
    some = tuple(row[:4] for row in numbers)
    return (
        DependenceRecord("age of the car", tuple(x.tolist()), (), outputs, numbers, low, high, 276),
        DependenceRecord(
            *("region", (), levels, outputs, some),
            *(tuple(row[:4] for row in side) for side in (low, high)),
            276,
        ),
    )


def contributions(output: str, true: str, decided: str) -> tuple[ContributionRecord, ...]:
    """Three rows, whose terms add up."""
    terms = (
        ("age of the car", "9.25", near(0.31, 0.05)),
        ("premium", "1,204.50", near(-0.12, 0.04)),
        ("kilometers a year", "missing", near(0.01, 0.02)),
    )
    return tuple(
        ContributionRecord(row, why, true, decided, output, 0.24, 0.49, terms, 0.05)
        for row, why in ((17, "the worst error"), (33, "the least sure answer"), (2, "the surest"))
    )
