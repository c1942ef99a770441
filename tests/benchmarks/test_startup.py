"""Start-up measures: real processes, gates that can be held, missed, failed or not yet reached."""

import pytest

from benchmarks import startup
from benchmarks.startup import Finding, FirstUse, first_call_findings, import_findings

QUICK = FirstUse("quick", "math:sqrt", "Learner(4.0)", setup="")


def test_imports_are_timed_and_modules_listed() -> None:
    ratio, modules = import_findings(repeats=1)
    assert ratio.value is not None
    assert ratio.value > 0
    assert "numpy" in ratio.detail
    assert (modules.status == "held") == (modules.detail == "")


def test_a_forbidden_module_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    # `json` is what the measuring code itself imports, so it is surely found.
    monkeypatch.setattr(startup, "FORBIDDEN", ("json", "no_such_module"))
    finding = import_findings(repeats=1)[1]
    assert (finding.status, finding.detail) == ("missed", "json")


def test_a_quick_first_call_holds_both_gates() -> None:
    findings = first_call_findings([QUICK], cold=True, repeats=1)
    assert [(finding.name, finding.status) for finding in findings] == [
        ("quick, warm", "held"),
        ("quick, cold", "held"),
    ]


def test_a_gate_of_zero_is_missed() -> None:
    busy = FirstUse("busy", "math:sqrt", "sum(range(10**6))", setup="", warm=0.0)
    (finding,) = first_call_findings([busy], repeats=1)
    assert finding.status == "missed"


def test_a_learner_that_is_absent_or_fails_is_said() -> None:
    absent = FirstUse("absent", "novum.nowhere:Learner", "Learner()")
    broken = FirstUse("broken", "math:sqrt", "Learner(-1.0)", setup="")
    findings = first_call_findings([absent, broken], repeats=1)
    assert [finding.status for finding in findings] == ["not yet", "error"]
    assert "novum.nowhere:Learner" in findings[0].detail
    assert findings[1].detail.startswith("ValueError")


def test_each_process_gets_the_cache_folder_it_is_told() -> None:
    call = (
        "import os; assert os.environ['NUMBA_CACHE_DIR'].rpartition('/')[2][:12] == 'bench-cache-'"
    )
    use = FirstUse("cache", "math:sqrt", call, setup="")
    assert first_call_findings([use], repeats=1)[0].status == "held"


def test_a_line_shows_value_limit_and_verdict() -> None:
    assert Finding("x", "held", 0.25, 0.5).line().split() == ["x", "0.250", "of", "0.5", "held"]
