"""A drawing as SVG source."""

from __future__ import annotations

import os

from novum.core.files import replacing


class SvgText(str):
    """SVG source that notebooks show as the picture it is.

    Examples
    --------
    >>> SvgText('<svg xmlns="http://www.w3.org/2000/svg"></svg>')[:4]
    '<svg'
    """

    __slots__ = ()

    def _repr_svg_(self) -> str:
        return str(self)

    def _repr_html_(self) -> str:
        return str(self)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the picture as a file, usually `.svg`."""
        with replacing(path) as file:
            file.write(self.encode("utf-8"))
