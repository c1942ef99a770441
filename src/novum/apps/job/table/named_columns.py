"""The columns that a request names: they are there, and each has one role."""

from __future__ import annotations

import difflib
from collections.abc import Collection, Mapping, Sequence

from novum.apps.job.request import KINDS, Request
from novum.core.errors import InputError
from novum.core.text import printable


def suggestion(name: str, names: Sequence[str], used: Collection[str] = ()) -> str:
    """What to say about a name that is not there: the nearest names, else the first ones.

    Names that are used for something else already are not meant.

    Examples
    --------
    >>> suggestion("specis", ["width", "species"])
    "Did you mean 'species'?"
    >>> suggestion("xyz", ["width", "species"])
    "Its columns are 'width', 'species'."
    >>> suggestion("specie", ["width", "species"], used=["species"])
    "Its columns are 'width', 'species'."
    """
    lower = {known.lower(): known for known in reversed(names) if known not in used}
    near = difflib.get_close_matches(name.lower(), lower, n=3, cutoff=0.6)
    if near:
        return f"Did you mean {' or '.join(repr(printable(lower[key], 60)) for key in near)}?"
    shown = ", ".join(repr(printable(known, 60)) for known in names[:8])
    return f"Its columns are {shown}{f', ... ({len(names)} in all)' if len(names) > 8 else ''}."


def check_targets(targets: Sequence[str]) -> None:
    """Several targets are different columns."""
    twice = next((name for name in targets if targets.count(name) > 1), None)
    if twice is not None:
        raise InputError(f"--target names {printable(twice)!r} twice. Name each target once.")


def check_roles(roles: dict[str, str | None]) -> None:
    """No column has two roles."""
    seen: dict[str, str] = {}
    for role, name in roles.items():
        if name is None:
            continue
        if name in seen:
            raise InputError(
                f"Column {printable(name)!r} cannot be the {seen[name]} and the {role}. Name "
                f"another column with --{role}."
            )
        seen[name] = role


def check_declared(
    request: Request, roles: Mapping[str, str | None], names: Sequence[str], table: str
) -> None:
    """Columns that options speak of are there, once, and their kinds are some."""
    seen: dict[str, str] = {}
    listed = [("--kind", name) for name, _ in request.kind]
    listed += [("--levels", name) for name, _ in request.levels]
    if roles.get("id") is not None:
        listed.append(("--id", str(roles["id"])))
    for option, name in listed:
        shown = repr(printable(name))
        if name not in names:
            raise InputError(
                f"{option} names the column {shown}, which {printable(table)} does not have. "
                f"{suggestion(name, names)}"
            )
        ordered = {option, seen.get(name)} == {"--kind", "--levels"}
        if name in seen and not (ordered and dict(request.kind)[name] == "ordinal"):
            both = "twice" if option == seen[name] else f"too, as {seen[name]} does"
            raise InputError(f"{option} names the column {shown} {both}. Leave out one of them.")
        seen[name] = option
    for name, kind in request.kind:
        if kind not in KINDS:
            near = difflib.get_close_matches(kind, KINDS, n=1)
            raise InputError(
                f"--kind {printable(name, 60)}={printable(kind, 40)} is no kind. "
                + (f"Did you mean {near[0]}?" if near else f"Kinds are {', '.join(KINDS)}.")
            )
    for role, column in roles.items():
        said = dict(request.kind).get(str(column))
        if role not in ("id",) and said in ("id", "drop", "text"):
            raise InputError(
                f"--kind {printable(str(column), 60)}={said} does not go with the {role}. Leave "
                "out one of them."
            )
