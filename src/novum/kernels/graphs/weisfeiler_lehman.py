"""The Weisfeiler-Lehman kernel: a base kernel on labels that know more and more of the graph.

    k(G, H) = sum over t = 0 ... iterations of base(G with color_t, H with color_t)

`color_0` is the label of a node, `color_t` stands for its color before and the *multiset* of its
neighbors' (`novum.kernels.graphs.refinement`). With the vertex histogram as base this is the
subtree kernel: two nodes have the same `color_t` exactly if the trees of all walks of t steps from
them look the same. Iteration 0 is part of the sum.

Every iteration costs time linear in the nodes and edges. Where no further iteration can tell more
nodes apart, the sum goes on with the colors as they are.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from numbers import Integral

from novum.core.errors import InputError
from novum.core.text import label_text
from novum.kernels.graphs.graph_kernel import GraphKernel, Items
from novum.kernels.graphs.graph_sample import GraphSample
from novum.kernels.graphs.histograms import VertexHistogram


@dataclass(frozen=True)
class WeisfeilerLehman(GraphKernel):
    """Similarity of labelled graphs by the neighborhoods of their nodes.

    Parameters
    ----------
    base : GraphKernel
        What is compared in each iteration: `VertexHistogram()` (the subtree kernel),
        `EdgeHistogram()` or `ShortestPath()`.
    iterations : int
        How often labels are refined. The sum has one term more: the labels themselves.

    Notes
    -----
    Labels of edges, and their directions, take part in the refinement. Nodes without labels are
    all alike, and are told apart by their degrees in the first iteration.

    References
    ----------
    Shervashidze, Schweitzer, van Leeuwen, Mehlhorn and Borgwardt (2011), Weisfeiler-Lehman graph
    kernels, Journal of Machine Learning Research 12.

    Examples
    --------
    >>> path, triangle = ([(0, 1), (1, 2)], "aaa"), ([(0, 1), (1, 2), (0, 2)], "aaa")
    >>> WeisfeilerLehman(iterations=1).gram([path, triangle])
    array([[14., 12.],
           [12., 18.]])

    The path has one node with two neighbors, the triangle three: 9 + 1 * 3.
    """

    base: GraphKernel = field(default_factory=VertexHistogram)
    iterations: int = 5

    def __post_init__(self) -> None:
        if not isinstance(self.base, GraphKernel) or isinstance(self.base, WeisfeilerLehman):
            raise InputError(
                f"base is a kernel on graphs without iterations of its own, got "
                f"{label_text(self.base)}. Use VertexHistogram(), EdgeHistogram() or "
                "ShortestPath()."
            )
        is_whole = isinstance(self.iterations, Integral) and not isinstance(self.iterations, bool)
        if not is_whole or self.iterations < 0:
            raise InputError(
                f"iterations is a whole number of at least 0, got {label_text(self.iterations)}."
            )
        object.__setattr__(self, "iterations", int(self.iterations))

    @property
    def refining_iterations(self) -> int:
        return self.iterations

    def items(self, sample: GraphSample) -> Items:
        return self.base.items(sample)
