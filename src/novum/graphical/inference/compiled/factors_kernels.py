"""The factors of a question at what is observed: free variables by local numbers, source strides.

An observed variable leaves a factor's scope and becomes an offset into its table. Soft evidence is
a factor of one variable; so is a row of ones for a variable that no factor has.
"""

# mypy: disable-error-code="no-untyped-def"
from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from novum.numerics import inner_kernel

# The integers of a model: `prepared.ModelLayout` as a plain tuple. The signature is read for each
# question that waits for the planner, and reads fastest where it names an array once.
LAYOUT = "Tuple((int64[::1],) * 8 + (uint8[::1],))"
# Origins of items that are no factor of the model; soft evidence is SOFT - variable.
ONES = -1
MESSAGE_ITEM = -2
SOFT = -3
# Marks of soft evidence: a variable has weights; it counts, and nothing there is impossible.
WEIGHTED = 1
COUNTS = 2


class Factors(NamedTuple):
    """The factors of a question over its free variables, which go by local numbers.

    Attributes
    ----------
    starts, axes, strides : where each scope begins; its variables; their strides in the table
    sources : factor of the model, or one of the origins above
    heads : the variable that a factor is the table of, or -1
    uses : of each variable, in how many factors it is
    """

    starts: Any
    axes: Any
    strides: Any
    sources: Any
    heads: Any
    uses: Any


@inner_kernel()
def number_free(known, needed, out_local, out_variables):
    """Local numbers of the unobserved variables that take part; how many there are."""
    count = 0
    for variable in range(known.size):
        out_local[variable] = -1
        if known[variable] < 0 and needed[variable] != 0:
            out_local[variable] = count
            out_variables[count] = variable
            count += 1
    return count


@inner_kernel()
def list_items(
    scope_starts, scopes, strides, heads, kept, local, variables, soft, out_starts, out_axes,
    out_strides, out_sources, out_heads, out_uses,
):  # fmt: skip
    """Factors with free variables, then soft evidence, then ones; how many there are.

    `out_heads` has the local number of the variable a table belongs to, or -1.
    """
    n = 0
    at = 0
    for v in range(variables.size):
        out_uses[v] = 0
    for factor in range(kept.size):
        if kept[factor] == 0:
            continue
        out_starts[n] = at
        for place in range(scope_starts[factor], scope_starts[factor + 1]):
            v = local[scopes[place]]
            if v >= 0:
                out_axes[at] = v
                out_strides[at] = strides[place]
                out_uses[v] += 1
                at += 1
        if at > out_starts[n]:
            out_sources[n] = factor
            head = heads[factor]
            out_heads[n] = local[head] if head >= 0 else -1
            n += 1
    for v in range(variables.size):
        weighted = soft[variables[v]] & WEIGHTED != 0
        if weighted or out_uses[v] == 0:
            out_starts[n] = at
            out_axes[at] = v
            out_strides[at] = 1
            out_uses[v] += 1
            at += 1
            out_sources[n] = SOFT - variables[v] if weighted else ONES
            out_heads[n] = -1
            n += 1
    out_starts[n] = at
    return n


@inner_kernel()
def observed_scopes(scope_starts, scopes, strides, known, kept, out_starts, out_pairs):
    """Of each kept factor the observed variables with their strides; how many pairs in all."""
    at = 0
    for factor in range(kept.size):
        out_starts[factor] = at
        if kept[factor] != 0:
            for place in range(scope_starts[factor], scope_starts[factor + 1]):
                if known[scopes[place]] >= 0:
                    out_pairs[2 * at] = scopes[place]
                    out_pairs[2 * at + 1] = strides[place]
                    at += 1
    out_starts[kept.size] = at
    return at


@inner_kernel(allocates=True)
def question_factors(scope_starts, scopes, strides, heads, kept, local, variables, soft):
    """The factors of a question, in arrays of their own."""
    n, most = variables.size, heads.size + variables.size
    starts, sources = np.empty(most + 1, np.int64), np.empty(most, np.int64)
    axes, own_strides = (np.empty(scopes.size + n, np.int64), np.empty(scopes.size + n, np.int64))
    own_heads, uses = np.empty(most, np.int64), np.empty(n, np.int64)
    count = list_items(
        scope_starts, scopes, strides, heads, kept, local, variables, soft,
        starts, axes, own_strides, sources, own_heads, uses,
    )  # fmt: skip
    return Factors(starts, axes, own_strides, sources[:count], own_heads[:count], uses)


# --- Relevance ------------------------------------------------------------------------------------
# Which factors a question depends on: ancestors, and what is connected to the targets.
#
# The same two rules as in `inference.potentials`, in compiled code: tables of variables that are no
# ancestors of anything named sum to one, and what observed variables cut off is a constant.


@inner_kernel()
def mark_ancestors(scope_starts, scopes, known, soft, targets, out_needed, stack):
    """Marks the variables that are named, observed or weighted, and their ancestors."""
    depth = 0
    for variable in range(known.size):
        out_needed[variable] = 0
        if known[variable] >= 0 or soft[variable] != 0:
            out_needed[variable] = 1
            stack[depth] = variable
            depth += 1
    for variable in targets:
        if out_needed[variable] == 0:
            out_needed[variable] = 1
            stack[depth] = variable
            depth += 1
    while depth > 0:
        depth -= 1
        variable = stack[depth]
        for place in range(scope_starts[variable], scope_starts[variable + 1]):
            parent = scopes[place]
            if out_needed[parent] == 0:
                out_needed[parent] = 1
                stack[depth] = parent
                depth += 1


@inner_kernel()
def mark_connected(
    scope_starts, scopes, var_starts, var_factors, known, targets, needed, out_kept, stack, directed
):
    """Of needed factors those joined to a target by unobserved variables: 2 marks a variable."""
    depth = 0
    for factor in range(out_kept.size):
        out_kept[factor] = 0
    for variable in targets:
        if known[variable] < 0 and needed[variable] != 2:
            needed[variable] = 2
            stack[depth] = variable
            depth += 1
    while depth > 0:
        depth -= 1
        variable = stack[depth]
        for place in range(var_starts[variable], var_starts[variable + 1]):
            factor = var_factors[place]
            if out_kept[factor] != 0 or (directed != 0 and needed[factor] == 0):
                continue
            out_kept[factor] = 1
            for other in range(scope_starts[factor], scope_starts[factor + 1]):
                joined = scopes[other]
                if known[joined] < 0 and needed[joined] != 2:
                    needed[joined] = 2
                    stack[depth] = joined
                    depth += 1
