"""Rows on their way through a tree; a row may take several branches with shares of itself."""

# mypy: disable-error-code="no-untyped-def"
from __future__ import annotations

from novum.numerics import inner_kernel, lean_kernel

# question, column, threshold, first_child, n_children, share, missing_branch, level_start and
# level_branch of a tree, or of all trees of a forest
TREE = (
    "Tuple((int32[::1], int32[::1], float64[::1], int32[::1], int32[::1], float64[::1], "
    "int32[::1], int32[::1], int32[::1]))"
)
# nodes that wait, and the shares of the row there
STACK = "Tuple((int32[::1], float64[::1]))"
_LEAF = 0
_THRESHOLD = 1


@inner_kernel()
def branch_of(tree, node, x):
    """The branch of cell `x` at `node`; -1 where the row goes down all of them."""
    question, _, threshold, _, _, _, missing_branch, level_start, level_branch = tree
    if x != x:
        return missing_branch[node]
    if question[node] == _THRESHOLD:
        return 0 if x <= threshold[node] else 1
    if x < 0.0:
        return -1
    return level_branch[level_start[node] + int(x)]


@inner_kernel()
def push_children(tree, node, part, stack, depth):
    """Puts the children of a node on the stack with their shares of a row; returns its depth."""
    first_child, n_children, share = tree[3], tree[4], tree[5]
    for child in range(first_child[node], first_child[node] + n_children[node]):
        if share[child] > 0.0:
            stack[0][depth] = child
            stack[1][depth] = part * share[child]
            depth += 1
    return depth


@lean_kernel(
    f"int64({TREE}, int64, float64[:, ::1], boolean, int64[::1], int32[::1], float64[::1], {STACK})"
)
def visits(tree, root, cells, leaves_only, out_start, out_node, out_share, stack):
    """Lists the nodes of every row with the row's share there; returns how many there are.

    `out_start` is the row pointer of a sparse matrix. Where there are more entries than
    `out_node` holds, the rest is counted and not written.
    """
    question, column, first_child = tree[0], tree[1], tree[3]
    count = 0
    for row in range(cells.shape[0]):
        out_start[row] = count
        stack[0][0] = root
        stack[1][0] = 1.0
        depth = 1
        while depth > 0:
            depth -= 1
            node = stack[0][depth]
            part = stack[1][depth]
            while True:
                leaf = question[node] == _LEAF
                if leaf or not leaves_only:
                    if count < out_node.size:
                        out_node[count] = node
                        out_share[count] = part
                    count += 1
                if leaf:
                    break
                branch = branch_of(tree, node, cells[row, column[node]])
                if branch < 0:
                    depth = push_children(tree, node, part, stack, depth)
                    break
                node = first_child[node] + branch
    out_start[cells.shape[0]] = count
    return count


@lean_kernel(
    f"void({TREE}, int64[::1], float64[:, ::1], float64[:, ::1], int64, int64, {STACK}, "
    "float64[:, ::1])"
)
def leaf_values(tree, roots, cells, value, start, stop, stack, out):
    """Adds to rows `start` to `stop` of `out` what the leaves of the trees at `roots` say."""
    question, column, first_child = tree[0], tree[1], tree[3]
    for root in range(roots.size):
        for row in range(start, stop):
            stack[0][0] = roots[root]
            stack[1][0] = 1.0
            depth = 1
            while depth > 0:
                depth -= 1
                node = stack[0][depth]
                part = stack[1][depth]
                split = False
                while question[node] != _LEAF and not split:
                    branch = branch_of(tree, node, cells[row, column[node]])
                    split = branch < 0
                    if split:
                        depth = push_children(tree, node, part, stack, depth)
                    else:
                        node = first_child[node] + branch
                if not split:
                    for k in range(value.shape[1]):
                        out[row, k] += part * value[node, k]
