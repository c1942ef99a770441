"""What a hostile folder cannot do: lead outside by links or names, or close the rooms."""

from __future__ import annotations

from pathlib import Path

import pytest

from novum.apps.studio.folder import OpenedFolder
from novum.apps.studio.runs import Runs
from novum.core.errors import InputError
from tests.apps.studio.conftest import Served


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


def test_nothing_is_written_through_a_link(tmp_path: Path) -> None:
    run = tmp_path / "opened" / "run"
    run.mkdir(parents=True)
    (run / "run.json").write_text("{}")
    (run / "decisions.csv").symlink_to(tmp_path / "victim")
    with pytest.raises(InputError, match="link to elsewhere"):
        Runs(OpenedFolder(tmp_path / "opened")).place_for("run", "decisions.csv")


def test_a_damaged_record_closes_no_room(served: Served) -> None:
    run = served.folder / "novum-broken"
    run.mkdir()
    (run / "run.json").write_text('{"record": ')
    for room in ("decide", "understand"):
        assert served.get(f"/api/{room}/list") == {"runs": []}
    answer = served.ask("GET", "/api/tables/runs/novum-broken")
    assert answer.status == 400
    assert "not as a run writes it" in answer.json["error"]
