"""`novum warmup`: compile every kernel now, so that no later call has to."""

from __future__ import annotations

import pkgutil
from collections.abc import Callable
from typing import TYPE_CHECKING

import typer

import novum

if TYPE_CHECKING:
    from rich.console import Console

    from novum.numerics import KernelOutcome, WarmupResult


def warmup(
    package: str = typer.Argument("", help="One package, such as svm; all by default."),
    processes: int = typer.Option(2, min=1, max=64, help="Processes that compile side by side."),
) -> None:
    """Compile every kernel ahead, or those of one package, once for this machine.

    Kernels already on disk are left as they are.

    The exit code is 0 if all kernels are ready and 1 if one could not be compiled.
    """
    from rich.console import Console

    from novum.core.text import printable
    from novum.numerics import warm_up

    chosen = _package(package)
    console = Console(highlight=False, markup=False, soft_wrap=True)
    if console.is_terminal:
        result = _with_bar(console, lambda report: warm_up(processes, report, package=chosen))
    else:
        result = warm_up(processes, lambda *step: console.print(_line(*step)), package=chosen)
    console.print(summary(result))
    for outcome in result.failures:
        console.print(printable(f"failed: {outcome.kernel}: {outcome.error}"))
    if result.failures:
        raise typer.Exit(1)


def _package(name: str) -> str:
    """The package to compile, by its short name."""
    if not name:
        return "novum"
    from novum.core.text import label_text, meant

    known = sorted(module.name for module in pkgutil.iter_modules(novum.__path__) if module.ispkg)
    if name not in known:
        raise typer.BadParameter(f"There is no package {label_text(name)}: {meant(name, known)}")
    return f"novum.{name}"


Report = Callable[[int, int, "KernelOutcome"], None]


def summary(result: WarmupResult) -> str:
    """What was done, in one line."""
    if not result.outcomes:
        return "No kernels to compile: compilation is switched off (NUMBA_DISABLE_JIT)."
    compiled = len(result.compiled)
    noun = "kernel" if compiled == 1 else "kernels"
    parts = [f"{compiled} {noun} compiled", f"{len(result.present)} already there"]
    if result.failures:
        parts.append(f"{len(result.failures)} failed")
    return f"{', '.join(parts)}, {result.seconds:.1f} s"


def _with_bar(console: Console, run: Callable[[Report], WarmupResult]) -> WarmupResult:
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

    from novum.core.text import printable

    text = TextColumn("{task.description}", markup=False)
    with Progress(text, BarColumn(), MofNCompleteColumn(), console=console) as progress:
        task = progress.add_task("finding kernels", total=None)

        def report(done: int, total: int, outcome: KernelOutcome) -> None:
            name = printable(outcome.kernel.removeprefix("novum."))
            progress.update(task, completed=done, total=total, description=name)

        return run(report)


def _line(done: int, total: int, outcome: KernelOutcome) -> str:
    from novum.core.text import printable

    state = "failed" if outcome.error else "compiled" if outcome.compiled else "already there"
    return printable(f"[{done}/{total}] {outcome.kernel}: {state}, {outcome.seconds:.2f} s")
