"""Names: what steers is shown by its code, what is long is cut, drawings are left alone."""

from __future__ import annotations

import unicodedata
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

from novum.apps.job.record import Finding
from novum.apps.job.record_model import ExplanationRecord
from novum.apps.report.names import LONGEST_TEXT, cleaned, in_words, label, text


@given(st.text())
def test_cleaned_text_is_safe_in_xml_and_on_a_screen(value: str) -> None:
    shown = text(value)
    assert not any(unicodedata.category(c) in ("Cc", "Cf", "Cs", "Zl", "Zp") for c in shown)
    element = ElementTree.Element("text")
    element.text = shown
    assert ElementTree.fromstring(ElementTree.tostring(element, encoding="unicode")).text == (
        shown or None
    )


@given(st.text(), st.integers(5, 100))
def test_text_keeps_to_its_limit(value: str, limit: int) -> None:
    assert len(text(value, limit)) <= limit


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        ("plain name", "plain name"),
        ("a\x00b", "a\\x00b"),
        ("\u202egnp.exe", "\\u202egnp.exe"),
        ("a\u2028b", "a\\u2028b"),
        ("\ufffe", "\ufffd"),
        ("Größe 身長", "Größe 身長"),
    ],
)
def test_known_texts(value: str, shown: str) -> None:
    assert text(value) == shown


def test_label_of_nothing_says_so() -> None:
    assert label("  ") == label("") == "(no name)"


def test_every_text_of_a_record_is_cleaned_but_drawings() -> None:
    record = ExplanationRecord(
        "tree\x00", "a\x00", "<svg>\x00</svg>", ("first\nsecond\x00",), (), "t\x00"
    )
    clean = cleaned(record)
    assert clean.svg == record.svg
    assert clean.rules == ("first", "second\\x00")
    assert clean.text == "a\\x00"
    assert record.text == "a\x00"


def test_keys_and_nested_values_are_cleaned() -> None:
    clean = cleaned({"a\x00": [("b\x00", 1, None)], "c": {"d": "\x1b"}})
    assert clean == {"a\\x00": (("b\\x00", 1, None),), "c": {"d": "\\x1b"}}


def test_megabyte_is_cut() -> None:
    found = cleaned(Finding("x" * 1_000_000, "note", (), "", ""))
    assert len(found.kind) == LONGEST_TEXT


def test_names_of_measures() -> None:
    assert in_words("roc_auc") == "area under the ROC curve"
    assert in_words("bayes_risk") == "cost of a decision"
