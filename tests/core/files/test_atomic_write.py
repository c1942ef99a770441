"""Replacing files: permissions, links, and failures of every step."""

import errno
import os
import signal
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from novum.core.files import atomic_write, replacing
from novum.core.files.atomic_write import _names_descriptors


def write(path: Path, content: bytes) -> None:
    with replacing(path) as file:
        file.write(content)


def test_a_new_file_follows_the_umask(tmp_path: Path) -> None:
    old = os.umask(0o027)
    try:
        write(tmp_path / "a", b"x")
    finally:
        os.umask(old)
    assert stat.S_IMODE((tmp_path / "a").stat().st_mode) == 0o640


def test_a_replaced_file_keeps_its_permissions(tmp_path: Path) -> None:
    path = tmp_path / "a"
    path.write_bytes(b"old")
    path.chmod(0o604)
    write(path, b"new")
    assert path.read_bytes() == b"new"
    assert stat.S_IMODE(path.stat().st_mode) == 0o604


def test_the_target_of_a_link_is_replaced_and_the_link_stays(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    target = tmp_path / "folder" / "real"
    target.write_bytes(b"old")
    link = tmp_path / "link"
    link.symlink_to(target)
    write(link, b"new")
    assert link.is_symlink()
    assert target.read_bytes() == b"new"


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="pipes with a name are POSIX")
def test_pipes_and_open_files_are_written_into(tmp_path: Path) -> None:
    pipe, link = tmp_path / "pipe", tmp_path / "link"
    os.mkfifo(pipe)
    link.symlink_to(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    write(link, b"rows")
    assert os.read(reader, 9) == b"rows"
    assert stat.S_ISFIFO(pipe.stat().st_mode)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["link", "pipe"]
    # A file that is open already goes on where it is.
    with (tmp_path / "log").open("wb", buffering=0) as file:
        file.write(b"first ")
        write(Path(f"/dev/fd/{file.fileno()}"), b"second ")
        file.write(b"third")
    assert (tmp_path / "log").read_bytes() == b"first second third"


def test_readers_see_the_old_file_until_the_end(tmp_path: Path) -> None:
    path = tmp_path / "a"
    path.write_bytes(b"old")
    with replacing(path) as file:
        file.write(b"new")
        file.flush()
        assert path.read_bytes() == b"old"
    assert path.read_bytes() == b"new"


def test_names_of_any_length_work(tmp_path: Path) -> None:
    path = tmp_path / ("ü" * 125)
    write(path, b"x")
    assert path.read_bytes() == b"x"


@pytest.mark.parametrize("error", [RuntimeError, KeyboardInterrupt, SystemExit])
def test_an_error_leaves_the_old_file_and_nothing_else(
    tmp_path: Path, error: type[BaseException]
) -> None:
    path = tmp_path / "a"
    path.write_bytes(b"old")

    def fail() -> None:
        with replacing(path) as file:
            file.write(b"half")
            raise error

    with pytest.raises(error):
        fail()
    assert path.read_bytes() == b"old"
    assert os.listdir(tmp_path) == ["a"]


@pytest.mark.parametrize("step", ["fsync", "replace", "fchmod"])
def test_a_failing_step_leaves_the_old_file_and_nothing_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    path = tmp_path / "a"
    path.write_bytes(b"old")

    def fail(*_: object) -> None:
        raise OSError(errno.EIO, "disk on fire")

    with monkeypatch.context() as patch:
        patch.setattr(os, step, fail)
        with pytest.raises(OSError, match="disk on fire"):
            write(path, b"new")
    assert path.read_bytes() == b"old"
    assert os.listdir(tmp_path) == ["a"]


def test_everything_is_forced_to_the_disk_in_order(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    steps: list[str] = []
    fsync, replace = os.fsync, os.replace

    def log_fsync(descriptor: int) -> None:
        kind = "folder" if stat.S_ISDIR(os.fstat(descriptor).st_mode) else "file"
        size = "" if kind == "folder" else f" of {os.fstat(descriptor).st_size}"
        steps.append(f"fsync {kind}{size}")
        fsync(descriptor)

    def log_replace(source: Path, target: Path) -> None:
        steps.append(f"replace in {'one' if source.parent == target.parent else 'two'}")
        replace(source, target)

    monkeypatch.setattr(os, "fsync", log_fsync)
    monkeypatch.setattr(os, "replace", log_replace)
    write(tmp_path / "a", b"12345")
    # The size shows that buffers were flushed before the file was forced to the disk.
    assert steps == ["fsync file of 5", "replace in one", "fsync folder"]


@pytest.mark.parametrize(("code", "silent"), [(errno.EINVAL, True), (errno.EIO, False)])
def test_only_folders_that_cannot_be_forced_are_let_off(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, code: int, silent: bool
) -> None:
    fsync = os.fsync

    def fail_on_folder(descriptor: int) -> None:
        if stat.S_ISDIR(os.fstat(descriptor).st_mode):
            raise OSError(code, "no")
        fsync(descriptor)

    monkeypatch.setattr(os, "fsync", fail_on_folder)
    if silent:
        write(tmp_path / "a", b"new")
    else:
        with pytest.raises(OSError, match="no"):
            write(tmp_path / "a", b"new")
    assert (tmp_path / "a").read_bytes() == b"new"
    assert os.listdir(tmp_path) == ["a"]


KILLED = """
import os, signal, sys, threading, time
from novum.core.files.atomic_write import replacing
threading.Timer(float(sys.argv[2]), os.kill, (os.getpid(), signal.SIGKILL)).start()
while True:
    with replacing(sys.argv[1]) as file:
        for _ in range(200):
            file.write(b"new " * 1000)
"""


def test_a_killed_overwrite_leaves_the_old_file_or_the_new_one_alone(tmp_path: Path) -> None:
    path = tmp_path / "a"
    left = set()
    for i in range(12):
        path.write_bytes(b"old")
        command = [sys.executable, "-c", KILLED, str(path), str(0.02 + 0.005 * i)]
        assert subprocess.run(command, check=False).returncode == -signal.SIGKILL
        assert path.read_bytes() in (b"old", b"new " * 200_000)
        left |= set(os.listdir(tmp_path)) - {"a"}
    # Where files need a name from the start, or in the moment when they get it, one is left; the
    # next write to the folder removes it once it is old enough not to be somebody's new one.
    if _names_descriptors():
        assert len(left) <= 2
    for name in set(left):
        os.utime(tmp_path / name, (0, 0))
    write(path, b"new")
    assert os.listdir(tmp_path) == ["a"]


def test_only_abandoned_files_are_removed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(atomic_write, "_names_descriptors", lambda: False)
    abandoned, strange = tmp_path / ".novum-0123.tmp", tmp_path / ".other-0123.tmp"
    for file in (abandoned, strange):
        file.write_bytes(b"half")
        os.utime(file, (0, 0))
    with replacing(tmp_path / "a") as file:
        mine = next(tmp_path.glob(".novum-*.tmp"))
        assert mine != abandoned
        os.utime(mine, (0, 0))
        write(tmp_path / "b", b"meanwhile")
        file.write(b"x")
    assert sorted(os.listdir(tmp_path)) == [strange.name, "a", "b"]
    young = tmp_path / ".novum-4567.tmp"
    young.write_bytes(b"half")
    write(tmp_path / "a", b"y")
    assert young.exists()


def test_impossible_places_are_named(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match=r"folder .*missing does not exist; create it"):
        write(tmp_path / "missing" / "a", b"")
    with pytest.raises(IsADirectoryError, match="is a folder; give the name of a file"):
        write(tmp_path, b"")
