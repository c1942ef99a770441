"""`novum plan`: the grid of the notes, worlds from files, learning, and wrong files."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from tests.apps.cli.commands import invoke, last_line, novum

MACHINE = """
discount = 0.9
start = "good"

[states.good.run]
reward = 10
to = {good = 0.8, worn = 0.2}

[states.good.repair]
reward = 7
to = {good = 1.0}

[states.worn.run]
reward = {worn = 4}
to = {worn = 1.0}

[states.worn.repair]
reward = -3
to = {good = 1.0}
"""


@pytest.mark.slow
def test_without_a_file_the_world_of_the_notes(tmp_path: Path) -> None:
    done = novum("plan", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "0.812  0.868  0.918" in done.stdout
    assert "0.705  0.655  0.611  0.388" in done.stdout
    assert "o policy is better" in last_line(done.stdout)


def test_a_world_from_a_file(tmp_path: Path) -> None:
    (tmp_path / "machine.toml").write_text(MACHINE)
    answer = json.loads(invoke("plan", tmp_path / "machine.toml", "--json").stdout)
    assert [state["action"] for state in answer["states"]] == ["run", "repair"]
    assert answer["states"][0]["value"] == pytest.approx(80.1695, abs=1e-3)
    assert answer["largest_possible_loss"] < 1e-8
    grid = tmp_path / "grid.toml"
    grid.write_text('discount = 0.9\n[grid]\nmap = "S.."\n[grid.ends]\n"3,1" = 5\n')
    done = invoke("plan", grid, "--draw", tmp_path / "grid.svg")
    assert done.exit_code == 0, done.stderr
    assert "→" in done.stdout
    assert (tmp_path / "grid.svg").read_text().startswith("<svg")


@pytest.mark.parametrize("agent", ["q-learning", "thompson", "sweeping"])
def test_learning_shows_the_curve(agent: str, tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    done = invoke("plan", "--learn", agent, "--steps", 4000, "--seeds", 3, "--report", page)
    assert done.exit_code == 0, done.stderr
    assert f"{agent}, 3 seeds: final return" in done.stdout
    assert "the best policy 0.7053; regret" in done.stdout
    text = page.read_text()
    assert "Learning curves" in text
    assert "Where agents went" in text
    assert "<script" not in text


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("[grid", "is not TOML"),
        ("x = 1", "has 'x', which means nothing here"),
        ("discount = 1.0", "by \\[grid\\] or by"),
        ('[grid]\nmap = "?"', "The map has '\\?'"),
        ("[states.a.go]\nto = {b = 1.0}", "leads to 'b', which is no state"),
        ("[states.a.go]\nto = {a = 0.5}", "sum to 0.5, not to 1"),
        ("[states.a.go]\nreward = 1", "needs `to`"),
        ("[states.a.go]\nreward = 1\nto = {a = 1.0}", "earns without bound"),
    ],
)
def test_wrong_files_get_a_sentence(content: str, words: str, tmp_path: Path) -> None:
    path = tmp_path / "world.toml"
    path.write_text(content)
    done = invoke("plan", path)
    assert done.exit_code == 1
    assert re.search(words, done.stderr), done.stderr
    assert len(done.stderr.strip().splitlines()) == 1


def test_wrong_options_get_a_sentence(tmp_path: Path) -> None:
    assert "There is no file" in invoke("plan", tmp_path / "none.toml").stderr
    assert "--learn takes one of" in invoke("plan", "--learn", "magic").stderr
    assert "--draw writes SVG" in invoke("plan", "--draw", "a.png").stderr
    assert "A method is one of" in invoke("plan", "--method", "magic").stderr
