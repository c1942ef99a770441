"""The page of a plan: values and policy, what is proved, and how agents learned the same world."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np

from novum.apps.report.page import content_policy
from novum.core.files import replacing
from novum.display import (
    PAGE_COLORS,
    Block,
    Fact,
    Facts,
    Figure,
    Heading,
    Markup,
    Paragraph,
    Section,
    Table,
    element,
    number,
)
from novum.evaluation import AgentComparison
from novum.reinforcement import Plan, PlanPicture

_MOST = 200


def write_plan_report(
    plan: Plan, path: str | os.PathLike[str], agents: AgentComparison | None = None
) -> None:
    """Writes one HTML file that loads nothing and runs nothing.

    Parameters
    ----------
    plan : Plan
    path : path
    agents : AgentComparison, optional
        Agents that learned the same process.
    """
    page = render_plan(plan, agents).encode("utf-8")
    with replacing(path) as file:
        file.write(page)


def render_plan(plan: Plan, agents: AgentComparison | None = None) -> str:
    """The page as HTML; the same plan gives the same page."""
    sections = [_planned(plan)]
    if agents is not None:
        sections += [_learned(plan, agents), _visits(plan, agents)]
    style = (Path(__file__).parent / "style.css").read_text(encoding="utf-8") + PAGE_COLORS
    title = f"Acting in a world of {plan.process.n_states} states"
    head = element(
        "head",
        element("meta", charset="utf-8"),
        element("meta", http_equiv="Content-Security-Policy", content=content_policy(style)),
        element("meta", name="viewport", content="width=device-width, initial-scale=1"),
        element("meta", name="color-scheme", content="light dark"),
        element("title", title),
        element("style", Markup(style)),
    )
    links = [element("li", element("a", s.title, href=f"#{s.key}")) for s in sections]
    body = element(
        "body",
        element("header", element("h1", title), element("p", repr(plan.process))),
        element("nav", element("ol", links), aria_label="Contents"),
        element("main", (section.as_html() for section in sections), id="main"),
        element("footer", element("p", "Made by novum. This file loads and runs nothing.")),
    )
    return f"<!DOCTYPE html>\n{element('html', head, body, lang='en')}\n"


def _planned(plan: Plan) -> Section:
    certificate = plan.certificate
    loss = certificate.distance_bound
    picture = plan.draw()
    facts = [
        Fact("largest possible loss", number(loss) if loss is not None else "unknown", "proved"),
        Fact("method", str(certificate.details.get("method", ""))),
        Fact("rounds", str(certificate.iterations)),
    ]
    blocks: list[Block] = [
        Facts(facts),
        Figure("Values and policy", "Arrows are best actions.", picture.drawing().as_svg("plan")),
        _table(plan),
    ]
    return Section("plan", "The best policy", "Plan", blocks)


def _table(plan: Plan) -> Table:
    names = plan.process.states
    shown = range(min(len(names), _MOST))
    values = plan.values if plan.horizon is None else plan.values[-1]
    rows = [
        [
            str(names[s]),
            f"{values[s]:.6g}",
            ", ".join(map(str, plan.optimal_actions(names[s]))) or "(terminal)",
        ]
        for s in shown
    ]
    more = len(names) - len(rows)
    note = f"and {more} more states" if more else ""
    return Table.of_numbers("States", ["state", "value", "best actions"], rows, note)


def _learned(plan: Plan, agents: AgentComparison) -> Section:
    blocks: list[Block] = list(agents.blocks())
    for place, (name, agent) in enumerate(agents.agents.items()):
        if hasattr(agent, "policy_"):
            picture = PlanPicture.of(plan.process, _values(plan, agent), agent.policy_)
            drawing = picture.drawing().as_svg(f"agent-{place}")
            blocks.append(Figure(f"What {name} learned", "With its first seed.", drawing))
    return Section("learned", "Learning to act", "Learned", blocks)


def _values(plan: Plan, agent: Any) -> Any:
    """Learned values; those of terminal states are known."""
    return np.where(plan.process.pairs.is_terminal, plan.values, agent.values_)


def _visits(plan: Plan, agents: AgentComparison) -> Section:
    blocks: list[Block] = []
    for name, agent in agents.agents.items():
        if not hasattr(agent, "visits_"):
            continue
        table = plan.process.by_action(agent.visits_.astype(float))
        heads = ["state", *map(str, plan.process.actions)]
        rows = [
            [str(plan.process.states[s]), *("" if np.isnan(c) else f"{c:.0f}" for c in table[s])]
            for s in range(min(plan.process.n_states, _MOST))
            if not plan.process.pairs.is_terminal[s]
        ]
        blocks += [Heading(name), Table.of_numbers("Visits of each action", heads, rows)]
    return Section("visits", "Where agents went", "Visits", blocks or [Paragraph("Not counted.")])
