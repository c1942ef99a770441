"""Pictures of what a dimension of a code stands for."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from novum.core.tables import Schema
from novum.core.text import printable
from novum.display import Axis, Box, Chart, Drawing, Label, Line
from novum.neural.layers import Shape
from novum.numerics import Floats

# Lines that a reader can tell apart, and the side of a pixel.
_MOST, _PIXEL = 6, 6.0


@dataclass(frozen=True, eq=False)
class Traversal:
    """What is expected along one dimension of a code.

    Attributes
    ----------
    dimension : int
    positions : array (steps,)
    table : array (steps, columns)
        Expected numbers and likeliest levels.
    numbers : array (steps, numeric)
        In standard units.
    chances : tuple of arrays (steps, levels)
        Of every column with levels.
    schema : Schema
    image_shape : tuple
        Empty for tables.
    """

    dimension: int
    positions: Floats
    table: Any
    numbers: Floats
    chances: tuple[Floats, ...]
    schema: Schema
    image_shape: Shape = ()

    def chart(self) -> Chart:
        """The columns that change most: numbers in standard units, chances of levels."""
        names = [self.schema.names[j] for j in self.schema.numeric]
        curves = [(names[j], self.numbers[:, j]) for j in range(len(names))]
        for column, chances in zip(self.schema.categorical_columns, self.chances, strict=True):
            level = int(np.argmax(np.ptp(chances, axis=0)))
            curves.append((f"{column.name} = {column.levels[level]}", chances[:, level]))
        curves.sort(key=lambda curve: -float(np.ptp(curve[1])))
        marks = [
            Line(self.positions, values, printable(name, 30), color)
            for color, (name, values) in enumerate(curves[:_MOST])
        ]
        return Chart(
            Axis(f"dimension {self.dimension} of the code"),
            Axis("standard units, or chance"),
            marks,
            f"Along dimension {self.dimension}",
        )

    def picture(self) -> Drawing:
        """Images side by side, dark where numbers are large; a chart for tables."""
        if len(self.image_shape) != 3:
            return self.chart().drawing()
        _, height, width = self.image_shape
        images = self.numbers.reshape(len(self.positions), *self.image_shape).mean(axis=1)
        low, span = float(images.min()), float(np.ptp(images)) or 1.0
        shapes: list[Any] = []
        for step, image in enumerate(images):
            left = step * (width + 1) * _PIXEL
            for y in range(height):
                for x in range(width):
                    shade = round((float(image[y, x]) - low) / span, 2)
                    if shade > 0:
                        place = (left + x * _PIXEL, y * _PIXEL, _PIXEL, _PIXEL)
                        shapes.append(Box(*place, fill="ink", opacity=shade))
            middle = left + width * _PIXEL / 2
            shapes.append(Label(middle, (height + 2) * _PIXEL, f"{self.positions[step]:.1f}"))
        sheet = (len(images) * (width + 1) * _PIXEL, (height + 3) * _PIXEL)
        return Drawing(*sheet, shapes, f"Images along dimension {self.dimension} of the code")
