"""Tables: columns line up, names cannot break out of text or HTML."""

from novum.evaluation.reports.tables import Table, html_report, text_report

PAYLOADS = ["<script>", '"><svg onload=x>', "</style>", "x\u202ey", "a\x00b", "\u2028", "n" * 10**6]


def test_columns_line_up() -> None:
    table = Table("T", ("a", "long head"), (("x", "1"), ("longer", "22")), "note")
    lines = table.text().splitlines()
    assert lines == [
        "T",
        "  a       long head",
        "  x               1",
        "  longer         22",
        "  note",
    ]


def test_no_payload_breaks_out() -> None:
    for payload in PAYLOADS:
        table = Table(payload, (payload, payload), ((payload, payload),), payload)
        page = html_report(payload, payload, [table], [payload])
        assert "<script" not in page
        assert "<svg" not in page
        assert page.count("</style>") == 1
        for forbidden in "\x00\u202e\u2028":
            assert forbidden not in page
            assert forbidden not in text_report("t", "", [table], [])
        assert len(page) < 20_000
