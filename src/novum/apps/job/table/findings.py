"""What the owner of a table should know before trusting a model of it.

Nothing is changed here: a finding says what was seen, with numbers, what to do about it, and what
this run does. Searches that compare columns or predict the target look at a sample of the rows
where there are many, and say so; everything else counts all rows. The same table gives the same
findings.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray
from scipy import special

from novum.apps.job.record import Finding, ProfileRecord
from novum.apps.job.table.evidence import Evidence, percent, quoted
from novum.apps.job.table.findings_columns import column_findings
from novum.apps.job.table.findings_leaks import leak_findings
from novum.apps.job.table.findings_likeness import likeness_findings
from novum.apps.job.table.profile import fingerprints
from novum.apps.job.table.task import Task
from novum.core.sources import ReadReport, counted
from novum.core.text import label_text, printable
from novum.display import number
from novum.numerics import Array, Integers, Mask, Positions, Words

# --- Rows -----------------------------------------------------------------------------------------
# Rows that repeat or contradict each other, and rows without a target.

# From this share of the rows on, copies change what scores mean.
_MANY_COPIES = 0.05


def row_findings(evidence: Evidence) -> Iterator[Finding]:
    """Findings about rows."""
    task = evidence.task
    prints = fingerprints(task.each_feature(), task.n_rows)[task.labeled]
    coded = task.coded[task.labeled]
    order, starts = _grouped(prints)
    yield from _repeated(order, starts, coded)
    if task.classes is not None:
        yield from _contradicting(order, starts, coded, len(task.classes))
    if len(task.unlabeled):
        count = len(task.unlabeled)
        yield Finding(
            "rows without a target",
            "note",
            (task.target,),
            f"{counted(count, 'row')} of {task.n_rows:,} without a target "
            f"({percent(count / task.n_rows)}).",
            "This run does not judge on them; they get predictions. What it learns from them, if "
            "that helps, the verdict says.",
        )


def _grouped(prints: Words) -> tuple[Positions, Positions]:
    """Rows in the order of their fingerprints, and where each run of equal ones starts."""
    order = np.argsort(prints, kind="stable")
    ordered = prints[order]
    return order, np.flatnonzero(np.concatenate([[True], ordered[1:] != ordered[:-1]]))


def _repeated(order: Positions, starts: Positions, coded: NDArray[np.generic]) -> Iterator[Finding]:
    """Rows that agree with an earlier one in all features and the target."""
    groups = np.repeat(np.arange(len(starts)), np.diff(starts, append=len(order)))
    whole = np.lexsort((coded[order], groups))
    same_row = (groups[whole][1:] == groups[whole][:-1]) & (
        coded[order][whole][1:] == coded[order][whole][:-1]
    )
    count = int(np.count_nonzero(same_row))
    if not count:
        return
    share = count / len(order)
    yield Finding(
        "duplicate rows",
        "warning" if share >= _MANY_COPIES else "note",
        (),
        f"{counted(count, 'row')} {'repeats' if count == 1 else 'repeat'} an earlier row in all "
        f"features and the target ({percent(share)}).",
        "If they are copies and not separate cases, remove them: copies on both sides of a split "
        "make scores too good. This run keeps them.",
    )


def _contradicting(
    order: Positions, starts: Positions, coded: Integers, n_classes: int
) -> Iterator[Finding]:
    """Rows with equal features and different classes: some of them every model gets wrong."""
    sizes = np.diff(starts, append=len(order))
    groups = np.repeat(np.arange(len(starts)), sizes)
    if (sizes == 1).all():
        return
    keys, counts = np.unique(groups * n_classes + coded[order], return_counts=True)
    largest = np.zeros(len(starts), np.int64)
    np.maximum.at(largest, keys // n_classes, counts)
    wrong = sizes - largest
    n_rows, n_wrong = int(sizes[wrong > 0].sum()), int(wrong.sum())
    if n_wrong:
        yield Finding(
            "contradicting rows",
            "warning" if n_wrong >= _MANY_COPIES * len(order) else "note",
            (),
            f"{n_rows:,} rows share all their features with a row of another class: any model is "
            f"wrong for at least {n_wrong:,} of them ({percent(n_wrong / len(order))} of all).",
            "Check how the target was recorded, or add columns that tell such rows apart. This run "
            "keeps them.",
        )


# --- The target -----------------------------------------------------------------------------------
# The target itself: rare classes, classes too small for the folds, missing cells that go with it.
#
# Whether cells are missing is compared with the target by Pearson's chi-squared of a 2 x K table,
# or by the t statistic of two means; a column is named where the p-value, times the number of
# columns compared, is below 0.01 and the relation is not negligible (Cramer's V or r of 0.1).

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
        f"{'A mean over the rows' if task.levels else 'Accuracy'} says little here; give costs "
        "(--cost, or --cost-fn and --cost-fp), or choose by --metric "
        f"{'quadratic_kappa' if task.levels else 'balanced_accuracy'} or log_loss. This run "
        "keeps the shares in every split and weights nothing by itself.",
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
    columns: list[tuple[str, str]] = []
    for place in holed:
        cells = task.cells_at(place, every)
        gone = ~cells.known[task.labeled]
        said = _related(gone, task, len(holed))
        if said:
            columns.append((cells.name, f"{printable(cells.name, 60)!r} {said}"))
    if columns:
        more = f"; and {len(columns) - 3} more columns" if len(columns) > 3 else ""
        yield Finding(
            "missing with the target",
            "warning",
            tuple(name for name, _ in columns),
            f"Whether a cell is missing goes with the target: "
            f"{'; '.join(text for _, text in columns[:3])}{more}.",
            "Make sure that cells will be missing for the same reasons when the model is used; "
            f"filled cells alone would hide it. This run keeps {quoted([n for n, _ in columns])}; "
            "learners that need every cell get columns that say where cells were missing.",
        )


def _related(gone: Mask, task: Task, n_compared: int) -> str:
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
        return f"(mean target {number(without)} where missing, {number(with_)} where known)"
    shares = np.bincount(target, gone, len(task.classes)) / task.class_counts()
    high, low = int(shares.argmax()), int(shares.argmin())
    return (
        f"(missing in {percent(shares[high])} of the rows of {label_text(task.classes[high])}, in "
        f"{percent(shares[low])} of {label_text(task.classes[low])})"
    )


def two_rows(codes: Array, gone: Mask, n_classes: int) -> tuple[float, float]:
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


def two_means(y: Array, gone: Mask) -> tuple[float, float]:
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


_GRAVITY = {"danger": 0, "warning": 1, "note": 2}


def find(
    task: Task, profile: ProfileRecord, report: ReadReport | None = None, *, folds: int = 5
) -> tuple[Finding, ...]:
    """Findings about a table, the gravest first.

    Parameters
    ----------
    task : Task
    profile : ProfileRecord
        Of the whole table.
    report : ReadReport, optional
        What the reader found, for columns that mix numbers and words.
    folds : int
        Folds of the cross-validation to come; classes with fewer rows are named.

    Examples
    --------
    >>> from novum.apps.job.table.formalizing import formalize
    >>> from novum.apps.job.table.profile import profile_table
    >>> from novum.apps.job.table.reading import read
    >>> from novum.apps.job.request import Request
    >>> loaded = read(Request("iris"))
    >>> task = formalize(loaded, Request("iris"))
    >>> for finding in find(task, profile_table(loaded.table, loaded.schema, loaded.target)):
    ...     print(finding.severity, finding.kind, finding.columns)
    note correlated columns ('petal_length', 'petal_width')
    note duplicate rows ()
    """
    evidence = Evidence(task, profile, report, folds)
    findings = [
        *leak_findings(evidence),
        *target_findings(evidence),
        *column_findings(evidence),
        *likeness_findings(evidence),
        *row_findings(evidence),
    ]
    return tuple(sorted(findings, key=lambda finding: _GRAVITY[finding.severity]))
