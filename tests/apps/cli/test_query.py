"""`novum query`: the table, its price, and what is said when something is wrong."""

from __future__ import annotations

import json
import math
from pathlib import Path

import pytest

from novum.graphical import BayesianNetwork
from tests.apps.cli.commands import invoke, last_line, novum
from tests.graphical.textbook_networks import ALARM_TEXT, alarm, grid


@pytest.fixture
def network(tmp_path: Path) -> Path:
    path = tmp_path / "alarm.network"
    path.write_text(ALARM_TEXT)
    return path


def test_the_command_of_the_manual(network: Path) -> None:
    done = novum(
        "query", network.name, "--given", "JohnCalls=true", "MaryCalls=true", "Burglary",
        cwd=network.parent,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert lines[0] == "P(Burglary | JohnCalls = true, MaryCalls = true)"
    assert lines[1].split() == ["Burglary", "probability"]
    assert lines[3].split()[:2] == ["true", "0.284172"]
    assert lines[4].split()[:2] == ["false", "0.715828"]
    assert "probability of what is given: 0.0020841" in done.stdout
    assert "5 nodes; exact inference: cliques of up to" in lines[-1]
    assert done.stderr == ""


def test_every_format_gives_the_same_answer(tmp_path: Path, network: Path) -> None:
    wanted = invoke("query", network, "Burglary", "--given", "JohnCalls=true").stdout
    for suffix in (".bif", ".bif.gz", ".net", ".xmlbif"):
        path = tmp_path / f"alarm{suffix}"
        alarm().write(path)
        done = invoke("query", path, "Burglary", "--given", "JohnCalls=true")
        assert (done.exit_code, done.stdout) == (0, wanted), suffix


def test_json_has_every_number(network: Path) -> None:
    done = invoke(
        "query", network, "Alarm", "Burglary", "--given", "JohnCalls=true", "--all", "--json"
    )
    assert done.exit_code == 0, done.output
    told = json.loads(done.stdout)
    assert told["given"] == {"JohnCalls": "true"}
    table = alarm().query("Alarm", "Burglary", given={"JohnCalls": "true"}).values
    assert [row["probability"] for row in told["table"]] == table.ravel().tolist()
    assert told["table"][1]["states"] == {"Alarm": "true", "Burglary": "false"}
    assert told["marginals"]["Earthquake"][0][0] == "true"
    assert told["log_evidence"] == pytest.approx(math.log(0.0521389757), rel=1e-12)
    assert told["price"]["width"] >= 1


def test_interventions_differ_from_observations(network: Path) -> None:
    seen = invoke("query", network, "Burglary", "--given", "Alarm=true")
    done = invoke("query", network, "Burglary", "--do", "Alarm=true")
    assert "0.373551" in seen.stdout
    assert "P(Burglary | do(Alarm = true))" in done.stdout
    assert "0.001" in done.stdout
    # Behind --do every finding is an intervention.
    both = invoke("query", network, "Burglary", "--do", "Alarm=true", "JohnCalls=true")
    assert "do(Alarm = true), do(JohnCalls = true)" in both.stdout


def test_most_probable_explanation_and_picture(tmp_path: Path, network: Path) -> None:
    done = invoke("query", network, "--most-probable", "--given", "JohnCalls=true")
    assert "most probable | JohnCalls = true" in done.stdout
    assert "probability 0.0493022, the evidence included" in done.stdout
    some = invoke(
        "query", network, "Alarm", "--most-probable", "--given", "JohnCalls=true", "--json"
    )
    assert json.loads(some.stdout)["most_probable"] == {"Alarm": "false"}
    why = invoke("query", network, "--explain", "Burglary", "--given", "JohnCalls=true")
    assert "Burglary = false: 0.999 before the evidence, 0.9837 after" in why.stdout
    assert "JohnCalls = true" in why.stdout
    picture = tmp_path / "alarm.svg"
    drawn = invoke("query", network, "--draw", picture, "--do", "Alarm=true")
    assert drawn.exit_code == 0, drawn.output
    assert f"written: {picture}" in drawn.stdout
    assert picture.read_text().startswith("<svg")


def test_states_that_are_numbers_and_truth_values(tmp_path: Path) -> None:
    network = BayesianNetwork().add("n", table=[0.25, 0.75], states=[1, 2])
    network = network.add("t", parents="n", table=[[0.1, 0.9], [0.8, 0.2]], states=[True, False])
    path = tmp_path / "mixed.txt"
    path.write_text(network.to_text())
    done = invoke("query", path, "t", "--given", "n=2")
    assert "P(t | n = 2)" in done.stdout
    assert "0.8" in done.stdout
    told = json.loads(invoke("query", path, "n", "--given", "t=true", "--json").stdout)
    assert told["given"] == {"t": True}
    assert told["table"][0]["states"] == {"n": 1}


def test_long_answers_are_cut_on_a_screen(tmp_path: Path) -> None:
    nodes = {f"n{i}": {"table": [0.5, 0.5]} for i in range(40)}
    path = tmp_path / "many.txt"
    path.write_text(BayesianNetwork.from_dict(nodes).to_text())
    done = invoke("query", path, "--all")
    assert "and 20 more lines; --json has them all." in done.stdout
    assert len(json.loads(invoke("query", path, "--all", "--json").stdout)["marginals"]) == 40


def test_beyond_the_memory_it_refuses_or_samples(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "grid.bif"
    grid(16).write(path)
    exact = grid(16).query("x15_15", given={"x5_5": "a"}).values[0]
    monkeypatch.setenv("NOVUM_MEMORY_LIMIT", "600kB")
    question = ["query", path, "x15_15", "--given", "x5_5=a"]
    done = invoke(*question)
    assert done.exit_code == 1
    assert "limit of 600.0 kB" in done.stderr
    assert "use --approximate" in done.stderr
    done = invoke(*question, "--approximate")
    assert done.exit_code == 0, done.stderr
    assert "approximate: Exact inference with cliques of up to" in done.stdout
    told = json.loads(invoke(*question, "--approximate", "--json").stdout)
    assert "100000 weighted rows" in told["approximation"]
    assert told["trust"] == "proved"
    assert told["table"][0]["probability"] == pytest.approx(exact, abs=0.01)
    assert told["log_evidence"] == pytest.approx(grid(16).log_evidence({"x5_5": "a"}), abs=0.02)
    every = invoke("query", path, "--all", "--given", "x5_5=a", "--approximate", "--json")
    assert "approximation" in json.loads(every.stdout)
    for only in (["--explain", "x15_15"], ["--draw", tmp_path / "grid.svg"]):
        done = invoke("query", path, *only, "--given", "x5_5=a", "--approximate", "--json")
        assert done.exit_code == 0, done.stderr
        assert ("approximation" in json.loads(done.stdout)) == ("--explain" in only)
    assert (tmp_path / "grid.svg").exists()
    monkeypatch.delenv("NOVUM_MEMORY_LIMIT")
    assert "approximate" not in invoke(*question, "--approximate").stdout


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "What is asked? Name one node or more"),
        (["Burglry"], "did you mean 'Burglary'?"),
        (["Burglary", "--given", "JohnCalls=ture"], "did you mean 'true'?"),
        (["Burglary", "--given", "JonCalls=true"], "did you mean 'JohnCalls'?"),
        (["Burglary", "--given", "JohnCalls"], "--given takes node=state"),
        (["--given", "JohnCalls"], "--given takes node=state, got 'JohnCalls'"),
        (["--do", "JohnCalls"], "--do takes node=state, got 'JohnCalls'"),
        (["--draw", "out.png"], "--draw writes SVG, got 'out.png'. Name a file that ends in .svg."),
        (["Alarm", "--given", "JohnCalls=true|flase"], "did you mean 'false'?"),
        (["Alarm", "--given", "JohnCalls=true|true"], "is given twice"),
        (["Alarm", "--do", "JohnCalls=true|false"], "'JohnCalls' takes one state here"),
        (["--explain", "Alarm", "--given", "JohnCalls=true|false"], "takes one state here"),
        (["Burglary", "--given", "Alarm=true", "--do", "Alarm=true"], "both observed and set"),
        (["Burglary", "Burglary"], "asked twice"),
        (["--explain", "Burglary"], "nothing to explain without evidence"),
    ],
)
def test_wrong_questions_end_in_a_sentence(
    network: Path, arguments: list[str], message: str
) -> None:
    done = invoke("query", network, *arguments)
    assert done.exit_code == 1
    assert message in last_line(done.stderr)
    assert done.stdout == ""


def test_wrong_files_end_in_a_sentence(tmp_path: Path) -> None:
    done = invoke("query", tmp_path / "no.bif", "a")
    said = " ".join(done.stderr.split())
    assert done.exit_code == 1
    assert said.startswith("There is no file")
    assert said.endswith("Check the name and the folder.")
    assert said.count("Check") == 1
    (tmp_path / "wrong.txt").write_text("a: x 0.5, y 0.6")
    done = invoke("query", tmp_path / "wrong.txt", "a")
    assert (done.exit_code, "sum to 1.1, not to 1" in done.stderr) == (1, True)
    (tmp_path / "wrong.txt").write_bytes(b"a: \xff 1")
    assert "not text in UTF-8" in invoke("query", tmp_path / "wrong.txt", "a").stderr
    (tmp_path / "t.csv").write_text("a,b\n1,2\n")
    assert "no suffix of a network file" in invoke("query", tmp_path / "t.csv", "a").stderr
    impossible = "a: t 1, f 0\nb | a\n  t: t 1, f 0\n  f: t 0, f 1\n"
    (tmp_path / "zeros.txt").write_text(impossible)
    done = invoke("query", tmp_path / "zeros.txt", "a", "--given", "b=f")
    assert done.exit_code == 1
    assert "'b' = 'f' is impossible" in last_line(done.stderr)


def test_one_of_several_states(tmp_path: Path) -> None:
    network = BayesianNetwork().add("s", table=[0.2, 0.3, 0.5], states=["low", "mid", "a|b"])
    network = network.add("r", "s", [[0.1, 0.9], [0.3, 0.7], [0.8, 0.2]])
    path = tmp_path / "several.network"
    network.write(path)
    done = invoke("query", path, "r", "--given", "s=low|mid", "--draw", tmp_path / "x.svg")
    assert done.exit_code == 0, done.output
    assert "P(r | s = low or mid)" in done.stdout
    assert "probability of what is given: 0.5" in done.stdout
    assert "observed: low or mid" in (tmp_path / "x.svg").read_text()
    told = json.loads(invoke("query", path, "r", "--given", "s=low|mid", "--json").stdout)
    assert told["given"] == {"s": ["low", "mid"]}
    expected = network.query("r", given={"s": ["low", "mid"]}).values.tolist()
    assert [row["probability"] for row in told["table"]] == expected
    best = invoke("query", path, "--most-probable", "--given", "s=low|mid", "--json")
    assert json.loads(best.stdout)["most_probable"] == {"s": "mid", "r": "false"}
    # A state that holds the mark is that state.
    whole = json.loads(invoke("query", path, "r", "--given", "s=a|b", "--json").stdout)
    assert whole["given"] == {"s": "a|b"}
