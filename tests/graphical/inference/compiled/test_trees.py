"""Trees of cliques: running intersection, messages that are all ones, and the choice of root."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given

from novum.graphical.inference.compiled.layout import (
    AXES,
    CLIQUES_AT,
    EVERYTHING,
    IS_ROOT,
    MARGINALS,
    MAXIMUM,
    MESSAGE,
    MESSAGE_SIZE,
    N_AXES,
    N_CLIQUES,
    NEEDED,
)
from novum.graphical.inference.compiled.planning import program_of
from novum.graphical.inference.compiled.prepared import Program
from novum.graphical.inference.compiled.questions import question_of
from novum.graphical.inference.compiled.runs import log_sum
from novum.graphical.inference.compiled.trees_kernels import merge_steps, tree_order
from novum.graphical.models.arrays import Evidence
from tests.strategies.networks import random_network, seeds


def cliques(program: Program) -> list[tuple[list[int], int, bool, bool]]:
    """Axes, cells of the message, whether it is needed, and whether it is a root's."""
    code = program.code
    found = []
    for place in range(int(code[N_CLIQUES])):
        at = int(code[int(code[CLIQUES_AT]) + place])
        axes = code[code[at + AXES] : code[at + AXES] + code[at + N_AXES]].tolist()
        flags = bool(code[at + NEEDED]), bool(code[at + IS_ROOT])
        found.append((axes, int(code[at + MESSAGE_SIZE]), *flags))
    return found


@given(seeds)
def test_cliques_cover_all_factors_and_are_maximal(seed: int) -> None:
    model = random_network(seed, most=9).arrays
    program = program_of(model, Evidence.none(model.n_variables), (), EVERYTHING, MARGINALS)
    sets = [set(axes) for axes, *_ in cliques(program)]
    for factor in range(model.n_factors):
        assert any(set(model.scope(factor).tolist()) <= clique for clique in sets)
    assert not any(a < b for a in sets for b in sets)
    # Each variable is first met once from the roots down: what came before is the separator.
    seen: set[int] = set()
    for axes, size, _, is_root in cliques(program):
        shared = [v for v in axes if v in seen]
        assert axes[: len(shared)] == shared
        assert size == np.prod(model.cards[shared], initial=1)
        assert is_root == (not shared)
        seen |= set(axes)
    assert seen == set(range(model.n_variables))


@given(seeds)
def test_messages_left_out_are_all_ones(seed: int) -> None:
    # The program for maxima computes every message; sums run through it just as well.
    model = random_network(seed, most=9).arrays
    nothing = Evidence.none(model.n_variables)
    lean = program_of(model, nothing, (), EVERYTHING, MARGINALS)
    full = program_of(model, nothing, (), EVERYTHING, MAXIMUM)
    assert all(needed for _, _, needed, _ in cliques(full))
    question = question_of(model, nothing)
    log = log_sum(question, full)
    assert log == pytest.approx(0.0, abs=1e-12)
    assert log_sum(question, lean) == pytest.approx(log, abs=1e-12)


def test_a_chain_needs_no_message_upward() -> None:
    network = random_network(0, most=1)
    network = type(network)().add("v0", table=[0.3, 0.7])
    for i in range(1, 9):
        network = network.add(f"v{i}", [f"v{i - 1}"], [[0.2, 0.8], [0.6, 0.4]])
    program = program_of(network.arrays, Evidence.none(9), (), EVERYTHING, MARGINALS)
    assert not any(needed for _, _, needed, _ in cliques(program))
    # Evidence at the end makes every clique on the way to the root send one.
    codes = np.full(9, -1)
    codes[8] = 0
    program = program_of(network.arrays, Evidence(codes), (), EVERYTHING, MARGINALS)
    assert sum(needed for _, _, needed, _ in cliques(program)) >= 1
    assert int(program.code[MESSAGE]) >= 0


def test_steps_within_the_step_before_are_merged() -> None:
    # Cliques {0, 1, 2}, {1, 2}, {2}: one maximal clique.
    into, clique = np.empty(3, np.int64), np.empty(3, np.int64)
    above = np.array([1, 2, -1])
    assert merge_steps(above, np.array([2, 1, 0]), into, clique) == 1
    assert into.tolist() == [0, 0, 0]
    assert above[0] == -1


def test_cliques_come_after_the_one_above() -> None:
    up = np.array([2, 0, -1, 0, -1])
    order = np.empty(5, np.int64)
    tree_order(up, np.empty(15, np.int64), order)
    place = {int(c): i for i, c in enumerate(order)}
    assert all(place[int(u)] < place[c] for c, u in enumerate(up) if u >= 0)
    assert place[4] > max(place[c] for c in (0, 1, 2, 3)) or place[4] == 0
