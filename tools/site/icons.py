"""Cut the theme's icon fonts down to the icons that the built book shows: icons.py. Run
it after `make book` where an icon is new.

The fonts hold two thousand icons in 270 kB, and every page would load them for a dozen.
An icon that was left out still shows: the browser then loads the whole font as before,
and tests/pages/test_speed.py sees that it did.
"""

import re
from pathlib import Path

import pydata_sphinx_theme
from fontTools import subset

ROOT = Path(__file__).resolve().parents[2]
BOOK = ROOT / "_build" / "html"
FONTS = (
    Path(pydata_sphinx_theme.__file__).parent
    / "theme"
    / "pydata_sphinx_theme"
    / "static"
    / "vendor"
    / "fontawesome"
    / "webfonts"
)
ICONS = ROOT / "assets" / "vendor" / "fontawesome"


def shown():
    """Code points of the icons that pages name, and of those that the theme's style
    sheets put before boxes and links.
    """
    styles = (
        BOOK / "_static" / "styles" / f"{name}.css"
        for name in ("pydata-sphinx-theme", "sphinx-book-theme")
    )
    style, more = (path.read_text(encoding="utf-8") for path in styles)
    codes = {
        name: code
        for names, code in re.findall(
            r'((?:\.fa-[\w-]+:before,?)+)\{content:"\\(\w+)"\}', style
        )
        for name in re.findall(r"fa-[\w-]+", names)
    }
    pages = "".join(
        path.read_text(encoding="utf-8")
        for path in BOOK.glob("**/*.html")
        if "lite" not in path.relative_to(BOOK).parts
    )
    named = {codes[name] for name in re.findall(r"fa-[\w-]+", pages) if name in codes}
    boxes = re.findall(r'--pst-(?:icon|breadcrumb)-[\w-]+:"(.)"', style)
    return {
        int(code, 16) for code in named | set(re.findall(r'content:"\\(f\w+)"', more))
    } | set(map(ord, boxes))


def main():
    ICONS.mkdir(parents=True, exist_ok=True)
    for name in ("fa-solid-900", "fa-brands-400"):
        options = subset.Options(
            flavor="woff",
            layout_features=[],
            notdef_outline=True,
            recalc_timestamp=False,
        )
        font = subset.load_font(FONTS / f"{name}.ttf", options)
        cut = subset.Subsetter(options)
        cut.populate(unicodes=shown())
        cut.subset(font)
        subset.save_font(font, ICONS / f"{name}.woff", options)
        print(
            f"{name}.woff: {len(font.getGlyphOrder()) - 1} icons,"
            f" {(ICONS / f'{name}.woff').stat().st_size} bytes"
        )


if __name__ == "__main__":
    main()
