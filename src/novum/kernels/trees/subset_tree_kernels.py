"""Compiled walk of the subset-tree kernel: nodes of equal production, children before parents.

The nodes of the walked tree come from the right, so that those of a node's children are the topmost
of the stack when the node comes. A row of the stack holds `C(node, u)` for the nodes `u` of the met
tree that have the node's production, by their rank; it is empty for leaves and where there is none.
"""

from __future__ import annotations

from novum.numerics import kernel


@kernel(
    "void(int64[::1], int64[::1], int64[::1], int64[::1], int64[::1], int64[::1], int64[::1], "
    "int64[::1], int64[::1], int64[::1], int64[::1], int64[::1], int64, float64, int64[::1], "
    "int64[:,::1], float64[::1], float64[::1])"
)
def fill_column(  # type: ignore[no-untyped-def]
    production,
    arity,
    starts,
    rows,
    met_production,
    met_rank,
    met_first_child,
    met_children,
    met_ordered,
    met_group_production,
    met_group_starts,
    met_tree_groups,
    met_tree,
    decay,
    out_places,
    out_levels,
    out_stack,
    out_values,
):
    """Similarities of the walked trees at `rows` and one met tree.

    `out_places` is -1 everywhere, before and after; `out_levels` has for every row of the stack
    where it begins and its production.
    """
    for g in range(met_tree_groups[met_tree], met_tree_groups[met_tree + 1]):
        out_places[met_group_production[g]] = g
    for i in range(rows.size):
        total = 0.0
        top = 0
        out_levels[0, 0] = 0
        for back in range(starts[rows[i] + 1] - starts[rows[i]]):
            node = starts[rows[i] + 1] - 1 - back
            k = arity[node]
            code = production[node]
            bottom = top - k
            width = 0
            if k > 0 and out_places[code] >= 0:
                g = out_places[code]
                first = met_group_starts[g]
                width = met_group_starts[g + 1] - first
                free = out_levels[0, top]
                for r in range(width):
                    met = met_ordered[first + r]
                    value = decay
                    for c in range(k):
                        child = met_children[met_first_child[met] + c]
                        level = top - 1 - c
                        if (
                            met_production[child] >= 0
                            and met_production[child] == out_levels[1, level]
                        ):
                            value *= 1.0 + out_stack[out_levels[0, level] + met_rank[child]]
                    out_stack[free + r] = value
                    total += value
                # The children's rows are done with; the node's row takes their place.
                low = out_levels[0, bottom]
                for r in range(width):
                    out_stack[low + r] = out_stack[free + r]
            out_levels[1, bottom] = code if width > 0 else -1
            out_levels[0, bottom + 1] = out_levels[0, bottom] + width
            top = bottom + 1
        out_values[i] = total
    for g in range(met_tree_groups[met_tree], met_tree_groups[met_tree + 1]):
        out_places[met_group_production[g]] = -1


@kernel("int64(int64[::1], int64[::1], int64[::1], int64[::1], int64[::1], int64[::1])")
def stack_needed(production, arity, starts, rows, widths, out_levels):  # type: ignore[no-untyped-def]
    """Cells of the stack for the walked trees at `rows`, of groups of these widths."""
    cells = 0
    for i in range(rows.size):
        top = 0
        out_levels[0] = 0
        for back in range(starts[rows[i] + 1] - starts[rows[i]]):
            node = starts[rows[i] + 1] - 1 - back
            width = widths[production[node]] if arity[node] > 0 else 0
            cells = max(cells, out_levels[top] + width)
            top -= arity[node]
            out_levels[top + 1] = out_levels[top] + width
            top += 1
    return cells
