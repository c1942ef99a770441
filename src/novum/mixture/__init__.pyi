from novum.mixture.choosing import ComponentChoice, ComponentRow, choose_components
from novum.mixture.gaussian_mixture import GaussianMixture
from novum.mixture.mixed_mixture import MixedMixture
from novum.mixture.normal_mixture import NormalMixture

__all__ = [
    "ComponentChoice",
    "ComponentRow",
    "GaussianMixture",
    "MixedMixture",
    "NormalMixture",
    "choose_components",
]
