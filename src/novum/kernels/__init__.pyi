from novum.kernels.algebra import Constant, Power, Product, Scaled, Sum
from novum.kernels.callables import FromCallable
from novum.kernels.contracts import check_kernel_contract
from novum.kernels.graphs.graph import Graph
from novum.kernels.graphs.graph_forms import from_adjacency, from_neighbors, from_networkx
from novum.kernels.graphs.histograms import EdgeHistogram, VertexHistogram
from novum.kernels.graphs.isomorphism import ColorDifference, IsomorphismTest, isomorphism_test
from novum.kernels.graphs.shortest_path import ShortestPath
from novum.kernels.graphs.weisfeiler_lehman import WeisfeilerLehman
from novum.kernels.landmarks.low_rank import LowRank, LowRankForm, low_rank
from novum.kernels.landmarks.nystroem import Nystroem

# What other packages use.
from novum.kernels.names import NAMES as NAMES
from novum.kernels.names import resolve_kernel
from novum.kernels.normalization import normalize
from novum.kernels.parts import on
from novum.kernels.parts import rows_of as rows_of
from novum.kernels.precomputed import Precomputed
from novum.kernels.projection import project, shift
from novum.kernels.protocol import Kernel, Prepared
from novum.kernels.strings.spectrum import Spectrum
from novum.kernels.strings.substrings import Substrings
from novum.kernels.target_alignment.cosine import alignment, centered_alignment, ideal_matrix
from novum.kernels.target_alignment.weights import AlignmentWeights, joint_weights, single_weights
from novum.kernels.trees.ordered_tree import OrderedTree
from novum.kernels.trees.subset_tree import SubsetTreeKernel
from novum.kernels.trees.subtree import SubtreeKernel
from novum.kernels.validity import IndefiniteKernelError, KernelVerdict, check_kernel
from novum.kernels.validity import admitted as admitted
from novum.kernels.vectors.delta import Delta
from novum.kernels.vectors.gaussian import Gaussian
from novum.kernels.vectors.linear import Linear
from novum.kernels.vectors.mixed import Mixed
from novum.kernels.vectors.polynomial import Polynomial
from novum.kernels.vectors.sigmoid import Sigmoid
from novum.kernels.vectors.vector_rows import ProductRows as ProductRows

__all__ = [
    "AlignmentWeights",
    "ColorDifference",
    "Constant",
    "Delta",
    "EdgeHistogram",
    "FromCallable",
    "Gaussian",
    "Graph",
    "IndefiniteKernelError",
    "IsomorphismTest",
    "Kernel",
    "KernelVerdict",
    "Linear",
    "LowRank",
    "LowRankForm",
    "Mixed",
    "Nystroem",
    "OrderedTree",
    "Polynomial",
    "Power",
    "Precomputed",
    "Prepared",
    "Product",
    "Scaled",
    "ShortestPath",
    "Sigmoid",
    "Spectrum",
    "SubsetTreeKernel",
    "Substrings",
    "SubtreeKernel",
    "Sum",
    "VertexHistogram",
    "WeisfeilerLehman",
    "alignment",
    "centered_alignment",
    "check_kernel",
    "check_kernel_contract",
    "from_adjacency",
    "from_neighbors",
    "from_networkx",
    "ideal_matrix",
    "isomorphism_test",
    "joint_weights",
    "low_rank",
    "normalize",
    "on",
    "project",
    "resolve_kernel",
    "shift",
    "single_weights",
]
