from novum.decomposition.component_choice import ByEvidence, ByLikelihood, ByVariance
from novum.decomposition.discriminant import DiscriminantProjection

# What other packages use.
from novum.decomposition.discriminant_directions import directions_of as directions_of
from novum.decomposition.discriminant_directions import ratio_shares as ratio_shares
from novum.decomposition.low_rank_normal import LatentPosterior, LowRankNormal
from novum.decomposition.pca import PCA
from novum.decomposition.plots import plot_biplot, plot_projection, plot_scree
from novum.decomposition.probabilistic_pca import NoiseFloorWarning, ProbabilisticPCA

__all__ = [
    "PCA",
    "ByEvidence",
    "ByLikelihood",
    "ByVariance",
    "DiscriminantProjection",
    "LatentPosterior",
    "LowRankNormal",
    "NoiseFloorWarning",
    "ProbabilisticPCA",
    "plot_biplot",
    "plot_projection",
    "plot_scree",
]
