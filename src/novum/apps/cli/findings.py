"""Findings on the command line: `--given JohnCalls=true MaryCalls=true Burglary`.

Behind `--given` or `--do` every argument of the form node=state is a finding of that option, and an
argument without `=` is a node that is asked for. `FindingsCommand` repeats the option before each
further finding; `findings` splits them with the network at hand, because names and states may hold
an `=` themselves. `node=a|b` says that the node has one of several states.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from typer.core import TyperCommand

if TYPE_CHECKING:
    from novum.graphical import BayesianNetwork

OPTIONS = ("--given", "--do")


class FindingsCommand(TyperCommand):
    """A command whose options for findings take several."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        return super().parse_args(ctx, repeated(args))


def repeated(arguments: Sequence[str]) -> list[str]:
    """Arguments with `--given` or `--do` before each of its findings; before any, `--given`.

    Examples
    --------
    >>> repeated(["net.bif", "--given", "a=1", "b=2", "c", "--do", "d=0", "e=1"])
    ['net.bif', '--given', 'a=1', '--given', 'b=2', 'c', '--do', 'd=0', '--do', 'e=1']
    """
    kept: list[str] = []
    option, is_value, is_path = OPTIONS[0], False, True
    for place, argument in enumerate(arguments):
        if argument == "--":
            return [*kept, *arguments[place:]]
        if is_value:
            kept.append(argument)
            is_value = False
        elif argument.startswith("-"):
            kept.append(argument)
            name = argument.split("=", 1)[0]
            option = name if name in OPTIONS else option
            is_value = argument in (*OPTIONS, "--explain", "--draw")
        elif "=" in argument and not is_path:
            kept += [option, argument]
        else:
            kept.append(argument)
            # The first argument is the file, whatever its name.
            is_path = False
    return kept


def check_findings(given: Sequence[str], option: str) -> None:
    """Refuses arguments that are no findings, before any file is read."""
    from novum.core.errors import InputError
    from novum.core.text import printable

    for text in given:
        if "=" not in text:
            raise InputError(
                f"{option} takes node=state, got {printable(text, 60)!r}. Name nodes that are "
                "asked for before the options."
            )


def node_and_value(network: Any, text: str) -> tuple[str, str]:
    """The parts of `node=value`; the first `=` behind a node's name divides them."""
    from novum.core.errors import InputError
    from novum.core.text import label_text, meant

    splits = [(text[:i], text[i + 1 :]) for i, c in enumerate(text) if c == "="]
    known = [split for split in splits if split[0] in network]
    if not known:
        name = splits[0][0]
        raise InputError(
            f"The network has no node {label_text(name)}: {meant(name, network.names)}"
        )
    return known[0]


def findings(network: BayesianNetwork, given: Sequence[str], option: str) -> dict[str, Any]:
    """States by node, from texts such as `JohnCalls=true`; a list of states where there are `|`."""
    from novum.core.errors import InputError
    from novum.core.text import label_text
    from novum.graphical import state_like

    check_findings(given, option)
    states: dict[str, Any] = {}
    for text in given:
        name, state = node_and_value(network, text)
        if name in states:
            raise InputError(f"{option} names {label_text(name)} twice. Give it one state.")
        # A state may hold the mark itself.
        is_one = "|" not in state or state_like(network[name].variable, state) is not None
        states[name] = state if is_one else state.split("|")
    return states
