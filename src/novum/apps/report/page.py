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
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from novum.apps.job.attempts import failed
from novum.apps.job.record import RunRecord
from novum.apps.report.blocks import Section, Text
from novum.apps.report.detail import LARGEST_PAGE, LEVELS, Detail
from novum.apps.report.names import cleaned, label, text
from novum.apps.report.numbers import counted
from novum.apps.report.sections.certificate import certificate_section
from novum.apps.report.sections.data import data_section
from novum.apps.report.sections.judgment import judgment_section
from novum.apps.report.sections.leaderboard import leaderboard_section
from novum.apps.report.sections.learning import learning_section
from novum.apps.report.sections.model import model_section
from novum.apps.report.sections.plan import plan_section
from novum.apps.report.sections.settings import settings_section
from novum.apps.report.sections.verdict import verdict_section
from novum.core.atomic_write import replacing
from novum.core.errors import ReportWarning

if TYPE_CHECKING:
    from jinja2 import Environment

_TEMPLATES = Path(__file__).parent / "templates"
# By the names that a section has in the list of contents, and that stand for one that fails.
_SECTIONS: dict[str, Callable[[RunRecord, Detail], Section | None]] = {
    "In short": verdict_section,
    "Data": data_section,
    "Models": leaderboard_section,
    "The model": model_section,
    "On new rows": judgment_section,
    "More rows": learning_section,
    "Certificate": certificate_section,
    "Plan": plan_section,
    "Settings": settings_section,
}


def write_report(record: RunRecord, path: str | os.PathLike[str]) -> None:
    """Writes the page; after a crash the file is the old one or the new one, never a part.

    Parameters
    ----------
    record : RunRecord
    path : path
        Its folder exists.
    """
    page = render(record).encode("utf-8")
    with replacing(path) as file:
        file.write(page)


def render(record: RunRecord, *, largest: int = LARGEST_PAGE) -> str:
    """The page of a run as HTML.

    Parameters
    ----------
    record : RunRecord
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


def _page(record: RunRecord, detail: Detail) -> str:
    sections = [_section(record, detail, name) for name in _SECTIONS]
    style = (_TEMPLATES / "style.css").read_text(encoding="utf-8")
    target, table = label(record.task.target, 60), label(record.data.name, 60)
    return (
        _environment()
        .get_template("page.html")
        .render(
            title=f"Predicting {target} from {table}",
            subtitle=_subtitle(record),
            style=style,
            policy=_policy(style),
            sections=[section for section in sections if section is not None],
            note=detail.note,
            version=record.versions.get("novum", ""),
        )
    )


def _section(record: RunRecord, detail: Detail, name: str) -> Section | None:
    try:
        return _SECTIONS[name](record, detail)
    except Exception as error:
        sentence = failed(f"The section “{name}” of the report", error)
        warnings.warn(sentence, ReportWarning, stacklevel=2)
        return Section(name.lower().replace(" ", "-"), name, name, [Text(text(sentence))])


def _subtitle(record: RunRecord) -> str:
    kinds = {
        "binary": "Two classes",
        "multiclass": counted(len(record.task.classes), "class", "classes"),
        "regression": "A number",
    }
    rows = counted(record.data.n_rows, "row")
    columns = counted(record.data.n_columns, "column")
    return f"{kinds.get(record.task.kind, record.task.kind)} · {rows} · {columns}"


def _policy(style: str) -> str:
    """The content policy: nothing but this very style sheet, and pictures inside the file."""
    digest = base64.b64encode(hashlib.sha256(style.encode("utf-8")).digest()).decode("ascii")
    return (
        f"default-src 'none'; style-src 'sha256-{digest}'; img-src data:; "
        "base-uri 'none'; form-action 'none'"
    )


@cache
def _environment() -> Environment:
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    return Environment(
        loader=FileSystemLoader(_TEMPLATES, encoding="utf-8"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
