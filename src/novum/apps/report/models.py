"""The models: those compared, the chosen one in its own terms, what is proved, more rows."""

from __future__ import annotations

from novum.apps.job.record import (
    ChosenRecord,
    ComparisonRecord,
    Estimate,
    ExplanationRecord,
    RunRecord,
    Standing,
)
from novum.apps.report.curve_figures import (
    is_drawable,
    learning_figure,
)
from novum.apps.report.detail import Detail, first_of
from novum.apps.report.figures import (
    MOST_TERMS,
    ranks_figure,
    standings_figure,
    terms_figure,
)
from novum.apps.report.names import estimate, in_words
from novum.apps.report.overview import folds_in_words
from novum.apps.report.svg import inline_svg
from novum.core.errors import InputError
from novum.display import (
    Block,
    Cell,
    Column,
    Figure,
    Fold,
    Heading,
    Listing,
    Paragraph,
    Section,
    Table,
    counted,
    number,
    probability,
    seconds,
)

# --- Leaderboard ----------------------------------------------------------------------------------


_MOST_SETTINGS = 6


def leaderboard_section(record: RunRecord, detail: Detail) -> Section:
    """All models that were tried, the best first."""
    blocks: list[Block] = [Paragraph(_way(record))]
    if not record.leaderboard:
        blocks = [Paragraph("No model was compared in this run.")]
    else:
        blocks.append(_table(record, detail))
        drawable = [s for s in record.leaderboard[: detail.rows] if s.score.value is not None]
        if drawable and detail.pictures:
            greater = record.task.greater_is_better
            blocks.append(standings_figure(drawable[:30], record.task.metric, greater=greater))
    if record.comparison is not None:
        blocks += _comparison(record.comparison, detail)
    return Section("models", "Models compared", "Models", blocks)


def _way(record: RunRecord) -> str:
    better = "greater" if record.task.greater_is_better else "smaller"
    return (
        "Every model was tuned and judged on the same rows by nested cross-validation with "
        f"{folds_in_words(record.plan)}; none saw the rows set aside. "
        f"The measure is {in_words(record.task.metric)}; {better} is better."
    )


def _table(record: RunRecord, detail: Detail) -> Table:
    shown, rest = first_of(record.leaderboard, detail.rows, "models")
    heads = (
        Column("model", is_long=True),
        Column(in_words(record.task.metric), True),
        Column("95 % interval", True),
        Column("to the best", True),
        Column("p value", True),
        Column("as good as the best", True),
        Column("fit", True),
        Column("predict 1,000 rows", True),
    )
    marked = frozenset(place for place, s in enumerate(shown) if s.is_chosen)
    note = (
        "“To the best” is the mean difference over the same folds. The p value is of the corrected "
        "resampled t test against the best, adjusted for the number of models. “As good as the "
        "best” is the probability that the difference does not matter in practice. " + rest
    )
    return Table("Leaderboard", heads, [_row(s) for s in shown], note.strip(), marked)


def _row(standing: Standing) -> tuple[Cell | str, ...]:
    value, limits = estimate(standing.score)
    pairs = [f"{name} {setting}" for name, setting in standing.settings[:_MOST_SETTINGS]]
    rest = len(standing.settings) - _MOST_SETTINGS
    settings = ", ".join(pairs) + (f" and {rest} more" if rest > 0 else "")
    difference = standing.difference
    return (
        Cell(standing.title or standing.family, "chosen" if standing.is_chosen else "", settings),
        value,
        limits,
        "best"
        if difference is None
        else Cell(estimate(difference)[0], note=estimate(difference)[1]),
        probability(standing.p_value),
        probability(standing.probability_equivalent),
        seconds(standing.fit_seconds),
        seconds(standing.predict_seconds),
    )


def _comparison(comparison: ComparisonRecord, detail: Detail) -> list[Block]:
    blocks: list[Block] = [Heading("Are the differences real?")]
    if comparison.verdict:
        blocks.append(Paragraph(comparison.verdict))
    if comparison.friedman_p_value is not None:
        blocks.append(
            Paragraph(
                "Friedman's test of the hypothesis that all models are equal has the p value "
                f"{probability(comparison.friedman_p_value)}."
            )
        )
    figure = ranks_figure(comparison) if detail.pictures else None
    if figure is not None:
        blocks.append(figure)
    if comparison.pairs:
        blocks.append(
            Fold(
                f"All {counted(len(comparison.pairs), 'pair')} of models",
                [_pairs(comparison, detail)],
            )
        )
    return blocks


def _pairs(comparison: ComparisonRecord, detail: Detail) -> Table:
    shown, rest = first_of(comparison.pairs, detail.rows, "pairs")
    rows = []
    for first, second, mean, low, high, p_value, verdict in shown:
        difference = estimate(Estimate(mean, low, high))
        rows.append((first, second, *difference, probability(p_value), verdict))
    heads = (
        Column("first"),
        Column("second"),
        Column("first − second", True),
        Column("95 % interval", True),
        Column("p value", True),
        Column("verdict", is_long=True),
    )
    return Table("Paired tests on shared folds", heads, rows, note=rest)


# --- The chosen model -----------------------------------------------------------------------------


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
    blocks: list[Block] = [Paragraph(chosen.reason)] if chosen.reason else []
    blocks.append(Paragraph(_fitted(chosen, has_judgment=record.holdout is not None)))
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
    blocks: list[Block] = [Paragraph(explanation.text)] if explanation.text else []
    if explanation.svg and detail.pictures:
        blocks.append(_drawing(explanation.svg, explanation.kind, detail))
    if explanation.rules:
        shown, rest = first_of(explanation.rules, detail.rows, "lines")
        blocks.append(Fold("The model as rules", [Listing(shown, "Rules of the model")]))
        if rest:
            blocks.append(Paragraph(rest, "quiet"))
    if explanation.terms:
        caption = _CAPTIONS.get(explanation.kind, "")
        title = explanation.term_title or explanation.kind
        title = title[:1].upper() + title[1:]
        blocks += _terms(explanation.terms, title, caption, "terms", detail)
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
    except InputError as error:
        return Paragraph(f"The drawing of the model is not shown. {error}", "quiet")
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


# --- Certificate ----------------------------------------------------------------------------------


def certificate_section(record: RunRecord, detail: Detail) -> Section:
    """The certificate, line by line."""
    lines = record.chosen.certificate
    blocks: list[Block]
    if not lines:
        blocks = [Paragraph("The chosen model carries no certificate.")]
    else:
        shown, rest = first_of(lines, detail.rows, "lines")
        blocks = [
            Paragraph(
                "Every fit states what it optimized, the value it reached, and how far from the "
                "optimum it can be at most. “Proved” and “within tolerance” come with a bound; "
                "“local” says only that no small step helps."
            ),
            Listing(shown, "Certificate of the chosen model"),
        ]
        blocks += [Paragraph(rest, "quiet")] if rest else []
    return Section("certificate", "What is proved", "Certificate", blocks)


# --- Learning curve -------------------------------------------------------------------------------


def learning_section(record: RunRecord, detail: Detail) -> Section | None:
    """The learning curve, or None where the run has none."""
    curve = record.learning_curve
    if curve is None or not is_drawable([curve]):
        return None
    has_band = len(curve.low) == len(curve.high) == len(curve.x)
    limits = (
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
    table = Table("Score by number of training rows", heads, shown, note=rest)
    figure = learning_figure(curve, record.task.metric, detail.points) if detail.pictures else None
    if figure is None:
        return Section("learning", "Would more rows help?", "More rows", [table])
    words = Paragraph("Models of the chosen kind, fitted to growing parts of the training rows.")
    return Section(
        "learning",
        "Would more rows help?",
        "More rows",
        [words, figure, Fold("As a table", [table])],
    )
