"""The parts of the viewer's window, and what is drawn in them: map, widgets, status and panel."""

from typing import Any

from abmarl.render.drawing.geometry import SCORE_HEIGHT
from abmarl.render.drawing.library import pygame
from abmarl.render.drawing.surface import BACKGROUND, draw, draw_score
from abmarl.render.drawing.text import FAINT_INK, INK, brief_name, text_image
from abmarl.render.scenes.scene import Scene
from abmarl.render.viewer.controls import draw_help
from abmarl.render.viewer.panel import PANEL_WIDTH, draw_panel

_CHOSEN = (20, 22, 30)
_PAD = 12


class Widget:
    """What is drawn below the map of a viewer, such as a timeline.

    Attributes:
        height: in pixels.
    """

    height = 0

    def draw(self, surface: pygame.Surface) -> None:
        """Draw it over the whole of a surface of that height."""

    def click(self, x: int, width: int) -> None:
        """React to a click at, or a drag to, pixel `x` of `width`."""


class Canvas:
    """Divides the window of a `Viewer` and draws it.

    The panel is on the right while an agent is chosen, the widgets and the status line are at the
    bottom, the map has the rest.

    Args:
        viewer: the viewer.
    """

    def __init__(self, viewer: Any) -> None:
        self._viewer = viewer
        self._size = (1, 1)

    @property
    def height_below(self) -> int:
        """The height of the status line and of all widgets."""
        return SCORE_HEIGHT + sum(widget.height for widget in self._viewer.widgets)

    def map_rect(self, size: tuple[int, int]) -> pygame.Rect:
        """Return where the map is in a window of some size."""
        self._size = size
        beside = PANEL_WIDTH if self._viewer.chosen is not None else 0
        return pygame.Rect(0, 0, max(size[0] - beside, 1), max(size[1] - self.height_below, 1))

    def widget_rects(self) -> list[pygame.Rect]:
        """Return where the widgets are."""
        area = self.map_rect(self._size)
        y, rects = area.bottom, []
        for widget in self._viewer.widgets:
            rects.append(pygame.Rect(0, y, area.width, widget.height))
            y += widget.height
        return rects

    def on_map(self, place: tuple[int, int]) -> bool:
        """Return whether a point of the window is on the map."""
        return self.map_rect(self._size).collidepoint(place)

    def widget_at(self, place: tuple[int, int]) -> int | None:
        """Return the number of the widget at a point of the window, if there is one."""
        found = [k for k, rect in enumerate(self.widget_rects()) if rect.collidepoint(place)]
        return found[0] if found else None

    def click_widget(self, number: int, place: tuple[int, int]) -> None:
        """Click a widget in the column of a point of the window."""
        rect = self.widget_rects()[number]
        x = min(max(place[0] - rect.left, 0), rect.width - 1)
        self._viewer.widgets[number].click(x, rect.width)

    def draw(self, surface: pygame.Surface, scene: Scene) -> None:
        """Draw the whole window."""
        viewer = self._viewer
        size = surface.get_size()
        area = self.map_rect(size)
        surface.fill(BACKGROUND, (0, area.bottom, *size))
        self._draw_map(surface.subsurface(area.clip(surface.get_rect())), scene)
        for widget, rect in zip(viewer.widgets, self.widget_rects(), strict=True):
            rect = rect.clip(surface.get_rect())
            if rect.height:
                widget.draw(surface.subsurface(rect))
        self._draw_status(surface, scene, area.width)
        if viewer.chosen is not None and size[0] > PANEL_WIDTH:
            rect = pygame.Rect(size[0] - PANEL_WIDTH, 0, PANEL_WIDTH, size[1])
            facts = viewer.show.facts(viewer.world, viewer.chosen)
            observed = viewer.show.observed(viewer.world, viewer.chosen)
            draw_panel(surface.subsurface(rect), scene, viewer.chosen, facts, observed)
        if viewer.helping:
            draw_help(surface, area.center, viewer.controls, viewer.input_handler.help_lines)

    def _draw_map(self, surface: pygame.Surface, scene: Scene) -> None:
        viewer, geometry = self._viewer, self._viewer.view.geometry
        slot = viewer.chosen
        sight = None if slot is None else viewer.show.sight(viewer.world, slot)
        draw(scene, surface, geometry, sight, viewer.input_handler.highlights())
        if slot is not None:
            x, y = geometry.corner(int(scene.row[slot]), int(scene.col[slot]))
            around = pygame.Rect(x, y, geometry.cell + 1, geometry.cell + 1)
            more = max(0, 9 - geometry.cell)
            pygame.draw.rect(surface, _CHOSEN, around.inflate(more, more), 2, border_radius=3)

    def _draw_status(self, surface: pygame.Surface, scene: Scene, width: int) -> None:
        """Draw the score, and at its right pause or pace, the world, and where keys are listed."""
        viewer = self._viewer
        top = surface.get_height() - SCORE_HEIGHT
        middle = top + SCORE_HEIGHT // 2
        words = [text_image("h: keys", 14, FAINT_INK)]
        if viewer.show.num_worlds > 1:
            number = f"world {viewer.world + 1} of {viewer.show.num_worlds}"
            words.append(text_image(number, 14, INK))
        if viewer.following and viewer.chosen is not None:
            name = brief_name(scene.ids[viewer.chosen], 12)
            words.append(text_image(f"follows {name}", 14, INK))
        if not viewer.show.waits:
            words.append(text_image(f"{viewer.speed:g}/s", 14, INK))
        x = width - _PAD
        for image in words:
            x -= image.get_width()
            surface.blit(image, (x, middle - image.get_height() // 2))
            x -= 14
        x -= 2
        if not viewer.show.waits:  # else there is no pace
            if viewer.paused:
                for left in (x - 8, x - 3):
                    surface.fill(INK, (left, middle - 6, 3, 11))
            else:
                corners = [(x - 8, middle - 6), (x - 8, middle + 5), (x, middle - 0.5)]
                pygame.draw.polygon(surface, INK, corners)
        draw_score(scene, surface, _PAD, x - 8, top)
