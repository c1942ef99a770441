"""Models and results on disk: `.novum` files, the registry of what they may hold, safe writes."""

from novum import lazy_door

__getattr__, __dir__, __all__ = lazy_door(__name__, __file__)
