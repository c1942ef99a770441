"""Records of several targets and of many labels, for tests of pages."""

from __future__ import annotations

from dataclasses import replace

from novum.apps.job.record import LabelsRecord, RunRecord, SeveralRecord
from novum.apps.job.record_model import Estimate
from tests.apps.report import sample_records

LONG = "a name of a target that is very long and goes on and on without an end in sight " * 2


def several_record() -> SeveralRecord:
    """A number, two classes and more classes, one of them with a long name."""
    runs = (
        sample_records.regression_record(),
        sample_records.binary_record(),
        _named(sample_records.multiclass_record(), LONG),
    )
    each = tuple(f"{run.task.target}: {run.verdict[-1]}" for run in runs)
    return SeveralRecord(
        verdict=("3 targets, each with a model of its own.", *each, "All targets are better."),
        settings={},
        targets=tuple(run.task.target for run in runs),
        folders=("targets/1_a", "targets/2_b", f"targets/3_{LONG[:40]}"),
        runs=runs,
        measures=(("all targets right", Estimate(0.5, 0.4, 0.6)),),
        not_done=("The run of 'd' could not be made (ValueError).",),
        date="2026-11-18",
    )


def labels_record() -> SeveralRecord:
    """Twelve labels of a set."""
    labels = (*(f"label {k}" for k in range(11)), LONG)
    runs = tuple(_named(sample_records.binary_record(), f"topics={label}") for label in labels)
    names = ("Hamming loss", "micro F1", "macro F1", "exact match")
    found = tuple((name, Estimate(0.5, 0.4, 0.6)) for name in names)
    return SeveralRecord(
        verdict=("12 labels of topics.", "On new rows 5 % are wrong.", "The whole set is right."),
        settings={},
        targets=tuple(run.task.target for run in runs),
        folders=tuple(f"targets/{k}_label" for k in range(12)),
        runs=runs,
        measures=found,
        not_done=(),
        date="2026-11-18",
        labels=LabelsRecord("topics", ";", labels, (("topics=rare", 2),), found),
    )


def _named(record: RunRecord, target: str) -> RunRecord:
    return replace(record, task=replace(record.task, target=target))
