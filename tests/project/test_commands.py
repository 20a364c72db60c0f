"""Commands that CI, the workflow and the README give exist, and `portable` changes
kernels.
"""

import json
import re
import subprocess
import sys
import tomllib
from importlib.util import find_spec
from pathlib import Path

import portable
import pytest
import yaml

ROOT = Path(__file__).resolve().parents[2]
WORKFLOW = ROOT / ".github/workflows/test.yml"


def text(name):
    return (ROOT / name).read_text(encoding="utf-8")


def workflow_steps():
    jobs = yaml.safe_load(WORKFLOW.read_text(encoding="utf-8"))["jobs"].values()
    return [step for job in jobs for step in job["steps"]]


def workflow_commands():
    return "\n".join(step["run"] for step in workflow_steps() if "run" in step)


def unknown(commands):
    """The make targets, modules, files and markers in commands that do not exist."""
    targets = re.findall(r"^([a-z]+):", text("Makefile"), re.MULTILINE)
    options = tomllib.loads(text("pyproject.toml"))["tool"]["pytest"]["ini_options"]
    markers = {
        "not",
        "and",
        "or",
        *(marker.partition(":")[0] for marker in options["markers"]),
    }
    faults = [
        f"make {name}"
        for name in re.findall(r"\bmake ([a-z]+)\b(?!3)", commands)
        if name not in targets
    ]
    faults += [
        f"-m {name}"
        for name in re.findall(r"python -m (\w+)", commands)
        if not find_spec(name)
    ]
    faults += [
        name
        for name in re.findall(r"-r (\S+)", commands)
        if not (ROOT / name).is_file()
    ]
    for expression in re.findall(r'-m "([^"]+)"', commands):
        faults += [
            f"marker {word}"
            for word in re.findall(r"\w+", expression)
            if word not in markers
        ]
    for line in re.findall(r"-m pytest ([^`#\n]+)", commands):
        paths = [
            word
            for word in re.sub(r'"[^"]*"|-\w+ \w+|--\w+ \w+', "", line).split()
            if word[0] != "-"
        ]
        faults += [path for path in paths if not (ROOT / path).exists()]
    return faults


@pytest.mark.parametrize(
    "name", ["workflow", ".ci/run", "README.md", "CONTRIBUTING.md"]
)
def test_commands_exist(name):
    commands = workflow_commands() if name == "workflow" else text(name)
    assert "make test" in commands
    assert unknown(commands) == []


@pytest.mark.parametrize(
    "broken",
    [
        "make tset",
        "python -m pytets",
        "python -m pip install -r nothing.txt",
        'python -m pytest -m "not pages" tests',
        "python -m pytest -n auto testing",
    ],
)
def test_a_command_that_does_not_exist_is_seen(broken):
    assert len(unknown(broken)) == 1


def test_workflow_tries_every_python_that_the_package_claims():
    versions = {
        str(step.get("with", {}).get("python-version")) for step in workflow_steps()
    }
    matrix = yaml.safe_load(WORKFLOW.read_text(encoding="utf-8"))["jobs"]["package"][
        "strategy"
    ]["matrix"]
    assert "3.11" in versions
    assert matrix["python-version"] == ["3.12", "3.13"]
    assert (
        tomllib.loads(text("pyproject.toml"))["project"]["requires-python"] == ">=3.11"
    )


def test_oldest_numpy_is_the_one_that_the_package_claims():
    (bound,) = tomllib.loads(text("pyproject.toml"))["project"]["dependencies"]
    assert bound == "numpy>=2.0"
    assert "numpy==2.0.0" in text("Makefile")


KERNELS = """
import json, numpy, threadpoolctl, torch
pools = threadpoolctl.threadpool_info()
blas = [pool["architecture"] for pool in pools if "openblas" in pool["internal_api"]]
print(json.dumps([blas[0], torch.backends.cpu.get_cpu_capability()]))
"""


@pytest.mark.parametrize(
    ("name", "kernels"),
    [("haswell", ["Haswell", "AVX2"]), ("sandybridge", ["Sandybridge", "DEFAULT"])],
)
def test_portable_chooses_other_kernels(name, kernels):
    done = subprocess.run(
        [sys.executable, "-c", KERNELS],
        env=portable.os.environ | portable.SETTINGS[name],
        capture_output=True,
        text=True,
        check=True,
    )
    assert json.loads(done.stdout) == kernels


def test_portable_refuses_an_unknown_name():
    with pytest.raises(
        SystemExit, match="expected names among native, haswell, sandybridge, got zen"
    ):
        portable.main("zen")
