"""What a run reports reaches the screen once, in order."""

from __future__ import annotations

import io

from rich.console import Console

from novum.apps.cli.progress import Progress
from novum.apps.cli.run import RunListener
from tests.apps.report.sample_records import binary_record


def test_what_is_expected_gives_the_remaining_time() -> None:
    stream = io.StringIO()
    progress = Progress("starting", Console(file=stream, width=200), lambda: 0.0)
    listener = RunListener(progress, None)
    listener.stage("trying models")
    listener.expect({"decision tree": 40.0, "drawing": 262.0}, 1000.0)
    listener.step("decision tree", 0, 2)
    listener.advance(0.5)
    listener.understood(binary_record().data, binary_record().task, ())
    lines = stream.getvalue().splitlines()
    assert lines == [
        "[0 s] trying models",
        "[0 s] trying models: decision tree (1 of 2), about 5 min 02 s left",
    ]


def test_the_understanding_is_said_once_and_silence_is_kept() -> None:
    record, stream = binary_record(), io.StringIO()
    for progress in (None, Progress("starting", Console(file=io.StringIO()))):
        listener = RunListener(progress, Console(file=stream, width=300))
        for _ in range(2):
            listener.understood(record.data, record.task, record.findings)
    assert stream.getvalue().count(record.task.sentences[0]) == 2
    silent = RunListener(None, None)
    silent.stage("a")
    silent.step("b", 0, 1)
    silent.expect({"b": 1.0}, 2.0)
    silent.advance(1.0)
