"""What solutions are, beyond passing their own check: gradients, attention, the cost
that the book counts, the ring that its figure draws.
"""

import numpy as np
import pytest
import torch
from answers import ffn, look, soft

from tfbook import cost
from tfbook.cost.communication import sequence_parallel, tensor_parallel
from tfbook.cost.traffic import block_of, fused_attention
from tfbook.exercises import catalogue
from tfbook.numpy import feed_forward, scaled_dot_product_attention, streaming_attention
from tfbook.widgets import SplitExplorer


def slope(f, X, dY):
    """The gradient of (dY * f(X)).sum() by central differences."""
    dX = np.zeros_like(X)
    for index in np.ndindex(X.shape):
        step = np.zeros_like(X)
        step[index] = 1e-6
        dX[index] = (dY * (f(X + step) - f(X - step))).sum() / 2e-6
    return dX


def test_the_solutions_are_gradients():
    rng = np.random.default_rng(5)
    dY, Z, *P = (
        rng.standard_normal(shape)
        for shape in ((3, 4), (3, 4), (4, 6), (6,), (6, 4), (4,))
    )
    solutions = {name: entry.solution for name, entry in catalogue().items()}
    np.testing.assert_allclose(
        solutions["network-gradient"](dY, Z, *P),
        slope(lambda Z: Z + ffn(Z, *P), Z, dY),
        atol=1e-6,
    )
    dA, Q, K, V = (
        rng.standard_normal(shape) for shape in ((3, 2), (3, 4), (5, 4), (5, 2))
    )
    np.testing.assert_allclose(
        solutions["query-gradient"](dA, Q, K, V),
        slope(lambda Q: look(Q, K, V), Q, dA),
        atol=1e-6,
    )


def test_at_the_crossing_both_parts_are_equal():
    crossing = catalogue()["crossing-length"].solution
    for d, d_ff, H, H_kv in ((512, 2048, 8, 8), (64, 192, 4, 2), (120, 60, 6, 3)):
        flops = cost.layer(round(crossing(d, d_ff, H, H_kv)), d, H, d_ff, H_kv).flops
        quadratic = flops["scores"] + flops["mix"]
        assert quadratic == sum(flops.values()) - quadratic


def test_merged_halves_are_the_whole():
    rng = np.random.default_rng(9)
    s, V = 3 * rng.standard_normal(11), rng.standard_normal((11, 3))
    state = [
        (x.max(), np.exp(x - x.max()).sum(), soft(x) @ v)
        for x, v in ((s[:4], V[:4]), (s[4:], V[4:]), (s, V))
    ]
    np.testing.assert_allclose(
        catalogue()["merge-halves"].solution(*state[0], *state[1]),
        [state[2][0], state[2][1], *state[2][2]],
    )


@pytest.mark.parametrize("block", [1, 3, 8])
def test_the_last_row_of_the_stream_is_attention(block):
    rng = np.random.default_rng(4)
    q, K, V = (
        rng.standard_normal(5),
        rng.standard_normal((7, 5)),
        rng.standard_normal((7, 2)),
    )
    rows = catalogue()["streaming-row"].solution(q, K, V, block)
    np.testing.assert_allclose(rows[-1], scaled_dot_product_attention(q[None], K, V)[0])
    np.testing.assert_allclose(
        rows[0], streaming_attention(q[None], K[:block], V[:block])[0]
    )


def test_the_books_count_is_the_exercises():
    fused_bytes = catalogue()["fused-bytes"].solution
    for T, d_k, d_v, chip in ((100, 8, 8, 2000), (4096, 64, 96, 2**17)):
        assert fused_attention(T, d_k, d_v, chip=chip).bytes == fused_bytes(
            T, d_k, d_v, block_of(d_k, d_v, 2, chip), 2
        )


def test_bits_are_rounded_as_torch_rounds_them():
    x = (
        np.random.default_rng(0)
        .integers(0, 2**31, 10_000, dtype=np.uint32)
        .view(np.float32)
    )
    x = x[np.abs(x) < 3e38]
    ours = catalogue()["to-bfloat16"].solution(x)
    assert len(x) > 9000
    np.testing.assert_array_equal(ours, torch.tensor(x).bfloat16().float().numpy())


def test_solutions_do_what_the_tasks_say():
    solutions = {
        name: catalogue()[name].solution
        for name in ("top-p", "learning-rate", "merge-pair")
    }
    p = np.array([0.1, 0.4, 0.3, 0.2])
    np.testing.assert_allclose(solutions["top-p"](p, 0.6), [0, 4 / 7, 3 / 7, 0])
    np.testing.assert_allclose(solutions["top-p"](p, 0.71), [0, 4 / 9, 3 / 9, 2 / 9])
    rates = [solutions["learning-rate"](step, 100, 10, 1.0) for step in range(100)]
    assert rates[0] == pytest.approx(0.1)
    assert rates[9] == rates[10] == 1
    assert rates[55] == pytest.approx(0.5)
    assert solutions["merge-pair"](np.array([4, 4, 4]), (4, 4), 9).tolist() == [9, 4]


def test_the_split_network_is_the_network():
    for case in catalogue()["split-network"].cases(np.random.default_rng(5)):
        np.testing.assert_allclose(
            catalogue()["split-network"].solution(*case), feed_forward(*case[:-1])
        )


@pytest.mark.parametrize("p", [2, 4, 8])
def test_the_ring_of_the_exercise_is_that_of_the_figure(p):
    busy = catalogue()["ring-work"].solution(p)
    figure = SplitExplorer()
    for step in range(1, p + 1):
        assert p - busy[step - 1].sum() == figure.idle("sequence", p, step)
    assert busy.sum() == p * (p + 1) // 2


def test_bytes_are_those_of_the_cost():
    solution = catalogue()["bytes-of-a-step"].solution
    assert (
        solution(3, 32, 24, 4, 5, 2)
        == 5 * 2 * tensor_parallel(32, 24, 4, 4, 3).total_sent
    )
    assert (
        solution(3, 32, 24, 4, 5, 2)
        != 5 * 2 * sequence_parallel(32, 24, 4, 4, 3).total_sent
    )
