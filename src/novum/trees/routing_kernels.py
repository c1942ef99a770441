"""Rows on their way through a tree; a row may take several branches with shares of itself.

The arrays of the tree come one by one, in the order of `TREE`, because kernels take no objects.
"""

# mypy: disable-error-code="no-untyped-def"
from __future__ import annotations

from novum.numerics.jit import kernel

TREE = (
    "int32[::1], int32[::1], float64[::1], int32[::1], int32[::1], float64[::1], int32[::1], "
    "int32[::1], int32[::1]"
)
_LEAF = 0
_THRESHOLD = 1


@kernel("int64(int64, float64, float64, int32, int32[::1], int32[::1], int32[::1])")
def branch_of(node, x, threshold, question, missing_branch, level_start, level_branch):
    """The branch of cell `x` at `node`; -1 where the row goes down all of them."""
    if x != x:
        return missing_branch[node]
    if question == _THRESHOLD:
        return 0 if x <= threshold else 1
    if x < 0.0:
        return -1
    return level_branch[level_start[node] + int(x)]


@kernel(
    f"int64({TREE}, int64, float64[:, ::1], boolean, int64[::1], int32[::1], float64[::1], "
    "int32[::1], float64[::1])"
)
def visits(
    question,
    column,
    threshold,
    first_child,
    n_children,
    share,
    missing_branch,
    level_start,
    level_branch,
    root,
    cells,
    leaves_only,
    out_start,
    out_node,
    out_share,
    stack_node,
    stack_share,
):
    """Lists the nodes of every row with the row's share there; returns how many there are.

    `out_start` is the row pointer of a sparse matrix. Where there are more entries than
    `out_node` holds, the rest is counted and not written.
    """
    count = 0
    for row in range(cells.shape[0]):
        out_start[row] = count
        stack_node[0] = root
        stack_share[0] = 1.0
        depth = 1
        while depth > 0:
            depth -= 1
            node = stack_node[depth]
            part = stack_share[depth]
            while True:
                leaf = question[node] == _LEAF
                if leaf or not leaves_only:
                    if count < out_node.size:
                        out_node[count] = node
                        out_share[count] = part
                    count += 1
                if leaf:
                    break
                branch = branch_of(
                    node,
                    cells[row, column[node]],
                    threshold[node],
                    question[node],
                    missing_branch,
                    level_start,
                    level_branch,
                )
                first = first_child[node]
                if branch >= 0:
                    node = first + branch
                    continue
                for child in range(first, first + n_children[node]):
                    if share[child] > 0.0:
                        stack_node[depth] = child
                        stack_share[depth] = part * share[child]
                        depth += 1
                break
    out_start[cells.shape[0]] = count
    return count


@kernel(
    f"void({TREE}, int64[::1], float64[:, ::1], float64[:, ::1], int64, int64, int32[::1], "
    "float64[::1], float64[:, ::1])"
)
def leaf_values(
    question,
    column,
    threshold,
    first_child,
    n_children,
    share,
    missing_branch,
    level_start,
    level_branch,
    roots,
    cells,
    value,
    start,
    stop,
    stack_node,
    stack_share,
    out,
):
    """Adds to rows `start` to `stop` of `out` what the leaves of the trees at `roots` say."""
    for tree in range(roots.size):
        for row in range(start, stop):
            stack_node[0] = roots[tree]
            stack_share[0] = 1.0
            depth = 1
            while depth > 0:
                depth -= 1
                node = stack_node[depth]
                part = stack_share[depth]
                split = False
                while question[node] != _LEAF and not split:
                    branch = branch_of(
                        node,
                        cells[row, column[node]],
                        threshold[node],
                        question[node],
                        missing_branch,
                        level_start,
                        level_branch,
                    )
                    first = first_child[node]
                    if branch >= 0:
                        node = first + branch
                        continue
                    split = True
                    for child in range(first, first + n_children[node]):
                        if share[child] > 0.0:
                            stack_node[depth] = child
                            stack_share[depth] = part * share[child]
                            depth += 1
                if not split:
                    for k in range(value.shape[1]):
                        out[row, k] += part * value[node, k]
