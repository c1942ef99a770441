"""Rule sets as text and as HTML: one block for each class, one line for each conjunction."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby
from typing import TYPE_CHECKING

from novum.display import Column, Table, notebook
from novum.trees.reading.questions import name_text, number_text

if TYPE_CHECKING:
    from novum.trees.reading.rules import Rule, RuleSet

# Longer conjunctions would push the figures off the screen.
_WIDEST = 90


def rule_set_text(rule_set: RuleSet) -> str:
    """The rules with their coverage and confidence, as a table in plain text."""
    widths = [len(rule.text) for rule in rule_set]
    width = min(max(widths, default=0), _WIDEST)
    lines = [_head(rule_set)]
    for prediction, group in _groups(rule_set):
        lines.append(f"{prediction} if")
        for place, rule in enumerate(group):
            start = "      " if place == 0 else "   or "
            lines.append(f"{start}{rule.text:<{width}}  {_figures(rule)}")
    if rule_set.left_out:
        lines.append(_left_out(rule_set))
    return "\n".join(lines)


def rule_set_html(rule_set: RuleSet) -> str:
    """The same as an HTML table."""
    measure = "confidence" if rule_set.labels is not None else "deviation"
    columns: list[Column | str] = ["prediction", Column("if", is_long=True)]
    columns += [Column(name, True) for name in ("coverage", measure)]
    rows = [
        (prediction, rule.text, f"{rule.coverage:.3f}", _measure(rule))
        for prediction, group in _groups(rule_set)
        for rule in group
    ]
    return notebook(
        Table(_head(rule_set), columns, rows, _left_out(rule_set) if rule_set.left_out else "")
    )


def _groups(rule_set: RuleSet) -> Iterator[tuple[str, list[Rule]]]:
    for _, group in groupby(rule_set, key=lambda rule: rule.prediction):
        members = list(group)
        yield _prediction(members[0], rule_set), members


def _prediction(rule: Rule, rule_set: RuleSet) -> str:
    return number_text(rule.prediction) if rule_set.labels is None else name_text(rule.prediction)


def _head(rule_set: RuleSet) -> str:
    n_rules = f"{len(rule_set)} rule" + ("s" if len(rule_set) != 1 else "")
    if rule_set.labels is None:
        return n_rules
    n_classes = len({rule.prediction for rule in rule_set})
    return f"{n_rules} for {n_classes} of {len(rule_set.labels)} classes"


def _left_out(rule_set: RuleSet) -> str:
    rules, cover = ("rule", "it covers") if rule_set.left_out == 1 else ("rules", "they cover")
    return (
        f"{rule_set.left_out} {rules} of smaller coverage left out; {cover} "
        f"{rule_set.left_out_coverage:.3f}"
    )


def _figures(rule: Rule) -> str:
    measure = "confidence" if rule.confidence is not None else "deviation"
    return f"coverage {rule.coverage:.3f}, {measure} {_measure(rule)}"


def _measure(rule: Rule) -> str:
    if rule.confidence is not None:
        return f"{rule.confidence:.3f}"
    return number_text(rule.deviation or 0.0, 4)
