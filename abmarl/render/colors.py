"""Colours by name, as matplotlib knows them, without importing matplotlib.

Known: the names of CSS Color Module Level 4 (``"gray"`` and ``"grey"``), the single letters
``"bgrcmykw"``, ``"tab:blue"`` and its nine siblings, the cycle ``"C0"``, ``"C1"``, ..., grey levels
as text (``"0.5"``), hex (``"#rgb"``, ``"#rrggbb"``, both also with alpha) and tuples of floats.
"""

import difflib
import functools
import re
from collections.abc import Sequence

RGB = tuple[int, int, int]

_CSS = """
    aliceblue#f0f8ff antiquewhite#faebd7 aqua#00ffff aquamarine#7fffd4 azure#f0ffff beige#f5f5dc
    bisque#ffe4c4 black#000000 blanchedalmond#ffebcd blue#0000ff blueviolet#8a2be2 brown#a52a2a
    burlywood#deb887 cadetblue#5f9ea0 chartreuse#7fff00 chocolate#d2691e coral#ff7f50
    cornflowerblue#6495ed cornsilk#fff8dc crimson#dc143c cyan#00ffff darkblue#00008b
    darkcyan#008b8b darkgoldenrod#b8860b darkgray#a9a9a9 darkgreen#006400 darkkhaki#bdb76b
    darkmagenta#8b008b darkolivegreen#556b2f darkorange#ff8c00 darkorchid#9932cc darkred#8b0000
    darksalmon#e9967a darkseagreen#8fbc8f darkslateblue#483d8b darkslategray#2f4f4f
    darkturquoise#00ced1 darkviolet#9400d3 deeppink#ff1493 deepskyblue#00bfff dimgray#696969
    dodgerblue#1e90ff firebrick#b22222 floralwhite#fffaf0 forestgreen#228b22 fuchsia#ff00ff
    gainsboro#dcdcdc ghostwhite#f8f8ff gold#ffd700 goldenrod#daa520 gray#808080 green#008000
    greenyellow#adff2f honeydew#f0fff0 hotpink#ff69b4 indianred#cd5c5c indigo#4b0082 ivory#fffff0
    khaki#f0e68c lavender#e6e6fa lavenderblush#fff0f5 lawngreen#7cfc00 lemonchiffon#fffacd
    lightblue#add8e6 lightcoral#f08080 lightcyan#e0ffff lightgoldenrodyellow#fafad2
    lightgray#d3d3d3 lightgreen#90ee90 lightpink#ffb6c1 lightsalmon#ffa07a lightseagreen#20b2aa
    lightskyblue#87cefa lightslategray#778899 lightsteelblue#b0c4de lightyellow#ffffe0 lime#00ff00
    limegreen#32cd32 linen#faf0e6 magenta#ff00ff maroon#800000 mediumaquamarine#66cdaa
    mediumblue#0000cd mediumorchid#ba55d3 mediumpurple#9370db mediumseagreen#3cb371
    mediumslateblue#7b68ee mediumspringgreen#00fa9a mediumturquoise#48d1cc mediumvioletred#c71585
    midnightblue#191970 mintcream#f5fffa mistyrose#ffe4e1 moccasin#ffe4b5 navajowhite#ffdead
    navy#000080 oldlace#fdf5e6 olive#808000 olivedrab#6b8e23 orange#ffa500 orangered#ff4500
    orchid#da70d6 palegoldenrod#eee8aa palegreen#98fb98 paleturquoise#afeeee palevioletred#db7093
    papayawhip#ffefd5 peachpuff#ffdab9 peru#cd853f pink#ffc0cb plum#dda0dd powderblue#b0e0e6
    purple#800080 rebeccapurple#663399 red#ff0000 rosybrown#bc8f8f royalblue#4169e1
    saddlebrown#8b4513 salmon#fa8072 sandybrown#f4a460 seagreen#2e8b57 seashell#fff5ee
    sienna#a0522d silver#c0c0c0 skyblue#87ceeb slateblue#6a5acd slategray#708090 snow#fffafa
    springgreen#00ff7f steelblue#4682b4 tan#d2b48c teal#008080 thistle#d8bfd8 tomato#ff6347
    turquoise#40e0d0 violet#ee82ee wheat#f5deb3 white#ffffff whitesmoke#f5f5f5 yellow#ffff00
    yellowgreen#9acd32
"""

_TABLEAU = """
    tab:blue#1f77b4 tab:orange#ff7f0e tab:green#2ca02c tab:red#d62728 tab:purple#9467bd
    tab:brown#8c564b tab:pink#e377c2 tab:gray#7f7f7f tab:olive#bcbd22 tab:cyan#17becf
"""
# matplotlib's letters are not the CSS colours of the same first letter: green is half as bright.
_LETTERS = "b#0000ff g#008000 r#ff0000 c#00bfbf m#bf00bf y#bfbf00 k#000000 w#ffffff"
_TABLE = {
    name: f"#{value}"
    for name, value in (one.split("#") for one in f"{_CSS} {_TABLEAU} {_LETTERS}".split())
}
_CYCLE = tuple(value for name, value in _TABLE.items() if name.startswith("tab:"))
# Distinct also for colour-blind people (Okabe and Ito, 2008), without their black.
PALETTE = ("#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00", "#f0e442")
_ALLOWED = (
    "allowed are the names of CSS and matplotlib ('navy', 'tab:blue', 'C0'), '#rrggbb', grey "
    "levels from '0' to '1', and three or four floats in [0, 1]"
)


def names() -> list[str]:
    """Return every colour name that `rgb` knows, without hex, grey levels and ``"C0"``..."""
    greys = [name.replace("gray", "grey") for name in _TABLE if "gray" in name]
    return sorted([*_TABLE, *greys])


def rgb(color: str | Sequence[float]) -> RGB:
    """Return the red, green and blue of a colour; an alpha channel is read and dropped.

    Args:
        color: a name, hex, a grey level such as ``"0.5"``, or three or four floats in [0, 1].

    Returns:
        Three ints in 0..255.

    Raises:
        ValueError: no such colour; the message offers the nearest names.
        TypeError: neither text nor a sequence of numbers.
    """
    if isinstance(color, str):
        return _from_text(color)
    return _from_floats(color)


@functools.lru_cache(maxsize=1024)
def _from_text(color: str) -> RGB:
    text = color.strip().lower()
    if re.fullmatch(r"c[0-9]+", text):
        text = _CYCLE[int(text[1:]) % len(_CYCLE)]
    text = _TABLE.get(text.replace("grey", "gray"), text)
    if re.fullmatch(r"#([0-9a-f]{3,4}|[0-9a-f]{6}|[0-9a-f]{8})", text):
        width = 1 if len(text) < 6 else 2
        pairs = [text[1 + width * k : 1 + width * (k + 1)] for k in range(3)]
        red, green, blue = (int(pair * (3 - width), 16) for pair in pairs)
        return red, green, blue
    if re.fullmatch(r"[0-9]*\.?[0-9]+|[0-9]+\.", text) and 0 <= float(text) <= 1:
        level = round(255 * float(text))
        return level, level, level
    near = difflib.get_close_matches(text, names(), n=3)
    hint = f"did you mean {' or '.join(map(repr, near))}? " if near else ""
    raise ValueError(f"unknown colour {color!r}: {hint}{_ALLOWED}")


def _from_floats(color: Sequence[float]) -> RGB:
    try:
        channels = [float(channel) for channel in color]
    except (TypeError, ValueError):
        raise TypeError(
            f"a colour is a name, hex or three floats in [0, 1], not {color!r}"
        ) from None
    if len(channels) not in (3, 4) or not all(0 <= channel <= 1 for channel in channels):
        raise ValueError(f"a colour of numbers has 3 or 4 floats in [0, 1], not {color!r}")
    red, green, blue = (round(255 * channel) for channel in channels[:3])
    return red, green, blue
