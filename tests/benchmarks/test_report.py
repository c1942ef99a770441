"""Report: ratios with verdicts first, then every peer, failed ones too."""

from pathlib import Path
from typing import Any

from benchmarks.measuring import Outcome
from benchmarks.report import markdown, seconds
from tests.benchmarks.toys import tiny_workload, toy

META = {"threads": 1, "clock": "cpu", "scale": "normal", "versions": {"python": "3.11"}}


def ran(seconds_: float, score: float, **options: Any) -> Outcome:
    return Outcome(
        cpu={"fit": seconds_},
        wall={"fit": seconds_},
        memory={"fit": 12.0},
        quality={"score": score},
        repetitions=3,
        **options,
    )


def report(scale: str = "normal") -> str:
    nowhere = Path()
    workload = tiny_workload(
        [toy(name, nowhere) for name in ("sound", "hasty", "near", "absent")],
        toy("novum", nowhere, ours=True),
        target=3.0,
        memory=400.0,
        note="a toy",
    )
    outcomes = {
        "novum": ran(0.5, 1.0, ours=True),
        "sound": ran(2.0, 1.0),
        "hasty": ran(0.1, 0.2),
        "near": ran(0.2, 1.0, other_method=True),
        "absent": Outcome("not installed", "needs the module a|b"),
    }
    return markdown({workload.name: workload}, {workload.name: outcomes}, META | {"scale": scale})


def test_the_ratio_and_its_verdict_come_first() -> None:
    text = report()
    assert "| toys.tiny | 0.500 | sound | 2.00 | 4.00 | 3 | 12 of 400 | held |" in text
    assert text.index("## Ratios") < text.index("## toys.tiny")
    assert "Verdicts: 1 held." in text


def test_every_peer_has_its_row() -> None:
    text = report()
    assert "| **sound** | 2.00 | score 1 | 12 | 3 |" in text
    assert "| hasty (worse) | 0.100 | score 0.2 | 12 | 3 |" in text
    assert "| near (other method) | 0.200 |" in text
    assert "| absent | - | not installed: needs the module a\\|b |  |  |" in text
    assert "novum against sound: 4.00 in all" in text
    assert "a toy" in text


def test_quick_sizes_are_marked() -> None:
    assert "Quick sizes" in report("quick")
    assert "Quick sizes" not in report()


def test_seconds_keep_three_figures() -> None:
    assert [seconds(value) for value in (123.456, 1.0, 0.5, 0.00123)] == [
        "123.46",
        "1.00",
        "0.500",
        "0.00123",
    ]
