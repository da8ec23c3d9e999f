"""Pictures that notebooks show."""

import io

import numpy as np

from abmarl.extras import load


class Picture:
    """A picture; what stands last in a cell of a notebook is shown there.

    Args:
        pixels: uint8 [height, width, 3].

    Attributes:
        pixels: likewise.
    """

    def __init__(self, pixels: np.ndarray):
        self.pixels = pixels

    def png(self) -> bytes:
        """The picture as a PNG file.

        Raises:
            ImportError: Pillow is missing.
        """
        data = io.BytesIO()
        load("PIL.Image").fromarray(self.pixels).save(data, format="PNG")
        return data.getvalue()

    def _repr_png_(self) -> bytes:
        return self.png()

    def __repr__(self) -> str:
        return f"Picture({self.pixels.shape[1]} x {self.pixels.shape[0]} pixels)"
