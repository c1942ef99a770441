"""`novum studio`: who is listened to, and what is printed."""

from __future__ import annotations

import socket
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("fastapi")

from novum.apps.studio import server
from tests.apps.cli.commands import invoke


@pytest.fixture
def opened(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """What would be served; nothing is."""
    found: list[Any] = []

    def serve(studio: Any, gate: Any, listening: socket.socket, most_bytes: int) -> None:
        found.extend([studio, gate, listening.getsockname(), most_bytes])
        listening.close()

    monkeypatch.setattr(server, "serve", serve)
    return found


def test_this_machine_alone_is_listened_to(opened: list[Any], tmp_path: Path) -> None:
    result = invoke("studio", tmp_path, "--port", 0, "--no-browser", "--max-upload", 3)
    assert result.exit_code == 0, result.stderr
    studio, gate, (host, port), most = opened
    assert studio.folder.path == tmp_path.resolve()
    assert host == "127.0.0.1"
    assert most == 3 * 2**20
    assert f"http://127.0.0.1:{port}/?token={gate.token}" in result.stdout
    assert "Warning" not in result.stderr
    assert not gate.is_own_host(f"192.168.0.7:{port}")


def test_other_machines_are_let_in_with_a_warning_and_a_token(
    opened: list[Any], tmp_path: Path
) -> None:
    result = invoke("studio", tmp_path, "--port", 0, "--no-browser", "--host", "0.0.0.0")
    assert result.exit_code == 0, result.stderr
    _, gate, (host, port), _ = opened
    assert host == "0.0.0.0"
    assert "other machines can reach it" in " ".join(result.stderr.split())
    assert gate.token in result.stdout
    assert gate.is_own_host(f"192.168.0.7:{port}")
    assert not gate.is_own_host(f"evil.example:{port}")


def test_a_port_that_is_taken_gives_way(opened: list[Any], tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        number = taken.getsockname()[1]
        result = invoke("studio", tmp_path, "--port", number, "--no-browser")
        assert result.exit_code == 0, result.stderr
        assert opened[2][1] != number


def test_a_folder_that_is_not_there_is_said(opened: list[Any], tmp_path: Path) -> None:
    result = invoke("studio", tmp_path / "nowhere", "--no-browser")
    assert result.exit_code == 1
    assert "There is no folder" in " ".join(result.stderr.split())
    assert not opened
