"""`novum query`: a question to a Bayesian network, answered with a table and its price."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from novum.apps.cli.failures import guarded
from novum.apps.cli.options import Debug, Json

if TYPE_CHECKING:
    from novum.graphical import BayesianNetwork, ConditionalGaussianNetwork, Engine

# Lines of an answer on a screen; --json has them all.
MOST_LINES = 60
# Rows of an approximate answer.
SAMPLES = 100_000
_BAR = 20
_TEXT_SUFFIXES = (".txt", ".network")

Answer = dict[str, Any]


@guarded
def query(
    network: Annotated[
        Path, typer.Argument(help="BIF, XMLBIF, UAI, Hugin or .novum file, or text.")
    ],
    nodes: Annotated[
        list[str] | None, typer.Argument(help="Nodes asked for, together where there are several.")
    ] = None,
    given: Annotated[
        list[str] | None, typer.Option(metavar="NODE=STATE ...", help="What is observed.")
    ] = None,
    do: Annotated[
        list[str] | None, typer.Option(metavar="NODE=STATE ...", help="What is set from outside.")
    ] = None,
    every: Annotated[bool, typer.Option("--all", help="Every node by itself.")] = False,
    most_probable: Annotated[
        bool,
        typer.Option(
            "--most-probable", help="The most probable states together, of the nodes or of all."
        ),
    ] = False,
    explain: Annotated[
        str | None, typer.Option(metavar="NODE", help="Which finding moved this node, and how.")
    ] = None,
    draw: Annotated[
        Path | None, typer.Option(metavar="FILE.svg", help="Write a picture with posteriors.")
    ] = None,
    approximate: Annotated[
        bool, typer.Option("--approximate", help="Sample what does not fit the memory exactly.")
    ] = False,
    as_json: Json = False,
    debug: Debug = False,
) -> None:
    """Ask a Bayesian network: novum query alarm.bif --given JohnCalls=true Burglary

    Behind --given and --do stand one or more NODE=STATE; arguments without = are asked for, and
    --given NODE=a|b says that it is one of both. The answer is exact, and its price is shown.
    """
    from novum.apps.cli.findings import check_findings, findings
    from novum.apps.cli.streams import write_json
    from novum.core.errors import InputError, MemoryLimitError
    from novum.graphical import BayesianNetwork

    del debug
    asked = nodes or []
    check_findings(given or [], "--given")
    check_findings(do or [], "--do")
    if not (asked or every or most_probable or explain or draw):
        raise InputError(
            "What is asked? Name one node or more, or use --all, --most-probable, --explain NODE "
            "or --draw FILE.svg."
        )
    if draw is not None and draw.suffix.lower() != ".svg":
        raise InputError(f"--draw writes SVG, got {draw.name!r}. Name a file that ends in .svg.")
    asked_network = _read(network)
    if not isinstance(asked_network, BayesianNetwork):
        from novum.apps.cli.query_numbers import query_numbers

        if most_probable or explain or approximate:
            raise InputError(
                f"{network.name} has columns of numbers, whose answers are exact: ask for nodes, "
                "--all or --draw, without --most-probable, --explain and --approximate."
            )
        query_numbers(
            network.name, asked_network, asked, given or [], do or [], every, draw, as_json
        )
        return
    known = findings(asked_network, given or [], "--given")
    chosen = findings(asked_network, do or [], "--do")
    engine = _engine() if approximate else None
    try:
        answer = _answered(
            asked_network, asked, known, chosen, every, most_probable, explain, engine
        )
        if draw is not None:
            known_states = {**answer["given"], **answer["do"]}
            _changed(asked_network, chosen).draw(known_states, engine=engine).save(draw)
    except MemoryLimitError as error:
        here = str(error).replace("ask with engine=WithinLimits()", "use --approximate")
        raise MemoryLimitError(here) from None
    if as_json:
        write_json({"network": network.name, **answer})
        return
    _show(asked_network, answer)
    if draw is not None:
        typer.echo(f"written: {draw}")


def _read(path: Path) -> BayesianNetwork | ConditionalGaussianNetwork:
    from novum.core.errors import InputError
    from novum.graphical import BayesianNetwork, ConditionalGaussianNetwork

    if not path.exists():
        raise InputError(f"There is no file {str(path)!r}. Check the name and the folder.")
    if path.suffix.lower() == ".novum":
        from novum.core import load

        model = load(path)
        if not isinstance(model, (BayesianNetwork, ConditionalGaussianNetwork)):
            raise InputError(
                f"{path.name} holds a {type(model).__name__}, which is no network. Predict with "
                "it: novum predict."
            )
        return model
    if path.suffix.lower() not in _TEXT_SUFFIXES:
        return BayesianNetwork.read(path)
    from novum.graphical import file_bytes, file_text

    return BayesianNetwork.from_text(file_text(file_bytes(path), path.name))


def _engine() -> Engine:
    """Exact within the memory; beyond it samples, the same in every run."""
    from novum.graphical import LikelihoodWeighting, WithinLimits

    return WithinLimits(LikelihoodWeighting(SAMPLES, random_state=0))


def _changed(network: BayesianNetwork, do: Mapping[str, Any]) -> BayesianNetwork:
    return network.do(do) if do else network


# --- Answers --------------------------------------------------------------------------------------


def _answered(
    network: BayesianNetwork,
    nodes: Sequence[str],
    given: Mapping[str, Any],
    do: Mapping[str, Any],
    every: bool,
    most_probable: bool,
    explain: str | None,
    engine: Engine | None,
) -> Answer:
    """All that was asked, as plain values; the price is found first."""
    from dataclasses import asdict

    changed = _changed(network, do)
    known = {**given, **do}
    price = changed.forecast(known)
    answer: Answer = {"given": _states(network, given), "do": _states(network, do)}
    answers: list[Any] = []
    if most_probable:
        best = changed.most_probable(known, nodes=list(nodes) or None)
        answer["most_probable"] = dict(best)
        answer["log_probability"] = best.log_probability
    elif nodes:
        table = network.query(*nodes, given=given, do=do, engine=engine)
        answers.append(table)
        answer["nodes"] = list(nodes)
        answer["table"] = _rows(table)
    if every:
        tables = network.marginals(given, do=do, engine=engine)
        answers.append(tables)
        answer["marginals"] = {name: _cells(tables[name]) for name in tables}
    if explain is not None:
        answers.append(changed.explain(explain, given, engine=engine))
        answer["explanation"] = _explained(answers[-1])
    for part in answers:
        if part.diagnosis is not None:
            answer["approximation"] = part.diagnosis.sentence
            answer["trust"] = part.diagnosis.trust.value
    answer["log_evidence"] = _log_evidence(network, given, do, answers, engine is not None)
    answer["price"] = {**asdict(price), "sentence": str(price)}
    return answer


def _log_evidence(
    network: BayesianNetwork,
    given: Mapping[str, Any],
    do: Mapping[str, Any],
    answers: list[Any],
    is_approximate: bool,
) -> float | None:
    """Logarithm of the probability of what is given; what answers say where it is too dear."""
    from novum.core.errors import MemoryLimitError

    try:
        return network.log_evidence(given, do=do)
    except MemoryLimitError:
        if not is_approximate:
            raise
    return next((part.log_evidence for part in answers if hasattr(part, "log_evidence")), None)


def _explained(explanation: Any) -> dict[str, Any]:
    from dataclasses import asdict, replace

    plain = asdict(replace(explanation, diagnosis=None))
    del plain["diagnosis"]
    return plain


def _cells(table: Any) -> list[list[Any]]:
    """The states of one node with their probabilities."""
    [states] = table.states
    return [[state, cell] for state, cell in zip(states, table.probabilities.tolist(), strict=True)]


def _states(network: BayesianNetwork, given: Mapping[str, Any]) -> dict[str, Any]:
    """States as the network has them; a list where there are several of one node."""
    from novum.graphical import states_given

    observed: dict[str, Any] = {}
    for name, state in given.items():
        axis = network[name].variable
        states = [axis.states[place] for place in states_given(axis, state)]
        observed[name] = states[0] if len(states) == 1 else states
    return observed


def _rows(table: Any) -> list[dict[str, Any]]:
    """A joint table as rows of states and their probability."""
    from itertools import product

    cells = table.probabilities.ravel().tolist()
    return [
        {"states": dict(zip(table.names, states, strict=True)), "probability": cell}
        for states, cell in zip(product(*table.states), cells, strict=True)
    ]


# --- On a screen ----------------------------------------------------------------------------------


def _show(network: BayesianNetwork, answer: Answer) -> None:
    from novum.apps.cli.streams import output, say

    out = output()
    condition = _condition(answer)
    if "table" in answer:
        names = answer["nodes"]
        say(out, f"P({', '.join(names)}{condition})", "bold")
        rows = [
            [*(_text(row["states"][name]) for name in names), row["probability"]]
            for row in answer["table"]
        ]
        _show_table(out, names, rows)
    if "most_probable" in answer:
        say(out, f"most probable{condition or ' of all'}", "bold")
        states = [[name, _text(state)] for name, state in answer["most_probable"].items()]
        _show_lines(out, ["node", "state"], states)
        say(out, f"probability {_number(answer['log_probability'])}, the evidence included")
    if "marginals" in answer:
        say(out, f"P(each node{condition})", "bold")
        rows = [
            [name if place == 0 else "", _text(state), cell]
            for name, cells in answer["marginals"].items()
            for place, (state, cell) in enumerate(cells)
        ]
        _show_table(out, ["node", "state"], rows)
    if "explanation" in answer:
        _show_explanation(out, answer["explanation"])
    if "approximation" in answer:
        say(out, f"approximate: {answer['approximation']}", "yellow")
    if answer["given"] and answer["log_evidence"] is not None:
        say(out, f"probability of what is given: {_number(answer['log_evidence'])}")
    say(out, f"{len(network)} nodes; {answer['price']['sentence']}")


def _condition(answer: Answer) -> str:
    """What stands behind the bar: ` | a = x, do(b = y)`."""
    parts = [f"{name} = {_text(state)}" for name, state in answer["given"].items()]
    parts += [f"do({name} = {_text(state)})" for name, state in answer["do"].items()]
    return f" | {', '.join(parts)}" if parts else ""


def _show_table(out: Any, names: Sequence[str], rows: list[list[Any]]) -> None:
    shown = [[*row[:-1], f"{row[-1]:.6g}", _bar(row[-1])] for row in rows]
    _show_lines(out, [*names, "probability", ""], shown, number=len(names))


def _show_lines(
    out: Any, heads: Sequence[str], rows: list[list[str]], number: int | None = None
) -> None:
    from novum.apps.cli.streams import say, table_of

    columns = [(head, "right" if place == number else "left") for place, head in enumerate(heads)]
    out.print(table_of(columns, rows[:MOST_LINES]))
    if len(rows) > MOST_LINES:
        say(out, f"and {len(rows) - MOST_LINES:,} more lines; --json has them all.")


def _show_explanation(out: Any, explanation: Mapping[str, Any]) -> None:
    from novum.apps.cli.streams import say

    say(
        out,
        f"{explanation['node']} = {_text(explanation['state'])}: {explanation['prior']:.4g} "
        f"before the evidence, {explanation['posterior']:.4g} after",
        "bold",
    )
    rows = [
        [
            f"{part['node']} = {_text(part['state'])}",
            f"{part['weight']:+.3g}",
            f"{part['alone']:.4g}",
            f"{part['without']:.4g}",
        ]
        for part in explanation["findings"]
    ]
    _show_lines(out, ["finding", "bits", "alone", "without it"], rows)


def _text(state: Any) -> str:
    if isinstance(state, list):
        return " or ".join(map(_text, state))
    return state if isinstance(state, str) else repr(state)


def _number(log_probability: float) -> str:
    """A probability that may be too small for a floating-point number."""
    import math

    if log_probability > -700:
        return f"{math.exp(log_probability):.6g}"
    return f"e^{log_probability:.6g}"


def _bar(probability: float) -> str:
    encoding = (getattr(sys.stdout, "encoding", None) or "ascii").lower()
    block = "\u2588" if encoding.replace("-", "").startswith("utf") else "#"
    return block * round(probability * _BAR)
