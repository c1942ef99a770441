"""UAI, the format of the inference competitions: numbers only.

    BAYES                 or MARKOV, for factors that are no conditional tables
    3                     variables
    2 2 3                 their numbers of states
    3                     tables
    1 0                   scope of each: its size and the variables, in BAYES the child last
    2 0 1
    2 1 2
    2  0.4 0.6            cells of each: their number, then in C order of the scope
    ...

There are no names: variables are read as x0, x1, ... with the states 0, 1, ... `#` begins a
comment.
"""

from __future__ import annotations

import math
import re
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

import numpy as np

from novum.core.errors import InputError
from novum.core.tables import Level
from novum.distributions import StateAxis
from novum.graphical.formats.draft import MAX_PARENTS, Draft, check_full_tables, cut, file_error
from novum.graphical.formats.files import file_bytes, file_text, write_text
from novum.graphical.formats.scanning import numbers_text
from novum.graphical.models.conditional import Conditional, NetworkWarning, Tabular
from novum.numerics import Floats

if TYPE_CHECKING:
    from novum.graphical.factor import Factor
    from novum.graphical.models.bayesian_network import BayesianNetwork
    from novum.graphical.models.factor_graph import FactorGraph

_COMMENT = re.compile(r"#[^\n]*")
_WORD = re.compile(r"\S+")
_WHOLE = re.compile(r"[0-9]{1,9}")
_NUMERIC = re.compile(r"[0-9eE+.\s-]*")


def read(data: bytes, source: str) -> list[Conditional]:
    """The distributions of a BAYES file."""
    kind, axes, scopes, tables = _parsed(data, source)
    if kind != "BAYES":
        raise file_error(
            source,
            "this is a MARKOV file, a product of factors and no network. Read it with "
            "FactorGraph.read(path).",
            1,
        )
    places: dict[int, int] = {}
    for number, scope in enumerate(scopes):
        if not scope or scope[-1] in places:
            child = f"variable {scope[-1]} is the last of two scopes" if scope else "it is empty"
            raise file_error(
                source,
                f"scope {number} belongs to no variable of its own: {child}. In BAYES files every "
                "variable is the last of one scope.",
            )
        places[scope[-1]] = number
    for variable in range(len(axes)):
        if variable not in places:
            raise file_error(source, f"variable {variable} has no table: it is last in no scope.")
    order = [places[variable] for variable in range(len(axes))]
    cells = np.concatenate([tables[place] for place in order]) if order else np.empty(0)
    return Draft(source, axes, [scopes[place][:-1] for place in order], cells).conditionals()


def read_factors(path: str | Path) -> list[Factor]:
    """The factors of a MARKOV or BAYES file; `FactorGraph.read(path)` is their model.

    A variable without a factor gets one that is 1 everywhere, so that none is lost.
    """
    from novum.graphical.factor import Factor

    path = Path(path)
    _, axes, scopes, tables = _parsed(file_bytes(path), path.name)
    made = []
    for number, (scope, table) in enumerate(zip(scopes, tables, strict=True)):
        shape = [len(axes[v].states) for v in scope]
        try:
            made.append(Factor(table.reshape(shape), [axes[v] for v in scope]))
        except InputError as error:
            raise file_error(path.name, f"table {number}: {error}") from None
    alone = set(range(len(axes))).difference(*scopes)
    made += [Factor(np.ones(len(axes[v].states)), [axes[v]]) for v in sorted(alone)]
    return made


def written(network: BayesianNetwork, source: str) -> str:
    """A network as BAYES; a warning says that names are lost."""
    check_full_tables(network, source)
    scopes = [
        [*(network.places[parent.name] for parent in item.parents), place]
        for place, item in enumerate(network.conditionals)
    ]
    if _has_names(network.variables) or not all(
        isinstance(item, Tabular) for item in network.conditionals
    ):
        _warn_of_names(
            f"{source} holds no names and tables in full: the nodes",
            " Use .network, .bif or .xmlbif to keep them.",
        )
    tables = [item.table for item in network.conditionals]
    return _text("BAYES", network.variables, scopes, tables)


def write_factors(graph: FactorGraph, path: str | Path) -> None:
    """A factor graph as a MARKOV file, its variables in their order.

    A warning says so where names or states are lost: files of factors have none. Auxiliary
    variables of noisy ors become variables behind the others.
    """
    path = Path(path)
    axes = (*_numbered(graph), *graph.auxiliary)
    if _has_names(axes):
        _warn_of_names(f"{path.name} holds no names: the variables", "")
    numbers = {axis.name: number for number, axis in enumerate(axes)}
    scopes = [[numbers[name] for name in factor.names] for factor in graph.factors]
    tables = [factor.values for factor in graph.factors]
    write_text(_text("MARKOV", axes, scopes, tables), path)


def read_evidence(path: str | Path, model: BayesianNetwork | FactorGraph) -> dict[str, Level]:
    """What an `.evid` file observes: a count, then pairs of variable and state, all as numbers.

    Older files begin with the number of samples; one sample is read.
    """
    path = Path(path)
    words = _Words(file_text(file_bytes(path), path.name), path.name)
    n = words.left
    n_observed = words.count("the number of observed variables")
    if n != 1 + 2 * n_observed and n_observed == 1:
        n_observed = words.count("the number of observed variables")
    if words.left != 2 * n_observed:
        words.wrong(
            f"{words.left} numbers for {n_observed} observations, {2 * n_observed} are needed"
        )
    given: dict[str, Level] = {}
    axes = _numbered(model)
    for _ in range(n_observed):
        axis = axes[words.below(len(axes), "a variable")]
        given[axis.name] = axis.states[words.below(len(axis.states), f"a state of {axis.name!r}")]
    return given


# --- Parts ----------------------------------------------------------------------------------------


def _cards(axes: Sequence[StateAxis]) -> list[int]:
    return [len(axis.states) for axis in axes]


def _axis(number: int, card: int) -> StateAxis:
    return StateAxis(f"x{number}", tuple(range(card)))


def _numbered(model: BayesianNetwork | FactorGraph) -> tuple[StateAxis, ...]:
    """The variables in the order of their numbers.

    That is their own order, unless they are called x0, x1, ...: a factor graph that was read lists
    them as its factors do.
    """
    by_name = {axis.name: axis for axis in model.variables}
    names = [f"x{number}" for number in range(len(by_name))]
    return tuple(by_name[n] for n in names) if by_name.keys() == {*names} else model.variables


def _has_names(axes: Sequence[StateAxis]) -> bool:
    """Whether variables have other names and states than those they are read with."""
    return tuple(axes) != tuple(map(_axis, range(len(axes)), _cards(axes)))


def _warn_of_names(what: str, advice: str) -> None:
    warnings.warn(
        f"{what} will be read as x0, x1, ... with the states 0, 1, ... in the same order.{advice}",
        NetworkWarning,
        stacklevel=5,
    )


def _text(
    kind: str, axes: Sequence[StateAxis], scopes: Sequence[Sequence[int]], tables: Sequence[Floats]
) -> str:
    lines = [kind, str(len(axes)), " ".join(map(str, _cards(axes))), str(len(scopes))]
    lines += [" ".join(map(str, [len(scope), *scope])) for scope in scopes]
    for table in tables:
        k = table.shape[-1] if table.ndim else 1
        numbers = numbers_text(table)
        lines += ["", str(len(numbers))]
        lines += [" ".join(numbers[at : at + k]) for at in range(0, len(numbers), k)]
    return "\n".join(lines) + "\n"


def _parsed(data: bytes, source: str) -> tuple[str, list[StateAxis], list[list[int]], list[Floats]]:
    words = _Words(file_text(data, source), source)
    kind = words.next("BAYES or MARKOV").upper()
    if kind not in ("BAYES", "MARKOV"):
        words.wrong(f"expected BAYES or MARKOV, found {cut(kind)}", back=1)
    n = words.length("the number of variables")
    cards = [words.length("a number of states") for _ in range(n)]
    # Every state takes a cell of its variable's table, so that no file makes more than it holds.
    if sum(cards) > words.left or 0 in cards:
        words.wrong(
            f"the variables have {sum(cards)} states in all, the least {min(cards)}; every "
            "variable needs a state, and every state cells, which the file has not"
        )
    axes = [_axis(v, card) for v, card in enumerate(cards)]
    n_tables = words.length("the number of tables")
    scopes = [_scope(words, n) for _ in range(n_tables)]
    tables = [words.cells([len(axes[v].states) for v in scope]) for scope in scopes]
    if words.left:
        words.wrong(f"expected the end of the file, found {cut(words.next('nothing'))}", back=1)
    return kind, axes, scopes, tables


def _scope(words: _Words, n: int) -> list[int]:
    size = words.length("the size of a scope")
    scope = [words.below(n, "a variable of a scope") for _ in range(size)]
    if len(set(scope)) < size:
        words.wrong("a variable stands twice in a scope", back=1)
    if size > MAX_PARENTS + 1:
        words.wrong(f"a scope has {size} variables; {MAX_PARENTS + 1} is the limit", back=1)
    return scope


class _Words:
    """Words of a text one after the other."""

    def __init__(self, text: str, source: str) -> None:
        self.text = _COMMENT.sub("", text)
        self.source = source
        self.words = self.text.split()
        self.at = 0

    @property
    def left(self) -> int:
        return len(self.words) - self.at

    def next(self, what: str) -> str:
        if not self.left:
            self.wrong(f"expected {what}, found the end of the file")
        self.at += 1
        return self.words[self.at - 1]

    def count(self, what: str) -> int:
        word = self.next(what)
        if not _WHOLE.fullmatch(word):
            self.wrong(f"expected {what}, found {cut(word)}", back=1)
        return int(word)

    def below(self, limit: int, what: str) -> int:
        number = self.count(what)
        if number >= limit:
            self.wrong(f"{number} is not {what}: they are numbered from 0 to {limit - 1}", back=1)
        return number

    def length(self, what: str) -> int:
        """A count of things of which each takes a word that is still to come."""
        number = self.count(what)
        if number > self.left:
            self.wrong(f"{what} is {number}, but the file has only {self.left} more words", back=1)
        return number

    def cells(self, shape: Sequence[int]) -> Floats:
        """A table: the number of its cells and the cells."""
        expected, given = math.prod(shape), self.count("the number of cells of a table")
        if given != expected:
            self.wrong(f"a table of shape {tuple(shape)} has {expected} cells, not {given}", back=1)
        if expected > self.left:
            self.wrong(f"a table needs {expected} numbers, and {self.left} are left", back=1)
        words = self.words[self.at : self.at + expected]
        try:
            if not _NUMERIC.fullmatch(" ".join(words)):
                raise ValueError
            numbers = list(map(float, words))
        except ValueError:
            self._refuse_number(expected)
        self.at += expected
        return np.array(numbers)

    def _refuse_number(self, count: int) -> NoReturn:
        for _ in range(count):
            word = self.next("a number")
            try:
                if _NUMERIC.fullmatch(word):
                    float(word)
                    continue
            except ValueError:
                pass
            self.wrong(f"expected a number, found {cut(word)}", back=1)
        raise AssertionError

    def wrong(self, reason: str, back: int = 0) -> NoReturn:
        """Refuses the file at the current word, or at one before it."""
        line = column = None
        for number, match in enumerate(_WORD.finditer(self.text)):
            if number == self.at - back:
                line = self.text.count("\n", 0, match.start()) + 1
                column = match.start() - self.text.rfind("\n", 0, match.start())
                break
        else:
            line = self.text.count("\n") + 1
        raise file_error(self.source, reason + ".", line, column)
