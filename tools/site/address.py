"""Move the book to another repository, in every file that names it: address.py
https://github.com/OWNER/NAME

The address stands in _config.yml; from there this script finds it in notebooks, pages
and metadata.
"""

import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
NAMED_IN = [
    "*.yml",
    "*.md",
    "*.cff",
    "*.toml",
    "chapters/*.ipynb",
    "chapters/*.md",
    "tfbook/**/*.py",
]
ADDRESS = r"https://github\.com/([\w.-]+/[\w.-]+?)"
BEFORE = r"(?:https://github\.com|colab\.research\.google\.com/github|mybinder\.org/v2/gh|codespaces\.new)"


def slug(root=ROOT):
    """OWNER/NAME, as _config.yml has it."""
    return re.search(
        rf"^  url: {ADDRESS}(\s|$)",
        (root / "_config.yml").read_text(encoding="utf-8"),
        re.MULTILINE,
    )[1]


def files(root=ROOT):
    """Every file that may name the address."""
    return sorted(path for pattern in NAMED_IN for path in root.glob(pattern))


def repositories(text):
    """Every OWNER/NAME of a repository in a text, as a link or as Colab, Binder and
    Codespaces have it.
    """
    return re.findall(rf"{BEFORE}/([\w.-]+/[\w.-]*\w)", text)


def move(text, old, new):
    """The text with one repository put in another's place, and nothing else touched."""
    return re.sub(rf"({BEFORE})/{re.escape(old)}(?![\w-])", rf"\1/{new}", text)


def main(url=""):
    wanted = re.fullmatch(rf"{ADDRESS}(\.git)?/?", url.strip())
    if not wanted:
        sys.exit(
            "URL: expected https://github.com/OWNER/NAME (Colab opens notebooks from"
            f" there alone), got {url!r}\nmake address"
            " URL=https://github.com/OWNER/NAME"
        )
    old, new = slug(), wanted[1]
    changed = 0
    for path in files():
        text = path.read_text(encoding="utf-8")
        if (moved := move(text, old, new)) != text:
            path.write_text(moved, encoding="utf-8", newline="\n")
            print(f"  {path.relative_to(ROOT)}")
            changed += 1
    print(f"{old} -> {new} in {changed} files. Look at `git diff`, then commit.")


if __name__ == "__main__":
    main(*sys.argv[1:])
