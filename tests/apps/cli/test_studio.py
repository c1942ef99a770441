"""`novum studio`: who is listened to, and what is printed."""

from __future__ import annotations

import os
import re
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
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


# A browser that runs in the terminal until it is closed, as lynx and w3m do.
BROWSER = """
import os, sys, time
with open(sys.argv[1] + ".part", "w") as file:
    file.write(f"{os.getpid()}\\n{sys.argv[2]}\\n")
os.rename(sys.argv[1] + ".part", sys.argv[1])
time.sleep(60)
"""


@pytest.fixture
def shown(tmp_path: Path) -> Iterator[tuple[str, int, Path]]:
    """A studio that has opened such a browser: its link, the browser's process and its page."""
    script, told = tmp_path / "browser.py", tmp_path / "told"
    script.write_text(BROWSER)
    (tmp_path / "opened").mkdir()
    studio = subprocess.Popen(
        [sys.executable, "-m", "novum", "studio", tmp_path / "opened", "--port", "0"],
        stdout=subprocess.PIPE,
        env=os.environ | {"BROWSER": f"{sys.executable} {script} {told} %s"},
        text=True,
    )
    assert studio.stdout is not None
    address = ""
    while "token" not in address:
        address = studio.stdout.readline()
    while not told.exists():
        time.sleep(0.02)
    process, page = told.read_text().splitlines()
    yield address.strip(), int(process), Path(page.removeprefix("file://"))
    os.kill(int(process), signal.SIGKILL)
    studio.send_signal(signal.SIGINT)
    studio.communicate(timeout=20)
    assert not Path(page.removeprefix("file://")).exists()


def _read_as_another_user(path: Path) -> bytes:
    """What user 65534 reads; nothing where that is refused."""
    read = "import os, sys; os.setuid(65534); print(open(sys.argv[1]).read())"
    return subprocess.run([sys.executable, "-S", "-c", read, path], capture_output=True).stdout


def test_the_link_is_on_nobodys_command_line(shown: tuple[str, int, Path]) -> None:
    address, process, page = shown
    token = address.partition("=")[2]
    assert page.stat().st_mode & 0o777 == 0o600
    assert f"url={address}" in page.read_text()
    if Path("/proc").is_dir():
        line = Path(f"/proc/{process}/cmdline").read_bytes()
        assert page.name.encode() in line
        assert token.encode() not in line
    if hasattr(os, "geteuid") and os.geteuid() == 0:
        for parent in page.parents[:3]:
            parent.chmod(0o755)
        assert _read_as_another_user(Path(f"/proc/{process}/cmdline"))
        assert _read_as_another_user(page) == b""


def test_a_browser_in_the_foreground_is_answered(shown: tuple[str, int, Path]) -> None:
    address, _, page = shown
    with urllib.request.urlopen(address, timeout=30) as answer:
        assert answer.status == 200
        assert re.search('<meta name="novum-key" content="[^"]{40,}">', answer.read().decode())
    # The link is used, so its page is gone.
    assert not page.exists()
