"""The line below the grid: step, teams and title."""

from abmarl.render.drawing.layout import SCORE_HEIGHT
from abmarl.render.drawing.lines import NAME_LENGTHS, brief_name
from abmarl.render.drawing.markers import marker
from abmarl.render.drawing.sprites import FAINT_INK, INK, text
from abmarl.render.scenes.scene import Scene, Tally

_DOT = 22  # pixels, with a gap
_USUAL, _TIGHT = (15, 16), (13, 7)  # the height of letters, and the gap between teams


def score_line(scene: Scene, left: int, width: int, top: int) -> list:
    """What to blit for the score: step and teams from the left, the title right if it fits.

    Args:
        scene: the scene.
        left: where it begins, and how far from the right edge it ends.
        width: of the picture.
        top: of the line, which is `SCORE_HEIGHT` high.
    """
    x, middle = left, top + SCORE_HEIGHT // 2
    end = width - x
    items: list = []

    def put(image, gap: int) -> bool:
        nonlocal x
        if x + image.get_width() > end:
            return False
        items.append((image, (x, middle - image.get_height() // 2)))
        x += image.get_width() + gap
        return True

    tallies = scene.tallies()
    if scene.step is not None:
        put(text(f"step {scene.step}", 15, INK), 18)
    labels, height, gap = _labels(tallies, end - x)
    for tally, words in zip(tallies, labels, strict=True):
        label = text(words, height, INK)
        dot = marker("o", tally.color, 11.0, False, False)
        if x + dot.get_width() + 4 + label.get_width() > end:
            put(text("...", 15, FAINT_INK), 0)
            return items
        put(dot, 4)
        put(label, gap)
    if scene.title:
        title = text(scene.title, 15, FAINT_INK)
        if x + title.get_width() <= end:
            x = end - title.get_width()
            put(title, 0)
    return items


def _labels(tallies: list[Tally], room: int) -> tuple[list[str], int, int]:
    """Name and numbers of every team, the height of the letters and the gap between teams.

    The gap gets narrower, then letters smaller, then names shorter until all fit, then they are
    left to the colours, where these differ. If that is not enough some teams are left out, and
    names are whole.
    """
    sizes = [(NAME_LENGTHS[0], *_USUAL), (NAME_LENGTHS[0], _USUAL[0], _TIGHT[1])]
    sizes += [(most, *_TIGHT) for most in NAME_LENGTHS]
    if len({one.color for one in tallies}) == len(tallies):
        sizes.append((0, *_TIGHT))
    for most, height, gap in sizes:
        names = [f"{brief_name(one.name, most)} " if most else "" for one in tallies]
        labels = [f"{n}{one.alive}/{one.total}" for n, one in zip(names, tallies, strict=True)]
        widths = [text(words, height, INK).get_width() + _DOT + gap for words in labels]
        if sum(widths) - gap <= room:
            return labels, height, gap
    return [f"{one.name} {one.alive}/{one.total}" for one in tallies], *_TIGHT
