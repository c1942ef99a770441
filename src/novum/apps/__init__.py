"""What people start: the main job in Python, the command line, reports and the studio."""

from novum import lazy_door

__getattr__, __dir__, __all__ = lazy_door(__name__, __file__)
