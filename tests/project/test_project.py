"""What holds the project's own files together: one address, one set of pins, a make
that speaks plainly.
"""

import os
import re
import shutil
import subprocess
import sys
import tomllib
import urllib.request
from pathlib import Path
from threading import Thread

import address
import pytest
import serve
import yaml
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).resolve().parents[2]
NAMES_THE_ADDRESS = ["README.md", "CITATION.cff", "pyproject.toml", "chapters/index.md"]
TARGETS = {
    "read",
    "book",
    "pdf",
    "zip",
    "speed",
    "links",
    "test",
    "portable",
    "oldest",
    "sphinx",
    "colab",
    "bench",
    "execute",
    "lint",
    "address",
}


# ---- the address ----


def test_config_has_the_address():
    url = yaml.safe_load((ROOT / "_config.yml").read_text(encoding="utf-8"))[
        "repository"
    ]["url"]
    assert url == f"https://github.com/{address.slug()}"


@pytest.mark.parametrize("name", NAMES_THE_ADDRESS)
def test_file_names_the_one_address(name):
    found = address.repositories((ROOT / name).read_text(encoding="utf-8"))
    last = address.slug().partition("/")[2]
    assert {slug for slug in found if slug.endswith(f"/{last}")} == {address.slug()}


@pytest.fixture
def copy(tmp_path):
    """The files that may name the address, and the script that changes it."""
    for path in [*address.files(), ROOT / "tools/site/address.py"]:
        target = tmp_path / path.relative_to(ROOT)
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(path, target)
    return tmp_path


def move(folder, url):
    return subprocess.run(
        [sys.executable, folder / "tools/site/address.py", url],
        capture_output=True,
        text=True,
        check=False,
    )


def test_address_moves_everywhere_and_back(copy):
    before = {path: path.read_bytes() for path in address.files(copy)}
    old = address.slug(copy)
    assert move(copy, "https://github.com/someone-else/another.book").returncode == 0
    assert address.slug(copy) == "someone-else/another.book"
    for path in address.files(copy):
        assert old not in address.repositories(path.read_text(encoding="utf-8")), (
            path.name
        )
    assert move(copy, f"https://github.com/{old}/").returncode == 0
    assert {path: path.read_bytes() for path in address.files(copy)} == before


@pytest.mark.parametrize(
    "url",
    [
        "",
        "someone/else",
        "https://example.org/someone/else",
        "https://github.com/someone",
    ],
)
def test_address_refuses_what_colab_cannot_open(url, copy):
    done = move(copy, url)
    assert done.returncode == 1
    assert "expected https://github.com/OWNER/NAME" in done.stderr
    assert address.slug(copy) == address.slug()


# ---- the pins ----


def pins(name):
    """Package and version of every pin of a file."""
    lines = (
        line.partition("#")[0].strip()
        for line in (ROOT / name).read_text(encoding="utf-8").splitlines()
    )
    return dict(pin(line) for line in lines if line and not line.startswith("-"))


def pin(line):
    requirement = Requirement(line)
    (only,) = requirement.specifier
    assert only.operator == "==", line
    return canonicalize_name(requirement.name), only.version


def project():
    return tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))[
        "project"
    ]


def declared():
    extras = project()["optional-dependencies"].values()
    return [
        Requirement(text)
        for texts in (project()["dependencies"], *extras)
        for text in texts
    ]


def test_requirements_pin_what_the_package_declares_within_its_bounds():
    pinned = pins("requirements.txt")
    assert {canonicalize_name(r.name) for r in declared()} == set(pinned)
    for requirement in declared():
        assert requirement.specifier.contains(
            pinned[canonicalize_name(requirement.name)]
        ), requirement


def test_requirements_are_part_of_the_lock():
    assert pins("requirements.txt").items() <= pins("constraints.txt").items()


def test_each_dependency_has_its_reason():
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    table = text.partition("## Libraries")[2].partition("What stays by hand")[0]
    named = re.findall(r"^\| ([\w, -]+?) \| .+ \|$", table, re.MULTILINE)
    named = {name for row in named[1:] for name in row.split(", ")}
    assert {canonicalize_name(r.name) for r in declared()} == named


def test_the_book_alone_needs_no_torch():
    assert "torch" not in {
        Requirement(text).name for text in project()["optional-dependencies"]["site"]
    }


@pytest.mark.parametrize(
    "name",
    [
        "requirements.txt",
        "constraints.txt",
        "pyproject.toml",
        "Makefile",
        ".ci/run",
        ".github/workflows/test.yml",
        ".binder/requirements.txt",
        ".binder/postBuild",
        ".devcontainer/devcontainer.json",
        "tools/check/plain_sphinx.py",
        "tools/site/runtime.py",
        "tools/site/lite_wheels.py",
    ],
)
def test_packages_come_from_where_the_reader_gets_them(name):
    text = (ROOT / name).read_text(encoding="utf-8")
    assert set(re.findall(r"://([\w.-]+)", text)) <= {"github.com"}
    assert not re.search(
        r"index-url|find-links|@ file:|(?<![\w.$)])/(?:work|root|home|Users)/", text
    )


# ---- make ----


def test_style():
    done = subprocess.run(
        [
            sys.executable,
            "-m",
            "ruff",
            "check",
            "--no-cache",
            "--output-format",
            "concise",
            ROOT,
        ],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout


def make(*arguments, **environment):
    return subprocess.run(
        ["make", "-C", ROOT, "--no-print-directory", *arguments],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "MAKEFLAGS": "", **environment},
    )


def test_make_alone_lists_the_targets():
    listed = dict(line.split(maxsplit=2)[1:] for line in make().stdout.splitlines())
    assert set(listed) == TARGETS


def test_make_says_what_to_do_without_python(tmp_path):
    done = make(f"VENV={tmp_path / 'venv'}", "PYTHON=python-that-is-not-here", "book")
    assert done.returncode
    assert "Install Python 3.11 or newer" in done.stdout


@pytest.mark.parametrize(
    ("spoil", "advice"),
    [
        (
            "import sys; sys.version_info = (3, 9, 2)",
            "needs Python 3.11 or newer, and this is 3.9",
        ),
        ("import sys; sys.modules['ensurepip'] = None", "apt install python3-venv"),
    ],
)
def test_python_check_says_what_to_do(spoil, advice):
    script = (ROOT / "tools/site/python_check.py").read_text(encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-c", f"{spoil}\n{script}"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1
    assert advice in done.stderr


# ---- serving ----


def test_server_answers_and_avoids_a_taken_port(tmp_path):
    (tmp_path / "index.html").write_text("hello", encoding="utf-8")
    with (
        serve.server(tmp_path, ports=(0,)) as first,
        serve.server(tmp_path, ports=(first.server_port, 0)) as second,
    ):
        assert first.server_address[0] == "127.0.0.1"
        assert second.server_port != first.server_port
        Thread(target=second.handle_request, daemon=True).start()
        with urllib.request.urlopen(
            f"http://127.0.0.1:{second.server_port}/"
        ) as answer:
            assert answer.read() == b"hello"


def test_browser_is_opened_only_where_there_is_a_screen(monkeypatch):
    for name in ("DISPLAY", "WAYLAND_DISPLAY", "SSH_CONNECTION", "CI"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(sys, "platform", "linux")
    assert not serve.has_screen()
    monkeypatch.setenv("DISPLAY", ":0")
    assert serve.has_screen()
    monkeypatch.setenv("SSH_CONNECTION", "somewhere")
    assert not serve.has_screen()


def test_serve_asks_for_a_built_book(tmp_path):
    done = subprocess.run(
        [sys.executable, ROOT / "tools/site/serve.py", tmp_path],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1
    assert "make book" in done.stderr
