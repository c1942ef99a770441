"""What a run reports reaches the screen once, in order."""

from __future__ import annotations

import io
from pathlib import Path

from rich.console import Console

from novum.apps.cli.progress import Progress
from novum.apps.cli.run import RunListener
from novum.apps.job.record import PlannedTrial, PlanRecord
from novum.apps.job.record_json import write_record
from tests.apps.report.sample_records import binary_record


def test_the_plan_gives_the_remaining_time_from_the_first_step_on(tmp_path: Path) -> None:
    trial = PlannedTrial("tree", "decision tree", 1, 50, 5, 40.0, "planned")
    plan = PlanRecord("quick", 100.0, 1.0, 1, 5, 3, 0, (trial,))
    write_record(plan, tmp_path / "plan.json")
    stream = io.StringIO()
    progress = Progress("starting", Console(file=stream, width=200), lambda: 0.0)
    listener = RunListener(tmp_path, progress, None)
    listener.stage("trying models")
    listener.step("decision tree", 0, 2)
    listener.understood(binary_record().data, binary_record().task, ())
    lines = stream.getvalue().splitlines()
    # 40 s of trees, 5 x 4 fits of 8 s in stacks, 3 + 12 x 8 to judge, 3 to draw.
    assert lines == [
        "[0 s] trying models",
        "[0 s] trying models: decision tree (1 of 2), about 5 min 02 s left",
    ]


def test_the_understanding_is_said_once_and_silence_is_kept(tmp_path: Path) -> None:
    record, stream = binary_record(), io.StringIO()
    for progress in (None, Progress("starting", Console(file=io.StringIO()))):
        listener = RunListener(tmp_path, progress, Console(file=stream, width=300))
        for _ in range(2):
            listener.understood(record.data, record.task, record.findings)
    assert stream.getvalue().count(record.task.sentences[0]) == 2
    silent = RunListener(tmp_path, None, None)
    silent.stage("a")
    silent.step("b", 0, 1)
