"""The factors of a question at what is observed: free variables by local numbers, source strides.

An observed variable leaves a factor's scope and becomes an offset into its table. Soft evidence is
a factor of one variable; so is a row of ones for a variable that no factor has.
"""

# mypy: disable-error-code="no-untyped-def"
from __future__ import annotations

from novum.numerics.jit import lean_kernel

# Origins of items that are no factor of the model; soft evidence is SOFT - variable.
ONES = -1
MESSAGE_ITEM = -2
SOFT = -3


@lean_kernel("int64(int64[::1], uint8[::1], int64[::1], int64[::1])")
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


@lean_kernel(
    "int64(int64[::1], int64[::1], int64[::1], int64[::1], uint8[::1], int64[::1], int64[::1],"
    " uint8[::1], int64[::1], int64[::1], int64[::1], int64[::1], int64[::1], int64[::1])"
)
def list_items(
    scope_starts,
    scopes,
    strides,
    heads,
    kept,
    local,
    variables,
    soft,
    out_starts,
    out_axes,
    out_strides,
    out_sources,
    out_heads,
    out_uses,
):
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
        weighted = soft[variables[v]] != 0
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


@lean_kernel(
    "int64(int64[::1], int64[::1], int64[::1], int64[::1], uint8[::1], int64[::1], int64[::1])"
)
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
