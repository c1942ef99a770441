"""Rows that repeat or contradict each other, and rows without a target."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from novum.apps.job.record import Finding
from novum.apps.job.table.evidence import Evidence, percent
from novum.apps.job.table.row_fingerprints import Words, fingerprints
from novum.core.sources.report import counted

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
            "This run neither learns from them nor judges on them; they get predictions.",
        )


def _grouped(prints: Words) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Rows in the order of their fingerprints, and where each run of equal ones starts."""
    order = np.argsort(prints, kind="stable")
    ordered = prints[order]
    return order, np.flatnonzero(np.concatenate([[True], ordered[1:] != ordered[:-1]]))


def _repeated(
    order: NDArray[np.intp], starts: NDArray[np.intp], coded: NDArray[np.generic]
) -> Iterator[Finding]:
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
    order: NDArray[np.intp], starts: NDArray[np.intp], coded: NDArray[np.int64], n_classes: int
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
