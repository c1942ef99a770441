"""`novum warmup` and the command line around it, as a user starts them."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

import novum
from novum.apps.cli import _application, main
from novum.apps.cli.warmup import summary
from novum.numerics import KernelOutcome, WarmupResult, warmup

START = "from novum.apps.cli import main; main()"


def command(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", START, *arguments],
        env={**os.environ, "NO_COLOR": "1", **environment},
        capture_output=True,
        text=True,
        timeout=580,
        check=False,
    )


@pytest.mark.parametrize(
    "package",
    [
        pytest.param(("bayes",), id="one"),
        pytest.param((), id="all", marks=[pytest.mark.slow, pytest.mark.timeout(1200)]),
    ],
)
def test_everything_is_compiled_and_then_found(package: tuple[str, ...], tmp_path: Path) -> None:
    cache = {"NUMBA_CACHE_DIR": str(tmp_path), "NUMBA_DISABLE_JIT": "0"}
    first = command("warmup", *package, **cache)
    second = command("warmup", *package, "--processes", "1", **cache)
    assert (first.returncode, second.returncode) == (0, 0), first.stderr + second.stderr
    lines = first.stdout.splitlines()
    n_kernels = len(lines) - 1
    assert lines[0].startswith(f"[1/{n_kernels}] novum.{''.join(package)}")
    # A kernel that another one calls may have been compiled along with it.
    compiled, _, _, there = lines[-1].split()[:4]
    assert int(compiled) + int(there) == n_kernels
    assert int(compiled) > n_kernels // 2
    last = second.stdout.splitlines()[-1]
    assert last.startswith(f"0 kernels compiled, {n_kernels} already there, ")


def test_version_and_help_answer_without_heavy_imports() -> None:
    assert command("--version").stdout == f"novum {novum.__version__}\n"
    answer = command("--help")
    assert answer.returncode == 0
    assert "warmup" in answer.stdout
    code = """
import sys
from novum.apps.cli import _application
_application()
heavy = set(sys.modules) & {"numba", "sklearn", "scipy", "pandas", "pyarrow", "numpy"}
print(sorted(heavy))
"""
    assert subprocess.check_output([sys.executable, "-c", code], text=True) == "[]\n"


def test_an_unknown_command_is_a_usage_error() -> None:
    answer = command("wormup")
    assert answer.returncode == 2
    assert "wormup" in answer.stderr


def test_an_unknown_package_is_a_usage_error() -> None:
    answer = command("warmup", "bayse")
    assert answer.returncode == 2
    assert "did you mean 'bayes'?" in answer.stderr


def test_without_typer_the_message_says_what_to_install(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, "typer", None)
    monkeypatch.delitem(sys.modules, "novum.apps.cli.warmup")
    with pytest.raises(SystemExit, match=r"needs typer: pip install '\.\[cli\]'"):
        main()


def test_a_failure_is_named_and_makes_the_exit_code_one(monkeypatch: pytest.MonkeyPatch) -> None:
    outcome = KernelOutcome("evil\x1b[2J_kernels.f", 0.1, False, "TypingError: \x07 no")

    def failing(processes: int, report: warmup.Report, *, package: str) -> WarmupResult:
        assert (processes, package) == (2, "novum")
        report(1, 1, outcome)
        return WarmupResult((outcome,), 0.1)

    monkeypatch.setattr("novum.numerics.warm_up", failing)
    answer = CliRunner().invoke(_application(), ["warmup"])
    assert answer.exit_code == 1
    assert answer.output.splitlines() == [
        r"[1/1] evil\x1b[2J_kernels.f: failed, 0.10 s",
        "0 kernels compiled, 0 already there, 1 failed, 0.1 s",
        r"failed: evil\x1b[2J_kernels.f: TypingError: \x07 no",
    ]


def test_on_a_terminal_a_bar_shows_safe_names(monkeypatch: pytest.MonkeyPatch) -> None:
    outcome = KernelOutcome("novum.evil\x1b[2J[bold]_kernels.f", 0.1, True)

    def one_kernel(processes: int, report: warmup.Report, *, package: str) -> WarmupResult:
        assert package == "novum"
        report(1, processes - 1, outcome)
        return WarmupResult((outcome,), 0.1)

    monkeypatch.setattr("novum.numerics.warm_up", one_kernel)
    # Rich writes to what it takes for a terminal; the environment speaks for it.
    answer = CliRunner().invoke(
        _application(), ["warmup"], env={"FORCE_COLOR": "1", "TERM": "xterm", "COLUMNS": "120"}
    )
    assert answer.exit_code == 0
    assert r"evil\x1b[2J[bold]_kernels.f" in answer.output
    assert "\x1b[2J" not in answer.output
    assert "1/1" in answer.output


def test_the_summary_counts() -> None:
    done, there = KernelOutcome("a", 1.0, True), KernelOutcome("b", 0.1, False)
    assert summary(WarmupResult((done, there), 1.26)) == (
        "1 kernel compiled, 1 already there, 1.3 s"
    )
    assert "NUMBA_DISABLE_JIT" in summary(WarmupResult((), 0.0))
