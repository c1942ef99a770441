from novum.neural.adversarial import GenerativeAdversarialNetwork, GeneratorReport
from novum.neural.autoencoder import AutoencoderDetector, AutoencoderNetwork
from novum.neural.backend import has_torch
from novum.neural.convolution import Convolution, Pooling, TransposedConvolution
from novum.neural.detector import DeviationThreshold, QuantileThreshold
from novum.neural.energy import EnergyTest, energy_test
from novum.neural.ensemble import DetectorEnsemble
from novum.neural.explanation import Alarm, UnusualCell
from novum.neural.layers import Activation, Dense, Flatten, MisfitError, Reshape, Resize
from novum.neural.stack import Stack
from novum.neural.traversal import Traversal
from novum.neural.variational import VariationalAutoencoder

__all__ = [
    "Activation",
    "Alarm",
    "AutoencoderDetector",
    "AutoencoderNetwork",
    "Convolution",
    "Dense",
    "DetectorEnsemble",
    "DeviationThreshold",
    "EnergyTest",
    "Flatten",
    "GenerativeAdversarialNetwork",
    "GeneratorReport",
    "MisfitError",
    "Pooling",
    "QuantileThreshold",
    "Reshape",
    "Resize",
    "Stack",
    "TransposedConvolution",
    "Traversal",
    "UnusualCell",
    "VariationalAutoencoder",
    "energy_test",
    "has_torch",
]
