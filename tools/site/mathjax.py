"""Join the parts of MathJax that the book uses into one file: mathjax.py FOLDER, the
unpacked npm package (npm pack mathjax@3).

The package's own bundle has a menu with a speech engine in it, 100 kB compressed, which
the book switches off.
"""

import shutil
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parents[2] / "assets" / "vendor" / "mathjax"
PARTS = [
    "core",
    "input/tex",
    "output/chtml",
    "output/chtml/fonts/tex",
    "a11y/assistive-mml",
]
FONTS = "output/chtml/fonts/woff-v2"


def joined(package):
    """The loader, which begins when the file has been read to its end; what it need not
    fetch; the parts.
    """
    read = [
        (package / "es5" / f"{name}.js").read_text(encoding="utf-8").rstrip()
        for name in ["startup", *PARTS]
    ]
    known = ", ".join(
        f'"{name}.js"' if "fonts" in name else f'"{name}"' for name in PARTS
    )
    return "\n".join([read[0], f"MathJax.loader.preLoad({known});", *read[1:], ""])


def main(folder):
    package = Path(folder)
    (HERE / "mathjax.js").write_text(joined(package), encoding="utf-8", newline="\n")
    shutil.copytree(package / "es5" / FONTS, HERE / FONTS, dirs_exist_ok=True)
    shutil.copy(package / "LICENSE", HERE / "LICENSE")


if __name__ == "__main__":
    main(*sys.argv[1:])
