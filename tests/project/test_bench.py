"""`make bench` times every form, and each turn compares all of a group."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

TOOLS = Path(__file__).resolve().parents[2] / "tools/check"
RUN = """
import sys
from pathlib import Path
import bench
bench.OUT = Path(sys.argv.pop(1))
bench.H, bench.D = 1, bench.D_K  # small modules
bench.peak_memory = lambda *_: None  # as on systems that do not tell
bench.main()
"""


@pytest.fixture(scope="module")
def rows(tmp_path_factory):
    out = tmp_path_factory.mktemp("bench")
    options = ["--lengths", "8", "--turns", "3", "--seconds", "0"]
    # a process of its own: bench changes the environment
    subprocess.run([sys.executable, "-c", RUN, out, *options], cwd=TOOLS, check=True)
    assert (out / "bench.png").is_file()
    return json.loads((out / "bench.json").read_text(encoding="utf-8"))["rows"]


def test_every_form_is_timed_in_every_turn(rows):
    assert len(rows) == (6 + 3 + 3) + (5 + 3 + 3)  # forms, forward and with backward
    for row in rows:
        assert row["seconds"] > 0
        assert row["iqr"] >= 0
        assert len(row["ratios"]) == 3


def test_ratios_are_to_the_last_form_of_the_group(rows):
    last = {(row["pass"], row["T"], row["group"]): row["form"] for row in rows}
    for row in rows:
        is_last = last[row["pass"], row["T"], row["group"]] == row["form"]
        assert (row["ratios"] == [1, 1, 1]) == is_last
