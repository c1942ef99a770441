"""The page as a whole: order, identity, size, accessibility, and hostile names."""

from __future__ import annotations

import base64
import dataclasses
import hashlib
import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from novum.apps.job.record import RunRecord
from novum.apps.report import page as page_module
from novum.apps.report.page import _SECTIONS, render, write_report
from novum.core.errors import ReportWarning
from tests.apps.report import sample_parts, sample_records
from tests.apps.report.page_parts import Part, assert_harmless, parsed

SAMPLES = ("binary", "multiclass", "regression", "tiny", "minimal")

PAYLOADS = {
    "script": "<script>alert(1)</script>",
    "image": "<img src=x onerror=alert(1)>",
    "svg": "<svg onload=alert(1)>",
    "attribute": '"><iframe src=//evil.example>',
    "quote": "' onmouseover='alert(1)",
    "end of script": "</script><script>alert(1)</script>",
    "end of style": "</style><style>*{background:url(//evil.example)}</style>",
    "end of title": "</title></desc></text></svg><script>alert(1)</script>",
    "address": "javascript:alert(1)",
    "template": "${alert(1)}{{ 7 * 7 }}{% raw %}",
    "comment": "--><!-- ]]><![CDATA[",
    "entity": "&lt;script&gt;&#x3c;b&#x3e;",
    "formula": "$\\frac{1}{$ $$",
    "turned": "\u202eabc\u2066",
    "separators": "\u2028\u2029\x85",
    "controls": "\x00\x01\x1b[2J\x7f",
    "no characters": "\ufffe\uffff\ud800",
    "long": "x<b>" * 250_000,
}


def sample(name: str) -> RunRecord:
    return getattr(sample_records, f"{name}_record")()  # type: ignore[no-any-return]


@pytest.fixture(scope="module")
def pages() -> dict[str, str]:
    return {name: render(sample(name)) for name in SAMPLES}


@pytest.fixture(scope="module", params=SAMPLES)
def page(request: pytest.FixtureRequest, pages: dict[str, str]) -> Part:
    return parsed(pages[request.param])


# --- Faults ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", _SECTIONS)
def test_a_section_that_fails_is_one_sentence(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object) -> None:
        raise ValueError("<b>a fault</b>")

    monkeypatch.setitem(_SECTIONS, name, broken)
    with pytest.warns(ReportWarning, match=f"The section “{name}” of the report could not be made"):
        page = render(sample("tiny"))
    sections = [part.attributes["id"] for part in parsed(page).all("section")]
    assert name.lower().replace(" ", "-") in sections
    assert len(sections) == len(_SECTIONS)
    assert "ValueError: &lt;b&gt;a fault&lt;/b&gt;" in page
    assert_harmless(parsed(page))


def test_a_head_that_fails_is_one_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object) -> None:
        raise ValueError("<b>a fault</b>")

    monkeypatch.setattr(page_module, "header", broken)
    with pytest.warns(ReportWarning, match="The head of the report could not be made"):
        page = render(sample("tiny"))
    assert parsed(page).all("h1")[0].text == "Predicting claim from insurance.csv"
    assert "ValueError: &lt;b&gt;a fault&lt;/b&gt;" in page
    assert_harmless(parsed(page))


# --- Form -----------------------------------------------------------------------------------------


def test_sections_stand_in_their_order(pages: dict[str, str]) -> None:
    sections = [part.attributes["id"] for part in parsed(pages["binary"]).all("section")]
    assert sections == ["learned", "wrong", "chosen", "data", "omissions"]


def test_one_first_heading_and_none_is_skipped(page: Part) -> None:
    assert len(page.all("h1")) == 1
    for section in page.all("section"):
        levels = [child.tag for child in section.children if child.tag in ("h1", "h2", "h3")]
        assert levels[0] == "h2"
        assert set(levels[1:]) <= {"h3"}


def test_ids_are_unique_and_every_reference_has_one(page: Part) -> None:
    parts = page.all(*("section", "h2", "main", "title", "desc", "path", "clippath", "svg", "g"))
    ids = [part.attributes["id"] for part in parts if "id" in part.attributes]
    assert len(ids) == len(set(ids))
    for part in page.all("svg", "section"):
        for name in part.attributes.get("aria-labelledby", "").split():
            assert name in ids
    for part in page.all("a", "use"):
        assert part.attributes["href"].removeprefix("#") in ids


def test_every_drawing_has_words_and_every_table_heads(page: Part) -> None:
    for drawing in page.all("svg"):
        assert drawing.attributes["role"] == "img"
        named = drawing.attributes.get("aria-label") or drawing.all("title")[0].text
        assert named.strip()
    for table in page.all("table"):
        assert table.all("caption")[0].text.strip()
        for head in table.all("th"):
            assert head.attributes["scope"] in ("col", "row")
        widths = {len(row.children) for row in table.all("tr")}
        assert len(widths) == 1
    for figure in page.all("figure"):
        assert figure.all("figcaption")[0].text.strip()


def test_document_says_its_language_and_where_to_skip_to(page: Part) -> None:
    assert page.all("html")[0].attributes["lang"] == "en"
    assert page.all("body")[0].children[0].attributes["href"] == "#main"
    assert page.all("main")[0].attributes["id"] == "main"


def test_content_policy_knows_the_style_sheet_by_its_hash(pages: dict[str, str]) -> None:
    text = pages["binary"]
    style = text.split("<style>")[1].split("</style>")[0]
    digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    policy = next(m for m in parsed(text).all("meta") if "http-equiv" in m.attributes)
    assert policy.attributes["content"].startswith(
        f"default-src 'none'; style-src 'sha256-{digest}'; img-src data:"
    )


def test_samples_are_harmless(page: Part) -> None:
    assert_harmless(page)


def test_every_sentence_of_the_record_is_on_the_page(pages: dict[str, str]) -> None:
    record = sample_records.binary_record()
    text = parsed(pages["binary"]).text
    finding_texts = [words for f in record.findings for words in (f.text, f.advice)]
    plan = [trial.status for trial in record.plan.trials]
    rules = record.chosen.explanation.rules
    for words in (*record.verdict, *record.task.sentences, *record.not_done, *finding_texts, *plan):
        assert words in text
    for words in (*record.chosen.certificate, *rules, *record.versions, record.data.sha256):
        assert words in text


# --- The same bytes -------------------------------------------------------------------------------


@pytest.mark.slow
def test_same_record_gives_the_same_bytes_in_another_process(pages: dict[str, str]) -> None:
    code = (
        "import hashlib, matplotlib; matplotlib.rcParams['axes.facecolor'] = 'red';"
        "matplotlib.rcParams['font.size'] = 20.0;"
        "from tests.apps.report import sample_records as s; from novum.apps.report import render;"
        "print(hashlib.sha256(render(s.binary_record()).encode()).hexdigest())"
    )
    settings = {**os.environ, "PYTHONHASHSEED": "7", "LANG": "C", "TZ": "Asia/Tokyo"}
    run = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, env=settings, check=True
    )
    assert run.stdout.strip() == hashlib.sha256(pages["binary"].encode()).hexdigest()


def test_pages_of_normal_runs_are_small(pages: dict[str, str]) -> None:
    assert max(len(page.encode()) for page in pages.values()) < 1_500_000


def test_wide_and_long_tables_stay_small_and_say_what_is_left_out() -> None:
    record = sample_records.multiclass_record(300)
    columns = record.profile.columns * 1000
    record = dataclasses.replace(
        record, profile=dataclasses.replace(record.profile, columns=columns)
    )
    page = render(record)
    assert len(page.encode()) < 1_500_000
    text = parsed(page).text
    assert "The 60 of 5,000 columns that tell most are listed" in text
    assert "The first 100 of 300 classes are shown" in text


def test_page_beyond_the_limit_is_simplified_and_says_so() -> None:
    record = sample_records.regression_record()
    assert record.holdout is not None
    many = dataclasses.replace(record.holdout, curves=sample_parts.residual_curves(5_000))
    record = dataclasses.replace(record, holdout=many)
    full = render(record)
    assert "800 of 5,000 rows are drawn" in full
    simpler = render(record, largest=len(full.encode()) - 1)
    assert "its figures are simplified" in simpler
    assert "150 of 5,000 rows are drawn" in simpler
    assert len(simpler) < len(full)
    least = render(record, largest=1)
    assert "it has no figures" in least
    assert not parsed(least).all("figure")


# --- Hostile names --------------------------------------------------------------------------------


@pytest.mark.parametrize("name", PAYLOADS)
def test_payload_in_every_place_stays_text(name: str) -> None:
    payload = PAYLOADS[name]
    text = render(sample_records.hostile_record(payload))
    assert_harmless(parsed(text))
    assert len(text.encode()) < 1_500_000
    for mark in ("\x00", "\x1b", "\u202e", "\u2066", "\u2028", "\u2029", "\ufffe", "\ud800"):
        assert mark not in text


def test_payload_reaches_ten_kinds_of_places() -> None:
    """The matrix above means something only if the text arrives in many places."""
    page = parsed(render(sample_records.hostile_record("<i>Q</i>")))
    tags = ("h1", "title", "desc", "text", "td", "th", "caption", "p", "li", "pre", "h2", "summary")
    tags += ("figcaption", "strong", "dd", "dt", "small")
    reached = {tag for tag in tags if any("<i>Q</i>" in part.text for part in page.all(tag))}
    labels = [part.attributes.get("aria-label", "") for part in page.all("svg", "div")]
    assert len(reached) >= 10, reached
    assert {"h1", "title", "desc", "text", "td", "th", "p", "li", "pre"} <= reached
    assert any("<i>Q</i>" in label for label in labels)


def test_template_text_is_not_evaluated() -> None:
    text = render(sample_records.hostile_record("{{ 7 * 7 }}"))
    assert "{{ 7 * 7 }}" in text
    assert "<h1>Predicting 49" not in text


def test_drawing_of_a_foreign_file_is_rebuilt_or_refused() -> None:
    record = sample_records.binary_record()
    for source in (
        '<svg onload="alert(1)"><script>alert(1)</script><path d="M0 0"/></svg>',
        '<svg><foreignObject><iframe src="//evil.example"/></foreignObject></svg>',
        '<svg><a href="javascript:alert(1)"><text>x</text></a><style>*{}</style></svg>',
        '<!DOCTYPE svg [<!ENTITY a "b">]><svg>&a;</svg>',
        "<svg><unclosed></svg>",
        "<svg>" + "<g>" * 5000 + "</g>" * 5000 + "</svg>",
    ):
        explanation = dataclasses.replace(record.chosen.explanation, svg=source)
        chosen = dataclasses.replace(record.chosen, explanation=explanation)
        page = parsed(render(dataclasses.replace(record, chosen=chosen, holdout=None)))
        assert_harmless(page)


# --- Writing --------------------------------------------------------------------------------------


def test_report_is_written_as_utf_8(tmp_path: Path, pages: dict[str, str]) -> None:
    path = tmp_path / "report.html"
    write_report(sample_records.tiny_record(), path)
    assert path.read_bytes() == pages["tiny"].encode("utf-8")
    assert [p.name for p in tmp_path.iterdir()] == ["report.html"]


def test_failed_report_leaves_the_old_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "report.html"
    path.write_text("old")
    path.chmod(0o600)

    def fail(_: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", fail)
    with pytest.raises(OSError, match="No space left"):
        write_report(sample_records.minimal_record(), path)
    assert path.read_text() == "old"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_missing_folder_is_named(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="create it first"):
        write_report(sample_records.minimal_record(), tmp_path / "none" / "report.html")
