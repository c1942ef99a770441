"""Compiled suffix automata: building them, and reading other strings through them.

An automaton is built as in Blumer et al. (1985), symbol by symbol, with lists of edges; only the
root, which has an edge for every symbol of the string, is looked up directly. Afterwards states are
numbered by length, so that a state's link has a smaller number, and edges are sorted by state and
symbol.

For small alphabets a table has the next state for every state and symbol, the way back along the
links included: `caps` is the length of the state whose edge is taken, so that the length matched
becomes `min(length, cap) + 1`. Reading a symbol is then two loads without a branch. For large
alphabets the table would be too large, and edges are searched for.
"""

from __future__ import annotations

import numpy as np

from novum.numerics import kernel

# --- Building -------------------------------------------------------------------------------------


@kernel("int64(int64, int64, int32[::1], int32[::1], int32[::1], int32[::1])")
def edge_at(state, symbol, root_edge, first_edge, next_edge, edge_symbol):  # type: ignore[no-untyped-def]
    """The edge of a state with a symbol, or -1."""
    if state == 0:
        return np.int64(root_edge[symbol])
    edge = np.int64(first_edge[state])
    while edge >= 0 and edge_symbol[edge] != symbol:
        edge = np.int64(next_edge[edge])
    return edge


@kernel("int64(int32[::1], int32[::1], int32[::1], int32[::1], int32[::1], int32[:,::1])")
def build_one(symbols, length, link, first_edge, root_edge, edges):  # type: ignore[no-untyped-def]
    """The automaton of one string; edges are rows next, symbol, target, source.

    Returns the number of states and edges as `states * 2^32 + edges`.
    """
    next_edge, edge_symbol, edge_target, edge_source = edges[0], edges[1], edges[2], edges[3]
    length[0] = 0
    link[0] = -1
    first_edge[0] = -1
    states, n_edges, last = 1, 0, 0
    for place in range(symbols.size):
        symbol = symbols[place]
        current = states
        states += 1
        length[current] = length[last] + 1
        first_edge[current] = -1
        p = last
        edge = np.int64(-1)
        while p >= 0:
            edge = edge_at(p, symbol, root_edge, first_edge, next_edge, edge_symbol)
            if edge >= 0:
                break
            next_edge[n_edges] = first_edge[p]
            edge_symbol[n_edges] = symbol
            edge_target[n_edges] = current
            edge_source[n_edges] = p
            first_edge[p] = n_edges
            if p == 0:
                root_edge[symbol] = n_edges
            n_edges += 1
            p = link[p]
        last = current
        if p < 0:
            link[current] = 0
            continue
        q = edge_target[edge]
        if length[p] + 1 == length[q]:
            link[current] = q
            continue
        clone = states
        states += 1
        length[clone] = length[p] + 1
        link[clone] = link[q]
        first_edge[clone] = -1
        edge = np.int64(first_edge[q])
        while edge >= 0:
            next_edge[n_edges] = first_edge[clone]
            edge_symbol[n_edges] = edge_symbol[edge]
            edge_target[n_edges] = edge_target[edge]
            edge_source[n_edges] = clone
            first_edge[clone] = n_edges
            n_edges += 1
            edge = np.int64(next_edge[edge])
        while p >= 0:
            edge = edge_at(p, symbol, root_edge, first_edge, next_edge, edge_symbol)
            if edge < 0 or edge_target[edge] != q:
                break
            edge_target[edge] = clone
            p = link[p]
        link[q] = clone
        link[current] = clone
    return states * 2**32 + n_edges


@kernel("void(int32[::1], int64, int32[::1], int32[::1], int32[::1])")
def counting_order(keys, n_keys, begins, before, out_order):  # type: ignore[no-untyped-def]
    """The positions `before`, those of smaller keys first, else in the order that they had."""
    for value in range(n_keys + 1):
        begins[value] = 0
    for e in range(keys.size):
        begins[keys[e] + 1] += 1
    for value in range(n_keys):
        begins[value + 1] += begins[value]
    for e in range(keys.size):
        position = before[e]
        out_order[begins[keys[position]]] = position
        begins[keys[position]] += 1


@kernel("void(int32[:,::1], int32[::1], int64, int64, int32[:,::1], int32[:,::1], int32[:,::1])")
def sort_edges(edges, rank, n_states, n_letters, orders, out_states, out_edges):  # type: ignore[no-untyped-def]
    """Edges by state and symbol, and where those of each state begin."""
    n_edges = edges.shape[1]
    for e in range(n_edges):
        edges[3, e] = rank[edges[3, e]]
        orders[1, e] = e
    counting_order(edges[1], n_letters, orders[0], orders[1], orders[2])
    counting_order(edges[3], n_states, orders[0], orders[2], orders[1])
    for v in range(n_states + 1):
        out_states[v, 3] = 0
    for e in range(n_edges):
        old = orders[1, e]
        out_edges[e, 0] = edges[1, old]
        out_edges[e, 1] = rank[edges[2, old]]
        out_states[edges[3, old] + 1, 3] += 1
    for v in range(n_states):
        out_states[v + 1, 3] += out_states[v, 3]


@kernel("void(int32[:,::1], int64, float64[::1], float64[:,::1])")
def add_values(states, n_states, cumulated, out_values):  # type: ignore[no-untyped-def]
    """Level and count of every state, as `automaton` defines them."""
    for v in range(n_states - 1, 0, -1):
        states[states[v, 1], 2] += states[v, 2]
    out_values[0, 0] = 0.0
    out_values[0, 1] = 0.0
    for v in range(1, n_states):
        link = states[v, 1]
        shorter = cumulated[states[link, 0]]
        count = np.float64(states[v, 2])
        out_values[v, 0] = out_values[link, 0] + out_values[link, 1] * shorter - count * shorter
        out_values[v, 1] = count


@kernel(
    "void(int32[::1], int64[::1], int64, int64, float64[::1], int32[::1], int64[:,::1], "
    "int32[:,::1], int32[:,::1], int32[::1], float64[:,::1])"
)
def build_automata(  # type: ignore[no-untyped-def]
    codes,
    starts,
    first,
    last,
    cumulated,
    local,
    out_sizes,
    out_states,
    out_edges,
    out_letters,
    out_values,
):
    """The automata of strings `first` to `last`; where their parts lie is told in `automaton`.

    `local` has a zero for every code of the alphabet, and has it again afterwards.
    """
    longest = np.int64(0)
    for i in range(first, last):
        longest = max(longest, starts[i + 1] - starts[i])
    work = np.empty((4, 2 * longest + 2), np.int32)
    length, link, first_edge, rank = work[0], work[1], work[2], work[3]
    edges = np.empty(4 * (3 * longest + 1), np.int32)
    orders = np.empty((3, 3 * longest + 3), np.int32)
    root_edge = np.empty(longest + 1, np.int32)
    symbols = np.empty(longest, np.int32)
    for i in range(first, last):
        begin, size = starts[i], starts[i + 1] - starts[i]
        n_letters = 0
        for p in range(size):
            code = codes[begin + p]
            if local[code] == 0:
                out_letters[begin + n_letters] = code
                root_edge[n_letters] = -1
                n_letters += 1
                local[code] = n_letters
            symbols[p] = local[code] - 1
        for p in range(n_letters):
            local[out_letters[begin + p]] = 0
        room = edges[: 4 * (3 * size + 1)].reshape(4, 3 * size + 1)
        made = build_one(symbols[:size], length, link, first_edge, root_edge, room)
        n_states, n_edges = made >> 32, made & (2**32 - 1)
        out_sizes[i, 0] = n_states
        out_sizes[i, 1] = n_letters
        for v in range(n_states):
            orders[1, v] = v
        counting_order(length[:n_states], size + 1, orders[0], orders[1], orders[2])
        for v in range(n_states):
            rank[orders[2, v]] = v
        states = out_states[2 * begin + 2 * i : 2 * begin + 2 * i + n_states + 1]
        for v in range(n_states):
            old = orders[2, v]
            states[v, 0] = length[old]
            states[v, 1] = rank[link[old]] if v > 0 else -1
            states[v, 2] = 0
        # Each prefix ends once in the state that reading it leads to, which is no clone.
        state = np.int64(0)
        for p in range(size):
            edge = edge_at(state, symbols[p], root_edge, first_edge, room[0], room[1])
            state = np.int64(room[2, edge])
            states[rank[state], 2] += 1
        add_values(states, n_states, cumulated, out_values[2 * begin + 2 * i :])
        kept = np.empty((4, n_edges), np.int32)
        for e in range(n_edges):
            for field in range(4):
                kept[field, e] = room[field, e]
        sort_edges(kept, rank, n_states, n_letters, orders, states, out_edges[3 * begin :])


# --- Reading --------------------------------------------------------------------------------------


@kernel("void(int32[:,::1], int32[:,::1], int64, uint64, uint32[::1], int32[::1])")
def fill_table(states, edges, n_states, shift, out_next, out_caps):  # type: ignore[no-untyped-def]
    """Next state and cap for every state and symbol; symbol 0 is one that the string lacks."""
    width = np.int64(1) << np.int64(shift)
    for c in range(width):
        out_next[c] = 0
        out_caps[c] = -1
    for v in range(n_states):
        row = v * width
        if v > 0:
            above = states[v, 1] * width
            for c in range(width):
                out_next[row + c] = out_next[above + c]
                out_caps[row + c] = out_caps[above + c]
        for e in range(states[v, 3], states[v + 1, 3]):
            out_next[row + edges[e, 0] + 1] = edges[e, 1]
            out_caps[row + edges[e, 0] + 1] = states[v, 0]


@kernel(
    "float64(int32[::1], int32[::1], uint32[::1], int32[::1], uint64, float64[:,::1], float64[::1])"
)
def read_by_table(codes, local, following, caps, shift, values, cumulated):  # type: ignore[no-untyped-def]
    """Sum over the places of a string of the weight of everything that ends there."""
    v = np.uint64(0)
    length = np.int32(0)
    total = 0.0
    for p in range(codes.size):
        entry = (v << shift) | np.uint64(local[codes[p]])
        length = min(length, caps[entry]) + np.int32(1)
        v = np.uint64(following[entry])
        total += values[v, 0] + values[v, 1] * cumulated[np.uint64(length)]
    return total


@kernel("float64(int32[::1], int32[::1], int32[:,::1], int32[:,::1], float64[:,::1], float64[::1])")
def read_by_search(codes, local, states, edges, values, cumulated):  # type: ignore[no-untyped-def]
    """The same without a table: an edge is searched for, along the links where there is none."""
    v = 0
    length = 0
    total = 0.0
    for p in range(codes.size):
        symbol = local[codes[p]] - 1
        if symbol < 0:
            v, length = 0, 0
            continue
        # The root has an edge for every symbol of its string, so the search ends there at last.
        place = -1
        while place < 0:
            low, high = states[v, 3], states[v + 1, 3]
            while low < high:
                middle = (low + high) >> 1
                if edges[middle, 0] < symbol:
                    low = middle + 1
                else:
                    high = middle
            if low < states[v + 1, 3] and edges[low, 0] == symbol:
                place = low
            else:
                v = states[v, 1]
        length = min(length, states[v, 0]) + 1
        v = edges[place, 1]
        total += values[v, 0] + values[v, 1] * cumulated[length]
    return total


@kernel(
    "void(int64[::1], int64[::1], int64[:,::1], int32[:,::1], int32[:,::1], int32[::1], "
    "float64[:,::1], int32[::1], int64[::1], int64[::1], int64[::1], int64[::1], float64[::1], "
    "int32[::1], uint32[::1], int32[::1], float64[:,::1])"
)
def read_strings(  # type: ignore[no-untyped-def]
    rows,
    starts,
    sizes,
    all_states,
    all_edges,
    letters,
    all_values,
    codes,
    begins,
    read_rows,
    firsts,
    stops,
    cumulated,
    local,
    following,
    caps,
    out,
):
    """Read strings `read_rows[firsts[a]:stops[a]]` of `codes` through automaton `rows[a]`.

    `local` has a zero for every code of the alphabet, and has it again afterwards.
    """
    for a in range(rows.size):
        i = rows[a]
        begin, n_states, n_letters = starts[i], sizes[i, 0], sizes[i, 1]
        states = all_states[2 * begin + 2 * i :]
        values = all_values[2 * begin + 2 * i :]
        edges = all_edges[3 * begin :]
        for c in range(n_letters):
            local[letters[begin + c]] = c + 1
        shift = 1
        while (1 << shift) <= n_letters:
            shift += 1
        tabled = (n_states << shift) <= following.size
        if tabled:
            fill_table(states, edges, n_states, np.uint64(shift), following, caps)
        for b in range(firsts[a], stops[a]):
            j = read_rows[b]
            text = codes[begins[j] : begins[j + 1]]
            if tabled:
                out[a, b - firsts[a]] = read_by_table(
                    text, local, following, caps, np.uint64(shift), values, cumulated
                )
            else:
                out[a, b - firsts[a]] = read_by_search(
                    text, local, states, edges, values, cumulated
                )
        for c in range(n_letters):
            local[letters[begin + c]] = 0
