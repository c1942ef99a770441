"""Structures from rows with missing cells: structural EM.

    draw     the missing cells of every row, several times, from the network so far
    search   the graph that is best for the drawn rows, each counted in parts
    fit      its tables from the rows as they are, by EM
    keep     the graph if its score for the known cells is better; end if not

The score that decides is that of the known cells alone (`score` with missing cells), so it never
falls; draws only propose graphs. Where columns of numbers stay as they are nothing is drawn: the
expected sums of every family of every graph are those of a table of whole rows
(`gaussian_expectation.completed_rows`), and the search looks at that from the graph so far, so that
for penalized scores each round can only gain.

A search for graphs of one form (`AroundClass`) begins with the plainest of them, and its first
proposal is kept whatever it scores: a table of few rows may score best with no edge at all.

References
----------
Friedman (1997, 1998).
"""

from __future__ import annotations

from typing import Literal

import numpy as np

from novum.core.learners import Certificate, Stopwatch, Verdict
from novum.graphical.learning.coded_table import CodedTable
from novum.graphical.learning.constraints import Matrix, Rules, adjacency_of, parents_of
from novum.graphical.learning.expectation import (
    drawn_rows,
    fit_tables_expectation,
    score_with_missing,
)
from novum.graphical.learning.gaussian_expectation import (
    completed_rows,
    score_numbers_with_missing,
)
from novum.graphical.learning.parameters import Dirichlet
from novum.graphical.learning.scores import Criterion, FamilyScores, StructurePrior
from novum.graphical.learning.search import LearnedStructure, Search, SearchProblem
from novum.graphical.models.linear_gaussian import ConditionalGaussianNetwork
from novum.graphical.structure.dag import Dag

# Draws of each row, rounds at most, and rounds without a better graph before the end.
COPIES = 5
ROUNDS = 20
PATIENCE = 2


def structural_em(
    table: CodedTable,
    criterion: Criterion,
    search: Search,
    rules: Rules,
    prior: StructurePrior | None,
    first: Matrix,
    on_interrupt: Literal["raise", "keep"],
) -> LearnedStructure:
    """The structure that `learn_structure` gives where cells are missing."""
    clock = Stopwatch()
    rows, table = table, table if table.numbers else table.distinct()
    plainest = search.plainest(table.names)
    graph = Dag(table.names, parents_of(first if plainest is None else plainest))
    value, network = _score(graph, table, criterion, prior)
    trace, rounds, since = [value] if plainest is None else [], 0, 0
    verdict, stopped_by = Verdict.LOCAL, "no better graph"
    proposal = graph
    try:
        while since < PATIENCE and rounds < ROUNDS:
            if network is not None:
                whole = completed_rows(network, table)
                before, proposal = (
                    proposal,
                    _searched(whole, criterion, search, rules, prior, proposal),
                )
                if proposal == before:
                    break
            else:
                # One more count in each cell, so that no draw is impossible.
                drawer = fit_tables_expectation(proposal, table, Dirichlet(1.0)).network
                whole = drawn_rows(drawer, table, COPIES, rounds).distinct()
                proposal = _searched(whole, criterion, search, rules, prior)
            proposed, network = _score(proposal, table, criterion, prior, whole)
            rounds += 1
            if proposed > value + 1e-6 or not trace:
                graph, value, since = proposal, proposed, 0
                trace.append(value)
            else:
                since += 1
    except KeyboardInterrupt:
        if on_interrupt == "raise":
            raise
        verdict, stopped_by = Verdict.STOPPED_EARLY, "interrupt"
    certificate = Certificate(
        objective=f"{type(criterion).__name__} of a graph for the known cells, maximized",
        verdict=verdict,
        value=value,
        iterations=rounds,
        trace=tuple(trace),
        details={
            "search": repr(search),
            "stopped_by": stopped_by,
            "missing_cells": int(np.count_nonzero(table.codes < 0)),
            "assumes": "cells are missing at random, given what is known of their row",
        },
        seconds=clock.seconds,
    )
    return LearnedStructure(graph, value, certificate, criterion, rows)


def _score(
    graph: Dag,
    table: CodedTable,
    criterion: Criterion,
    prior: StructurePrior | None,
    whole: CodedTable | None = None,
) -> tuple[float, ConditionalGaussianNetwork | None]:
    """The score for the known cells, and with numbers the network that EM found on the way."""
    if table.numbers:
        return score_numbers_with_missing(graph, table, criterion, prior, whole)
    return score_with_missing(graph, table, criterion, prior), None


def _searched(
    whole: CodedTable,
    criterion: Criterion,
    search: Search,
    rules: Rules,
    prior: StructurePrior | None,
    start: Dag | None = None,
) -> Dag:
    scores = FamilyScores(whole, criterion, max_parents=rules.max_parents, prior=prior)
    first = rules.required.copy() if start is None else adjacency_of(start)
    problem = SearchProblem(scores, rules, first)
    search.run(problem)
    return Dag(whole.names, parents_of(problem.adjacency))
