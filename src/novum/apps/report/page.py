"""The page: sections of blocks, put into one HTML file that needs nothing else.

The page has no script at all. Its content policy forbids everything but its own style sheet, known
by its hash, and pictures inside the file; so even text that slipped through the escaping could not
run, load or send anything. The bytes depend on the record alone.
"""

from __future__ import annotations

import base64
import hashlib
import os
import warnings
from collections.abc import Callable
from functools import partial
from pathlib import Path

from novum.apps.job.attempts import failed
from novum.apps.job.record import RunRecord, SeveralRecord
from novum.apps.report.data import data_section
from novum.apps.report.detail import LARGEST_PAGE, LEVELS, Detail
from novum.apps.report.judgment import judgment_section
from novum.apps.report.learned import learned_section
from novum.apps.report.models import models_section
from novum.apps.report.names import cleaned, label, text
from novum.apps.report.overview import header, omissions_section
from novum.apps.report.several import several_header, target_sections
from novum.core.errors import ReportWarning
from novum.core.files import replacing
from novum.display import PAGE_COLORS, Markup, Paragraph, Section, element

# By the names that a section has in the list of contents, and that stand for one that fails.
_SECTIONS: dict[str, Callable[[RunRecord, Detail], Section]] = {
    "Learned": learned_section,
    "Wrong": judgment_section,
    "Chosen": models_section,
    "Table": data_section,
    "Not done": omissions_section,
}


def write_report(record: RunRecord | SeveralRecord, path: str | os.PathLike[str]) -> None:
    """Writes the page; after a crash the file is the old one or the new one, never a part.

    Parameters
    ----------
    record : RunRecord or SeveralRecord
    path : path
        Its folder exists.
    """
    page = render(record).encode("utf-8")
    with replacing(path) as file:
        file.write(page)


def render(record: RunRecord | SeveralRecord, *, largest: int = LARGEST_PAGE) -> str:
    """The page of a run as HTML.

    Parameters
    ----------
    record : RunRecord or SeveralRecord
        Everything the page shows.
    largest : int
        Bytes. A page beyond them is made again with simpler figures and shorter tables, and says
        so; the simplest is given whatever its size.

    Returns
    -------
    str
        One HTML document, the same for the same record. A section that fails is one sentence, and
        a `ReportWarning` repeats it.
    """
    clean = cleaned(record)
    for detail in LEVELS:
        page = _page(clean, detail)
        if len(page.encode("utf-8")) <= largest:
            break
    return page


def _page(record: RunRecord | SeveralRecord, detail: Detail) -> str:
    first = record.runs[0] if isinstance(record, SeveralRecord) else record
    made: dict[str, Callable[[], Section]]
    if isinstance(record, SeveralRecord):
        made = target_sections(record, detail)
    else:
        made = {name: partial(draw, record, detail) for name, draw in _SECTIONS.items()}
    sections = [_section(name, draw) for name, draw in made.items()]
    targets = record.targets if isinstance(record, SeveralRecord) else (record.task.target,)
    title = f"Predicting {label(', '.join(targets), 60)} from {label(first.data.name, 60)}"
    version = first.versions.get("novum") or ""
    return document(title, _header(record, detail, title), sections, version)


def document(title: str, head_of_page: Markup, sections: list[Section], version: str) -> str:
    """A whole page: its head, a list of contents, the sections."""
    style = (Path(__file__).parent / "style.css").read_text(encoding="utf-8") + PAGE_COLORS
    head = element(
        "head",
        element("meta", charset="utf-8"),
        element("meta", http_equiv="Content-Security-Policy", content=content_policy(style)),
        element("meta", name="viewport", content="width=device-width, initial-scale=1"),
        element("meta", name="color-scheme", content="light dark"),
        element("meta", name="referrer", content="no-referrer"),
        element("title", title),
        element("style", Markup(style)),
    )
    links = [element("li", element("a", s.title, href=f"#{s.key}")) for s in sections]
    by = f"novum {version}" if version else "novum"
    maker = f"Made by {by} from run.json. This file loads nothing and runs nothing."
    body = element(
        "body",
        element("a", "Skip to the content", class_="skip", href="#main"),
        head_of_page,
        element("nav", element("ol", links), aria_label="Contents"),
        element("main", (s.as_html() for s in sections), id="main", tabindex="-1"),
        element("footer", element("p", maker)),
    )
    return f"<!DOCTYPE html>\n{element('html', head, body, lang='en')}\n"


def _header(record: RunRecord | SeveralRecord, detail: Detail, title: str) -> Markup:
    try:
        if isinstance(record, SeveralRecord):
            return several_header(record)
        return header(record, detail)
    except Exception as error:
        sentence = failed("The head of the report", error)
        warnings.warn(sentence, ReportWarning, stacklevel=2)
        return element("header", element("h1", title), element("p", text(sentence)))


def _section(name: str, draw: Callable[[], Section]) -> Section:
    try:
        return draw()
    except Exception as error:
        sentence = failed(f"The section “{name}” of the report", error)
        warnings.warn(sentence, ReportWarning, stacklevel=2)
        return Section(name.lower().replace(" ", "-"), name, name, [Paragraph(text(sentence))])


def content_policy(style: str) -> Markup:
    """The content policy: nothing but this very style sheet, and pictures inside the file."""
    digest = base64.b64encode(hashlib.sha256(style.encode("utf-8")).digest()).decode("ascii")
    return Markup(
        f"default-src 'none'; style-src 'sha256-{digest}'; img-src data:; "
        "base-uri 'none'; form-action 'none'"
    )
