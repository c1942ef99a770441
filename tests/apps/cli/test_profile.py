"""`novum profile`: a table in brief."""

from __future__ import annotations

import json
from pathlib import Path

from tests.apps.cli.commands import invoke, last_line


def test_columns_missing_cells_and_findings_of_a_bundled_table() -> None:
    done = invoke("profile", "titanic")
    assert done.exit_code == 0, done.output
    assert "titanic: 2,201 rows, 4 columns" in done.stdout
    assert "survived (target)" in done.stdout
    assert "male (1,731), female (470)" in done.stdout
    assert "warning, duplicate rows: " in done.stdout


def test_json_has_every_number(tmp_path: Path) -> None:
    names = ",".join(f"c{i}" for i in range(70))
    cells = "".join(",".join(str(i + j) for j in range(70)) + "\n" for i in range(12))
    (tmp_path / "t.csv").write_text(f"{names}\n{cells}")
    done = invoke("profile", tmp_path / "t.csv", "--target", "c3", "--json")
    assert done.exit_code == 0, done.output
    told = json.loads(done.stdout)
    assert (told["table"], told["profile"]["n_rows"]) == ("t.csv", 12)
    assert told["profile"]["target"]["quantiles"] == [3, 5.75, 8.5, 11.25, 14]
    assert len(told["profile"]["columns"]) == 69
    assert told["findings"]
    text = invoke("profile", tmp_path / "t.csv", "-q")
    assert "and 10 more columns; --json has them all." in text.stdout
    assert not text.stderr


def test_a_table_without_a_target_and_names_that_would_steer(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("\x1b[2Ja,<script>\n1,x\n2,\n2,\n")
    done = invoke("profile", tmp_path / "t.csv")
    assert done.exit_code == 0, done.output
    assert r"\x1b[2Ja" in done.stdout
    assert "\x1b[2J" not in done.output
    assert "1 row without a missing cell, 1 that repeat an earlier row." in done.stdout
    assert "2 (66.7" in done.stdout


def test_what_cannot_be_read_is_said(tmp_path: Path) -> None:
    done = invoke("profile", tmp_path / "no.csv")
    assert (done.exit_code, "There is no" in last_line(done.stderr)) == (1, True)
    done = invoke("profile", "iris", "--target", "specis", "--json")
    assert (done.exit_code, done.stdout) == (1, "")
    assert "Did you mean 'species'?" in done.stderr


def test_what_is_said_of_columns_holds(tmp_path: Path) -> None:
    path = tmp_path / "p.csv"
    path.write_text("size,price\nsmall,-9\nlarge,3\nmedium,4\n")
    said = ("--levels", "size=small,medium,large", "--missing-values=-9")
    done = invoke("profile", path, "--quiet", *said)
    assert "small (1), medium (1), large (1)" in done.stdout
    assert "1 (33.3" in done.stdout
    wrong = invoke("profile", path, "--quiet", "--kind", "pirce=drop")
    assert wrong.exit_code == 1
    assert "Did you mean 'price'?" in wrong.stderr.replace("\n", " ")
