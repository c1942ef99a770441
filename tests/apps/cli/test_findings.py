"""Findings on the command line."""

from __future__ import annotations

import pytest

from novum.apps.cli.findings import findings, repeated
from novum.core.errors import InputError
from novum.graphical import BayesianNetwork
from tests.graphical.textbook_networks import alarm


@pytest.mark.parametrize(
    ("given", "wanted"),
    [
        ("n --given a=1 b=2 c", "n --given a=1 --given b=2 c"),
        ("n c --do a=1 b=2", "n c --do a=1 --do b=2"),
        ("n --given a=1 --do b=2 c=3 d", "n --given a=1 --do b=2 --do c=3 d"),
        ("n --given=a=1 b=2", "n --given=a=1 --given b=2"),
        ("n a=1 c", "n --given a=1 c"),
        ("x=y.bif a=1", "x=y.bif --given a=1"),
        ("n --draw a=b.svg c --json", "n --draw a=b.svg c --json"),
        ("n --do a=1 --explain b=c d=2", "n --do a=1 --explain b=c --do d=2"),
        ("n --given a=1 -- b=2", "n --given a=1 -- b=2"),
        ("", ""),
    ],
)
def test_an_option_holds_until_the_next(given: str, wanted: str) -> None:
    assert repeated(given.split()) == wanted.split()


def test_names_and_states_may_hold_the_sign() -> None:
    network = (
        BayesianNetwork()
        .add("a=b", table=[0.5, 0.5], states=["x=y", "z"])
        .add("c", table=[0.5, 0.5], states=[1, 2])
    )
    assert findings(network, ["a=b=x=y", "c=1"], "--given") == {"a=b": "x=y", "c": "1"}


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (["Alarm"], "--do takes node=state, got 'Alarm'"),
        (["Alram=true"], "did you mean 'Alarm'"),
        (["=true"], "no node ''"),
        (["Alarm=true", "Alarm=false"], "names 'Alarm' twice"),
    ],
)
def test_wrong_findings_are_said(given: list[str], message: str) -> None:
    with pytest.raises(InputError, match=message):
        findings(alarm(), given, "--do")
