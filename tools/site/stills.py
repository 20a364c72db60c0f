"""Take the picture that stands for each live figure where no script runs: stills.py
[NAME …], those out of date unless told.

Needs Chromium on the PATH. The pictures go to tfbook/widgets/stills/, and stills.json
there says what each shows and was made from.
"""

import io
import json
import sys

import chromium
from PIL import Image

from tfbook import widgets
from tfbook.widgets import page as pages
from tfbook.widgets.base import Figure

WIDTH, MOST = 700, 25_000  # pixels, bytes
FRAME = (
    "<!doctype html><html lang=en><meta "
    "charset=utf-8><title>{0}</title><style>body{{margin:0}} "
    ".tfb-stage{{padding:8px}}</style>{1}"
)
FIGURES = {
    name: figure
    for name, figure in vars(widgets).items()
    if isinstance(figure, type) and issubclass(figure, Figure)
}


def small(png):
    """A screenshot as WebP: without loss where that is small enough, otherwise as good
    as fits.
    """
    image = Image.open(io.BytesIO(png)).convert("RGB")
    for options in (
        {"lossless": True},
        *({"quality": quality} for quality in range(90, 20, -5)),
    ):
        held = io.BytesIO()
        image.save(held, "webp", method=6, **options)
        if held.tell() <= MOST:
            return held.getvalue()
    raise ValueError(f"no picture of {WIDTH} px in {MOST} bytes")


def main(*names):
    pages.STILLS.mkdir(exist_ok=True)
    known = pages.taken() if (pages.STILLS / "stills.json").exists() else {}
    figures = {name: FIGURES[name]() for name in names or FIGURES}
    with chromium.launched() as browser:
        page = browser.new_page(
            viewport={"width": WIDTH, "height": 900},
            color_scheme="light",
            reduced_motion="reduce",
        )
        page.on("pageerror", lambda error: sys.exit(f"script: {error}"))
        for name, figure in figures.items():
            if not names and known.get(name, {}).get("from") == pages.made_from(figure):
                continue
            page.set_content(FRAME.format(name, pages.page(figure, still="")))
            page.locator(".tfb-stage > *").first.wait_for()
            # a figure may draw once more when it has its width
            page.wait_for_timeout(200)
            picture = small(page.locator(".tfb-stage").screenshot())
            (pages.STILLS / f"{name}.webp").write_bytes(picture)
            said = (
                page.locator(".tfb-voice").text_content()
                or page.locator(".tfb-headline").first.text_content()
            )
            known[name] = {
                "alt": f"{figure.title.rstrip('?')}: {said}",
                "from": pages.made_from(figure),
            }
            print(f"{name}: {len(picture)} bytes. {known[name]['alt']}")
    held = json.dumps(
        {name: known[name] for name in sorted(known) if name in FIGURES},
        ensure_ascii=False,
        indent=1,
    )
    (pages.STILLS / "stills.json").write_text(held + "\n", encoding="utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:])
