"""The comparison of outputs is red where it should be, and green within the tag."""

import base64
import json
import re
import shutil
import struct
import subprocess
import sys
from pathlib import Path

import nbformat.v4 as v4
import numpy as np
import pytest
from figure_html import figure_differences, unpack
from outputs import TOLERANCE, differences, tolerance

from tfbook.widgets import SoftLookup
from tfbook.widgets.packing import pack

ROOT = Path(__file__).resolve().parents[2]


def printed(text):
    return [v4.new_output("stream", name="stdout", text=text)]


def shown(**kinds):
    return [
        v4.new_output(
            "display_data",
            data={name.replace("_", "/"): content for name, content in kinds.items()},
        )
    ]


STORED = "12 of 16 heads: loss 0.210 ± 0.020, 1,204 ms, 85 %, roundoff 2e-16\n"


@pytest.mark.parametrize(
    ("within", "now"),
    [
        ("exact", STORED),
        (
            "within-5-percent",
            "12 of 16 heads: loss 0.220 ± 0.021, 1,190 ms, 86 %, roundoff 0e+00\n",
        ),
        ("within-5-percent", STORED.replace("1,204", "  1,150")),
        ("within-last-digit", STORED.replace("0.210", "0.211")),
        ("within-factor-3", STORED.replace("1,204", "3,600").replace("0.020", "0.007")),
    ],
)
def test_what_the_tag_allows_is_green(within, now):
    assert differences(printed(STORED), printed(now), within) == []


@pytest.mark.parametrize(
    ("within", "was", "now", "says"),
    [
        ("exact", "loss 0.210", "loss 0.211", "expected"),
        (
            "within-5-percent",
            "12 of 16",
            "13 of 16",
            "13 is not within-5-percent of the stored 12",
        ),
        ("within-factor-3", "seed 1", "seed 2", "2 is not"),
        (
            "within-5-percent",
            "loss 0.210",
            "loss 0.222",
            "0.222 is not within-5-percent of the stored 0.210",
        ),
        ("within-last-digit", "loss 0.210", "loss 0.212", "0.212 is not"),
        ("within-factor-3", "5.00 ms", "15.02 ms", "15.02 ms is not"),
        ("within-factor-3", "-0.50", "0.50", "0.50 is not"),
        ("within-factor-3", "a sum of 0.50", "a sum of −0.50", "not within"),
        ("within-1-percent", "1.0e-03", "1.2e-03", "1.2e-03 is not"),
        ("within-5-percent", "a 1.0\nb 2.0\n", "a 1.0\n", "words changed"),
        ("within-5-percent", "loss 1.0", "cost 1.0", "words changed"),
        ("within-5-percent", "loss 1.0", "loss nan", "words changed"),
        ("within-5-percent", "loss 1.0", "loss inf", "words changed"),
        ("within-5-percent", "loss 1.0", "loss one", "words changed"),
        ("within-5-percent", "loss 1.0", "loss 1", "1 is not"),
        ("within-5-percent", "took 1.0 ms", "took 1.0 s", "words changed"),
        ("within-5-percent", "W_1 of 2.0", "W_2 of 2.0", "words changed"),
        ("within-5-percent", "float32", "float64", "words changed"),
        ("within-5-percent", "True", "False", "words changed"),
    ],
)
def test_what_moved_further_is_red(within, was, now, says):
    (fault,) = differences(printed(was), printed(now), within)
    assert says in fault


def test_missing_and_new_outputs_are_red():
    assert differences(printed("a"), []) == ["stdout: stored, but missing now"]
    assert differences([], printed("a")) == ["stdout: new, and not stored"]
    assert differences(shown(text_plain="a") * 2, shown(text_plain="a")) == [
        "text/plain: 2 stored, 1 now"
    ]
    error = [
        v4.new_output(
            "error",
            ename="ValueError",
            evalue="T: expected 3, got 2",
            traceback=["somewhere"],
        )
    ]
    other = [
        v4.new_output(
            "error",
            ename="ValueError",
            evalue="T: expected 3, got 1",
            traceback=["elsewhere"],
        )
    ]
    assert (
        differences(
            error,
            [
                v4.new_output(
                    "error",
                    ename="ValueError",
                    evalue="T: expected 3, got 2",
                    traceback=[],
                )
            ],
        )
        == []
    )
    assert len(differences(error, other)) == 1


def test_pictures_are_compared_by_size():
    def png(width, height):
        return base64.b64encode(
            b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR"
            + struct.pack(">II", width, height)
            + bytes(40)
        ).decode()

    stored = shown(image_png=png(600, 400))
    assert differences(stored, shown(image_png=png(604, 400))) == []
    assert differences(stored, shown(image_png=png(600, 500))) == [
        "image/png: the picture was 600 × 400 pixels and is 600 × 500"
    ]
    assert differences(stored, shown(text_plain="<Figure>")) == [
        "image/png: stored, but missing now",
        "text/plain: new, and not stored",
    ]


@pytest.mark.parametrize(
    "tags",
    [["within-5-percents"], ["within-half"], ["within-1-percent", "within-factor-3"]],
)
def test_a_tag_that_is_not_understood_is_an_error(tags):
    with pytest.raises(ValueError, match="within-N-percent"):
        tolerance(tags)
    assert tolerance(["hide-input"]) == "exact"


# ---- live figures ----


@pytest.fixture(scope="module")
def html():
    return SoftLookup().page()


def moved(html, steps):
    """The figure, with one number moved by some units of its last decimal."""
    packed = max(re.findall(r'"array":"(\d[^"]*)"', html), key=len)
    numbers, decimals = unpack(packed)
    numbers.flat[0] += steps if numbers.flat[0] < 500 else -steps
    return html.replace(packed, pack(numbers / 10**decimals, decimals)["array"], 1)


def test_figure_may_move_by_one_unit_of_its_last_decimal(html):
    assert moved(html, 1) != html
    assert differences(shown(text_html=html), shown(text_html=moved(html, 1))) == []


@pytest.mark.parametrize(
    "spoil",
    [
        lambda html: moved(html, 2),
        lambda html: html.replace("<style>", "<style>p{}", 1),
        lambda html: html.replace('"title":"', '"title":"x', 1),
        lambda html: html.replace("function ", "function  ", 1),
        lambda html: html.replace(
            "data:image/webp;base64,", "data:image/webp;base64,A", 1
        ),
    ],
)
def test_anything_else_of_a_figure_is_exact(spoil, html):
    assert spoil(html) != html
    assert (
        differences(
            shown(text_html=html), shown(text_html=spoil(html)), "within-factor-3"
        )
        != []
    )


def test_equal_entries_of_a_column_may_part_by_one_unit():
    def figure(values, at):
        values, at = [pack(np.array([x])) for x in values], pack(np.array(at), 0)
        column = {"controls": ["T"], "values": values, "at": at}
        held = json.dumps({"spec": {"table": {"A": column}}})
        script = f'<script>\nplace(figure, "F", {held});</script>'
        return f'<div class="tfb" data-figure="F">{script}'

    assert (
        figure_differences(figure([0.5], [0.0, 0.0]), figure([0.5, 0.501], [0.0, 1.0]))
        == []
    )
    assert figure_differences(
        figure([0.5], [0.0, 0.0]), figure([0.5, 0.502], [0.0, 1.0])
    ) == ["figure.spec.table.A.at[1][0]: expected 0.5, got 0.502"]


def test_unpack_is_the_inverse_of_pack(rng):
    X = np.where(rng.random((3, 4, 5)) < 0.2, np.nan, rng.random((3, 4, 5)) * 300)
    numbers, decimals = unpack(pack(X, 2)["array"])
    np.testing.assert_array_equal(numbers / 100, X.round(2))
    assert decimals == 2


# ---- under nbval ----


def test_nbval_compares_with_the_tag(tmp_path):
    cells = [
        v4.new_code_cell(
            f"print('loss', {now})",
            execution_count=i,
            outputs=printed(f"loss {was}\n"),
            metadata={"tags": tags},
        )
        for i, (was, now, tags) in enumerate(
            [
                (0.21, 0.20, ["within-5-percent"]),
                (0.21, 0.15, ["within-5-percent"]),
                (0.21, 0.22, []),
            ]
        )
    ]
    (tmp_path / "notebook.ipynb").write_text(
        json.dumps(v4.new_notebook(cells=cells)), encoding="utf-8"
    )
    shutil.copy(ROOT / "chapters" / "conftest.py", tmp_path)
    done = subprocess.run(
        [
            sys.executable,
            "-m",
            "pytest",
            "--nbval",
            "--nbval-current-env",
            "-c",
            ROOT / "pyproject.toml",
            "--rootdir",
            tmp_path,
            tmp_path,
        ],
        capture_output=True,
        text=True,
        check=False,
        cwd=tmp_path,
    )
    assert re.search("2 failed, 1 passed", done.stdout), done.stdout + done.stderr
    assert "0.15 is not within-5-percent of the stored 0.21" in done.stdout


def test_every_tag_of_the_book_is_one_that_is_meant():
    used = {
        tag
        for path in ROOT.glob("chapters/*.ipynb")
        for cell in json.loads(path.read_text(encoding="utf-8"))["cells"]
        for tag in cell["metadata"].get("tags", [])
        if tag.startswith("within")
    }
    assert all(TOLERANCE.fullmatch(tag) for tag in used), used
