"""What the certificate of the chosen model says: how far from the optimum its fit can be."""

from __future__ import annotations

from novum.apps.job.record import RunRecord
from novum.apps.report.blocks import Block, Lines, Section, Text
from novum.apps.report.detail import Detail, first_of


def certificate_section(record: RunRecord, detail: Detail) -> Section:
    """The certificate, line by line."""
    lines = record.chosen.certificate
    blocks: list[Block]
    if not lines:
        blocks = [Text("The chosen model carries no certificate.")]
    else:
        shown, rest = first_of(lines, detail.rows, "lines")
        blocks = [
            Text(
                "Every fit states what it optimized, the value it reached, and how far from the "
                "optimum it can be at most. “Proved” and “within tolerance” come with a bound; "
                "“local” says only that no small step helps."
            ),
            Lines(shown, "Certificate of the chosen model"),
        ]
        blocks += [Text(rest, "quiet")] if rest else []
    return Section("certificate", "What is proved", "Certificate", blocks)
