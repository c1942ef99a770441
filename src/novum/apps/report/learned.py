"""What was learned: the columns that matter, how they move predictions, and single rows."""

from __future__ import annotations

from collections.abc import Sequence

from novum.apps.job.record import RunRecord
from novum.apps.job.record_model import ChosenRecord, Estimate, ExplanationRecord
from novum.apps.report.curve_figures import is_drawable, learning_figure
from novum.apps.report.detail import Detail, first_of
from novum.apps.report.figures import (
    MOST_TERMS,
    contribution_figures,
    dependence_figures,
    spread_figure,
    terms_figure,
)
from novum.apps.report.names import estimate, in_words, label
from novum.display import (
    Block,
    Column,
    Figure,
    Fold,
    Gallery,
    Heading,
    Listing,
    Paragraph,
    Section,
    Table,
    about,
    counted,
    inline_svg,
    number,
)

Terms = tuple[tuple[str, Estimate], ...]

_MOST_IMPORTANT = 10
_SIDES = "To the right of zero a term raises what the axis names, to the left it lowers it."
_CAPTIONS = {
    "coefficients": _SIDES,
    "log-odds": _SIDES,
    "importances": "How much the model uses each column. What it does not use is not therefore "
    "useless: another column may say the same.",
}
_DRAWN = {
    "tree": "Start at the top and follow the answers down to a leaf. The colored bars are the "
    "shares of the classes, or the height of the mean, in each node.",
    "network": "Arrows say which column helps to predict which; many tables are explained as well "
    "with some of them turned round, so they are no causes.",
}
_PERMUTED = (
    "How much worse it gets on the rows set aside when a column's values are shuffled. Columns "
    "that say the same share their importance."
)
_INTERVALS = " Bars are 95 % intervals."
_ZERO = " A bar that crosses zero could as well be nothing."


def learned_section(record: RunRecord, detail: Detail) -> Section:
    """Importances, dependence on single columns, contributions of rows; the model behind a fold."""
    chosen, task = record.chosen, record.task
    blocks: list[Block] = [Paragraph(_leans(record))] if chosen.importances else []
    drawn: list[Figure] = []
    if detail.pictures:
        needed = [term for term in chosen.importances if (term[1].value or 0.0) > 0]
        has_intervals = any(value.low is not None for _, value in needed)
        if needed:
            drawn.append(
                terms_figure(
                    needed[:_MOST_IMPORTANT],
                    key="importances",
                    title="What matters most",
                    axis=f"{_change(record)} without the column",
                    caption=_PERMUTED + (_INTERVALS if has_intervals else ""),
                )
            )
        if chosen.spread is not None:
            drawn.append(spread_figure(chosen.spread, task.target))
        drawn += dependence_figures(chosen.dependences, task)
    if drawn:
        blocks.append(Gallery(drawn))
    if chosen.dependences and detail.pictures:
        n_rows = chosen.dependences[0].n_rows
        blocks.append(
            Paragraph(
                "Curves show the mean prediction when one column is set to each value and "
                f"{counted(n_rows, 'row')} set aside keep their other cells; the band holds "
                "eight rows of ten. They say what the model does, not what causes what.",
                "quiet",
            )
        )
    if chosen.importances:
        rows, rest = first_of(chosen.importances, detail.rows, "columns")
        heads = (Column("column"), Column(f"{_change(record)}", True), Column("interval", True))
        table = Table(
            "Importance of the columns", heads, [(n, *estimate(v)) for n, v in rows], rest
        )
        blocks.append(Fold("Importances as a table", [table]) if drawn else table)
    blocks += _rows(record, detail)
    blocks.append(Fold(_title(chosen), _model(record, detail)))
    blocks += _learning(record, detail)
    return Section("learned", "What was learned", "Learned", blocks)


def _change(record: RunRecord) -> str:
    way = "fall" if record.task.greater_is_better else "rise"
    return f"{way} of {in_words(record.task.metric)}"


def _leans(record: RunRecord) -> str:
    """The columns whose interval lies above zero, in words."""
    terms = [(n, v) for n, v in record.chosen.importances if v.value is not None]
    clear = [(n, v) for n, v in terms if v.low is not None and v.low > 0]
    if all(v.low is None for _, v in terms):
        return (
            "Too few rows were set aside to tell how much each column is needed; the curves show "
            "what the model does with those that move it most."
        )
    if not clear:
        return (
            "No single column is clearly needed: shuffling any one of them makes the "
            f"{in_words(record.task.metric)} no worse than chance could."
        )
    named = [f"{label(name, 60)} ({about(value.value, 2)})" for name, value in clear[:3]]
    names = named[0] if len(named) == 1 else f"{', '.join(named[:-1])} and {named[-1]}"
    largest, value = max(terms, key=lambda term: term[1].value or 0.0)
    unsure = f" Without {label(largest, 60)} it is {about(value.value, 2)}, which may be chance."
    unsure = "" if largest in dict(clear) else unsure
    of = f"{counted(len(clear), 'column')} of {len(record.data.features)}"
    verb = "is" if len(clear) == 1 else "are"
    if len(clear) == len(named):
        return f"{of} {verb} clearly needed, with this {_change(record)} without: {names}.{unsure}"
    most = f"of these the {_change(record)} is largest without {names}"
    return f"{of} {verb} clearly needed; {most}.{unsure}"


# --- Single rows ----------------------------------------------------------------------------------


def _rows(record: RunRecord, detail: Detail) -> list[Block]:
    shown = record.chosen.contributions[:3]
    if not shown:
        return []
    is_exact = all(value.low is None for one in shown for *_, value in one.terms)
    words = Paragraph(
        "Each bar is what a column's value adds to the prediction of that row, against other rows "
        "set aside, over all orders in which cells can take the place of theirs (exact Shapley "
        "values)."
        if is_exact
        else "Each bar is what a column's value adds to the prediction of that row, against other "
        "rows set aside: cells are put in place of theirs one after the other, in random orders, "
        "and the changes are averaged (sampled Shapley values; thin lines are 95 % intervals).",
        "quiet",
    )
    tables: list[Block] = []
    for one in shown:
        rows = [(f"{name} = {cell}", *estimate(value)) for name, cell, value in one.terms]
        heads = (Column("cell"), Column("adds", True), Column("interval", True))
        tables.append(Table(f"Row {one.row:,}: {one.why}", heads, rows[: detail.rows]))
    heading = Heading("Why single rows get their answers")
    if not detail.pictures:
        return [heading, *tables, words]
    drawn = contribution_figures(shown, record.task, record.task.target)
    return [heading, Gallery(drawn), words, Fold("Single rows as tables", tables)]


# --- The model in its own terms -------------------------------------------------------------------


def _title(chosen: ChosenRecord) -> str:
    name = chosen.title or chosen.family
    return f"The model in its own terms: {name}" if name else "The model in its own terms"


def _model(record: RunRecord, detail: Detail) -> list[Block]:
    """Reason, drawing, rules, terms, settings."""
    chosen = record.chosen
    blocks: list[Block] = [Paragraph(chosen.reason)] if chosen.reason else []
    blocks.append(Paragraph(_fitted(chosen, has_judgment=record.holdout is not None)))
    blocks += _explanation(chosen.explanation, detail)
    if chosen.settings:
        shown, rest = first_of(chosen.settings, detail.rows, "settings")
        blocks.append(Table("Settings", (Column("setting"), Column("value")), shown, note=rest))
    return blocks


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
    blocks: list[Block] = [Paragraph(explanation.text)] if explanation.text else []
    if explanation.svg and detail.pictures:
        blocks.append(_drawing(explanation.svg, explanation.kind, detail))
    if explanation.rules:
        shown, rest = first_of(explanation.rules, detail.rows, "lines")
        blocks.append(Listing(shown, "Rules of the model"))
        if rest:
            blocks.append(Paragraph(rest, "quiet"))
    if explanation.terms:
        title = explanation.term_title or explanation.kind
        caption = _CAPTIONS.get(explanation.kind, "")
        blocks += _terms(explanation.terms, title[:1].upper() + title[1:], caption, detail)
    if not (explanation.svg or explanation.rules or explanation.terms or explanation.text):
        blocks.append(
            Paragraph("This kind of model has no rules or coefficients that could be read.")
        )
    return blocks


def _drawing(source: str, kind: str, detail: Detail) -> Block:
    """The library's own drawing; what is not one is not shown, and the page says so."""
    if len(source) > detail.drawing:
        return Paragraph(
            "The drawing of the model is too large for this page; model.py draws it.", "quiet"
        )
    try:
        drawing = inline_svg(source, key="drawing", title=f"Drawing of the model ({kind})")
    except ValueError as error:
        return Paragraph(f"The drawing of the model is not shown. {error}", "quiet")
    return Figure("The model drawn", _DRAWN.get(kind, ""), drawing, natural=True)


def _terms(terms: Terms, title: str, caption: str, detail: Detail) -> list[Block]:
    blocks: list[Block] = []
    drawable = [term for term in terms if term[1].value is not None]
    if drawable and detail.pictures:
        shown = drawable[:MOST_TERMS]
        has_intervals = any(value.low is not None for _, value in shown)
        caption += _ZERO if has_intervals and caption else ""
        figure = terms_figure(shown, key="terms", title=title, axis=label(title), caption=caption)
        blocks.append(figure)
    rows, rest = first_of(terms, detail.rows, "terms")
    heads = (Column("term"), Column(title, True), Column("interval", True))
    blocks.append(Table(title, heads, [(name, *estimate(value)) for name, value in rows], rest))
    return blocks


# --- Learning curve -------------------------------------------------------------------------------


def _learning(record: RunRecord, detail: Detail) -> list[Block]:
    """The learning curve, where the run has one."""
    curve = record.learning_curve
    if curve is None or not is_drawable([curve]):
        return []
    has_band = len(curve.low) == len(curve.high) == len(curve.x)
    limits: Sequence[tuple[float | None, float | None]] = (
        list(zip(curve.low, curve.high, strict=True)) if has_band else [(None, None)] * len(curve.x)
    )
    values = [
        (number(x), *estimate(Estimate(y, low, high)))
        for x, y, (low, high) in zip(curve.x, curve.y, limits, strict=False)
    ]
    shown, rest = first_of(values, detail.rows, "sizes")
    heads = (
        Column("training rows", True),
        Column(in_words(record.task.metric), True),
        Column("interval", True),
    )
    blocks: list[Block] = [Table("Score by number of training rows", heads, shown, note=rest)]
    if detail.pictures:
        blocks.insert(0, learning_figure(curve, record.task.metric, detail.points))
    return [Fold("Would more rows help?", blocks)]
