"""Progress: signs of life, remaining time, and names that cannot steer a terminal."""

from __future__ import annotations

import io
from itertools import pairwise

from rich.console import Console

from novum.apps.cli.progress import MOST_SILENCE, Progress


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


def shown(clock: Clock, terminal: bool = False) -> tuple[Progress, io.StringIO]:
    stream = io.StringIO()
    console = Console(file=stream, force_terminal=terminal, width=160, markup=False)
    return Progress("starting", console, clock), stream


def test_nobody_waits_five_seconds_for_a_line() -> None:
    clock = Clock()
    progress, stream = shown(clock)
    progress._show.start(progress._text())
    said = [0.0]
    for tenth in range(1, 600):
        before = stream.tell()
        clock.now = tenth / 10
        progress.tick()
        if stream.tell() > before:
            said.append(clock.now)
    gaps = [after - earlier for earlier, after in pairwise(said)]
    assert max(gaps) < 5
    assert min(gaps) >= MOST_SILENCE - 0.2
    assert said[-1] > 55


def test_news_are_lines_of_their_own_and_need_no_further_sign() -> None:
    clock = Clock()
    progress, stream = shown(clock)
    progress.stage("reading")
    clock.now = 65.0
    progress.expect({"tree": 100.0, "forest": 100.0})
    progress.stage("trying models")
    progress.step("tree", 0, 2)
    progress.step("", 2, 2)
    progress.tick()
    assert stream.getvalue().splitlines() == [
        "[0 s] reading",
        "[1 min 05 s] trying models, about 3 min 20 s left",
        "[1 min 05 s] trying models: tree (1 of 2), about 3 min 20 s left",
    ]


def test_the_ticker_stops_with_the_work() -> None:
    clock = Clock()
    progress, stream = shown(clock)
    with progress:
        assert stream.getvalue() == "[0 s] starting\n"
    clock.now = 100.0
    progress.tick()
    assert stream.getvalue() == "[0 s] starting\n"


def test_on_a_terminal_a_bar_shows_safe_names_and_makes_room_for_results() -> None:
    progress, stream = shown(Clock(), terminal=True)
    with progress:
        progress.expect({"evil\x1b]0;title\x07[bold]": 10.0})
        progress.step("evil\x1b]0;title\x07[bold]", 0, 1)
        with progress.paused():
            progress.console.print("RESULT")
        progress.tick()
    text = stream.getvalue()
    assert r"evil\x1b]0;title\x07[bold] (1 of 1), about 10 s left" in text
    assert "\x1b]0;" not in text
    assert "RESULT\n" in text
