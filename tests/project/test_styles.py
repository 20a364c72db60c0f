"""Scripts and style sheets have lines that fit a screen, and colours from one palette.
Biome looks at the rest.
"""

import json
import re
from pathlib import Path

import pytest
import yaml

from tfbook.notebook import palette

ROOT = Path(__file__).resolve().parents[2]
SHEETS = [*ROOT.glob("assets/*.css"), *ROOT.glob("tfbook/widgets/*.css")]
SCRIPTS = [*ROOT.glob("assets/*.js"), *ROOT.glob("tfbook/widgets/*.js")]
COLOURED = [
    *SHEETS,
    *SCRIPTS,
    *ROOT.glob("templates/*.html"),
    *ROOT.glob("tools/**/*.py"),
    *ROOT.glob("tfbook/**/*.py"),
]
WIDTH = 110
COLOUR = re.compile(
    r"#(?:[0-9a-f]{3,4}|[0-9a-f]{6}|[0-9a-f]{8})\b|\b(?:rgb|hsl|oklch)a?\(",
    re.IGNORECASE,
)


def read(name):
    return (ROOT / name).read_text(encoding="utf-8")


def long_lines(text):
    return [line for line in text.splitlines() if len(line) > WIDTH]


def luminance(colour):
    """Of sRGB, as WCAG 2 defines it."""
    channels = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [
        c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels
    ]
    return sum(share * c for share, c in zip((0.2126, 0.7152, 0.0722), linear))


def contrast(one, other):
    dark, light = sorted([luminance(one), luminance(other)])
    return (light + 0.05) / (dark + 0.05)


@pytest.mark.parametrize("path", [*SHEETS, *SCRIPTS], ids=lambda path: path.name)
def test_no_line_is_longer_than_110_characters(path):
    assert long_lines(path.read_text(encoding="utf-8")) == []
    assert long_lines("x" * (WIDTH + 1)) != []


def test_colours_stand_in_the_palette_alone():
    found = {
        str(path.relative_to(ROOT)): COLOUR.findall(path.read_text(encoding="utf-8"))
        for path in COLOURED
        if path.name != "palette.py"
    }
    assert {name: colours for name, colours in found.items() if colours} == {}
    icon = COLOUR.findall(read("assets/favicon.svg"))
    assert set(icon) == {palette.LIGHT["positive"]}
    assert len(COLOUR.findall("color: #fff; fill: #a3271c; stroke: rgb(0 0 0)")) == 3


def test_every_custom_property_has_a_value_somewhere():
    text = "".join(path.read_text(encoding="utf-8") for path in [*SHEETS, *SCRIPTS])
    used = set(re.findall(r"var\(--tfb-([\w-]+)", text))
    given = set(re.findall(r"--tfb-([\w-]+)\"?[:,]", text)) | set(palette.LIGHT)
    by_tools = {"tall", "wide"}  # tools/site/formula_size.py
    assert used - given - by_tools == set()


@pytest.mark.parametrize("roles", [palette.LIGHT, palette.DARK], ids=["light", "dark"])
def test_roles_can_be_read_on_paper_and_on_surfaces(roles):
    grounds = ("paper", "surface")
    words = set(roles) - {*grounds, "line"}
    for ground in grounds:
        pale = {role for role in words if contrast(roles[role], roles[ground]) < 4.5}
        assert pale == set()
    assert contrast("#777777", "#ffffff") < 4.5 < contrast("#757575", "#ffffff")


def test_light_and_dark_have_the_same_roles():
    assert list(palette.LIGHT) == list(palette.DARK)


def test_each_sheet_and_script_of_the_book_is_loaded():
    config = yaml.safe_load(read("_config.yml"))["sphinx"]["config"]
    for kind in ("css", "js"):
        entries = config[f"html_{kind}_files"]
        named = [entry if isinstance(entry, str) else entry[0] for entry in entries]
        assert sorted(named) == sorted(
            path.name for path in ROOT.glob(f"assets/*.{kind}")
        )


def test_formatter_is_pinned_and_from_the_public_registry():
    (version,) = json.loads(read("package.json"))["devDependencies"].values()
    lock = json.loads(read("package-lock.json"))["packages"]
    home = "https://registry.npmjs.org/"
    assert re.fullmatch(r"\d+\.\d+\.\d+", version)
    assert lock["node_modules/@biomejs/biome"]["version"] == version
    assert all(entry.get("resolved", home).startswith(home) for entry in lock.values())
