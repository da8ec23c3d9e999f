"""Draws who has attacked whom."""

import numpy as np

from abmarl.extras import load
from abmarl.render.drawing.layout import Layout
from abmarl.render.drawing.sprites import burst
from abmarl.render.scenes.scene import Scene

pygame = load("pygame")

FLASH = (236, 86, 24)
_MISS = (96, 92, 104)


def cell_middles(scene: Scene, plan: Layout) -> tuple[np.ndarray, np.ndarray]:
    """float [N], float [N]: where the middles of the agents' cells are, x and y."""
    middle = (plan.cell + 1) / 2
    x = plan.left + scene.col.astype(np.float64) * plan.cell + middle
    return x, plan.top + scene.row.astype(np.float64) * plan.cell + middle


def draw_attacks(
    scene: Scene, surface, plan: Layout, x: np.ndarray, y: np.ndarray, reach: np.ndarray
) -> None:
    """A wedge from attacker to target with a star where it hits; a ring for a miss.

    Agents are at float [N] `x` and `y`, and `reach` is the radius of a ring around each.
    """
    bounds = surface.get_rect().inflate(2 * plan.cell, 2 * plan.cell)
    width = max(1.0, 0.09 * plan.cell)
    star = burst(plan.cell, FLASH)
    half = star.get_width() / 2
    stars = []
    for attacker, target in scene.attacks.tolist():
        start = float(x[attacker]), float(y[attacker])
        if target < 0:
            if plan.cell >= 10 and scene.alive[attacker] and bounds.collidepoint(start):
                # Thick enough for films, which lose lines of a pixel, and dark enough for the fog.
                ring = max(2, round(0.05 * plan.cell))
                pygame.draw.circle(surface, _MISS, start, float(reach[attacker]) + 1, ring)
            continue
        end = float(x[target]), float(y[target])
        if not bounds.collidepoint(start) and not bounds.collidepoint(end):
            continue
        across, down = end[0] - start[0], end[1] - start[1]
        length = max((across**2 + down**2) ** 0.5, 1e-9)
        nx, ny = -down / length * width, across / length * width
        wedge = [(start[0] + nx, start[1] + ny), (start[0] - nx, start[1] - ny), end]
        if plan.cell >= 8:
            # Not with aalines for smooth edges: it leaves dots in the colours of other pixels.
            pygame.draw.polygon(surface, FLASH, wedge)
            stars.append((star, (round(end[0] - half), round(end[1] - half))))
        else:
            pygame.draw.line(surface, FLASH, start, end)
    surface.blits(stars, False)
