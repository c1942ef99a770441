"""The reference describes every public name, and its texts are fit to be read as markup."""

from __future__ import annotations

import importlib
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
DOORS = sorted((ROOT / "src" / "novum").rglob("__init__.pyi"))


@pytest.fixture
def reference(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.syspath_prepend(str(ROOT / "docs" / "_extensions"))
    return importlib.import_module("reference_pages")


def test_every_public_name_has_a_description(reference) -> None:
    pages = reference.pages()
    text = "\n".join(pages.values())
    described = set()
    module = ""
    for line in text.splitlines():
        if match := re.match(r"\.\. currentmodule:: (\S+)", line):
            module = match[1]
        if match := re.match(r"\.\. (?:autoclass|autofunction|py:data):: (\S+)", line):
            described.add(f"{module}.{match[1]}")
    home = reference.homes()
    for door in DOORS:
        package = ".".join(door.parent.relative_to(ROOT / "src").parts)
        for name in importlib.import_module(package).__all__:
            assert home[f"{package}.{name}"].path in described, f"{package}.{name}"


def test_no_two_pages_are_one_file_where_capitals_do_not_count(reference) -> None:
    names = list(reference.pages())
    assert len({name.lower() for name in names}) == len(names)


@pytest.mark.usefixtures("reference")
def test_what_only_looks_like_markup_is_escaped() -> None:
    text = importlib.import_module("reference_text")
    assert text.escaped("`a_` and coef_, |x|, 2 * 3") == r"``a_`` and coef\_, \|x\|, 2 \* 3"
    lines = ["Words.", "", "    a formula_", "", "Words again."]
    assert text.prepared(lines)[2:5] == ["::", "", "    a formula_"]
