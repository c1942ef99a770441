"""Gallery, course and guides: complete, and the lessons give the answers that they check."""

from __future__ import annotations

import importlib
import os
import re
import runpy
from pathlib import Path

import pytest

DOCS = Path(__file__).resolve().parents[2] / "docs"
EXAMPLES = sorted((DOCS / "gallery").rglob("plot_*.py"))
LESSONS = sorted((DOCS / "course").glob("[0-9]*.py"))
# Lessons of different packages that take a second each; `make test-all` runs all of them.
SAMPLE = {"04_linear_algebra", "05_probability_tables", "10_bayesian_networks"}


def scope_rows() -> set[str]:
    return set(re.findall(r"^\| ([A-Z]\d) \|", (DOCS / "scope.md").read_text(), re.MULTILINE))


def test_every_row_of_the_scope_has_an_example() -> None:
    shown = set()
    for path in EXAMPLES:
        named = re.search(r"\*Scope: (.+?)\.\*", path.read_text())
        assert named, path.name
        shown |= set(re.findall(r"[A-Z]\d", named[1]))
    assert shown == scope_rows()
    assert len(EXAMPLES) >= 40


def test_every_example_draws_a_picture() -> None:
    assert [path.name for path in EXAMPLES if "plt.show()" not in path.read_text()] == []


def test_every_lesson_has_its_five_parts() -> None:
    parts = ("**The idea.**", "**The formula.**", "**The definition", "**The same", "**Exercise.**")
    for path in LESSONS:
        text = path.read_text()
        assert [part for part in parts if part not in text] == [], path.name
        assert '"not yet"' in text, path.name
    assert [int(path.name[:2]) for path in LESSONS] == list(range(1, len(LESSONS) + 1))


def lessons() -> list[object]:
    marks = {True: (), False: (pytest.mark.slow,)}
    return [pytest.param(path, id=path.stem, marks=marks[path.stem in SAMPLE]) for path in LESSONS]


@pytest.mark.parametrize("path", lessons())
@pytest.mark.filterwarnings("ignore:FigureCanvasAgg is non-interactive:UserWarning")
def test_a_lesson_runs(path: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("agg")
    monkeypatch.chdir(tmp_path)
    runpy.run_path(os.fspath(path), run_name="lesson")
    importlib.import_module("matplotlib.pyplot").close("all")


def test_a_wrong_answer_is_noticed(tmp_path: Path) -> None:
    lesson = (DOCS / "course" / "05_probability_tables.py").read_text()
    wrong = re.sub(r"^answer = .+$", "answer = 0.5", lesson, flags=re.MULTILINE)
    path = tmp_path / "wrong.py"
    path.write_text(wrong.replace("plt.show()", ""))
    with pytest.raises(AssertionError, match="not yet"):
        runpy.run_path(os.fspath(path), run_name="lesson")


def test_what_is_said_not_to_be_there_is_not_there(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(DOCS / "_extensions"))
    pages = importlib.import_module("reference_pages")
    public = {each.name for package in pages.packages() for each in pages.public_names(package)}
    missing = (DOCS / "guides" / "migration.md").read_text().partition("## What is not there")[2]
    named = set(re.findall(r"`(\w+)`", missing.partition("Under other names")[0]))
    assert named & public == {"Pipeline"}
