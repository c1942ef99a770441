"""Structures by score: the best graph that a search finds, and what it can prove.

    maximize  sum over nodes i of  score(i, parents of i)   over acyclic graphs

Changing one edge changes one family, or two when it is turned, so a step costs what these cost
(`scores` keeps every family). Searches are values; they start at a graph and never return a worse
one. Where nothing is said, `GreedyEquivalence()` is followed by `Tabu()` and `Reinsertion()`.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from typing import Any, Literal

from novum.core.errors import InputError
from novum.core.learners import Certificate, Stopwatch, Verdict
from novum.core.runtime import SILENT, Progress, track
from novum.core.text import label_text, listed
from novum.distributions import StateAxis
from novum.graphical.learning import search_kernels as kernels
from novum.graphical.learning.coded_table import CodedTable, is_number, read_numbers, read_table
from novum.graphical.learning.constraints import (
    Constraints,
    Matrix,
    Rules,
    adjacency_of,
    parents_of,
)
from novum.graphical.learning.discretization import ByScore, learn_with_cuts
from novum.graphical.learning.parameters import TablePrior, fit_parameters
from novum.graphical.learning.scores import (
    Criterion,
    FamilyScores,
    StructurePrior,
    check_criterion,
    keeps_numbers,
)
from novum.graphical.structure.dag import Dag

GAIN = kernels.SMALLEST_GAIN


# --- The problem and its answer -------------------------------------------------------------------


@dataclass(eq=False)
class SearchProblem:
    """What a search is given, and where it leaves the best graph so far.

    Attributes
    ----------
    scores : FamilyScores
    rules : Rules
    adjacency : int8 array (child, parent)
        The start, then the best graph so far.
    value : float
        Its score.
    trace : list of float
        Scores of the graphs that were the best, in order.
    steps : int
        Changes that searches made.
    """

    scores: FamilyScores
    rules: Rules
    adjacency: Matrix
    progress: Progress = SILENT
    value: float = -math.inf
    trace: list[float] = field(default_factory=list)
    steps: int = 0
    details: dict[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.value = self.scores.total(parents_of(self.adjacency))
        self.trace.append(self.value)

    def step(self, adjacency: Matrix, value: float) -> bool:
        """Notes a change that was made; whether the graph is the best so far."""
        self.steps += 1
        self.progress.advance(note=f"score {value:.6g}, best {max(value, self.value):.6g}")
        if not value > self.value + GAIN:
            return False
        self.adjacency, self.value = adjacency.copy(), value
        self.trace.append(value)
        return True


class Search(ABC):
    """A way to look for a graph; a value."""

    verdict = Verdict.LOCAL

    @abstractmethod
    def run(self, problem: SearchProblem) -> None:
        """Looks from `problem.adjacency` on, and leaves better graphs there."""

    def check(self, rules: Rules) -> None:
        """Refuses constraints that the search cannot keep."""
        del rules

    def plainest(self, names: tuple[str, ...]) -> Matrix | None:
        """The plainest graph of the form that is looked for, where it is not any graph's."""
        del names
        return None

    def upper_bound(self, problem: SearchProblem) -> float | None:
        """A score that no graph exceeds, where the search proves one."""
        del problem
        return None


@dataclass(frozen=True, eq=False)
class LearnedStructure:
    """A graph, its score, and what is known about it.

    Attributes
    ----------
    dag : Dag
    score : float
    certificate : Certificate
        "proved" where no graph has a better score, "local" where no single change of an edge does.
    criterion : Criterion
    variables : tuple of StateAxis
    """

    dag: Dag
    score: float
    certificate: Certificate
    criterion: Criterion
    table: CodedTable = field(repr=False)

    @property
    def variables(self) -> tuple[StateAxis, ...]:
        return self.table.variables

    def network(self, prior: TablePrior | None = None) -> Any:
        """The graph with its tables, by `fit_parameters` from the same rows."""
        return fit_parameters(self.dag, self.table, prior)

    def __repr__(self) -> str:
        return f"{self.dag!r}\n{type(self.criterion).__name__} {self.score:.6g}; {self.sentence}"

    @property
    def sentence(self) -> str:
        """What the certificate says of the graph."""
        if self.certificate.verdict is Verdict.PROVED:
            return "proved best" + str(self.certificate.details.get("among") or "")
        if self.certificate.gap is not None:
            among = self.certificate.details.get("among") or ""
            return f"at most {self.certificate.gap:.4g} nats from the best{among}"
        if self.certificate.verdict is Verdict.STOPPED_EARLY:
            return "stopped early: the best so far"
        meaning = self.certificate.details.get("meaning")
        return str(meaning or "no single change of an edge improves it")


def learn_structure(
    table: Any,
    criterion: Criterion | None = None,
    search: Search | None = None,
    constraints: Constraints | None = None,
    *,
    sample_weight: Any = None,
    structure_prior: StructurePrior | None = None,
    start: Dag | None = None,
    numbers: Any = None,
    on_interrupt: Literal["raise", "keep"] = "raise",
    verbose: bool = False,
) -> LearnedStructure:
    """The graph that explains a table best, as far as a search finds it.

    Parameters
    ----------
    table : data frame, mapping of columns or array
        Every column is a node. Missing cells are expected under the network that is being learned
        (structural EM).
    criterion : Criterion
        `BIC()` by default.
    search : Search
        By default greedy search over classes of equivalent graphs, tabu search, and reinsertion
        of every node.
    constraints : Constraints, optional
    sample_weight : array of shape (n_rows,), optional
    structure_prior : StructurePrior, optional
    start : Dag, optional
        Where the search begins; the required edges alone by default.
    numbers : "normal" or a way to cut them, optional
        What columns of numbers become. By default intervals of equal frequency, "frequency" or
        `EqualFrequency(6)`; `MinimumDescription(target)` cuts where a target changes; "score" or
        `ByScore()` cuts anew while the graph is learned. "normal" keeps them as they are, each
        normal with a mean linear in its numeric parents given its discrete ones; discrete columns
        then have no numeric parents. With `BGe()` this is the default.
    on_interrupt : {"raise", "keep"}
        Whether Ctrl-C, or a `deadline`, gives up or returns the best graph so far.
    verbose : bool
        Shows progress with the current score on a terminal.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> rain = rng.random(500) < 0.3
    >>> wet = np.where(rng.random(500) < 0.9, rain, ~rain)
    >>> other = rng.random(500) < 0.5
    >>> learned = learn_structure({"rain": rain, "wet": wet, "other": other})
    >>> learned.dag.skeleton == {frozenset({"rain", "wet"})}
    True
    """
    if on_interrupt not in ("raise", "keep"):
        raise InputError(f"on_interrupt is 'raise' or 'keep', got {on_interrupt!r}.")
    rule = check_criterion(criterion)
    if isinstance(numbers, str) and numbers == "score":
        numbers = ByScore()
    has_numbers = not isinstance(table, CodedTable) or bool(table.numbers)
    if isinstance(numbers, ByScore) and has_numbers:
        raw = read_numbers(table, None, sample_weight)

        def learn(coded: CodedTable, first: Dag | None) -> LearnedStructure:
            return learn_structure(
                coded, rule, search, constraints, structure_prior=structure_prior, start=first,
                on_interrupt=on_interrupt, verbose=verbose,
            )  # fmt: skip

        return learn_with_cuts(numbers, raw, rule, learn, start)
    if keeps_numbers(numbers, rule):
        coded = read_numbers(table, None, sample_weight)
    else:
        coded = read_table(table, None, sample_weight, numbers)
    if coded.n_rows < 2 and coded.total < 2:
        raise InputError(
            "A structure is learned from what goes together in many rows, and the table has 1. "
            "Give at least 2, or build the network by hand: BayesianNetwork().add(...)."
        )
    rules = _checked_constraints(constraints).rules(coded.names).with_numbers(coded.is_numeric)
    chosen = _checked_search(search, rules, structure_prior)
    first = _first_graph(start, rules)
    if coded.has_missing:
        from novum.graphical.learning.structural_em import structural_em

        return structural_em(coded, rule, chosen, rules, structure_prior, first, on_interrupt)
    clock = Stopwatch()
    scores = FamilyScores(coded, rule, max_parents=rules.max_parents, prior=structure_prior)
    with track(_StructureSearch(verbose), "search") as progress:
        problem = SearchProblem(scores, rules, first, progress)
        verdict, stopped_by = chosen.verdict, None
        try:
            chosen.run(problem)
        except KeyboardInterrupt:
            if on_interrupt == "raise":
                raise
            verdict, stopped_by = Verdict.STOPPED_EARLY, "interrupt"
    graph = Dag(coded.names, parents_of(problem.adjacency))
    bound = chosen.upper_bound(problem)
    gap = None if bound is None else max(bound - problem.value, 0.0)
    if verdict is Verdict.PROVED and gap is not None and gap > GAIN:
        verdict, stopped_by = Verdict.STOPPED_EARLY, "room"
    certificate = Certificate(
        objective=f"{type(rule).__name__} of a graph, maximized",
        verdict=verdict,
        value=problem.value,
        gap=gap,
        iterations=problem.steps,
        trace=tuple(problem.trace),
        details={
            "search": repr(chosen),
            "families": int(scores.memory[2][0]),
            **({"stopped_by": stopped_by} if stopped_by else {}),
            **{key: value for key, value in problem.details.items() if key != "upper_bound"},
        },
        seconds=clock.seconds,
    )
    return LearnedStructure(graph, problem.value, certificate, rule, coded)


def table_notes(table: CodedTable) -> tuple[str, ...]:
    """What of a table says little to a network, in sentences.

    Examples
    --------
    >>> rows = {"id": [f"p{i}" for i in range(30)], "site": ["x"] * 30, "ill": [0, 1, 1] * 10}
    >>> for sentence in table_notes(read_table(rows)):
    ...     print(sentence[:60])
    'id' has a value of its own in each of 30 rows: it names row
    'site' has the same value in all rows: nothing depends on it
    """
    constant, naming, wide = [], [], []
    for axis, codes in zip(table.variables, table.codes, strict=True):
        if is_number(axis):
            continue
        known = codes[codes >= 0]
        used = len(set(known.tolist()))
        if used <= 1:
            constant.append(axis.name)
        elif used == len(known) and len(known) > 2:
            naming.append(axis.name)
        elif 2 * used > len(known) > 2:
            wide.append(axis.name)
    notes = []
    if naming:
        rows = f"{table.n_rows} rows: "
        rows += "it names" if len(naming) == 1 else "they name"
        one = len(naming) == 1
        notes.append(
            f"{listed(naming)} {'has a value of its' if one else 'have a value of their'} own in "
            f"each of {rows} rows and {'explains' if one else 'explain'} nothing. Leave "
            f"{'it' if one else 'them'} out."
        )
    if constant:
        notes.append(
            f"{listed(constant)} {'has' if len(constant) == 1 else 'have'} the same value in all "
            f"rows: nothing depends on {'it' if len(constant) == 1 else 'them'}."
        )
    if wide:
        notes.append(
            f"{listed(wide)} {'has' if len(wide) == 1 else 'have'} fewer than two rows for each "
            "value: their probabilities are guesses. Put values together."
        )
    if table.n_variables == 1:
        notes.append("The table has one column: its network is one node.")
    elif table.n_rows < 20:
        notes.append(
            f"{table.n_rows} rows are few: an edge that is not found may be there, and "
            "edge_probabilities tells how sure those are that are."
        )
    return tuple(notes)


class _StructureSearch:
    """What progress is shown for."""

    def __init__(self, verbose: bool) -> None:
        self.verbose = verbose


def _checked_constraints(constraints: Any) -> Constraints:
    if constraints is None:
        return Constraints()
    if not isinstance(constraints, Constraints):
        raise InputError(
            "constraints is a value such as Constraints(required=[('a', 'b')], max_parents=3); got "
            f"{label_text(constraints)}."
        )
    return constraints


def default_search(rules: Rules, prior: StructurePrior | None) -> Search:
    """What is taken where no search is named."""
    from novum.graphical.learning.edge_searches import Reinsertion, Successive, Tabu
    from novum.graphical.learning.equivalence_search import GreedyEquivalence

    # Classes of graphs know nothing of directions that are required, forbidden or likely.
    if rules.is_symmetric and not (prior is not None and prior.edges):
        return Successive((GreedyEquivalence(), Tabu(), Reinsertion()))
    return Successive((Tabu(), Reinsertion()))


def _checked_search(search: Any, rules: Rules, prior: StructurePrior | None) -> Search:
    if search is None:
        return default_search(rules, prior)
    if not isinstance(search, Search):
        raise InputError(
            "search is a value such as HillClimbing(), Tabu(), GreedyEquivalence(), Annealing(), "
            f"Exact() or ChowLiu(); got {label_text(search)}."
        )
    search.check(rules)
    return search


def _first_graph(start: Any, rules: Rules) -> Matrix:
    if start is None:
        return rules.required.copy()
    if not isinstance(start, Dag) or set(start.names) != set(rules.names):
        raise InputError("start is a Dag whose nodes are the columns of the table.")
    ordered = Dag.from_edges(start.edges, rules.names)
    rules.check(ordered)
    return adjacency_of(ordered)
