"""`novum query` of a network with numbers: states with probabilities, numbers with their law."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from novum.graphical import ConditionalGaussianNetwork

# Quantiles of a number that are shown.
QUANTILES = (0.025, 0.5, 0.975)


def query_numbers(
    file: str,
    network: ConditionalGaussianNetwork,
    nodes: Sequence[str],
    given: Sequence[str],
    do: Sequence[str],
    every: bool,
    draw: Path | None,
    as_json: bool,
) -> None:
    """Answers of each node by itself, printed or as JSON, and the picture that is asked for."""
    from novum.apps.cli.streams import output, say, table_of, write_json

    known = {"given": _findings(network, given), "do": _findings(network, do)}
    changed = network.do(known["do"]) if do else network
    evidence = {**known["given"], **known["do"]}
    names = list(changed.marginals(evidence)) if every else list(nodes)
    laws = {name: _plain(changed.query(name, evidence)) for name in names}
    answer = {
        "network": file,
        **known,
        "nodes": laws,
        "log_evidence": changed.log_evidence(known["given"]) if given else 0.0,
    }
    if draw is not None:
        changed.draw(evidence).save(draw)
    if as_json:
        write_json(answer)
        return
    out = output()
    condition = ", ".join(
        [f"{n} = {v}" for n, v in known["given"].items()]
        + [f"do({n} = {v})" for n, v in known["do"].items()]
    )
    for name, law in laws.items():
        say(out, f"{name} | {condition}" if condition else name, "bold")
        if "states" in law:
            rows = [[str(state), f"{share:.6g}"] for state, share in law["states"]]
            out.print(table_of([("state", "left"), ("probability", "right")], rows))
        else:
            heads = ["mean", "standard deviation", "2.5 %", "median", "97.5 %"]
            cells = [law["mean"], law["standard_deviation"], *law["quantiles"]]
            row = [f"{cell:.6g}" for cell in cells]
            out.print(table_of([(head, "right") for head in heads], [row]))
    if given:
        say(out, f"log density of what is given: {answer['log_evidence']:.6g}")
    if draw is not None:
        say(out, f"written: {draw}")


def _findings(network: ConditionalGaussianNetwork, texts: Sequence[str]) -> dict[str, Any]:
    """Nodes with their states or numbers, from texts such as `length=2.5`."""
    from novum.apps.cli.findings import node_and_value
    from novum.core.errors import InputError
    from novum.core.text import label_text, meant
    from novum.graphical import state_like

    known: dict[str, Any] = {}
    for text in texts:
        name, value = node_and_value(network, text)
        place = network.place(name)
        if name in known:
            raise InputError(f"{label_text(name)} is given twice. Say one thing of it.")
        if network.is_numeric[place]:
            try:
                known[name] = float(value)
            except ValueError:
                raise InputError(
                    f"{label_text(name)} is a number, and {text!r} says {value!r}. Give a number."
                ) from None
            continue
        axis = network.axis(place)
        number = state_like(axis, value)
        if number is None:
            raise InputError(
                f"{label_text(value)} is no state of {label_text(name)}: "
                f"{meant(value, [str(s) for s in axis.states])}"
            )
        known[name] = axis.states[number]
    return known


def _plain(law: Any) -> dict[str, Any]:
    """A posterior as plain values."""
    if hasattr(law, "probabilities"):
        [states] = law.states
        shares = law.probabilities.tolist()
        return {"states": [list(pair) for pair in zip(states, shares, strict=True)]}
    return {
        "mean": float(law.mean),
        "standard_deviation": float(law.variance) ** 0.5,
        "quantiles": [float(q) for q in law.quantile(QUANTILES)],
    }
