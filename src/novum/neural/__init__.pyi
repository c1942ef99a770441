from novum.neural.autoencoder import AutoencoderDetector, AutoencoderNetwork
from novum.neural.backend import has_torch
from novum.neural.convolution import Convolution, Pooling, TransposedConvolution
from novum.neural.detector import DeviationThreshold, QuantileThreshold
from novum.neural.explanation import Alarm, UnusualCell
from novum.neural.layers import Activation, Dense, Flatten, MisfitError, Reshape, Resize
from novum.neural.stack import Stack

__all__ = [
    "Activation",
    "Alarm",
    "AutoencoderDetector",
    "AutoencoderNetwork",
    "Convolution",
    "Dense",
    "DeviationThreshold",
    "Flatten",
    "MisfitError",
    "Pooling",
    "QuantileThreshold",
    "Reshape",
    "Resize",
    "Stack",
    "TransposedConvolution",
    "UnusualCell",
    "has_torch",
]
