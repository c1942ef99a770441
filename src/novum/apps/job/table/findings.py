"""What the owner of a table should know before trusting a model of it.

Nothing is changed here: a finding says what was seen, with numbers, what to do about it, and what
this run does. Searches that compare columns or predict the target look at a sample of the rows
where there are many, and say so; everything else counts all rows. The same table gives the same
findings.
"""

from __future__ import annotations

from novum.apps.job.record import Finding, ProfileRecord
from novum.apps.job.table.evidence import Evidence
from novum.apps.job.table.findings_columns import column_findings
from novum.apps.job.table.findings_leaks import leak_findings
from novum.apps.job.table.findings_likeness import likeness_findings
from novum.apps.job.table.findings_rows import row_findings
from novum.apps.job.table.findings_target import target_findings
from novum.apps.job.table.task import Task
from novum.core.sources import ReadReport

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
    found = [
        *leak_findings(evidence),
        *target_findings(evidence),
        *column_findings(evidence),
        *likeness_findings(evidence),
        *row_findings(evidence),
    ]
    return tuple(sorted(found, key=lambda finding: _GRAVITY[finding.severity]))
