"""Structures from rows with missing cells: structural EM.

    draw     the missing cells of every row, several times, from the network so far
    search   the graph that is best for the drawn rows, each counted in parts
    fit      its tables from the rows as they are, by EM
    keep     the graph if its score for the known cells is better; end if not

The score that decides is that of the known cells alone (`score` with missing cells), so it never
falls; draws only propose graphs.

References
----------
Friedman (1997, 1998).
"""

from __future__ import annotations

from typing import Literal

import numpy as np

from novum.core.learners import Certificate, Stopwatch, Verdict
from novum.graphical.learning.coded_table import CodedTable
from novum.graphical.learning.constraints import Matrix, Rules, parents_of
from novum.graphical.learning.expectation import drawn_rows, fit_expectation, score_with_missing
from novum.graphical.learning.parameters import Dirichlet
from novum.graphical.learning.scores import Criterion, FamilyScores, StructurePrior
from novum.graphical.learning.search import LearnedStructure, Search, SearchProblem
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
    rows, table = table, table.distinct()
    graph = Dag(table.names, parents_of(first))
    value = score_with_missing(graph, table, criterion, prior)
    trace, rounds, since = [value], 0, 0
    verdict, stopped_by = Verdict.LOCAL, "no better graph"
    proposal = graph
    try:
        while since < PATIENCE and rounds < ROUNDS:
            # One more count in each cell, so that no draw is impossible.
            network = fit_expectation(proposal, table, Dirichlet(1.0)).network
            drawn = drawn_rows(network, table, COPIES, rounds).distinct()
            proposal = _searched(drawn, criterion, search, rules, prior)
            proposed = score_with_missing(proposal, table, criterion, prior)
            rounds += 1
            if proposed > value + 1e-6:
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


def _searched(
    drawn: CodedTable,
    criterion: Criterion,
    search: Search,
    rules: Rules,
    prior: StructurePrior | None,
) -> Dag:
    scores = FamilyScores(drawn, criterion, max_parents=rules.max_parents, prior=prior)
    problem = SearchProblem(scores, rules, rules.required.copy())
    search.run(problem)
    return Dag(drawn.names, parents_of(problem.adjacency))
