"""The room of tables through a real server, without a browser."""

from __future__ import annotations

import json
import os
import signal
import stat
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from novum.apps.cli.profile import looked_at
from novum.apps.job.record_json import to_json
from novum.apps.job.request import Request
from tests.apps.studio.conftest import Served, serving
from tests.apps.studio.finished_runs import make_run, two_classes

QUICK = {"target": "state", "preset": "quick", "models": ["tree", "linear"], "folds": 3}


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    folder = tmp_path_factory.mktemp("tables")
    two_classes(folder / "ward.csv")
    yield from serving(folder)


def test_the_list_has_tables_and_bundled_ones(served: Served) -> None:
    found = served.get("/api/tables/list")
    assert [one["name"] for one in found["tables"]] == ["ward.csv"]
    assert "iris" in found["bundled"]


def test_a_profile_is_that_of_the_command(served: Served) -> None:
    settings: dict[str, Any] = {"target": "state", "kind": [["z", "nominal"]]}
    found = served.post("/api/tables/profile", {"table": "ward.csv", "settings": settings})
    request = Request(str(served.folder / "ward.csv"), "state", kind=(("z", "nominal"),))
    _, record, findings, notes = looked_at(request)
    assert found["profile"] == json.loads(to_json(record))["record"]
    assert found["findings"] == json.loads(to_json(findings))["record"]
    assert found["notes"] == list(notes)


def test_rows_are_shown_as_they_were_read(served: Served) -> None:
    found = served.get("/api/tables/rows", table="ward.csv", count=2)
    assert found["columns"] == ["name", "x", "z", "level", "state"]
    assert found["n_rows"] == 120
    assert found["rows"][0][2] is None
    assert len(found["rows"]) == 2


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("empty.csv", b"", "empty"),
        ("binary.csv", bytes(range(256)) * 10, ""),
        ("quote.csv", b'a,b\n"1,2\n3,4\n', ""),
        ("zip.xlsx", b"PK\x03\x04broken", ""),
        ("not.parquet", b"PAR1nothing", ""),
        ("half.json", b'[{"a": 1}, {"a"', ""),
        ("no.sqlite", b"SQLite format 3\x00broken", ""),
        ("bomb.csv.gz", b"\x1f\x8b\x08\x00broken", ""),
        ("bad.arff", b"@relation x\n@attribute a {", ""),
    ],
)
def test_malformed_files_get_a_sentence(
    served: Served, name: str, content: bytes, said: str
) -> None:
    kept = served.upload(name, content).json["name"]
    answer = served.ask("POST", "/api/tables/profile", {"table": kept})
    if answer.status == 200:
        # A reader may make sense of odd text; then it says how.
        assert answer.json["profile"]["n_rows"] >= 0
    else:
        assert answer.status == 400
        assert answer.json["error"].endswith(".")
        assert said in answer.json["error"]
        assert str(served.folder) not in answer.json["error"]
        assert "Something went wrong" not in answer.json["error"]
    os.unlink(served.folder / kept)


def test_files_of_other_kinds_are_not_taken(served: Served) -> None:
    answer = served.upload("program.py", b"print()")
    assert answer.status == 400
    assert "is no file of a kind" in answer.json["error"]


def test_an_upload_never_overwrites(served: Served) -> None:
    assert served.upload("ward.csv", b"a,b\n1,2\n").json["name"] == "ward-2.csv"
    assert (served.folder / "ward.csv").read_text().startswith("name,")
    os.unlink(served.folder / "ward-2.csv")


@pytest.mark.parametrize(
    "settings",
    [{"target": 3}, {"nothing": 1}, {"preset": "slow"}, {"kind": "x"}, {"models": "tree"}],
)
def test_settings_are_checked(served: Served, settings: dict[str, Any]) -> None:
    answer = served.ask("POST", "/api/tables/runs", {"table": "ward.csv", "settings": settings})
    assert answer.status == 400
    assert served.ask("POST", "/api/tables/runs", b"{").status == 422
    assert served.ask("POST", "/api/tables/runs", {"table": "ward.csv", "x": 1}).status == 422


@pytest.fixture(scope="module")
def finished(served: Served) -> Served:
    """With a run, two of another seed, the last of them stopped, and one by the command."""
    name = served.post("/api/tables/runs", {"table": "ward.csv", "settings": QUICK})["name"]
    assert name == "novum-ward"
    # Two users start the same table at once, and get a run each.
    second = {**QUICK, "seed": 1}
    with ThreadPoolExecutor(2) as pool:
        others = list(
            pool.map(
                lambda table: served.post("/api/tables/runs", {"table": table, "settings": second}),
                ["ward.csv", "ward.csv"],
            )
        )
    assert {one["name"] for one in others} == {"novum-ward-2", "novum-ward-3"}
    served.post("/api/tables/runs/novum-ward-3/cancel")
    found = served.wait(name, "finished", "failed")
    assert found["state"] == "finished", found
    assert found["has_report"]
    make_run(served.folder, "ward.csv", "by-hand", **{**QUICK, "models": ("tree", "linear")})
    served.wait("novum-ward-2", "finished")
    return served


def test_a_run_gives_the_numbers_of_the_command(finished: Served) -> None:
    served, records = finished, []
    for one in ("novum-ward", "by-hand"):
        record = json.loads((served.folder / one / "run.json").read_text())["record"]
        for timed in ("stage_seconds", "date"):
            del record[timed]
        for standing in record["leaderboard"]:
            for timed in ("fit_seconds", "predict_seconds", "search_seconds"):
                del standing[timed]
        records.append(record)
    # The smaller runs of these tests resample less often.
    for record in records:
        del record["holdout"]["saving"], record["learning_curve"], record["verdict"]
        del record["plan"]["machine_factor"], record["not_done"]
    assert records[0] == records[1]
    made = served.folder / "novum-ward"
    assert (made / "predictions.csv").read_bytes() == (
        served.folder / "by-hand" / "predictions.csv"
    ).read_bytes()
    assert stat.S_IMODE(made.stat().st_mode) == 0o700
    assert {stat.S_IMODE(path.stat().st_mode) for path in made.glob("*.*")} == {0o600}
    # The other user's run was stopped before it was finished, or goes on from there.
    stopped = served.wait("novum-ward-3", "interrupted", "failed", "finished")
    if stopped["state"] == "interrupted":
        served.post("/api/tables/runs/novum-ward-3/resume")
    if stopped["state"] != "failed":
        served.wait("novum-ward-3", "finished")
        first, other = (served.folder / f"novum-ward-{k}" / "predictions.csv" for k in (2, 3))
        assert first.read_bytes() == other.read_bytes()


def test_a_report_may_be_framed_by_the_studio_alone(finished: Served) -> None:
    answer = finished.ask("GET", "/api/tables/runs/novum-ward/report")
    assert answer.status == 200
    policy = answer.headers["content-security-policy"]
    assert policy.startswith("sandbox; default-src 'none';")
    assert "frame-ancestors 'self'" in policy
    assert "script-src" not in policy


def test_files_of_a_run_are_given_away_by_name(finished: Served) -> None:
    answer = finished.ask("GET", "/api/tables/runs/novum-ward/files/predictions.csv")
    assert answer.status == 200
    assert "attachment" in answer.headers["content-disposition"]
    for name in ("request.json", "seen_rows.bin", "..", "trials"):
        answer = finished.ask("GET", f"/api/tables/runs/novum-ward/files/{name}")
        assert answer.status in (400, 404)


def test_two_runs_are_compared_on_shared_folds(finished: Served) -> None:
    same = finished.get("/api/tables/compare", first="novum-ward", second="by-hand")
    assert same["test"]["difference"] == 0
    assert "cannot be told apart" in same["sentence"]
    other = finished.get("/api/tables/compare", first="novum-ward", second="novum-ward-2")
    assert other["test"] is None
    assert "folds or seed" in other["sentence"]
    assert {one["setting"] for one in other["differing"]} == {"seed"}


def test_a_run_that_fails_says_why(served: Served) -> None:
    asked = {"table": "ward.csv", "settings": {**QUICK, "target": "nothing"}}
    name = served.post("/api/tables/runs", asked)["name"]
    found = served.wait(name, "failed")
    assert "nothing" in found["said"]
    assert "column" in found["said"]
    served.post(f"/api/tables/runs/{name}/forget")
    assert name not in [one["name"] for one in served.get("/api/tables/list")["runs"]]


def test_a_finished_run_is_not_forgotten_nor_resumed(finished: Served) -> None:
    for action in ("forget", "resume", "cancel"):
        assert finished.ask("POST", f"/api/tables/runs/novum-ward/{action}", {}).status == 400
    assert finished.ask("POST", "/api/tables/runs/novum-ward/remove", {}).status == 422


@pytest.mark.slow
def test_runs_outlive_a_studio_that_is_killed(tmp_path: Path) -> None:
    two_classes(tmp_path / "ward.csv", 2000)
    command = [sys.executable, "-m", "novum", "studio", str(tmp_path), "--no-browser", "--port"]
    settings = {
        "target": "state",
        "preset": "standard",
        "models": ["tree", "linear", "forest", "boosting"],
    }
    studio = subprocess.Popen([*command, "0"], stdout=subprocess.PIPE, text=True)
    assert studio.stdout is not None
    studio.stdout.readline()
    address = studio.stdout.readline().strip()
    served = _entered(address, tmp_path)
    name = served.post("/api/tables/runs", {"table": "ward.csv", "settings": settings})["name"]
    while not served.get(f"/api/tables/runs/{name}")["leaderboard"]:
        time.sleep(0.1)
    os.kill(studio.pid, signal.SIGKILL)
    studio.communicate()
    for again in serving(tmp_path):
        assert again.get(f"/api/tables/runs/{name}")["state"] == "running"
        again.post(f"/api/tables/runs/{name}/cancel")
        assert again.wait(name, "interrupted", "finished", seconds=30)["state"] == "interrupted"
        again.post(f"/api/tables/runs/{name}/resume")
        assert again.wait(name, "finished")["verdict"]


def _entered(address: str, folder: Path) -> Served:
    from urllib.parse import urlsplit

    from novum.apps.studio.guard import Gate

    parts = urlsplit(address)
    gate = Gate(int(parts.port or 0))
    gate.token = parts.query.partition("=")[2]
    served = Served(gate, folder, [])
    served.enter()
    return served
