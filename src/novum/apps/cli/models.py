"""`novum models`: the families that a run tries."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from novum.apps.cli.failures import guarded
from novum.apps.cli.options import Debug, Json

if TYPE_CHECKING:
    from novum.apps.job.families import Family, Role


@guarded
def models(
    as_json: Json = False,
    debug: Debug = False,
) -> None:
    """List the model families: what each takes, and the settings that are tried."""
    from novum.apps.cli.streams import output, say, table_of, write_json
    from novum.apps.job.families import FAMILIES

    del debug
    if as_json:
        write_json([_plain(row) for row in FAMILIES])
        return
    columns = ["name", "for", "missing cells", "columns", "settings tried"]
    out = output()
    rows = [line for family in FAMILIES for line in _lines(family)]
    out.print(table_of([(title, "left") for title in columns], rows))
    say(out, "Name some with novum run --models; a stack of the best is tried besides.")


def _lines(family: Family) -> list[list[str]]:
    missing = "as they are" if family.takes_missing else "filled before"
    kinds = "numbers and levels" if family.takes_kinds else "numbers alone"
    if family.most_columns is not None:
        kinds += f", at most {family.most_columns:,}"
    if family.fewest_columns:
        kinds += f", at least {family.fewest_columns}"
    lines: list[list[str]] = []
    roles = {
        "classes": family.classification,
        "levels": family.ordinal,
        "numbers": family.regression,
        "counts": family.counts,
    }
    for what, role in roles.items():
        if role is not None:
            name = family.name if not lines else ""
            title = role.title or family.title
            lines.append([name, f"{what}: {title}", missing, kinds, _settings(role)])
            missing = kinds = ""
    return lines


def _settings(role: Role) -> str:
    """Candidates in brief: each setting with the values it takes."""
    values: dict[str, list[str]] = {}
    for candidate in role.candidates:
        for name, value in candidate.items():
            shown = _value(value)
            if shown not in values.setdefault(name, []):
                values[name].append(shown)
    parts = [f"{name} {', '.join(shown)}" for name, shown in values.items()]
    return "; ".join(parts) or "its defaults"


def _value(value: Any) -> str:
    """A setting in words; a learner inside one by its own settings."""
    settings: Mapping[str, Any] | None = getattr(value, "settings", None)
    if settings is None:
        return str(value)
    return f"of {', '.join(f'{name} {inner}' for name, inner in settings.items())}"


def _plain(family: Family) -> dict[str, Any]:
    def role(given: Role | None) -> dict[str, Any] | None:
        if given is None:
            return None
        tried = [{name: _value(v) for name, v in one.items()} for one in given.candidates]
        return {"learner": given.learner, "candidates": tried}

    return {
        "name": family.name,
        "title": family.title,
        "classification": role(family.classification),
        "ordinal": role(family.ordinal),
        "regression": role(family.regression),
        "counts": role(family.counts),
        "takes_missing": family.takes_missing,
        "takes_kinds": family.takes_kinds,
        "most_columns": family.most_columns,
        "fewest_columns": family.fewest_columns,
    }
