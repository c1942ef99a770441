"""Memory: sizes in both directions, control groups of both versions, and refusals in time."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from novum.core.errors import InputError, MemoryLimitError
from novum.core.runtime import memory

GB = 10**9


def system(tmp_path: Path, files: dict[str, str]) -> Path:
    """A folder that looks like the root of a Linux machine with 8 GB free."""
    everything = {"proc/meminfo": f"MemTotal: 9 kB\nMemAvailable: {8 * GB // 1024} kB\n", **files}
    for name, text in everything.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return tmp_path


# --- What the system says -------------------------------------------------------------------------


def test_without_control_groups_the_machine_counts(tmp_path: Path) -> None:
    assert memory.available_bytes(system(tmp_path, {})) == 8 * GB


def test_control_groups_of_version_2_count_up_to_the_top(tmp_path: Path) -> None:
    root = system(
        tmp_path,
        {
            "proc/self/cgroup": "0::/user/job\n",
            "sys/fs/cgroup/user/job/memory.max": "max\n",
            "sys/fs/cgroup/user/job/memory.current": "100\n",
            "sys/fs/cgroup/user/memory.max": f"{3 * GB}\n",
            "sys/fs/cgroup/user/memory.current": f"{2 * GB}\n",
            "sys/fs/cgroup/user/memory.stat": f"anon 5\ninactive_file {GB // 2}\n",
        },
    )
    # 3 GB limit - 2 GB used + 0.5 GB of cache that the kernel gives back.
    assert memory.available_bytes(root) == 3 * GB // 2


def test_control_groups_of_version_1(tmp_path: Path) -> None:
    root = system(
        tmp_path,
        {
            "proc/self/cgroup": "5:cpu:/x\n4:memory,hugetlb:/docker/1a\n",
            "sys/fs/cgroup/memory/memory.limit_in_bytes": f"{2 * GB}",
            "sys/fs/cgroup/memory/memory.usage_in_bytes": f"{GB // 2}",
            "sys/fs/cgroup/memory/memory.stat": "inactive_file 7\ntotal_inactive_file 100\n",
        },
    )
    assert memory.available_bytes(root) == 2 * GB - GB // 2 + 100


def test_no_limit_in_version_1_is_a_huge_number(tmp_path: Path) -> None:
    root = system(
        tmp_path,
        {
            "proc/self/cgroup": "4:memory:/\n",
            "sys/fs/cgroup/memory/memory.limit_in_bytes": "9223372036854771712",
            "sys/fs/cgroup/memory/memory.usage_in_bytes": "100",
        },
    )
    assert memory.available_bytes(root) == 8 * GB


def test_a_group_over_its_limit_has_no_room_rather_than_a_debt(tmp_path: Path) -> None:
    root = system(
        tmp_path,
        {
            "proc/self/cgroup": "0::/\n",
            "sys/fs/cgroup/memory.max": "100",
            "sys/fs/cgroup/memory.current": "150",
        },
    )
    assert memory.available_bytes(root) == 0


@pytest.mark.parametrize("text", ["", "nonsense", "0::", "::::\n\n0"])
def test_an_unreadable_system_still_gives_a_number(tmp_path: Path, text: str) -> None:
    (tmp_path / "proc/self").mkdir(parents=True)
    (tmp_path / "proc/self/cgroup").write_text(text)
    assert memory.available_bytes(tmp_path) > 0


def test_the_address_space_limit_of_batch_systems_counts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    resource = pytest.importorskip("resource")
    monkeypatch.setattr(resource, "getrlimit", lambda _: (GB, GB))
    root = system(tmp_path, {"proc/self/statm": "1000 1 1"})
    page = memory.os.sysconf("SC_PAGE_SIZE")
    assert memory.available_bytes(root) == GB - 1000 * page


# --- Sizes ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "n_bytes"),
    [
        ("400MB", 400 * 10**6),
        ("400mb", 400 * 10**6),
        (" 2 GiB ", 2 * 2**30),
        ("1.5kB", 1500),
        ("0.5 TiB", 2**39),
        ("7", 7),
        ("7B", 7),
        ("9007199254740993", 9007199254740993),
    ],
)
def test_sizes_as_people_write_them(text: str, n_bytes: int) -> None:
    assert memory.parse_bytes(text) == n_bytes


@pytest.mark.parametrize("text", ["", "MB", "-3GB", "0", "4 XB", "1e9", "3 GB 2", "nan", "50%"])
def test_what_is_no_size_is_named(text: str) -> None:
    with pytest.raises(InputError, match="is not an amount of memory; write a positive number"):
        memory.parse_bytes(text)


@given(st.integers(0, 10**15))
def test_printed_sizes_read_back_within_their_digits(n_bytes: int) -> None:
    text = memory.format_bytes(n_bytes)
    assert len(text) <= 8
    # One decimal of a number of at least 1: half a unit of 0.1.
    assert n_bytes == 0 or abs(memory.parse_bytes(text) - n_bytes) <= 0.05 * n_bytes + 1


def test_sizes_do_not_print_as_a_thousand_of_a_unit() -> None:
    assert memory.format_bytes(999_960) == "1.0 MB"


# --- Limits ---------------------------------------------------------------------------------------


def test_the_default_limit_is_four_fifths_of_what_is_there(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(memory.VARIABLE, raising=False)
    monkeypatch.setattr(memory, "available_bytes", lambda: 10 * GB)
    assert memory.memory_limit() == 8 * GB
    memory.check_memory(8 * GB, "It", "No.")
    with pytest.raises(MemoryLimitError, match=r"80% of the 10\.0 GB available; set NOVUM_MEM"):
        memory.check_memory(8 * GB + 1, "It", "No.")


def test_the_message_has_need_limit_and_remedy() -> None:
    with pytest.raises(
        MemoryLimitError,
        match=r"^The Gram matrix needs 5\.0 GB of memory, more than the limit of 400\.0 MB "
        r"\(as given\)\. Use fewer rows\.$",
    ):
        memory.check_memory(5 * GB, "The Gram matrix", "Use fewer rows.", limit="400MB")


def test_the_limit_itself_is_allowed() -> None:
    memory.check_memory(1000, "It", "No.", limit=1000)
    with pytest.raises(MemoryLimitError):
        memory.check_memory(1001, "It", "No.", limit=1000)


def test_the_environment_sets_the_limit_also_for_small_work(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv(memory.VARIABLE, "1kB")
    with pytest.raises(MemoryLimitError, match="set by NOVUM_MEMORY_LIMIT=1kB"):
        memory.check_memory(1001, "It", "No.")
    memory.check_memory(1001, "It", "No.", limit="2kB")


def test_small_work_passes_without_looking(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(memory.VARIABLE, raising=False)
    monkeypatch.setattr(memory, "available_bytes", lambda: pytest.fail("looked"))
    memory.check_memory(memory.UNCHECKED_BYTES, "It", "No.")


def test_a_share_of_what_is_available(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memory, "available_bytes", lambda: GB)
    assert memory.memory_limit("50%") == GB // 2


@pytest.mark.parametrize("limit", [0, -1, "0%", "101%", "much"])
def test_impossible_limits_are_refused(limit: int | str) -> None:
    with pytest.raises(InputError, match=r"positive number"):
        memory.memory_limit(limit)


def test_a_wrong_variable_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(memory.VARIABLE, "lots")
    with pytest.raises(InputError, match=r"variable NOVUM_MEMORY_LIMIT is wrong: 'lots' is not"):
        memory.memory_limit()


def test_needs_beyond_64_bits_do_not_wrap() -> None:
    with pytest.raises(MemoryLimitError, match="PB"):
        memory.check_memory(8 * 10**20, "The table", "No.", limit="1TB")
