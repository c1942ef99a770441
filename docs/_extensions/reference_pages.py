"""Pages of the reference, written from the doors of the packages and never by hand.

A door is an `__init__.pyi` whose `__all__` lists the public names. Every name of a package that
people start from has a page of its own; packages for those who extend Novum have one page with all
names. A name that two doors offer is described at the one nearer to the root.
"""

from __future__ import annotations

import ast
import enum
import importlib
import inspect
import types
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path
from typing import Any

SOURCES = Path(__file__).resolve().parents[2] / "src"
# Packages on one page each: their names are for those who write learners or views.
ON_ONE_PAGE = ("novum.core.", "novum.numerics", "novum.display", "novum.graphical.learning")
# Packages that list their names in `__init__.py` itself.
PLAIN_DOORS = ("novum.data.scaling", "novum.data.filling")


@dataclass(frozen=True)
class PublicName:
    """One public name, where it is offered, and the page that describes it."""

    package: str
    name: str

    @property
    def path(self) -> str:
        return f"{self.package}.{self.name}"

    @cached_property
    def value(self) -> Any:
        return getattr(importlib.import_module(self.package), self.name)

    @property
    def kind(self) -> str:
        if inspect.isclass(self.value):
            return "class"
        aliases = types.UnionType | types.GenericAlias
        if isinstance(self.value, aliases) or not callable(self.value):
            return "data"
        return "function"

    @property
    def summary(self) -> str:
        if self.kind == "data":
            return f"`{type(self.value).__name__}`"
        text = inspect.getdoc(self.value) or ""
        return text.partition("\n\n")[0].replace("\n", " ").strip()


@cache
def packages() -> list[str]:
    """Every package with a door, those nearer to the root first."""
    doors = {path.parent for path in (SOURCES / "novum").rglob("__init__.pyi")}
    names = {".".join(folder.relative_to(SOURCES).parts) for folder in doors}
    return sorted(names.union(PLAIN_DOORS), key=lambda name: (name.count("."), name))


@cache
def public_names(package: str) -> list[PublicName]:
    door = SOURCES / Path(*package.split(".")) / "__init__.pyi"
    if not door.exists():
        return [PublicName(package, name) for name in importlib.import_module(package).__all__]
    assigned = [node for node in ast.parse(door.read_text()).body if isinstance(node, ast.Assign)]
    (names,) = (ast.literal_eval(node.value) for node in assigned)
    return [PublicName(package, name) for name in names if name != "lazy_door"]


def homes() -> dict[str, PublicName]:
    """Full path of every public name to the name that describes it."""
    seen: list[PublicName] = []
    result = {}
    for package in packages():
        for public in public_names(package):
            if package == "novum" and public.name == "run":
                result[public.path] = PublicName("novum.apps", "run")
                continue
            same = [
                other for other in seen if other.name == public.name and other.value is public.value
            ]
            home = same[0] if same and public.kind != "data" else public
            result[public.path] = home
            if home is public:
                seen.append(public)
    return result


def on_one_page(package: str) -> bool:
    return package == "novum" or package.startswith(ON_ONE_PAGE)


def page_of(public: PublicName) -> str:
    if on_one_page(public.package):
        return public.package
    # `Trace` and `trace` would be one file where capitals do not count.
    others = {other.name.lower(): other.name for other in reversed(public_names(public.package))}
    alone = others[public.name.lower()] == public.name
    return f"{public.package}.{public.name}" + ("" if alone else "_function")


def novum_members(owner: type) -> Iterator[tuple[str, str]]:
    """Public members that a class of Novum defines, with the directive that describes each."""
    names = {name for base in owner.__mro__ for name in vars(base) if not name.startswith("_")}
    if issubclass(owner, enum.Enum):
        names -= set(owner.__members__) | {"name", "value"}
    for name in sorted(names):
        base = next(base for base in owner.__mro__ if name in vars(base))
        member = vars(base)[name]
        if not base.__module__.startswith("novum") or type(member).__name__ == "RequestMethod":
            continue
        if isinstance(member, property | cached_property) or type(member).__name__ in (
            "cached_property",
            "Fitted",
        ):
            yield name, "autoproperty" if isinstance(member, property) else "autoattribute"
        elif inspect.isroutine(member) or isinstance(member, classmethod | staticmethod):
            yield name, "automethod"


def borrowed_members(owner: type) -> list[str]:
    """Methods of scikit-learn's contract that a learner has from there."""
    result = []
    for name in dir(owner):
        base = next((base for base in owner.__mro__ if name in vars(base)), object)
        member = vars(base).get(name)
        from_there = base.__module__.startswith("sklearn") and inspect.isroutine(member)
        if not name.startswith("_") and (from_there or type(member).__name__ == "RequestMethod"):
            result.append(name)
    return result


def entry(public: PublicName, title: bool) -> str:
    """The description of one name as reStructuredText for autodoc."""
    lines = [f"{public.name}\n{'=' * len(public.name)}\n"] if title else []
    lines.append(f".. currentmodule:: {public.package}\n")
    if public.kind == "data":
        lines += [f".. py:data:: {public.name}", f"   :value: {public.value!r}"[:200], ""]
        return "\n".join(lines)
    if public.kind == "function":
        lines.append(f".. autofunction:: {public.name}\n")
    else:
        lines.append(f".. autoclass:: {public.name}\n")
        if issubclass(public.value, enum.Enum):
            values = ", ".join(f"`{m.name}`" for m in public.value)
            lines.append(f"   Members: {values}.\n")
        members = list(novum_members(public.value))
        for directive, heading in (("property", "Properties"), ("method", "Methods")):
            chosen = [
                (name, auto)
                for name, auto in members
                if (auto == "automethod") == (directive == "method")
            ]
            if chosen:
                lines.append(f"   .. rubric:: {heading}\n")
            lines += [f"   .. {auto}:: {name}\n" for name, auto in chosen]
        borrowed = borrowed_members(public.value)
        if borrowed:
            names = ", ".join(f"`{name}`" for name in borrowed)
            lines.append(f"   From scikit-learn's contract: {names}.\n")
    if title:
        lines.append(f".. minigallery:: {public.path}\n   :add-heading: Examples that use it\n")
    return "\n".join(lines)


def table(names: list[PublicName], home: dict[str, PublicName]) -> str:
    lines = [".. list-table::", "   :class: names", "   :widths: 30 70", ""]
    for public in names:
        target = home[public.path]
        lines += [
            f"   * - :py:obj:`{public.name} <{target.path}>`",
            f"     - {one_line(target.summary)}",
        ]
    return "\n".join(lines) + "\n"


def one_line(summary: str) -> str:
    from reference_text import escaped

    return escaped(summary) or "\u00a0"


def package_page(package: str, home: dict[str, PublicName]) -> str:
    names = sorted(public_names(package), key=lambda public: public.name.lower())
    module = importlib.import_module(package)
    heading = (module.__doc__ or "").partition("\n")[0].strip()
    lines = [
        f"{package}\n{'=' * len(package)}\n",
        f".. py:module:: {package}\n",
        one_line(heading) + "\n",
    ]
    by_kind = {"class": "Classes", "function": "Functions", "data": "Values"}
    for kind, title in by_kind.items():
        chosen = [public for public in names if public.kind == kind]
        if chosen:
            lines.append(f"{title}\n{'-' * len(title)}\n")
            lines.append(table(chosen, home))
    own = [public for public in names if home[public.path] == public]
    if on_one_page(package):
        lines.append("In full\n-------\n")
        lines += [entry(public, title=False) for public in own]
    else:
        lines.append(".. toctree::\n   :hidden:\n")
        lines += [f"   {page_of(public)}" for public in own]
        lines.append("")
    return "\n".join(lines)


def index_page() -> str:
    lines = [
        "Reference\n=========\n",
        "Every public name, from the docstrings. `from PACKAGE import NAME` is the way to each of",
        "them; what is not listed may change without notice.\n",
    ]
    user = [p for p in packages() if not on_one_page(p)]
    groups = {
        "For users": user,
        "For those who extend it": [p for p in packages() if p not in user],
    }
    for title, members in groups.items():
        lines.append(f"{title}\n{'-' * len(title)}\n")
        lines += [".. list-table::", "   :class: names", "   :widths: 30 70", ""]
        for package in members:
            doc = importlib.import_module(package).__doc__ or ""
            lines += [f"   * - :doc:`{package}`", f"     - {one_line(doc.partition(chr(10))[0])}"]
        lines.append("")
    lines.append(".. toctree::\n   :hidden:\n   :maxdepth: 1\n")
    lines += [f"   {package}" for package in packages()]
    return "\n".join(lines) + "\n"


def pages() -> dict[str, str]:
    """File names without ending, and texts, of the whole reference."""
    home = homes()
    result = {"index": index_page()}
    for package in packages():
        result[package] = package_page(package, home)
    for public in set(home.values()):
        if not on_one_page(public.package):
            result[page_of(public)] = entry(public, title=True)
    return result


def write(folder: Path) -> None:
    """Writes what has changed, so that only that is built again, and removes what is gone."""
    folder.mkdir(exist_ok=True)
    texts = {folder / f"{name}.rst": text for name, text in pages().items()}
    for old in set(folder.glob("*.rst")) - set(texts):
        old.unlink()
    for path, text in texts.items():
        if not path.exists() or path.read_text() != text:
            path.write_text(text)


def add_sidebar(
    app: Any, pagename: str, _template: str, context: dict[str, Any], _doctree: Any
) -> None:
    """What the sidebar of a page of the reference lists: packages, and the names of one."""
    if not pagename.startswith("reference/"):
        return
    page = pagename.removeprefix("reference/")
    listed = []
    for package in packages():
        here = page == package or (page.startswith(package + ".") and page not in packages())
        names = []
        if here and not on_one_page(package):
            own = sorted(public_names(package), key=lambda public: public.name.lower())
            home = app.reference_homes
            names = [
                (n.name, f"reference/{page_of(home[n.path])}") for n in own if home[n.path] == n
            ]
        listed.append((package, names))
    context["reference_of_page"] = listed


def setup(app: Any) -> dict[str, bool]:
    app.reference_homes = homes()
    app.connect("builder-inited", lambda app: write(Path(app.srcdir) / "reference"))
    app.connect("html-page-context", add_sidebar)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
