"""The chosen model in its own terms."""

from __future__ import annotations

from novum.apps.job.record import ChosenRecord, Estimate, ExplanationRecord, RunRecord
from novum.apps.report.blocks import (
    Block,
    Column,
    Figure,
    Fold,
    Heading,
    Lines,
    Section,
    Table,
    Text,
)
from novum.apps.report.detail import Detail, first_of
from novum.apps.report.figures.intervals import MOST_TERMS, terms_figure
from novum.apps.report.numbers import estimate
from novum.apps.report.svg import inline_svg
from novum.core.errors import InputError

_CAPTIONS = {
    "coefficients": "A term to the right of zero raises the prediction, one to the left lowers it. "
    "A bar that crosses zero could as well be nothing.",
    "log-odds": "Evidence for or against the positive class: to the right for, to the left "
    "against. One unit multiplies the odds by 2.7.",
    "importances": "How much the model uses each column. What it does not use is not therefore "
    "useless: another column may say the same.",
}
_PERMUTED = (
    "How much worse the score gets when the column's values are shuffled. Columns that say the "
    "same share their importance."
)

Terms = tuple[tuple[str, Estimate], ...]


def model_section(record: RunRecord, detail: Detail) -> Section:
    """Reason, settings, drawing, rules, terms."""
    chosen = record.chosen
    blocks: list[Block] = [Text(chosen.reason)] if chosen.reason else []
    blocks.append(Text(_fitted(chosen, has_judgment=record.holdout is not None)))
    blocks += _explanation(chosen.explanation, detail)
    if chosen.importances:
        title = "Importance of the columns"
        blocks.append(Heading(title))
        blocks += _terms(chosen.importances, title, _PERMUTED, "importances", detail)
    if chosen.settings:
        shown, rest = first_of(chosen.settings, detail.rows, "settings")
        heads = (Column("setting"), Column("value"))
        blocks.append(Fold("Settings of the model", [Table("Settings", heads, shown, note=rest)]))
    return Section("model", _title(chosen), "The model", blocks)


def _title(chosen: ChosenRecord) -> str:
    name = chosen.title or chosen.family
    return f"How the model decides: {name}" if name else "How the model decides"


def _fitted(chosen: ChosenRecord, *, has_judgment: bool) -> str:
    if not has_judgment:
        return "The model in model.novum was fitted to the rows that the models were compared on."
    if chosen.refitted_on_all:
        return (
            "The model in model.novum was fitted again to all rows with a target after it was "
            "judged, with the settings that were judged."
        )
    return "The model in model.novum is the one that was judged; it never saw the rows set aside."


def _explanation(explanation: ExplanationRecord, detail: Detail) -> list[Block]:
    blocks: list[Block] = [Text(explanation.text)] if explanation.text else []
    if explanation.svg and detail.pictures:
        blocks.append(_drawing(explanation.svg, explanation.kind, detail))
    if explanation.rules:
        shown, rest = first_of(explanation.rules, detail.rows, "lines")
        blocks.append(Fold("The model as rules", [Lines(shown, "Rules of the model")]))
        if rest:
            blocks.append(Text(rest, "quiet"))
    if explanation.terms:
        caption = _CAPTIONS.get(explanation.kind, "")
        title = explanation.term_title or explanation.kind
        title = title[:1].upper() + title[1:]
        blocks += _terms(explanation.terms, title, caption, "terms", detail)
    if not (explanation.svg or explanation.rules or explanation.terms or explanation.text):
        blocks.append(Text("This kind of model has no rules or coefficients that could be read."))
    return blocks


def _drawing(source: str, kind: str, detail: Detail) -> Block:
    """The library's own drawing; what is not one is not shown, and the page says so."""
    if len(source) > detail.drawing:
        return Text(
            "The drawing of the model is too large for this page; model.py draws it.", "quiet"
        )
    try:
        drawing = inline_svg(source, key="drawing", title=f"Drawing of the model ({kind})")
    except InputError as error:
        return Text(f"The drawing of the model is not shown. {error}", "quiet")
    caption = (
        "Start at the top and follow the answers down to a leaf. The colored bars are the shares "
        "of the classes, or the height of the mean, in each node."
        if kind == "tree"
        else ""
    )
    return Figure("The model drawn", caption, drawing, natural=True)


def _terms(terms: Terms, title: str, caption: str, key: str, detail: Detail) -> list[Block]:
    blocks: list[Block] = []
    drawable = [term for term in terms if term[1].value is not None]
    if drawable and detail.pictures:
        blocks.append(terms_figure(drawable, key=key, title=title, caption=caption))
    shown, rest = first_of(terms, detail.rows, "terms")
    heads = (Column("term"), Column(title, True), Column("interval", True))
    rows = [(name, *estimate(value)) for name, value in shown]
    table = Table(title, heads, rows, note=rest)
    # The picture says it all where it shows all.
    summary = "As a table" if len(terms) <= MOST_TERMS else f"All {len(terms):,} as a table"
    blocks.append(Fold(summary, [table]) if drawable and detail.pictures else table)
    return blocks
