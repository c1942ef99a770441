"""Messages of loopy propagation: all that a factor sends, in one pass over its table.

For each part of a table (its last two axes) the products of the incoming messages before and
after every other axis give what the part adds to all outgoing messages; nothing is divided.
"""

# mypy: disable-error-code="no-untyped-def"
from __future__ import annotations

from novum.numerics import inner_kernel, lean_kernel

# scope_starts, scopes, table_starts, tables of factors; cards and edge_starts, which both read;
# starts and edges of variables
GRAPH = (
    "Tuple((int64[::1], int64[::1], int64[::1], float64[::1], int64[::1], int64[::1], int64[::1],"
    " int64[::1]))"
)
# digits, before and new messages of a factor; messages down, which both take; product of a variable
WORK = "Tuple((int64[::1], float64[::1], float64[::1], float64[::1], float64[::1]))"

# Entries of a message below this have lost digits to underflow.
_TINY = 1e-290


@inner_kernel()
def variable_messages(v, graph, up, work):
    """What a variable sends to each factor: the product of the others; False if all is zero."""
    cards, edge_starts, starts, edges = graph
    out_down, product = work
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


@inner_kernel()
def damped(new, old, damping):
    """A mixture of both; what is found impossible stays so."""
    return 0.0 if new == 0.0 else (1.0 - damping) * new + damping * old


@inner_kernel()
def relative_change(new, old):
    """How far two entries of a message are apart, as a share of the larger.

    Small entries count like large ones: other messages may multiply them by any number.
    """
    return abs(new - old) / (max(new, old) + _TINY)


@lean_kernel(f"boolean({GRAPH}, int64[::1], float64[::1], float64[::1])")
def multiply_messages(graph, cell_starts, up, out_beliefs):
    """The product of all messages to each variable, summing to one; False if one is all zero."""
    cards, edge_starts, starts, edges = graph[4:]
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


@inner_kernel()
def factor_messages(f, graph, up, work):
    """What a factor would send to each variable; the largest relative change, -1 if all is zero."""
    scope_starts, scopes, table_starts, tables, cards, edge_starts = graph
    digits, before, out_new, down = work
    first = scope_starts[f]
    last = scope_starts[f + 1] - 1
    for c in range(edge_starts[first], edge_starts[last + 1]):
        out_new[c] = 0.0
    n_outer = max(last - 1 - first, 0)
    for i in range(n_outer):
        digits[i] = 0
    end, n = edge_starts[last], cards[scopes[last]]
    middle, m = (edge_starts[last - 1], cards[scopes[last - 1]]) if last > first else (0, 1)
    at = table_starts[f]
    while at < table_starts[f + 1]:
        product = 1.0
        for i in range(n_outer):
            before[i] = product
            product *= down[edge_starts[first + i] + digits[i]]
        whole = 0.0
        for j in range(m):
            sent = down[middle + j] if last > first else 1.0
            inner = 0.0
            for k in range(n):
                inner += tables[at + k] * down[end + k]
                out_new[end + k] += product * sent * tables[at + k]
            if last > first:
                out_new[middle + j] += product * inner
            whole += sent * inner
            at += n
        for i in range(n_outer - 1, -1, -1):
            cell = edge_starts[first + i] + digits[i]
            out_new[cell] += before[i] * whole
            whole *= down[cell]
        i = n_outer - 1
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
        # Finite also where the sum is near underflow; messages need not sum to one exactly.
        scale = 1.0 / max(total, _TINY)
        for c in range(edge_starts[edge], edge_starts[edge + 1]):
            out_new[c] *= scale
            change = max(change, relative_change(out_new[c], up[c]))
    return change


@lean_kernel(
    "int64(int64[::1], int64[::1], int64[::1], int64[::1], int64[::1], boolean[::1], int64[::1])"
)
def find_barren(scope_starts, scopes, order, sources, places, out_needed, out_barren):
    """The factors of variables that nothing known lies below, parents first, and their number.

    Scopes are those of the model, in which factor v belongs to variable v; `out_needed` comes with
    what is known and is spread to its ancestors. `sources` names the model's factors.
    """
    for place in range(order.size - 1, -1, -1):
        v = order[place]
        if out_needed[v]:
            for edge in range(scope_starts[v], scope_starts[v + 1]):
                out_needed[scopes[edge]] = True
    for v in range(order.size):
        places[v] = -1
    for f in range(sources.size):
        if sources[f] >= 0:
            places[sources[f]] = f
    n = 0
    for v in order:
        if places[v] >= 0 and not out_needed[v]:
            out_barren[n] = places[v]
            n += 1
    return n


@lean_kernel(f"void({GRAPH}, boolean[::1], boolean[::1], float64[::1])")
def start_messages(graph, moving, out_touched, out_up):
    """A factor of one variable sends its table, which never changes; others send nothing yet.

    `out_touched` becomes true for the variables of moving factors.
    """
    scope_starts, scopes, table_starts, tables, _, edge_starts, _, _ = graph
    for f in range(scope_starts.size - 1):
        first = scope_starts[f]
        if scope_starts[f + 1] - first == 1:
            total = 0.0
            for cell in range(table_starts[f], table_starts[f + 1]):
                total += tables[cell]
            for k in range(table_starts[f + 1] - table_starts[f]):
                out_up[edge_starts[first] + k] = tables[table_starts[f] + k] / total
        else:
            for edge in range(first, scope_starts[f + 1]):
                n = edge_starts[edge + 1] - edge_starts[edge]
                for c in range(edge_starts[edge], edge_starts[edge + 1]):
                    out_up[c] = 1.0 / n
                if moving[f]:
                    out_touched[scopes[edge]] = True


@lean_kernel(
    f"float64({GRAPH}, {WORK}, int64[::1], int64[::1], float64, float64, int64, float64[::1],"
    " int64[::1])"
)
def flood(graph, work, variables, factors, damping, tol, n_steps, out_up, out_done):
    """Iterations until the change is below `tol`: all variables send, then all factors.

    Returns the largest change of the last one, or -1 where all is impossible; `out_done` counts.
    """
    scope_starts, edge_starts, new = graph[0], graph[5], work[2]
    largest = 0.0
    for _ in range(n_steps):
        for v in variables:
            if not variable_messages(v, graph[4:], out_up, work[3:]):
                return -1.0
        largest = 0.0
        for f in factors:
            change = factor_messages(f, graph[:6], out_up, work[:4])
            if change < 0.0:
                return change
            largest = max(largest, change)
            for c in range(edge_starts[scope_starts[f]], edge_starts[scope_starts[f + 1]]):
                out_up[c] = damped(new[c], out_up[c], damping)
        out_done[0] += 1
        if largest < tol:
            break
    return largest


@lean_kernel(f"boolean({GRAPH}, {WORK}, int64[::1], float64[::1])")
def send_onwards(graph, work, factors, out_up):
    """Messages of factors, parents first, to their last variables; False where all is zero."""
    scope_starts, scopes, _, _, cards, edge_starts, _, _ = graph
    new = work[2]
    for v in range(cards.size):
        if not variable_messages(v, graph[4:], out_up, work[3:]):
            return False
    for f in factors:
        change = factor_messages(f, graph[:6], out_up, work[:4])
        if change < 0.0:
            return False
        last = scope_starts[f + 1] - 1
        for c in range(edge_starts[last], edge_starts[last + 1]):
            out_up[c] = new[c]
        v = scopes[last]
        if not variable_messages(v, graph[4:], out_up, work[3:]):
            return False
    return True


@lean_kernel(
    f"boolean({GRAPH}, {WORK}, boolean[::1], boolean[::1], int64[::1], int64[::1], boolean,"
    " float64[::1])"
)
def pass_tree(graph, work, moving, is_factor, numbers, root_edges, outwards, out_up):
    """Sends each message of a forest once, to the roots or away from them; False if all is zero.

    Nodes come each after the one it hangs on; `root_edges` are the edges to those.
    """
    scope_starts, edge_starts, new = graph[0], graph[5], work[2]
    n_nodes = numbers.size
    for step in range(n_nodes):
        at = step if outwards else n_nodes - 1 - step
        node = numbers[at]
        if not is_factor[at]:
            if not variable_messages(node, graph[4:], out_up, work[3:]):
                return False
        elif moving[node]:
            change = factor_messages(node, graph[:6], out_up, work[:4])
            if change < 0.0:
                return False
            for edge in range(scope_starts[node], scope_starts[node + 1]):
                if (edge == root_edges[at]) != outwards:
                    for c in range(edge_starts[edge], edge_starts[edge + 1]):
                        out_up[c] = new[c]
    return True


@inner_kernel()
def set_residual(f, value, out_largest):
    """Sets a leaf of a tree whose nodes hold the larger of their two children."""
    at = out_largest.size // 2 + f
    out_largest[at] = value
    while at > 1:
        at //= 2
        out_largest[at] = max(out_largest[2 * at], out_largest[2 * at + 1])


@lean_kernel(f"boolean({GRAPH}, {WORK}, int64[::1], int64[::1], float64[::1], float64[::1])")
def first_residuals(graph, work, variables, factors, up, out_largest):
    """How much each factor's messages would change, none of them sent; False where all is zero."""
    for v in variables:
        if not variable_messages(v, graph[4:], up, work[3:]):
            return False
    for f in factors:
        change = factor_messages(f, graph[:6], up, work[:4])
        if change < 0.0:
            return False
        set_residual(f, change, out_largest)
    return True


@lean_kernel(
    f"float64({GRAPH}, {WORK}, boolean[::1], int64[::1], float64, float64, int64, float64[::1],"
    " float64[::1])"
)
def follow_residuals(graph, work, moving, factor_of, damping, tol, n_steps, out_up, out_largest):
    """Sends the messages of the factor that changed most, `n_steps` times; the largest left."""
    scope_starts, scopes, _, _, _, edge_starts, starts, edges = graph
    new = work[2]
    n_leaves = out_largest.size // 2
    for _ in range(n_steps):
        if out_largest[1] < tol:
            break
        f = 1
        while f < n_leaves:
            f = 2 * f if out_largest[2 * f] >= out_largest[2 * f + 1] else 2 * f + 1
        f -= n_leaves
        left = 0.0
        for c in range(edge_starts[scope_starts[f]], edge_starts[scope_starts[f + 1]]):
            out_up[c] = damped(new[c], out_up[c], damping)
            left = max(left, relative_change(new[c], out_up[c]))
        set_residual(f, left, out_largest)
        for edge in range(scope_starts[f], scope_starts[f + 1]):
            v = scopes[edge]
            if not variable_messages(v, graph[4:], out_up, work[3:]):
                return -1.0
            for j in range(starts[v], starts[v + 1]):
                g = factor_of[edges[j]]
                if g != f and moving[g]:
                    change = factor_messages(g, graph[:6], out_up, work[:4])
                    if change < 0.0:
                        return change
                    set_residual(g, change, out_largest)
    return out_largest[1]
