"""The runs of the opened folder: folders as `novum run` writes them, and processes that make them.

Everything that is known about a run is on the disk, so a studio that was closed or killed finds all
runs again, also those that still go on. A run has one of four states:

| state | how it is known |
|---|---|
| running | the file of its progress is locked by its process |
| finished | there is a `run.json` |
| interrupted | there is a `request.json` and nobody works: it can be resumed |
| failed | it has ended and there is nothing to go on with; the last event says why |
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from novum.apps.cli.progress import Remaining
from novum.apps.cli.run import REPORT, folder_names
from novum.apps.job.outputs import JOURNALS, MODEL, PLAN, PREDICTIONS, REQUEST, RUN
from novum.apps.job.record import PlanRecord
from novum.apps.job.record_json import read_record, write_record
from novum.apps.job.request import Request
from novum.apps.studio.folder import OpenedFolder, is_shown
from novum.core.errors import InputError
from novum.core.files import open_descriptor
from novum.core.json_text import parsed_json
from novum.core.text import printable

# Of a record; what is larger was not written by a run.
MOST_BYTES = 64 * 2**20
PROGRESS, LOG, ASKED = ".progress", ".log", ".request"
Plain = dict[str, Any]


class Runs:
    """The runs of a folder.

    Parameters
    ----------
    folder : OpenedFolder
    """

    def __init__(self, folder: OpenedFolder) -> None:
        self._folder = folder
        self._processes: dict[str, subprocess.Popen[bytes]] = {}
        self._journals: dict[Path, tuple[int, list[float]]] = {}
        self._starting = threading.Lock()

    # What there is

    def names(self) -> list[str]:
        """Of all runs, those that were begun last first."""
        names = {
            name
            for name in self._folder.folders()
            if (self._folder.path / name / REQUEST).is_file()
            or (self._folder.path / name / RUN).is_file()
        }
        for path in self._folder.notes().glob(f"*{PROGRESS}"):
            name = path.name.removesuffix(PROGRESS)
            # A link, or a name such as "..", would lead outside.
            is_inside = is_shown(name) and not (self._folder.path / name).is_symlink()
            # What waits for a writer, such as a pipe, would keep the studio waiting.
            if is_inside and path.is_file() and not path.is_symlink():
                names.add(name)
        return sorted(names, key=lambda name: (-self._begun(name), name))

    def path(self, name: str) -> Path:
        """The folder of a run that is listed; it may not be made yet."""
        if name not in self.names():
            raise InputError(f"The opened folder has no run {printable(name, 80)!r}.")
        return self._folder.path / name

    def file(self, name: str, file: str) -> Path:
        """One of the files of a run, which must be there."""
        path = self.path(name) / file
        if not path.is_file() or path.is_symlink():
            raise InputError(
                f"The run {printable(name, 80)!r} has no {file}: it is not finished, or the task "
                "has none."
            )
        return path

    def summary(self, name: str) -> Plain:
        """A run in one line."""
        folder, state = self._folder.path / name, self.state(name)
        summary: Plain = {"name": name, "state": state, "begun": self._begun(name)}
        request = self._request(name)
        if request is not None:
            summary |= {"table": request.get("table"), "target": request.get("target")}
            summary["task"] = request.get("task")
        if state == "finished":
            summary["has_report"] = (folder / REPORT).is_file()
            summary["has_model"] = (folder / MODEL).is_file()
        return summary

    def state(self, name: str) -> str:
        folder = self._folder.path / name
        if self._is_locked(name):
            return "running"
        if (folder / RUN).is_file():
            return "finished"
        return "interrupted" if (folder / REQUEST).is_file() else "failed"

    def details(self, name: str) -> Plain:
        """A run with its progress, its leaderboard so far, and what was said."""
        self.path(name)
        details = self.summary(name) | self._progress(name)
        state = self.state(name)
        details["state"] = state
        if state == "finished":
            details |= self.record(name)
        else:
            details["leaderboard"] = self._growing(name, details.get("understood"))
        return details

    def record(self, name: str) -> Plain:
        """What a finished run says, as plain data: verdict, leaderboard, measures."""
        path = self.file(name, RUN)
        try:
            return self._told(_read(path))
        except (ValueError, KeyError, TypeError, AttributeError):
            raise InputError(
                f"{RUN} of {printable(name, 80)!r} is not as a run writes it. Run it again."
            ) from None

    def of_one_target(self) -> Iterator[tuple[Plain, Plain]]:
        """Finished runs of one target in one line each, and their tasks."""
        for name in self.names():
            if self.state(name) == "finished":
                # A run whose record is damaged is told where it is opened.
                with contextlib.suppress(InputError):
                    task = self.record(name).get("task_record")
                    if task is not None:
                        yield {"name": name, "target": task["target"], "kind": task["kind"]}, task

    def _told(self, content: Plain) -> Plain:
        record: Plain = content.get("record", content)
        if "runs" in record:
            runs = record["runs"]
            return {
                "kind": "several",
                "verdict": record["verdict"],
                "settings": record["settings"],
                "not_done": record["not_done"],
                "targets": record["targets"],
                "leaderboards": [one["leaderboard"] for one in runs],
            }
        if "leaderboard" not in record:
            return {
                "kind": str(record.get("task", "")),
                "verdict": record.get("verdict", []),
                "settings": record.get("settings", {}),
                "not_done": record.get("not_done", []),
            }
        holdout = record["holdout"] or {}
        return {
            "kind": record["task"]["kind"],
            "verdict": record["verdict"],
            "settings": record["settings"],
            "data": record["data"],
            "task_record": record["task"],
            "findings": record["findings"],
            "leaderboard": record["leaderboard"],
            "comparison": record["comparison"],
            "plan": {key: record["plan"][key] for key in ("preset", "repeats", "folds", "seed")},
            "measures": holdout.get("measures", []),
            "n_holdout": holdout.get("n_rows", 0),
            "not_done": record["not_done"],
            "seconds": sum(one for _, one in record["stage_seconds"]),
            "date": record["date"],
        }

    # What is done with them

    def start(self, request: Request) -> str:
        """Starts a run in a folder of its own, whose name is returned."""
        # One at a time: what another one has begun and not yet locked looks like a failed run.
        with self._starting:
            return self._started(request)

    def _started(self, request: Request) -> str:
        notes = self._folder.notes()
        for name in folder_names(request.table):
            if os.path.lexists(self._folder.path / name):
                continue
            try:
                flags = os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_EXCL
                descriptor = open_descriptor(notes / f"{name}{PROGRESS}", flags, 0o600)
                break
            except FileExistsError:
                # A run of that name failed before it had a folder; its name is free again.
                if self.state(name) == "failed":
                    self.forget(name)
        asked = notes / f"{name}{ASKED}"
        write_record(request, asked)
        self._begin(name, descriptor, str(asked))
        return name

    def resume(self, name: str) -> None:
        """Goes on with a run that was interrupted."""
        self._check_no_links(name)
        path = self._folder.notes() / f"{name}{PROGRESS}"
        descriptor = open_descriptor(path, os.O_RDWR | os.O_APPEND | os.O_CREAT, 0o600)
        with self._starting:
            state = self.state(name)
            if state != "interrupted":
                os.close(descriptor)
                raise InputError(f"The run {name} is {state}, so there is nothing to go on with.")
            self._begin(name, descriptor)

    def cancel(self, name: str) -> None:
        """Stops a run as Ctrl-C does; finished folds are kept."""
        self.path(name)
        pid = None
        # A process that has just been started says a moment later who it is.
        while pid is None:
            if not self._is_locked(name):
                raise InputError(f"The run {name} is not going on, so there is nothing to stop.")
            pid = self._progress(name).get("pid")
            time.sleep(0.0 if pid else 0.05)
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGINT)

    def forget(self, name: str) -> None:
        """Removes what the studio noted about a run that left nothing else."""
        self.path(name)
        if self.state(name) != "failed":
            raise InputError(f"The run {name} has files, which are removed by hand.")
        for suffix in (PROGRESS, LOG, ASKED):
            with contextlib.suppress(FileNotFoundError):
                (self._folder.notes() / f"{name}{suffix}").unlink()

    # Parts of the above

    def _check_no_links(self, name: str) -> None:
        """A run writes none of its files through a link, which is said before it computes."""
        for folder, folders, files in os.walk(self.path(name)):
            for one in (Path(folder) / entry for entry in folders + files):
                if one.is_symlink():
                    shown = printable(str(one.relative_to(self._folder.path)), 120)
                    raise InputError(f"{shown} is a link to elsewhere. Remove it.")

    def _begin(self, name: str, descriptor: int, *asked: str) -> None:
        """Starts the process, which inherits the lock on the file of its progress."""
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        # What an earlier process said must not be taken for this one: its number above all.
        os.ftruncate(descriptor, 0)
        flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC
        log = open_descriptor(self._folder.notes() / f"{name}{LOG}", flags, 0o600)
        command = [sys.executable, "-m", "novum.apps.studio.child", str(descriptor), name, *asked]
        try:
            self._processes[name] = subprocess.Popen(
                command,
                cwd=self._folder.path,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                pass_fds=[descriptor],
                # Ctrl-C that ends the studio does not end its runs.
                start_new_session=True,
                umask=0o077,
            )
        finally:
            os.close(descriptor)
            os.close(log)

    def _is_locked(self, name: str) -> bool:
        process = self._processes.get(name)
        if process is not None and process.poll() is not None:
            del self._processes[name]
        try:
            path = self._folder.notes() / f"{name}{PROGRESS}"
            descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW)
        except FileNotFoundError:
            return False
        try:
            return not _is_free(descriptor)
        finally:
            os.close(descriptor)

    def _begun(self, name: str) -> float:
        for path in (
            self._folder.path / name / REQUEST,
            self._folder.path / name / RUN,
            self._folder.notes() / f"{name}{PROGRESS}",
        ):
            with contextlib.suppress(OSError):
                return path.stat().st_mtime
        return 0.0

    def _request(self, name: str) -> Plain | None:
        for path in (
            self._folder.path / name / REQUEST,
            self._folder.notes() / f"{name}{ASKED}",
        ):
            with contextlib.suppress(OSError, ValueError, KeyError, TypeError):
                return dict(_read(path)["record"])
        with contextlib.suppress(OSError, ValueError, KeyError, TypeError):
            return dict(self.record(name)["settings"])
        return None

    def _progress(self, name: str) -> Plain:
        """The events of the last process, summed up."""
        events = []
        with contextlib.suppress(OSError):
            content = (self._folder.notes() / f"{name}{PROGRESS}").read_bytes()
            for line in content.splitlines():
                # A line that is torn, or that no run has written, says nothing.
                with contextlib.suppress(ValueError):
                    events.append(parsed_json(line))
        try:
            return summed_up(events)
        except (KeyError, TypeError, ValueError, AttributeError):
            return {"notes": ["What is noted about the progress of this run cannot be read."]}

    def _growing(self, name: str, understood: Plain | None) -> list[Plain]:
        """Models by their mean score over the folds that are finished, the best first."""
        folder = self._folder.path / name
        if not (folder / PLAN).is_file():
            return []
        try:
            plan = read_record(folder / PLAN, PlanRecord)
            greater = True if understood is None else understood["task"]["greater_is_better"]
        except (OSError, InputError, KeyError, TypeError):
            return []
        total = plan.repeats * plan.folds
        trials = []
        for trial in plan.trials:
            paths = sorted((folder / JOURNALS).glob(f"{trial.family}.jsonl"))
            paths += sorted((folder / JOURNALS).glob(f"{trial.family}_*.jsonl"))
            scores = [score for path in paths if path.is_file() for score in self._scores(path)]
            if scores:
                mean = sum(scores) / len(scores)
                trials.append(
                    {
                        "title": trial.title,
                        "score": mean if greater else -mean,
                        "folds": len(scores),
                        "total": total,
                    }
                )
        return sorted(trials, key=lambda one: -one["score"] if greater else one["score"])

    def _scores(self, path: Path) -> list[float]:
        """Scores of a journal, of which only what is new is read."""
        offset, scores = self._journals.get(path, (0, []))
        with contextlib.suppress(OSError), path.open("rb") as file:
            if os.fstat(file.fileno()).st_size < offset:
                offset, scores = 0, []
            file.seek(offset)
            whole = file.read()
            kept = whole[: whole.rfind(b"\n") + 1]
            for line in kept.splitlines():
                with contextlib.suppress(ValueError, KeyError, TypeError):
                    scores = [*scores, float(parsed_json(line)["record"]["scores"]["metric"])]
            self._journals[path] = offset + len(kept), scores
        return scores


def summed_up(events: list[Plain]) -> Plain:
    """Where a run stands after these events of its process.

    Examples
    --------
    >>> events = [{"at": 0.0, "pid": 7}, {"at": 1.0, "stage": "reading the table"},
    ...           {"at": 3.0, "end": "stopped", "said": "Stopped."}]
    >>> found = summed_up(events)
    >>> found["pid"], found["stage"], found["end"], found["elapsed"]
    (7, 'reading the table', 'stopped', 3.0)
    """
    if not events:
        return {}
    began = events[0]["at"]
    summary: Plain = {"pid": events[0].get("pid"), "notes": [], "stage": "starting", "step": ""}
    work: Remaining | None = None
    for event in events:
        if "expect" in event:
            limit = event["limit"]
            work = (
                Remaining(event["expect"], began + limit) if limit else Remaining(event["expect"])
            )
        for kind in ("stage", "step"):
            if kind in event:
                summary["step"] = ""
                summary[kind] = event[kind]
                if work is not None:
                    work.begin(event[kind], event["at"])
        if "advance" in event and work is not None:
            work.advance(event["advance"])
        if "understood" in event:
            summary["understood"] = event["understood"]
        if "note" in event:
            summary["notes"].append(event["note"])
        if "end" in event:
            summary |= {"end": event["end"], "said": event["said"]}
    now = events[-1]["at"] if "end" in summary else time.time()
    summary["elapsed"] = max(0.0, now - began)
    if work is not None and "end" not in summary:
        summary |= {"share": work.share(now), "left": work.seconds(now)}
    return summary


def _read(path: Path) -> Any:
    """What a file of a run says; a `ValueError` where no run has written it."""
    if not path.is_file() or path.stat().st_size > MOST_BYTES:
        raise ValueError(f"{path.name} is no file of up to {MOST_BYTES:,} bytes")
    return parsed_json(path.read_bytes())


def _is_free(descriptor: int) -> bool:
    """Whether no process works; who asks at the same time is in nobody's way."""
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except OSError:
        return False
    return True


__all__ = ["MODEL", "PREDICTIONS", "REPORT", "RUN", "Runs", "summed_up"]
