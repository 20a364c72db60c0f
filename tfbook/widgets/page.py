"""A figure as a piece of HTML, and the picture that stands in it where no script runs:
tools/site/stills.py takes the pictures.
"""

import hashlib
import html
import json
from base64 import b64encode
from pathlib import Path

from tfbook.widgets.packing import pack

STILLS = Path(__file__).parent / "stills"


def page(figure, still=None):
    """The HTML of a figure: its picture and its table, or another still, and a script
    that puts the live figure in their place.
    """
    name = type(figure).__name__
    if still is None:
        still = picture(name) + figure.still()
    held = json.dumps(
        {"spec": figure.spec, "state": figure.state},
        ensure_ascii=True,
        separators=(",", ":"),
    ).replace("<", "\\u003c")
    return (
        f'<style>{figure._css}</style><div class="tfb" data-figure="{name}"><div'
        f' class="tfb-still"><p>{html.escape(figure.title)}: it moves where scripts may'
        f" run. In a notebook, run this cell.</p>{still}</div></div><script"
        f' type="module">{figure._esm}place(figure, "{name}", {held});</script>'
    )


def picture(name):
    """The figure at the setting that it begins with, as an image; nothing for a figure
    without one.
    """
    path = STILLS / f"{name}.webp"
    if not path.exists():
        return ""
    data, said = (
        b64encode(path.read_bytes()).decode(),
        html.escape(taken()[name]["alt"]),
    )
    return f'<img src="data:image/webp;base64,{data}" alt="{said}">'


def taken():
    """What is known of each picture: what it shows, in words, and what it was made
    from.
    """
    return json.loads((STILLS / "stills.json").read_text(encoding="utf-8"))


def made_from(figure):
    """What a picture of a figure depends on, as a short digest: its drawing, its style,
    and its numbers at the setting to begin with.
    """
    shown = pack(figure.compute(**figure.state), figure.decimals)
    parts = [
        figure._drawing,
        figure._css,
        json.dumps([figure.state, figure.constants(), shown], sort_keys=True),
    ]
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()[:16]
