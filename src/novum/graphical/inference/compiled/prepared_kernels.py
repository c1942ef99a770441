"""How a model lies in memory: strides, the tables of each variable, places of states, bounds."""

# mypy: disable-error-code="no-untyped-def"
from __future__ import annotations

from novum.numerics.jit import inner_kernel, lean_kernel

INFINITY = float("inf")


@inner_kernel()
def factors_of_variables(scope_starts, scopes, out_starts, out_factors):
    """The tables that each variable is part of."""
    n_factors, size = scope_starts.size - 1, scope_starts[scope_starts.size - 1]
    for variable in range(out_starts.size):
        out_starts[variable] = 0
    for place in range(size):
        out_starts[scopes[place] + 1] += 1
    for variable in range(out_starts.size - 1):
        out_starts[variable + 1] += out_starts[variable]
    for factor in range(n_factors - 1, -1, -1):
        for place in range(scope_starts[factor], scope_starts[factor + 1]):
            variable = scopes[place]
            out_starts[variable + 1] -= 1
            out_factors[out_starts[variable + 1]] = factor
    # Filling from the ends has moved each end to its start.
    for variable in range(out_starts.size - 1):
        out_starts[variable] = out_starts[variable + 1]
    out_starts[out_starts.size - 1] = size


@inner_kernel()
def bound_tables(table_starts, tables, out_bounds, out_zeros):
    """The least and the largest positive cell of each table, and whether it has zeros.

    Zeros count as 1.
    """
    for factor in range(out_zeros.size):
        smallest = INFINITY
        low = INFINITY
        high = 0.0
        for cell in range(table_starts[factor], table_starts[factor + 1]):
            x = tables[cell]
            positive = x if x > 0.0 else 1.0
            smallest = x if x < smallest else smallest
            low = positive if positive < low else low
            high = x if x > high else high
        out_zeros[factor] = 1 if smallest == 0.0 else 0
        out_bounds[0, factor] = low
        out_bounds[1, factor] = max(high, 1.0) if smallest == 0.0 else high


@lean_kernel(
    "int64(int64[::1], int64[::1], int64[::1], int64[::1], float64[::1], int64[::1], int64[::1],"
    " int64[::1], int64[::1], int64[::1], float64[:, ::1], uint8[::1])"
)
def lay_out(
    cards,
    scope_starts,
    scopes,
    table_starts,
    tables,
    out_strides,
    out_var_starts,
    out_var_factors,
    out_starts,
    out_states,
    out_bounds,
    out_zeros,
):
    """Strides of all scopes, the tables of each variable, the states of all variables, and bounds.

    No cells are looked at where there is no room for bounds. Returns the number of tables of the
    variable in most of them.
    """
    for factor in range(scope_starts.size - 1):
        stride = 1
        for place in range(scope_starts[factor + 1] - 1, scope_starts[factor] - 1, -1):
            out_strides[place] = stride
            stride *= cards[scopes[place]]
    factors_of_variables(scope_starts, scopes, out_var_starts, out_var_factors)
    at = 0
    most = 0
    for variable in range(cards.size):
        most = max(most, out_var_starts[variable + 1] - out_var_starts[variable])
        out_starts[variable] = at
        for state in range(cards[variable]):
            out_states[at + state] = state
        at += cards[variable]
    bound_tables(table_starts, tables, out_bounds, out_zeros)
    return most
