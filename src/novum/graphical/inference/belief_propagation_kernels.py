"""Messages of loopy propagation: all that a factor sends, in one pass over its table.

For each row of a table (its last axis) the products of the incoming messages before and after
every axis give what the row adds to all outgoing messages; nothing is divided.
"""

# mypy: disable-error-code="no-untyped-def"
from __future__ import annotations

from novum.numerics.jit import lean_kernel


@lean_kernel(
    "boolean(int64, int64[::1], int64[::1], int64[::1], int64[::1], float64[::1], float64[::1],"
    " float64[::1])"
)
def variable_messages(v, cards, edge_starts, starts, edges, up, product, out_down):
    """What a variable sends to each factor: the product of the others; False if all is zero."""
    n = cards[v]
    for k in range(n):
        product[k] = 1.0
    for j in range(starts[v], starts[v + 1]):
        at = edge_starts[edges[j]]
        top = 0.0
        for k in range(n):
            out_down[at + k] = product[k]
            product[k] *= up[at + k]
            top = max(top, product[k])
        if top == 0.0:
            return False
        for k in range(n):
            product[k] /= top
    for k in range(n):
        product[k] = 1.0
    for j in range(starts[v + 1] - 1, starts[v] - 1, -1):
        at = edge_starts[edges[j]]
        total = 0.0
        top = 0.0
        for k in range(n):
            out_down[at + k] *= product[k]
            total += out_down[at + k]
            product[k] *= up[at + k]
            top = max(top, product[k])
        if total == 0.0 or top == 0.0:
            return False
        for k in range(n):
            out_down[at + k] /= total
            product[k] /= top
    return True


@lean_kernel("float64(float64, float64, float64)")
def damped(new, old, damping):
    """A mixture of both; what is found impossible stays so."""
    return 0.0 if new == 0.0 else (1.0 - damping) * new + damping * old


@lean_kernel(
    "boolean(int64[::1], int64[::1], int64[::1], int64[::1], int64[::1], float64[::1],"
    " float64[::1])"
)
def multiply_messages(cards, cell_starts, edge_starts, starts, edges, up, out_beliefs):
    """The product of all messages to each variable, summing to one; False if one is all zero."""
    for v in range(cards.size):
        first, n = cell_starts[v], cards[v]
        for k in range(n):
            out_beliefs[first + k] = 1.0 / n
        for j in range(starts[v], starts[v + 1]):
            at = edge_starts[edges[j]]
            total = 0.0
            for k in range(n):
                out_beliefs[first + k] *= up[at + k]
                total += out_beliefs[first + k]
            if total == 0.0:
                return False
            for k in range(n):
                out_beliefs[first + k] /= total
    return True


@lean_kernel(
    "float64(int64, int64[::1], int64[::1], int64[::1], int64[::1], int64[::1], float64[::1],"
    " float64[::1], float64[::1], int64[::1], float64[::1], float64[::1])"
)
def factor_messages(
    f, cards, scope_starts, scopes, table_starts, edge_starts, tables, down, up, digits, before,
    out_new,
):  # fmt: skip
    """What a factor would send to each variable; the largest change, or -1 if all is zero."""
    first = scope_starts[f]
    last = scope_starts[f + 1] - 1
    n = cards[scopes[last]]
    for c in range(edge_starts[first], edge_starts[last + 1]):
        out_new[c] = 0.0
    for i in range(last - first):
        digits[i] = 0
    end_message = edge_starts[last]
    for at in range(table_starts[f], table_starts[f + 1], n):
        product = 1.0
        for i in range(last - first):
            before[i] = product
            product *= down[edge_starts[first + i] + digits[i]]
        inner = 0.0
        for k in range(n):
            inner += tables[at + k] * down[end_message + k]
            out_new[end_message + k] += product * tables[at + k]
        for i in range(last - first - 1, -1, -1):
            cell = edge_starts[first + i] + digits[i]
            out_new[cell] += before[i] * inner
            inner *= down[cell]
        i = last - first - 1
        while i >= 0:
            digits[i] += 1
            if digits[i] < cards[scopes[first + i]]:
                break
            digits[i] = 0
            i -= 1
    change = 0.0
    for edge in range(first, last + 1):
        total = 0.0
        for c in range(edge_starts[edge], edge_starts[edge + 1]):
            total += out_new[c]
        if total == 0.0:
            return -1.0
        for c in range(edge_starts[edge], edge_starts[edge + 1]):
            out_new[c] /= total
            change = max(change, abs(out_new[c] - up[c]))
    return change


@lean_kernel(
    "float64(int64[::1], int64[::1], int64[::1], int64[::1], int64[::1], int64[::1], int64[::1],"
    " float64[::1], float64, int64[::1], float64[::1], float64[::1], float64[::1], float64[::1],"
    " float64[::1])"
)
def flood(
    cards, scope_starts, scopes, table_starts, edge_starts, starts, edges, tables, damping,
    digits, before, product, down, new, out_up,
):  # fmt: skip
    """One iteration: all variables send, then all factors; the largest change, or -1."""
    for v in range(cards.size):
        if not variable_messages(v, cards, edge_starts, starts, edges, out_up, product, down):
            return -1.0
    largest = 0.0
    for f in range(scope_starts.size - 1):
        change = factor_messages(
            f, cards, scope_starts, scopes, table_starts, edge_starts, tables, down, out_up,
            digits, before, new,
        )  # fmt: skip
        if change < 0.0:
            return change
        largest = max(largest, change)
    for c in range(out_up.size):
        out_up[c] = damped(new[c], out_up[c], damping)
    return largest


@lean_kernel(
    "float64(int64[::1], int64[::1], int64[::1], int64[::1], int64[::1], int64[::1], int64[::1],"
    " float64[::1], float64, int64[::1], float64[::1], float64[::1], float64[::1], float64[::1],"
    " float64[::1], int64[::1], float64, int64, float64[::1])"
)
def follow_residuals(
    cards, scope_starts, scopes, table_starts, edge_starts, starts, edges, tables, damping,
    digits, before, product, down, new, out_up, factor_of, tol, n_steps, out_residuals,
):  # fmt: skip
    """Sends the messages of the factor that changed most, `n_steps` times; the largest left."""
    for _ in range(n_steps):
        f = 0
        for g in range(out_residuals.size):
            if out_residuals[g] > out_residuals[f]:
                f = g
        if out_residuals[f] < tol:
            return out_residuals[f]
        for c in range(edge_starts[scope_starts[f]], edge_starts[scope_starts[f + 1]]):
            out_up[c] = damped(new[c], out_up[c], damping)
        out_residuals[f] *= damping
        for edge in range(scope_starts[f], scope_starts[f + 1]):
            v = scopes[edge]
            if not variable_messages(v, cards, edge_starts, starts, edges, out_up, product, down):
                return -1.0
            for j in range(starts[v], starts[v + 1]):
                g = factor_of[edges[j]]
                if g != f:
                    change = factor_messages(
                        g, cards, scope_starts, scopes, table_starts, edge_starts, tables, down,
                        out_up, digits, before, new,
                    )  # fmt: skip
                    if change < 0.0:
                        return change
                    out_residuals[g] = change
    largest = 0.0
    for g in range(out_residuals.size):
        largest = max(largest, out_residuals[g])
    return largest
