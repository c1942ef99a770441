from novum.clustering.k_means import KMeans

__all__ = ["KMeans"]
