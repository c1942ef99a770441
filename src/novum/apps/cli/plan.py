"""`novum plan`: the best policy of a world from a file, or learning it step by step."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from novum.apps.cli.failures import guarded
from novum.apps.cli.options import Debug, Json

if TYPE_CHECKING:
    from novum.evaluation import AgentComparison
    from novum.reinforcement import MarkovDecisionProcess, Plan

AGENTS = (
    "q-learning",
    "sarsa",
    "expected-sarsa",
    "double-q-learning",
    "adaptive",
    "thompson",
    "sweeping",
)
_BAR = 30


@guarded
def plan(
    world: Annotated[
        Path | None, typer.Argument(help="TOML file. Default: the 4 x 3 grid of the notes.")
    ] = None,
    horizon: Annotated[
        int | None, typer.Option(metavar="STEPS", min=1, help="Plan for so many steps.")
    ] = None,
    discount: Annotated[
        float | None, typer.Option(metavar="SHARE", help="In place of that of the file.")
    ] = None,
    method: Annotated[str, typer.Option(help="How the plan is found.")] = "auto",
    learn: Annotated[
        str | None, typer.Option(metavar="AGENT", help=f"Learn it instead: {', '.join(AGENTS)}.")
    ] = None,
    steps: Annotated[int, typer.Option(min=1, help="Steps of an agent.")] = 50_000,
    seeds: Annotated[int, typer.Option(min=2, help="Runs of an agent.")] = 5,
    draw: Annotated[
        Path | None, typer.Option(metavar="FILE.svg", help="Write a picture of the policy.")
    ] = None,
    report: Annotated[
        Path | None, typer.Option(metavar="FILE.html", help="Write a page with all results.")
    ] = None,
    as_json: Json = False,
    debug: Debug = False,
) -> None:
    """Plan in a known world, or learn to act in it: novum plan world.toml --learn q-learning"""
    from novum.apps.cli.streams import output, say, write_json
    from novum.core.errors import InputError
    from novum.core.text import listed
    from novum.reinforcement import solve

    del debug
    if learn is not None and learn not in AGENTS:
        raise InputError(f"--learn takes one of {listed(AGENTS)}; got {learn!r}.")
    if draw is not None and draw.suffix.lower() != ".svg":
        raise InputError(f"--draw writes SVG, got {draw.name!r}. Name a file that ends in .svg.")
    process = _world(world, discount)
    planned = solve(process, horizon=horizon, method=method)
    judged = None if learn is None else _judged(process, planned, learn, steps, seeds)
    if draw is not None:
        _picture(planned, judged).save(draw)
    if report is not None:
        from novum.apps.report.plans import write_plan_report

        write_plan_report(planned, report, judged)
    if as_json:
        write_json(_content(planned, judged))
        return
    out = output()
    say(out, repr(process), "bold")
    if process.start is not None and (lost := process.unreachable_states()):
        say(out, f"{len(lost)} states cannot be reached from the start: {listed(lost)}.", "yellow")
    if judged is not None:
        _show_learning(out, judged)
    for line in _picture(planned, judged).as_text().splitlines():
        say(out, line)
    if judged is None:
        from novum.reinforcement import loss_sentence

        say(out, loss_sentence(planned.certificate).capitalize())
    for path in (draw, report):
        if path is not None:
            say(out, f"written: {path}")


def _world(path: Path | None, discount: float | None) -> MarkovDecisionProcess:
    from novum.reinforcement import GridWorld

    if path is None:
        process = GridWorld.notes().process
    else:
        from novum.apps.worlds import read_world

        process = read_world(path)
    return process if discount is None else process.at(discount=discount)


def _judged(
    process: MarkovDecisionProcess, planned: Plan, name: str, steps: int, seeds: int
) -> AgentComparison:
    from novum.core.errors import InputError
    from novum.evaluation import compare_agents

    if process.start is None:
        raise InputError(
            'An agent must begin somewhere: put S into the map, or start = "..." into the file.'
        )
    # Returns are sums without a discount, so that only then the plan's value is their optimum.
    values = planned.values if planned.horizon is None else planned.values[-1]
    optimum = float(process.start @ values) if process.discount == 1 else None
    return compare_agents({name: _agent(name, steps)}, process, n_seeds=seeds, optimum=optimum)


def _agent(name: str, steps: int) -> Any:
    from novum import reinforcement as rl

    if name == "thompson":
        return rl.AdaptiveDynamicProgramming(
            steps, rule=rl.ThompsonSampling(), max_episode_steps=1000
        )
    classes = {
        "q-learning": rl.QLearning,
        "sarsa": rl.Sarsa,
        "expected-sarsa": rl.ExpectedSarsa,
        "double-q-learning": rl.DoubleQLearning,
        "adaptive": rl.AdaptiveDynamicProgramming,
        "sweeping": rl.PrioritizedSweeping,
    }
    return classes[name](steps, max_episode_steps=1000)


def _picture(planned: Plan, judged: AgentComparison | None) -> Any:
    if judged is None:
        return planned.draw()
    import numpy as np

    from novum.reinforcement import PlanPicture

    (agent,) = judged.agents.values()
    values = planned.values if planned.horizon is None else planned.values[-1]
    learned = np.where(planned.process.pairs.is_terminal, values, agent.values_)
    return PlanPicture.of(planned.process, learned, agent.policy_)


def _show_learning(out: Any, judged: AgentComparison) -> None:
    from novum.apps.cli.streams import say, table_of

    (name,) = judged.returns
    curve = judged.curve(name)
    low = min(one.estimate for one in curve)
    width = max(max(one.estimate for one in curve) - low, 1e-12)
    rows = [
        [f"{end:,}", repr(one), "#" * round(_BAR * (one.estimate - low) / width)]
        for end, one in zip(judged.steps.tolist(), curve, strict=True)
    ][1::2]
    columns = [("steps", "right"), ("mean return", "left"), ("", "left")]
    out.print(table_of(columns, rows))
    seeds = len(judged.returns[name])
    said = f"{name}, {seeds} seeds: final return {judged.final(name)!r}"
    if judged.optimum is not None:
        said += f", the best policy {judged.optimum:.4g}; regret {judged.regret(name)!r}"
    say(out, said)


def _content(planned: Plan, judged: AgentComparison | None) -> dict[str, Any]:
    process = planned.process
    values = planned.values if planned.horizon is None else planned.values[-1]
    first = planned.policy.at_step(0)
    content: dict[str, Any] = {
        "states": [
            {
                "state": str(state),
                "value": float(values[place]),
                "action": first.action(state),
                "optimal_actions": planned.optimal_actions(state),
            }
            for place, state in enumerate(process.states)
        ],
        "largest_possible_loss": planned.certificate.distance_bound,
        "method": planned.certificate.details.get("method"),
    }
    if judged is not None:
        (name,) = judged.returns
        content["learned"] = {
            "agent": name,
            "steps": judged.steps.tolist(),
            "mean_return": [[one.estimate, one.low, one.high] for one in judged.curve(name)],
            "policy": {str(s): judged.agents[name].policy_[s] for s in process.states},
        }
    return content
