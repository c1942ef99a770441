from novum.neural.backend import has_torch
from novum.neural.convolution import Convolution, Pooling, TransposedConvolution
from novum.neural.layers import Activation, Dense, Flatten, MisfitError, Reshape, Resize
from novum.neural.stack import Stack

__all__ = [
    "Activation",
    "Convolution",
    "Dense",
    "Flatten",
    "MisfitError",
    "Pooling",
    "Reshape",
    "Resize",
    "Stack",
    "TransposedConvolution",
    "has_torch",
]
