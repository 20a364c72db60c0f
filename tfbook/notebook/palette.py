"""One palette for the whole book: a colour for each role, and an even ramp for
attention weights.

No other file names a colour by its number. A page has the roles as custom properties of
CSS (tools/site/book_pages.py), and each live figure brings them along.

The roles are told apart by lightness as well as hue, so that they survive colour
blindness and grey print. The ramp goes in equal steps of OKLab lightness (Ottosson
2020) from the page's background to violet, in a light and in a dark edition.
"""

from math import cos, radians, sin

LIGHT = {
    "ink": "#1f2430",
    "muted": "#5b6372",
    "line": "#d5d9e0",
    "paper": "#ffffff",
    "surface": "#f6f7f9",
    "query": "#b8480a",
    "key": "#1a5ca6",  # and links
    "value": "#0a6b4d",
    "positive": "#5b2a9d",
    "negative": "#7d5800",
    "fails": "#a3271c",
    "hover": "#0f3f75",
    "code": "#7a2f06",
}
DARK = {
    "ink": "#e8eaf0",
    "muted": "#a7aebd",
    "line": "#3a404c",
    "paper": "#121318",
    "surface": "#1b1d24",
    "query": "#ff9d63",
    "key": "#7cb8ff",
    "value": "#5fd3aa",
    "positive": "#c3a2ff",
    "negative": "#e0b440",
    "fails": "#ff8f85",
    "hover": "#bcdaff",
    "code": "#ffb083",
}


def ramp(dark=False, steps=65):
    """Colours for weights from 0 to 1.

    Parameters
    ----------
    dark : bool
        For a dark page: 0 is then the darkest.
    steps : int
        How many, both ends included.

    Returns
    -------
    list of str
        ``#rrggbb``, evenly spaced to the eye.

    Examples
    --------
    >>> len(ramp()), ramp()[0]
    (65, '#f9f8fc')
    """
    start, end = (0.22, 0.93) if dark else (0.98, 0.30)
    colours = []
    for i in range(steps):
        x = i / (steps - 1)
        # colour comes early, so that small weights show
        strength = min(1.0, 0.04 + 2.2 * x * (1 - 0.55 * x))
        colours.append(
            _oklch(
                start + (end - start) * x,
                strength * (0.19 - 0.14 * x if dark else 0.155),
                300,
            )
        )
    return colours


def _oklch(lightness, chroma, hue):
    """One colour of OKLab in polar form (hue in degrees) as ``#rrggbb``."""
    a, b = chroma * cos(radians(hue)), chroma * sin(radians(hue))
    long, medium, short = (
        (lightness + 0.3963377774 * a + 0.2158037573 * b) ** 3,
        (lightness - 0.1055613458 * a - 0.0638541728 * b) ** 3,
        (lightness - 0.0894841775 * a - 1.2914855480 * b) ** 3,
    )
    linear = (
        4.0767416621 * long - 3.3077115913 * medium + 0.2309699292 * short,
        -1.2684380046 * long + 2.6097574011 * medium - 0.3413193965 * short,
        -0.0041960863 * long - 0.7034186147 * medium + 1.7076147010 * short,
    )
    return "#" + "".join(
        f"{round(255 * _gamma(min(max(c, 0.0), 1.0))):02x}" for c in linear
    )


def _gamma(c):
    return 12.92 * c if c <= 0.0031308 else 1.055 * c ** (1 / 2.4) - 0.055


def css(light=".tfb", dark=".tfb[data-dark]"):
    """The roles as custom properties of CSS, such as ``--tfb-ink``.

    Parameters
    ----------
    light, dark : str
        Selectors of what is light, and of what is dark all the same; a live figure's
        by default.

    Returns
    -------
    str

    Examples
    --------
    >>> css().splitlines()[1][:31]
    '.tfb[data-dark]{--tfb-ink:#e8ea'
    """
    return _rule(light, LIGHT) + _rule(dark, DARK)


def _rule(selector, roles):
    values = "".join(
        f"--tfb-{role}:{colour};" for role, colour in roles.items()
    )
    return f"{selector}{{{values}}}\n"
