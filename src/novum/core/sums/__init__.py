"""Statistics that add up: sums over blocks, streams and clusters, EM on sums, exact folds."""

from novum import lazy_door

__getattr__, __dir__, __all__ = lazy_door(__name__, __file__)
