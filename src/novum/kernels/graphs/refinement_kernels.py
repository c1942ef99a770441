"""Compiled signatures of color refinement."""

from __future__ import annotations

from novum.numerics.jit import kernel


@kernel(
    "void(int32[::1], int32[::1], int32[::1], int32[::1], int64[::1], int64[::1], int32[::1], "
    "int32[::1])"
)
def hand_out(color, node, neighbor, kind, out_places, out_ends, out_order, out_values):  # type: ignore[no-untyped-def]
    """Gives each node the colors of its neighbors in ascending order.

    `kind` ascends, and counting keeps the order of arcs of one color, so that the arcs of a node
    ascend by color and then by kind. `out_places` begins where the entries of each node do,
    `out_ends` with zeros.
    """
    for a in range(neighbor.size):
        out_ends[color[neighbor[a]] + 1] += 1
    for c in range(out_ends.size - 1):
        out_ends[c + 1] += out_ends[c]
    # Shifted by one, the ends of colors are the beginnings of the next.
    for a in range(neighbor.size):
        c = color[neighbor[a]]
        out_order[out_ends[c]] = a
        out_ends[c] += 1
    for k in range(out_order.size):
        a = out_order[k]
        v = node[a]
        place = out_places[v]
        if kind[a] != 0:
            out_values[place] = -kind[a]
            place += 1
        out_values[place] = color[neighbor[a]]
        out_places[v] = place + 1
