"""`novum run` as a user starts it: good tables, bad input, interruption, a full disk."""

from __future__ import annotations

import csv
import json
import random
import resource
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from novum.apps.cli.run import free_folder
from novum.apps.report.page import _SECTIONS
from novum.core import load
from novum.core.errors import InputError
from tests.apps.cli.commands import CHEAP, invoke, last_line, novum, start

FILES = {
    *("report.html", "model.novum", "predictions.csv", "leaderboard.csv", "run.json", "model.py")
}
# Long enough to be met in its middle, short enough to be finished.
LONG = ("iris", "--preset", "quick", "--models", "forest,tree", "--cv", "1x6")


def table(n: int = 80, names: str = "u,c,v,y", yes: str = "yes") -> str:
    """CSV of two classes that overlap."""
    rng = random.Random(0)
    lines = []
    for i in range(n):
        label, u = (yes, 1.0) if i % 2 else ("no", 0.0)
        cells = (f"{u + rng.gauss(0, 0.6):.4f}", rng.choice("abc"), f"{rng.random():.4f}", label)
        lines.append(",".join(cells))
    return "\n".join([names, *lines, ""])


def record_of(folder: Path) -> dict[str, Any]:
    return dict(json.loads((folder / "run.json").read_text())["record"])


# --- What a user sees -----------------------------------------------------------------------------


def test_without_arguments_a_bundled_table_is_run(tmp_path: Path) -> None:
    done = novum("run", "--preset", "quick", "--models", "forest,naive_bayes", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    folder = tmp_path / "novum-german_credit"
    assert {path.name for path in folder.iterdir()} >= FILES
    for said in (
        "german_credit: 1,000 rows, 21 columns",
        "'class' is predicted",
        "Costs are those published with german_credit",
        "Leaderboard: bayes risk",
    ):
        assert said in done.stdout
    record = record_of(folder)
    assert all(standing["title"] in done.stdout for standing in record["leaderboard"])
    assert all(sentence in done.stdout for sentence in record["verdict"])
    assert "novum-german_credit/report.html" in done.stdout
    assert "trying models: random forest (" in done.stderr
    assert " left\n" in done.stderr
    assert "Warning" not in done.stderr


def test_numbers_and_classes(iris_run: Path, cars_run: Path) -> None:
    for folder, kind, metric in (
        (iris_run, "multiclass", "accuracy"),
        (cars_run, "regression", "rmse"),
    ):
        record = record_of(folder)
        assert (record["task"]["kind"], record["task"]["metric"]) == (kind, metric)
        assert {path.name for path in folder.iterdir()} >= FILES


def test_json_is_one_document_with_the_numbers_of_the_record(tmp_path: Path) -> None:
    done = invoke("run", "iris", *CHEAP, "--output", tmp_path / "r", "--json")
    assert done.exit_code == 0, done.output
    said = json.loads(done.stdout)
    assert said["record"] == record_of(tmp_path / "r")
    assert {Path(path).name for path in said["files"].values()} == FILES
    assert "trying models" in done.stderr


def test_quiet_says_the_verdict_and_nothing_else(tmp_path: Path) -> None:
    done = invoke("run", "iris", *CHEAP, "--output", tmp_path / "r", "-q", "--holdout", "0")
    assert done.exit_code == 0, done.output
    verdict = record_of(tmp_path / "r")["verdict"]
    assert done.stdout.splitlines() == [*verdict, str(tmp_path / "r" / "report.html")]
    assert not done.stderr


def test_every_option_reaches_the_request(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    heard = []

    def run(request: Any, *_: Any) -> None:
        heard.append(request)
        raise InputError("enough")

    monkeypatch.setattr("novum.apps.job.job.run", run)
    given = (
        "t.csv --target y --task binary --metric f1 --positive 1 --prior 0.1 --cost-fn 5 "
        "--cost-fp 2 --preset thorough --models tree,forest --budget 3m --cv 3x7 --holdout 0.3 "
        "--weight w --group g --time t --seed 9 --plan p.json --no-refit --jobs 2 --cost c.csv "
        "--test s.csv "
        "--id k --kind a=b=text --kind z=drop --levels s=low,high --missing-values=-9,none "
        "--sheet one --sql select --coverage 0.8 --exposure e"
    )
    done = invoke("run", *given.split(), "--output", tmp_path)
    assert (done.exit_code, last_line(done.stderr)) == (1, "enough")
    wanted = {
        "table": "t.csv", "target": "y", "targets": (), "task": "binary", "metric": "f1",
        "positive": "1",
        "cost": "c.csv", "prior": 0.1, "cost_fn": 5.0, "cost_fp": 2.0, "preset": "thorough",
        "models": ("tree", "forest"), "budget_seconds": 180.0, "repeats": 3, "folds": 7,
        "holdout": 0.3, "test": "s.csv", "weight": "w", "group": "g", "time": "t", "seed": 9,
        "refit": False, "n_jobs": 2, "plan": "p.json", "id": "k",
        "kind": (("a=b", "text"), ("z", "drop")),
        "levels": (("s", ("low", "high")),), "missing_values": ("-9", "none"), "sheet": "one",
        "sql": "select", "coverage": 0.8, "exposure": "e",
    }  # fmt: skip
    assert vars(heard[0]) == wanted


def test_a_new_run_takes_a_new_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert str(free_folder("data/sales.csv.gz")) == "novum-sales"
    (tmp_path / "novum-sales").mkdir()
    assert str(free_folder("sales.parquet")) == "novum-sales-2"


# --- Bad input ------------------------------------------------------------------------------------

BAD: dict[str, tuple[Callable[[], bytes], tuple[str, ...], str]] = {
    "target": (lambda: table().encode(), ("--target", "Yy"), "Did you mean 'y'?"),
    "no target": (lambda: table().encode(), (), "Name it with --target"),
    "ragged": (lambda: (table() + "1,2\n").encode(), ("--target", "y"), "line 82"),
    "bytes": (lambda: bytes(range(256)) * 9, ("--target", "y"), "zero byte"),
    "encoding": (
        lambda: table(names="ü,c,v,y").encode() + b"1,\xff\xfe,1,no\n",
        ("--target", "y"),
        "UTF-8",
    ),
    "empty": (lambda: b"", ("--target", "y"), "is empty"),
    "classes": (
        lambda: ("x,y\n" + "".join(f"{i},c{i % 10_000}\n" for i in range(20_000))).encode(),
        ("--target", "y"),
        "10,000 different values in 20,000 rows, too many to be classes",
    ),
    "metric": (lambda: table().encode(), ("--target", "y", "--metric", "acuracy"), "'accuracy'"),
    "kind": (lambda: table().encode(), ("--target", "y", "--kind", "V=text"), "Did you mean 'v'?"),
    "no kind": (lambda: table().encode(), ("--target", "y", "--kind", "v=txt"), "mean text?"),
    "levels": (
        lambda: table().encode(),
        ("--target", "y", "--levels", "v=low,high"),
        "none of the levels that --levels lists",
    ),
    "id": (lambda: table().encode(), ("--target", "y", "--id", "vv"), "Did you mean 'v'?"),
    "sql": (lambda: table().encode(), ("--target", "y", "--sql", "select 1"), "Leave it out."),
    "sheet": (lambda: table().encode(), ("--target", "y", "--sheet", "a"), "Leave it out."),
    "family": (lambda: table().encode(), ("--target", "y", "--models", "oak"), "forest"),
    "positive": (lambda: table().encode(), ("--target", "y", "--positive", "maybe"), "'no', 'yes'"),
    "cost": (lambda: table().encode(), ("--target", "y", "--cost", "c.csv"), "Check the path"),
}  # fmt: skip


@pytest.mark.parametrize("case", BAD)
def test_bad_input_is_one_sentence_that_says_what_to_do(case: str, tmp_path: Path) -> None:
    content, options, said = BAD[case]
    path = tmp_path / "t.csv"
    path.write_bytes(content())
    done = invoke("run", path, *options, "--output", tmp_path / "r", "--json")
    assert done.exit_code == 1
    assert said in last_line(done.stderr)
    assert "Traceback" not in done.stderr
    assert not done.stdout
    # All other lines are of the progress.
    assert all(line.startswith("[") for line in done.stderr.splitlines()[:-1])


def test_a_missing_file_names_the_nearest(tmp_path: Path) -> None:
    (tmp_path / "sales.csv").write_text(table())
    done = invoke("run", tmp_path / "sale.csv", "--target", "y", "--output", tmp_path / "r")
    assert done.exit_code == 1
    assert "Did you mean 'sales.csv'" in done.stderr


@pytest.mark.parametrize("encoding", ["utf-16", "latin-1", "utf-8-sig"])
def test_other_encodings_are_read(encoding: str, tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_bytes(table(names="größe,c,v,y").encode(encoding))
    done = invoke("run", path, "--target", "y", "--output", tmp_path / "r", "--json",
                  "--preset", "quick", "--models", "tree", "--holdout", "0.3")  # fmt: skip
    assert done.exit_code == 0, done.output
    assert json.loads(done.stdout)["record"]["data"]["features"][0] == "größe"


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--budget", "soon"), "--budget"),
        (("--cv", "1x1"), "--cv"),
        (("--task", "ranking"), "--task"),
        (("--holdout", "1.5"), "--holdout"),
        (("--jobs", "0"), "--jobs"),
        (("--nonsense",), "--nonsense"),
        (("--kind", "species"), "--kind"),
        (("--levels", "species=one"), "--levels"),
        (("--levels", "=a,b"), "--levels"),
        (("--resume", "x", "--seed", "1"), "--seed"),
    ],
)
def test_a_wrong_use_has_exit_code_two(options: tuple[str, ...], said: str) -> None:
    done = invoke("run", "iris", *options)
    assert done.exit_code == 2
    assert said in done.stderr
    assert "Traceback" not in done.stderr


def test_a_folder_that_cannot_be_written(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    done = invoke("run", "iris", *CHEAP, "--output", tmp_path / "file" / "r")
    assert done.exit_code == 1
    assert "Name a folder with --output that can be written to." in done.stderr


def test_an_unexpected_error_is_one_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def run(*_: Any) -> None:
        raise KeyError("secret place")

    monkeypatch.setattr("novum.apps.job.job.run", run)
    plain = invoke("run", "iris", "--output", tmp_path)
    assert plain.exit_code == 1
    assert "KeyError: 'secret place'. Run again with --debug" in last_line(plain.stderr)
    assert "Traceback" not in plain.stderr
    assert "Traceback" in invoke("run", "iris", "--output", tmp_path, "--debug").stderr


# --- Hostile names, missing targets, wide tables --------------------------------------------------


def test_names_from_a_table_are_harmless_everywhere(tmp_path: Path) -> None:
    evil = "<script>alert(1)</script>,=1+1,\x1b[2Jv,y"
    (tmp_path / "t.csv").write_text(table(names=evil, yes="=cmd()"))
    done = invoke("run", tmp_path / "t.csv", "--target", "y", *CHEAP, "--output", tmp_path / "r")
    assert done.exit_code == 0, done.output
    assert "\x1b[2J" not in done.output
    assert "<script" not in (tmp_path / "r" / "report.html").read_text()
    with (tmp_path / "r" / "predictions.csv").open(newline="") as file:
        rows = list(csv.reader(file))
    assert {row[3] for row in rows[1:]} <= {"'=cmd()", "no"}
    assert not [cell for row in rows for cell in row if cell.startswith(("=", "+", "@"))]


def test_rows_without_a_target_are_counted_and_predicted(tmp_path: Path) -> None:
    lines = table().splitlines()
    for i in range(1, len(lines), 8):
        lines[i] = f"{lines[i].rpartition(',')[0]},"
    (tmp_path / "t.csv").write_text("\n".join(lines))
    done = invoke("run", tmp_path / "t.csv", "--target", "y", *CHEAP, "--output", tmp_path / "r")
    assert done.exit_code == 0, done.output
    assert "10 rows have no target: not used for judging" in done.stdout
    with (tmp_path / "r" / "predictions.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert [int(row["row"]) for row in rows if row["answered"] == "no target"] == list(
        range(1, 80, 8)
    )


@pytest.mark.slow
def test_five_thousand_columns(tmp_path: Path) -> None:
    rng = random.Random(0)
    with (tmp_path / "wide.csv").open("w") as file:
        file.write(",".join(f"c{i}" for i in range(5000)) + ",y\n")
        for i in range(60):
            file.write(",".join(f"{rng.random():.3f}" for _ in range(5000)) + f",{'ab'[i % 2]}\n")
    done = novum("run", "wide.csv", "--target", "y", *CHEAP, "-q", cwd=tmp_path)
    assert done.returncode == 0, done.stderr


# --- Interruption ---------------------------------------------------------------------------------


def journals(folder: Path) -> dict[str, bytes]:
    """Finished folds of each family; a torn last line is none."""
    found = {path.name: path.read_bytes() for path in (folder / "trials").glob("*.jsonl")}
    return {name: content[: content.rfind(b"\n") + 1] for name, content in found.items()}


def started(folder: Path, n_folds: int) -> subprocess.Popen[str]:
    """A run that has finished some folds of its forest and is at work."""
    process = start("run", *LONG, "--output", folder, cwd=folder.parent)
    deadline = time.monotonic() + 120
    while journals(folder).get("forest.jsonl", b"").count(b"\n") < n_folds + 1:
        assert process.poll() is None, process.communicate()
        assert time.monotonic() < deadline
        time.sleep(0.005)
    return process


def comparable(record: dict[str, Any]) -> dict[str, Any]:
    """A record without the day and the times that were measured."""
    record = dict(record)
    record.pop("stage_seconds")
    record.pop("date")
    record["plan"] = {**record["plan"], "machine_factor": 0, "trials": []}
    measured = ("fit_seconds", "predict_seconds")
    record["leaderboard"] = [
        {key: value for key, value in row.items() if key not in measured}
        for row in record["leaderboard"]
    ]
    return record


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """The record of the long run, not interrupted."""
    folder = tmp_path_factory.mktemp("whole") / "r"
    assert invoke("run", *LONG, "--output", folder, "-q").exit_code == 0
    return comparable(record_of(folder))


def test_a_killed_run_goes_on_without_repeating_finished_folds(
    tmp_path: Path, whole: dict[str, Any]
) -> None:
    folder = tmp_path / "r"
    process = started(folder, 2)
    process.kill()
    process.communicate()
    assert not (folder / "run.json").exists()
    before = journals(folder)
    done = invoke("run", "--resume", folder)
    assert done.exit_code == 0, done.output
    after = journals(folder)
    # What was finished is still there, byte for byte, and every fold was run once.
    assert all(after[name].startswith(content) for name, content in before.items())
    assert {name: content.count(b"\n") for name, content in after.items() if "stack" not in name} \
        == {"constant.jsonl": 7, "forest.jsonl": 7, "tree.jsonl": 7}  # fmt: skip
    assert comparable(record_of(folder)) == whole


def test_ctrl_c_ends_at_once_and_says_how_to_go_on(tmp_path: Path) -> None:
    folder = tmp_path / "my run"
    process = started(folder, 2)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert process.returncode == 130, err
    assert last_line(err) == f"Stopped. Go on with: novum run --resume '{folder}'"
    assert "Traceback" not in err
    assert "Leaderboard" not in out


def test_ctrl_c_before_anything_was_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def run(*_: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("novum.apps.job.job.run", run)
    done = invoke("run", "iris", "--output", tmp_path / "r")
    assert (done.exit_code, last_line(done.stderr)) == (
        130,
        "Stopped. Nothing had been written yet.",
    )


def test_on_a_full_disk_nothing_is_lost(tmp_path: Path) -> None:
    def small_files() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (8_000, 8_000))

    full = novum("run", "iris", *CHEAP, "--output", "r", cwd=tmp_path, preexec_fn=small_files)
    assert full.returncode == 1
    assert "The disk is full" in last_line(full.stderr)
    assert last_line(full.stderr).endswith("Go on with: novum run --resume r")
    assert not (tmp_path / "r" / "run.json").exists()
    done = invoke("run", "--resume", tmp_path / "r")
    assert done.exit_code == 0, done.output


@pytest.mark.slow
def test_a_disk_that_is_full_when_the_report_is_written(iris_run: Path, tmp_path: Path) -> None:
    sizes = {name: (iris_run / name).stat().st_size for name in FILES}
    report = sizes.pop("report.html")
    limit = (max(sizes.values()) + report) // 2

    def small_files() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))

    full = novum("run", "iris", *CHEAP, "--output", "r", cwd=tmp_path, preexec_fn=small_files)
    assert full.returncode == 1
    assert last_line(full.stderr).endswith("Go on with: novum run --resume r")
    assert {path.name for path in (tmp_path / "r").iterdir()} >= FILES - {"report.html"}
    assert not (tmp_path / "r" / "report.html").exists()
    assert invoke("run", "--resume", tmp_path / "r").exit_code == 0
    assert (tmp_path / "r" / "report.html").stat().st_size > limit


# Ends the process without a word in the middle of an explanation.
KILLED = """
import os, signal, sys
from novum.apps.job import ending
ending.explain = lambda *_: os.kill(os.getpid(), signal.SIGKILL)
from novum.apps.cli import main
sys.argv[0] = "novum"
main()
"""


@pytest.mark.slow
def test_killed_between_model_and_report(iris_run: Path, tmp_path: Path) -> None:
    arguments = [sys.executable, "-c", KILLED, "run", "iris", *CHEAP, "--output", "r"]
    killed = subprocess.run(arguments, cwd=tmp_path, capture_output=True, timeout=240, check=False)
    assert killed.returncode == -signal.SIGKILL, killed.stderr
    folder = tmp_path / "r"
    written = {path.name for path in folder.iterdir()}
    assert written >= {"model.novum", "leaderboard.csv", "model.py", "predictions.csv"}
    assert not written & {"run.json", "report.html"}
    assert load(folder / "model.novum").classes_.size == 3
    assert invoke("run", "--resume", folder).exit_code == 0
    assert comparable(record_of(folder)) == comparable(record_of(iris_run))


def test_a_section_that_fails_is_a_sentence_and_a_note(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: Any) -> None:
        raise ZeroDivisionError("a fault")

    with monkeypatch.context() as patch:
        patch.setattr("novum.apps.job.ending.explain", broken)
        patch.setitem(_SECTIONS, "Chosen", broken)
        done = invoke("run", "iris", *CHEAP, "--output", tmp_path / "r")
    assert done.exit_code == 0, done.output
    said = " ".join(done.stderr.split())
    assert "Note: The explanation of the model could not be made" in said
    assert "Note: The section “Chosen” of the report could not be made" in said
    page = (tmp_path / "r" / "report.html").read_text()
    assert page.count("ZeroDivisionError: a fault") >= 2
    # Drawn again without the fault, the section of the page is back.
    assert invoke("report", tmp_path / "r").exit_code == 0
    assert "The section “Chosen”" not in (tmp_path / "r" / "report.html").read_text()


def test_a_page_that_cannot_be_drawn_at_all(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: Any) -> None:
        raise ZeroDivisionError("a fault")

    with monkeypatch.context() as patch:
        patch.setattr("novum.apps.report.page.cleaned", broken)
        done = invoke("run", "iris", *CHEAP, "--output", tmp_path / "r", "-q")
    assert done.exit_code == 0, done.output
    assert "The report could not be made (ZeroDivisionError: a fault)" in done.stderr
    assert done.stdout.splitlines()[-1] == str(tmp_path / "r" / "run.json")
    assert invoke("run", "--resume", tmp_path / "r").exit_code == 0
    assert (tmp_path / "r" / "report.html").exists()


def test_a_run_that_lacks_its_report_only_gets_it(iris_run: Path, tmp_path: Path) -> None:
    report = (iris_run / "report.html").read_bytes()
    (iris_run / "report.html").unlink()
    done = invoke("run", "--resume", iris_run)
    assert done.exit_code == 0, done.output
    assert (iris_run / "report.html").read_bytes() == report
    nothing = invoke("run", "--resume", tmp_path)
    assert nothing.exit_code == 1
    assert "holds no run that could be gone on with" in nothing.stderr
