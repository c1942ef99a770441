from novum.mixture.choosing import ComponentChoice, ComponentRow, choose_components
from novum.mixture.gaussian_mixture import GaussianMixture
from novum.mixture.law_mixture import Mixture
from novum.mixture.mixed_mixture import MixedMixture
from novum.mixture.normal_mixture import NormalMixture
from novum.mixture.novelty import DensityDetector
from novum.mixture.own_models import LatentFit, LatentModel, expectation_maximization

__all__ = [
    "ComponentChoice",
    "ComponentRow",
    "DensityDetector",
    "GaussianMixture",
    "LatentFit",
    "LatentModel",
    "MixedMixture",
    "Mixture",
    "NormalMixture",
    "choose_components",
    "expectation_maximization",
]
