"""Registry: the shipped workloads are well-formed and found by name."""

from pathlib import Path
from typing import Any

import pytest

import benchmarks
from benchmarks.registry import Quality, Workload, load_workloads, select
from tests.benchmarks.toys import tiny_workload, toy

KNOWN = load_workloads()
FOLDER = Path(benchmarks.__file__).parent


@pytest.mark.parametrize("name", KNOWN)
def test_a_workload_names_its_rivals_and_its_target(name: str) -> None:
    workload = KNOWN[name]
    assert workload.rivals
    assert workload.target is not None
    assert workload.note
    assert all(not peer.ours for peer in workload.rivals)
    assert workload.novum is None or workload.novum.ours


def test_every_name_starts_with_its_file() -> None:
    files = {
        ".".join((*path.relative_to(FOLDER).parts[:-1], path.stem.removeprefix("bench_")))
        for path in FOLDER.rglob("bench_*.py")
    }
    strange = [
        name for name in KNOWN if not any(f"{name}.".startswith(f"{file}.") for file in files)
    ]
    silent = [file for file in files if not any(f"{n}.".startswith(f"{file}.") for n in KNOWN)]
    assert (strange, silent) == ([], [])


def test_names_prefixes_and_globs_select() -> None:
    names = {workload.name for workload in select(["linear.ridge", "trees.*.nominal"], KNOWN)}
    assert {"linear.ridge", "linear.ridge.cross_validated", "trees.forest.nominal"} <= names
    assert all(name.startswith(("linear.ridge", "trees.")) for name in names)
    assert len(select([], KNOWN)) == len(KNOWN)


def test_a_name_that_matches_nothing_is_told_with_the_packages() -> None:
    with pytest.raises(ValueError, match=r"No workload matches 'liner'.*linear.*--list"):
        select(["liner"], KNOWN)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"against": "nobody"}, "none of its rivals: a"),
        ({"ours": toy("a", Path(), ours=True)}, "names a peer twice"),
    ],
)
def test_a_workload_that_contradicts_itself_is_refused(
    options: dict[str, Any], message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        tiny_workload([toy("a", Path())], **options)


def test_better_is_high_or_low() -> None:
    with pytest.raises(ValueError, match="'high' or 'low'"):
        Quality("score", "more")


def test_a_limit_only_shrinks() -> None:
    workload: Workload = tiny_workload([toy("a", Path())], limit=10.0)
    assert (workload.limited(5.0).limit, workload.limited(50.0).limit) == (5.0, 10.0)
