"""A run of the studio in a process of its own: the job of `novum run`, with progress in a file.

The process is started in the opened folder, so that a table has the name that it has there, and
what is written is what the command writes. It goes on when the studio ends. The file of its
progress is locked while it lives, however it ends, and holds one event of JSON in each line:

    {"at": seconds, "pid": ...}                               the process has begun
    {"at": ..., "stage": title}
    {"at": ..., "step": title, "done": ..., "total": ...}
    {"at": ..., "advance": share}
    {"at": ..., "expect": {title: seconds}, "limit": seconds or null}
    {"at": ..., "understood": {"data": ..., "task": ..., "findings": ...}}
    {"at": ..., "note": sentence}                             a warning
    {"at": ..., "end": "finished" | "stopped" | "failed", "said": sentence}
"""

from __future__ import annotations

import contextlib
import json
import math
import os
import signal
import sys
import time
import traceback
import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from novum.apps.job.record import DataRecord, Finding, TaskRecord
from novum.apps.job.record_json import read_record, to_json
from novum.apps.job.request import Request
from novum.core.files import refuse_links_below
from novum.core.text import printable


class ProgressFile:
    """Listener of a run that writes its events to an open file.

    Parameters
    ----------
    descriptor : int
        Of a file that is open for appending.
    """

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self._has_said: set[str] = set()
        self.tell(pid=os.getpid())

    def tell(self, **event: Any) -> None:
        """Appends an event; a line is written whole, so that readers never meet a part of one."""
        line = json.dumps({"at": time.time(), **event}, ensure_ascii=True)
        os.write(self._descriptor, line.encode() + b"\n")

    def end(self, how: str, said: str) -> None:
        """Tells the last event, also where the disk has no room for another line."""
        try:
            self.tell(end=how, said=said)
        except OSError:
            os.ftruncate(self._descriptor, 0)
            self.tell(end=how, said=said)

    def stage(self, title: str) -> None:
        self.tell(stage=title)

    def step(self, title: str, done: int, total: int) -> None:
        # A step without a title ends the last one; the next stage follows at once.
        if title:
            self.tell(step=title, done=done, total=total)

    def advance(self, share: float) -> None:
        self.tell(advance=share)

    def expect(self, forecasts: Mapping[str, float], limit: float) -> None:
        self.tell(expect=dict(forecasts), limit=limit if math.isfinite(limit) else None)

    def understood(self, data: DataRecord, task: TaskRecord, findings: tuple[Finding, ...]) -> None:
        if task.target not in self._has_said:
            self._has_said.add(task.target)
            parts = {"data": data, "task": task, "findings": findings}
            self.tell(
                understood={name: json.loads(to_json(one))["record"] for name, one in parts.items()}
            )

    def warned(self, message: Warning | str, *_: Any, **__: Any) -> None:
        """Takes the place of `warnings.showwarning`."""
        text = printable(" ".join(str(message).split()), 400)
        if text not in self._has_said:
            self._has_said.add(text)
            self.tell(note=text)


def main() -> None:
    """`python -m novum.apps.studio.child DESCRIPTOR FOLDER [REQUEST]`; no request: resume."""
    # A shell that starts commands in the background makes them ignore Ctrl-C.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    descriptor, folder, *asked = sys.argv[1:]
    told = ProgressFile(int(descriptor))
    refuse_links_below(Path.cwd())
    try:
        request = read_record(Path(asked[0]), Request) if asked else None
        with warnings.catch_warnings():
            warnings.simplefilter("default")
            for kind in (DeprecationWarning, PendingDeprecationWarning, ResourceWarning):
                warnings.simplefilter("ignore", kind)
            warnings.showwarning = told.warned
            _run(request, Path(folder), told)
    except KeyboardInterrupt:
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        told.end("stopped", "Stopped.")
        # Threads that still compute are not waited for.
        os._exit(130)
    except Exception as error:
        from novum.apps.cli.failures import sentence

        told.end("failed", sentence(error))
        with contextlib.suppress(OSError):
            traceback.print_exc()
        os._exit(1)
    told.end("finished", "")


def _run(request: Request | None, folder: Path, told: ProgressFile) -> None:
    from novum.apps.cli.run import REPORT, recorded, searched
    from novum.apps.job.untargeted import UNTARGETED, request_to_repeat

    wanted = request_to_repeat(folder, folder / REPORT) if request is None else request
    if wanted is not None and wanted.task in UNTARGETED:
        searched(wanted, folder, told)
    else:
        recorded(request, folder, told)


if __name__ == "__main__":
    main()
