"""The target itself: rare classes, classes too small for the folds, missing cells that go with it.

Whether cells are missing is compared with the target by Pearson's chi-squared of a 2 x K table,
or by the t statistic of two means; a column is named where the p-value, times the number of
columns compared, is below 0.01 and the relation is not negligible (Cramer's V or r of 0.1).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import special

from novum.apps.job.record import Finding
from novum.apps.job.table.evidence import Evidence, percent, quoted
from novum.apps.job.table.task import Task
from novum.core.text import label_text, printable

RARE_CLASS = 0.1
_FEWEST_CELLS = 10
_LEVEL = 0.01
_NEGLIGIBLE = 0.1


def target_findings(evidence: Evidence) -> Iterator[Finding]:
    """Findings about the target."""
    if evidence.task.is_classification:
        yield from _imbalance(evidence.task)
        yield from _small_classes(evidence.task, evidence.folds)
    yield from _missing_with_target(evidence)


# --- Classes --------------------------------------------------------------------------------------


def _imbalance(task: Task) -> Iterator[Finding]:
    assert task.classes is not None
    counts = task.class_counts()
    shares = counts / counts.sum()
    # Of many classes each is rare; what matters is how it compares with an equal share.
    rare = np.flatnonzero(shares * len(counts) < 2 * RARE_CLASS)
    if not rare.size:
        return
    least = sorted(rare.tolist(), key=lambda k: counts[k])
    shown = ", ".join(
        f"{label_text(task.classes[k])} {counts[k]:,} ({percent(shares[k])})" for k in least[:5]
    )
    more = f" and {len(least) - 5} more" if len(least) > 5 else ""
    largest = int(shares.argmax())
    base = f"always naming {label_text(task.classes[largest])} is right in {percent(shares.max())}"
    yield Finding(
        "imbalance",
        "warning",
        (task.target,),
        f"Rare classes of {printable(task.target)!r}: {shown}{more}; {base} of the rows.",
        "Accuracy says little here; give costs (--cost, or --cost-fn and --cost-fp), or choose by "
        "--metric balanced_accuracy or log_loss. This run keeps the shares in every split and "
        "weights nothing by itself.",
    )


def _small_classes(task: Task, folds: int) -> Iterator[Finding]:
    assert task.classes is not None
    counts = task.class_counts()
    small = np.flatnonzero(counts < folds)
    if small.size:
        shown = ", ".join(f"{label_text(task.classes[k])} ({counts[k]})" for k in small[:5])
        more = f" and {small.size - 5} more" if small.size > 5 else ""
        yield Finding(
            "small class",
            "warning",
            (task.target,),
            f"Classes with fewer rows than the {folds} folds: {shown}{more}.",
            "Some folds have no row of such a class to judge, or none to learn from. Add rows, or "
            "join classes. This run keeps them.",
        )


# --- Missing cells --------------------------------------------------------------------------------


def _missing_with_target(evidence: Evidence) -> Iterator[Finding]:
    task = evidence.task
    holed = [
        place
        for place, name in enumerate(task.features)
        if min((m := evidence.columns[name].n_missing), task.n_rows - m) >= _FEWEST_CELLS
    ]
    every = np.arange(task.n_rows)
    found: list[tuple[str, str]] = []
    for place in holed:
        cells = task.cells_at(place, every)
        gone = ~cells.known[task.labeled]
        said = _related(gone, task, len(holed))
        if said:
            found.append((cells.name, f"{printable(cells.name, 60)!r} {said}"))
    if found:
        more = f"; and {len(found) - 3} more columns" if len(found) > 3 else ""
        yield Finding(
            "missing with the target",
            "warning",
            tuple(name for name, _ in found),
            f"Whether a cell is missing goes with the target: "
            f"{'; '.join(text for _, text in found[:3])}{more}.",
            "Make sure that cells will be missing for the same reasons when the model is used; "
            f"filled cells alone would hide it. This run keeps {quoted([n for n, _ in found])}; "
            "learners that need every cell get columns that say where cells were missing.",
        )


def _related(gone: NDArray[np.bool_], task: Task, n_compared: int) -> str:
    """What to say where missing cells go with the target; empty where they do not."""
    n_gone = int(np.count_nonzero(gone))
    if min(n_gone, gone.size - n_gone) < _FEWEST_CELLS:
        return ""
    target = task.coded[task.labeled]
    if task.classes is None:
        strength, p_value = two_means(target, gone)
    else:
        strength, p_value = two_rows(target, gone, len(task.classes))
    if p_value * n_compared >= _LEVEL or strength < _NEGLIGIBLE:
        return ""
    if task.classes is None:
        with_, without = float(target[~gone].mean()), float(target[gone].mean())
        return f"(mean target {without:.4g} where missing, {with_:.4g} where known)"
    shares = np.bincount(target, gone, len(task.classes)) / task.class_counts()
    high, low = int(shares.argmax()), int(shares.argmin())
    return (
        f"(missing in {percent(shares[high])} of the rows of {label_text(task.classes[high])}, in "
        f"{percent(shares[low])} of {label_text(task.classes[low])})"
    )


def two_rows(codes: NDArray[Any], gone: NDArray[np.bool_], n_classes: int) -> tuple[float, float]:
    """Cramer's V and the p-value of Pearson's chi-squared for missing or not against classes.

    Examples
    --------
    >>> two_rows(np.repeat([0, 1], 50), np.repeat([True, False], 50), 2)[0]
    1.0
    """
    table = np.stack([np.bincount(codes[part], minlength=n_classes) for part in (gone, ~gone)])
    table = table[:, table.sum(axis=0) > 0]
    n = table.sum()
    expected = np.outer(table.sum(axis=1), table.sum(axis=0)) / n
    statistic = float((np.square(table - expected) / expected).sum())
    degrees = table.shape[1] - 1
    p_value = float(special.chdtrc(degrees, statistic)) if degrees else 1.0
    return float(np.sqrt(statistic / n)), p_value


def two_means(y: NDArray[Any], gone: NDArray[np.bool_]) -> tuple[float, float]:
    """The correlation of missing or not with numbers, and the p-value of its t statistic."""
    centered = y - y.mean()
    size = float(np.abs(centered).max())
    if size == 0 or len(y) < 3:
        return 0.0, 1.0
    z, g = centered / size, gone - gone.mean()
    r = abs(float(z @ g)) / np.sqrt(float(z @ z) * float(g @ g))
    if r >= 1:
        return 1.0, 0.0
    t = r * np.sqrt((len(y) - 2) / (1 - r * r))
    return float(r), float(2 * special.stdtr(len(y) - 2, -t))
