"""Environment: groups of rivals, and a lock file that pins each of them."""

import pytest

from benchmarks.environment import CONSTRAINTS, DEFAULT, GIANTS, GROUPS, main, requirements
from benchmarks.registry import load_workloads

PINS = [line for line in CONSTRAINTS.read_text().splitlines() if not line.startswith("#")]


def test_every_package_with_workloads_has_a_group() -> None:
    assert {name.partition(".")[0] for name in load_workloads()} == set(GROUPS)


def test_default_rivals_come_first_and_once() -> None:
    assert requirements([]) == list(DEFAULT)
    both = dict.fromkeys([*GROUPS["trees"], *GROUPS["ensemble"]])
    assert requirements(["trees.forest", "ensemble"]) == [*DEFAULT, *both]


def test_all_leaves_the_giants_out() -> None:
    everything = requirements(["all"])
    assert {rival for group in GROUPS.values() for rival in group} <= set(everything)
    assert not {rival for group in GIANTS.values() for rival in group} & set(everything)
    assert "pomegranate" in requirements(["torch"])


@pytest.mark.slow
def test_an_unknown_group_is_told_with_the_known_ones(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["forestry"]) == 2
    assert "no group of rivals 'forestry'. Groups: bayes" in capsys.readouterr().err


def test_every_line_of_the_lock_is_an_exact_version() -> None:
    assert [line for line in PINS if line.count("==") != 1 or "/" in line or "@" in line] == []


def test_every_rival_is_locked() -> None:
    locked = {line.partition("==")[0].lower() for line in PINS}
    wanted = {*requirements(["all"]), *requirements(["torch"])}
    assert {name.lower() for name in wanted} <= locked
