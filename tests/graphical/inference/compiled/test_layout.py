"""The places of a program: the fields of each record are counted from zero without a gap."""

from __future__ import annotations

from novum.graphical.inference.compiled import layout

# The constants that end a record are its length.
LENGTHS = {"HEADER", "CLIQUE_FIELDS", "OP_FIELDS", "PROJECTION_FIELDS", "LOAD_FIELDS", "N_PRICES"}


def test_every_record_counts_its_fields() -> None:
    found = set()
    expected = 0
    for name, value in vars(layout).items():
        if not name.isupper():
            continue
        expected = 0 if value == 0 else expected
        assert value == expected, name
        expected += 1
        if name in LENGTHS:
            found.add(name)
    assert found == LENGTHS
