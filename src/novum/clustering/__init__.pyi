from novum.clustering.agglomerative import AgglomerativeClustering

# What other packages use.
from novum.clustering.agreement import INDICES as INDICES
from novum.clustering.agreement import (
    adjusted_mutual_info_score,
    adjusted_rand_score,
    fowlkes_mallows_score,
    pair_jaccard_score,
    purity_score,
    rand_score,
    v_measure_score,
)
from novum.clustering.agreement import contingency as contingency
from novum.clustering.choosing import choose_clusters
from novum.clustering.cluster_choice import ClusterChoice
from novum.clustering.dendrogram import Dendrogram, cophenetic_distances
from novum.clustering.density import DBSCAN
from novum.clustering.divisive import DivisiveClustering
from novum.clustering.hierarchical_density import HDBSCAN
from novum.clustering.k_means import KMeans
from novum.clustering.k_medians import KMedians
from novum.clustering.k_medoids import KMedoids
from novum.clustering.merging import cut_tree, linkage
from novum.clustering.separation import (
    calinski_harabasz_score,
    davies_bouldin_score,
    silhouette_samples,
    silhouette_score,
)
from novum.clustering.starts import KeptRows as KeptRows
from novum.clustering.starts import Starts as Starts
from novum.clustering.stepwise import StepwiseOptimal

__all__ = [
    "DBSCAN",
    "HDBSCAN",
    "AgglomerativeClustering",
    "ClusterChoice",
    "Dendrogram",
    "DivisiveClustering",
    "KMeans",
    "KMedians",
    "KMedoids",
    "StepwiseOptimal",
    "adjusted_mutual_info_score",
    "adjusted_rand_score",
    "calinski_harabasz_score",
    "choose_clusters",
    "cophenetic_distances",
    "cut_tree",
    "davies_bouldin_score",
    "fowlkes_mallows_score",
    "linkage",
    "pair_jaccard_score",
    "purity_score",
    "rand_score",
    "silhouette_samples",
    "silhouette_score",
    "v_measure_score",
]
