"""Measuring: interleaved order, minima, quality of the first repetition, peers that fail."""

import importlib
import os
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from benchmarks import measuring
from benchmarks.measuring import Outcome, Settings, largest_difference, measure
from benchmarks.peers import novum
from benchmarks.recipes import Recipe
from benchmarks.worker import Answer
from tests.benchmarks.toys import tiny_workload, toy


@pytest.fixture(autouse=True)
def three_rounds(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(measuring, "MOST_ROUNDS", 3)


def run(workload: Any, **settings: Any) -> tuple[dict[str, Outcome], list[str]]:
    said: list[str] = []
    outcomes = measure(workload, workload.peers(), Settings(**settings), said.append)
    return outcomes, said


@pytest.mark.slow
def test_repetitions_are_interleaved(tmp_path: Path) -> None:
    trace = tmp_path / "trace"
    workload = tiny_workload([toy("b", trace), toy("c", trace)])
    outcomes, _ = run(workload)
    assert trace.read_text().split() == ["b", "c"] * 3
    assert {outcome.repetitions for outcome in outcomes.values()} == {3}


@pytest.mark.slow
def test_quick_work_is_repeated_more_often(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(measuring, "MOST_ROUNDS", 6)
    outcomes, _ = run(tiny_workload([toy("b", tmp_path / "trace")]))
    assert outcomes["b"].repetitions == 6


def test_the_minimum_of_time_and_the_maximum_of_memory_are_kept() -> None:
    outcome = Outcome()
    for seconds, megabytes in ((3.0, 5.0), (1.0, 9.0), (2.0, 1.0)):
        answer = Answer(cpu={"fit": seconds}, wall={"fit": seconds + 1}, memory={"fit": megabytes})
        measuring._merge(outcome, answer)
    assert (outcome.cpu, outcome.wall, outcome.memory) == (
        {"fit": 1.0},
        {"fit": 2.0},
        {"fit": 9.0},
    )
    assert outcome.repetitions == 3


@pytest.mark.slow
def test_arrays_are_compared_with_the_first_peer(tmp_path: Path) -> None:
    trace = tmp_path / "trace"
    workload = tiny_workload([toy("b", trace, 1.0), toy("c", trace, 1.5)])
    outcomes, said = run(workload)
    assert outcomes["b"].quality == {"score": 1.0, "difference_answer": 0.0}
    assert outcomes["c"].quality == {"score": 1.5, "difference_answer": 0.5}
    assert any("score=1.5" in line for line in said)


@pytest.mark.slow
def test_every_peer_that_fails_says_why(tmp_path: Path) -> None:
    trace = tmp_path / "trace"

    def refuse() -> None:
        raise ValueError("no such luck")

    def missing() -> None:
        importlib.import_module("no_such_rival")

    rivals = [
        toy("fine", trace),
        toy("refuses", trace, action=refuse),
        toy("missing", trace, action=missing),
        toy("dies", trace, action=lambda: os._exit(7)),
    ]
    outcomes, _ = run(tiny_workload(rivals, novum("novum.nowhere:Nothing")))
    found = {name: (outcome.status, outcome.message) for name, outcome in outcomes.items()}
    assert found == {
        "fine": ("ran", ""),
        "refuses": ("error", "ValueError: no such luck"),
        "missing": ("not installed", "needs the module no_such_rival"),
        "dies": ("error", "process ended with 7"),
        "novum": ("not yet", "Novum has no novum.nowhere:Nothing"),
    }
    assert outcomes["fine"].repetitions == 3


@pytest.mark.slow
def test_a_peer_over_its_limit_is_ended(tmp_path: Path) -> None:
    def spin() -> None:
        while True:
            sum(range(10_000))

    trace = tmp_path / "trace"
    rivals = [toy("endless", trace, action=spin), toy("fine", trace)]
    started = time.process_time()
    outcomes, _ = run(tiny_workload(rivals, limit=0.2))
    assert (outcomes["endless"].status, outcomes["endless"].message) == (
        "over the limit",
        "over 0.2 s",
    )
    assert not outcomes["endless"].ran
    assert outcomes["fine"].ran
    assert time.process_time() - started < 30


def test_data_that_cannot_be_made_are_reported_for_everyone(tmp_path: Path) -> None:
    def nothing() -> Any:
        raise FileNotFoundError("no such network")

    workload = tiny_workload([toy("b", tmp_path / "trace")])
    object.__setattr__(workload, "data", Recipe(nothing))
    outcomes, said = run(workload)
    assert outcomes["b"].status == "error"
    assert "no such network" in outcomes["b"].message
    assert "no data" in said[0]


def test_slow_rivals_stop_early_but_never_the_one_the_target_names() -> None:
    totals = {"quick": 1.0, "slow": 10.0, "named": 10.0, "novum": 10.0}
    outcomes = {name: Outcome(cpu={"fit": value}) for name, value in totals.items()}
    outcomes["novum"].ours = True
    rivals = [toy(name, Path()) for name in ("quick", "slow", "named")]
    workload = tiny_workload(rivals, toy("novum", Path(), ours=True), against="named")
    running: dict[str, Any] = dict.fromkeys(totals)
    assert measuring._far_behind(workload, running, outcomes, "cpu") == ["slow"]


def test_difference_of_unlike_shapes_is_not_a_number() -> None:
    assert np.isnan(largest_difference([1.0], [1.0, 2.0]))
    assert largest_difference([1.0, 2.0], [1.0, 2.5]) == 0.5
    assert largest_difference([], []) == 0.0
