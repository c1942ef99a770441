"""What a hostile folder cannot do: lead outside by links or names, or close the rooms."""

from __future__ import annotations

import os
import resource
from collections.abc import Iterator
from pathlib import Path

import pytest

from novum.apps.cli.failures import sentence
from novum.apps.job.record_json import write_record
from novum.apps.job.request import Request
from novum.apps.studio.child import ProgressFile
from novum.apps.studio.folder import OpenedFolder, clean_name
from novum.apps.studio.runs import Runs
from novum.core.errors import InputError
from novum.core.files import open_descriptor, replacing
from tests.apps.studio.conftest import Served, serving


def test_runs_are_no_links_and_no_places_above(tmp_path: Path) -> None:
    folder = tmp_path / "opened"
    folder.mkdir()
    notes = OpenedFolder(folder).notes()
    for name in ("...progress", ".progress", "evil.progress"):
        (notes / name).touch()
    (folder / "evil").symlink_to(tmp_path)
    assert Runs(OpenedFolder(folder)).names() == []
    for name in ("..", "", "evil"):
        with pytest.raises(InputError, match="has no run"):
            Runs(OpenedFolder(folder)).record(name)


def test_notes_are_no_link(tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    folder = tmp_path / "opened"
    folder.mkdir()
    (folder / ".novum-studio").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(InputError, match="link to elsewhere"):
        OpenedFolder(folder).notes()


@pytest.fixture
def stranger(tmp_path: Path) -> Iterator[tuple[Served, Path]]:
    """A folder that somebody else has prepared, and a file of the user's beside it."""
    victim = tmp_path / "victim"
    victim.write_text("mine")
    folder = tmp_path / "opened"
    folder.mkdir()
    (folder / "ward.csv").write_text("age,state\n" + "31,well\n62,ill\n" * 40)
    half = folder / "novum-half"
    half.mkdir()
    write_record(Request("ward.csv", target="state"), half / "request.json")
    (half / "report.html").symlink_to(victim)
    notes = folder / ".novum-studio"
    (notes / "networks").mkdir(parents=True)
    (notes / "novum-ward.request").symlink_to(victim)
    for served in serving(folder):
        yield served, victim


def test_a_run_writes_through_no_link(stranger: tuple[Served, Path]) -> None:
    served, victim = stranger
    settings = {"target": "state", "preset": "quick", "models": ["tree"]}
    asked = {"table": "ward.csv", "settings": settings}
    for path, body in (("runs", asked), ("runs/novum-half/resume", {})):
        answer = served.ask("POST", f"/api/tables/{path}", body)
        assert answer.status == 400
        assert "is a link to elsewhere" in answer.json["error"]
        assert str(served.folder) not in answer.text
    assert victim.read_text() == "mine"


def test_networks_are_kept_and_saved_through_no_link(stranger: tuple[Served, Path]) -> None:
    served, victim = stranger
    version = served.post("/api/networks/open", {"name": "asia"})["version"]
    kept = served.folder / ".novum-studio" / "networks" / f"{version}.network"
    kept.unlink()
    for link, target in ((kept, victim.with_name("new")), (served.folder / "a.bif", victim)):
        link.symlink_to(target)
    opened = served.ask("POST", "/api/networks/open", {"name": "asia"})
    assert opened.status == 400
    kept.unlink()
    saved = {"version": version, "name": "a.bif", "replace": True}
    assert served.ask("POST", "/api/networks/save", saved).status == 400
    assert victim.read_text() == "mine"
    assert not victim.with_name("new").exists()


def test_what_is_written_below_the_folder_follows_no_link(tmp_path: Path) -> None:
    victim = tmp_path / "victim"
    victim.mkdir()
    folder = tmp_path / "opened"
    (folder / "run").mkdir(parents=True)
    (folder / "journals").symlink_to(victim)
    (folder / "run" / "new.csv").symlink_to(victim / "new.csv")
    OpenedFolder(folder)
    for path in (folder / "journals" / "tree.jsonl", folder / "run" / "new.csv"):
        with pytest.raises(InputError, match="link to elsewhere"), replacing(path):
            pass
        with pytest.raises(InputError, match="link to elsewhere"):
            open_descriptor(path, os.O_RDWR | os.O_CREAT)
    assert list(victim.iterdir()) == []
    with replacing(folder / "run" / "own.csv") as file:
        file.write(b"own")
    assert (folder / "run" / "own.csv").read_bytes() == b"own"
    # Elsewhere a link is followed, as ever.
    (tmp_path / "link").symlink_to(victim / "through")
    with replacing(tmp_path / "link") as file:
        file.write(b"there")
    assert (victim / "through").read_bytes() == b"there"


def test_a_folder_that_is_swapped_for_a_link_leads_nowhere(tmp_path: Path) -> None:
    folder = tmp_path / "opened"
    (folder / "run").mkdir(parents=True)
    (tmp_path / "victim").mkdir()
    OpenedFolder(folder)
    with replacing(folder / "run" / "table.csv") as file:
        (folder / "run").rename(folder / "moved")
        (folder / "run").symlink_to(tmp_path / "victim")
        file.write(b"x")
    assert list((tmp_path / "victim").iterdir()) == []


DAMAGE = {
    "torn": b'{"record": ',
    "deep": b"[" * 100_000,
    "deep-inside": b'{"record": {"settings": ' + b'{"a":' * 50_000,
    "endless": b'{"record": {"table": 1e999, "target": NaN, "settings": {}, "leaderboard": []}}',
    "half": b'{"record": {"table": "\\ud800", "target": "\\udfff", "settings": {}}}',
    "number": b"7",
    "text": b"\xff\xfe\x00",
    "empty": b"",
}


@pytest.fixture(scope="module")
def damaged(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """A folder whose records, requests, notes and names no run has written."""
    folder = tmp_path_factory.mktemp("damaged")
    notes = folder / ".novum-studio"
    notes.mkdir()
    for name, content in DAMAGE.items():
        for file in ("run.json", "request.json"):
            run = folder / f"novum-{name}-{file[:3]}"
            run.mkdir()
            (run / file).write_bytes(content)
            (notes / f"{run.name}.progress").write_bytes(content)
        (notes / f"{name}.progress").write_bytes(content)
        (notes / f"{name}.request").write_bytes(content)
    os.mkfifo(notes / "pipe.progress")
    for name in (b"caf\xe9.csv", b"novum-caf\xe9", b".novum-studio/caf\xe9.progress"):
        (Path(os.fsdecode(bytes(folder) + b"/" + name))).write_text("a,b\n1,2\n")
    yield from serving(folder)


def test_what_is_damaged_closes_no_room(damaged: Served) -> None:
    for room in ("decide", "understand"):
        assert damaged.get(f"/api/{room}/list") == {"runs": []}
    assert damaged.get("/api/networks/list")["files"] == []
    listed = damaged.get("/api/tables/list")
    assert len(listed["runs"]) == 3 * len(DAMAGE)
    assert (listed["tables"], listed["unnamed"]) == ([], 2)
    for run in listed["runs"]:
        answer = damaged.ask("GET", f"/api/tables/runs/{run['name']}")
        assert answer.status in (200, 400)
        if run["state"] == "finished" and "half" not in run["name"]:
            assert answer.status == 400
            assert "not as a run writes it" in answer.json["error"]


def test_a_torn_line_hides_no_other(tmp_path: Path) -> None:
    folder = OpenedFolder(tmp_path)
    lines = ['{"at": 1.0, "pid": 7}', '{"at": 2.0, "sta', 'ge"}', '{"at": 3.0, "stage": "reading"}']
    (folder.notes() / "novum-x.progress").write_text("\n".join(lines))
    details = Runs(folder).details("novum-x")
    assert (details["pid"], details["stage"]) == (7, "reading")


def test_the_last_event_says_that_the_disk_is_full(tmp_path: Path) -> None:
    folder = OpenedFolder(tmp_path)
    path = folder.notes() / "novum-x.progress"
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    with path.open("ab", buffering=0) as file:
        resource.setrlimit(resource.RLIMIT_FSIZE, (600, limits[1]))
        try:
            told = ProgressFile(file.fileno())
            for fold in range(100):
                told.step("folds", fold, 100)
        except OSError as full:
            told.end("failed", sentence(full))
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    details = Runs(folder).details("novum-x")
    assert details["end"] == "failed"
    assert "The disk is full" in details["said"]


@pytest.mark.parametrize(
    ("settings", "said"),
    [({"coverage": 7}, "coverage is 7"), ({"folds": -3}, "folds is -3"), ({"folds": 1}, "folds is"),
     ({"repeats": 0}, "repeats is 0"), ({"holdout": 1.5}, "holdout is 1.5"), ({"seed": -1}, "seed"),
     ({"prior": 2.0}, "prior is 2"), ({"n_jobs": 0}, "n_jobs is"), ({"coverage": None}, "coverage"),
     ({"models": ["trees"]}, "no family 'trees'"), ({"kind": [["x"]]}, "kind"),
     ({"colour": 1}, "colour")],
)  # fmt: skip
def test_a_run_that_cannot_be_is_not_started(
    damaged: Served, settings: dict[str, object], said: str
) -> None:
    before = damaged.get("/api/tables/list")["runs"]
    asked = {"table": "iris", "settings": settings}
    answer = damaged.ask("POST", "/api/tables/runs", asked)
    assert answer.status == 400
    assert said in answer.json["error"]
    assert damaged.get("/api/tables/list")["runs"] == before


@pytest.mark.parametrize(
    ("name", "end"),
    [("\u6f22" * 300 + ".csv", ".csv"), ("\U0001f600" * 99, ""), ("a" * 500 + ".csv.gz", ".csv.gz"),
     ("é." + "é" * 400, "é")],
)  # fmt: skip
def test_names_have_so_many_bytes_and_keep_their_kind(name: str, end: str) -> None:
    clean = clean_name(name)
    assert 100 < len(clean.encode()) <= 120
    assert clean.endswith(end)
    assert name.startswith(clean.removesuffix(end))
