from novum.clustering.agglomerative import AgglomerativeClustering
from novum.clustering.dendrogram import Dendrogram, cophenetic_distances
from novum.clustering.density import DBSCAN
from novum.clustering.divisive import DivisiveClustering
from novum.clustering.hierarchical_density import HDBSCAN
from novum.clustering.k_means import KMeans
from novum.clustering.k_medians import KMedians
from novum.clustering.k_medoids import KMedoids
from novum.clustering.merging import cut_tree, linkage
from novum.clustering.stepwise import StepwiseOptimal

__all__ = [
    "DBSCAN",
    "HDBSCAN",
    "AgglomerativeClustering",
    "Dendrogram",
    "DivisiveClustering",
    "KMeans",
    "KMedians",
    "KMedoids",
    "StepwiseOptimal",
    "cophenetic_distances",
    "cut_tree",
    "linkage",
]
