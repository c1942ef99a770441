"""How much memory there is, and refusing work that needs more before it starts.

    available = min(free memory of the machine, room in every enclosing control group,
                    room under the process's address-space limit)
    limit     = stated limit, else `NOVUM_MEMORY_LIMIT`, else 80 % of available

A container's limit is what its control groups (version 1 or 2) say, not what the machine has.
Pages of the file cache that the kernel would give back count as free, as in `MemAvailable`.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path

from novum.core.errors import InputError, MemoryLimitError

VARIABLE = "NOVUM_MEMORY_LIMIT"
SHARE = 0.8
# Smaller allocations are not worth reading /proc for, unless a limit was stated.
UNCHECKED_BYTES = 64 * 10**6
# Assumed where the system tells nothing.
FALLBACK_BYTES = 2 * 10**9

_UNITS = {
    "": 1,
    "b": 1,
    **{f"{letter}b": 1000**power for power, letter in enumerate("kmgtp", 1)},
    **{f"{letter}ib": 1024**power for power, letter in enumerate("kmgtp", 1)},
}
_SIZE = re.compile(r"\s*([0-9]+(?:\.[0-9]+)?)\s*([a-z]*|%)\s*", re.IGNORECASE)


def available_bytes(root: str | Path = "/") -> int:
    """Bytes this process can still allocate without swapping or being killed.

    Parameters
    ----------
    root : path, default="/"
        Where `proc` and `sys` are mounted.

    Examples
    --------
    >>> available_bytes() > 0
    True
    """
    root = Path(root)
    rooms = [_machine_room(root), *_control_group_rooms(root), *_address_space_room(root)]
    return max(0, min(rooms))


def memory_limit(limit: int | str | None = None) -> int:
    """The limit in force, in bytes.

    Parameters
    ----------
    limit : int or str, optional
        Bytes, or text such as `"400MB"`, `"2GiB"`, `"50%"` (of what is available). Default: the
        environment variable `NOVUM_MEMORY_LIMIT`, else 80 % of `available_bytes()`.

    Examples
    --------
    >>> memory_limit("400MB")
    400000000
    """
    return _stated_limit(limit)[0]


def is_stated(limit: int | str | None) -> bool:
    """Whether someone said how much memory may be used, by `limit` or `NOVUM_MEMORY_LIMIT`."""
    return limit is not None or bool(os.environ.get(VARIABLE))


def check_memory(needed_bytes: int, what: str, remedy: str, limit: int | str | None = None) -> None:
    """Raise `MemoryLimitError` if a piece of work needs more than the limit.

    Parameters
    ----------
    needed_bytes : int
        A Python integer, so that the product of large shapes cannot wrap around.
    what : str
        The work, as the subject of a sentence: "The kernel matrix of 200,000 rows".
    remedy : str
        What to do instead, as a sentence.
    limit : int or str, optional
        See `memory_limit`. Without a stated limit, up to 64 MB pass unchecked.

    Examples
    --------
    >>> try:
    ...     check_memory(10**9, "The distance matrix", "Use a k-d tree.", limit="400MB")
    ... except MemoryLimitError as error:
    ...     print(str(error)[:71])
    The distance matrix needs 1.0 GB of memory, more than the limit of 400.
    """
    if needed_bytes <= UNCHECKED_BYTES and not is_stated(limit):
        return
    allowed, origin = _stated_limit(limit)
    if needed_bytes > allowed:
        raise MemoryLimitError(
            f"{what} needs {format_bytes(needed_bytes)} of memory, more than the limit of "
            f"{format_bytes(allowed)} ({origin}). {remedy}"
        )


def format_bytes(n_bytes: int) -> str:
    """A size for people, in decimal units.

    Examples
    --------
    >>> [format_bytes(n) for n in (999, 1_500_000, 2 * 10**9, 10**16)]
    ['999 B', '1.5 MB', '2.0 GB', '10.0 PB']
    """
    if n_bytes < 1000:
        return f"{n_bytes} B"
    power = 1
    # 999.95 would be printed as 1000.0.
    while n_bytes / 1000**power >= 999.95 and power < 5:
        power += 1
    return f"{n_bytes / 1000**power:.1f} {('kB', 'MB', 'GB', 'TB', 'PB')[power - 1]}"


def parse_bytes(text: str) -> int:
    """Bytes of a text such as `"400MB"` (decimal), `"2GiB"` (binary) or `"1000000"`.

    Examples
    --------
    >>> parse_bytes("1.5 GiB")
    1610612736
    """
    match = _SIZE.fullmatch(text)
    factor = _UNITS.get(match[2].lower()) if match else None
    if match is None or factor is None or float(match[1]) <= 0:
        raise InputError(
            f"{text!r} is not an amount of memory; write a positive number with a unit, "
            "such as '400MB', '2GiB' or '50%'."
        )
    whole = re.fullmatch(r"[0-9]+", match[1])
    return int(match[1]) * factor if whole else round(float(match[1]) * factor)


def _stated_limit(limit: int | str | None) -> tuple[int, str]:
    """The limit in bytes and where it comes from."""
    variable = os.environ.get(VARIABLE)
    if limit is not None:
        return _amount(limit), "as given"
    if variable:
        try:
            return _amount(variable), f"set by {VARIABLE}={variable}"
        except InputError as error:
            raise InputError(f"The environment variable {VARIABLE} is wrong: {error}") from None
    available = available_bytes()
    origin = f"{SHARE:.0%} of the {format_bytes(available)} available; set {VARIABLE} to change it"
    return int(SHARE * available), origin


def _amount(limit: int | str) -> int:
    if isinstance(limit, str):
        if limit.strip().endswith("%"):
            percentage = _SIZE.fullmatch(limit)
            if percentage and 0 < float(percentage[1]) <= 100:
                return int(float(percentage[1]) / 100 * available_bytes())
        return parse_bytes(limit)
    if limit <= 0:
        raise InputError(f"A memory limit is a positive number of bytes, got {limit!r}.")
    return int(limit)


# --- What the system says -------------------------------------------------------------------------


def _machine_room(root: Path) -> int:
    match = re.search(r"^MemAvailable:\s+(\d+) kB", _text(root / "proc/meminfo"), re.MULTILINE)
    if match:
        return int(match[1]) * 1024
    try:
        page = os.sysconf("SC_PAGE_SIZE")
        if "SC_AVPHYS_PAGES" in os.sysconf_names:
            return page * os.sysconf("SC_AVPHYS_PAGES")
        # Without a count of free pages, half of the machine is a guess on the safe side.
        return page * os.sysconf("SC_PHYS_PAGES") // 2
    except (AttributeError, ValueError, OSError):
        return FALLBACK_BYTES


def _control_group_rooms(root: Path) -> Iterator[int]:
    """Room under the limit of each control group this process is in, up to the top."""
    for line in _text(root / "proc/self/cgroup").splitlines():
        _, controllers, path = (*line.split(":", 2), "", "")[:3]
        if not controllers:
            mounts = [root / "sys/fs/cgroup", root / "sys/fs/cgroup/unified"]
            files = ("memory.max", "memory.current", "inactive_file")
        elif "memory" in controllers.split(","):
            mounts = [root / "sys/fs/cgroup/memory"]
            files = ("memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file")
        else:
            continue
        inner = Path(path.strip().lstrip("/"))
        for mount in mounts:
            for group in (inner, *inner.parents) if inner.parts else (inner,):
                yield from _room_of(mount / group, *files)


def _room_of(group: Path, limit_file: str, usage_file: str, cache_field: str) -> Iterator[int]:
    limit, usage = _text(group / limit_file).strip(), _text(group / usage_file).strip()
    # "max" (version 2) is no limit; version 1 says the same by a number beyond any memory.
    if not limit.isdigit() or not usage.isdigit() or int(limit) >= 2**60:
        return
    cache = re.search(rf"^{cache_field} (\d+)", _text(group / "memory.stat"), re.MULTILINE)
    reclaimable = min(int(cache[1]), int(usage)) if cache else 0
    yield int(limit) - int(usage) + reclaimable


def _address_space_room(root: Path) -> Iterator[int]:
    """Room under `ulimit -v`, which batch systems set."""
    try:
        import resource

        limit, _ = resource.getrlimit(resource.RLIMIT_AS)
    except (ImportError, ValueError, OSError):
        return
    pages = _text(root / "proc/self/statm").split()
    if limit != resource.RLIM_INFINITY and pages:
        yield limit - int(pages[0]) * os.sysconf("SC_PAGE_SIZE")


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""
