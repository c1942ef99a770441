"""Between a run and the screen: progress, and how the task was understood."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from novum.apps.cli.progress import Progress
from novum.apps.cli.remaining import Remaining, forecasts_of

if TYPE_CHECKING:
    from rich.console import Console

    from novum.apps.job.record import DataRecord, Finding, TaskRecord

# Titles of the stages after the trials, whose times are forecast too.
_JUDGING = "judging the chosen model"
DRAWING = "drawing the report"


class RunListener:
    """Listener of a run.

    Parameters
    ----------
    folder : path
        Of the run, where its plan is.
    progress : Progress or None
        None shows nothing.
    out : Console or None
        Where to say how the task was understood; None says nothing.
    """

    def __init__(self, folder: Path, progress: Progress | None, out: Console | None) -> None:
        self._folder, self._progress, self._out = folder, progress, out
        self._knows_plan = self._has_said = False

    def stage(self, title: str) -> None:
        if self._progress is not None:
            self._progress.stage(title)

    def step(self, title: str, done: int, total: int) -> None:
        if self._progress is None:
            return
        if not self._knows_plan:
            self._knows_plan = True
            self._progress.expect(Remaining(self._forecasts()))
        self._progress.step(title, done, total)

    def understood(self, data: DataRecord, task: TaskRecord, findings: tuple[Finding, ...]) -> None:
        """How the table and the task were understood; said once."""
        from novum.apps.cli.run_summary import show_understanding

        if self._out is None or self._has_said:
            return
        self._has_said = True
        if self._progress is None:
            show_understanding(self._out, data, task, findings)
            return
        with self._progress.paused():
            show_understanding(self._out, data, task, findings)

    def _forecasts(self) -> dict[str, float]:
        from novum.apps.job.job import PLAN
        from novum.apps.job.planning import STACK_TITLE
        from novum.apps.job.record import PlanRecord
        from novum.apps.job.record_json import read_record

        plan = read_record(self._folder / PLAN, PlanRecord)
        return forecasts_of(plan, STACK_TITLE, _JUDGING, DRAWING)
