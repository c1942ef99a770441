"""`novum learn`: from a table to a network that `novum query` asks."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from novum.core import load
from novum.graphical import (
    BayesianNetwork,
    BGe,
    EqualFrequency,
    MinimumDescription,
    learn_structure,
)
from tests.apps.cli.commands import invoke, last_line

TRUTH = BayesianNetwork.from_text("""
cloudy: true 0.5, false 0.5
sprinkler | cloudy
    true: true 0.1, false 0.9
    false: true 0.5, false 0.5
rain | cloudy
    true: true 0.8, false 0.2
    false: true 0.2, false 0.8
wet | sprinkler, rain
    true, true: true 0.98, false 0.02
    true, false: true 0.9, false 0.1
    false, true: true 0.9, false 0.1
    false, false: true 0.05, false 0.95
""")


@pytest.fixture
def table(tmp_path: Path) -> Path:
    path = tmp_path / "rows.csv"
    TRUTH.sample(3000, random_state=0, frame="pandas").to_csv(path, index=False)
    return path


def test_a_network_is_learned_and_asked(table: Path, tmp_path: Path) -> None:
    net = tmp_path / "net.bif"
    done = invoke("learn", table, "-o", net, "--quiet")
    assert done.exit_code == 0, done.output
    assert "written: " in done.stdout
    assert "4 nodes, 4 edges" in done.stdout
    learned = BayesianNetwork.read(net)
    assert learned.graph.skeleton == TRUTH.graph.skeleton
    asked = invoke("query", net, "rain", "--given", "cloudy=true")
    assert asked.exit_code == 0, asked.output


def test_json_searches_and_constraints(table: Path, tmp_path: Path) -> None:
    net = tmp_path / "net.xmlbif"
    done = invoke(
        "learn", table, "-o", net, "--json", "--search", "exact", "--criterion", "bdeu",
        "--forbidden", "cloudy->rain", "--forbidden", "rain->cloudy", "--max-parents", "2",
    )  # fmt: skip
    assert done.exit_code == 0, done.output
    told = json.loads(done.stdout)
    assert told["verdict"] == "proved"
    assert ["cloudy", "rain"] not in told["edges"]
    assert net.exists()


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (["--search", "magic"], "--search is one of default, hill-climbing"),
        (["--criterion", "r2"], "--criterion is one of bic"),
        (["--required", "cloudy=rain"], "takes an edge such as"),
        (["--required", "cloudy->snow"], "'snow', which is no column"),
        (["--ignore", "snow"], "'snow', which is no column"),
        (["--numbers", "magic"], "--numbers is one of frequency, mdl, score, normal; got 'magic'."),
        (["--numbers", "mdl"], "which --target names: give both or none."),
        (["--target", "rain"], "which --target names: give both or none."),
        (["--numbers", "mdl", "--target", "snow"], "'snow', which is no column"),
        (["--numbers", "score", "--criterion", "k2"], "takes --criterion bic or aic; got 'k2'."),
        (["--numbers", "normal"], "name a file such as -o net.novum."),
        (["--criterion", "bge"], "add --numbers normal."),
    ],
)
def test_bad_options_are_one_sentence(
    table: Path, tmp_path: Path, options: list[str], sentence: str
) -> None:
    done = invoke("learn", table, "-o", tmp_path / "net.bif", *options)
    assert done.exit_code == 1
    assert sentence in last_line(done.output)


def test_the_format_is_named_by_the_file(table: Path, tmp_path: Path) -> None:
    wrong = invoke("learn", table, "-o", tmp_path / "net.doc")
    assert "such as net.bif" in last_line(wrong.output)
    lost = invoke("learn", table, "-o", tmp_path / "nowhere" / "net.bif")
    assert "There is no folder" in last_line(lost.output)


@pytest.mark.parametrize(
    ("lines", "sentence"),
    [
        (["a,b", "x,y"], "or build the network by hand: BayesianNetwork().add(...)."),
        (["a,b", "x,", "y,", "x,"], "Nothing is known of 'b': every cell is missing"),
    ],
)
def test_tables_that_are_too_poor_are_refused(
    lines: list[str], sentence: str, tmp_path: Path
) -> None:
    path = tmp_path / "poor.csv"
    path.write_text("\n".join(lines) + "\n")
    done = invoke("learn", path, "-o", tmp_path / "net.bif")
    assert done.exit_code == 1
    assert sentence in last_line(done.output)
    assert not (tmp_path / "net.bif").exists()


def test_columns_that_say_little_are_told(tmp_path: Path) -> None:
    path = tmp_path / "odd.csv"
    rows = [f"p{i},{'ab'[i % 2]},x,w{i // 2 * 2 if i % 3 else i}" for i in range(12)]
    path.write_text("\n".join(["id,kind,site,word", *rows]) + "\n")
    done = invoke("learn", path, "-o", tmp_path / "net.bif", "--quiet")
    assert done.exit_code == 0, done.output
    assert "note: 'id' has a value of its own in each of 12 rows" in done.stdout
    assert "note: 'site' has the same value in all rows" in done.stdout
    assert "fewer than two rows for each value" in done.stdout
    assert "note: 12 rows are few" in done.stdout
    told = json.loads(
        invoke(
            "learn", path, "-o", tmp_path / "net.bif", "--json", "--ignore", "id,kind,word"
        ).stdout
    )
    assert told["notes"][-1] == "The table has one column: its network is one node."


@pytest.fixture
def fish(tmp_path: Path) -> Path:
    """A kind decides a length, and that a weight."""
    rng = np.random.default_rng(0)
    kind = rng.integers(0, 2, 400)
    length = rng.normal(size=400) + 4 * kind
    path = tmp_path / "fish.csv"
    columns = {
        "kind": np.array(["perch", "pike"])[kind],
        "length": length,
        "weight": 2 * length + rng.normal(size=400),
    }
    pd.DataFrame(columns).to_csv(path, index=False)
    return path


@pytest.mark.parametrize(
    ("options", "numbers"),
    [
        ([], "frequency"),
        (["--numbers", "frequency"], EqualFrequency()),
        (["--numbers", "mdl", "--target", "kind"], MinimumDescription("kind")),
        (["--numbers", "SCORE"], "score"),
    ],
)
def test_numbers_are_cut_as_in_python(
    fish: Path, tmp_path: Path, options: list[str], numbers: Any
) -> None:
    net = tmp_path / "net.network"
    told = json.loads(invoke("learn", fish, "-o", net, "--json", *options).stdout)
    learned = learn_structure(pd.read_csv(fish), numbers=numbers)
    assert told["score"] == learned.score
    assert BayesianNetwork.read(net).variables == learned.variables


def test_numbers_stay_numbers_and_are_asked(fish: Path, tmp_path: Path) -> None:
    net = tmp_path / "net.novum"
    done = invoke("learn", fish, "-o", net, "--numbers", "normal", "--criterion", "bge", "--quiet")
    assert done.exit_code == 0, done.output
    assert "same value" not in done.stdout
    network = load(net)
    wanted = learn_structure(pd.read_csv(fish), BGe()).network(BGe())
    assert network == wanted
    told = json.loads(
        invoke("query", net, "kind", "weight", "--given", "length=3.5", "--json").stdout
    )
    law = wanted.query("weight", {"length": 3.5})
    assert told["nodes"]["weight"]["mean"] == law.mean
    shares = wanted.query("kind", {"length": 3.5}).probabilities
    assert told["nodes"]["kind"]["states"] == [["perch", shares[0]], ["pike", shares[1]]]
    shown = invoke("query", net, "--all", "--given", "kind=pike", "--do", "weight=3")
    assert "length | kind = pike, do(weight = 3.0)" in shown.stdout
    for asked, sentence in (
        (["kind", "--given", "length=long"], "'length' is a number, and 'length=long' says"),
        (["weight", "--given", "kind=shark"], "'shark' is no state of 'kind'"),
        (["kind", "--most-probable"], "without --most-probable, --explain and --approximate."),
        (["kind", "--given", "length=1", "length=2"], "'length' is given twice."),
    ):
        assert sentence in last_line(invoke("query", net, *asked).output)
