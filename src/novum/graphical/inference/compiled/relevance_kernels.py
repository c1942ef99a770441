"""Which factors a question depends on: ancestors, and what is connected to the targets.

The same two rules as in `inference.relevance`, in compiled code: tables of variables that are no
ancestors of anything named sum to one, and what observed variables cut off is a constant.
"""

# mypy: disable-error-code="no-untyped-def"
from __future__ import annotations

from novum.numerics.jit import inner_kernel


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
