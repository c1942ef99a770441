"""What runs a computation: threads, clusters, memory, progress, interruption, randomness."""

from novum import lazy_door

__getattr__, __dir__, __all__ = lazy_door(__name__, __file__)
