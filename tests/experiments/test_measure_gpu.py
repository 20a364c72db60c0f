"""The script that measures a device runs where there is no GPU, and what it writes is
what chapter 11 reads.
"""

import importlib.util
import itertools
import time

import pytest
import torch
from test_gpu import CUDA

from tfbook.experiments import gpu
from tfbook.experiments.gpu import __main__ as measure_gpu
from tfbook.torch.kernels.measure import milliseconds

KINDS = {
    (form, dtype, T)
    for form in ("plain", "fused", "streaming")
    for dtype in ("float32", "bfloat16", "float16")
    for T in (64, 128)
}


def check(record):
    assert record["command"] == gpu.COMMAND
    assert record["torch"] == torch.__version__.partition("+")[0]
    assert {
        (row["form"], row["dtype"], row["T"]) for row in record["attention"]
    } == KINDS
    assert all(row["milliseconds"] > 0 for row in record["attention"])
    assert {(row["layer"], row["d"], row["B"]) for row in record["learning"]} == {
        (layer, 64, B) for layer in ("attention", "LSTM") for B in (1, 4)
    }
    assert all(row["milliseconds"] > 0 for row in record["learning"])
    assert set(record["peak"]) == {"float32", "bfloat16", "float16"}
    assert all(
        1e6 < rate < 1e16 for rate in (*record["peak"].values(), record["bandwidth"])
    )


def test_it_measures_the_cpu_and_what_it_writes_is_read(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(measure_gpu, "device", lambda: torch.device("cpu"))
    measure_gpu.main(["--small", "--no-compile", "--out", str(tmp_path / "a.json")])
    record = gpu.record(tmp_path / "a.json")
    check(record)
    assert record["device"].startswith("CPU")
    assert all(row["bytes"] is None for row in record["attention"])
    assert "a.json" in capsys.readouterr().out


def test_a_cpu_is_not_kept_as_a_gpu(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(measure_gpu, "device", lambda: torch.device("cpu"))
    monkeypatch.setattr(measure_gpu, "measure", lambda *_: {"device": "CPU, 1 threads"})
    monkeypatch.setattr(gpu, "FILE", tmp_path / "gpu.json")
    measure_gpu.main([])
    assert not gpu.FILE.exists()
    assert "nothing is kept" in capsys.readouterr().out


def test_what_is_kept_was_measured_on_a_gpu():
    record = gpu.record()
    if record is None:
        pytest.skip(
            "nobody has run tfbook/experiments/gpu/__main__.py on a GPU and kept the "
            "result"
        )
    assert not record["device"].startswith("CPU")
    assert record["command"] == gpu.COMMAND
    assert {row["form"] for row in record["attention"]} == set(measure_gpu.FORMS)
    assert (
        {row["dtype"] for row in record["attention"]}
        == set(record["peak"])
        == set(measure_gpu.DTYPES)
    )
    assert all(
        row["milliseconds"] is None or row["milliseconds"] > 0 < row["bytes"]
        for row in record["attention"]
    )


def test_what_a_gpu_measured_is_kept(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(measure_gpu, "device", lambda: torch.device("cuda"))
    monkeypatch.setattr(
        measure_gpu, "measure", lambda where, *_: {"device": f"a GPU, {where.type}"}
    )
    monkeypatch.setattr(gpu, "FILE", tmp_path / "gpu.json")
    measure_gpu.main([])
    assert gpu.record(gpu.FILE) == {"device": "a GPU, cuda"}
    assert "gpu.json" in capsys.readouterr().out


def test_a_call_is_timed_in_milliseconds_of_the_clock_given():
    cpu, ticks = torch.device("cpu"), itertools.count()
    assert milliseconds(lambda: time.sleep(0.005), cpu, repeats=3) >= 5
    assert milliseconds(lambda: None, cpu, clock=lambda: next(ticks)) == 1000


def test_timing_leaves_the_number_of_threads():
    threads, seen = torch.get_num_threads(), set()
    torch.set_num_threads(2)
    try:
        milliseconds(lambda: seen.add(torch.get_num_threads()), torch.device("cpu"))
        assert seen == {2} == {torch.get_num_threads()}
    finally:
        torch.set_num_threads(threads)


def test_forms_are_attention():
    Q, K, V = torch.randn(3, 2, 9, 8, dtype=torch.float64).unbind()
    for f in measure_gpu.FORMS.values():
        torch.testing.assert_close(f(Q, K, V), measure_gpu.plain(Q, K, V))


def test_a_missing_compiler_is_said(monkeypatch):
    def fails(f):
        raise RuntimeError("no compiler\nand more")

    monkeypatch.setattr(torch, "compile", fails)
    assert measure_gpu.compiled(torch.device("cpu"), 8) == {
        "why not": "RuntimeError: no compiler"
    }


@pytest.mark.parametrize("where", [pytest.param("cuda", marks=CUDA)])
def test_it_measures_a_gpu(where, tmp_path):
    measure_gpu.main(["--small", "--out", str(tmp_path / "a.json")])
    record = gpu.record(tmp_path / "a.json")
    check(record)
    assert record["device"] == torch.cuda.get_device_name()
    assert all(row["bytes"] > 0 for row in record["attention"])
    if importlib.util.find_spec("triton"):
        assert record["compiled"]["largest difference"] < 0.05
