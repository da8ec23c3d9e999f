"""Scatter plots in which every point has a marker of its own."""

from collections.abc import Sequence
from typing import Any

import numpy as np

__all__ = ["mscatter"]


def mscatter(x: Any, y: Any, ax: Any = None, m: Sequence[str] | None = None, **kwargs: Any) -> Any:
    """Draw points as ``Axes.scatter`` does, with one marker per point.

    Args:
        x: where the points are, float [n].
        y: the other coordinate of the points.
        ax: the axes to draw on; None: the current ones.
        m: a matplotlib marker per point; None: circles.
        **kwargs: for ``Axes.scatter``.

    Returns:
        The collection that has been drawn.

    Raises:
        ImportError: the extra ``render`` is not installed.
        ValueError: there are more or fewer markers than points.
    """
    try:
        import matplotlib.pyplot as plt
        from matplotlib.markers import MarkerStyle
    except ImportError as error:
        raise ImportError("mscatter needs matplotlib: pip install 'abmarl[render]'") from error
    points = np.size(x)
    if m is not None and len(m) != points:
        raise ValueError(f"m must hold a marker for each of the {points} points, got {len(m)}")
    drawn = (plt.gca() if ax is None else ax).scatter(x, y, **kwargs)
    if m is not None:
        styles = [MarkerStyle(marker) for marker in m]
        drawn.set_paths([style.get_path().transformed(style.get_transform()) for style in styles])
    return drawn
