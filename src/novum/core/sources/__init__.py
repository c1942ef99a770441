"""Files as sources: a schema plus chunks that can be read again and again."""

from novum import lazy_door

__getattr__, __dir__, __all__ = lazy_door(__name__, __file__)
