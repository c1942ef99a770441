from novum.mixture.gaussian_mixture import GaussianMixture
from novum.mixture.normal_mixture import NormalMixture

__all__ = ["GaussianMixture", "NormalMixture"]
