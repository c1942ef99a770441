"""From probabilities to actions: costs, working points, classifiers retargeted to them."""

from novum import lazy_door

__getattr__, __dir__, __all__ = lazy_door(__name__, __file__)
